/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'job': the part of the fabric that a set of hosts uses. */
#include "service/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/hostlist.h"
#include "jobs/slurm_topology.h"
#include "perfmgr/watch/alert_text.h"
#include "perfmgr/watch/watch.h"
#include "service/command/format.h"
#include "service/command/job_congestion.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/command/routes_parts.h"
#include "service/service.h"
#include "triad/clock.h"

struct job {
	const struct triad_command *command;
	struct triad_service *service;
	const struct triad_route_result *routes; /* of all hosts */
	struct triad_routes_check *check;        /* of the job's hosts only */
	struct triad_moment moment;              /* the moment to show */
	bool is_since, has_base;   /* growth is known: triad_moment_shares_base() */
	struct triad_moment since; /* growth is counted from there on */
	double since_s;            /* time from 'since' to 'moment' */
	struct triad_hostlist hosts, unknown;
	struct triad_hostlist shared; /* several nodes have one description */
	uint64_t *ports; /* the job's hosts; a bit for each port of the fabric */
	uint32_t n_ports, n_switches;
	uint32_t *links; /* ports that pairs of the job leave by, the busiest first */
	uint32_t n_links;
};

/* A link in one direction, by its counters. */
struct link_state {
	double use_percent, wait_percent; /* NAN: not known */
	bool waits_longer;                /* 'wait_percent' is a lower bound */
	double octets;                    /* sent, since a time; NAN: not known */
	uint64_t n_errors[2];             /* at the port that sends; at its far end */
	bool lacks_errors[2];             /* they are not known */
};

/* --- which hosts --- */

/* A node that bears the name of a host of the job. */
struct bearer {
	uint32_t node, host; /* in the fabric; in the list */
};

static int compare_bearers(const void *a, const void *b, void *context)
{
	const struct triad_fabric *fabric = context;
	const struct bearer *one = a, *other = b;
	int order =
		strcmp(fabric->nodes[one->node].name, fabric->nodes[other->node].name);

	if (order)
		return order;
	return one->node < other->node ? -1 : one->node > other->node;
}

/* Finds hosts of which two nodes have the same description: HCAs of one host differ in
 * theirs, so these may be two hosts. */
static int find_shared(struct job *job, struct bearer *bearers, uint32_t n)
{
	struct triad_fabric *fabric = job->routes->check->layout->fabric;
	int error = 0;

	if (n)
		qsort_r(bearers, n, sizeof(*bearers), compare_bearers, fabric);
	for (uint32_t i = 1; i < n && !error; i++)
		if (bearers[i].node != bearers[i - 1].node &&
			!strcmp(fabric->nodes[bearers[i].node].name,
				fabric->nodes[bearers[i - 1].node].name))
			error = triad_hostlist_add(
				&job->shared, job->hosts.names[bearers[i].host]);
	triad_hostlist_sort(&job->shared);
	return error;
}

/* Marks the ports of the job's hosts, and finds unknown hosts. */
static int find_hosts(struct job *job)
{
	const struct triad_routes_layout *layout = job->routes->check->layout;
	const struct triad_fabric *fabric = layout->fabric;
	bool *is_found = calloc(job->hosts.n + 1, sizeof(*is_found));
	struct bearer *bearers = calloc(layout->n_hosts + 1u, sizeof(*bearers));
	uint32_t last = TRIAD_FABRIC_NONE, n_bearers = 0;
	int error = 0;

	job->ports = calloc(fabric->n_ports / 64 + 1, sizeof(*job->ports));
	if (!job->ports || !is_found || !bearers) {
		free(is_found);
		free(bearers);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < layout->n_hosts; i++) {
		const struct triad_routes_host *host = &layout->hosts[i];
		const struct triad_fabric_node *node =
			&fabric->nodes[fabric->ports[host->port].node];
		char name[TRIAD_HOSTLIST_NAME_SIZE];
		uint32_t at;

		triad_slurm_host_name(node->name, name);
		at = name[0] ? triad_hostlist_find(&job->hosts, name)
			     : TRIAD_FABRIC_NONE;
		if (at == TRIAD_FABRIC_NONE)
			continue;
		is_found[at] = true;
		bearers[n_bearers++] =
			(struct bearer){fabric->ports[host->port].node, at};
		job->ports[host->port / 64] |= UINT64_C(1) << host->port % 64;
		job->n_ports++;
		/* The layout orders hosts by switch. */
		job->n_switches += host->sw != last;
		last = host->sw;
	}
	for (uint32_t i = 0; i < job->hosts.n && !error; i++)
		if (!is_found[i])
			error = triad_hostlist_add(&job->unknown, job->hosts.names[i]);
	if (!error)
		error = find_shared(job, bearers, n_bearers);
	free(is_found);
	free(bearers);
	return error;
}

