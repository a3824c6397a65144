/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/moment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/command_table.h"
#include "lib/search.h"
#include "perfmgr/watch/alert_text.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/control.h"

uint64_t triad_moment_time(uint64_t at_us, uint64_t ago_us)
{
	return at_us ? at_us : triad_clock_wall_us() - ago_us;
}

uint64_t triad_moment_since(const struct triad_command *command, uint64_t default_us)
{
	return command->since_us || command->since_length_us
		? triad_moment_time(command->since_us, command->since_length_us)
		: default_us;
}

/* --- a past --- */

static void print_which(const struct triad_service *service,
	const struct triad_past *past, struct triad_output *output)
{
	char at[TRIAD_CLOCK_TEXT_SIZE], whose[40] = "this SM";
	bool has_sm = strcmp(past->head.sm, "none") != 0;

	if (past->port_guid != service->port_guid)
		snprintf(whose, sizeof(whose), "%s 0x%016" PRIx64,
			has_sm ? "SM" : "agent", past->port_guid);
	else if (!has_sm)
		strcpy(whose, "no SM here");
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"as of %s: sweep %" PRIu64 ", %s%s%s\n",
		triad_clock_format_s(past->wall_us, at), past->head.sweep, whose,
		has_sm ? " was " : "", has_sm ? past->head.sm : "");
}

/* Reads a past by a function of history_reader.h.  NULL, having written why. */
static struct triad_past *read_past(struct triad_service *service,
	struct triad_past *(*read)(struct triad_history_reader *, uint64_t, char *),
	uint64_t at_us, const char *verb, struct triad_output *output)
{
	char message[TRIAD_HISTORY_MESSAGE_SIZE];
	struct triad_past *past;

	if (!triad_service_keeps_images(service)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: no images of the fabric are kept: name a folder in "
			"history.dir, and ask about times after that\n",
			verb);
		return NULL;
	}
	past = read(service->past, at_us, message);
	if (!past)
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "%s: %s\n", verb, message);
	return past;
}

static bool open_by(struct triad_moment *moment, struct triad_service *service,
	struct triad_past *(*read)(struct triad_history_reader *, uint64_t, char *),
	uint64_t at_us, const char *verb, struct triad_output *output)
{
	*moment = (struct triad_moment){.service = service};
	moment->past = read_past(service, read, at_us, verb, output);
	if (!moment->past)
		return false;
	moment->view = triad_view_ref(moment->past->view);
	return true;
}

bool triad_moment_open_at(struct triad_moment *moment, struct triad_service *service,
	uint64_t at_us, const char *verb, struct triad_output *output)
{
	return open_by(moment, service, triad_history_reader_read, at_us, verb, output);
}

struct triad_past *triad_moment_outputs(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_past *past = read_past(service, triad_history_reader_outputs,
		triad_moment_time(command->at_us, command->at_ago_us),
		triad_verb_of(command->verb)->name, output);

	if (past)
		print_which(service, past, output);
	return past;
}

bool triad_moment_open(struct triad_moment *moment, struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	*moment = (struct triad_moment){.service = service};
	if (!command->at[0]) {
		moment->view = triad_perf_view(service->perf);
		return true;
	}
	if (!triad_moment_open_at(moment, service,
		    triad_moment_time(command->at_us, command->at_ago_us),
		    triad_verb_of(command->verb)->name, output))
		return false;
	print_which(service, moment->past, output);
	return true;
}

/* --- lists --- */

static void print_no_list(const struct triad_moment *moment, const char *verb,
	enum triad_kept_kind kind, struct triad_output *output)
{
	uint64_t since_us = triad_history_reader_list_since(
		moment->service->past, kind, moment->past->wall_us);
	char since[TRIAD_CLOCK_TEXT_SIZE];

	if (since_us)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: that image does not keep it: images do since %s\n", verb,
			triad_clock_format_s(since_us, since));
	else
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: that image does not keep it, nor does the last one: an "
			"earlier Triad wrote them\n",
			verb);
}

const struct triad_kept_list *triad_moment_open_list(struct triad_moment *moment,
	struct triad_service *service, const struct triad_command *command,
	enum triad_kept_kind kind, struct triad_output *output)
{
	const char *verb = triad_verb_of(command->verb)->name;
	const struct triad_kept_list *list;

