/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/extra.h"

#include <stdio.h>
#include <string.h>

#include "history/record.h"
#include "ib/detail.h"
#include "lib/fields.h"

#define EXTRA(member, n) TRIAD_FIELD(struct triad_extra, member, n)
#define EXTRA_FLAG(member, mask) TRIAD_FLAG(struct triad_extra, member, mask)
#define EXTRA_TEXT(member) TRIAD_TEXT(struct triad_extra, member)

/* --- tables --- */

static const struct triad_field place_fields[] = {
	EXTRA(node_guid, 8),
	EXTRA(port, 1),
	EXTRA_FLAG(is_gone, 0x1),
};

static const struct triad_field detail_fields[] = {
	EXTRA(is.detail.read_us, 8),
	EXTRA(is.detail.interval_us, 8),
	EXTRA(is.detail.n_own_resets, 4),
	EXTRA(is.detail.n_others_resets, 4),
	EXTRA(is.detail.saturated, 8),
};

static const struct triad_field ber_fields[] = {
	EXTRA(part, 1),
	EXTRA_FLAG(is.ber.is_known, 0x1),
	EXTRA(is.ber.verdict, 1),
	EXTRA(is.ber.target, 8),
	EXTRA(is.ber.estimate.ber, 8),
	EXTRA(is.ber.estimate.low, 8),
	EXTRA(is.ber.estimate.high, 8),
	EXTRA(is.ber.estimate.errors, 8),
	EXTRA(is.ber.estimate.bits, 8),
	EXTRA(is.ber.remaining_s, 8),
	EXTRA(is.ber.since_us, 8),
	EXTRA(is.ber.read_us, 8),
};

#define CABLE(member, n) EXTRA(is.cable.cable.member, n)
#define LANE(i) CABLE(rx[i], 2), CABLE(tx[i], 2), CABLE(bias[i], 2)
#define LIMITS(member)                                                                 \
	CABLE(member.high_alarm, 2), CABLE(member.low_alarm, 2),                       \
		CABLE(member.high_warning, 2), CABLE(member.low_warning, 2)

static const struct triad_field cable_fields[] = {
	EXTRA(is.cable.module, 1),
	EXTRA(is.cable.read_us, 8),
	CABLE(taken, 1),
	CABLE(lacking, 1),
	CABLE(identifier, 1),
	CABLE(technology, 1),
	CABLE(n_lanes, 1),
	EXTRA_FLAG(is.cable.cable.is_flat, 0x1),
	EXTRA_FLAG(is.cable.cable.is_separable, 0x2),
	EXTRA_FLAG(is.cable.cable.has_tx_power, 0x4),
	EXTRA_FLAG(is.cable.cable.has_rx_power, 0x8),
	EXTRA_FLAG(is.cable.cable.has_bias, 0x10),
	CABLE(bias_factor, 1),
	CABLE(length_dm, 2),
	EXTRA_TEXT(is.cable.cable.vendor),
	EXTRA_TEXT(is.cable.cable.part),
	EXTRA_TEXT(is.cable.cable.revision),
	EXTRA_TEXT(is.cable.cable.serial),
	EXTRA_TEXT(is.cable.cable.date),
	CABLE(oui, 4),
	CABLE(temperature, 2),
	CABLE(voltage, 2),
	LIMITS(temperature_limits),
	LIMITS(voltage_limits),
	LIMITS(rx_limits),
	LIMITS(tx_limits),
	LIMITS(bias_limits),
	LANE(0),
	LANE(1),
	LANE(2),
	LANE(3),
	LANE(4),
	LANE(5),
	LANE(6),
	LANE(7),
};

#define DEVICE(member, n) EXTRA(is.device.info.member, n)

static const struct triad_field device_fields[] = {
	EXTRA_FLAG(is.device.is_silent, 0x1),
	EXTRA_FLAG(is.device.refuses_cables, 0x2),
	EXTRA_FLAG(is.device.info.has_registers, 0x4),
	EXTRA(is.device.read_us, 8),
	DEVICE(reported, 1),
	DEVICE(refused, 1),
	DEVICE(device_id, 2),
	DEVICE(hardware_revision, 2),
	DEVICE(firmware[0], 4),
	DEVICE(firmware[1], 4),
	DEVICE(firmware[2], 4),
	DEVICE(uptime_s, 4),
	EXTRA_TEXT(is.device.info.psid),
	EXTRA_TEXT(is.device.info.serial),
	EXTRA_TEXT(is.device.info.part),
	EXTRA_TEXT(is.device.info.revision),
	EXTRA_TEXT(is.device.info.product),
	DEVICE(sensors_there, 8),
	DEVICE(fans_there, 2),
	DEVICE(fans_slow, 2),
	DEVICE(fans_fast, 2),
	DEVICE(n_sensors, 1),
	DEVICE(n_fans, 1),
	DEVICE(n_supplies, 1),
};

