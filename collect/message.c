/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/message.h"

#include <math.h>
#include <string.h>

#include "ib/ber_target.h"
#include "ib/detail.h"
#include "lib/fields.h"
#include "perfmgr/watch/alerts.h"
#include "triad/fabric.h"
#include "triad/threshold.h"

#define MAGIC 0x5443u
#define CLAIM_SIZE 10u
#define GUID_SIZE 8u

/* The head's octet that has the kind in the low bits and the number of relays above. */
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

struct triad_wire triad_collect_begin(uint8_t *to, size_t size,
	const struct triad_collect_head *head, enum triad_collect_kind kind)
{
	struct triad_collect_head sent = *head;
	struct triad_wire wire;

	triad_wire_init(&wire, to,
		size < TRIAD_COLLECT_MAX_SIZE ? size : TRIAD_COLLECT_MAX_SIZE);
	sent.kind = kind;
	triad_collect_put_head(&wire, &sent);
	return wire;
}

size_t triad_collect_end(const struct triad_wire *wire)
{
	return wire->failed ? 0 : wire->at;
}

/* Replaces what is not printable; such a text makes no message malformed. */
static void clean_text(char text[TRIAD_COLLECT_NAME_SIZE])
{
	char as_is[TRIAD_NODE_NAME_SIZE] = "", cleaned[TRIAD_NODE_NAME_SIZE];

	memcpy(as_is, text, TRIAD_COLLECT_NAME_SIZE);
	triad_fabric_clean_name(cleaned, as_is);
	memset(text, 0, TRIAD_COLLECT_NAME_SIZE);
	memcpy(text, cleaned, strnlen(cleaned, TRIAD_COLLECT_NAME_SIZE - 1));
}

/* Whether exactly 'n' entries follow: a list ends with the message. */
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
	*body = wire; /* the whole message, positioned behind the head */
	if (version != TRIAD_COLLECT_VERSION)
		return TRIAD_COLLECT_HEAD_OTHER_VERSION;
	if (!head->kind || head->kind >= TRIAD_COLLECT_N_KINDS ||
		head->kind == TRIAD_COLLECT_OLD_TOPOLOGY)
		return TRIAD_COLLECT_HEAD_UNKNOWN_KIND;
	return TRIAD_COLLECT_HEAD_GOOD;
}

/* --- ALIVE --- */

#define ALIVE(member, n) TRIAD_FIELD(struct triad_collect_alive, member, n)
#define ALIVE_FLAG(member, bit) TRIAD_FLAG(struct triad_collect_alive, member, bit)

static const struct triad_field alive_fields[] = {
	TRIAD_TEXT(struct triad_collect_alive, name),
	TRIAD_TEXT(struct triad_collect_alive, address),
	ALIVE(port, 2),
	ALIVE_FLAG(is_manager, 0x1),
	ALIVE_FLAG(is_draining, 0x2),
	ALIVE(n_nodes, 4),
	ALIVE(n_ports, 4),
	ALIVE(n_announced, 4),
	ALIVE(claims, 8),
	ALIVE(master, 8),
	ALIVE(topology, 8),
	ALIVE(sweep_ms, 4),
	ALIVE(lag_ms, 4),
	ALIVE(n_data, 4),
	ALIVE(n_dropped, 8),
};

size_t triad_collect_put_alive(const struct triad_collect_head *head,
	const struct triad_collect_alive *alive, uint8_t *to, size_t size)
{
	struct triad_wire wire =
		triad_collect_begin(to, size, head, TRIAD_COLLECT_ALIVE);

	TRIAD_FIELDS_PUT(&wire, alive_fields, alive);
	return triad_collect_end(&wire);
}

bool triad_collect_get_alive(struct triad_wire *body, struct triad_collect_alive *alive)
{
	TRIAD_FIELDS_GET(body, alive_fields, alive);
	clean_text(alive->name);
	clean_text(alive->address);
	return !body->failed;
}

/* --- OWNER --- */

#define OWNER(member, n) TRIAD_FIELD(struct triad_collect_owner, member, n)
#define OWNER_FLAG(member, bit) TRIAD_FLAG(struct triad_collect_owner, member, bit)

static const struct triad_field owner_fields[] = {
	OWNER(number, 4),
	OWNER(as_of, 4),
	OWNER_FLAG(is_list, 0x1),
	OWNER_FLAG(is_draining, 0x2),
	OWNER(part, 2),
	OWNER(n_parts, 2),
	OWNER(load, 1),
	TRIAD_TEXT(struct triad_collect_owner, address),
	OWNER(port, 2),
	OWNER(n_nodes, 4),
	OWNER(n, 4),
};

