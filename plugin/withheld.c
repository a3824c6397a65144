/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/withheld.h"

#include <stdlib.h>

#include "ib/link.h"
#include "triad/fabric.h"

/* More than a subnet has LIDs. */
#define N_DEVICES 65536u
#define N_PLACES 16u

/* Octets into PortInfo. */
enum { AT_CAPABILITIES = 20, AT_STATE = 32 };
/* CapabilityMask:IsExtendedSpeedsSupported is in its third octet. */
#define HAS_EXTENDED_SPEEDS 0x40u

struct device {
	uint64_t guid; /* 0: free */
	uint32_t silent_until_s;
	uint8_t n_missed; /* in a row */
	bool is_extended; /* by its port 0 */
};

struct triad_withheld {
	struct device devices[N_DEVICES];
};

struct triad_withheld *triad_withheld_new(void)
{
	return calloc(1, sizeof(struct triad_withheld));
}

void triad_withheld_free(struct triad_withheld *withheld)
{
	free(withheld);
}

/* --- devices --- */

static uint32_t place_of(uint64_t guid, unsigned i)
{
	uint64_t mixed = guid * UINT64_C(0x9e3779b97f4a7c15);

	return ((uint32_t)(mixed >> 48) + i) % N_DEVICES;
}

static struct device *find_device(struct triad_withheld *withheld, uint64_t guid)
{
	for (unsigned i = 0; i < N_PLACES; i++) {
		struct device *device = &withheld->devices[place_of(guid, i)];

		if (device->guid == guid && guid)
			return device;
	}
	return NULL;
}

static struct device *make_device(struct triad_withheld *withheld, uint64_t guid)
{
	struct device *device = find_device(withheld, guid);

	for (unsigned i = 0; !device && i < N_PLACES; i++)
		if (!withheld->devices[place_of(guid, i)].guid)
			device = &withheld->devices[place_of(guid, i)];
	if (!device)
		device = &withheld->devices[place_of(guid, 0)];
	if (device->guid != guid)
		*device = (struct device){.guid = guid};
	return device;
}

/* --- answers --- */

static bool has_extended_speeds(const uint8_t *info)
{
	return info[AT_CAPABILITIES + 2] & HAS_EXTENDED_SPEEDS;
}

static void note_capabilities(
	struct triad_withheld *withheld, const struct triad_withheld_end *end)
{
	bool is_extended = has_extended_speeds(end->info);
	struct device *device = is_extended ? make_device(withheld, end->node_guid)
					    : find_device(withheld, end->node_guid);

	if (device)
		device->is_extended = is_extended;
}

static bool shows_extended_speeds(const uint8_t *info)
{
	struct triad_fabric_port port = {0};

	triad_link_read(info, &port);
	return port.speed_ext || port.speed_ext_supported;
}

static bool is_to_be_asked(struct triad_withheld *withheld,
	const struct triad_withheld_end *end, uint32_t now_s)
{
	struct device *device = find_device(withheld, end->node_guid);

	if ((end->info[AT_STATE] & 0xf) < TRIAD_PORT_INIT ||
		shows_extended_speeds(end->info))
		return false;
	if (device && device->silent_until_s > now_s)
		return false;
	return has_extended_speeds(end->info) || (device && device->is_extended);
}

/* The device was asked with bit 31, by us. */
static enum triad_withheld_step take_second(struct triad_withheld *withheld,
	const struct triad_withheld_end *end, uint32_t now_s)
{
	struct device *device;

	if (end->info && !end->status) {
		device = find_device(withheld, end->node_guid);
		if (device)
			device->n_missed = 0;
		return TRIAD_WITHHELD_PASS;
	}
	device = make_device(withheld, end->node_guid);
	/* A refusal is for good; without an answer it may have been lost. */
	if (end->info || ++device->n_missed >= TRIAD_WITHHELD_MISSES) {
		device->n_missed = 0;
		device->silent_until_s = now_s + TRIAD_WITHHELD_SILENT_S;
	}
	return TRIAD_WITHHELD_PLAIN;
}

enum triad_withheld_step triad_withheld_take(struct triad_withheld *withheld,
	const struct triad_withheld_end *end, uint32_t now_s)
{
	if (end->is_second)
		return take_second(withheld, end, now_s);
	if (!end->info || end->status)
		return TRIAD_WITHHELD_PASS;
	/* Port 0 of a switch; its own link has no speed. */
	if (!end->number) {
		note_capabilities(withheld, end);
		return TRIAD_WITHHELD_PASS;
	}
	if (end->has_bit || end->is_last || !is_to_be_asked(withheld, end, now_s))
		return TRIAD_WITHHELD_PASS;
	return TRIAD_WITHHELD_ASK;
}