static const struct triad_field sensor_fields[] = {
	TRIAD_FIELD(struct triad_device_sensor, index, 1),
	TRIAD_TEXT(struct triad_device_sensor, name),
	TRIAD_FIELD(struct triad_device_sensor, now, 2),
	TRIAD_FIELD(struct triad_device_sensor, most, 2),
	TRIAD_FIELD(struct triad_device_sensor, limit, 2),
};

static const struct triad_field fan_fields[] = {
	TRIAD_FIELD(struct triad_device_fan, index, 1),
	TRIAD_FIELD(struct triad_device_fan, rpm, 2),
};

static const struct triad_field supply_fields[] = {
	TRIAD_FIELD(struct triad_device_supply, state, 1),
	TRIAD_FIELD(struct triad_device_supply, fan, 1),
	TRIAD_FIELD(struct triad_device_supply, watts, 4),
	TRIAD_TEXT(struct triad_device_supply, serial),
	TRIAD_TEXT(struct triad_device_supply, part),
};

/* --- times --- */

static void shift_times(struct triad_extra *extra, int64_t offset_us)
{
	if (extra->kind == TRIAD_EXTRA_DETAIL) {
		triad_history_shift(&extra->is.detail.read_us, offset_us);
	} else if (extra->kind == TRIAD_EXTRA_BER) {
		triad_history_shift(&extra->is.ber.since_us, offset_us);
		triad_history_shift(&extra->is.ber.read_us, offset_us);
	} else if (extra->kind == TRIAD_EXTRA_CABLE) {
		triad_history_shift(&extra->is.cable.read_us, offset_us);
	} else {
		triad_history_shift(&extra->is.device.read_us, offset_us);
	}
}

/* --- details --- */

/* Stores the attribute by name, because its number is valid only in this version. */
struct attribute {
	char name[40];
	uint8_t n; /* slots that are not 0 */
};

static const struct triad_field attribute_fields[] = {
	TRIAD_TEXT(struct attribute, name),
	TRIAD_FIELD(struct attribute, n, 1),
};

struct slot {
	uint8_t number;
	uint64_t total, change;
};

static const struct triad_field slot_fields[] = {
	TRIAD_FIELD(struct slot, number, 1),
	TRIAD_FIELD(struct slot, total, 8),
	TRIAD_FIELD(struct slot, change, 8),
};

static bool has_slot(const struct triad_detail_row *row, unsigned slot)
{
	return row->total[slot] || row->change[slot];
}

static void put_detail(struct triad_wire *wire, const struct triad_extra *extra)
{
	const struct triad_detail_row *row = &extra->is.detail;
	struct attribute attribute = {.n = 0};

	snprintf(attribute.name, sizeof(attribute.name), "%s",
		triad_detail_attribute(extra->part)->name);
	for (unsigned i = 0; i < TRIAD_DETAIL_MOST_SLOTS; i++)
		attribute.n = (uint8_t)(attribute.n + has_slot(row, i));
	TRIAD_FIELDS_PUT(wire, detail_fields, extra);
	TRIAD_FIELDS_PUT(wire, attribute_fields, &attribute);
	for (unsigned i = 0; i < TRIAD_DETAIL_MOST_SLOTS; i++) {
		const struct slot slot = {(uint8_t)i, row->total[i], row->change[i]};

		if (has_slot(row, i))
			TRIAD_FIELDS_PUT(wire, slot_fields, &slot);
	}
}

static bool find_attribute(const char *name, uint8_t *found)
{
	for (unsigned i = TRIAD_PMA_FIRST_DETAIL; i < TRIAD_PMA_N_ATTRIBUTES; i++) {
		const struct triad_detail_attribute *attribute =
			triad_detail_attribute(i);

		if (!attribute || strcmp(attribute->name, name) != 0)
			continue;
		*found = (uint8_t)i;
		return true;
	}
	return false;
}

static bool get_detail(struct triad_wire *wire, struct triad_extra *extra)
{
	struct triad_detail_row *row = &extra->is.detail;
	struct attribute attribute;
	struct slot slot;
	unsigned n_slots;

	TRIAD_FIELDS_GET(wire, detail_fields, extra);
	TRIAD_FIELDS_GET(wire, attribute_fields, &attribute);
	if (wire->failed || !find_attribute(attribute.name, &extra->part))
		return false;
	n_slots = triad_detail_n_slots(extra->part);
	for (unsigned i = 0; i < attribute.n && !wire->failed; i++) {
		TRIAD_FIELDS_GET(wire, slot_fields, &slot);
		if (slot.number >= n_slots)
			return false;
		row->total[slot.number] = slot.total;
		row->change[slot.number] = slot.change;
	}
	row->saturated &= (UINT64_C(1) << n_slots) - 1;
	return true;
}

/* --- devices --- */

static void put_device(struct triad_wire *wire, const struct triad_extra *extra)
{
	const struct triad_device_info *info = &extra->is.device.info;

	TRIAD_FIELDS_PUT(wire, device_fields, extra);
	for (unsigned i = 0; i < info->n_sensors; i++)
		TRIAD_FIELDS_PUT(wire, sensor_fields, &info->sensors[i]);
	for (unsigned i = 0; i < info->n_fans; i++)
		TRIAD_FIELDS_PUT(wire, fan_fields, &info->fans[i]);
	for (unsigned i = 0; i < info->n_supplies; i++)
		TRIAD_FIELDS_PUT(wire, supply_fields, &info->supplies[i]);
}

