/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/sim_details.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ib/detail.h"
#include "ib/pma.h"
#include "tests/lab/umad_mad.h"
#include "triad/mad.h"
#include "triad/wire.h"

/* ibsim implements all attributes before this one. */
#define FIRST_ATTRIBUTE TRIAD_PMA_EXT_SPEEDS
#define N_ATTRIBUTES (TRIAD_PMA_N_ATTRIBUTES - FIRST_ATTRIBUTE)

#define N_BUCKETS 4096
#define N_PORTS 256

#define ATTRIBUTE_CLASS_PORT_INFO 0x0001
#define ATTRIBUTE_NODE_INFO 0x0011
#define ATTRIBUTE_PORT_COUNTERS 0x0012
#define ATTRIBUTE_EXTENDED 0x001d
#define WIDE_ERRORS (1u << 1 << 5) /* CapabilityMask2, in front of RespTimeValue */

/* Status of an answer [IBA 13.4.7]. */
enum {
	STATUS_METHOD_UNSUPPORTED = 2 << 2,
	STATUS_ATTRIBUTE_UNSUPPORTED = 3 << 2,
	STATUS_BAD_VALUE = 7 << 2,
};

/* Octets into the MAD, and into its attribute. */
enum {
	AT_METHOD = 3,
	AT_STATUS = 4,
	AT_ATTRIBUTE = 16,
	AT_MODIFIER = 20,
	AT_DATA = 64,
	AT_CAPABILITIES = 2,
	AT_COUNTER_SELECT = 2,
	AT_COUNTER_SELECT_2 = 18,     /* of PortCounters */
	AT_SPEEDS_COUNTER_SELECT = 8, /* of 64 bits */
	AT_CAPABILITIES_2 = 4,        /* 27 bits of 32 */
	AT_EXTENDED_SELECT_2 = 4,
};

/* NodeInfo [IBA 14.2.5.3]. */
enum { AT_NODE_TYPE = 2, AT_N_PORTS = 3, AT_NODE_GUID = 12, AT_LOCAL_PORT = 36 };
#define TYPE_SWITCH 2

struct node {
	struct node *next;
	uint64_t guid;
	bool lacks_rsfec;
	/* Errors and PortXmitWait of each port, with 64 bits; NULL: it has no such ones. */
	uint64_t (*wide)[TRIAD_FIRST_WIDE_COUNTER];
	struct triad_detail_reading *ports[N_PORTS]; /* N_ATTRIBUTES each, or NULL */
};

struct sim_details {
	struct node *buckets[N_BUCKETS];
	bool has_wide_errors; /* some node */
};

struct sim_details *sim_details_new(void)
{
	return calloc(1, sizeof(struct sim_details));
}

/* --- the store --- */

static struct node *find_node(const struct sim_details *details, uint64_t guid)
{
	struct node *node = details->buckets[guid % N_BUCKETS];

	while (node && node->guid != guid)
		node = node->next;
	return node;
}

static struct node *make_node(struct sim_details *details, uint64_t guid)
{
	struct node *node = find_node(details, guid);
	struct node **bucket = &details->buckets[guid % N_BUCKETS];

	if (node)
		return node;
	node = calloc(1, sizeof(*node));
	if (node) {
		node->guid = guid;
		node->next = *bucket;
		*bucket = node;
	}
	return node;
}

/* The readings of a port, allocated if there are none; NULL when memory is short. */
static struct triad_detail_reading *make_port(struct node *node, uint8_t port)
{
	if (!node->ports[port])
		node->ports[port] = calloc(N_ATTRIBUTES, sizeof(*node->ports[port]));
	return node->ports[port];
}

static struct triad_detail_reading *find_reading(
	struct node *node, unsigned port, enum triad_pma_attribute attribute)
{
	return node && node->ports[port]
		? &node->ports[port][attribute - FIRST_ATTRIBUTE]
		: NULL;
}

/* --- commands --- */

/* Commands have one name for both layouts of PortExtendedSpeedsCounters. */
static bool is_in(const struct triad_detail_field *field, const char *attribute)
{
	for (unsigned i = FIRST_ATTRIBUTE; i < TRIAD_PMA_N_ATTRIBUTES; i++) {
		unsigned named =
			i == TRIAD_PMA_EXT_SPEEDS_RSFEC ? TRIAD_PMA_EXT_SPEEDS : i;

		if (field->attributes & TRIAD_DETAIL_BIT(i) &&
			strcasecmp(attribute, triad_detail_attribute(named)->name) == 0)
			return true;
	}
	return false;
}

