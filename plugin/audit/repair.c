/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/audit/repair.h"

#include <errno.h>
#include <string.h>

#include "plugin/physp.h"
#include "plugin/ports/smp.h"
#include "plugin/read_back.h"

#define TIMEOUT_MS 250u
#define N_TRIES 3u /* of a Get */
#define N_ROUNDS 4u
#define CHANGES_AGAIN "OpenSM changed it again and again meanwhile"

_Static_assert(TRIAD_SMP_DATA_SIZE == TRIAD_AUDIT_OCTETS, "a block fills an SMP");

struct block {
	const struct triad_repair *repair;
	const struct triad_audit_difference *differences;
	size_t n;
	struct triad_smp_route route;
	struct triad_wish wish;
	uint8_t found[TRIAD_AUDIT_OCTETS]; /* by the last answer */
	bool is_begun;
};

const char *triad_repair_refuses_kind(unsigned kind)
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
			block->repair->smp, &block->route, &request, data, &status);
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
	const struct triad_repair repair = {.source = source, .smp = smp};
	struct block block = {.repair = &repair,
		.wish = {.port = port,
			.place = {.node_guid = source->fabric->nodes[at->node].guid,
				.port = at->number}}};

	return !find_device(&block);
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
	if (!block->wish.is_known)
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

static bool is_repaired(const struct block *block)
{
	for (size_t i = 0; i < block->n; i++)
		if (!has_found(block, &block->differences[i],
			    wanted_now(block, &block->differences[i])))
			return false;
	return true;
}

/* Sets the differing fields alone, and reads the block back. */
static const char *write_block(struct block *block)
{
	struct triad_audit_wish set = {0};
	uint8_t data[TRIAD_AUDIT_OCTETS];
	int error;

	for (size_t i = 0; i < block->n; i++) {
		const struct triad_audit_difference *of = &block->differences[i];

		triad_audit_want_bits(&set, of->place.kind, of->field,
			triad_audit_read(
				of->place.kind, of->field, block->wish.wish.mask),
			wanted_now(block, of));
	}
	for (unsigned i = 0; i < TRIAD_AUDIT_OCTETS; i++)
		data[i] = (uint8_t)((block->found[i] & ~set.mask[i]) | set.wanted[i]);
	error = ask_block(block, true, data);
	if (error == EPROTO)
		return "the device refuses it";
	if (ask_block(block, false, block->found))
		return "written, but the device does not answer any more";
	return NULL;
}

/* Returns NULL when another round is to look at it, or 'is_done'. */
static const char *repair_once(struct block *block, bool *is_done)
{
	const struct triad_repair *repair = block->repair;
	const char *why = read_wish_now(block);

	if (!why && ask_block(block, false, block->found))
		why = "the device does not answer by directed route";
	if (!why && !block->is_begun)
		why = compare_with_confirmed(block);
	if (!why && !is_repaired(block)) {
		why = repair->why_not(repair->context);
		if (!why && !block->is_begun)
			repair->begin(repair->context);
		block->is_begun |= !why;
		if (!why)
			why = write_block(block);
		if (!why && !is_repaired(block))
			why = "the device does not keep it";
	}
	*is_done = !why && !repair->why_not(repair->context);
	return why;
}

const char *triad_repair_block(const struct triad_repair *repair,
	const struct triad_audit_difference *differences, size_t n)
{
	const struct triad_audit_place *place = &differences->place;
	struct block block = {.repair = repair,
		.differences = differences,
		.n = n,
		.wish = {.place = *place,
			.port = triad_fabric_port_at(repair->source->fabric,
				place->node_guid, place->port)}};
	const char *why = triad_repair_refuses_kind(place->kind);

	if (!why)
		why = find_device(&block);
	for (unsigned i = 0; !why && i < N_ROUNDS; i++) {
		bool is_done;

		why = repair_once(&block, &is_done);
		if (why || is_done)
			return why;
		if (!repair->settle(repair->context))
			break;
	}
	return why ? why : CHANGES_AGAIN;
}
