/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/tables/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/node_label.h"
#include "lib/hash.h"

#define N_SLOTS (2 * TRIAD_TABLES_REPORT_MAX)
#define TEXT_SIZE 768

struct triad_tables_report {
	struct triad_log *log;
	unsigned n;
	uint64_t reported[N_SLOTS]; /* hashes of lines; 0: free */
};

struct triad_tables_report *triad_tables_report_new(struct triad_log *log)
{
	struct triad_tables_report *report = calloc(1, sizeof(*report));

	if (report)
		report->log = log;
	return report;
}

void triad_tables_report_free(struct triad_tables_report *report)
{
	free(report);
}

void triad_tables_report_forget(struct triad_tables_report *report)
{
	memset(report->reported, 0, sizeof(report->reported));
	report->n = 0;
}

/* True when the text was not logged before; notes it as logged. */
static bool is_news(struct triad_tables_report *report, const char *text)
{
	uint64_t hash = triad_hash_octets(TRIAD_HASH_START, text, strlen(text));
	unsigned at;

	/* 0 marks a free slot.  Half of the slots stay free, so the search ends. */
	hash += !hash;
	at = hash % N_SLOTS;
	while (report->reported[at] && report->reported[at] != hash)
		at = (at + 1) % N_SLOTS;
	if (report->reported[at] || report->n == TRIAD_TABLES_REPORT_MAX)
		return false;
	report->reported[at] = hash;
	report->n++;
	return true;
}

/* Logs a line unless it was logged before.  Returns 1 if it was left out because there
 * are too many, else 0. */
static unsigned report_line(struct triad_tables_report *report, bool is_error,
	const char *text, const struct triad_policy *policy, unsigned *n)
{
	if (!is_news(report, text))
		return 0;
	if (*n >= TRIAD_TABLES_REPORT_LINES)
		return 1;
	++*n;
	triad_log_write(report->log, is_error ? TRIAD_LOG_ERROR : TRIAD_LOG_WARNING,
		"%s: %s", policy->source, text);
	return 0;
}

static void end_name(
	const struct triad_fabric *fabric, uint32_t port, char *text, size_t size)
{
	snprintf(text, size, "%s", triad_port_label(fabric, port).text);
}

static void format_path(const struct triad_setup_path *path,
	const struct triad_fabric *fabric, char *text, size_t size)
{
	char from[96], to[96], at[96];

	end_name(fabric, path->from, from, sizeof(from));
	end_name(fabric, path->to, to, sizeof(to));
	end_name(fabric, path->port, at, sizeof(at));
	snprintf(text, size,
		"SL %u is in use, but on the path from '%s' to '%s' '%s' drops it: it "
		"has no VL there, or one that is never sent",
		path->sl, from, to, at);
}

void triad_tables_report_findings(struct triad_tables_report *report,
	const struct triad_setup_plan *plan, const struct triad_policy *policy,
	const struct triad_fabric *fabric)
{
	unsigned n = 0, left_out = 0;
	char text[TEXT_SIZE];

	for (uint32_t i = 0; i < plan->n_findings; i++) {
		triad_setup_finding_format(
			&plan->findings[i], policy, fabric, text, sizeof(text));
		left_out += report_line(report,
			triad_setup_finding_is_error(&plan->findings[i]), text, policy,
			&n);
	}
	for (uint32_t i = 0; i < plan->n_paths; i++) {
		format_path(&plan->paths[i], fabric, text, sizeof(text));
		left_out += report_line(report, true, text, policy, &n);
	}
	if (left_out)
		triad_log_write(report->log, TRIAD_LOG_WARNING,
			"%s: %u more findings on QoS tables; 'triadctl qos plan' shows "
			"them",
			policy->source, left_out);
}

void triad_tables_report_different(struct triad_tables_report *report,
	const struct triad_setup_plan *plan, const struct triad_fabric *fabric)
{
	const struct triad_fabric_port *port;
	char text[TEXT_SIZE];

	if (!plan->n_changes)
		return;
	port = &fabric->ports[plan->changes[0].port];
	snprintf(text, sizeof(text),
		"QoS tables: %u port(s) do not have what they were sent, the first is "
		"port %u of '%s' (0x%016" PRIx64 "): they refuse it or don't answer; "
		"it is sent again in each heavy sweep; 'triadctl qos plan' shows all",
		plan->n_changed_ports, port->number, fabric->nodes[port->node].name,
		fabric->nodes[port->node].guid);
	if (is_news(report, text))
		triad_log_write(report->log, TRIAD_LOG_ERROR, "%s", text);
}

void triad_tables_report_cut_off(struct triad_tables_report *report,
	const struct triad_setup_plan *plan, const struct triad_policy *policy,
	const struct triad_fabric *fabric)
{
	char first[96], text[TEXT_SIZE];

	end_name(fabric, plan->first_cut_off, first, sizeof(first));
	snprintf(text, sizeof(text),
		"%s: its qos-setup is refused: the SM could not answer %u port(s), the "
		"first is '%s', because the SL of its answers would have no VL on the "
		"way, or one that is never sent; mend the tables, or 'set "
		"qos.tables_guard false'; it is tried again after each sweep",
		policy->source, plan->n_cut_off, first);
	if (is_news(report, text))
		triad_log_write(report->log, TRIAD_LOG_ERROR, "%s", text);
}

void triad_tables_report_loop(struct triad_tables_report *report,
	const struct triad_routes_credit *credit, const struct triad_policy *policy,
	const struct triad_fabric *fabric)
{
	const struct triad_routes_loop *loop = &credit->loops[0];
	const struct triad_fabric_port *port = &fabric->ports[loop->steps[0].port];
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text),
		"%s: its qos-setup is refused: it would close a credit loop of %u "
		"channels, which begins at port %u of '%s', VL %u, and in which traffic "
		"may stand still for ever; 'triadctl qos plan' shows it hop by hop; mend "
		"the SL2VL tables, or 'set qos.tables_guard false'; it is tried again "
		"after each sweep",
		policy->source, loop->n_channels, port->number,
		fabric->nodes[port->node].name, loop->steps[0].vl);
	if (is_news(report, text))
		triad_log_write(report->log, TRIAD_LOG_ERROR, "%s", text);
}
