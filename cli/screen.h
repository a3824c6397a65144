/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Standard output: a terminal of some size, or a file or pipe.
 *
 * Model: output is written as it comes.  In a watch on a terminal, an answer becomes a
 * picture instead: the screen keeps as many lines as the terminal has rows, less one,
 * each cut to its width; at the end of the answer, '_show' paints them over the last
 * picture.  The last row shows how many lines are hidden.
 *
 * Thread-safety: one thread; '_leave' may be called by a signal handler.  Memory: a
 * picture. */
#ifndef TRIAD_CLI_SCREEN_H
#define TRIAD_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "triad/control.h"

enum triad_screen_color {
	TRIAD_SCREEN_COLOR_AUTO, /* on a terminal, unless NO_COLOR is set */
	TRIAD_SCREEN_COLOR_ALWAYS,
	TRIAD_SCREEN_COLOR_NEVER,
};

struct triad_screen {
	bool is_terminal, has_color;
	bool is_watched;            /* paints pictures */
	unsigned n_columns, n_rows; /* of a terminal */
	/* The picture so far: whole lines, then an incomplete one. */
	char *picture;
	size_t size, room, line_at;
	unsigned n_lines;
	uint64_t n_hidden;  /* lines beyond the last row */
	bool out_of_memory; /* the picture is incomplete */
};

/* Finds out what standard output is; ignores 'is_watched' if it is not a terminal. */
void triad_screen_init(
	struct triad_screen *screen, enum triad_screen_color color, bool is_watched);
void triad_screen_clear(struct triad_screen *screen);

/* Reads the present size of the terminal; begins a new picture. */
void triad_screen_begin(struct triad_screen *screen);

/* Return 0, or the errno of a write. */
int triad_screen_write(struct triad_screen *screen, const char *data, size_t size);

/* Whether the picture is full: further lines are hidden. */
bool triad_screen_is_full(const struct triad_screen *screen);

/* Counts 'n' more hidden lines that the caller does not write. */
void triad_screen_hide(struct triad_screen *screen, uint64_t n);

/* Paints the picture, and 'status' in the last row. */
int triad_screen_show(struct triad_screen *screen, const char *status);

/* Writes 'status' into the last row alone: the picture before it stays. */
int triad_screen_show_status(struct triad_screen *screen, const char *status);

/* Moves the cursor below the picture and shows it again. */
void triad_screen_leave(void);

/* --- again and again --- */

/* From now on Ctrl-C and the like end the program with that status, and leave the picture.  No output
 * may be in a buffer then. */
void triad_screen_end_by_signals(const struct triad_screen *screen, int status);

/* Waits until '*next', which it then sets, 'interval_s' after the last one; or until the size
 * of the terminal changes.  What took longer than that delays the next one.  '*next' begins as
 * the time of CLOCK_MONOTONIC. */
void triad_screen_wait(struct timespec *next, unsigned interval_s);

/* "21:04:59", in local time. */
#define TRIAD_SCREEN_CLOCK_SIZE 16
void triad_screen_clock(char text[TRIAD_SCREEN_CLOCK_SIZE]);

/* Columns that a terminal needs for UTF-8 text; escape sequences need none. */
unsigned triad_screen_width(const char *text, size_t size);

/* How many octets of 'text' fit into 'n_columns'; '*is_cut': not all. */
size_t triad_screen_fit(
	const char *text, size_t size, unsigned n_columns, bool *is_cut);

/* Flushes standard output.  Returns TRIAD_CONTROL_DONE, or TRIAD_CONTROL_FAILED after a
 * message. */
int triad_screen_finish(void);

/* Writes to standard output, for triad_output_init(). */
bool triad_screen_write_frame(
	void *context, enum triad_frame_type type, const char *data, size_t size);

#endif
