/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tells the port manager which links statistics call bad, and which of them may be taken out of
 * routing ([heal]).
 *
 * Model: the thread triad-heal makes the plan of 'heal plan' (service/heal_view.h) every few
 * seconds, of the newest fabric, alerts and routes, and leaves it with the port manager, which
 * acts (plugin/ports/ports_heal.c): by permission, recorded, and only on a plan of its own view.
 * What is on probation is told, too, with the time up to which its counters were read.
 *
 * Thread-safety: any thread, but for new, stop and free.  Memory: 40 KiB; a plan while it is made. */
#ifndef TRIAD_PLUGIN_HEALER_H
#define TRIAD_PLUGIN_HEALER_H

#include <stdint.h>

#include "triad/conf.h"

struct triad_found;
struct triad_healer;
struct triad_plugin;

/* NULL when memory is short. */
struct triad_healer *triad_healer_new(struct triad_plugin *plugin);
/* Accepts NULL. */
void triad_healer_stop(struct triad_healer *healer);
void triad_healer_free(struct triad_healer *healer);

/* Applies [heal]. */
void triad_healer_configure(struct triad_healer *healer, const struct triad_conf *conf);

struct triad_healer_status {
	unsigned mode;          /* enum triad_heal_mode */
	int error;              /* of its thread; 0: none */
	bool is_known;          /* a plan was made of the newest fabric */
	const char *not_known;  /* why nothing is known; NULL: it is, or not yet */
	uint32_t n_bad, n_take; /* links; those that may be taken */
	uint32_t n_out, n_stay_out, n_on_probation; /* of the port manager's */
	bool waits;       /* many links came or went: none is taken now */
	uint64_t plan_us; /* how long the last plan took */
};

/* What else must be switched on before links are taken out, for people; NULL: nothing. */
const char *triad_healer_missing(struct triad_healer *healer);

/* A finder of the watch (perfmgr/watch/finders.h): links that stay out. */
void triad_healer_give(void *healer, struct triad_found *found);

void triad_healer_status(
	struct triad_healer *healer, struct triad_healer_status *status);

#endif
