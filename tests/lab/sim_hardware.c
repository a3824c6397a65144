/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/sim_hardware.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/lab/umad_mad.h"

#define CLASS_VENDOR 0x0a
#define ATTRIBUTE_CABLE_INFO 0xff60
#define ATTRIBUTE_GENERAL_INFO 0x17
#define ATTRIBUTE_ACCESS_REGISTER 0x51
#define METHOD_GET 0x01
#define METHOD_GET_RESPONSE 0x81

#define N_PORTS 256
#define N_PAGES 256
#define PAGE_SIZE 128
#define REGISTER_SIZE 220
#define MOST_OCTETS 48

/* Status of responses: of the vendor's class; of CableInfo, in the upper octet. */
enum {
	STATUS_ATTRIBUTE_UNSUPPORTED = 3 << 2,
	STATUS_NO_REGISTER = 5 << 2,
	STATUS_NOT_CONNECTED = 3 << 8,
	STATUS_NO_PAGE = 5 << 8,
	STATUS_BAD_ADDRESS = 6 << 8,
};

enum {
	AT_STATUS = 4,
	AT_MODIFIER = 20,
	AT_GENERAL = 32,
	AT_REGISTER = 36,
	AT_DATA = 64
};

struct module {
	bool is_empty;
	uint8_t lower[PAGE_SIZE];
	uint8_t *pages[N_PAGES]; /* NULL: the module has no such page */
};

struct device_register {
	struct device_register *next;
	unsigned number, index;
	uint8_t octets[REGISTER_SIZE];
};

struct node {
	struct node *next;
	uint64_t guid;
	unsigned n_asked;
	bool has_cables;
	struct module *modules[N_PORTS];
	struct device_register *registers;
};

struct sim_hardware {
	struct node *nodes;
};

struct sim_hardware *sim_hardware_new(void)
{
	return calloc(1, sizeof(struct sim_hardware));
}

static struct node *find_node(struct sim_hardware *hardware, uint64_t guid)
{
	struct node *node = hardware->nodes;

	while (node && node->guid != guid)
		node = node->next;
	if (node)
		return node;
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	node->guid = guid;
	node->next = hardware->nodes;
	hardware->nodes = node;
	return node;
}

/* --- commands --- */

static bool parse_octets(const char *text, struct sim_hardware_setting *setting)
{
	for (setting->n = 0; *text; text += 2, setting->n++) {
		unsigned octet;

		if (setting->n == sizeof(setting->octets) ||
			sscanf(text, "%2x", &octet) != 1 || !text[1])
			return false;
		setting->octets[setting->n] = (uint8_t)octet;
	}
	return setting->n;
}

static bool parse_number(const char *text, unsigned *number)
{
	char *end;

	*number = 0;
	if (strcasecmp(text, "GeneralInfo") == 0)
		return true;
	*number = (unsigned)strtoul(text, &end, 0);
	return end != text && *end == '\0';
}

bool sim_hardware_parse(const char *line, struct sim_hardware_setting *setting)
{
	char command[16], what[24], octets[132], more;
	int n;

	memset(setting, 0, sizeof(*setting));
	if (sscanf(line, " %15s \"%64[^\"]\" %c", command, setting->node, &more) == 2 &&
		strcasecmp(command, "Asked") == 0) {
		setting->kind = SIM_HARDWARE_ASKED;
		return true;
	}
	n = sscanf(line, " %15s \"%64[^\"]\"[%i] %23[^. \n] . %i = %131s %c", command,
		setting->node, &setting->port, what, (int *)&setting->at, octets,
		&more);
	if (n < 4 || setting->port < 0 || setting->port >= N_PORTS)
		return false;
	if (strcasecmp(command, "Register") == 0)
		setting->kind = SIM_HARDWARE_REGISTER;
	else if (strcasecmp(command, "Cable") != 0)
		return false;
	if (n == 4) {
		setting->is_empty = setting->kind == SIM_HARDWARE_CABLE &&
			strcasecmp(what, "empty") == 0;
		return setting->is_empty;
	}
	return n == 6 && parse_number(what, &setting->number) &&
		parse_octets(octets, setting);
}

static struct module *need_module(struct node *node, int port)
{
	if (!node->modules[port])
		node->modules[port] = calloc(1, sizeof(struct module));
	return node->modules[port];
}

static bool store_octets(
	struct module *module, const struct sim_hardware_setting *setting)
{
	if (setting->number >= N_PAGES || setting->at + setting->n > 2 * PAGE_SIZE)
		return false;
	if (!module->pages[setting->number])
		module->pages[setting->number] = calloc(1, PAGE_SIZE);
	if (!module->pages[setting->number])
		return false;
	for (unsigned i = 0; i < setting->n; i++) {
		unsigned at = setting->at + i;

		if (at < PAGE_SIZE)
			module->lower[at] = setting->octets[i];
		else
			module->pages[setting->number][at - PAGE_SIZE] =
				setting->octets[i];
	}
	return true;
}

static bool set_cable(struct node *node, const struct sim_hardware_setting *setting)
{
	struct module *module = need_module(node, setting->port);

	node->has_cables = true;
	if (!module)
		return false;
	module->is_empty = setting->is_empty;
	return setting->is_empty || store_octets(module, setting);
}