static const struct triad_field claim_fields[] = {
	TRIAD_FIELD(struct triad_collect_claim, node_guid, 8),
	TRIAD_FIELD(struct triad_collect_claim, hops, 1),
	TRIAD_FIELD(struct triad_collect_claim, load, 1),
};

size_t triad_collect_put_owner(const struct triad_collect_head *head,
	const struct triad_collect_owner *owner,
	const struct triad_collect_claim *claims, uint8_t *to, size_t size)
{
	struct triad_wire wire =
		triad_collect_begin(to, size, head, TRIAD_COLLECT_OWNER);

	TRIAD_FIELDS_PUT(&wire, owner_fields, owner);
	for (uint32_t i = 0; i < owner->n && !wire.failed; i++)
		TRIAD_FIELDS_PUT(&wire, claim_fields, &claims[i]);
	return triad_collect_end(&wire);
}

/* Only a list has parts, whose numbers are below theirs.  A list without parts is
 * empty. */
static bool is_sound(const struct triad_collect_owner *owner)
{
	if (!owner->is_list || !owner->n_parts)
		return !owner->part && !owner->n_parts && !(owner->is_list && owner->n);
	return owner->part < owner->n_parts;
}

bool triad_collect_get_owner(struct triad_wire *body, struct triad_collect_owner *owner)
{
	TRIAD_FIELDS_GET(body, owner_fields, owner);
	clean_text(owner->address);
	return has_rest(body, owner->n, CLAIM_SIZE) && is_sound(owner);
}

bool triad_collect_get_claim(struct triad_wire *body, struct triad_collect_claim *claim)
{
	TRIAD_FIELDS_GET(body, claim_fields, claim);
	return !body->failed && claim->node_guid;
}

/* --- WHO_OWNS --- */

static const struct triad_field who_owns_fields[] = {
	TRIAD_FLAG(struct triad_collect_who_owns, wants_list, 0x1),
	TRIAD_FIELD(struct triad_collect_who_owns, n, 4),
};

size_t triad_collect_put_who_owns(const struct triad_collect_head *head,
	const struct triad_collect_who_owns *who, const uint64_t *guids, uint8_t *to,
	size_t size)
{
	struct triad_wire wire =
		triad_collect_begin(to, size, head, TRIAD_COLLECT_WHO_OWNS);

	TRIAD_FIELDS_PUT(&wire, who_owns_fields, who);
	for (uint32_t i = 0; i < who->n && !wire.failed; i++)
		triad_wire_put(&wire, 8, guids[i]);
	return triad_collect_end(&wire);
}

bool triad_collect_get_who_owns(
	struct triad_wire *body, struct triad_collect_who_owns *who)
{
	TRIAD_FIELDS_GET(body, who_owns_fields, who);
	/* A request names nodes or wants the list, never both. */
	return has_rest(body, who->n, GUID_SIZE) && who->wants_list == !who->n;
}

/* --- TRAP --- */

#define TRAP(member, n) TRIAD_FIELD(struct triad_collect_trap, member, n)
#define TRAP_FLAG(member, bit) TRIAD_FLAG(struct triad_collect_trap, member, bit)

static const struct triad_field trap_fields[] = {
	TRAP(wall_us, 8),
	TRAP(node_guid, 8),
	TRAP(port, 1),
	TRAP(cause, 1),
	TRAP_FLAG(is_raised, 0x1),
	TRAP_FLAG(is_at_least, 0x2),
	TRAP(value, 4),
	TRAP(threshold, 4),
	TRAP(threshold_unit, 1),
};

/* Agents of older versions do not send these. */
static const struct triad_field trap_evidence_fields[] = {
	TRAP(why_field, 1),
	TRAP_FLAG(why_is_only_one, 0x1),
	TRAP(why_element, 1),
	TRAP(ber_kind, 1),
	TRAP(ber_low, 4),
	TRAP(ber_high, 4),
	TRAP(ber_target, 4),
	TRAP(ber_in_s, 4),
	TRAP(hardware_fault, 1),
	TRAP(hardware_index, 1),
	TRAP(hardware_limit, 4),
};

size_t triad_collect_put_trap(const struct triad_collect_head *head,
	const struct triad_collect_trap *trap, uint8_t *to, size_t size)
{
	struct triad_wire wire =
		triad_collect_begin(to, size, head, TRIAD_COLLECT_TRAP);

	TRIAD_FIELDS_PUT(&wire, trap_fields, trap);
	TRIAD_FIELDS_PUT(&wire, trap_evidence_fields, trap);
	return triad_collect_end(&wire);
}

