/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/device_info.h"

#include <string.h>

#include "ib/mad_get.h"
#include "triad/wire.h"

/* Offsets in a MAD of this class: the vendor's key, then the attribute's data. */
enum {
	AT_STATUS = 4,
	AT_ATTRIBUTE = 16,
	AT_GENERAL = 32,
	AT_REGISTER = 36, /* after the number of the block, which is 0 */
};

/* In GeneralInfo: hardware, firmware, software, capabilities. */
enum {
	HW_REVISION = 0x00,
	HW_DEVICE_ID = 0x02,
	HW_UPTIME = 0x1c,
	FW_MAJOR = 0x21, /* one octet each, used where the longer ones are 0 */
	FW_PSID = 0x30,
	FW_EXTENDED_MAJOR = 0x44,
	CAPABILITIES = 0x80,
};
#define CAPABILITY_ACCESS_REGISTER (1u << 20)

enum { SUPPLY_SIZE = 0x50 };

static const struct part {
	const char *name;
	uint16_t number; /* of the register */
	bool is_static;  /* it does not change while the device runs */
} parts[TRIAD_DEVICE_N_PARTS] = {
	[TRIAD_DEVICE_GENERAL] = {"GeneralInfo", 0, false},
	[TRIAD_DEVICE_MSGI] = {"MSGI", 0x9021, true},
	[TRIAD_DEVICE_MTCAP] = {"MTCAP", 0x9009, true},
	[TRIAD_DEVICE_MTMP] = {"MTMP", 0x900a, false},
	[TRIAD_DEVICE_MFCR] = {"MFCR", 0x9001, true},
	[TRIAD_DEVICE_MFSM] = {"MFSM", 0x9003, false},
	[TRIAD_DEVICE_MSPS] = {"MSPS", 0x900d, false},
	[TRIAD_DEVICE_FORE] = {"FORE", 0x9007, false},
};

const char *triad_device_part_name(enum triad_device_part part)
{
	return parts[part].name;
}

/* All vendor IDs of Mellanox, and Voltaire's, whose devices have Mellanox chips. */
bool triad_device_is_known_vendor(uint32_t vendor_id)
{
	static const uint32_t known[] = {0x0002c9, 0xf45214, 0x00258b, 0xe41d2d,
		0x7cfe90, 0xec0d9a, 0x248a07, 0x506b4b, 0x98039b, 0x0008f1};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == vendor_id)
			return true;
	return false;
}

/* --- what is asked --- */

/* The indices of a part, as bits; a part without indices is asked once. */
static uint64_t indices(
	const struct triad_device_info *info, enum triad_device_part part)
{
	if (part == TRIAD_DEVICE_MTMP)
		return info->sensors_there;
	if (part == TRIAD_DEVICE_MFSM)
		return info->fans_there;
	return 1;
}

static bool is_asked(const struct triad_device_info *info, enum triad_device_part part)
{
	if (info->refused >> part & 1)
		return false;
	if (part == TRIAD_DEVICE_GENERAL)
		return true;
	return info->has_registers &&
		!(parts[part].is_static && info->reported >> part & 1);
}

bool triad_device_next(const struct triad_device_info *info,
	const struct triad_device_query *last, struct triad_device_query *query)
{
	unsigned part = last ? last->part : 0, from = last ? last->index + 1u : 0;

	for (; part < TRIAD_DEVICE_N_PARTS; part++, from = 0) {
		uint64_t left = from < 64 ? indices(info, part) >> from << from : 0;

		if (!left || !is_asked(info, part))
			continue;
		query->part = part;
		query->index = (uint8_t)__builtin_ctzll(left);
		return true;
	}
	return false;
}

void triad_device_encode(uint8_t mad[TRIAD_MAD_SIZE],
	const struct triad_device_query *query, uint32_t tid)
{
	bool is_general = query->part == TRIAD_DEVICE_GENERAL;
	struct triad_wire w;

	triad_mad_begin_get(&w, mad, TRIAD_DEVICE_CLASS, tid);
	triad_wire_put(&w, 2,
		is_general ? TRIAD_DEVICE_GENERAL_INFO : TRIAD_DEVICE_ACCESS_REGISTER);
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 4, parts[query->part].number);
	triad_wire_seek(&w, AT_REGISTER);
	if (query->part == TRIAD_DEVICE_MTMP)
		triad_wire_put(&w, 4, query->index);
	else if (query->part == TRIAD_DEVICE_MFSM)
		triad_wire_put(&w, 1, query->index);
}

/* --- what is told --- */

static uint32_t get32(const uint8_t *octets)
{
	return (uint32_t)triad_wire_bits(octets, 0, 32);
}

static uint16_t get16(const uint8_t *octets)
{
	return (uint16_t)triad_wire_bits(octets, 0, 16);
}

