/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An event: one thing that happened at a place of the fabric, or to the program; and
 * its line in a file.
 *
 * An event has no place (the program started), one (a node that left, a port that was
 * disabled), or two: both ends of a link.  It has the names of nodes at that time, so
 * it can be shown when they are gone.
 *
 * The line, its fields separated by a space, ends in a checksum (lib/checked_line.h):
 *
 *     TIME KIND COUNT NODE PORT "NAME" FAR-NODE PORT "NAME" "TEXT" CHECKSUM
 *     2026-01-02T03:04:05.678901Z link-down 0 0x... 3 "leaf-01" 0x... 1 "host-0001 HCA-1"
 *         "" 1f2e3d4c
 *
 * An absent end has node 0.  Each event has exactly one form of its line; others are
 * refused.  But a later Triad may add fields after the text.
 *
 * Thread-safety: functions without state.
 * Memory: an event has 256 octets. */
#ifndef TRIAD_PERFMGR_TIMELINE_EVENT_H
#define TRIAD_PERFMGR_TIMELINE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/node_choice.h"
#include "triad/fabric.h"

#define TRIAD_TIMELINE_NO_PORT 255u
#define TRIAD_TIMELINE_TEXT_SIZE 80
#define TRIAD_TIMELINE_LINE_SIZE 640 /* with its 0, without a line's end */

enum triad_timeline_kind {
	/* About the program. */
	TRIAD_TIMELINE_STARTED = 1,
	TRIAD_TIMELINE_ENDED,
	TRIAD_TIMELINE_LOST,  /* it ended without an event: when it was last alive */
	TRIAD_TIMELINE_ROLE,  /* of its SM, in the text */
	TRIAD_TIMELINE_LOOKS, /* counters are read from now on */
	TRIAD_TIMELINE_LOOKS_NO_MORE, /* ...; the text says why */
	/* About the fabric: differences of two successive topologies. */
	TRIAD_TIMELINE_LINK_DOWN,
	TRIAD_TIMELINE_LINK_UP,
	TRIAD_TIMELINE_NODE_LEFT,
	TRIAD_TIMELINE_NODE_CAME,
	/* About a port: */
	TRIAD_TIMELINE_COUNTED_DOWN, /* LinkDownedCounter grew by 'count' */
	TRIAD_TIMELINE_ALERT_RAISED, /* the text says what is wrong */
	TRIAD_TIMELINE_ALERT_JOINED,
	TRIAD_TIMELINE_ALERT_CLEARED,
	TRIAD_TIMELINE_ALERT_SILENCED,
	TRIAD_TIMELINE_ALERT_UNSILENCED,
	TRIAD_TIMELINE_RESET,        /* 'count' counters were, in hardware */
	TRIAD_TIMELINE_CLEARED,      /* a command zeroed totals */
	TRIAD_TIMELINE_PORT_MANAGER, /* it took the action in the text */
	/* 'count' more events of the kind in the text came too fast to be kept. */
	TRIAD_TIMELINE_MORE,
	/* About the subnet; the text says what. */
	TRIAD_TIMELINE_ROUTES, /* forwarding tables changed and were checked */
	TRIAD_TIMELINE_QOS,    /* the state of policy, answers or tables changed */
	TRIAD_TIMELINE_SM,     /* OpenSM could not do something */
	TRIAD_TIMELINE_CLOCK,  /* the wall clock was set; the text says by how much */
	/* About a link: */
	TRIAD_TIMELINE_DAMP, /* it is held out of routing, or no more; the text says why */
	TRIAD_TIMELINE_REPAIR, /* a table of it was written by hand; the text says which */
	TRIAD_N_TIMELINE_KINDS
};

struct triad_timeline_end {
	uint64_t node_guid; /* 0: there is no such end */
	uint8_t port;       /* TRIAD_TIMELINE_NO_PORT: the node as a whole */
	char node_name[TRIAD_NODE_NAME_SIZE];
};

/* The end with the name that 'fabric' has for the node; none if it has not, or is NULL. */
struct triad_timeline_end triad_timeline_end_of(
	const struct triad_fabric *fabric, uint64_t node_guid, uint8_t port);

struct triad_timeline_event {
	uint64_t at_us; /* since 1970, by the wall clock */
	uint32_t count;
	uint8_t kind; /* enum triad_timeline_kind */
	char text[TRIAD_TIMELINE_TEXT_SIZE];
	struct triad_timeline_end ends[2];
};

/* Changes the event to what its line would be read back as. */
void triad_timeline_event_clean(struct triad_timeline_event *event);

/* Whether the choice has one of its ends.  An event about a node as a whole is about
 * each of its ports. */
bool triad_timeline_event_is_at(const struct triad_timeline_event *event,
	const struct triad_node_choice *choice);

/* Writes the line, without an end; returns its length. */
size_t triad_timeline_event_format(
	const struct triad_timeline_event *event, char line[TRIAD_TIMELINE_LINE_SIZE]);

/* Parses a line of 'length' octets, without its end.  Returns 0, or EINVAL for a line
 * that is no event's, with 'event' undefined. */
int triad_timeline_event_parse(
	const char *line, size_t length, struct triad_timeline_event *event);

/* "link-down"; "?" for none. */
const char *triad_timeline_kind_name(unsigned kind);

#endif
