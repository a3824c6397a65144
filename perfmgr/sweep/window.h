/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How many queries may be outstanding: fewer while many get lost.
 *
 * Model: queries are judged in rounds of as many as the window has.  When more than a
 * quarter of a round was lost, something on the way is too small for the window, and
 * it is halved; when no more than an eighth was, it grows by an eighth, up to the
 * width that was configured.  A link that loses one MAD in ten costs retries, not the
 * window.  Only what is sent to agents that do answer counts: a dead one loses
 * everything however little is sent.
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

/* What was learned with another width stays, within the new one. */
static inline void triad_window_set_most(struct triad_window *window, unsigned most)
{
	if (!window->width || window->width == window->most || window->width > most)
		window->width = most;
	window->most = most;
}

#endif
