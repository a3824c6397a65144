/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/audit/repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/instance.h"
#include "plugin/physp.h"
#include "plugin/ports/smp.h"
#include "plugin/read_back.h"
#include "service/recorder.h"
#include "triad/clock.h"

#define TIMEOUT_MS 250u
#define N_TRIES 3u /* of a Get */
#define N_ROUNDS 5u

_Static_assert(TRIAD_SMP_DATA_SIZE == TRIAD_AUDIT_OCTETS, "a block fills an SMP");

/* Differences that are all of one block and chosen. */
struct block {
	const struct triad_repair *repair;
	struct triad_smp *smp;
	const struct triad_audit_difference *differences;
	size_t n;
	struct triad_smp_route route;
	struct triad_wish wish;
	uint8_t found[TRIAD_AUDIT_OCTETS]; /* by the last answer */
	/* Before the first Set: what OpenSM wanted, and bits that differ and stay so, as they were
	 * not chosen. */
	struct triad_audit_wish first;
	uint8_t left[TRIAD_AUDIT_OCTETS];
	bool is_begun, is_undecided;
};

/* Why differences of that kind are not to be repaired; NULL: they are. */
static const char *refuses_kind(unsigned kind)
{
	return kind == TRIAD_AUDIT_PORT_INFO || kind == TRIAD_AUDIT_SWITCH_INFO
		? "OpenSM's next heavy sweep reads it and writes it anew"
		: NULL;
}

/* --- SMPs --- */

/* Returns as triad_smp_ask(). */
static int ask_device(struct block *block, bool is_set, unsigned attribute,
	uint32_t modifier, uint8_t data[TRIAD_AUDIT_OCTETS])
{
	const struct triad_smp_request request = {.is_set = is_set,
		.attribute = (enum triad_smp_attribute)attribute,
		.modifier = modifier,
		.timeout_ms = TIMEOUT_MS};
	unsigned n_tries = is_set ? 1 : N_TRIES;
	uint16_t status;
	int error = ETIMEDOUT;

	for (unsigned i = 0; i < n_tries && error == ETIMEDOUT; i++)
		error = triad_smp_ask(
			block->smp, &block->route, &request, data, &status);
	return error;
}

static int ask_block(struct block *block, bool is_set, uint8_t data[TRIAD_AUDIT_OCTETS])
{
	const struct triad_audit_place *place = &block->wish.place;

	return ask_device(block, is_set, triad_audit_attribute(place->kind),
		triad_read_back_modifier(block->repair->source->fabric,
			block->wish.port, place->kind, place->block),
		data);
}

static const char *find_device(struct block *block)
{
	const struct triad_wish_source *source = block->repair->source;
	const struct triad_audit_place *place = &block->wish.place;
	uint32_t port = block->wish.port;
	uint8_t info[TRIAD_AUDIT_OCTETS] = {0};
	int error;

	if (port == TRIAD_FABRIC_NONE ||
		!triad_physp_find_m_key(source->osm, place->node_guid, place->port,
			&block->route.m_key) ||
		triad_route_find(source->fabric, source->fabric->ports[port].node, NULL,
			&block->route.path))
		return "OpenSM knows no way to the device";
	error = ask_device(block, false, TRIAD_SMP_NODE_INFO, 0, info);
	if (error)
		return "the device does not answer by directed route";
	return cl_ntoh64(((const ib_node_info_t *)(const void *)info)->node_guid) ==
			place->node_guid
		? NULL
		: "another device is in its place";
}

bool triad_repair_is_there(
	const struct triad_wish_source *source, struct triad_smp *smp, uint32_t port)
{
	const struct triad_fabric_port *at = &source->fabric->ports[port];
	const struct triad_repair repair = {.source = source};
	struct block block = {.repair = &repair,
		.smp = smp,
		.wish = {.port = port,
			.place = {.node_guid = source->fabric->nodes[at->node].guid,
				.port = at->number}}};

	return !find_device(&block);
}

/* --- the timeline and the log --- */

