/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "shield/check.h"

#include <stddef.h>

#include "triad/wire.h"

/* Offsets in the MAD [IBA 15.2.1]. */
#define AT_METHOD 3
#define AT_ATTRIBUTE 16
#define AT_MASK 48
#define AT_DATA 56

enum {
	GET = 0x01,
	SET = 0x02,
	REPORT_RESP = 0x86,
	GET_TABLE = 0x12,
	GET_MULTI = 0x14,
	DELETE = 0x15
};
enum {
	CLASS_PORT_INFO = 0x01,
	INFORM_INFO = 0x03,
	SL2VL = 0x13,
	LFT = 0x15,
	GUIDINFO = 0x30,
	SERVICE = 0x31,
	PATH = 0x35
};

/* Status of an answer [IBA 13.4.7, 15.2.4.3]. */
#define STATUS_NONE 0
#define STATUS_BUSY 0x0001
#define STATUS_UNSUPPORTED 0x000c
#define STATUS_NO_RESOURCES 0x0100
#define STATUS_INVALID 0x0200
#define STATUS_INSUFFICIENT 0x0600
#define STATUS_DENIED 0x0700

/* Seconds.  OpenSM takes each record for a second old at least. */
#define LEAST_LEASE 2u

/* Bits of methods. */
#define GETS 1u
#define SETS 2u /* Set and Delete */
#define GETS_MULTI 4u

/* The attributes of OpenSM's SA and their methods. */
static const struct {
	uint16_t attribute;
	uint8_t methods;
} known[] = {
	{CLASS_PORT_INFO, GETS}, /* ClassPortInfo */
	{INFORM_INFO, SETS},     /* InformInfo */
	{0x0011, GETS},          /* NodeRecord */
	{0x0012, GETS},          /* PortInfoRecord */
	{SL2VL, GETS},           /* SL2VLTableRecord */
	{0x0014, GETS},          /* SwitchInfoRecord */
	{LFT, GETS},             /* LFTRecord */
	{0x0017, GETS},          /* MFTRecord */
	{0x0018, GETS},          /* SMInfoRecord */
	{0x0020, GETS},          /* LinkRecord */
	{GUIDINFO, GETS | SETS}, /* GUIDInfoRecord */
	{SERVICE, GETS | SETS},  /* ServiceRecord */
	{0x0033, GETS},          /* P_KeyTableRecord */
	{PATH, GETS},            /* PathRecord */
	{0x0036, GETS},          /* VLArbitrationTableRecord */
	{0x0038, GETS | SETS},   /* MCMemberRecord */
	{0x003a, GETS_MULTI},    /* MultiPathRecord */
	{0x00f3, GETS},          /* InformInfoRecord */
};

static const struct {
	const char *name, *label, *text;
} reasons[TRIAD_SHIELD_N_REASONS] = {
	[TRIAD_SHIELD_GOOD] = {"good", "good", "good"},
	[TRIAD_SHIELD_NO_SUCH_PORT] = {"no_such_port", "no such port",
		"a port that the switch has not"},
	[TRIAD_SHIELD_PORTS_OF_ALL] = {"ports_of_all", "port of all switches",
		"a port that not all switches have, without a LID"},
	[TRIAD_SHIELD_NOT_ROUTED] = {"not_routed", "switch not routed",
		"a switch that has no routes yet"},
	[TRIAD_SHIELD_ALIAS_IN_USE] = {"alias_in_use",
		"an alias GUID that is in a multicast group, replaced",
		"to replace an alias GUID that is in a multicast group"},
	[TRIAD_SHIELD_SHORT_LEASE] = {"short_lease", "a lease of less than two seconds",
		"a service with a lease of less than two seconds"},
	[TRIAD_SHIELD_REGISTRATIONS] = {"registrations",
		"more registrations than there is room for",
		"more services or subscriptions than there is room for"},
	[TRIAD_SHIELD_PATHS_OF_ALL] = {"paths_of_all", "paths between all ports",
		"paths between all ports"},
	[TRIAD_SHIELD_ATTRIBUTE] = {"attribute", "unknown attribute",
		"an attribute that the SA has not"},
	[TRIAD_SHIELD_METHOD] = {"method", "unknown method",
		"a method that the attribute has not"},
	[TRIAD_SHIELD_RATE] = {"rate", "over shield.rate",
		"more requests than shield.rate"},
	[TRIAD_SHIELD_QUEUE] = {"queue", "too many at once",
		"too many to be looked at"},
};

