/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/image_extra.h"

#include <stdio.h>
#include <string.h>

#include "history/lines.h"
#include "lib/hash.h"
#include "perfmgr/engine.h"

struct writing {
	const struct triad_history_image *image;
	const struct triad_fabric *fabric;
	struct triad_history_key *key;
	struct triad_history_out *out;
	bool is_key;
	uint32_t n_details, n_rates, n_left_out;
	uint32_t n_hardware, n_changed; /* cables and devices; how many were written */
	struct triad_history_lines lines;
};

static void put_extra(struct writing *w, const struct triad_extra *extra)
{
	uint8_t octets[TRIAD_EXTRA_SIZE];

	triad_history_lines_put(
		&w->lines, octets, triad_extra_put(octets, extra, w->image->offset_us));
}

/* --- errors: complete in each image --- */

static bool has_errors(
	enum triad_pma_attribute attribute, const struct triad_detail_row *row)
{
	unsigned n = triad_detail_n_slots(attribute);

	for (unsigned i = 0; i < n; i++)
		if (row->total[i] && triad_detail_field(attribute, i)->is_error)
			return true;
	return false;
}

static void put_details(struct writing *w, uint32_t port, struct triad_extra *extra)
{
	const struct triad_view *view = w->image->view;
	const struct triad_details *details = triad_engine_details(view->engine);
	const struct triad_details_port of = triad_view_details_port(view, port);
	uint32_t known = triad_details_known(details, &of);

	extra->kind = TRIAD_EXTRA_DETAIL;
	for (; known; known &= known - 1) {
		extra->part = (uint8_t)__builtin_ctz(known);
		if (!triad_details_read(details, &of, extra->part, &extra->is.detail) ||
			!has_errors(extra->part, &extra->is.detail))
			continue;
		if (w->n_details++ < TRIAD_HISTORY_MAX_DETAILS)
			put_extra(w, extra);
		else
			w->n_left_out++;
	}
}

static void put_rates(struct writing *w, uint32_t port, struct triad_extra *extra)
{
	const struct triad_history_sources *sources = &w->image->sources;
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS];

	if (!sources->read_bers)
		return;
	sources->read_bers(sources->context, w->image->view, port, rates);
	extra->kind = TRIAD_EXTRA_BER;
	for (unsigned i = 0; i < TRIAD_BER_N_KINDS; i++) {
		extra->part = (uint8_t)i;
		extra->is.ber = rates[i];
		if (!triad_bers_is_notable(&rates[i]))
			continue;
		if (w->n_rates++ < TRIAD_HISTORY_MAX_RATES)
			put_extra(w, extra);
		else
			w->n_left_out++;
	}
}

/* --- hardware: differences from the key --- */

/* Excludes the time of reading and the device's uptime, so that a record is not written
 * again if nothing else changed. */
static uint64_t hash_extra(const struct triad_extra *extra)
{
	struct triad_extra copy = *extra;
	uint8_t octets[TRIAD_EXTRA_SIZE];
	size_t size;

	if (extra->is_gone)
		return 0;
	if (extra->kind == TRIAD_EXTRA_CABLE) {
		copy.is.cable.read_us = 0;
	} else {
		copy.is.device.read_us = 0;
		copy.is.device.info.uptime_s = 0;
	}
	size = triad_extra_put(octets, &copy, 0);
	return triad_hash_octets(TRIAD_HASH_START, octets, size) | 1;
}

static void put_changed(
	struct writing *w, const struct triad_extra *extra, uint64_t *of_key)
{
	uint64_t hash = hash_extra(extra), before = w->is_key ? 0 : *of_key;

	if (w->is_key)
		*of_key = hash;
	w->n_hardware += hash != 0;
	if (hash == before)
		return;
	put_extra(w, extra);
	w->n_changed++;
}

static void put_cable(struct writing *w, uint32_t port, struct triad_extra *extra)
{
	const struct triad_history_sources *sources = &w->image->sources;

	extra->kind = TRIAD_EXTRA_CABLE;
	extra->part = 0;
	memset(&extra->is, 0, sizeof(extra->is));
	extra->is_gone = !sources->read_cable ||
		!sources->read_cable(sources->context, extra->node_guid, extra->port,
			&extra->is.cable) ||
		extra->is.cable.module == TRIAD_MODULE_UNREAD;
	put_changed(w, extra, &w->key->cables[port]);
	extra->is_gone = false;
}

static void put_device(struct writing *w, uint32_t node)
{
	const struct triad_history_sources *sources = &w->image->sources;
	struct triad_extra extra = {
		.kind = TRIAD_EXTRA_DEVICE, .node_guid = w->fabric->nodes[node].guid};

	extra.is_gone = !sources->read_device ||
		!sources->read_device(
			sources->context, extra.node_guid, &extra.is.device);
	put_changed(w, &extra, &w->key->devices[node]);
}

/* --- all --- */

static void put_port_extra(struct writing *w, uint32_t port)
{
	struct triad_extra extra = {
		.node_guid = w->fabric->nodes[w->fabric->ports[port].node].guid,
		.port = w->fabric->ports[port].number};

	if (w->fabric->ports[port].has_pma) {
		put_details(w, port, &extra);
		put_rates(w, port, &extra);
	}
	put_cable(w, port, &extra);
}

uint32_t triad_history_put_extras(const struct triad_history_image *image,
	struct triad_history_key *key, bool is_key, struct triad_history_out *out,
	bool *is_key_due)
{
	struct writing w = {.image = image,
		.fabric = image->view->fabric,
		.key = key,
		.out = out,
		.is_key = is_key};

	triad_history_lines_begin(&w.lines, out, "# triad-extra ");
	for (uint32_t i = 0; i < w.fabric->n_nodes && !out->to->failed; i++)
		put_device(&w, i);
	for (uint32_t i = 0; i < w.fabric->n_ports && !out->to->failed; i++)
		put_port_extra(&w, i);
	triad_history_lines_end(&w.lines);
	if (w.n_left_out)
		triad_history_add(out,
			(size_t)sprintf(triad_history_line(out),
				"# triad-left-out %u\n", w.n_left_out));
	/* Modules are read in rounds, after which all have changed a little.  A new key
	 * is smaller than these changes in each image until the next round. */
	*is_key_due = !is_key && w.n_changed > w.n_hardware / 4;
	return w.n_left_out;
}
