/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/message.h"

#include <math.h>
#include <string.h>

#include "perfmgr/watch/alerts.h"
#include "triad/fabric.h"
#include "triad/threshold.h"

#define MAGIC 0x5443u
#define CLAIM_SIZE 10u
#define GUID_SIZE 8u

#define IS_MANAGER 0x1u
#define IS_DRAINING 0x2u

#define IS_LIST 0x1u

#define IS_RAISED 0x1u
#define IS_AT_LEAST 0x2u

#define CLEAR_TOTALS 0x1u
#define CLEAR_HISTOGRAMS 0x2u
#define CLEAR_HARDWARE 0x4u

/* Of the head's fourth octet. */
#define KIND_AT 3
#define KIND_MASK 0xfu
#define RELAYS_SHIFT 4
_Static_assert(TRIAD_COLLECT_N_KINDS <= KIND_MASK + 1, "kinds fit into four bits");

/* --- pieces --- */

void triad_collect_put_head(
	struct triad_wire *to, const struct triad_collect_head *head)
{
	triad_wire_put(to, 2, MAGIC);
	triad_wire_put(to, 1, TRIAD_COLLECT_VERSION);
	triad_wire_put(to, 1, head->n_relays << RELAYS_SHIFT | head->kind);
	triad_wire_put(to, 8, head->sender);
	triad_wire_put(to, 8, head->incarnation);
}

void triad_collect_count_relay(uint8_t *octets)
{
	octets[KIND_AT] = (uint8_t)(octets[KIND_AT] + (1u << RELAYS_SHIFT));
}

static struct triad_wire begin(uint8_t *to, size_t size,
	const struct triad_collect_head *head, enum triad_collect_kind kind)
{
	struct triad_collect_head said = *head;
	struct triad_wire wire;

	triad_wire_init(&wire, to,
		size < TRIAD_COLLECT_MAX_SIZE ? size : TRIAD_COLLECT_MAX_SIZE);
	said.kind = kind;
	triad_collect_put_head(&wire, &said);
	return wire;
}

static size_t end(const struct triad_wire *wire)
{
	return wire->failed ? 0 : wire->at;
}

static void put_text(struct triad_wire *wire, const char text[TRIAD_COLLECT_NAME_SIZE])
{
	size_t length = strnlen(text, TRIAD_COLLECT_NAME_SIZE - 1);
	uint8_t *octets;

	triad_wire_put(wire, 1, length);
	octets = triad_wire_take(wire, length);
	if (octets)
		memcpy(octets, text, length);
}

/* What is not printable is no reason to leave the message, a length that can't be
 * is. */
static void get_text(struct triad_wire *wire, char text[TRIAD_COLLECT_NAME_SIZE])
{
	char as_is[TRIAD_NODE_NAME_SIZE] = "", cleaned[TRIAD_NODE_NAME_SIZE];
	size_t length = triad_wire_get8(wire);
	const uint8_t *octets = triad_wire_take(wire, length);

	memset(text, 0, TRIAD_COLLECT_NAME_SIZE);
	if (length >= TRIAD_COLLECT_NAME_SIZE)
		wire->failed = true;
	if (wire->failed)
		return;
	for (size_t i = 0; i < length; i++)
		as_is[i] = octets[i] ? (char)octets[i] : '?';
	triad_fabric_clean_name(cleaned, as_is);
	memcpy(text, cleaned, strnlen(cleaned, TRIAD_COLLECT_NAME_SIZE - 1));
}

static void put_float(struct triad_wire *wire, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	triad_wire_put(wire, 4, bits);
}

