/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the log says of QoS tables: each finding once, however many sweeps find it
 * again.
 *
 * Thread-safety: one thread. Memory: some 64 KiB; past TRIAD_TABLES_REPORT_MAX findings
 * that were told, more are counted only. */
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

/* Another policy: all of it is news again. */
void triad_tables_report_forget(struct triad_tables_report *report);

/* Findings, and SLs that have no VL on some path. */
void triad_tables_report_findings(struct triad_tables_report *report,
	const struct triad_setup_plan *plan, const struct triad_policy *policy,
	const struct triad_fabric *fabric);

/* Tables that are not what they should be, although they were sent. */
void triad_tables_report_different(struct triad_tables_report *report,
	const struct triad_setup_plan *plan, const struct triad_fabric *fabric);

/* Why the setup is refused. */
void triad_tables_report_cut_off(struct triad_tables_report *report,
	const struct triad_setup_plan *plan, const struct triad_policy *policy,
	const struct triad_fabric *fabric);
void triad_tables_report_loop(struct triad_tables_report *report,
	const struct triad_routes_credit *credit, const struct triad_policy *policy,
	const struct triad_fabric *fabric);

#endif