static bool is_attribute(const char *name)
{
	for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++)
		if (is_in(&triad_detail_fields[i], name))
			return true;
	return false;
}

/* Returns NULL when the attribute has no such field; else sets '*slot' to the
 * counter's. */
static const struct triad_detail_field *find_field(
	const struct sim_setting *setting, unsigned *slot)
{
	for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++) {
		const struct triad_detail_field *field = &triad_detail_fields[i];
		char name[sizeof(setting->field)];

		if (!is_in(field, setting->attribute))
			continue;
		for (*slot = field->slot; *slot < field->slot + field->n; ++*slot) {
			triad_detail_format_name(field, *slot, name, sizeof(name));
			if (strcasecmp(name, setting->field) == 0)
				return field;
		}
	}
	return NULL;
}

/* The error or PortXmitWait that is set in PortCountersExtended, or -1. */
static int find_wide(const struct sim_setting *setting)
{
	int counter = triad_counter_find(setting->field);

	return strcasecmp(setting->attribute, "PortCountersExtended") == 0 &&
			counter < TRIAD_FIRST_WIDE_COUNTER
		? counter
		: -1;
}

static bool set_wide(struct sim_details *details, struct node *node, uint8_t port,
	int counter, uint64_t value)
{
	if (!node->wide)
		node->wide = calloc(N_PORTS, sizeof(*node->wide));
	if (!node->wide)
		return false;
	details->has_wide_errors = true;
	node->wide[port][counter] = value;
	return true;
}

bool sim_setting_parse(const char *line, struct sim_setting *setting)
{
	char command[16], value[24], more, *end;

	if (sscanf(line, " %15s \"%64[^\"]\"[%i] %39[^. ] . %39[^= \t] = %23s %c",
		    command, setting->node, &setting->port, setting->attribute,
		    setting->field, value, &more) != 6 ||
		strcasecmp(command, "PerformanceSet") != 0)
		return false;
	setting->value = strtoull(value, &end, 0);
	return end != value && *end == '\0' &&
		(find_wide(setting) >= 0 || is_attribute(setting->attribute));
}

static bool find_node_line(const char *dump, struct sim_dumped_node *node)
{
	while (dump) {
		if (sscanf(dump, "%15s %d \"%64[^\"]\" nodeguid %" SCNx64, node->type,
			    &node->n_ports, node->name, &node->guid) == 4)
			return true;
		dump = strchr(dump, '\n');
		dump = dump ? dump + 1 : NULL;
	}
	return false;
}

bool sim_dump_read(const char *dump, const char *name, int port,
	struct sim_dumped_node *node, char *answer, size_t size)
{
	if (!find_node_line(dump, node))
		snprintf(answer, size, "# nodeid \"%s\" not found\n", name);
	else if (port > node->n_ports)
		snprintf(answer, size, "# bad port number %d at nodeid \"%s\"\n", port,
			node->name);
	else
		return true;
	return false;
}

/* Whether a counter can't be set at that port; then writes the reason to 'answer'. */
static bool refuse_port(const struct sim_dumped_node *node,
	const struct sim_setting *setting, const struct triad_detail_field *field,
	char *answer, size_t size)
{
	bool needs_switch = field &&
		field->attributes & TRIAD_DETAIL_BIT(TRIAD_PMA_SW_PORT_VL_CONGESTION);

	if (setting->port < 1 || setting->port > node->n_ports)
		snprintf(answer, size, "# bad port number %d at nodeid \"%s\"\n",
			setting->port, node->name);
	else if (needs_switch && strcmp(node->type, "Switch") != 0)
		snprintf(answer, size,
			"# attribute %s: only switches have it, and nodeid \"%s\" is "
			"no switch\n",
			setting->attribute, node->name);
	else
		return false;
	return true;
}