/* --- which links --- */

static int compare_links(const void *a, const void *b, void *context)
{
	const uint64_t *pairs = context;
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	if (pairs[one] != pairs[other])
		return pairs[one] > pairs[other] ? -1 : 1;
	return one < other ? -1 : one > other;
}

static int find_links(struct job *job)
{
	const struct triad_fabric *fabric = job->routes->check->layout->fabric;
	const struct triad_routes_options options = {
		.sls.all = 1, .from = job->ports, .to = job->ports};
	int error = triad_routes_check_make(
		(struct triad_fabric *)fabric, &options, &job->check);

	if (error)
		return error;
	job->links = malloc((fabric->n_ports + 1u) * sizeof(*job->links));
	if (!job->links)
		return ENOMEM;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (job->check->pairs[i])
			job->links[job->n_links++] = i;
	if (job->n_links)
		qsort_r(job->links, job->n_links, sizeof(*job->links), compare_links,
			job->check->pairs);
	return 0;
}

/* Replaces the totals of 'row' by their growth since 'since', as far as it is known; false:
 * nothing is. */
static bool count_since(const struct job *job, const struct triad_fabric *fabric,
	uint32_t port, struct triad_engine_row *row)
{
	struct triad_engine_row before;

	if (!job->has_base ||
		!triad_routes_read_port(job->since.view, fabric, port, &before))
		return false;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (!triad_moment_grown(&before, row, i, &row->total[i]))
			row->has &= ~(1u << i);
	return row->has;
}

/* The growth of 'counter' (words of 4 octets, or ticks of as long) since 'since', in
 * percent of what the link can carry. */
static double percent_since(const struct job *job, const struct triad_engine_row *row,
	unsigned counter, uint64_t bps)
{
	double most = (double)bps / 32 * job->since_s;

	return most > 0 && row->has >> counter & 1
		? fmin(100, 100 * (double)row->total[counter] / most)
		: NAN;
}

static void read_errors(const struct job *job, uint32_t port, struct link_state *state)
{
	const struct triad_fabric *fabric = job->routes->check->layout->fabric;
	const uint32_t ports[2] = {port, fabric->ports[port].remote};

	for (unsigned i = 0; i < 2; i++) {
		struct triad_engine_row row;

		state->lacks_errors[i] = !triad_routes_read_port(job->moment.view,
						 fabric, ports[i], &row) ||
			(job->is_since && !count_since(job, fabric, ports[i], &row)) ||
			!triad_command_knows_errors(&row);
		if (!state->lacks_errors[i])
			state->n_errors[i] = triad_command_count_errors(&row);
	}
}

static struct link_state state_since(const struct job *job, uint32_t port)
{
	const struct triad_fabric *fabric = job->routes->check->layout->fabric;
	struct link_state state = {
		.use_percent = NAN, .wait_percent = NAN, .octets = NAN};
	uint64_t bps = triad_fabric_port_bps(&fabric->ports[port]);
	struct triad_engine_row row;

	read_errors(job, port, &state);
	if (!triad_routes_read_port(job->moment.view, fabric, port, &row) ||
		!count_since(job, fabric, port, &row))
		return state;
	state.use_percent = percent_since(job, &row, TRIAD_PORT_XMIT_DATA, bps);
	state.wait_percent = percent_since(job, &row, TRIAD_PORT_XMIT_WAIT, bps);
	if (row.has >> TRIAD_PORT_XMIT_DATA & 1)
		state.octets = 4 * (double)row.total[TRIAD_PORT_XMIT_DATA];
	return state;
}

