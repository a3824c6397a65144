/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/image.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/image_extra.h"
#include "history/image_lists.h"
#include "history/lines.h"
#include "history/record.h"
#include "lib/hash.h"
#include "perfmgr/formats/profile.h"

#define IS_FULL 0x80u /* in a port's note: some of its counters are at their maximum */
#define QUIET_MASK 0x0fu

struct writing {
	const struct triad_history_image *image;
	const struct triad_history_topology *topology;
	struct triad_history_key *key;
	struct triad_history_out *out;
	bool is_key;
};

/* "unanswered"; "" for TRIAD_HISTORY_READ. */
static const char *quiet_name(enum triad_history_quiet quiet)
{
	static const char *const names[TRIAD_HISTORY_N_QUIET] = {
		"", "unanswered", "skipped", "apart"};

	return names[quiet];
}

/* --- the topology --- */

/* Hashes eight octets in one step: the tables of a large fabric have a hundred
 * million. */
static uint64_t hash_table(
	uint64_t hash, const void *table, size_t at, size_t n, size_t element_size)
{
	const uint8_t *octets;
	size_t size = n * element_size, i;
	uint64_t word;

	/* 'table' may be NULL: the fabric has no such tables. */
	if (!n)
		return hash;
	octets = (const uint8_t *)table + at * element_size;
	for (i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, octets + i, sizeof(word));
		hash = triad_hash_word(hash, word);
	}
	return triad_hash_octets(hash, octets + i, size - i);
}

static uint64_t hash_routes(
	const struct triad_fabric *fabric, const struct triad_fabric_node *node)
{
	uint64_t hash = TRIAD_HASH_START;

	if (!node->lft.n)
		return 0;
	hash = hash_table(hash, fabric->lft, node->lft.at, node->lft.n, 1);
	hash = hash_table(
		hash, fabric->mft, node->mft.at, node->mft.n, sizeof(*fabric->mft));
	return hash ? hash : 1;
}

static uint64_t hash_qos(
	const struct triad_fabric *fabric, const struct triad_fabric_node *node)
{
	uint64_t hash = TRIAD_HASH_START;
	bool has_any = false;

	for (uint32_t i = 0; i < node->n_ports; i++) {
		const struct triad_fabric_port *port =
			&fabric->ports[node->first_port + i];

		if (!port->sl2vl.n && !port->vlarb.n)
			continue;
		has_any = true;
		hash = triad_hash_word(
			hash, (uint64_t)port->number << 8 | port->high_limit);
		hash = hash_table(hash, fabric->sl2vl, port->sl2vl.at, port->sl2vl.n,
			sizeof(*fabric->sl2vl));
		hash = hash_table(hash, fabric->vlarb, port->vlarb.at, port->vlarb.n,
			sizeof(*fabric->vlarb));
	}
	return has_any ? (hash ? hash : 1) : 0;
}

uint64_t triad_history_hash_tables(const struct triad_fabric *fabric,
	const struct triad_fabric_node *node, enum triad_history_tables tables)
{
	return tables == TRIAD_HISTORY_ROUTES ? hash_routes(fabric, node)
					      : hash_qos(fabric, node);
}

void triad_history_topology_clear(struct triad_history_topology *topology)
{
	triad_fabric_unref(topology->fabric);
	triad_topology_octets_free(&topology->octets);
	*topology = (struct triad_history_topology){0};
}

int triad_history_topology_update(
	struct triad_history_topology *topology, struct triad_fabric *fabric)
{
	int error;

	if (topology->fabric == fabric)
		return 0;
	triad_history_topology_clear(topology);
	error = triad_topology_encode(fabric, &topology->octets);
	if (error)
		return error;
	topology->fabric = triad_fabric_ref(fabric);
	topology->tables_hash = TRIAD_HASH_START;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		for (unsigned t = 0; t < TRIAD_HISTORY_N_TABLES; t++)
			topology->tables_hash = triad_hash_word(topology->tables_hash,
				triad_history_hash_tables(
					fabric, &fabric->nodes[i], t));
	return 0;
}

/* --- the key --- */

void triad_history_key_forget(struct triad_history_key *key)
{
	key->n_ports = 0;
	key->topology_hash = 0;
}

