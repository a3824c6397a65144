/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Profiles: text with the traffic of every port over time.
 *
 * Model: a file has sections, one for each sweep:
 *
 *     # triad-profile version=1 time=2026-01-02T03:04:05.678Z sm=0x0002c90300001234
 *           started=2026-01-01T00:00:00.000Z sweep=all period=10 min_change=0
 *                                                                        (one line)
 *     time,node_guid,port,remote_guid,remote_port,gbps,PortXmitData,PortRcvData
 *     2026-01-02T03:04:05.678Z,0x0002c90300001234,1,0x0002c90300005678,7,100,12,34
 *
 * A section is some comments, a header and any number of rows.  Each section can be
 * read without those before it.  Its header lists its counters: the two data counters
 * and, with [profile] counters = all, the others after them, by their IBA names.
 *
 *     time         when the sweep began, of the wall clock, UTC
 *     node_guid    with 'port', which port of the fabric it is
 *     remote_guid  with 'remote_port', the far end of its link; both empty: none
 *     gbps         the link's data rate each way, at most three decimals; empty: not
 *                  known
 *     counters     Triad's 64-bit totals, data in words of 4 octets; empty: the port lacks
 *                  it
 *
 * The comment's keys; any of them may be missing:
 *
 *     time         as in the rows: a section may have none
 *     sm           GUID of the port that counters were read from, which identifies the
 *                  writer (in files without 'period' below a manager: that of the manager's
 *                  SM)
 *     started      when Triad started; if it is later than before, totals began anew
 *     sweep        "all"; or "part": only some port groups
 *     period       seconds between sweeps, as configured
 *     min_change   octets: a port is left out until its data changed by more than this
 *
 * With [profile] counters = details, comments after the rows have the totals of details
 * (ib/detail.h) that were read in the sweep and are not 0, one field of a port each:
 *
 *     # triad-detail 0x0002c90300001234,1,PortVLXmitWait,0,0,0,17,...
 *
 * with a total for each VL, SL or lane.
 *
 * A reader ignores comments that begin otherwise, and keys that it doesn't know.
 *
 * Invariants: numbers, GUIDs and times have one form, so that parsing and rendering
 * gives the same text, octet for octet.
 *
 * Thread-safety: none; an instance for each thread.  Memory: none is allocated.
 * Source: [monitoring-rfc: to support data profiling we will need to store xmit recv
 * data for each port; each agent should be able to write its own file and merge
 * offline]. */
#ifndef TRIAD_PERFMGR_PROFILE_H
#define TRIAD_PERFMGR_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/counter.h"
#include "ib/detail.h"
#include "triad/clock.h"

#define TRIAD_PROFILE_DATA_COUNTERS                                                    \
	(1u << TRIAD_PORT_XMIT_DATA | 1u << TRIAD_PORT_RCV_DATA)
#define TRIAD_PROFILE_ALL_COUNTERS ((1u << TRIAD_N_COUNTERS) - 1)

/* Room for a rendered line, with newline and final 0; the parser refuses a longer
 * one. */
#define TRIAD_PROFILE_LINE_SIZE 1024

/* The beginning of every profile. */
#define TRIAD_PROFILE_SIGNATURE "# triad-profile "

struct triad_engine_row;
struct triad_fabric;

enum triad_profile_sweep {
	TRIAD_PROFILE_SWEEP_UNKNOWN,
	TRIAD_PROFILE_SWEEP_ALL,
	TRIAD_PROFILE_SWEEP_PART,
};

/* The contents of a section's comment. */
struct triad_profile_info {
	uint64_t time_us;           /* wall clock; 0: not said */
	uint64_t sm_guid;           /* 0: not said */
	uint64_t started_us;        /* wall clock; 0: not said */
	uint64_t period_us;         /* 0: not said */
	uint64_t min_change_octets; /* UINT64_MAX: not said */
	enum triad_profile_sweep sweep;
};

struct triad_profile_row {
	uint64_t time_us; /* wall clock, whole milliseconds */
	uint64_t node_guid;
	uint64_t remote_guid; /* 0: none */
	uint32_t mbps;        /* 0: not known */
	uint32_t has;         /* bit i: total[i] is there */
	uint8_t port, remote_port;
	uint64_t total[TRIAD_N_COUNTERS];
};

/* Makes the row of a port (index in 'fabric'), without its time. */
struct triad_profile_row triad_profile_row_of(const struct triad_fabric *fabric,
	uint32_t port, const struct triad_engine_row *counters);

/* --- rendering: 'to' has room for TRIAD_PROFILE_LINE_SIZE octets; what is returned is
 * the line's length, newline included --- */

size_t triad_profile_render_info(char *to, const struct triad_profile_info *info);

/* 'counters' (bit i) are columns besides those of data, which are always there. */
size_t triad_profile_render_header(char *to, uint32_t counters);

/* 'time' is row->time_us, formatted once for a whole section. */
size_t triad_profile_render_row(char *to, const char *time,
	const struct triad_profile_row *row, uint32_t counters);

/* Renders the totals of a detail field of 'port': field->n of them. */
size_t triad_profile_render_detail(char *to, uint64_t node_guid, uint8_t port,
	const struct triad_detail_field *field, const uint64_t *totals);

/* --- parsing --- */

enum triad_profile_line {
	TRIAD_PROFILE_WRONG,   /* 'message' says why */
	TRIAD_PROFILE_COMMENT, /* another comment */
	TRIAD_PROFILE_INFO,    /* 'info' has it */
	TRIAD_PROFILE_HEADER,  /* rows follow, until the next comment or header */
	TRIAD_PROFILE_ROW,     /* 'row' has it */
};

struct triad_profile_parser {
	uint64_t line; /* number of the last one, from 1 */
	struct triad_profile_info info;
	struct triad_profile_row row;
	unsigned n_counters; /* columns of counters; 0: no header yet */
	uint8_t counters[TRIAD_N_COUNTERS];
	uint64_t time_us;                 /* of the time parsed last, */
	char time[TRIAD_CLOCK_TEXT_SIZE]; /* as the next one often is the same */
	unsigned column;                  /* of the mistake, in octets, from 1 */
	char message[192];                /* "line 3, column 7: ..." */
};

void triad_profile_parser_init(struct triad_profile_parser *parser);

/* Parses one line of 'length' octets, without its newline.  Returns its kind.  After a
 * mistake, go on with the next line. */
enum triad_profile_line triad_profile_parse(
	struct triad_profile_parser *parser, const char *line, size_t length);

#endif