static float get_float(struct triad_wire *wire)
{
	uint32_t bits = triad_wire_get32(wire);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* A list ends with the message. */
static bool has_rest(const struct triad_wire *wire, size_t n, size_t size)
{
	return !wire->failed && n <= TRIAD_COLLECT_MAX_NODES &&
		wire->size - wire->at == n * size;
}

/* --- the head --- */

enum triad_collect_head_is triad_collect_get_head(uint8_t *octets, size_t size,
	struct triad_collect_head *head, struct triad_wire *body)
{
	struct triad_wire wire;
	uint16_t magic;
	uint8_t version, kind;

	triad_wire_init(&wire, octets, size);
	magic = triad_wire_get16(&wire);
	version = triad_wire_get8(&wire);
	kind = triad_wire_get8(&wire);
	head->sender = triad_wire_get64(&wire);
	head->incarnation = triad_wire_get64(&wire);
	head->kind = (enum triad_collect_kind)(kind & KIND_MASK);
	head->n_relays = kind >> RELAYS_SHIFT;
	if (wire.failed || size > TRIAD_COLLECT_MAX_SIZE || magic != MAGIC ||
		!head->sender)
		return TRIAD_COLLECT_HEAD_FOREIGN;
	*body = wire; /* of the whole message, behind the head */
	if (version != TRIAD_COLLECT_VERSION)
		return TRIAD_COLLECT_HEAD_OTHER_VERSION;
	if (!head->kind || head->kind >= TRIAD_COLLECT_N_KINDS ||
		head->kind == TRIAD_COLLECT_OLD_TOPOLOGY)
		return TRIAD_COLLECT_HEAD_UNKNOWN_KIND;
	return TRIAD_COLLECT_HEAD_GOOD;
}

/* --- ALIVE --- */

size_t triad_collect_put_alive(const struct triad_collect_head *head,
	const struct triad_collect_alive *alive, uint8_t *to, size_t size)
{
	struct triad_wire wire = begin(to, size, head, TRIAD_COLLECT_ALIVE);

	put_text(&wire, alive->name);
	put_text(&wire, alive->address);
	triad_wire_put(&wire, 2, alive->port);
	triad_wire_put(&wire, 1,
		(alive->is_manager ? IS_MANAGER : 0) |
			(alive->is_draining ? IS_DRAINING : 0));
	triad_wire_put(&wire, 4, alive->n_nodes);
	triad_wire_put(&wire, 4, alive->n_ports);
	triad_wire_put(&wire, 4, alive->n_announced);
	triad_wire_put(&wire, 8, alive->claims);
	triad_wire_put(&wire, 8, alive->master);
	triad_wire_put(&wire, 8, alive->topology);
	triad_wire_put(&wire, 4, alive->sweep_ms);
	triad_wire_put(&wire, 4, alive->lag_ms);
	triad_wire_put(&wire, 4, alive->n_data);
	triad_wire_put(&wire, 8, alive->n_dropped);
	return end(&wire);
}

bool triad_collect_get_alive(struct triad_wire *body, struct triad_collect_alive *alive)
{
	uint8_t flags;

	get_text(body, alive->name);
	get_text(body, alive->address);
	alive->port = triad_wire_get16(body);
	flags = triad_wire_get8(body);
	alive->is_manager = flags & IS_MANAGER;
	alive->is_draining = flags & IS_DRAINING;
	alive->n_nodes = triad_wire_get32(body);
	alive->n_ports = triad_wire_get32(body);
	alive->n_announced = triad_wire_get32(body);
	alive->claims = triad_wire_get64(body);
	alive->master = triad_wire_get64(body);
	alive->topology = triad_wire_get64(body);
	alive->sweep_ms = triad_wire_get32(body);
	alive->lag_ms = triad_wire_get32(body);
	alive->n_data = triad_wire_get32(body);
	alive->n_dropped = triad_wire_get64(body);
	return !body->failed;
}

/* --- OWNER --- */

size_t triad_collect_put_owner(const struct triad_collect_head *head,
	const struct triad_collect_owner *owner,
	const struct triad_collect_claim *claims, uint8_t *to, size_t size)
{
	struct triad_wire wire = begin(to, size, head, TRIAD_COLLECT_OWNER);

	triad_wire_put(&wire, 4, owner->number);
	triad_wire_put(&wire, 4, owner->as_of);
	triad_wire_put(&wire, 1,
		(owner->is_list ? IS_LIST : 0) |
			(owner->is_draining ? IS_DRAINING : 0));
	triad_wire_put(&wire, 2, owner->part);
	triad_wire_put(&wire, 2, owner->n_parts);
	triad_wire_put(&wire, 1, owner->load);
	put_text(&wire, owner->address);
	triad_wire_put(&wire, 2, owner->port);
	triad_wire_put(&wire, 4, owner->n_nodes);
	triad_wire_put(&wire, 4, owner->n);
	for (uint32_t i = 0; i < owner->n && !wire.failed; i++) {
		triad_wire_put(&wire, 8, claims[i].node_guid);
		triad_wire_put(&wire, 1, claims[i].hops);
		triad_wire_put(&wire, 1, claims[i].load);
	}
	return end(&wire);
}

/* Part of a list or none, and no list with a part that is not in it. */
static bool is_sound(const struct triad_collect_owner *owner)
{
	if (!owner->is_list || !owner->n_parts)
		return !owner->part && !owner->n_parts && !(owner->is_list && owner->n);
	return owner->part < owner->n_parts;
}

bool triad_collect_get_owner(struct triad_wire *body, struct triad_collect_owner *owner)
{
	uint8_t flags;

	owner->number = triad_wire_get32(body);
	owner->as_of = triad_wire_get32(body);
	flags = triad_wire_get8(body);
	owner->is_list = flags & IS_LIST;
	owner->is_draining = flags & IS_DRAINING;
	owner->part = triad_wire_get16(body);
	owner->n_parts = triad_wire_get16(body);
	owner->load = triad_wire_get8(body);
	get_text(body, owner->address);
	owner->port = triad_wire_get16(body);
	owner->n_nodes = triad_wire_get32(body);
	owner->n = triad_wire_get32(body);
	return has_rest(body, owner->n, CLAIM_SIZE) && is_sound(owner);
}

bool triad_collect_get_claim(struct triad_wire *body, struct triad_collect_claim *claim)
{
	claim->node_guid = triad_wire_get64(body);
	claim->hops = triad_wire_get8(body);
	claim->load = triad_wire_get8(body);
	return !body->failed && claim->node_guid;
}

/* --- WHO_OWNS --- */

size_t triad_collect_put_who_owns(const struct triad_collect_head *head,
	const struct triad_collect_who_owns *who, const uint64_t *guids, uint8_t *to,
	size_t size)
{
	struct triad_wire wire = begin(to, size, head, TRIAD_COLLECT_WHO_OWNS);

	triad_wire_put(&wire, 1, who->wants_list ? IS_LIST : 0);
	triad_wire_put(&wire, 4, who->n);
	for (uint32_t i = 0; i < who->n && !wire.failed; i++)
		triad_wire_put(&wire, 8, guids[i]);
	return end(&wire);
}

bool triad_collect_get_who_owns(
	struct triad_wire *body, struct triad_collect_who_owns *who)
{
	who->wants_list = triad_wire_get8(body) & IS_LIST;
	who->n = triad_wire_get32(body);
	return has_rest(body, who->n, GUID_SIZE) && who->wants_list == !who->n;
}

/* --- TRAP --- */

size_t triad_collect_put_trap(const struct triad_collect_head *head,
	const struct triad_collect_trap *trap, uint8_t *to, size_t size)
{
	struct triad_wire wire = begin(to, size, head, TRIAD_COLLECT_TRAP);

	triad_wire_put(&wire, 8, trap->wall_us);
	triad_wire_put(&wire, 8, trap->node_guid);
	triad_wire_put(&wire, 1, trap->port);
	triad_wire_put(&wire, 1, trap->cause);
	triad_wire_put(&wire, 1,
		(trap->is_raised ? IS_RAISED : 0) |
			(trap->is_at_least ? IS_AT_LEAST : 0));
	put_float(&wire, trap->value);
	put_float(&wire, trap->threshold);
	triad_wire_put(&wire, 1, trap->threshold_unit);
	return end(&wire);
}

static bool is_amount(float value)
{
	return isfinite(value) && value >= 0;
}

bool triad_collect_get_trap(struct triad_wire *body, struct triad_collect_trap *trap)
{
	uint8_t flags;

	trap->wall_us = triad_wire_get64(body);
	trap->node_guid = triad_wire_get64(body);
	trap->port = triad_wire_get8(body);
	trap->cause = triad_wire_get8(body);
	flags = triad_wire_get8(body);
	trap->is_raised = flags & IS_RAISED;
	trap->is_at_least = flags & IS_AT_LEAST;
	trap->value = get_float(body);
	trap->threshold = get_float(body);
	trap->threshold_unit = triad_wire_get8(body);
	return !body->failed && trap->node_guid && trap->cause < TRIAD_ALERT_N_CAUSES &&
		is_amount(trap->value) && is_amount(trap->threshold) &&
		trap->threshold_unit <= TRIAD_THRESHOLD_PERCENT;
}

/* --- AGAIN, CLEAR --- */

size_t triad_collect_put_again(const struct triad_collect_head *head,
	const struct triad_collect_again *again, uint8_t *to, size_t size)
{
	struct triad_wire wire = begin(to, size, head, TRIAD_COLLECT_AGAIN);

	triad_wire_put(&wire, 4, again->from);
	return end(&wire);
}

bool triad_collect_get_again(struct triad_wire *body, struct triad_collect_again *again)
{
	again->from = triad_wire_get32(body);
	return !body->failed;
}

size_t triad_collect_put_clear(const struct triad_collect_head *head,
	const struct triad_collect_clear *clear, uint8_t *to, size_t size)
{
	struct triad_wire wire = begin(to, size, head, TRIAD_COLLECT_CLEAR);

	triad_wire_put(&wire, 8, clear->request);
	triad_wire_put(&wire, 8, clear->node_guid);
	triad_wire_put(&wire, 1, clear->port);
	triad_wire_put(&wire, 1,
		(clear->totals ? CLEAR_TOTALS : 0) |
			(clear->histograms ? CLEAR_HISTOGRAMS : 0) |
			(clear->hardware ? CLEAR_HARDWARE : 0));
	return end(&wire);
}

bool triad_collect_get_clear(struct triad_wire *body, struct triad_collect_clear *clear)
{
	uint8_t flags;

	clear->request = triad_wire_get64(body);
	clear->node_guid = triad_wire_get64(body);
	clear->port = triad_wire_get8(body);
	flags = triad_wire_get8(body);
	clear->totals = flags & CLEAR_TOTALS;
	clear->histograms = flags & CLEAR_HISTOGRAMS;
	clear->hardware = flags & CLEAR_HARDWARE;
	return !body->failed;
}