const char *triad_shield_reason_name(enum triad_shield_reason reason)
{
	return reasons[reason].name;
}

const char *triad_shield_reason_label(enum triad_shield_reason reason)
{
	return reasons[reason].label;
}

const char *triad_shield_reason_text(enum triad_shield_reason reason)
{
	return reasons[reason].text;
}

/* --- octets --- */

static uint64_t get_number(const uint8_t *mad, size_t at, size_t n)
{
	struct triad_wire w;

	triad_wire_init(&w, (uint8_t *)mad + at, n);
	return triad_wire_get(&w, n);
}

static bool has_component(const uint8_t *mad, unsigned bit)
{
	return get_number(mad, AT_MASK, 8) >> bit & 1;
}

static uint16_t attribute_of(const uint8_t *mad)
{
	return (uint16_t)get_number(mad, AT_ATTRIBUTE, 2);
}

static struct triad_shield_judgement pass(void)
{
	return (struct triad_shield_judgement){.verdict = TRIAD_SHIELD_PASS};
}

static struct triad_shield_judgement answer(
	enum triad_shield_reason reason, uint16_t status)
{
	return (struct triad_shield_judgement){
		.verdict = TRIAD_SHIELD_ANSWER, .reason = reason, .status = status};
}

static unsigned bit_of_method(uint8_t method)
{
	return method == GET || method == GET_TABLE ? GETS
		: method == SET || method == DELETE ? SETS
		: method == GET_MULTI               ? GETS_MULTI
						    : 0;
}

/* ServiceRecord: its lease is component 4, at 28 [IBA table 15.2.5.14]. */
static bool has_short_lease(const uint8_t *mad)
{
	return attribute_of(mad) == SERVICE && mad[AT_METHOD] == SET &&
		has_component(mad, 4) && get_number(mad, AT_DATA + 28, 4) < LEAST_LEASE;
}

/* Components that narrow a request to a part of the fabric: of a path DGID, SGID, DLID and
 * SLID; of other records the first one, a LID or a GID. */
static bool names_a_place(const uint8_t *mad)
{
	uint64_t places = attribute_of(mad) == PATH ? 0x3c : 1;

	return get_number(mad, AT_MASK, 8) & places;
}

bool triad_shield_is_table(const uint8_t mad[TRIAD_SHIELD_MAD_SIZE])
{
	return (mad[AT_METHOD] == GET || mad[AT_METHOD] == GET_TABLE) &&
		attribute_of(mad) != CLASS_PORT_INFO && !names_a_place(mad);
}

/* SGID is required [IBA 15.2.5.16], but people list all paths of small fabrics. */
static bool wants_paths_of_all(const uint8_t *mad)
{
	return attribute_of(mad) == PATH && !names_a_place(mad);
}

/* Set and Delete of one attribute are both judged by the subnet, so that they reach
 * OpenSM in their order. */
static bool needs_subnet(const uint8_t *mad, unsigned bit)
{
	uint16_t attribute = attribute_of(mad);

	if (attribute == SL2VL || attribute == LFT || wants_paths_of_all(mad))
		return true;
	return bit == SETS &&
		(attribute == INFORM_INFO || attribute == GUIDINFO ||
			attribute == SERVICE);
}