void triad_history_key_clear(struct triad_history_key *key)
{
	free(key->rows);
	free(key->cables);
	free(key->devices);
	free(key->notes);
	triad_history_clear_lists(key);
	*key = (struct triad_history_key){0};
}

/* A key is not due while the octets are the same: the fabric then has the same
 * ports in the same places. */
bool triad_history_key_is_due(const struct triad_history_key *key,
	const struct triad_history_topology *topology)
{
	return !key->topology_hash || key->topology_hash != topology->octets.hash ||
		key->tables_hash != topology->tables_hash ||
		key->n_ports != topology->fabric->n_ports;
}

/* Enlarges the array; false: memory is short and the array is unchanged. */
static bool enlarge(void *array, size_t n, size_t size)
{
	void *old, *larger;

	memcpy(&old, array, sizeof(old));
	larger = realloc(old, n * size);
	if (larger)
		memcpy(array, &larger, sizeof(larger));
	return larger;
}

static int make_room_for_ports(
	struct triad_history_key *key, const struct triad_fabric *fabric)
{
	uint32_t n = fabric->n_ports;

	if (n > key->room) {
		if (!enlarge(&key->rows, n, sizeof(*key->rows)) ||
			!enlarge(&key->cables, n, sizeof(*key->cables)) ||
			!enlarge(&key->notes, n, sizeof(*key->notes)))
			return ENOMEM;
		key->room = n;
	}
	if (fabric->n_nodes > key->nodes_room) {
		if (!enlarge(&key->devices, fabric->n_nodes, sizeof(*key->devices)))
			return ENOMEM;
		key->nodes_room = fabric->n_nodes;
	}
	return 0;
}

/* --- lines --- */

static char *line(struct writing *w)
{
	return triad_history_line(w->out);
}

static void add_to_frame(struct writing *w, size_t length)
{
	triad_history_add(w->out, length);
}

static void put_image_head(struct writing *w)
{
	const struct triad_history_image *image = w->image;
	const struct triad_history_head *head = &image->head;
	const struct triad_profile_info info = {
		.time_us = image->wall_us,
		.sm_guid = image->port_guid,
		.started_us = image->started_us,
		.min_change_octets = 0,
		.period_us = image->period_us,
		.sweep = TRIAD_PROFILE_SWEEP_ALL,
	};

	add_to_frame(w, triad_profile_render_info(line(w), &info));
	add_to_frame(w,
		(size_t)sprintf(line(w),
			"# triad-image version=%u kind=%s sweep=%" PRIu64
			" generation=%" PRIu64 " sm=%.15s active=%" PRIu32
			" silenced=%" PRIu32 " raised=%" PRIu64 " cleared=%" PRIu64
			" not_kept=%" PRIu64 " left_out=%" PRIu32 " zeroed=%" PRIu64
			"\n",
			TRIAD_HISTORY_IMAGE_VERSION, w->is_key ? "key" : "change",
			head->sweep, head->generation, head->sm, head->alerts.n_active,
			head->alerts.n_silenced, head->alerts.n_raised,
			head->alerts.n_cleared, head->alerts.n_not_kept,
			head->n_left_out, head->zeroed_us));
}

static void put_hex_lines(
	struct writing *w, const char *name, const uint8_t *octets, uint32_t size)
{
	struct triad_history_lines lines;

	triad_history_lines_begin(&lines, w->out, name);
	triad_history_lines_put(&lines, octets, size);
	triad_history_lines_end(&lines);
}

static void put_topology(struct writing *w)
{
	const struct triad_topology_octets *octets = &w->topology->octets;

	add_to_frame(w,
		(size_t)sprintf(line(w),
			"# triad-topology 0x%016" PRIx64 " %" PRIu32 " %" PRIu32 "\n",
			octets->hash, octets->size, octets->n_octets));
	put_hex_lines(w, "# triad-octets ", octets->octets, octets->n_octets);
}

static void put_tables(struct writing *w, enum triad_history_tables tables)
{
	static const char *const names[TRIAD_HISTORY_N_TABLES] = {"routes", "qos"};
	const struct triad_fabric *fabric = w->topology->fabric;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		uint64_t hash =
			triad_history_hash_tables(fabric, &fabric->nodes[i], tables);

		if (hash)
			add_to_frame(w,
				(size_t)sprintf(line(w),
					"# triad-%s 0x%016" PRIx64 ",0x%016" PRIx64
					"\n",
					names[tables], fabric->nodes[i].guid, hash));
	}
}

