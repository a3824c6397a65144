/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/devices/devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search.h"
#include "perfmgr/devices/known.h"

#define QP_GSI 1

/* The position of the round.  A device is asked about itself, then about its ports. */
struct cursor {
	uint32_t device;
	bool is_begun, is_at_ports, has_answered; /* of the device */
	struct triad_device_query query;
	uint32_t slot; /* of the device's */
	bool has_work; /* 'work' is of that slot */
};

struct triad_devices {
	struct triad_known known;
	uint64_t period_us;
	bool lacks_cables;          /* don't ask about cables */
	bool is_in_round, is_asked; /* a question is under way */
	uint64_t began_us, due_us;
	uint32_t tid;
	struct cursor cursor;
	struct triad_cable work; /* read so far of the slot at the cursor */
	enum triad_cable_block block;
	struct triad_devices_counts counts; /* but those computed on demand */
};

struct triad_devices *triad_devices_new(void)
{
	return calloc(1, sizeof(struct triad_devices));
}

void triad_devices_free(struct triad_devices *devices)
{
	if (!devices)
		return;
	triad_known_clear(&devices->known);
	free(devices);
}

void triad_devices_set_period(struct triad_devices *devices, uint64_t period_us)
{
	devices->period_us = period_us;
	if (devices->due_us > devices->began_us + period_us)
		devices->due_us = devices->began_us + period_us;
}

void triad_devices_set_cables(struct triad_devices *devices, bool are_wanted)
{
	devices->lacks_cables = !are_wanted;
}

void triad_devices_clear(struct triad_devices *devices)
{
	triad_known_clear(&devices->known);
	devices->is_in_round = devices->is_asked = false;
	devices->due_us = devices->began_us = 0;
	devices->cursor = (struct cursor){0};
	devices->counts.round_us = 0;
}

/* --- a view --- */

/* Moves the round to the device where it was, or to the next one in the new view. */
static void move_cursor(struct triad_devices *devices, const struct triad_known *old)
{
	struct cursor *cursor = &devices->cursor;
	const struct triad_known *known = &devices->known;
	uint64_t guid;
	uint32_t at;

	if (!devices->is_in_round || cursor->device >= old->n_devices) {
		cursor->device = known->n_devices;
		return;
	}
	guid = old->devices[cursor->device].guid;
	TRIAD_SEARCH(at, 0, known->n_devices, known->devices[at].guid < guid);
	if (at == known->n_devices || known->devices[at].guid != guid)
		*cursor = (struct cursor){0};
	cursor->device = at;
	/* The device may have other ports: begin the present one again. */
	cursor->has_work = false;
	if (at < known->n_devices && cursor->slot > known->devices[at].n_slots)
		cursor->slot = known->devices[at].n_slots;
}

int triad_devices_adopt(struct triad_devices *devices, struct triad_view *view)
{
	struct triad_known old = devices->known, now;
	int error = triad_known_make(&now, view);

	if (error)
		return error;
	if (old.view)
		triad_known_inherit(&now, &old);
	devices->known = now;
	move_cursor(devices, &old);
	/* Ignore an answer still to come: its port may be gone. */
	devices->is_asked = false;
	/* New devices needn't wait for the next round. */
	if (!old.view || now.n_devices > old.n_devices)
		devices->due_us = 0;
	triad_known_clear(&old);
	return 0;
}

/* --- questions --- */

static struct triad_known_device *at_cursor(const struct triad_devices *devices)
{
	return &devices->known.devices[devices->cursor.device];
}

/* Whether MADs reach the port at its LID.  A switch has the LID of its port 0. */
static bool is_reached(const struct triad_fabric *fabric, uint32_t port)
{
	return fabric->ports[port].lid &&
		(fabric->nodes[fabric->ports[port].node].type == TRIAD_NODE_SWITCH ||
			fabric->ports[port].state == TRIAD_PORT_ACTIVE);
}

/* The port at which to ask the device about itself: a switch's port 0; of an HCA one
 * that we reach. */
static const struct triad_fabric_port *own_port(const struct triad_known *known,
	const struct triad_known_device *device, uint32_t *index)
{
	const struct triad_fabric *fabric = known->view->fabric;
	const struct triad_fabric_node *node = &fabric->nodes[device->node];

	for (uint32_t i = 0; i < node->n_ports; i++) {
		*index = node->first_port + i;
		if (is_reached(fabric, *index) &&
			!triad_view_is_apart(known->view, *index))
			return &fabric->ports[*index];
	}
	return NULL;
}