struct triad_shield_judgement triad_shield_look(
	const uint8_t mad[TRIAD_SHIELD_MAD_SIZE])
{
	uint16_t attribute = attribute_of(mad);
	uint8_t method = mad[AT_METHOD];
	unsigned bit = bit_of_method(method);

	/* OpenSM takes answers to its reports, and drops other methods. */
	if (method == REPORT_RESP)
		return pass();
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].attribute != attribute)
			continue;
		if (!(known[i].methods & bit))
			return answer(TRIAD_SHIELD_METHOD, STATUS_UNSUPPORTED);
		if (has_short_lease(mad))
			return answer(TRIAD_SHIELD_SHORT_LEASE, STATUS_INVALID);
		/* Component 13 is P_Key. */
		if (wants_paths_of_all(mad) && has_component(mad, 13))
			return answer(TRIAD_SHIELD_PATHS_OF_ALL, STATUS_INSUFFICIENT);
		if (!needs_subnet(mad, bit))
			return pass();
		return (struct triad_shield_judgement){.verdict = TRIAD_SHIELD_ASK};
	}
	return answer(TRIAD_SHIELD_ATTRIBUTE, STATUS_UNSUPPORTED);
}

/* --- the subnet --- */

uint16_t triad_shield_lid(const uint8_t mad[TRIAD_SHIELD_MAD_SIZE])
{
	return has_component(mad, 0) ? (uint16_t)get_number(mad, AT_DATA, 2) : 0;
}

/* SL2VLTableRecord: LID, input port, output port [IBA table 15.2.5.4]. */
static struct triad_shield_judgement judge_ports(
	const uint8_t *mad, const struct triad_shield_facts *facts)
{
	unsigned highest = 0;

	for (unsigned i = 0; i < 2; i++)
		if (has_component(mad, 1 + i) && mad[AT_DATA + 2 + i] > highest)
			highest = mad[AT_DATA + 2 + i];
	if (!facts->has_switch || highest < facts->least)
		return pass();
	if (highest >= facts->most)
		return answer(TRIAD_SHIELD_NO_SUCH_PORT, STATUS_NONE);
	return answer(TRIAD_SHIELD_PORTS_OF_ALL, STATUS_INSUFFICIENT);
}

/* GUIDInfoRecord: LID, block, two reserved components, GUIDs [IBA table 15.2.5.18].  OpenSM
 * leaves an alias as it is if the GUID is 0. */
static struct triad_shield_judgement judge_aliases(
	const uint8_t *mad, const struct triad_shield_facts *facts)
{
	for (unsigned i = 0; i < TRIAD_SHIELD_N_ALIASES; i++) {
		uint64_t guid = get_number(mad, AT_DATA + 8 + 8 * i, 8);

		if (has_component(mad, 4 + i) && guid && facts->used_aliases[i] &&
			facts->used_aliases[i] != guid)
			return answer(TRIAD_SHIELD_ALIAS_IN_USE, STATUS_DENIED);
	}
	return pass();
}

/* InformInfo: Subscribe is at 23 [IBA table 13.4.8.3]. */
static bool has_room(const uint8_t *mad, const struct triad_shield_facts *facts)
{
	if (attribute_of(mad) == INFORM_INFO)
		return !mad[AT_DATA + 23] ||
			(facts->n_subscriptions < TRIAD_SHIELD_MAX_SUBSCRIPTIONS &&
				facts->n_all_subscriptions <
					facts->n_reports / TRIAD_SHIELD_N_EVENTS);
	return facts->has_service || facts->n_services < TRIAD_SHIELD_MAX_SERVICES;
}

struct triad_shield_judgement triad_shield_judge(
	const uint8_t mad[TRIAD_SHIELD_MAD_SIZE],
	const struct triad_shield_facts *facts)
{
	uint16_t attribute = attribute_of(mad);

	if (attribute == SL2VL)
		return judge_ports(mad, facts);
	if (attribute == PATH)
		return facts->n_ports * facts->n_ports > TRIAD_SHIELD_MAX_PAIRS
			? answer(TRIAD_SHIELD_PATHS_OF_ALL, STATUS_NO_RESOURCES)
			: pass();
	if (attribute == LFT)
		return facts->has_unrouted
			? answer(TRIAD_SHIELD_NOT_ROUTED, STATUS_BUSY)
			: pass();
	if (mad[AT_METHOD] != SET)
		return pass();
	if (attribute == GUIDINFO)
		return judge_aliases(mad, facts);
	return has_room(mad, facts)
		? pass()
		: answer(TRIAD_SHIELD_REGISTRATIONS, STATUS_NO_RESOURCES);
}