static struct device_register *find_register(
	struct node *node, unsigned number, unsigned index)
{
	struct device_register *found = node->registers;

	while (found && (found->number != number || found->index != index))
		found = found->next;
	return found;
}

static bool set_register(struct node *node, const struct sim_hardware_setting *setting)
{
	unsigned index = (unsigned)setting->port;
	struct device_register *found = find_register(node, setting->number, index);

	if (setting->at + setting->n > REGISTER_SIZE)
		return false;
	if (!found) {
		found = calloc(1, sizeof(*found));
		if (!found)
			return false;
		found->number = setting->number;
		found->index = index;
		found->next = node->registers;
		node->registers = found;
	}
	memcpy(found->octets + setting->at, setting->octets, setting->n);
	return true;
}

void sim_hardware_set(struct sim_hardware *hardware,
	const struct sim_hardware_setting *setting, const char *dump, char *answer,
	size_t size)
{
	struct sim_dumped_node dumped;
	struct node *node;
	bool is_set;

	if (!sim_dump_read(dump, setting->node, 0, &dumped, answer, size))
		return;
	node = find_node(hardware, dumped.guid);
	if (!node) {
		snprintf(answer, size, "# no memory\n");
		return;
	}
	if (setting->kind == SIM_HARDWARE_ASKED) {
		snprintf(answer, size, "%s was asked %u times\n", dumped.name,
			node->n_asked);
		return;
	}
	is_set = setting->kind == SIM_HARDWARE_CABLE ? set_cable(node, setting)
						     : set_register(node, setting);
	if (is_set)
		snprintf(answer, size, "%s[%d] has been set\n", dumped.name,
			setting->port);
	else
		snprintf(answer, size, "# these octets have no place\n");
}

/* --- requests --- */

bool sim_hardware_is_request(const uint8_t *mad)
{
	uint16_t attribute = lab_mad_attribute(mad);

	if (lab_mad_is_response(mad))
		return false;
	if (lab_mad_class(mad) == LAB_CLASS_SM_LID)
		return attribute == ATTRIBUTE_CABLE_INFO;
	return lab_mad_class(mad) == CLASS_VENDOR;
}

static unsigned get(const uint8_t *octets, unsigned n)
{
	unsigned value = 0;

	for (unsigned i = 0; i < n; i++)
		value = value << 8 | octets[i];
	return value;
}

static unsigned answer_cable(struct node *node, uint8_t *mad)
{
	unsigned port = get(mad + AT_MODIFIER, 4), page = mad[AT_DATA + 1];
	unsigned at = get(mad + AT_DATA + 2, 2), n = get(mad + AT_DATA + 6, 2);
	const struct module *module = port < N_PORTS ? node->modules[port] : NULL;

	if (!node->has_cables)
		return STATUS_ATTRIBUTE_UNSUPPORTED;
	if (!module || module->is_empty)
		return STATUS_NOT_CONNECTED;
	if (!n || n > MOST_OCTETS || at + n > 2 * PAGE_SIZE)
		return STATUS_BAD_ADDRESS;
	if (!module->pages[page])
		return STATUS_NO_PAGE;
	for (unsigned i = 0; i < n; i++)
		mad[AT_DATA + 16 + i] = at + i < PAGE_SIZE
			? module->lower[at + i]
			: module->pages[page][at + i - PAGE_SIZE];
	return 0;
}

static unsigned answer_register(struct node *node, uint8_t *mad)
{
	unsigned attribute = lab_mad_attribute(mad);
	unsigned number = get(mad + AT_MODIFIER, 4), index = 0;
	const struct device_register *found;

	if (!node->registers ||
		(attribute != ATTRIBUTE_GENERAL_INFO &&
			attribute != ATTRIBUTE_ACCESS_REGISTER))
		return STATUS_ATTRIBUTE_UNSUPPORTED;
	if (attribute == ATTRIBUTE_GENERAL_INFO)
		number = 0;
	else if (number == 0x900a) /* the index of a sensor */
		index = get(mad + AT_REGISTER, 4) & 0xfff;
	else if (number == 0x9003) /* the index of a fan */
		index = mad[AT_REGISTER];
	found = find_register(node, number, index);
	if (!found)
		return STATUS_NO_REGISTER;
	memcpy(mad + (number ? AT_REGISTER : AT_GENERAL), found->octets, REGISTER_SIZE);
	return 0;
}

void sim_hardware_answer(
	struct sim_hardware *hardware, const uint8_t *node_info, uint8_t *mad)
{
	struct node *node = find_node(hardware, sim_details_guid(node_info));
	unsigned status = STATUS_ATTRIBUTE_UNSUPPORTED;

	if (node)
		node->n_asked++;
	if (node && lab_mad_method(mad) == METHOD_GET)
		status = lab_mad_class(mad) == CLASS_VENDOR ? answer_register(node, mad)
							    : answer_cable(node, mad);
	mad[3] = METHOD_GET_RESPONSE;
	mad[AT_STATUS] = (uint8_t)(status >> 8);
	mad[AT_STATUS + 1] = (uint8_t)status;
}