/* Copies a text without blanks at its end; 'text' has room for n + 1. */
static void take_text(char *text, const uint8_t *octets, size_t n)
{
	size_t length = 0;

	for (size_t i = 0; i < n && octets[i]; i++) {
		text[i] = octets[i] >= 0x20 && octets[i] < 0x7f ? (char)octets[i] : '?';
		if (text[i] != ' ')
			length = i + 1;
	}
	text[length] = '\0';
}

static void take_general(struct triad_device_info *info, const uint8_t *data)
{
	info->hardware_revision = get16(data + HW_REVISION);
	info->device_id = get16(data + HW_DEVICE_ID);
	info->uptime_s = get32(data + HW_UPTIME);
	take_text(info->psid, data + FW_PSID, 16);
	for (unsigned i = 0; i < 3; i++)
		info->firmware[i] = get32(data + FW_EXTENDED_MAJOR + (size_t)4 * i);
	/* Old devices have the short form, and other data in the place of the long
	 * one. */
	if (data[FW_MAJOR] && data[FW_MAJOR] != info->firmware[0])
		for (unsigned i = 0; i < 3; i++)
			info->firmware[i] = data[FW_MAJOR + i];
	info->has_registers = get32(data + CAPABILITIES) & CAPABILITY_ACCESS_REGISTER;
}

static void take_msgi(struct triad_device_info *info, const uint8_t *data)
{
	take_text(info->serial, data, 24);
	take_text(info->part, data + 0x20, 20);
	take_text(info->revision, data + 0x38, 4);
	take_text(info->product, data + 0x40, 64);
}

/* Sensors up to 63 are the device's; higher ones are modules, which CableInfo reads. */
static void take_mtcap(struct triad_device_info *info, const uint8_t *data)
{
	uint64_t map = triad_wire_bits(data, 64, 64);

	info->sensors_there = 0;
	for (unsigned n = 0; map && n < TRIAD_DEVICE_MAX_SENSORS; n++, map &= map - 1)
		info->sensors_there |= map & -map;
}

static void take_mtmp(
	struct triad_device_info *info, const uint8_t *data, uint8_t index)
{
	struct triad_device_sensor *sensor = info->sensors;
	unsigned i = 0;

	while (i < info->n_sensors && sensor[i].index != index)
		i++;
	if (i == TRIAD_DEVICE_MAX_SENSORS)
		return;
	if (i == info->n_sensors)
		info->n_sensors++;
	sensor[i].index = index;
	sensor[i].now = (int16_t)get16(data + 6);
	/* Without bit 31 the device keeps no highest value. */
	sensor[i].most = data[8] & 0x80 ? (int16_t)get16(data + 10) : 0;
	sensor[i].limit = (int16_t)get16(data + 14);
	take_text(sensor[i].name, data + 0x18, 8);
}

/* A bit for each tachometer: in the upper half of a word, bits 25 to 16 are of the
 * first ten, 31 to 26 of the others. */
static uint16_t get_fans(const uint8_t *word)
{
	return get16(word);
}

static void take_mfcr(struct triad_device_info *info, const uint8_t *data)
{
	info->fans_there = get_fans(data + 4);
}

static void take_fore(struct triad_device_info *info, const uint8_t *data)
{
	info->fans_slow = get_fans(data);
	info->fans_fast = get_fans(data + 4);
}

static void take_mfsm(
	struct triad_device_info *info, const uint8_t *data, uint8_t index)
{
	struct triad_device_fan *fan = info->fans;
	unsigned i = 0;

	while (i < info->n_fans && fan[i].index != index)
		i++;
	if (i == TRIAD_DEVICE_MAX_FANS)
		return;
	if (i == info->n_fans)
		info->n_fans++;
	fan[i].index = index;
	fan[i].rpm = get16(data + 6);
}

static bool is_zero(const uint8_t *octets, size_t n)
{
	unsigned sum = 0;

	for (size_t i = 0; i < n; i++)
		sum |= octets[i];
	return !sum;
}

static void take_supply(struct triad_device_supply *supply, const uint8_t *data)
{
	uint32_t watts = get32(data + 8);

	memset(supply, 0, sizeof(*supply));
	if (data[0] >> 4 != 5) {
		supply->state = TRIAD_SUPPLY_ABSENT;
		return;
	}
	supply->state = data[3] >> 4 == 1 ? TRIAD_SUPPLY_OK : TRIAD_SUPPLY_FAILED;
	supply->fan = (data[7] & 0xf) == 2 ? TRIAD_SUPPLY_OK
		: (data[7] & 0xf) == 3     ? TRIAD_SUPPLY_UNKNOWN
					   : TRIAD_SUPPLY_FAILED;
	if (watts >> 28 == 8)
		supply->watts = watts & 0x0fffffff;
	take_text(supply->serial, data + 16, 12);
	take_text(supply->part, data + 48, 16);
}