static bool ask_about_device(
	struct triad_devices *devices, struct triad_devices_question *question)
{
	struct cursor *cursor = &devices->cursor;
	struct triad_known_device *device = at_cursor(devices);
	const struct triad_fabric_port *port;
	uint32_t index;

	if (cursor->is_at_ports)
		return false;
	if (!device->info)
		device->info = calloc(1, sizeof(*device->info));
	if (!device->info)
		devices->counts.n_dropped++;
	port = own_port(&devices->known, device, &index);
	if (!device->info || !port ||
		!triad_device_next(device->info,
			cursor->is_begun ? &cursor->query : NULL, &cursor->query)) {
		cursor->is_at_ports = true;
		return false;
	}
	cursor->is_begun = true;
	question->is_smp = false;
	question->to = (struct triad_mad_address){.lid = port->lid,
		.sl = port->sl,
		.pkey_index = devices->known.view->pkey_index[index],
		.qpn = QP_GSI,
		.qkey = TRIAD_MAD_GSI_QKEY};
	triad_device_encode(question->mad, &cursor->query, question->tid);
	return true;
}

static void begin_slot(struct triad_devices *devices,
	const struct triad_known_slot *slot, uint64_t now_us)
{
	devices->cursor.has_work = true;
	if (slot->cable && slot->whole_us &&
		now_us - slot->whole_us < TRIAD_DEVICES_ANEW_US) {
		devices->work = *slot->cable;
		triad_cable_refresh(&devices->work);
	} else {
		memset(&devices->work, 0, sizeof(devices->work));
	}
}

static struct triad_known_slot *slot_at_cursor(const struct triad_devices *devices)
{
	return &devices->known
			.slots[at_cursor(devices)->first_slot + devices->cursor.slot];
}

static void leave_slot(struct triad_devices *devices)
{
	devices->cursor.slot++;
	devices->cursor.has_work = false;
}

static bool is_link_up(
	const struct triad_known *known, const struct triad_known_slot *slot)
{
	return known->view->fabric->ports[slot->port].remote != TRIAD_FABRIC_NONE;
}

static bool judge_slot(const struct triad_known *known,
	const struct triad_known_slot *slot, struct triad_hardware_finding *finding)
{
	static const enum triad_hardware_fault faults[] = {
		[TRIAD_CABLE_FINE] = TRIAD_HARDWARE_FINE,
		[TRIAD_CABLE_HOT] = TRIAD_HARDWARE_MODULE_HOT,
		[TRIAD_CABLE_DARK] = TRIAD_HARDWARE_MODULE_DARK,
	};

	*finding = (struct triad_hardware_finding){0};
	if (slot->cable)
		finding->fault =
			faults[triad_cable_judge(slot->cable, is_link_up(known, slot),
				&finding->index, &finding->value, &finding->limit)];
	return finding->fault != TRIAD_HARDWARE_FINE;
}

/* Stores what was read of the slot at the cursor. */
static void keep_work(struct triad_devices *devices, uint64_t now_us)
{
	struct triad_known_slot *slot = slot_at_cursor(devices);
	bool is_whole = !slot->cable || !slot->whole_us ||
		now_us - slot->whole_us >= TRIAD_DEVICES_ANEW_US;
	struct triad_hardware_finding finding;

	if (!devices->work.taken) {
		slot->module = TRIAD_MODULE_NO_MEMORY;
		slot->is_faulty = false;
		free(slot->cable);
		slot->cable = NULL;
		return;
	}
	if (!slot->cable)
		slot->cable = malloc(sizeof(*slot->cable));
	if (!slot->cable) {
		devices->counts.n_dropped++;
		return;
	}
	*slot->cable = devices->work;
	slot->module = TRIAD_MODULE_KNOWN;
	if (is_whole)
		slot->whole_us = now_us;
	slot->is_faulty = judge_slot(&devices->known, slot, &finding);
}

static bool ask_about_port(struct triad_devices *devices, uint64_t now_us,
	struct triad_devices_question *question)
{
	const struct triad_fabric *fabric = devices->known.view->fabric;
	struct cursor *cursor = &devices->cursor;
	const struct triad_known_device *device = at_cursor(devices);

	if (devices->lacks_cables)
		return false;
	for (; cursor->slot < device->n_slots; leave_slot(devices)) {
		struct triad_known_slot *slot = slot_at_cursor(devices);
		const struct triad_fabric_port *port = &fabric->ports[slot->port];
		struct triad_cable_address block_address;

		if (device->refuses_cables || slot->module == TRIAD_MODULE_NO_CAGE ||
			!is_reached(fabric, slot->port))
			continue;
		if (!cursor->has_work)
			begin_slot(devices, slot, now_us);
		if (!triad_cable_next(&devices->work, &devices->block)) {
			keep_work(devices, now_us);
			continue;
		}
		block_address = triad_cable_address(&devices->work, devices->block);
		question->is_smp = true;
		question->to = (struct triad_mad_address){.lid = port->lid};
		triad_cable_info_encode(
			question->mad, slot->number, &block_address, question->tid);
		return true;
	}
	return false;
}