static struct link_state link_state_of(const struct job *job, uint32_t port)
{
	const struct triad_fabric *fabric = job->routes->check->layout->fabric;
	struct link_state state = {
		.use_percent = NAN, .wait_percent = NAN, .octets = NAN};
	uint64_t bps = triad_fabric_port_bps(&fabric->ports[port]);
	struct triad_engine_row row;

	if (job->is_since)
		return state_since(job, port);
	if (triad_routes_read_port(job->moment.view, fabric, port, &row)) {
		state.use_percent =
			triad_command_link_percent(&row, TRIAD_PORT_XMIT_DATA, bps);
		state.wait_percent =
			triad_command_link_percent(&row, TRIAD_PORT_XMIT_WAIT, bps);
		state.waits_longer =
			triad_engine_rate_is_least(&row, TRIAD_PORT_XMIT_WAIT);
	}
	read_errors(job, port, &state);
	return state;
}

/* --- showing --- */

static void put_percent(struct triad_list *list, const char *name, const char *title,
	double percent, bool at_least)
{
	list->next = (struct triad_list_next){.name = name};
	triad_list_real(list, name, title, 6, percent, "%s%.1f%%", at_least ? ">=" : "",
		percent);
}

static void put_errors(struct triad_list *list, const char *name, const char *title,
	uint64_t n, bool is_known)
{
	if (is_known)
		triad_list_uint(list, name, title, 6, n);
	else
		triad_list_text(list, name, title, 6, NULL);
}

static void put_link(struct job *job, struct triad_list *list, uint32_t port)
{
	const struct triad_routes_check *all = job->routes->check;
	const struct triad_fabric *fabric = all->layout->fabric;
	const struct link_state state = link_state_of(job, port);
	uint64_t n = job->check->pairs[port];
	uint64_t n_errors = state.n_errors[0] + state.n_errors[1];

	triad_list_row(list);
	triad_routes_put_port(list, NULL, "LINK FROM", fabric, port);
	triad_routes_put_port(list, "to", "TO", fabric, fabric->ports[port].remote);
	triad_list_uint(list, "pairs", "PAIRS", 7, n);
	put_percent(list, "share_percent", "SHARE",
		all->pairs[port] ? 100 * (double)n / (double)all->pairs[port] : NAN,
		false);
	put_percent(list, "use_percent", "USE", state.use_percent, false);
	put_percent(
		list, "wait_percent", "WAIT", state.wait_percent, state.waits_longer);
	triad_list_bool(list, "wait_at_least", NULL, 0, state.waits_longer);
	/* None at one end says nothing of the other. */
	put_errors(list, "errors", "ERRORS", n_errors,
		n_errors || (!state.lacks_errors[0] && !state.lacks_errors[1]));
	put_errors(
		list, "port_errors", NULL, state.n_errors[0], !state.lacks_errors[0]);
	put_errors(list, "to_port_errors", NULL, state.n_errors[1],
		!state.lacks_errors[1]);
	if (job->is_since)
		triad_list_double(list, "octets", state.octets);
	triad_list_row_end(list);
}

/* Whether pairs of the job cross a link at the end, in either direction. */
static bool is_of_job(const struct job *job, const struct triad_alert_end *end)
{
	const struct triad_fabric *fabric = job->routes->check->layout->fabric;
	uint32_t n, port = triad_alert_end_ports(fabric, end, &n);
	uint32_t far = n == 1 ? fabric->ports[port].remote : TRIAD_FABRIC_NONE;

	for (uint32_t i = 0; i < n; i++)
		if (job->check->pairs[port + i])
			return true;
	return end->port != TRIAD_ALERT_NO_PORT && far != TRIAD_FABRIC_NONE &&
		job->check->pairs[far];
}

static void put_alert(struct triad_report *report, const struct triad_alert *alert)
{
	char where[256], what[TRIAD_ALERT_TEXT_SIZE];

	triad_alert_end_format(&alert->ends[0], where, sizeof(where));
	triad_alert_findings_format(alert, what, sizeof(what));
	if (!report->as_json) {
		triad_output_printf(report->output, "  alert %" PRIu64 ": ", alert->id);
		snprintf(where + strlen(where), sizeof(where) - strlen(where), ":");
		triad_output_printf(report->output, "%s ", where);
		triad_command_put_wrapped(
			report->output, what, (unsigned)strlen(where) + 13, 4);
		return;
	}
	triad_json_object_begin(&report->json, NULL);
	triad_json_uint(&report->json, "id", alert->id);
	triad_json_string(&report->json, "at", where);
	triad_json_string(&report->json, "what", what);
	triad_json_object_end(&report->json);
}

