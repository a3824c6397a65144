/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric at a past time, restored from images.
 *
 * Model: it reads the lines of one to four frames (history/image.h), in this order:
 *
 *     TRIAD_PAST_KEY          the key image: the topology, all ports
 *     TRIAD_PAST_IMAGE        the image, unless it is the key itself
 *     TRIAD_PAST_BEFORE_KEY   the same of the image before, if there is one: rates are
 *     TRIAD_PAST_BEFORE       what changed between the two
 *
 *     triad_past_begin(past, part);
 *     triad_frame_reader_read(..., triad_past_take_line, past);
 *     error = triad_past_end(past);
 *
 * triad_past_finish() makes a view of it, with an engine of its own; commands use it
 * like the present view.
 *
 * Its monotonic times are converted to wall times by the present clock; times before
 * the machine's start wrap around.
 *
 * Thread-safety: none.
 * Memory: some 400 octets a port while it is restored, and the engine's; fabrics of
 * more than TRIAD_PAST_MAX_PORTS ports are refused.  Outputs as in history/output.h,
 * lists as in history/kept.h; records of history/extra.h at their size, and 24 octets
 * for each.  Checked. */
#ifndef TRIAD_HISTORY_PAST_H
#define TRIAD_HISTORY_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "history/image.h"
#include "history/totals_base.h"
#include "perfmgr/export/frame_reader.h"

#define TRIAD_PAST_MAX_PORTS (1u << 18)
#define TRIAD_PAST_MAX_KEYS 4096u
#define TRIAD_PAST_MAX_OCTETS (1u << 26) /* of records of history/extra.h */

enum triad_past_part {
	TRIAD_PAST_KEY,
	TRIAD_PAST_IMAGE,
	TRIAD_PAST_BEFORE_KEY,
	TRIAD_PAST_BEFORE,
};

/* "key", "image", "before-key", "before". */
const char *triad_past_part_name(enum triad_past_part part);

/* The hash of tables of a node. */
struct triad_past_tables {
	uint64_t node_guid, hash;
};

/* An end of one of the links. */
struct triad_past_end {
	uint64_t node_guid;
	uint32_t link;
	uint8_t port;
};

/* A key of triad.conf with another value than the default. */
struct triad_past_key {
	char name[TRIAD_CONF_NAME_SIZE], value[TRIAD_CONF_VALUE_SIZE];
};

/* A record of history/extra.h, by its position in 'octets'. */
struct triad_past_extra {
	uint64_t node_guid;
	uint32_t at, size;
	uint8_t port, kind, part;
	bool is_gone;
};

struct triad_past_building;

struct triad_past {
	struct triad_history_head head; /* of the image */
	uint64_t port_guid;      /* of the SM that wrote it, as set by the reader */
	uint64_t wall_us;        /* when its sweep began */
	uint64_t before_us;      /* the same of the image before; 0: none */
	uint64_t period_us;      /* of sweeps, as configured then */
	uint64_t started_us;     /* when its process started, wall clock; 0: not said */
	struct triad_view *view; /* after finish() */
	struct triad_alert *alerts;
	struct triad_link *links;
	struct triad_past_end *link_ends;     /* after finish(): two a link, sorted */
	struct triad_history_output *outputs; /* of commands, as they answered then */
	/* In the order of the fabric. */
	struct triad_past_tables *tables[TRIAD_HISTORY_N_TABLES];
	struct triad_past_key *keys; /* in the order of the table */
	uint32_t n_alerts, n_links, n_outputs, n_keys, n_tables[TRIAD_HISTORY_N_TABLES];
	struct triad_past_extra *extras; /* after finish(): sorted, by place and kind */
	uint32_t n_extras, n_octets;
	uint8_t *octets;  /* the records */
	bool wants_lists; /* set before begin(): read lists, too */
	struct triad_kept_list lists[TRIAD_N_KEPT];
	char message[160]; /* what is wrong, after an error */

	int64_t offset_us; /* add to monotonic times for the wall clock, now */
	size_t alerts_room, links_room, outputs_room, keys_room, extras_room,
		octets_room, tables_room[TRIAD_HISTORY_N_TABLES];
	struct triad_past_building *building;
};

/* Reads the text of a line after "# triad-image ".  Returns NULL, or what is wrong with
 * it. */
const char *triad_past_read_head(const char *text, struct triad_history_head *head);
/* Reads a line of a port whose totals of some counters (bit i of '*mask': counter i) are not
 * of the image's time: it was not read, or they stood at their maximum.  False: it is none. */
bool triad_past_read_note(
	const char *line, uint64_t *node_guid, unsigned *port, uint32_t *mask);

/* NULL when memory is short. */
struct triad_past *triad_past_new(int64_t offset_us);
/* Accepts NULL. */
void triad_past_free(struct triad_past *past);

/* A part out of that order is an error, which take_line() and end() return. */
void triad_past_begin(struct triad_past *past, enum triad_past_part part);
/* Instead of all parts: begins an image, key or not, to read all of it except ports.
 * Then there is no finish(), and no view. */
void triad_past_begin_outputs(struct triad_past *past);

/* As triad_profile_take_line; 'past' is the context.  False after an error. */
bool triad_past_take_line(void *past, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length);

/* Returns 0; or EPROTO (not a valid image), EOVERFLOW (the fabric is too large) or
 * ENOMEM, with a message. */
int triad_past_end(struct triad_past *past);

/* Makes the view; reads nothing after that.  Returns 0, ENOMEM, or as end() if there was
 * an error or no part. */
int triad_past_finish(struct triad_past *past);

/* Finds a record about a port or, with port 0, a device, after finish(); 'part' is as
 * in struct triad_extra.  False: there is none. */
bool triad_past_find_extra(const struct triad_past *past, enum triad_extra_kind kind,
	uint64_t node_guid, uint8_t port, unsigned part, struct triad_extra *extra);
/* Whether there is any record of that kind. */
bool triad_past_has_extras(const struct triad_past *past, enum triad_extra_kind kind);

/* What its totals are counted from. */
struct triad_totals_base triad_past_base(const struct triad_past *past);

/* The link that went down at this end, after finish(); NULL: none did. */
const struct triad_link *triad_past_find_link(
	const struct triad_past *past, uint64_t node_guid, uint8_t port);

#endif
