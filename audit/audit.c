/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "audit/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ib/rates.h"
#include "lib/hash.h"
#include "lib/text.h"

/* How a value is written. */
enum form { NUMBER, HEX, GUID, KEY, MTU, VLS, YES_NO, PORTS, VL_WEIGHT };

struct field {
	const char *name;
	uint16_t at; /* bits */
	uint8_t bits, form;
	const char *touches;
};

#define LATER "nothing yet: it counts when something fails"
#define LOST "packets that wait are dropped earlier or later than they should be"

/* [IBA 14.2.5.6] */
static const struct field port_fields[TRIAD_AUDIT_N_PORT_FIELDS] = {
	[TRIAD_AUDIT_M_KEY] = {"M_Key", 0, 64, KEY,
		"whoever has that key may change the port, and this SM may not"},
	[TRIAD_AUDIT_PREFIX] = {"GidPrefix", 64, 64, GUID,
		"its GIDs are not those that the SA says"},
	[TRIAD_AUDIT_LID] = {"LID", 128, 16, NUMBER, "all packets to it are lost"},
	[TRIAD_AUDIT_SM_LID] = {"MasterSMLID", 144, 16, NUMBER,
		"its traps and its requests to the SA go to another port"},
	[TRIAD_AUDIT_LEASE] = {"M_KeyLeasePeriod", 208, 16, NUMBER, LATER},
	[TRIAD_AUDIT_PROTECT] = {"M_KeyProtectBits", 272, 2, NUMBER,
		"who may read it, not packets"},
	[TRIAD_AUDIT_LMC] = {"LMC", 277, 3, NUMBER,
		"packets to its LIDs behind the first are lost, or to others' taken"},
	[TRIAD_AUDIT_MTU] = {"NeighborMTU", 288, 4, MTU,
		"packets over the smaller MTU are dropped on this link"},
	[TRIAD_AUDIT_SM_SL] = {"MasterSMSL", 292, 4, NUMBER,
		"its requests to the SA travel by another SL"},
	[TRIAD_AUDIT_HIGH_LIMIT] = {"VLHighLimit", 304, 8, NUMBER,
		"how long high priority keeps low waiting"},
	[TRIAD_AUDIT_STALL] = {"VLStallCount", 336, 3, NUMBER, LOST},
	[TRIAD_AUDIT_HOQ] = {"HOQLife", 339, 5, NUMBER, LOST},
	[TRIAD_AUDIT_OP_VLS] = {"OperationalVLs", 344, 4, VLS,
		"packets of VLs that one end has not are dropped"},
	[TRIAD_AUDIT_ENFORCE_IN] = {"PartitionEnforcementInbound", 348, 1, YES_NO,
		"whether packets of other partitions pass this port"},
	[TRIAD_AUDIT_ENFORCE_OUT] = {"PartitionEnforcementOutbound", 349, 1, YES_NO,
		"whether packets of other partitions pass this port"},
	[TRIAD_AUDIT_TIMEOUT] = {"SubnetTimeOut", 411, 5, NUMBER,
		"how often it sends traps, and how long its clients wait"},
	[TRIAD_AUDIT_PHY_ERRORS] = {"LocalPhyErrors", 424, 4, NUMBER,
		"how many errors a link has before it trains again"},
	[TRIAD_AUDIT_OVERRUNS] = {"OverrunErrors", 428, 4, NUMBER,
		"how many errors a link has before it trains again"},
};

/* [IBA 14.2.5.4] */
static const struct field switch_fields[TRIAD_AUDIT_N_SWITCH_FIELDS] = {
	[TRIAD_AUDIT_LFT_TOP] = {"LinearFDBTop", 48, 16, NUMBER,
		"packets to LIDs above the lower one are dropped by this switch"},
	[TRIAD_AUDIT_LIFETIME] = {"LifeTimeValue", 88, 5, NUMBER, LOST},
	[TRIAD_AUDIT_STATE_CHANGE] = {"PortStateChange", 93, 1, YES_NO,
		"a link of it has changed, and the SM has not looked"},
	[TRIAD_AUDIT_MFT_TOP] = {"MulticastFDBTop", 144, 16, HEX,
		"multicast packets to LIDs above the lower one are dropped by this switch"},
};