bool triad_history_conf_next(
	const struct triad_conf *conf, struct triad_conf_entry *entry)
{
	while (triad_conf_next(conf, entry))
		if (entry->origin != TRIAD_CONF_FROM_DEFAULT)
			return true;
	return false;
}

static void put_conf(struct writing *w)
{
	const struct triad_conf *conf = w->image->conf;
	struct triad_conf_entry entry = {0};

	while (conf && triad_history_conf_next(conf, &entry))
		add_to_frame(w,
			(size_t)sprintf(line(w), "# triad-conf %s %s\n", entry.name,
				entry.value));
}

static void put_alerts(struct writing *w)
{
	const struct triad_history_image *image = w->image;

	for (uint32_t i = 0; i < image->n_alerts; i++) {
		const struct triad_alert *alert = &image->alerts[i];

		add_to_frame(
			w, triad_history_put_alert(line(w), alert, image->offset_us));
		for (unsigned f = 0; f < alert->n_findings; f++)
			add_to_frame(w,
				triad_history_put_finding(line(w), &alert->findings[f],
					image->offset_us));
	}
	for (uint32_t i = 0; i < image->n_links; i++)
		add_to_frame(w,
			triad_history_put_link(
				line(w), &image->links[i], image->offset_us));
}

static void put_events(struct writing *w)
{
	for (uint32_t i = 0; i < w->image->n_events; i++) {
		char *begin, *to;

		if (w->image->events[i].at_us <= w->image->events_since_us)
			continue;
		begin = line(w);
		to = stpcpy(begin, "# triad-event ");
		to += triad_timeline_event_format(&w->image->events[i], to);
		*to++ = '\n';
		add_to_frame(w, (size_t)(to - begin));
	}
}

static void put_output(struct writing *w, const struct triad_history_output *output)
{
	const char *form = output->is_json ? "json" : "table";

	if (output->is_left_out) {
		add_to_frame(w,
			(size_t)sprintf(line(w), "# triad-output-left-out %s %s\n",
				form, output->command));
		return;
	}
	add_to_frame(w,
		(size_t)sprintf(line(w), "# triad-output %u %" PRIu32 " %s %s\n",
			output->status, output->size, form, output->command));
	put_hex_lines(w, "# triad-output-octets ", output->octets, output->size);
}

/* --- rows --- */

static enum triad_history_quiet quiet_of(const struct triad_view *view, uint32_t port,
	const struct triad_engine_row *row, uint64_t since_us)
{
	if (triad_view_is_apart(view, port))
		return TRIAD_HISTORY_APART;
	if (triad_view_is_skipped(view, port))
		return TRIAD_HISTORY_SKIPPED;
	return !row->was_asked || (row->answered && row->read_us >= since_us)
		? TRIAD_HISTORY_READ
		: TRIAD_HISTORY_UNANSWERED;
}

/* Hashes the counters, without the time of reading: rows that did not change are not
 * written. */
static uint64_t hash_row(const struct triad_engine_row *row)
{
	uint64_t hash = triad_hash_word(
		TRIAD_HASH_START, (uint64_t)row->has << 32 | row->saturated);

	return triad_hash_words(hash, row->total, TRIAD_N_COUNTERS);
}

static void put_profile_row(struct writing *w, uint32_t index,
	const struct triad_engine_row *row, uint64_t time_us, const char *time)
{
	struct triad_profile_row profile =
		triad_profile_row_of(w->image->view->fabric, index, row);

	profile.time_us = time_us;
	add_to_frame(w,
		triad_profile_render_row(
			line(w), time, &profile, TRIAD_PROFILE_ALL_COUNTERS));
}

/* Most rows have the time of the sweep; a quiet port's row was read earlier. */
static void put_port_if_changed(
	struct writing *w, uint32_t port, const char *sweep_time)
{
	const struct triad_history_image *image = w->image;
	struct triad_history_key *key = w->key;
	struct triad_engine_row row;
	char time[TRIAD_CLOCK_TEXT_SIZE];
	enum triad_history_quiet quiet;
	uint64_t hash;

