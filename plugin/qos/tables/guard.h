/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides whether a setup may be put into force.  Refuses one that cuts the SM off from
 * hosts, or that closes a credit loop which OpenSM's own tables don't have
 * (qos/setup/setup_credit.h).
 *
 * If the routing engine decides on SLs, the guard asks it for them under OpenSM's
 * shared lock, in short pieces (plugin/route_sls.h), until a sweep begins.
 *
 * Thread-safety: functions without state; not in the SM's thread. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_GUARD_H
#define TRIAD_PLUGIN_QOS_TABLES_GUARD_H

#include "plugin/qos/tables/report.h"
#include "plugin/qos/tables/tables.h"
#include "qos/setup/setup_credit.h"

/* The guard's input: a setup and a fabric. */
struct triad_tables_guard {
	struct osm_opensm *osm;
	struct triad_setup *setup;
	struct triad_fabric *fabric;
	/* The number of sweeps that have begun, and that had begun when the fabric was
	 * copied; 'sweeps' NULL: sweeps don't matter. */
	const atomic_ulong *sweeps;
	unsigned long n_sweeps;
};

/* Judges the setup, and reports why it is refused.  Returns TRIAD_TABLES_PASSES also
 * when the guard can't tell: then '*unlooked' is why it does not know whether a credit
 * loop is closed; otherwise NULL. */
enum triad_tables_refusal triad_tables_guard_look(
	const struct triad_tables_guard *guard, struct triad_tables_report *report,
	const char **unlooked);

/* See triad_setup_credit_find(). */
int triad_tables_guard_credit(const struct triad_tables_guard *guard,
	enum triad_setup_credit_state *state, struct triad_routes_credit *credit);

#endif