static const struct kind {
	const char *name;
	uint16_t attribute;
	uint8_t bits, form; /* of the entries of a table; 0: it has fields */
	const struct field *fields;
	unsigned n;
	const char *touches;
} kinds[TRIAD_AUDIT_N_KINDS] = {
	[TRIAD_AUDIT_PORT_INFO] = {"PortInfo", 0x15, 0, 0, port_fields,
		TRIAD_AUDIT_N_PORT_FIELDS, NULL},
	[TRIAD_AUDIT_SWITCH_INFO] = {"SwitchInfo", 0x12, 0, 0, switch_fields,
		TRIAD_AUDIT_N_SWITCH_FIELDS, NULL},
	[TRIAD_AUDIT_LFT] = {"LFT", 0x19, 8, NUMBER, NULL, 64,
		"packets to it that cross this switch"},
	[TRIAD_AUDIT_MFT] = {"MFT", 0x1b, 16, PORTS, NULL, 32, NULL},
	[TRIAD_AUDIT_PKEYS] = {"P_Keys", 0x16, 16, HEX, NULL, 32, NULL},
	[TRIAD_AUDIT_SL2VL] = {"SL2VL", 0x17, 4, NUMBER, NULL, 16,
		"packets of that SL take another VL, or none"},
	[TRIAD_AUDIT_VLARB] = {"VLArb", 0x18, 16, VL_WEIGHT, NULL, 32,
		"how VLs share this link"},
	[TRIAD_AUDIT_GUIDS] = {"GUIDInfo", 0x14, 64, GUID, NULL, 8,
		"packets with that alias GUID in their GID"},
};

const char *triad_audit_kind_name(unsigned kind)
{
	return kinds[kind].name;
}

uint16_t triad_audit_attribute(unsigned kind)
{
	return kinds[kind].attribute;
}

static struct field find_field(unsigned kind, unsigned field)
{
	const struct kind *of = &kinds[kind];

	if (of->fields)
		return of->fields[field];
	return (struct field){.at = (uint16_t)(field * of->bits),
		.bits = of->bits,
		.form = of->form,
		.touches = of->touches};
}

/* --- which blocks --- */

static bool is_switch(const struct triad_fabric *fabric, uint32_t port)
{
	return fabric->nodes[fabric->ports[port].node].type == TRIAD_NODE_SWITCH;
}

uint16_t triad_audit_lft_lid(const struct triad_audit_difference *difference)
{
	return (uint16_t)(difference->place.block * TRIAD_AUDIT_LFT_BLOCK +
		difference->field);
}

static uint32_t n_blocks_of(uint32_t n, uint32_t size)
{
	return (n + size - 1) / size;
}

/* Blocks of 16 ports. */
static unsigned mft_width(const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_node *node = &fabric->nodes[fabric->ports[port].node];

	return fabric->ports[node->first_port + node->n_ports - 1].number / 16 + 1u;
}

uint32_t triad_audit_n_blocks(const struct triad_fabric *fabric, uint32_t port,
	unsigned kind, const struct triad_audit_extent *extent)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	const struct triad_fabric_node *node = &fabric->nodes[at->node];
	bool of_switch = is_switch(fabric, port) && !at->number;
	bool is_end = triad_fabric_is_end_port(fabric, port);
	bool has_link = at->remote != TRIAD_FABRIC_NONE && at->state > TRIAD_PORT_DOWN;

	switch (kind) {
	case TRIAD_AUDIT_PORT_INFO:
		return is_end || has_link;
	case TRIAD_AUDIT_SWITCH_INFO:
		return of_switch;
	case TRIAD_AUDIT_LFT:
		return of_switch ? n_blocks_of(node->lft.n, TRIAD_AUDIT_LFT_BLOCK) : 0;
	case TRIAD_AUDIT_MFT:
		return of_switch ? extent->n_mft * mft_width(fabric, port) : 0;
	case TRIAD_AUDIT_PKEYS:
		return is_end || has_link ? extent->n_pkeys : 0;
	case TRIAD_AUDIT_SL2VL:
		return at->sl2vl.n;
	case TRIAD_AUDIT_VLARB:
		return at->vlarb_low_cap || at->vlarb_high_cap ? 4 : 0;
	case TRIAD_AUDIT_GUIDS:
		return is_end ? extent->n_guids : 0;
	default:
		return 0;
	}
}