static void note_block(const struct block *block, const char *what)
{
	const struct triad_plugin *plugin = block->repair->plugin;
	const struct triad_audit_difference *of = block->differences;
	struct triad_timeline_event event = {.kind = TRIAD_TIMELINE_REPAIR,
		.at_us = triad_clock_wall_us(),
		.ends[0] = {.node_guid = of->place.node_guid, .port = of->place.port}};
	const struct triad_fabric_node *node = triad_fabric_node_by_guid(
		block->repair->source->fabric, of->place.node_guid);
	char object[TRIAD_AUDIT_TEXT_SIZE];

	if (node)
		memcpy(event.ends[0].node_name, node->name,
			sizeof(event.ends[0].node_name));
	snprintf(event.text, sizeof(event.text), "%s %.30s, by hand: %s",
		triad_audit_kind_name(of->place.kind), triad_audit_object(of, object),
		what);
	triad_recorder_note(plugin->service.recorder, &event);
	triad_log_write(plugin->service.log, TRIAD_LOG_WARNING,
		"audit: 0x%016" PRIx64 " port %u: %s", of->place.node_guid,
		of->place.port, event.text);
}

/* --- one round --- */

static uint64_t wanted_now(
	const struct block *block, const struct triad_audit_difference *of)
{
	return triad_audit_read(of->place.kind, of->field, block->wish.wish.wanted);
}

static bool has_found(const struct block *block,
	const struct triad_audit_difference *of, uint64_t value)
{
	uint64_t mask =
		triad_audit_read(of->place.kind, of->field, block->wish.wish.mask);

	return ((triad_audit_read(of->place.kind, of->field, block->found) ^ value) &
		       mask) == 0;
}

static const char *read_wish_now(struct block *block)
{
	if (!triad_wishes_read(block->repair->source, &block->wish, 1))
		return "OpenSM ends";
	if (!block->wish.is_known || block->wish.n_undecided)
		return "the port has changed, or OpenSM has yet to decide";
	return NULL;
}

/* Before anything was written all must be as when it was confirmed. */
static const char *compare_with_confirmed(const struct block *block)
{
	for (size_t i = 0; i < block->n; i++) {
		const struct triad_audit_difference *of = &block->differences[i];

		if (wanted_now(block, of) != of->wanted)
			return "OpenSM wants something else now";
		if (!has_found(block, of, of->found) &&
			!has_found(block, of, of->wanted))
			return "the device has something else now";
	}
	return NULL;
}

static bool has_chosen(const struct block *block)
{
	for (size_t i = 0; i < block->n; i++)
		if (!has_found(block, &block->differences[i],
			    wanted_now(block, &block->differences[i])))
			return false;
	return true;
}

static void note_left(struct block *block)
{
	const struct triad_audit_wish *now = &block->wish.wish;
	struct triad_audit_wish chosen = {0};

	for (size_t i = 0; i < block->n; i++)
		triad_audit_want_bits(&chosen, block->wish.place.kind,
			block->differences[i].field, UINT64_MAX, 0);
	block->first = *now;
	for (unsigned i = 0; i < TRIAD_AUDIT_OCTETS; i++)
		block->left[i] = (uint8_t)(now->mask[i] &
			(block->found[i] ^ now->wanted[i]) & ~chosen.mask[i]);
}

/* Bits of an octet that the device is to have as OpenSM wants them: also of others than the chosen
 * ones, which OpenSM may have changed between our reading and our Set. */
static uint8_t bits_to_have(const struct block *block, unsigned i)
{
	const struct triad_audit_wish *now = &block->wish.wish;
	int is_changed = now->wanted[i] ^ block->first.wanted[i];

	return (uint8_t)(now->mask[i] & ~(block->left[i] & ~is_changed));
}

static bool is_repaired(const struct block *block)
{
	for (unsigned i = 0; i < TRIAD_AUDIT_OCTETS; i++)
		if ((block->found[i] ^ block->wish.wish.wanted[i]) &
			bits_to_have(block, i))
			return false;
	return true;
}