static void end_round(struct triad_devices *devices, uint64_t now_us)
{
	devices->is_in_round = false;
	devices->counts.n_rounds++;
	/* At least a microsecond: 0 is none. */
	devices->counts.round_us = now_us - devices->began_us + 1;
	devices->due_us = devices->began_us + devices->period_us;
}

static bool is_given_up(const struct triad_known_device *device, uint64_t now_us)
{
	return device->is_silent && now_us - device->missed_us < TRIAD_DEVICES_AGAIN_US;
}

bool triad_devices_next(struct triad_devices *devices, uint64_t now_us,
	struct triad_devices_question *question, uint64_t *due_us)
{
	const struct triad_known *known = &devices->known;

	*due_us = known->n_devices ? devices->due_us : UINT64_MAX;
	if (!known->n_devices || (!devices->is_in_round && now_us < devices->due_us))
		return false;
	if (!devices->is_in_round) {
		devices->is_in_round = true;
		devices->began_us = now_us;
		devices->cursor = (struct cursor){0};
	}
	question->tid = ++devices->tid;
	while (devices->cursor.device < known->n_devices) {
		struct triad_known_device *device = at_cursor(devices);

		if (!is_given_up(device, now_us)) {
			if (ask_about_device(devices, question) ||
				ask_about_port(devices, now_us, question)) {
				devices->is_asked = true;
				devices->counts.n_questions++;
				return true;
			}
			/* This round left no question unanswered. */
			device->n_missed = 0;
			if (devices->cursor.has_answered)
				device->is_silent = false;
		}
		devices->cursor = (struct cursor){.device = devices->cursor.device + 1};
	}
	end_round(devices, now_us);
	*due_us = devices->due_us;
	return false;
}

/* --- answers --- */

static bool judge_device(
	const struct triad_known_device *device, struct triad_hardware_finding *finding)
{
	static const enum triad_hardware_fault faults[] = {
		[TRIAD_DEVICE_FINE] = TRIAD_HARDWARE_FINE,
		[TRIAD_DEVICE_HOT] = TRIAD_HARDWARE_DEVICE_HOT,
		[TRIAD_DEVICE_FAN_STANDS] = TRIAD_HARDWARE_FAN_STANDS,
		[TRIAD_DEVICE_FAN_SLOW] = TRIAD_HARDWARE_FAN_SLOW,
		[TRIAD_DEVICE_FAN_FAST] = TRIAD_HARDWARE_FAN_FAST,
		[TRIAD_DEVICE_SUPPLY_FAILED] = TRIAD_HARDWARE_SUPPLY_FAILED,
	};

	*finding = (struct triad_hardware_finding){0};
	if (device->info)
		finding->fault = faults[triad_device_judge(device->info,
			&finding->index, &finding->value, &finding->limit)];
	return finding->fault != TRIAD_HARDWARE_FINE;
}

static void take_device(
	struct triad_devices *devices, const uint8_t *mad, uint64_t now_us)
{
	struct triad_known_device *device = at_cursor(devices);
	struct triad_hardware_finding finding;

	if (triad_device_take(device->info, &devices->cursor.query, mad) ==
		TRIAD_DEVICE_ANSWERED)
		device->read_us = now_us;
	device->is_faulty = judge_device(device, &finding);
}

static void empty_slot(struct triad_devices *devices, enum triad_port_module module)
{
	struct triad_known_slot *slot = slot_at_cursor(devices);

	free(slot->cable);
	slot->cable = NULL;
	slot->module = (uint8_t)module;
	slot->is_faulty = false;
	slot->whole_us = 0;
	leave_slot(devices);
}

static void take_port(
	struct triad_devices *devices, const uint8_t *mad, uint64_t now_us)
{
	const uint8_t *data;
	enum triad_cable_info_result result = triad_cable_info_decode(mad, &data);

