/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/sim_quirks.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/lab/umad_wire.h"

#define CLASS_PERFORMANCE 0x04
#define N_PORTS 256
#define DESCRIPTION_SIZE 64

enum {
	ATTRIBUTE_CLASS_PORT_INFO = 0x01,
	ATTRIBUTE_NODE_DESCRIPTION = 0x10,
	ATTRIBUTE_COUNTERS = 0x12,
	ATTRIBUTE_PORT_INFO = 0x15,
	ATTRIBUTE_EXTENDED = 0x1d,
};

/* Octets into the MAD. */
enum {
	AT_STATUS = 4,
	AT_MODIFIER = 20,
	AT_DATA = 64,
	AT_CAPABILITIES = AT_DATA + 2,
	AT_PORT_SELECT = AT_DATA + 1,
	AT_PORT_STATE = AT_DATA + 32,
	AT_PHYS_STATE = AT_DATA + 33,
};

#define WIDE 0x06 /* of the upper octet of CapabilityMask */
#define ALL_PORTS 0xff
#define STATUS_BUSY 1
#define STATUS_ATTRIBUTE_UNSUPPORTED (3 << 2)
#define STATUS_BAD_VALUE (7 << 2)
#define STATE_DOWN 1
#define PHYS_TRAINING 4

enum quirk {
	SILENT = 1,
	BUSY = 2,
	NARROW = 4,
	REFUSE_EXTENDED = 8,
	REFUSE_SUMS = 16,
	ZERO_SUMS = 32,
	OTHER_PORT = 64,
	OTHER_LID = 128,
	TRAINING = 256,
	REFUSE = 512,
	WRONG_SUMS = 1024,
};

static const struct {
	const char *name;
	enum quirk quirk;
} names[] = {
	{"silent", SILENT},
	{"busy", BUSY},
	{"narrow", NARROW},
	{"refuse", REFUSE},
	{"refuse-extended", REFUSE_EXTENDED},
	{"refuse-sums", REFUSE_SUMS},
	{"wrong-sums", WRONG_SUMS},
	{"zero-sums", ZERO_SUMS},
	{"other-port", OTHER_PORT},
	{"training", TRAINING},
	{"none", 0},
};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

struct node {
	struct node *next;
	uint64_t guid;
	unsigned quirks;
	uint16_t lid;
	bool trains[N_PORTS];
	bool has_description;
	uint8_t description[DESCRIPTION_SIZE];
};

struct sim_quirks {
	struct node *nodes;
};

struct sim_quirks *sim_quirks_new(void)
{
	return calloc(1, sizeof(struct sim_quirks));
}

static struct node *find_node(const struct sim_quirks *quirks, uint64_t guid)
{
	struct node *node = quirks->nodes;

	while (node && node->guid != guid)
		node = node->next;
	return node;
}

static struct node *make_node(struct sim_quirks *quirks, uint64_t guid)
{
	struct node *node = find_node(quirks, guid);

	if (node)
		return node;
	node = calloc(1, sizeof(*node));
	if (node) {
		node->guid = guid;
		node->next = quirks->nodes;
		quirks->nodes = node;
	}
	return node;
}

/* --- commands --- */

static bool read_hex(const char *text, struct sim_quirk_setting *setting)
{
	unsigned octet;

	for (; *text && setting->at + setting->n < DESCRIPTION_SIZE; text += 2) {
		if (sscanf(text, "%2x", &octet) != 1 || !text[1])
			return false;
		setting->octets[setting->n++] = (uint8_t)octet;
	}
	return !*text;
}

static bool parse_description(const char *line, struct sim_quirk_setting *setting)
{
	char command[16], hex[2 * DESCRIPTION_SIZE + 1] = "", more;
	int n = sscanf(line, " %15s \"%64[^\"]\" %u=%128s %c", command, setting->node,
		&setting->at, hex, &more);

	setting->is_description = true;
	return n >= 3 && n <= 4 && strcasecmp(command, "Description") == 0 &&
		setting->at <= DESCRIPTION_SIZE && read_hex(hex, setting);
}

static bool parse_name(const char *name, struct sim_quirk_setting *setting)
{
	if (sscanf(name, "lid=%hu", &setting->lid) == 1) {
		setting->quirk = OTHER_LID;
		return true;
	}
	for (unsigned i = 0; i < N_NAMES; i++)
		if (strcasecmp(name, names[i].name) == 0) {
			setting->quirk = names[i].quirk;
			return (setting->quirk == TRAINING) == (setting->port > 0);
		}
	return false;
}

bool sim_quirks_parse(const char *line, struct sim_quirk_setting *setting)
{
	char command[16], name[24], more;

	memset(setting, 0, sizeof(*setting));
	if (parse_description(line, setting))
		return true;
	memset(setting, 0, sizeof(*setting));
	if (sscanf(line, " %15s \"%64[^\"]\" %23s %c", command, setting->node, name,
		    &more) != 3 &&
		sscanf(line, " %15s \"%64[^\"]\"[%i] %23s %c", command, setting->node,
			&setting->port, name, &more) != 4)
		return false;
	return strcasecmp(command, "Quirk") == 0 && setting->port >= 0 &&
		setting->port < N_PORTS && parse_name(name, setting);
}