	if (!open_by(moment, service, triad_history_reader_lists,
		    triad_moment_time(command->at_us, command->at_ago_us), verb,
		    output))
		return NULL;
	print_which(service, moment->past, output);
	list = &moment->past->lists[kind];
	if (list->is_kept && !list->why[0])
		return list;
	if (list->is_kept)
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "%s: %s\n", verb, list->why);
	else
		print_no_list(moment, verb, kind, output);
	return NULL;
}

int triad_moment_refuse_row(
	const struct triad_command *command, struct triad_output *output)
{
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"%s: what the image has of it can't be read: a later Triad wrote it, or "
		"it is damaged\n",
		triad_verb_of(command->verb)->name);
	return TRIAD_CONTROL_FAILED;
}

void triad_moment_close(struct triad_moment *moment)
{
	triad_view_unref(moment->view);
	triad_past_free(moment->past);
	*moment = (struct triad_moment){.service = moment->service};
}

struct triad_view *triad_moment_view(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_moment moment;
	struct triad_view *view;

	if (!triad_moment_open(&moment, service, command, output))
		return NULL;
	view = moment.view ? triad_view_ref(moment.view) : NULL;
	triad_moment_close(&moment);
	if (!view)
		(void)triad_command_no_view(service, output);
	return view;
}

const char *triad_moment_trouble(const struct triad_moment *moment)
{
	return moment->past ? NULL : triad_service_trouble(moment->service);
}

static struct triad_totals_base base_of(const struct triad_moment *moment)
{
	return moment->past ? triad_past_base(moment->past)
			    : triad_images_base(moment->service->images);
}

bool triad_moment_shares_base(
	const struct triad_moment *before, const struct triad_moment *now)
{
	const struct triad_totals_base first = base_of(before), last = base_of(now);

	return triad_totals_are_of_one(&first,
		before->past ? before->past->wall_us : triad_clock_wall_us(), &last);
}

bool triad_moment_grown(const struct triad_engine_row *before,
	const struct triad_engine_row *now, unsigned counter, uint64_t *by)
{
	/* One that went back began anew, as when its port came back. */
	if (!((now->has & before->has) >> counter & 1) ||
		now->total[counter] < before->total[counter])
		return false;
	*by = now->total[counter] - before->total[counter];
	return true;
}

uint64_t triad_moment_now_us(const struct triad_moment *moment)
{
	return moment->past ? moment->past->wall_us - (uint64_t)moment->past->offset_us
			    : triad_clock_now_us();
}

/* --- ports and devices --- */

/* Finds an extra of a past, for a port of the view. */
static bool find_extra(const struct triad_moment *moment, enum triad_extra_kind kind,
	uint32_t port, unsigned part, struct triad_extra *extra)
{
	const struct triad_fabric *fabric = moment->view->fabric;

	return triad_past_find_extra(moment->past, kind,
		fabric->nodes[fabric->ports[port].node].guid,
		fabric->ports[port].number, part, extra);
}

bool triad_moment_read_detail(const struct triad_moment *moment, uint32_t port,
	enum triad_pma_attribute attribute, struct triad_detail_row *row)
{
	struct triad_details_port of;
	struct triad_extra extra;

	if (!moment->past) {
		of = triad_view_details_port(moment->view, port);
		return triad_details_read(triad_engine_details(moment->view->engine),
			&of, attribute, row);
	}
	if (!find_extra(moment, TRIAD_EXTRA_DETAIL, port, attribute, &extra))
		return false;
	*row = extra.is.detail;
	return true;
}

uint32_t triad_moment_details(const struct triad_moment *moment, uint32_t port)
{
	struct triad_details_port of;

	if (moment->past)
		return UINT32_MAX;
	of = triad_view_details_port(moment->view, port);
	return triad_details_known(triad_engine_details(moment->view->engine), &of);
}

void triad_moment_read_bers(const struct triad_moment *moment, uint32_t port,
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS])
{
	struct triad_extra extra;

	if (!moment->past) {
		triad_watch_read_bers(triad_perf_watch(moment->service->perf),
			moment->view, port, rates);
		return;
	}
	for (unsigned i = 0; i < TRIAD_BER_N_KINDS; i++)
		rates[i] = find_extra(moment, TRIAD_EXTRA_BER, port, i, &extra)
			? extra.is.ber
			: (struct triad_bers_rate){0};
}

