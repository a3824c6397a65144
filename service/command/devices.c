/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'devices': data of switches and HCAs about themselves; see ib/device_info.h. */
#include "service/command/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "service/command/format.h"
#include "service/command/hardware.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"

#define FIRMWARE_SIZE 40
/* Devices with another version are named up to this number. */
#define MAX_NAMED 8

/* Devices of one kind with one firmware. */
struct version {
	char psid[17], part[21], firmware[FIRMWARE_SIZE];
	uint32_t n;
	bool is_most; /* no other version of this kind has more devices */
	uint32_t nodes[MAX_NAMED];
};

struct devices {
	const struct triad_command *command;
	struct triad_moment moment;
	struct triad_node_choice choice;
	struct triad_list list;
	uint32_t n_wanted, n_rows;
	struct version *versions;
	size_t n_versions, room;
	bool is_short; /* of memory */
};

static void format_firmware(
	const struct triad_device_info *info, char text[FIRMWARE_SIZE])
{
	snprintf(text, FIRMWARE_SIZE, "%u.%u.%04u", info->firmware[0],
		info->firmware[1], info->firmware[2]);
}

static bool is_answered(
	const struct triad_device_info *info, enum triad_device_part part)
{
	return info->reported >> part & 1;
}

/* --- JSON --- */