/* Returns the value stored. */
static uint32_t store_value(struct node *node, struct triad_detail_reading *readings,
	const struct triad_detail_field *field, unsigned slot, uint64_t value)
{
	uint32_t most = triad_detail_max(field);
	uint32_t stored = value < most ? (uint32_t)value : most;

	for (unsigned i = FIRST_ATTRIBUTE; i < TRIAD_PMA_N_ATTRIBUTES; i++)
		if (field->attributes & TRIAD_DETAIL_BIT(i))
			readings[i - FIRST_ATTRIBUTE].raw[slot] = stored;
	if (field->attributes == TRIAD_DETAIL_BIT(TRIAD_PMA_EXT_SPEEDS))
		node->lacks_rsfec = true;
	if (field->attributes == TRIAD_DETAIL_BIT(TRIAD_PMA_EXT_SPEEDS_RSFEC))
		node->lacks_rsfec = false;
	return stored;
}

void sim_details_set(struct sim_details *details, const struct sim_setting *setting,
	const char *dump, char *answer, size_t size)
{
	struct sim_dumped_node dumped;
	struct triad_detail_reading *readings;
	struct node *node;
	unsigned slot = 0;
	const struct triad_detail_field *field = find_field(setting, &slot);
	int wide = find_wide(setting);

	if (!sim_dump_read(dump, setting->node, 0, &dumped, answer, size))
		return;
	if (!field && wide < 0) {
		snprintf(answer, size, "# field %s cannot be found in attribute %s\n",
			setting->field, setting->attribute);
		return;
	}
	if (refuse_port(&dumped, setting, field, answer, size))
		return;
	node = make_node(details, dumped.guid);
	if (node && !field &&
		set_wide(details, node, (uint8_t)setting->port, wide, setting->value)) {
		snprintf(answer, size, "%s[%d] %s.%s has been set to %" PRIu64 "\n",
			dumped.name, setting->port, setting->attribute, setting->field,
			setting->value);
		return;
	}
	readings = node && field ? make_port(node, (uint8_t)setting->port) : NULL;
	if (!readings) {
		snprintf(answer, size, "# no memory for port %d at nodeid \"%s\"\n",
			setting->port, dumped.name);
		return;
	}
	snprintf(answer, size, "%s[%d] %s.%s has been set to %u\n", dumped.name,
		setting->port, setting->attribute, setting->field,
		store_value(node, readings, field, slot, setting->value));
}

/* --- requests --- */

static uint64_t get_number(const uint8_t *octets, size_t n)
{
	return triad_wire_bits(octets, 0, (unsigned)(8 * n));
}

static void put_number(uint8_t *octets, size_t n, uint64_t number)
{
	struct triad_wire w;

	triad_wire_init(&w, octets, n);
	triad_wire_put(&w, n, number);
}

/* Returns TRIAD_PMA_N_ATTRIBUTES for an attribute that ibsim implements, and for an
 * unknown one. */
static enum triad_pma_attribute find_attribute(uint16_t id)
{
	unsigned i = FIRST_ATTRIBUTE;
	uint8_t mad[TRIAD_MAD_SIZE];

	for (; i < TRIAD_PMA_N_ATTRIBUTES; i++) {
		triad_pma_encode_get(mad, i, 0, 0);
		if (lab_mad_attribute(mad) == id)
			break;
	}
	return i;
}

static bool is_performance_request(const uint8_t *mad)
{
	return lab_mad_class(mad) == TRIAD_MAD_CLASS_PERFORMANCE &&
		!lab_mad_is_response(mad);
}

bool sim_details_is_request(const uint8_t *mad)
{
	return is_performance_request(mad) &&
		find_attribute(lab_mad_attribute(mad)) < TRIAD_PMA_N_ATTRIBUTES;
}

static bool is_of_wide(const uint8_t *mad)
{
	return lab_mad_attribute(mad) == ATTRIBUTE_EXTENDED ||
		lab_mad_attribute(mad) == ATTRIBUTE_PORT_COUNTERS;
}

bool sim_details_is_half_request(const struct sim_details *details, const uint8_t *mad)
{
	return is_performance_request(mad) &&
		(lab_mad_attribute(mad) == ATTRIBUTE_CLASS_PORT_INFO ||
			(details->has_wide_errors && is_of_wide(mad)));
}