uint32_t triad_audit_block(
	const struct triad_fabric *fabric, uint32_t port, unsigned kind, uint32_t i)
{
	unsigned width = mft_width(fabric, port);

	if (kind == TRIAD_AUDIT_MFT)
		return i / width | i % width << 28;
	return kind == TRIAD_AUDIT_VLARB ? i + 1 : i;
}

/* --- comparing --- */

static uint64_t read_bits(const uint8_t *octets, const struct field *field)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < field->bits; i++) {
		unsigned bit = field->at + i;

		value = value << 1 | (octets[bit / 8] >> (7 - bit % 8) & 1);
	}
	return value;
}

static void write_bits(
	uint8_t *octets, const struct field *field, uint64_t bits, uint64_t value)
{
	for (unsigned i = 0; i < field->bits; i++) {
		unsigned bit = field->at + i, of = field->bits - 1 - i;
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		if (!(bits >> of & 1))
			continue;
		octets[bit / 8] &= (uint8_t)~mask;
		if (value >> of & 1)
			octets[bit / 8] |= mask;
	}
}

void triad_audit_want_bits(struct triad_audit_wish *wish, unsigned kind, unsigned field,
	uint64_t bits, uint64_t value)
{
	struct field at = find_field(kind, field);

	write_bits(wish->wanted, &at, bits, value);
	write_bits(wish->mask, &at, bits, bits);
}

void triad_audit_want(
	struct triad_audit_wish *wish, unsigned kind, unsigned field, uint64_t value)
{
	triad_audit_want_bits(wish, kind, field, UINT64_MAX, value);
}

uint64_t triad_audit_read(
	unsigned kind, unsigned field, const uint8_t octets[TRIAD_AUDIT_OCTETS])
{
	struct field at = find_field(kind, field);

	return read_bits(octets, &at);
}

bool triad_audit_wants(const struct triad_audit_wish *wish)
{
	static const uint8_t nothing[TRIAD_AUDIT_OCTETS];

	return memcmp(wish->mask, nothing, sizeof(nothing)) != 0;
}

void triad_audit_compare(const struct triad_audit_place *place,
	const struct triad_audit_wish *wish, const uint8_t found[TRIAD_AUDIT_OCTETS],
	void (*add)(void *context, const struct triad_audit_difference *difference),
	void *context)
{
	bool differs = false;

	for (unsigned i = 0; i < TRIAD_AUDIT_OCTETS; i++)
		differs |= (wish->wanted[i] ^ found[i]) & wish->mask[i];
	for (unsigned i = 0; differs && i < kinds[place->kind].n; i++) {
		struct field field = find_field(place->kind, i);
		uint64_t mask = read_bits(wish->mask, &field);
		struct triad_audit_difference difference = {.place = *place,
			.field = i,
			.wanted = read_bits(wish->wanted, &field) & mask,
			.found = read_bits(found, &field) & mask,
			.no_group = wish->no_group >> i % 32 & 1,
			.copy_wrong = wish->copy_wrong >> i % 32 & 1};

		if (difference.wanted != difference.found)
			add(context, &difference);
	}
}

/* --- lists --- */

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

int triad_audit_place_order(
	const struct triad_audit_place *a, const struct triad_audit_place *b)
{
	int order = ORDER(a->kind, b->kind);

	if (!order)
		order = triad_port_order(a->node_guid, a->port, b->node_guid, b->port);
	return order ? order : ORDER(a->block, b->block);
}

int triad_audit_order(
	const struct triad_audit_difference *a, const struct triad_audit_difference *b)
{
	int order = triad_audit_place_order(&a->place, &b->place);

	return order ? order : ORDER(a->field, b->field);
}

void triad_audit_keep_since(struct triad_audit_difference *now, size_t n_now,
	const struct triad_audit_difference *before, size_t n_before)
{
	size_t at = 0;

	for (size_t i = 0; i < n_now; i++) {
		while (at < n_before && triad_audit_order(&before[at], &now[i]) < 0)
			at++;
		if (at < n_before && !triad_audit_order(&before[at], &now[i]) &&
			before[at].found == now[i].found)
			now[i].since_us = before[at].since_us;
	}
}