	if (result != TRIAD_CABLE_INFO_REFUSED && result != TRIAD_CABLE_INFO_BUSY)
		slot_at_cursor(devices)->read_us = now_us;
	switch (result) {
	case TRIAD_CABLE_INFO_READ:
		triad_cable_take(&devices->work, devices->block, data);
		break;
	case TRIAD_CABLE_INFO_NO_PAGE:
		triad_cable_lacks(&devices->work, devices->block);
		break;
	case TRIAD_CABLE_INFO_BUSY:
		leave_slot(devices);
		break;
	case TRIAD_CABLE_INFO_EMPTY:
		empty_slot(devices, TRIAD_MODULE_EMPTY);
		break;
	case TRIAD_CABLE_INFO_NO_MEMORY:
		empty_slot(devices, TRIAD_MODULE_NO_MEMORY);
		break;
	case TRIAD_CABLE_INFO_NO_CAGE:
		empty_slot(devices, TRIAD_MODULE_NO_CAGE);
		break;
	case TRIAD_CABLE_INFO_REFUSED:
		at_cursor(devices)->refuses_cables = true;
		break;
	}
}

/* Counts a question without an answer.  A device that answered before gets more
 * chances, because a MAD may be lost. */
static void note_silence(struct triad_known_device *device, uint64_t now_us)
{
	device->missed_us = now_us;
	device->n_missed++;
	device->is_silent = device->is_silent || !device->has_answered ||
		device->n_missed >= TRIAD_DEVICES_MISSED;
}

void triad_devices_answer(struct triad_devices *devices,
	const struct triad_mad_reply *reply, uint64_t now_us)
{
	/* After a new view another device may be at the cursor. */
	if (!devices->is_asked)
		return;
	devices->is_asked = false;
	if (reply && !reply->status && reply->size == TRIAD_MAD_SIZE) {
		at_cursor(devices)->has_answered = devices->cursor.has_answered = true;
		if (devices->cursor.is_at_ports)
			take_port(devices, reply->mad, now_us);
		else
			take_device(devices, reply->mad, now_us);
		return;
	}
	if (reply && reply->status == ETIMEDOUT)
		note_silence(at_cursor(devices), now_us);
	else
		devices->counts.n_errors++;
	/* Leave the device until the next round; its 'n_missed' stays. */
	devices->cursor = (struct cursor){.device = devices->cursor.device + 1};
}

/* --- reading --- */

static bool has_refused(const struct triad_known_device *device)
{
	return device->refuses_cables || (device->info && device->info->refused);
}

struct triad_devices_counts triad_devices_counts(const struct triad_devices *devices)
{
	const struct triad_known *known = &devices->known;
	struct triad_devices_counts counts = devices->counts;

	counts.n_devices = known->n_devices;
	for (uint32_t i = 0; i < known->n_devices; i++) {
		const struct triad_known_device *device = &known->devices[i];

		counts.n_reported += device->info && device->info->reported;
		counts.n_silent += device->is_silent;
		counts.n_fell_silent += device->is_silent && device->has_answered;
		counts.n_refused += has_refused(device);
		counts.n_faulty += device->is_faulty;
	}
	for (uint32_t i = 0; i < known->n_slots; i++) {
		counts.n_cables += known->slots[i].cable != NULL;
		counts.n_faulty += known->slots[i].is_faulty;
	}
	return counts;
}

bool triad_devices_read(const struct triad_devices *devices, uint64_t guid,
	struct triad_device_known *copy)
{
	const struct triad_known_device *device =
		triad_known_find(&devices->known, guid);

	memset(copy, 0, sizeof(*copy));
	if (!device)
		return false;
	copy->is_silent = device->is_silent;
	copy->refuses_cables = device->refuses_cables;
	copy->read_us = device->read_us;
	if (device->info)
		copy->info = *device->info;
	return true;
}

bool triad_devices_read_port(const struct triad_devices *devices, uint64_t guid,
	uint8_t number, struct triad_cable_known *copy)
{
	const struct triad_known_device *device =
		triad_known_find(&devices->known, guid);
	const struct triad_known_slot *slot =
		device ? triad_known_find_slot(&devices->known, device, number) : NULL;

	memset(copy, 0, sizeof(*copy));
	if (!slot)
		return false;
	copy->module = slot->module;
	copy->read_us = slot->read_us;
	if (slot->cable)
		copy->cable = *slot->cable;
	return true;
}

bool triad_devices_judge(const struct triad_devices *devices, uint64_t guid,
	uint8_t number, struct triad_hardware_finding *finding)
{
	const struct triad_known_device *device =
		triad_known_find(&devices->known, guid);
	const struct triad_known_slot *slot;

	/* A silent device's last answers may no longer hold. */
	if (!device || device->is_silent)
		return false;
	if (!number)
		return device->is_faulty && judge_device(device, finding);
	slot = triad_known_find_slot(&devices->known, device, number);
	return slot && slot->is_faulty && judge_slot(&devices->known, slot, finding);
}