/* Whether a Set of one of the two attributes selects the counter. */
static bool selects_wide(const uint8_t *mad, const struct triad_counter_info *info)
{
	const uint8_t *data = mad + AT_DATA;
	uint64_t select = get_number(data + AT_COUNTER_SELECT, 2);

	if (lab_mad_attribute(mad) == ATTRIBUTE_EXTENDED)
		return get_number(data + AT_EXTENDED_SELECT_2, 4) & info->wide_select;
	return (select | get_number(data + AT_COUNTER_SELECT_2, 1) << 16) &
		info->select;
}

void sim_details_reset(
	const struct sim_details *details, uint64_t guid, const uint8_t *mad)
{
	struct node *node = find_node(details, guid);
	unsigned port = triad_pma_port_select(mad);
	unsigned first = port == TRIAD_PMA_ALL_PORTS ? 0 : port;

	if (!node || !node->wide || !is_of_wide(mad) ||
		lab_mad_method(mad) != TRIAD_MAD_METHOD_SET)
		return;
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		for (unsigned p = first;
			selects_wide(mad, &triad_counters[i]) && p <= port; p++)
			node->wide[p][i] = 0;
}

void sim_details_make_question(uint8_t *mad)
{
	if (lab_mad_class(mad) != LAB_CLASS_SM_DIRECTED)
		mad[1] = TRIAD_MAD_CLASS_SUBNET_LID;
	mad[AT_METHOD] = TRIAD_MAD_METHOD_GET;
	put_number(mad + AT_ATTRIBUTE, 2, ATTRIBUTE_NODE_INFO);
	put_number(mad + AT_MODIFIER, 4, 0);
}

uint64_t sim_details_guid(const uint8_t *node_info)
{
	return get_number(node_info + AT_DATA + AT_NODE_GUID, 8);
}

static void reset_counters(struct node *node, unsigned port,
	enum triad_pma_attribute attribute, uint64_t select)
{
	struct triad_detail_reading *reading = find_reading(node, port, attribute);

	for (unsigned slot = 0; reading && slot < triad_detail_n_slots(attribute);
		slot++)
		if (select >> slot & 1)
			reading->raw[slot] = 0;
}

static void add_counters(struct node *node, unsigned port,
	enum triad_pma_attribute attribute, struct triad_detail_reading *sum)
{
	const struct triad_detail_reading *reading =
		find_reading(node, port, attribute);

	for (unsigned slot = 0; reading && slot < triad_detail_n_slots(attribute);
		slot++) {
		uint32_t most = triad_detail_max(triad_detail_field(attribute, slot));
		uint32_t room = most - sum->raw[slot];

		sum->raw[slot] += reading->raw[slot] < room ? reading->raw[slot] : room;
	}
}

static void encode_counters(uint8_t *data, enum triad_pma_attribute attribute,
	const struct triad_detail_reading *reading)
{
	for (unsigned slot = 0; slot < triad_detail_n_slots(attribute); slot++) {
		const struct triad_detail_field *field =
			triad_detail_field(attribute, slot);
		unsigned at = field->bit_offset + field->bits * (slot - field->slot);

		put_number(data + at / 8, field->bits / 8, reading->raw[slot]);
	}
}

static uint16_t refuse_request(
	const uint8_t *info, const uint8_t *mad, enum triad_pma_attribute attribute)
{
	bool is_switch = info[AT_NODE_TYPE] == TYPE_SWITCH;
	uint8_t port = triad_pma_port_select(mad);

	if (lab_mad_method(mad) != TRIAD_MAD_METHOD_GET &&
		lab_mad_method(mad) != TRIAD_MAD_METHOD_SET)
		return STATUS_METHOD_UNSUPPORTED;
	if (!is_switch && triad_detail_attribute(attribute)->is_of_switches)
		return STATUS_ATTRIBUTE_UNSUPPORTED;
	if (is_switch ? port > info[AT_N_PORTS] && port != TRIAD_PMA_ALL_PORTS
		      : port != info[AT_LOCAL_PORT])
		return STATUS_BAD_VALUE;
	return 0;
}

static bool has_speeds(enum triad_pma_attribute attribute)
{
	return attribute == TRIAD_PMA_EXT_SPEEDS ||
		attribute == TRIAD_PMA_EXT_SPEEDS_RSFEC;
}

