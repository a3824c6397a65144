/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of a past. past.c reads frames, ports and rows, and makes the view;
 * past_content.c reads an image's other comments, past_extra.c those about ports and
 * devices, past_lists.c rows of lists; past_error.c notes the first error.
 *
 * Internal to past.h. */
#ifndef TRIAD_HISTORY_PAST_PARTS_H
#define TRIAD_HISTORY_PAST_PARTS_H

#include "history/past.h"

/* An image's counters of a port. */
struct triad_past_counted {
	uint64_t read_us; /* wall clock; 0: nothing is known */
	uint32_t has, full;
	uint8_t quiet; /* enum triad_history_quiet */
	uint64_t total[TRIAD_N_COUNTERS];
};

#define TRIAD_PAST_ROW_HEAD 6u /* a row's index and size */

struct triad_past_building {
	enum triad_past_part part;
	int error;
	bool has_begun; /* a part */
	bool has_head, has_rows;
	bool is_without_ports; /* do not read lines about ports */
	uint64_t time_us;      /* of the present frame */
	struct triad_history_head head;

	struct triad_topology_octets topology; /* until the fabric is made */
	uint32_t n_octets;
	struct triad_fabric *fabric;
	/* For each port, counters of the image; and of the image before, which begin as
	 * its key's. */
	struct triad_past_counted *ports, *before;
	uint32_t extra_at; /* position in 'octets' of the incomplete record */
	/* The list whose rows are being read; TRIAD_N_KEPT: an unknown one. */
	enum triad_kept_kind list;
	/* Octets of an incomplete row, including its index and its size. */
	uint32_t n_row;
	uint8_t row[TRIAD_PAST_ROW_HEAD + TRIAD_KEPT_ROW_SIZE];
	uint32_t next; /* the port after that of the last row: rows are in order */
};

/* Record an error, unless there is one already.  Both return false. */
bool triad_past_fail(struct triad_past *past, int error, const char *why);
bool triad_past_no_memory(struct triad_past *past);

/* The digits or text after a comment's name; NULL: the comment has another name. */
const char *triad_past_after(
	const char *line, size_t length, const char *name, size_t *n);

bool triad_past_take_head(struct triad_past *past, const char *text);

/* Reads a comment before the rows; 'line' ends with 0.  False after an error. */
bool triad_past_take_content(struct triad_past *past, const char *line, size_t length);

/* Removes all outputs. */
void triad_past_drop_outputs(struct triad_past *past);

/* Records about ports and devices besides counters: begin, read lines, end (false after
 * an error), sort for searches. */
void triad_past_begin_extras(struct triad_past *past);
bool triad_past_take_extra(struct triad_past *past, const char *digits, size_t n);
bool triad_past_take_left_out(struct triad_past *past, const char *text);
bool triad_past_end_extras(struct triad_past *past);
void triad_past_sort_extras(struct triad_past *past);

/* Rows of lists: begin, read lines, end (false after an error). */
void triad_past_begin_lists(struct triad_past *past);
bool triad_past_take_list(struct triad_past *past, const char *text);
bool triad_past_take_no_list(struct triad_past *past, const char *text);
bool triad_past_take_list_rows(struct triad_past *past, const char *digits, size_t n);
bool triad_past_end_lists(struct triad_past *past);

#endif
