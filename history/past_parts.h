/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A past while it is put together, as its files know it: past.c takes frames, ports and
 * rows, and makes the view; past_content.c what an image says besides, past_extra.c that of
 * ports and devices, past_lists.c rows of lists.
 *
 * Internal to past.h. */
#ifndef TRIAD_HISTORY_PAST_PARTS_H
#define TRIAD_HISTORY_PAST_PARTS_H

#include "history/past.h"

/* What an image says of a port. */
struct triad_past_counted {
	uint64_t read_us; /* wall clock; 0: nothing is known */
	uint32_t has, full;
	uint8_t quiet; /* enum triad_history_quiet */
	uint64_t total[TRIAD_N_COUNTERS];
};

#define TRIAD_PAST_ROW_HEAD 6u /* a row's place and size */

struct triad_past_building {
	enum triad_past_part part;
	int error;
	bool has_head, has_rows;
	bool is_without_ports; /* what is said of ports is not taken */
	uint64_t time_us;      /* of the frame that is read */
	struct triad_history_head head;

	struct triad_topology_packed packed; /* until the fabric is unpacked */
	uint32_t n_packed;
	struct triad_fabric *fabric;
	/* Of each port: the image's; the one before, which begins as the key's. */
	struct triad_past_counted *ports, *before;
	uint32_t extra_at; /* the record that is not whole yet, among the octets */
	/* The list whose rows come; TRIAD_N_KEPT: none that is known. */
	enum triad_kept_kind list;
	uint32_t
		n_row; /* octets of a row that is not whole yet, with its place and size */
	uint8_t row[TRIAD_PAST_ROW_HEAD + TRIAD_KEPT_ROW_SIZE];
	uint32_t next; /* the port after that of the last row: rows are in order */
};

/* The first error counts.  Both return false. */
bool triad_past_fail(struct triad_past *past, int error, const char *why);
bool triad_past_no_memory(struct triad_past *past);

/* The digits or text behind a comment's name; NULL: it has another one. */
const char *triad_past_after(
	const char *line, size_t length, const char *name, size_t *n);

bool triad_past_take_head(struct triad_past *past, const char *text);

/* A comment of those that any image has, before its rows; 'line' ends with 0.  False
 * after an error. */
bool triad_past_take_content(struct triad_past *past, const char *line, size_t length);

/* Has none afterwards. */
void triad_past_drop_outputs(struct triad_past *past);

/* What is known of ports and devices besides counters: the image's begins, what its lines
 * say, all was taken (false after an error), sorted for who looks for it. */
void triad_past_begin_extras(struct triad_past *past);
bool triad_past_take_extra(struct triad_past *past, const char *digits, size_t n);
bool triad_past_take_left_out(struct triad_past *past, const char *text);
bool triad_past_end_extras(struct triad_past *past);
void triad_past_sort_extras(struct triad_past *past);

/* Rows of lists: the image's begin, what its lines say, all was taken (false after an
 * error). */
void triad_past_begin_lists(struct triad_past *past);
bool triad_past_take_list(struct triad_past *past, const char *text);
bool triad_past_take_no_list(struct triad_past *past, const char *text);
bool triad_past_take_list_rows(struct triad_past *past, const char *digits, size_t n);
bool triad_past_end_lists(struct triad_past *past);

#endif