/* The mask of the counters that a Set resets. */
static uint64_t selected_counters(uint8_t *data, enum triad_pma_attribute attribute)
{
	return has_speeds(attribute) ? get_number(data + AT_SPEEDS_COUNTER_SELECT, 8)
				     : get_number(data + AT_COUNTER_SELECT, 2);
}

void sim_details_answer(
	struct sim_details *details, const uint8_t *node_info, uint8_t *mad)
{
	const uint8_t *info = node_info + AT_DATA;
	struct node *node = find_node(details, sim_details_guid(node_info));
	enum triad_pma_attribute attribute = find_attribute(lab_mad_attribute(mad));
	uint16_t status = refuse_request(info, mad, attribute);
	uint8_t port = triad_pma_port_select(mad), *data = triad_pma_data(mad);
	bool sums_up = info[AT_NODE_TYPE] == TYPE_SWITCH && port == TRIAD_PMA_ALL_PORTS;
	unsigned first = sums_up ? 0 : port, last = sums_up ? info[AT_N_PORTS] : port;
	struct triad_detail_reading sum = {0};
	uint64_t select;

	if (has_speeds(attribute) && !(node && node->lacks_rsfec))
		attribute = TRIAD_PMA_EXT_SPEEDS_RSFEC;
	select = selected_counters(data, attribute);
	for (unsigned i = first; !status && i <= last; i++) {
		if (lab_mad_method(mad) == TRIAD_MAD_METHOD_SET)
			reset_counters(node, i, attribute, select);
		add_counters(node, i, attribute, &sum);
	}
	encode_counters(data, attribute, &sum);
	mad[AT_METHOD] = TRIAD_MAD_METHOD_GET_RESPONSE;
	put_number(mad + AT_STATUS, 2, status);
}

/* Puts a field that may begin and end within an octet. */
static void put_field(uint8_t *data, unsigned offset, unsigned bits, uint64_t value)
{
	for (unsigned i = 0; i < bits; i++) {
		unsigned at = offset + i;
		unsigned mask = 0x80u >> at % 8;

		if (value >> (bits - 1 - i) & 1)
			data[at / 8] |= (uint8_t)mask;
		else
			data[at / 8] &= (uint8_t)~mask;
	}
}

/* The counter of a port, or the sum over all. */
static uint64_t wide_value(const struct node *node, unsigned port, unsigned counter)
{
	uint64_t sum = 0;

	if (port != TRIAD_PMA_ALL_PORTS)
		return node->wide[port][counter];
	for (unsigned p = 0; p < TRIAD_PMA_ALL_PORTS; p++)
		sum += node->wide[p][counter];
	return sum;
}

/* Puts the counters of 64 bits into ibsim's answer.  In PortCounters, they stop at their
 * maximum; what ibsim has there stays if it is more. */
static void put_wide(const struct node *node, uint8_t *mad)
{
	uint8_t port = triad_pma_port_select(mad), *data = triad_pma_data(mad);

	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++) {
		const struct triad_counter_info *info = &triad_counters[i];
		uint64_t value = wide_value(node, port, i);
		uint64_t most = triad_counter_max(i);

		if (lab_mad_attribute(mad) == ATTRIBUTE_EXTENDED)
			put_field(data, info->wide_offset * 8u, 64, value);
		else if (value > triad_wire_bits(data, info->bit_offset, info->bits))
			put_field(data, info->bit_offset, info->bits,
				value < most ? value : most);
	}
}

void sim_details_complete(
	const struct sim_details *details, uint64_t guid, uint8_t *mad)
{
	const struct node *node = find_node(details, guid);
	bool has_wide_errors = node && node->wide;
	uint8_t *data = triad_pma_data(mad), *at = data + AT_CAPABILITIES;

	if (lab_mad_class(mad) != TRIAD_MAD_CLASS_PERFORMANCE)
		return;
	if (is_of_wide(mad)) {
		if (has_wide_errors)
			put_wide(node, mad);
		return;
	}
	if (lab_mad_attribute(mad) != ATTRIBUTE_CLASS_PORT_INFO)
		return;
	if (!node || !node->lacks_rsfec)
		put_number(at, 2, get_number(at, 2) | TRIAD_PMA_RSFEC);
	at = data + AT_CAPABILITIES_2;
	if (has_wide_errors)
		put_number(at, 4, get_number(at, 4) | WIDE_ERRORS);
}