static void put_sensors(struct triad_json *json, const struct triad_device_info *info)
{
	triad_json_array_begin(json, "sensors");
	for (unsigned i = 0; i < info->n_sensors; i++) {
		const struct triad_device_sensor *sensor = &info->sensors[i];

		triad_json_object_begin(json, NULL);
		triad_json_uint(json, "sensor", sensor->index);
		triad_json_string(json, "name", sensor->name);
		triad_json_double(json, "temperature_c", sensor->now / 8.0);
		triad_json_double(
			json, "highest_c", sensor->most ? sensor->most / 8.0 : NAN);
		triad_json_double(
			json, "threshold_c", sensor->limit ? sensor->limit / 8.0 : NAN);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static void put_fans(struct triad_json *json, const struct triad_device_info *info)
{
	triad_json_array_begin(json, "fans");
	for (unsigned i = 0; i < info->n_fans; i++) {
		triad_json_object_begin(json, NULL);
		triad_json_uint(json, "fan", info->fans[i].index);
		triad_json_uint(json, "rpm", info->fans[i].rpm);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

/* Fans out of their range, as an array of their numbers. */
static void put_fan_numbers(struct triad_json *json, const char *name, unsigned fans)
{
	triad_json_array_begin(json, name);
	for (; fans; fans &= fans - 1)
		triad_json_uint(json, NULL, (unsigned)__builtin_ctz(fans));
	triad_json_array_end(json);
}

static void put_supplies(struct triad_json *json, const struct triad_device_info *info)
{
	triad_json_array_begin(json, "power_supplies");
	for (unsigned i = 0; i < info->n_supplies; i++) {
		const struct triad_device_supply *supply = &info->supplies[i];

		triad_json_object_begin(json, NULL);
		triad_json_uint(json, "supply", i);
		triad_json_string(
			json, "status", triad_device_supply_name(supply->state));
		triad_json_string(
			json, "fan_status", triad_device_supply_name(supply->fan));
		triad_json_double(json, "watts", supply->watts ? supply->watts : NAN);
		triad_json_string(json, "part", supply->part);
		triad_json_string(json, "serial", supply->serial);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static void put_refused(struct triad_json *json, const struct triad_device_known *known)
{
	triad_json_array_begin(json, "refused");
	for (unsigned i = 0; i < TRIAD_DEVICE_N_PARTS; i++)
		if (known->info.refused >> i & 1)
			triad_json_string(json, NULL, triad_device_part_name(i));
	if (known->refuses_cables)
		triad_json_string(json, NULL, "CableInfo");
	triad_json_array_end(json);
}

static void put_device_json(
	struct triad_json *json, const struct triad_device_known *known)
{
	const struct triad_device_info *info = &known->info;
	bool is_known = is_answered(info, TRIAD_DEVICE_GENERAL);

	triad_json_string(json, "product", info->product);
	triad_json_string(json, "revision", info->revision);
	triad_json_double(json, "device_id", is_known ? info->device_id : NAN);
	triad_json_double(
		json, "hardware_revision", is_known ? info->hardware_revision : NAN);
	triad_json_double(json, "uptime_s", is_known ? info->uptime_s : NAN);
	put_sensors(json, info);
	put_fans(json, info);
	put_fan_numbers(json, "fans_below_limit", info->fans_slow);
	put_fan_numbers(json, "fans_above_limit", info->fans_fast);
	put_supplies(json, info);
	put_refused(json, known);
}

/* --- a row --- */

/* The hottest sensor. */
static void put_temperature(
	struct triad_list *list, const struct triad_device_info *info)
{
	int hottest = INT16_MIN;

	for (unsigned i = 0; i < info->n_sensors; i++)
		if (info->sensors[i].now > hottest)
			hottest = info->sensors[i].now;
	triad_list_real(list, "temperature_c", "C", 5,
		info->n_sensors ? hottest / 8.0 : NAN, "%.1f", hottest / 8.0);
}

static void put_count(
	struct triad_list *list, const char *title, unsigned n_good, unsigned n)
{
	if (n)
		triad_list_format(list, title, -5, "%u/%u", n_good, n);
	else
		triad_list_format(list, title, -5, "-");
}

static void put_fan_count(struct triad_list *list, const struct triad_device_info *info)
{
	unsigned n = 0, out_of_range = info->fans_slow | info->fans_fast;

	for (unsigned i = 0; i < info->n_fans; i++)
		n += info->fans[i].rpm && !(out_of_range >> info->fans[i].index & 1);
	put_count(list, "fans", n, info->n_fans);
}

static void put_supply_count(
	struct triad_list *list, const struct triad_device_info *info)
{
	unsigned n_good = 0, n = 0;

	for (unsigned i = 0; i < info->n_supplies; i++) {
		n_good += info->supplies[i].state == TRIAD_SUPPLY_OK;
		n += info->supplies[i].state != TRIAD_SUPPLY_ABSENT;
	}
	put_count(list, "power", n_good, n);
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

static void put_device(struct triad_list *list, const struct triad_fabric_node *node,
	const struct triad_device_known *known)
{
	const struct triad_device_info *info = &known->info;
	char firmware[FIRMWARE_SIZE] = "", text[TRIAD_CLOCK_TEXT_SIZE];

	if (is_answered(info, TRIAD_DEVICE_GENERAL))
		format_firmware(info, firmware);
	triad_list_row(list);
	triad_list_node(list, "node_name", "node", TRIAD_LIST_LONG, node);
	triad_list_guid(list, "node_guid", NULL, node->guid);
	triad_list_text(list, "node_type", NULL, 0, triad_node_type_name(node->type));
	triad_list_text(list, "state", NULL, 0,
		known->is_silent         ? "silent"
			: known->read_us ? "told"
			: info->refused  ? "refused"
					 : "unread");
	triad_list_text(list, "firmware", "firmware", -12,
		known->is_silent ? "silent" : text_or_null(firmware));
	list->next.is_spare = true;
	triad_list_text(list, "psid", "PSID", -13, text_or_null(info->psid));
	triad_list_text(list, "part", "part", -14, text_or_null(info->part));
	triad_list_text(list, "serial", "serial", -13, text_or_null(info->serial));
	put_temperature(list, info);
	put_fan_count(list, info);
	put_supply_count(list, info);
	triad_list_text(list, "last_read", NULL, 0,
		triad_command_format_time(known->read_us, text));
	if (triad_list_json(list))
		put_device_json(triad_list_json(list), known);
	triad_list_row_end(list);
}

/* --- versions --- */

static struct version *find_version(struct devices *devices,
	const struct triad_device_info *info, const char *firmware)
{
	for (size_t i = 0; i < devices->n_versions; i++) {
		struct version *version = &devices->versions[i];

		if (!strcmp(version->psid, info->psid) &&
			!strcmp(version->firmware, firmware))
			return version;
	}
	return NULL;
}

/* Counts a device under its version; there is room for as many versions as devices. */
static void count_version(
	struct devices *devices, uint32_t node, const struct triad_device_info *info)
{
	char firmware[FIRMWARE_SIZE];
	struct version *version;

	if (!is_answered(info, TRIAD_DEVICE_GENERAL))
		return;
	format_firmware(info, firmware);
	version = find_version(devices, info, firmware);
	if (!version) {
		if (triad_grow(&devices->versions, &devices->room,
			    devices->n_versions + 1, sizeof(*version), 16)) {
			devices->is_short = true;
			return;
		}
		version = &devices->versions[devices->n_versions++];
		*version = (struct version){0};
		memcpy(version->psid, info->psid, sizeof(version->psid));
		memcpy(version->part, info->part, sizeof(version->part));
		memcpy(version->firmware, firmware, sizeof(firmware));
	}
	if (version->n < MAX_NAMED)
		version->nodes[version->n] = node;
	version->n++;
}

/* Orders versions by kind; within a kind the most frequent version comes first. */
static int compare_versions(const void *a, const void *b)
{
	const struct version *left = a, *right = b;
	int order = strcmp(left->psid, right->psid);

	if (order)
		return order;
	if (left->n != right->n)
		return left->n > right->n ? -1 : 1;
	return strcmp(left->firmware, right->firmware);
}

static void put_names(struct triad_list *list, const struct version *version,
	const struct triad_fabric *fabric)
{
	struct triad_json *json = triad_list_json(list);
	struct triad_node_label first =
		triad_node_label(&fabric->nodes[version->nodes[0]]);

	if (version->is_most)
		triad_list_text(list, NULL, "differ", 0, "");
	else if (version->n == 1)
		triad_list_text(list, NULL, "differ", 0, first.text);
	else
		triad_list_format(list, "differ", 0, "%s and %u more", first.text,
			version->n - 1);
	if (!json)
		return;
	triad_json_bool(json, "is_most", version->is_most);
	triad_json_array_begin(json, "nodes");
	for (uint32_t i = 0; i < version->n && i < MAX_NAMED; i++)
		triad_json_string(json, NULL, fabric->nodes[version->nodes[i]].name);
	triad_json_array_end(json);
}

static void put_versions(struct devices *devices)
{
	struct triad_list *list = &devices->list;

	if (devices->n_versions)
		qsort(devices->versions, devices->n_versions,
			sizeof(*devices->versions), compare_versions);
	for (size_t i = 0; i < devices->n_versions; i++) {
		struct version *version = &devices->versions[i];

		version->is_most = !i || strcmp(version[-1].psid, version->psid) != 0;
		triad_list_row(list);
		triad_list_text(list, "psid", "PSID", -16, text_or_null(version->psid));
		triad_list_text(list, "part", "part", -16, text_or_null(version->part));
		triad_list_text(list, "firmware", "firmware", -14, version->firmware);
		triad_list_uint(list, "devices", "devices", 7, version->n);
		put_names(list, version, devices->moment.view->fabric);
		triad_list_row_end(list);
	}
	devices->n_rows = (uint32_t)devices->n_versions;
}

/* --- nodes --- */

static void put_node(struct devices *devices, uint32_t at)
{
	const struct triad_fabric_node *node = &devices->moment.view->fabric->nodes[at];
	struct triad_device_known known;

	if ((devices->choice.type && node->type != devices->choice.type) ||
		!triad_node_choice_has(&devices->choice, node->name, node->guid))
		return;
	devices->n_wanted++;
	if (!triad_moment_read_device(&devices->moment, node->guid, &known))
		return;
	if (devices->command->firmware)
		count_version(devices, at, &known.info);
	else if (known.is_silent || known.read_us || devices->command->json) {
		if (devices->n_rows++ < devices->command->limit)
			put_device(&devices->list, node, &known);
	}
}

static int show_devices(struct devices *devices, struct triad_output *output)
{
	struct triad_report report = {
		.output = output, .as_json = devices->command->json};

	devices->list = (struct triad_list){.report = &report};
	triad_report_array(&report, NULL);
	for (uint32_t i = 0;
		i < devices->moment.view->fabric->n_nodes && !output->failed; i++)
		put_node(devices, i);
	if (devices->command->firmware)
		put_versions(devices);
	triad_report_array_end(&report);
	if (!devices->n_wanted)
		return triad_command_print_choice("devices", &devices->choice,
			devices->moment.view->fabric, output);
	if (devices->is_short) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"devices: not enough memory for all versions\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (devices->command->json)
		return TRIAD_CONTROL_DONE;
	if (!devices->command->firmware && devices->n_rows > devices->command->limit)
		triad_command_put_left_out(output,
			devices->n_rows - (uint32_t)devices->command->limit,
			devices->n_rows, "more");
	if (!devices->n_rows)
		triad_command_no_devices(&devices->moment, output);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_devices(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct devices devices = {.command = command};
	int status = TRIAD_CONTROL_FAILED;

	if (!triad_moment_open(&devices.moment, service, command, output))
		return TRIAD_CONTROL_FAILED;
	if (triad_command_has_devices(&devices.moment, TRIAD_EXTRA_DEVICE, output) &&
		triad_command_choose_there(command, devices.moment.view->fabric,
			"devices", &devices.choice, output))
		status = show_devices(&devices, output);
	free(devices.versions);
	triad_moment_close(&devices.moment);
	return status;
}
