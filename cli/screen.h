/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Standard output: a terminal of some size, or a file or pipe.
 *
 * Model: what is written goes out as it comes.  In a watch on a terminal, an answer is a
 * picture instead: its lines are kept, as many as the terminal has rows but one, each cut
 * to its width; when the answer is over, '_show' paints them over the last picture.  The
 * last row says how many lines there are besides.
 *
 * Thread-safety: one thread; '_leave' may be called by a signal handler.  Memory: a
 * picture. */
#ifndef TRIAD_CLI_SCREEN_H
#define TRIAD_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum triad_screen_color {
	TRIAD_SCREEN_COLOR_AUTO, /* on a terminal, unless NO_COLOR is set */
	TRIAD_SCREEN_COLOR_ALWAYS,
	TRIAD_SCREEN_COLOR_NEVER,
};

struct triad_screen {
	bool is_terminal, has_color;
	bool is_watched;            /* pictures are painted */
	unsigned n_columns, n_rows; /* of a terminal */
	/* The picture in the making: whole lines, then one that is not complete. */
	char *picture;
	size_t size, room, line_at;
	unsigned n_lines;
	uint64_t n_hidden;  /* lines that have no place */
	bool out_of_memory; /* the picture lacks something */
};

/* Looks what standard output is; 'is_watched' is taken back where it is no terminal. */
void triad_screen_init(
	struct triad_screen *screen, enum triad_screen_color color, bool is_watched);
void triad_screen_clear(struct triad_screen *screen);

/* Looks how large the terminal is now; begins a new picture. */
void triad_screen_begin(struct triad_screen *screen);

/* Return 0, or the errno of a write. */
int triad_screen_write(struct triad_screen *screen, const char *data, size_t size);

/* No further line of this picture will be seen. */
bool triad_screen_is_full(const struct triad_screen *screen);

/* 'n' lines more that are not written, as the picture is full. */
void triad_screen_hide(struct triad_screen *screen, uint64_t n);

/* Paints the picture, and 'status' in the last row. */
int triad_screen_show(struct triad_screen *screen, const char *status);

/* Writes 'status' into the last row alone: the picture before it stays. */
int triad_screen_show_status(struct triad_screen *screen, const char *status);

/* The cursor is back, below the picture. */
void triad_screen_leave(void);

/* Columns that a terminal needs for UTF-8 text; escape sequences need none. */
unsigned triad_screen_width(const char *text, size_t size);

/* The octets of 'text' that fit into so many columns; '*is_cut': not all of them. */
size_t triad_screen_fit(
	const char *text, size_t size, unsigned n_columns, bool *is_cut);

#endif
