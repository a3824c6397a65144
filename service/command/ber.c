/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'perf ber': bit error rates of links, against their targets; see
 * perfmgr/watch/bers.h. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <math.h>

#include "perfmgr/watch/watch.h"
#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"

struct shown {
	const struct triad_fabric_node *node;
	const struct triad_fabric_port *port;
	enum triad_ber_kind kind;
	const struct triad_bers_rate *rate;
};

struct rates {
	const struct triad_command *command;
	struct triad_moment moment;
	struct triad_node_choice choice;
	struct triad_list list;
	uint32_t n_ports, n_known, n_rows; /* ports chosen; with rates; lines */
};

static const char *const verdicts[] = {
	[TRIAD_BER_UNDECIDED] = "undecided",
	[TRIAD_BER_GOOD] = "good",
	[TRIAD_BER_WORSE] = "worse",
};

/* --- one rate --- */

static void put_small_number(
	struct triad_list *list, const char *name, const char *title, double number)
{
	triad_list_real(list, name, title, 7, number, "%.2g", number);
}

static void put_rate(struct triad_list *list, const struct shown *shown)
{
	const struct triad_bers_rate *rate = shown->rate;
	char text[TRIAD_CLOCK_TEXT_SIZE];

	triad_list_row(list);
	triad_list_guid(list, "node_guid", NULL, shown->node->guid);
	triad_list_node(list, "node_name", "node", TRIAD_LIST_LONG, shown->node);
	triad_list_uint(list, "port", "port", 4, shown->port->number);
	triad_link_rate_format(triad_link_rate_active(shown->port), text, sizeof(text));
	triad_list_text(list, "rate", NULL, 0, text);
	triad_list_text(list, "kind", "kind", -9, triad_ber_kind_name(shown->kind));
	put_small_number(list, "ber", "BER", rate->estimate.ber);
	put_small_number(list, "low", "from", rate->estimate.low);
	put_small_number(list, "high", "to", rate->estimate.high);
	put_small_number(list, "target", "target", rate->target);
	triad_list_text(list, "verdict", "verdict", -9, verdicts[rate->verdict]);
	triad_list_uint(list, "errors", NULL, 0, rate->estimate.errors);
	triad_list_double(list, "bits", rate->estimate.bits);
	triad_list_double(list, "remaining_s", rate->remaining_s);
	triad_list_text(list, "since", NULL, 0,
		triad_command_format_time(rate->since_us, text));
	triad_list_text(list, "last_read", NULL, 0,
		triad_command_format_time(rate->read_us, text));
	triad_list_row_end(list);
}

/* --- ports --- */

static bool is_chosen_rate(
	const struct rates *rates, const struct triad_bers_rate *rate)
{
	return rates->command->all ? rate->is_known : triad_bers_is_notable(rate);
}

static void put_port_rates(struct rates *rates, uint32_t port)
{
	const struct triad_fabric *fabric = rates->moment.view->fabric;
	struct triad_bers_rate of[TRIAD_BER_N_KINDS];
	bool is_known = false;

	triad_moment_read_bers(&rates->moment, port, of);
	for (unsigned kind = 0; kind < TRIAD_BER_N_KINDS; kind++) {
		const struct shown shown = {
			.node = &fabric->nodes[fabric->ports[port].node],
			.port = &fabric->ports[port],
			.kind = kind,
			.rate = &of[kind],
		};

		is_known |= of[kind].is_known;
		if (is_chosen_rate(rates, &of[kind]) &&
			rates->n_rows++ < rates->command->limit)
			put_rate(&rates->list, &shown);
	}
	rates->n_ports++;
	rates->n_known += is_known;
}

/* Writes why rows are missing. */
static void explain_missing_rows(const struct rates *rates, struct triad_output *output)
{
	struct triad_service *service = rates->moment.service;

	if (rates->n_rows > rates->command->limit)
		triad_command_put_left_out(output,
			rates->n_rows - (uint32_t)rates->command->limit, rates->n_rows,
			"more");
	if (rates->n_rows)
		return;
	if (rates->moment.past)
		triad_output_printf(output,
			"no link was worse than its target then, or undecided after "
			"errors; others are not kept\n");
	else if (rates->n_known)
		triad_output_printf(output,
			"no link of %" PRIu32 " port%s is worse than its target or "
			"undecided after errors; '--all' shows them all\n",
			rates->n_known, rates->n_known == 1 ? "" : "s");
	else
		triad_output_printf(output,
			"no bit error rate is known yet: a link must have been read "
			"twice since it came up (alerts.ber must be true)\n");
	if (triad_collect_status(service->collect).mode == TRIAD_COLLECT_MANAGER)
		triad_output_printf(output,
			"agents know those of what they read: ask 'triadctl perf ber' "
			"on their hosts\n");
}

static int show_rates(struct rates *rates, struct triad_output *output)
{
	const struct triad_fabric *fabric = rates->moment.view->fabric;
	struct triad_report report = {
		.output = output, .as_json = rates->command->json};

	if (!triad_command_choose_there(
		    rates->command, fabric, "perf ber", &rates->choice, output))
		return TRIAD_CONTROL_FAILED;
	rates->list = (struct triad_list){.report = &report};
	triad_report_array(&report, NULL);
	for (uint32_t i = 0; i < fabric->n_ports && !output->failed; i++)
		if (triad_command_wants_port(&rates->choice, fabric, i))
			put_port_rates(rates, i);
	triad_report_array_end(&report);
	if (!rates->n_ports)
		return triad_command_no_port(
			"perf ber", fabric, &rates->choice, output);
	if (!rates->command->json)
		explain_missing_rows(rates, output);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_perf_ber(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct rates rates = {.command = command};
	int status;

	if (!triad_moment_open(&rates.moment, service, command, output))
		return TRIAD_CONTROL_FAILED;
	status = rates.moment.view ? show_rates(&rates, output)
				   : triad_command_no_view(service, output);
	triad_moment_close(&rates.moment);
	return status;
}
