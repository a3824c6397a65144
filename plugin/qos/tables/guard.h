/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a setup may be put into force: not if it cuts the SM off from hosts, nor if it
 * closes a credit loop that OpenSM's tables don't have (qos/setup/setup_credit.h).
 *
 * Where the routing engine decides on SLs, it is asked for them under OpenSM's shared
 * lock, in short pieces (plugin/route_sls.h), while no sweep begins.
 *
 * Thread-safety: functions without state; not in the SM's thread. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_GUARD_H
#define TRIAD_PLUGIN_QOS_TABLES_GUARD_H

#include "plugin/qos/tables/report.h"
#include "plugin/qos/tables/tables.h"
#include "qos/setup/setup_credit.h"

/* A setup on a fabric: what the guard looks at. */
struct triad_tables_guard {
	struct osm_opensm *osm;
	struct triad_setup *setup;
	struct triad_fabric *fabric;
	/* Sweeps that have begun, and had when the fabric was taken; NULL: any. */
	const atomic_ulong *sweeps;
	unsigned long n_sweeps;
};

/* Why it is refused, which is reported; TRIAD_TABLES_PASSES when it is not, or when that
 * can't be told.  '*unlooked' is then why it is not known whether a credit loop is
 * closed, else NULL. */
enum triad_tables_refusal triad_tables_guard_look(
	const struct triad_tables_guard *guard, struct triad_tables_report *report,
	const char **unlooked);

/* See triad_setup_credit_find(). */
int triad_tables_guard_credit(const struct triad_tables_guard *guard,
	enum triad_setup_credit_state *state, struct triad_routes_credit *credit);

#endif
