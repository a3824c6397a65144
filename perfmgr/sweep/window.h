/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Limits the outstanding queries, and lowers the limit while many get lost.
 *
 * Model: queries are judged in rounds of as many as the window has.  More than a
 * quarter of a round lost means that something on the way is too small for the window,
 * and it is halved.  With no more than an eighth lost it grows by an eighth, up to the
 * configured width.  So a link that loses one MAD in ten costs retries, not the window.
 * Only queries to agents that answer count: a dead agent loses all, however few are
 * sent.
 *
 * Thread-safety: none. */
#ifndef TRIAD_PERFMGR_WINDOW_H
#define TRIAD_PERFMGR_WINDOW_H

#define TRIAD_WINDOW_LEAST 4u

struct triad_window {
	unsigned most; /* as configured */
	unsigned width;
	unsigned n_judged, n_lost; /* of the present round */
};

static inline void triad_window_end_round(struct triad_window *window)
{
	if (window->n_lost * 4 > window->n_judged)
		window->width /= 2;
	else if (window->n_lost * 8 <= window->n_judged)
		window->width += window->width / 8 + 1;
	if (window->width < TRIAD_WINDOW_LEAST)
		window->width = TRIAD_WINDOW_LEAST;
	if (window->width > window->most)
		window->width = window->most;
	window->n_judged = 0;
	window->n_lost = 0;
}

static inline void triad_window_judge(struct triad_window *window, int was_lost)
{
	window->n_judged++;
	window->n_lost += was_lost != 0;
	if (window->n_judged >= window->width)
		triad_window_end_round(window);
}

/* Keeps the present width, within the new limit. */
static inline void triad_window_set_most(struct triad_window *window, unsigned most)
{
	if (!window->width || window->width == window->most || window->width > most)
		window->width = most;
	window->most = most;
}

#endif
