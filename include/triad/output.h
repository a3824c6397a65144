/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where a command's answer goes, piece by piece.
 *
 * A command writes text to an output; the output passes it on, 8 KiB at a time, to the
 * client: a control socket, OpenSM's console, a test.  So an answer of any length takes
 * little memory.  When the receiver is gone, the output sets 'failed' and drops the
 * rest; long loops check it to end early.
 *
 * Thread-safety: one thread.  Memory: no allocation. */
#ifndef TRIAD_OUTPUT_H
#define TRIAD_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "triad/control.h"

struct triad_output {
	/* Passes on one piece; false when the receiver is gone.  'type' is OUTPUT,
	 * TABLE, MESSAGE or PROGRESS. */
	bool (*write)(void *context, enum triad_frame_type type, const char *data,
		size_t size);
	void *context;
	bool color;
	bool tables; /* the receiver lays tables out: triad/table.h */
	bool failed;
	bool lacks_object; /* the command found no node or port of the name asked for */
	enum triad_frame_type type; /* of what is in the buffer */
	size_t used;
	char buffer[8192];
};

void triad_output_init(struct triad_output *output,
	bool (*write)(void *, enum triad_frame_type, const char *, size_t),
	void *context);

void triad_output_put(struct triad_output *output, const char *data, size_t size);

/* Writes the text as a value of CSV, between quotes [RFC 4180 2]. */
void triad_output_put_csv(struct triad_output *output, const char *text);

/* Writes records of a table; only if 'tables' is true. */
void triad_output_put_table(
	struct triad_output *output, const void *records, size_t size);

/* At most 1,023 octets a call. */
void triad_output_printf(struct triad_output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A line for standard error; PROGRESS replaces the one before it. */
void triad_output_message(struct triad_output *output, enum triad_frame_type type,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

void triad_output_flush(struct triad_output *output);

#endif