static void put_alerts(struct job *job, struct triad_report *report)
{
	struct triad_alert alert;

	triad_report_array(report, "alerts");
	for (uint32_t at = 0; triad_moment_next_alert(&job->moment, &at, &alert);)
		if (alert.state == TRIAD_ALERT_ACTIVE &&
			(is_of_job(job, &alert.ends[0]) ||
				(alert.n_ends > 1 && is_of_job(job, &alert.ends[1]))))
			put_alert(report, &alert);
	triad_report_array_end(report);
}

static void put_piece(void *context, const char *piece)
{
	struct triad_output *output = context;

	triad_output_printf(output, "%s", piece);
}

void triad_command_print_hosts(
	const struct triad_hostlist *list, struct triad_output *output)
{
	triad_hostlist_write(list, put_piece, output);
}

void triad_command_json_hosts(
	struct triad_json *json, const char *name, const struct triad_hostlist *list)
{
	triad_json_array_begin(json, name);
	for (uint32_t i = 0; i < list->n; i++)
		triad_json_string(json, NULL, list->names[i]);
	triad_json_array_end(json);
}

static double mean_links(const struct triad_routes_check *check)
{
	return check->n_arriving
		? (double)check->n_links_sum / (double)check->n_arriving
		: 0;
}

static void put_names(struct triad_output *output, const char *what,
	const struct triad_hostlist *names)
{
	if (!names->n)
		return;
	triad_output_printf(output, "%s", what);
	triad_command_print_hosts(names, output);
	triad_output_printf(output, "\n");
}

static void put_job_head(struct job *job, struct triad_report *report)
{
	const struct triad_routes_check *check = job->check;
	struct triad_output *output = report->output;
	uint32_t n_hosts = job->hosts.n - job->unknown.n;
	char since[TRIAD_CLOCK_TEXT_SIZE] = "";

	if (job->is_since)
		triad_clock_format_s(job->since.past->wall_us, since);
	if (report->as_json) {
		triad_json_uint(&report->json, "hosts", n_hosts);
		triad_command_json_hosts(&report->json, "unknown_hosts", &job->unknown);
		triad_command_json_hosts(&report->json, "shared_names", &job->shared);
		triad_json_uint(&report->json, "host_ports", job->n_ports);
		triad_json_uint(&report->json, "host_switches", job->n_switches);
		triad_json_uint(&report->json, "pairs", check->n_pairs);
		triad_json_uint(&report->json, "arriving_pairs", check->n_arriving);
		triad_json_double(&report->json, "mean_links", mean_links(check));
		triad_json_uint(&report->json, "most_links", check->most_links);
		triad_json_uint(&report->json, "links_used", job->n_links);
		triad_json_string(&report->json, "since", since[0] ? since : NULL);
		return;
	}
	triad_output_printf(output,
		"%" PRIu32 " host%s (%" PRIu32 " port%s) at %" PRIu32 " switch%s\n",
		n_hosts, n_hosts == 1 ? "" : "s", job->n_ports,
		job->n_ports == 1 ? "" : "s", job->n_switches,
		job->n_switches == 1 ? "" : "es");
	put_names(output, "not in the fabric: ", &job->unknown);
	put_names(output, "several nodes bear the name, and all count: ", &job->shared);
	triad_output_printf(output,
		"%" PRIu64 " pairs, of which %" PRIu64
		" arrive; over %.1f links on average, %u at most\n",
		check->n_pairs, check->n_arriving, mean_links(check),
		check->most_links);
	if (since[0])
		triad_output_printf(output,
			job->has_base
				? "use, waits and errors since %s\n"
				: "use, waits and errors since %s are not known: "
				  "another SM counted, OpenSM\nwas started again, or "
				  "totals were set to 0 in between\n",
			since);
	triad_output_printf(output, "\n");
}