static bool is_amount(float value)
{
	return isfinite(value) && value >= 0;
}

/* Reads members that older agents do not send.  Drops values that are unknown here, as
 * from a later version of Triad: the alert is raised without them. */
static void get_evidence(struct triad_wire *body, struct triad_collect_trap *trap)
{
	const struct triad_detail_field *field;

	trap->why_field = trap->why_element = trap->ber_kind = 0;
	trap->why_is_only_one = false;
	trap->ber_low = trap->ber_high = trap->ber_target = trap->ber_in_s = 0;
	trap->hardware_fault = trap->hardware_index = 0;
	trap->hardware_limit = 0;
	if (body->at < body->size)
		TRIAD_FIELDS_GET(body, trap_evidence_fields, trap);
	field = trap->why_field && trap->why_field <= TRIAD_DETAIL_N_FIELDS
		? &triad_detail_fields[trap->why_field - 1]
		: NULL;
	if (!field || trap->why_element >= field->n)
		trap->why_field = trap->why_element = 0;
	if (trap->ber_kind >= TRIAD_BER_N_KINDS || !is_amount(trap->ber_low) ||
		!is_amount(trap->ber_high) || !is_amount(trap->ber_target) ||
		!is_amount(trap->ber_in_s)) {
		trap->ber_kind = 0;
		trap->ber_low = trap->ber_high = trap->ber_target = 0;
		trap->ber_in_s = 0;
	}
	if (trap->hardware_fault >= TRIAD_HARDWARE_N_FAULTS ||
		!isfinite(trap->hardware_limit)) {
		trap->hardware_fault = 0;
		trap->hardware_limit = 0;
	}
}

/* Allows negative values only for temperatures and powers in dBm, never for
 * counters. */
static bool is_value(const struct triad_collect_trap *trap)
{
	bool is_of_hardware =
		trap->cause == TRIAD_ALERT_MODULE || trap->cause == TRIAD_ALERT_DEVICE;

	return is_of_hardware ? isfinite(trap->value) : is_amount(trap->value);
}

bool triad_collect_get_trap(struct triad_wire *body, struct triad_collect_trap *trap)
{
	TRIAD_FIELDS_GET(body, trap_fields, trap);
	get_evidence(body, trap);
	/* Check the cause, which is used as an index, and numbers, which are
	 * compared. */
	return !body->failed && trap->node_guid && trap->cause < TRIAD_ALERT_N_CAUSES &&
		is_value(trap) && is_amount(trap->threshold) &&
		trap->threshold_unit <= TRIAD_THRESHOLD_PERCENT;
}

/* --- AGAIN, CLEAR --- */

static const struct triad_field again_fields[] = {
	TRIAD_FIELD(struct triad_collect_again, from, 4),
};

size_t triad_collect_put_again(const struct triad_collect_head *head,
	const struct triad_collect_again *again, uint8_t *to, size_t size)
{
	struct triad_wire wire =
		triad_collect_begin(to, size, head, TRIAD_COLLECT_AGAIN);

	TRIAD_FIELDS_PUT(&wire, again_fields, again);
	return triad_collect_end(&wire);
}

bool triad_collect_get_again(struct triad_wire *body, struct triad_collect_again *again)
{
	TRIAD_FIELDS_GET(body, again_fields, again);
	return !body->failed;
}

static const struct triad_field clear_fields[] = {
	TRIAD_FIELD(struct triad_collect_clear, request, 8),
	TRIAD_FIELD(struct triad_collect_clear, node_guid, 8),
	TRIAD_FIELD(struct triad_collect_clear, port, 1),
	TRIAD_FLAG(struct triad_collect_clear, totals, 0x1),
	TRIAD_FLAG(struct triad_collect_clear, histograms, 0x2),
	TRIAD_FLAG(struct triad_collect_clear, hardware, 0x4),
};

size_t triad_collect_put_clear(const struct triad_collect_head *head,
	const struct triad_collect_clear *clear, uint8_t *to, size_t size)
{
	struct triad_wire wire =
		triad_collect_begin(to, size, head, TRIAD_COLLECT_CLEAR);

	TRIAD_FIELDS_PUT(&wire, clear_fields, clear);
	return triad_collect_end(&wire);
}

bool triad_collect_get_clear(struct triad_wire *body, struct triad_collect_clear *clear)
{
	TRIAD_FIELDS_GET(body, clear_fields, clear);
	return !body->failed;
}