static void set_description(struct node *node, const struct sim_quirk_setting *setting)
{
	node->has_description = true;
	memset(node->description + setting->at, 0, DESCRIPTION_SIZE - setting->at);
	memcpy(node->description + setting->at, setting->octets, setting->n);
}

static void set_quirk(struct node *node, const struct sim_quirk_setting *setting)
{
	if (setting->quirk == TRAINING)
		node->trains[setting->port] = true;
	else if (setting->quirk)
		node->quirks |= setting->quirk;
	else
		node->quirks = 0;
	if (!setting->quirk)
		memset(node->trains, 0, sizeof(node->trains));
	if (setting->quirk == OTHER_LID)
		node->lid = setting->lid;
}

void sim_quirks_set(struct sim_quirks *quirks, const struct sim_quirk_setting *setting,
	const char *dump, char *answer, size_t size)
{
	struct sim_dumped_node dumped;
	struct node *node;

	if (!sim_dump_read(dump, setting->node, setting->port, &dumped, answer, size))
		return;
	node = make_node(quirks, dumped.guid);
	if (!node) {
		snprintf(answer, size, "# no memory\n");
		return;
	}
	if (setting->is_description)
		set_description(node, setting);
	else
		set_quirk(node, setting);
	snprintf(answer, size, "%s has been set\n", dumped.name);
}

/* --- responses --- */

static bool is_smp(const uint8_t *mad, unsigned attribute)
{
	return lab_class_is_smi(lab_mad_class(mad)) &&
		lab_mad_attribute(mad) == attribute;
}

bool sim_quirks_is_half_request(const struct sim_quirks *quirks, const uint8_t *mad)
{
	return quirks->nodes && !lab_mad_is_response(mad) &&
		(lab_mad_class(mad) == CLASS_PERFORMANCE ||
			is_smp(mad, ATTRIBUTE_NODE_DESCRIPTION) ||
			is_smp(mad, ATTRIBUTE_PORT_INFO));
}

static void refuse(uint8_t *mad, unsigned status)
{
	mad[AT_STATUS] = 0;
	mad[AT_STATUS + 1] = (uint8_t)status;
}

static void complete_counters(const struct node *node, uint8_t *mad)
{
	bool is_sum = mad[AT_PORT_SELECT] == ALL_PORTS;

	if (node->quirks & REFUSE ||
		(lab_mad_attribute(mad) == ATTRIBUTE_EXTENDED &&
			node->quirks & (NARROW | REFUSE_EXTENDED)))
		refuse(mad, STATUS_ATTRIBUTE_UNSUPPORTED);
	if (is_sum && node->quirks & REFUSE_SUMS)
		refuse(mad, STATUS_BAD_VALUE);
	if (is_sum && node->quirks & ZERO_SUMS)
		memset(mad + AT_DATA + 4, 0, LAB_MAD_SIZE - AT_DATA - 4);
	if (is_sum && node->quirks & WRONG_SUMS)
		mad[AT_PORT_SELECT] = 0;
	if (node->quirks & OTHER_PORT)
		mad[AT_PORT_SELECT]++;
}

static bool complete_performance(const struct node *node, struct lab_packet *packet)
{
	uint8_t *mad = packet->mad;

	if (node->quirks & SILENT)
		return false;
	if (node->quirks & OTHER_LID)
		packet->slid = htons(node->lid);
	if (node->quirks & BUSY)
		refuse(mad, STATUS_BUSY);
	else if (lab_mad_attribute(mad) != ATTRIBUTE_CLASS_PORT_INFO)
		complete_counters(node, mad);
	else if (node->quirks & NARROW)
		mad[AT_CAPABILITIES] &= (uint8_t)~WIDE;
	return true;
}

bool sim_quirks_complete(const struct sim_quirks *quirks, const uint8_t *node_info,
	struct lab_packet *packet)
{
	const struct node *node = find_node(quirks, sim_details_guid(node_info));
	uint8_t *mad = packet->mad;

	if (!node || !lab_mad_is_response(mad))
		return true;
	if (lab_mad_class(mad) == CLASS_PERFORMANCE)
		return complete_performance(node, packet);
	if (is_smp(mad, ATTRIBUTE_NODE_DESCRIPTION) && node->has_description)
		memcpy(mad + AT_DATA, node->description, DESCRIPTION_SIZE);
	if (is_smp(mad, ATTRIBUTE_PORT_INFO) && node->trains[mad[AT_MODIFIER + 3]] &&
		(mad[AT_PORT_STATE] & 0xf) == STATE_DOWN)
		mad[AT_PHYS_STATE] =
			(uint8_t)(PHYS_TRAINING << 4 | (mad[AT_PHYS_STATE] & 0xf));
	return true;
}
