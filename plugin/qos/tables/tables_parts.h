/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of 'struct triad_tables' share: tables.c, its life and the SM's
 * passes, and review.c, what is put into force and looked at. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_TABLES_PARTS_H
#define TRIAD_PLUGIN_QOS_TABLES_TABLES_PARTS_H

#include <pthread.h>

#include "plugin/qos/tables/tables.h"
#include "plugin/qos/tables/report.h"

struct triad_tables {
	struct osm_opensm *osm;
	struct triad_recorder *recorder;
	struct triad_log *log;

	/* triad-qos alone. */
	struct triad_tables_report *report;
	struct triad_policy *policy; /* whose setup was offered last */
	bool offered, offered_wanted, offered_guarded;
	bool tested;       /* the guard has let the setup in force pass */
	uint64_t reviewed; /* generation of the last fabric */

	/* The SM's thread alone. */
	struct triad_tables_pass *pass;
	bool in_pass;
	bool hooked;

	pthread_mutex_t lock; /* of what follows; nothing is logged under it */
	struct triad_setup *setup;
	bool desired;
	bool dirty;     /* there may be tables in the fabric that are not OpenSM's */
	uint64_t offer; /* counts what was put into force */
	uint64_t begun_offer, passed_offer; /* of the pass that runs; of the last one */
	/* When a sweep was asked for last: of what, which differences, how many passes
	 * there had been. */
	uint64_t asked_offer, asked_hash, n_passes_asked;
	unsigned n_asked; /* in a row */
	enum triad_tables_state told;
	struct triad_tables_status status;
};

/* Logs the state if that is news; without the lock. */
void triad_tables_tell_state(struct triad_tables *tables);

#endif