/* Makes the text printable, as ib/device_info.h promises. */
static void clean(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

static bool get_device(struct triad_wire *wire, struct triad_extra *extra)
{
	struct triad_device_info *info = &extra->is.device.info;

	TRIAD_FIELDS_GET(wire, device_fields, extra);
	if (wire->failed || info->n_sensors > TRIAD_DEVICE_MAX_SENSORS ||
		info->n_fans > TRIAD_DEVICE_MAX_FANS ||
		info->n_supplies > TRIAD_DEVICE_MAX_SUPPLIES)
		return false;
	for (unsigned i = 0; i < info->n_sensors; i++) {
		TRIAD_FIELDS_GET(wire, sensor_fields, &info->sensors[i]);
		clean(info->sensors[i].name);
	}
	for (unsigned i = 0; i < info->n_fans; i++) {
		TRIAD_FIELDS_GET(wire, fan_fields, &info->fans[i]);
		/* Check the index, which is used as the number of a bit. */
		if (info->fans[i].index >= TRIAD_DEVICE_MAX_FANS)
			return false;
	}
	for (unsigned i = 0; i < info->n_supplies; i++) {
		TRIAD_FIELDS_GET(wire, supply_fields, &info->supplies[i]);
		clean(info->supplies[i].serial);
		clean(info->supplies[i].part);
	}
	clean(info->psid);
	clean(info->serial);
	clean(info->part);
	clean(info->revision);
	clean(info->product);
	return true;
}

/* --- cables --- */

static bool get_cable(struct triad_wire *wire, struct triad_extra *extra)
{
	struct triad_cable *cable = &extra->is.cable.cable;

	TRIAD_FIELDS_GET(wire, cable_fields, extra);
	clean(cable->vendor);
	clean(cable->part);
	clean(cable->revision);
	clean(cable->serial);
	clean(cable->date);
	return !wire->failed && extra->is.cable.module <= TRIAD_MODULE_KNOWN &&
		cable->n_lanes <= TRIAD_CABLE_MAX_LANES;
}

/* --- records --- */

size_t triad_extra_put(uint8_t octets[TRIAD_EXTRA_SIZE],
	const struct triad_extra *extra, int64_t offset_us)
{
	struct triad_extra copy = *extra;
	struct triad_wire wire;
	size_t size;

	shift_times(&copy, offset_us);
	triad_wire_init(&wire, octets, TRIAD_EXTRA_SIZE);
	triad_wire_put(&wire, 1, extra->kind);
	triad_wire_put(&wire, 2, 0);
	TRIAD_FIELDS_PUT(&wire, place_fields, &copy);
	if (extra->kind == TRIAD_EXTRA_DETAIL)
		put_detail(&wire, &copy);
	else if (extra->kind == TRIAD_EXTRA_BER)
		TRIAD_FIELDS_PUT(&wire, ber_fields, &copy);
	else if (extra->kind == TRIAD_EXTRA_CABLE)
		TRIAD_FIELDS_PUT(&wire, cable_fields, &copy);
	else
		put_device(&wire, &copy);
	size = wire.at;
	triad_wire_seek(&wire, 1);
	triad_wire_put(&wire, 2, size - TRIAD_EXTRA_HEADER_SIZE);
	return size;
}

size_t triad_extra_size(const uint8_t *octets)
{
	size_t size = TRIAD_EXTRA_HEADER_SIZE + ((size_t)octets[1] << 8 | octets[2]);

	return octets[0] && size <= TRIAD_EXTRA_SIZE ? size : 0;
}

bool triad_extra_get(const uint8_t *octets, size_t size, struct triad_extra *extra,
	int64_t offset_us)
{
	/* It is only read. */
	struct triad_wire wire = {.start = (uint8_t *)octets, .size = size};
	bool is_good = false;

	memset(extra, 0, sizeof(*extra));
	extra->kind = triad_wire_get8(&wire);
	triad_wire_seek(&wire, TRIAD_EXTRA_HEADER_SIZE);
	TRIAD_FIELDS_GET(&wire, place_fields, extra);
	if (extra->kind == TRIAD_EXTRA_DETAIL)
		is_good = get_detail(&wire, extra);
	else if (extra->kind == TRIAD_EXTRA_CABLE)
		is_good = get_cable(&wire, extra);
	else if (extra->kind == TRIAD_EXTRA_DEVICE)
		is_good = get_device(&wire, extra);
	else if (extra->kind == TRIAD_EXTRA_BER) {
		TRIAD_FIELDS_GET(&wire, ber_fields, extra);
		is_good = extra->part < TRIAD_BER_N_KINDS &&
			extra->is.ber.verdict <= TRIAD_BER_WORSE;
	}
	shift_times(extra, -offset_us);
	return is_good && !wire.failed;
}