/* Sets the differing fields alone, and reads the block back. */
static const char *write_block(struct block *block)
{
	uint8_t data[TRIAD_AUDIT_OCTETS];
	int error;

	for (unsigned i = 0; i < TRIAD_AUDIT_OCTETS; i++) {
		uint8_t bits = bits_to_have(block, i);

		data[i] = (uint8_t)((block->found[i] & ~bits) |
			(block->wish.wish.wanted[i] & bits));
	}
	error = ask_block(block, true, data);
	if (error == EPROTO)
		return "the device refuses it";
	if (ask_block(block, false, block->found))
		return "written, but the device does not answer any more";
	return NULL;
}

/* Whether OpenSM is through with what it has begun since the last round. */
static bool is_settled(const struct block *block)
{
	const struct triad_repair *repair = block->repair;

	return (!block->is_undecided && !repair->why_not(repair->context)) ||
		repair->settle(repair->context);
}

/* Returns NULL when another round is to look at it, or 'is_done'. */
static const char *repair_once(struct block *block, bool *is_done)
{
	const struct triad_repair *repair = block->repair;
	const char *why = read_wish_now(block);

	block->is_undecided = why;
	if (why && block->is_begun)
		return NULL;
	if (!why && ask_block(block, false, block->found))
		why = "the device does not answer by directed route";
	if (!why && !block->is_begun)
		why = compare_with_confirmed(block);
	if (!why && !block->is_begun)
		note_left(block);
	*is_done = !why && is_repaired(block) && !repair->why_not(repair->context);
	if (why || is_repaired(block))
		return why;
	why = repair->why_not(repair->context);
	/* Before anything is sent, so that it is known even if this process ends. */
	if (!why && !block->is_begun)
		note_block(block, "to be written");
	block->is_begun |= !why;
	if (!why)
		why = write_block(block);
	/* The next round looks whether OpenSM has changed it before the Set. */
	if (!why && !has_chosen(block) && !repair->why_not(repair->context))
		why = "the device does not keep it";
	return why;
}

/* --- all blocks --- */

/* The 'n' differences, all of one block and chosen.  Returns whether they are repaired. */
static bool repair_block(const struct triad_repair *repair, struct triad_smp *smp,
	const struct triad_audit_difference *differences, size_t n)
{
	const struct triad_audit_repair *asked = repair->asked;
	const struct triad_fabric *fabric = repair->source->fabric;
	const struct triad_audit_place *place = &differences->place;
	struct block block = {.repair = repair,
		.smp = smp,
		.differences = differences,
		.n = n,
		.wish = {.place = *place,
			.port = triad_fabric_port_at(
				fabric, place->node_guid, place->port)}};
	const char *why = refuses_kind(place->kind);
	bool is_done = false;

	if (!why)
		why = find_device(&block);
	for (unsigned i = 0; !why && !is_done; i++)
		why = i == N_ROUNDS || (i && !is_settled(&block))
			? "OpenSM changed it again and again meanwhile"
			: repair_once(&block, &is_done);
	note_block(&block, why ? why : "written");
	for (size_t i = 0; i < n; i++)
		asked->note(asked->context, fabric, &differences[i], why);
	return !why;
}

int triad_repair_chosen(const struct triad_repair *repair,
	struct triad_audit_difference *differences, size_t *n)
{
	const struct triad_audit_repair *asked = repair->asked;
	struct triad_audit_difference chosen[TRIAD_AUDIT_OCTETS];
	struct triad_smp *smp = triad_smp_new(repair->source->fabric->sm_port_guid);
	size_t n_left = 0, next;

	if (!smp)
		return ENOMEM;
	for (size_t i = 0; i < *n; i = next) {
		size_t n_chosen = 0;
		bool is_repaired;

		for (next = i; next < *n &&
			!triad_audit_place_order(
				&differences[i].place, &differences[next].place);
			next++)
			if (asked->is_chosen(asked->context, &differences[next]))
				chosen[n_chosen++] = differences[next];
		is_repaired = n_chosen && repair_block(repair, smp, chosen, n_chosen);
		for (size_t j = i; j < next; j++)
			if (!is_repaired ||
				!asked->is_chosen(asked->context, &differences[j]))
				differences[n_left++] = differences[j];
	}
	*n = n_left;
	triad_smp_free(smp);
	return 0;
}
