/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Logs findings about QoS tables: each finding once, however many sweeps find it again.
 *
 * Thread-safety: one thread.  Memory: some 64 KiB; after TRIAD_TABLES_REPORT_MAX logged
 * findings, further ones are only counted. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_REPORT_H
#define TRIAD_PLUGIN_QOS_TABLES_REPORT_H

#include "qos/setup/setup_plan.h"
#include "routes/credit.h"
#include "triad/log.h"

#define TRIAD_TABLES_REPORT_MAX 4096
#define TRIAD_TABLES_REPORT_LINES 20 /* at a time */

struct triad_tables_report;

struct triad_tables_report *triad_tables_report_new(struct triad_log *log);
void triad_tables_report_free(struct triad_tables_report *report); /* accepts NULL */

/* There is another policy: all findings count as new again. */
void triad_tables_report_forget(struct triad_tables_report *report);

/* Logs findings, and SLs that have no VL on some path. */
void triad_tables_report_findings(struct triad_tables_report *report,
	const struct triad_setup_plan *plan, const struct triad_policy *policy,
	const struct triad_fabric *fabric);

/* Logs tables that differ from the desired ones, although they were sent. */
void triad_tables_report_different(struct triad_tables_report *report,
	const struct triad_setup_plan *plan, const struct triad_fabric *fabric);

/* Logs why the setup is refused. */
void triad_tables_report_cut_off(struct triad_tables_report *report,
	const struct triad_setup_plan *plan, const struct triad_policy *policy,
	const struct triad_fabric *fabric);
void triad_tables_report_loop(struct triad_tables_report *report,
	const struct triad_routes_credit *credit, const struct triad_policy *policy,
	const struct triad_fabric *fabric);

#endif