bool triad_moment_read_device(const struct triad_moment *moment, uint64_t guid,
	struct triad_device_known *known)
{
	struct triad_extra extra;

	if (!moment->past)
		return triad_device_reader_read(moment->service->devices, guid, known);
	if (!triad_past_find_extra(
		    moment->past, TRIAD_EXTRA_DEVICE, guid, 0, 0, &extra))
		return false;
	*known = extra.is.device;
	return true;
}

bool triad_moment_read_cable(const struct triad_moment *moment, uint64_t guid,
	uint8_t port, struct triad_cable_known *known)
{
	struct triad_extra extra;

	if (!moment->past)
		return triad_device_reader_read_port(
			moment->service->devices, guid, port, known);
	if (!triad_past_find_extra(
		    moment->past, TRIAD_EXTRA_CABLE, guid, port, 0, &extra))
		return false;
	*known = extra.is.cable;
	return true;
}

/* --- tables --- */

uint64_t triad_moment_tables_hash(const struct triad_moment *moment, uint32_t node,
	enum triad_history_tables tables)
{
	const struct triad_fabric *fabric = moment->view->fabric;
	const struct triad_past *past = moment->past;
	uint64_t guid = fabric->nodes[node].guid;
	uint32_t at;

	if (!past)
		return triad_history_hash_tables(fabric, &fabric->nodes[node], tables);
	/* The tables are sorted by GUID. */
	TRIAD_SEARCH(at, 0, past->n_tables[tables],
		past->tables[tables][at].node_guid < guid);
	return at < past->n_tables[tables] && past->tables[tables][at].node_guid == guid
		? past->tables[tables][at].hash
		: 0;
}

/* Whether two fabrics have the same links; ports are sorted by GUID and number. */
static bool has_links_of(
	const struct triad_fabric *then, const struct triad_fabric *fabric)
{
	if (then->n_nodes != fabric->n_nodes || then->n_ports != fabric->n_ports)
		return false;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (then->nodes[i].guid != fabric->nodes[i].guid)
			return false;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *a = &then->ports[i],
					       *b = &fabric->ports[i];

		if (a->node != b->node || a->number != b->number ||
			a->remote != b->remote || a->lid != b->lid || a->lmc != b->lmc)
			return false;
	}
	return true;
}

bool triad_moment_has_paths_of(
	const struct triad_moment *moment, const struct triad_fabric *fabric)
{
	if (!moment->past)
		return true;
	if (!has_links_of(moment->view->fabric, fabric))
		return false;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		for (unsigned t = 0; t < TRIAD_HISTORY_N_TABLES; t++)
			if (triad_moment_tables_hash(moment, i, t) !=
				triad_history_hash_tables(fabric, &fabric->nodes[i], t))
				return false;
	return true;
}

/* --- alerts and links --- */

bool triad_moment_next_alert(
	const struct triad_moment *moment, uint32_t *cursor, struct triad_alert *copy)
{
	const struct triad_past *past = moment->past;

	if (!past)
		return triad_watch_next_alert(
			triad_perf_watch(moment->service->perf), cursor, copy);
	if (*cursor >= past->n_alerts)
		return false;
	*copy = past->alerts[(*cursor)++];
	triad_alert_label(copy, moment->view ? moment->view->fabric : NULL);
	return true;
}

bool triad_moment_next_link(
	const struct triad_moment *moment, uint32_t *cursor, struct triad_link *copy)
{
	const struct triad_past *past = moment->past;

	if (!past)
		return triad_watch_next_link(
			triad_perf_watch(moment->service->perf), cursor, copy);
	if (*cursor >= past->n_links)
		return false;
	*copy = past->links[(*cursor)++];
	return true;
}

bool triad_moment_find_link(const struct triad_moment *moment, uint64_t node_guid,
	uint8_t port, struct triad_link *copy)
{
	const struct triad_link *found;

	if (!moment->past)
		return triad_watch_find_link(
			triad_perf_watch(moment->service->perf), node_guid, port, copy);
	found = triad_past_find_link(moment->past, node_guid, port);
	if (found)
		*copy = *found;
	return found;
}

struct triad_alerts_counts triad_moment_alerts_counts(const struct triad_moment *moment)
{
	return moment->past
		? moment->past->head.alerts
		: triad_watch_status(triad_perf_watch(moment->service->perf)).alerts;
}