bool triad_audit_keep_both(struct triad_audit_difference *now, size_t *n_now,
	const struct triad_audit_difference *before, size_t n_before)
{
	size_t n_kept = 0, at = 0;
	bool has_changed = false;

	for (size_t i = 0; i < *n_now; i++) {
		while (at < n_before && triad_audit_order(&before[at], &now[i]) < 0)
			at++;
		if (at == n_before || triad_audit_order(&before[at], &now[i]))
			continue;
		has_changed |= before[at].wanted != now[i].wanted;
		now[n_kept] = now[i];
		now[n_kept++].since_us = before[at].since_us;
	}
	*n_now = n_kept;
	return has_changed;
}

/* --- for people --- */

uint32_t triad_audit_id(const struct triad_audit_difference *difference)
{
	const struct triad_audit_place *place = &difference->place;
	/* Nothing that is shown follows from a key. */
	bool is_key = find_field(place->kind, difference->field).form == KEY;
	const uint64_t words[] = {place->node_guid, place->block,
		(uint64_t)place->port << 32 | place->kind, difference->field,
		is_key ? 0 : difference->wanted, is_key ? 0 : difference->found};

	return (uint32_t)triad_hash_words(
		TRIAD_HASH_START, words, sizeof(words) / sizeof(words[0]));
}

const char *triad_audit_object(const struct triad_audit_difference *difference,
	char text[TRIAD_AUDIT_TEXT_SIZE])
{
	const struct triad_audit_place *place = &difference->place;
	unsigned block = place->block, field = difference->field;

	switch (place->kind) {
	case TRIAD_AUDIT_LFT:
		snprintf(text, TRIAD_AUDIT_TEXT_SIZE, "LID %u",
			triad_audit_lft_lid(difference));
		break;
	case TRIAD_AUDIT_MFT:
		snprintf(text, TRIAD_AUDIT_TEXT_SIZE, "MLID 0x%x",
			TRIAD_AUDIT_FIRST_MLID +
				(block & 0x1ff) * TRIAD_AUDIT_MFT_BLOCK + field);
		break;
	case TRIAD_AUDIT_PKEYS:
		snprintf(text, TRIAD_AUDIT_TEXT_SIZE, "P_Key index %u",
			block * TRIAD_AUDIT_PKEY_BLOCK + field);
		break;
	case TRIAD_AUDIT_SL2VL:
		snprintf(
			text, TRIAD_AUDIT_TEXT_SIZE, "in-port %u, SL %u", block, field);
		break;
	case TRIAD_AUDIT_VLARB:
		snprintf(text, TRIAD_AUDIT_TEXT_SIZE, "%s entry %u",
			block > 2 ? "high" : "low", (block - 1) % 2 * 32 + field);
		break;
	case TRIAD_AUDIT_GUIDS:
		snprintf(text, TRIAD_AUDIT_TEXT_SIZE, "GUID index %u",
			block * TRIAD_AUDIT_GUID_BLOCK + field);
		break;
	default:
		snprintf(text, TRIAD_AUDIT_TEXT_SIZE, "%s",
			find_field(place->kind, field).name);
	}
	return text;
}

/* Ports of a mask of 16, from 'first' on. */
static void append_ports(uint64_t mask, unsigned first, char *text)
{
	for (unsigned i = 0; i < 16; i++)
		if (mask >> i & 1)
			triad_text_append(text, TRIAD_AUDIT_TEXT_SIZE, "%s%u",
				*text ? "," : "", first + i);
	if (!*text)
		triad_text_append(text, TRIAD_AUDIT_TEXT_SIZE, "-");
}