static void take_msps(struct triad_device_info *info, const uint8_t *data)
{
	/* A managed switch reports zeros: its processor manages the supplies. */
	info->n_supplies = is_zero(data, SUPPLY_SIZE * TRIAD_DEVICE_MAX_SUPPLIES)
		? 0
		: TRIAD_DEVICE_MAX_SUPPLIES;
	for (unsigned i = 0; i < info->n_supplies; i++)
		take_supply(&info->supplies[i], data + (size_t)SUPPLY_SIZE * i);
}

static void take_part(struct triad_device_info *info,
	const struct triad_device_query *query, const uint8_t *mad)
{
	const uint8_t *data = mad + AT_REGISTER;

	switch (query->part) {
	case TRIAD_DEVICE_GENERAL:
		take_general(info, mad + AT_GENERAL);
		break;
	case TRIAD_DEVICE_MSGI:
		take_msgi(info, data);
		break;
	case TRIAD_DEVICE_MTCAP:
		take_mtcap(info, data);
		break;
	case TRIAD_DEVICE_MTMP:
		take_mtmp(info, data, query->index);
		break;
	case TRIAD_DEVICE_MFCR:
		take_mfcr(info, data);
		break;
	case TRIAD_DEVICE_MFSM:
		take_mfsm(info, data, query->index);
		break;
	case TRIAD_DEVICE_FORE:
		take_fore(info, data);
		break;
	default:
		take_msps(info, data);
		break;
	}
}

enum triad_device_result triad_device_take(struct triad_device_info *info,
	const struct triad_device_query *query, const uint8_t mad[TRIAD_MAD_SIZE])
{
	unsigned status = (unsigned)triad_wire_bits(mad, AT_STATUS * 8, 16);
	unsigned attribute = query->part == TRIAD_DEVICE_GENERAL
		? TRIAD_DEVICE_GENERAL_INFO
		: TRIAD_DEVICE_ACCESS_REGISTER;

	if (status == 1)
		return TRIAD_DEVICE_BUSY;
	if (status || mad[3] != TRIAD_MAD_METHOD_GET_RESPONSE ||
		triad_wire_bits(mad, AT_ATTRIBUTE * 8, 16) != attribute) {
		info->refused |= (uint8_t)(1u << query->part);
		return TRIAD_DEVICE_REFUSED;
	}
	info->reported |= (uint8_t)(1u << query->part);
	take_part(info, query, mad);
	return TRIAD_DEVICE_ANSWERED;
}

/* --- reading --- */

/* The fault of the fans; '*index' is the lowest of the fans that have it. */
static enum triad_device_fault judge_fans(
	const struct triad_device_info *info, unsigned *index)
{
	for (unsigned i = 0; i < info->n_fans; i++)
		if (!info->fans[i].rpm) {
			*index = info->fans[i].index;
			return TRIAD_DEVICE_FAN_STANDS;
		}
	if (info->fans_slow) {
		*index = (unsigned)__builtin_ctz(info->fans_slow);
		return TRIAD_DEVICE_FAN_SLOW;
	}
	if (info->fans_fast) {
		*index = (unsigned)__builtin_ctz(info->fans_fast);
		return TRIAD_DEVICE_FAN_FAST;
	}
	return TRIAD_DEVICE_FINE;
}

enum triad_device_fault triad_device_judge(const struct triad_device_info *info,
	unsigned *index, double *value, double *limit)
{
	enum triad_device_fault of_fans;

	*index = 0;
	*value = *limit = 0;
	for (unsigned i = 0; i < info->n_sensors; i++) {
		const struct triad_device_sensor *sensor = &info->sensors[i];

		if (sensor->limit <= 0 || sensor->now <= sensor->limit)
			continue;
		*index = sensor->index;
		*value = sensor->now / 8.0;
		*limit = sensor->limit / 8.0;
		return TRIAD_DEVICE_HOT;
	}
	of_fans = judge_fans(info, index);
	if (of_fans != TRIAD_DEVICE_FINE)
		return of_fans;
	for (unsigned i = 0; i < info->n_supplies; i++)
		if (info->supplies[i].state == TRIAD_SUPPLY_FAILED) {
			*index = i;
			return TRIAD_DEVICE_SUPPLY_FAILED;
		}
	return TRIAD_DEVICE_FINE;
}

const char *triad_device_supply_name(uint8_t state)
{
	static const char *const names[] = {"unknown", "absent", "ok", "failed"};

	return names[state <= TRIAD_SUPPLY_FAILED ? state : 0];
}