/* Only at present: images keep the answer of 'congestion', but not by hosts. */
static void put_congestion(const struct job *job, struct triad_report *report)
{
	if (!job->moment.past) {
		triad_job_put_congestion(job->service, report,
			job->routes->check->layout->fabric, job->ports);
		return;
	}
	triad_report_array(report, "congestion");
	triad_report_array_end(report);
	if (!report->as_json)
		triad_output_printf(report->output,
			"\nits part in congestion is not kept: 'congestion --at %s' has "
			"the roots\n",
			job->command->at);
}

static void put_job(struct job *job, struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = job->command->json};
	struct triad_list list = {.report = &report};

	triad_report_begin(&report);
	put_job_head(job, &report);
	triad_report_array(&report, "links");
	for (uint32_t i = 0; i < job->n_links && i < job->command->limit; i++)
		put_link(job, &list, job->links[i]);
	triad_report_array_end(&report);
	if (!report.as_json && job->n_links > job->command->limit)
		triad_command_put_left_out(output,
			job->n_links - (uint32_t)job->command->limit, job->n_links,
			"more links");
	put_congestion(job, &report);
	put_alerts(job, &report);
	triad_report_end(&report);
}

/* --- the commands --- */

static int refuse_job(struct triad_output *output, const char *verb, const char *what)
{
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s: %s\n", verb, what);
	return TRIAD_CONTROL_FAILED;
}

static int open_since(struct job *job, struct triad_output *output)
{
	const struct triad_command *command = job->command;
	const struct triad_past *past = job->moment.past;
	uint64_t until_us = past ? past->wall_us : triad_clock_wall_us();

	if (!command->since[0])
		return TRIAD_CONTROL_DONE;
	if (!job->moment.view)
		return triad_command_no_view(job->service, output);
	if (!triad_moment_open_at(&job->since, job->service,
		    triad_moment_time(command->since_us, command->since_length_us),
		    "job", output))
		return TRIAD_CONTROL_FAILED;
	job->is_since = true;
	job->has_base = triad_moment_shares_base(&job->since, &job->moment);
	if (past && past->wall_us <= job->since.past->wall_us)
		return refuse_job(output, "job",
			"no image lies between --since and --at: --since must be the "
			"earlier one");
	if (until_us > job->since.past->wall_us)
		job->since_s = (double)(until_us - job->since.past->wall_us) /
			(double)TRIAD_US_PER_S;
	return TRIAD_CONTROL_DONE;
}

static int make_job(struct job *job, struct triad_output *output)
{
	char reason[160];
	int error = triad_hostlist_parse(
		&job->hosts, job->command->hosts, reason, sizeof(reason));

	if (!error)
		error = find_hosts(job);
	else if (error != ENOMEM)
		return refuse_job(output, "job: --nodes", reason);
	if (!error && !job->n_ports)
		return refuse_job(output, "job",
			"none of these hosts is in the fabric; a host is named by the "
			"first word of its node's description ('triadctl nodes')");
	if (!error)
		error = find_links(job);
	if (!error)
		return TRIAD_CONTROL_DONE;
	return refuse_job(output, "job",
		error == ENOMEM
			? "not enough memory; try again"
			: triad_route_state_text(triad_route_state_of_error(error)));
}

static int show_job(struct job *job, struct triad_output *output)
{
	int status = open_since(job, output);

	if (status == TRIAD_CONTROL_DONE)
		status = make_job(job, output);
	if (status == TRIAD_CONTROL_DONE)
		put_job(job, output);
	if (job->is_since)
		triad_moment_close(&job->since);
	triad_routes_check_free(job->check);
	triad_hostlist_clear(&job->hosts);
	triad_hostlist_clear(&job->unknown);
	triad_hostlist_clear(&job->shared);
	free(job->ports);
	free(job->links);
	return status;
}

int triad_command_run_job(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct job job = {.command = command, .service = service};
	struct triad_route_result *routes;
	int status;

	if (!command->hosts[0])
		return refuse_job(output, "job",
			"triadctl asks Slurm for the hosts of a job; name them with "
			"--nodes here");
	routes = triad_routes_open_moment(&job.moment, service, command, output);
	if (!routes)
		return TRIAD_CONTROL_FAILED;
	job.routes = routes;
	status = show_job(&job, output);
	triad_routes_close_moment(&job.moment, routes);
	return status;
}