	key->notes[port] = 0;
	if (!triad_view_read(image->view, port, &row) &&
		!image->view->fabric->ports[port].has_pma)
		return;
	quiet = quiet_of(image->view, port, &row, image->since_us);
	key->notes[port] = (uint8_t)(quiet | (row.saturated ? IS_FULL : 0));
	/* The port never answered: there is no row. */
	if (!row.read_us)
		return;
	hash = hash_row(&row);
	if (!w->is_key && hash == key->rows[port])
		return;
	if (w->is_key)
		key->rows[port] = hash;
	if (quiet == TRIAD_HISTORY_READ) {
		put_profile_row(w, port, &row, image->wall_us, sweep_time);
		return;
	}
	triad_clock_format(row.read_us + (uint64_t)image->offset_us, time);
	put_profile_row(w, port, &row, row.read_us + (uint64_t)image->offset_us, time);
}

static void put_profile_rows(struct writing *w)
{
	const struct triad_fabric *fabric = w->image->view->fabric;
	char time[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format(w->image->wall_us, time);
	add_to_frame(
		w, triad_profile_render_header(line(w), TRIAD_PROFILE_ALL_COUNTERS));
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		if (w->is_key)
			w->key->rows[i] = 0;
		w->key->notes[i] = 0;
		if (fabric->ports[i].has_pma && !w->out->to->failed)
			put_port_if_changed(w, i, time);
	}
}

/* Writes the notes made about ports while their rows were written. */
static void put_notes(struct writing *w)
{
	const struct triad_view *view = w->image->view;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &view->fabric->ports[i];
		uint64_t guid = view->fabric->nodes[port->node].guid;
		uint8_t note = w->key->notes[i];
		struct triad_engine_row row;

		if (note & QUIET_MASK)
			add_to_frame(w,
				(size_t)sprintf(line(w),
					"# triad-quiet 0x%016" PRIx64 ",%u,%s\n", guid,
					port->number, quiet_name(note & QUIET_MASK)));
		if (note & IS_FULL && triad_view_read(view, i, &row))
			add_to_frame(w,
				(size_t)sprintf(line(w),
					"# triad-full 0x%016" PRIx64 ",%u,0x%" PRIx32
					"\n",
					guid, port->number, row.saturated));
	}
}

/* Writes all except the head and what only a key has.  Returns how much was left out,
 * including the head's number; sets '*is_key_due' if the next image should be a key. */
static uint32_t put_content(struct writing *w, bool *is_key_due)
{
	const struct triad_history_image *image = w->image;
	bool has_other_hardware, has_other_rows;
	uint32_t n_left_out = image->head.n_left_out;

	put_conf(w);
	put_alerts(w);
	put_events(w);
	for (uint32_t i = 0; i < image->n_outputs; i++)
		put_output(w, &image->outputs[i]);
	n_left_out += triad_history_put_extras(
		image, w->key, w->is_key, w->out, &has_other_hardware);
	n_left_out += triad_history_put_lists(
		image, w->key, w->is_key, w->out, &has_other_rows);
	put_profile_rows(w);
	put_notes(w);
	*is_key_due = has_other_hardware || has_other_rows;
	return n_left_out;
}

int triad_history_image_write(const struct triad_history_image *image,
	const struct triad_history_topology *topology, struct triad_history_key *key,
	struct triad_output *output, uint32_t *n_left_out)
{
	struct triad_history_out out = {.to = output};
	struct writing w = {.image = image,
		.topology = topology,
		.key = key,
		.out = &out,
		.is_key = triad_history_key_is_due(key, topology)};
	int error = make_room_for_ports(key, topology->fabric);
	bool is_key_due = false;

	if (!error)
		error = triad_history_reserve_lists(image, key);
	if (!error) {
		put_image_head(&w);
		if (w.is_key) {
			put_topology(&w);
			for (unsigned t = 0; t < TRIAD_HISTORY_N_TABLES; t++)
				put_tables(&w, t);
		}
		*n_left_out = put_content(&w, &is_key_due);
		triad_output_flush(output);
		error = output->failed ? ECANCELED : 0;
	}
	if (error) {
		triad_history_key_forget(key);
		return error;
	}
	if (w.is_key) {
		key->topology_hash = topology->octets.hash;
		key->tables_hash = topology->tables_hash;
		key->n_ports = topology->fabric->n_ports;
	}
	if (is_key_due)
		triad_history_key_forget(key);
	return 0;
}
