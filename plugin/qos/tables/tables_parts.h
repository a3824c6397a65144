/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of 'struct triad_tables': tables.c has its life and the SM's passes,
 * review.c puts setups into force and checks them. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_TABLES_PARTS_H
#define TRIAD_PLUGIN_QOS_TABLES_TABLES_PARTS_H

#include <pthread.h>

#include "plugin/qos/tables/tables.h"
#include "plugin/qos/tables/report.h"

struct triad_tables {
	struct osm_opensm *osm;
	struct triad_recorder *recorder;
	struct triad_log *log;

	/* Used only by triad-qos. */
	struct triad_tables_report *report;
	struct triad_policy *policy; /* the policy whose setup was offered last */
	bool offered, offered_enabled, offered_guarded;
	bool tested;       /* the guard has passed the setup in force */
	uint64_t reviewed; /* generation of the last fabric */

	/* Used only by the SM's thread. */
	struct triad_tables_pass *pass;
	bool in_pass;
	bool hooked;

	pthread_mutex_t lock; /* of what follows; nothing is logged under it */
	struct triad_setup *setup;
	bool is_enabled;
	bool dirty;     /* the fabric may have tables that are not OpenSM's */
	uint64_t offer; /* number of setups put into force */
	uint64_t begun_offer, passed_offer; /* 'offer' at the running pass; at the
					     * last one */
	/* At the last request for a sweep: 'offer', a hash of the differences, and the
	 * number of passes. */
	uint64_t asked_offer, asked_hash, n_passes_asked;
	unsigned n_asked; /* in a row */
	enum triad_tables_state reported;
	struct triad_tables_status status;
};

/* Logs the state if it has changed; without the lock. */
void triad_tables_report_state(struct triad_tables *tables);

#endif