const char *triad_audit_value(const struct triad_audit_difference *difference,
	uint64_t value, char text[TRIAD_AUDIT_TEXT_SIZE])
{
	const struct triad_audit_place *place = &difference->place;
	const size_t size = TRIAD_AUDIT_TEXT_SIZE;

	text[0] = '\0';
	switch (find_field(place->kind, difference->field).form) {
	case HEX:
		snprintf(text, size, "0x%04" PRIx64, value);
		break;
	case GUID:
		snprintf(text, size, "0x%016" PRIx64, value);
		break;
	case KEY:
		/* Who sees it could use it. */
		snprintf(text, size, "%s",
			value == difference->wanted ? "the SM's"
				: value             ? "another"
						    : "none, or not shown");
		break;
	case MTU:
		snprintf(text, size, "%u", triad_mtu_octets((uint8_t)value));
		break;
	case VLS:
		snprintf(text, size, "%u", triad_vls_n((uint8_t)value));
		break;
	case YES_NO:
		snprintf(text, size, "%s", value ? "yes" : "no");
		break;
	case PORTS:
		append_ports(value, (place->block >> 28) * 16, text);
		break;
	case VL_WEIGHT:
		snprintf(text, size, "%u:%u", (unsigned)(value >> 8 & 0xf),
			(unsigned)(value & 0xff));
		break;
	default:
		snprintf(text, size, "%" PRIu64, value);
	}
	return text;
}

static bool reaches(uint16_t key, const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_slice *keys = &fabric->ports[port].pkeys;

	return (key & 0x7fff) &&
		triad_pkey_match(&key, 1, fabric->pkeys + keys->at, keys->n) >= 0;
}

/* Of a switch's port the end port behind it counts. */
static void append_pkey_ends(const struct triad_fabric *fabric,
	const struct triad_audit_difference *difference, char *text)
{
	uint32_t at = triad_fabric_port_at(
		fabric, difference->place.node_guid, difference->place.port);
	uint32_t behind = at == TRIAD_FABRIC_NONE ? at : fabric->ports[at].remote;
	bool is_same = !((difference->wanted ^ difference->found) & 0x7fff);
	uint32_t n_lost = 0, n_gained = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		bool was, is;

		if (!triad_fabric_is_end_port(fabric, i) || i == at || i == behind)
			continue;
		was = reaches((uint16_t)difference->wanted, fabric, i);
		is = reaches((uint16_t)difference->found, fabric, i);
		/* One partition, with full and with limited membership. */
		n_lost += was && !(is_same && is);
		n_gained += is && !(is_same && was);
	}
	if (difference->wanted & 0x7fff)
		triad_text_append(text, TRIAD_AUDIT_TEXT_SIZE,
			"it can't talk to %" PRIu32 " ports in 0x%04" PRIx64, n_lost,
			difference->wanted);
	if (difference->found & 0x7fff)
		triad_text_append(text, TRIAD_AUDIT_TEXT_SIZE,
			"%sit can talk to %" PRIu32 " more in 0x%04" PRIx64,
			*text ? "; " : "", n_gained, difference->found);
}

static void append_groups(const struct triad_audit_difference *difference, char *text)
{
	unsigned first = (difference->place.block >> 28) * 16;
	char lost[TRIAD_AUDIT_TEXT_SIZE] = "", more[TRIAD_AUDIT_TEXT_SIZE] = "";

	append_ports(difference->wanted & ~difference->found, first, lost);
	append_ports(difference->found & ~difference->wanted, first, more);
	if (difference->no_group)
		triad_text_append(text, TRIAD_AUDIT_TEXT_SIZE,
			"no group has this LID: packets to it leave by ports %s", more);
	else
		triad_text_append(text, TRIAD_AUDIT_TEXT_SIZE,
			"the group's packets miss out ports %s and take %s besides",
			lost, more);
	if (difference->copy_wrong)
		triad_text_append(text, TRIAD_AUDIT_TEXT_SIZE,
			"; the SM's own copy is wrong, too");
}

const char *triad_audit_touches(const struct triad_fabric *fabric,
	const struct triad_audit_difference *difference,
	char text[TRIAD_AUDIT_TEXT_SIZE])
{
	const struct triad_audit_place *place = &difference->place;
	const char *touches = find_field(place->kind, difference->field).touches;

	snprintf(text, TRIAD_AUDIT_TEXT_SIZE, "%s", touches ? touches : "");
	if (place->kind == TRIAD_AUDIT_PKEYS)
		append_pkey_ends(fabric, difference, text);
	if (place->kind == TRIAD_AUDIT_MFT)
		append_groups(difference, text);
	return text;
}
