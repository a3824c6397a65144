/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/devices/known.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/search.h"

/* --- look-up --- */

struct triad_known_device *triad_known_find(
	const struct triad_known *known, uint64_t guid)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, known->n_devices, known->devices[at].guid < guid);
	return at < known->n_devices && known->devices[at].guid == guid
		? &known->devices[at]
		: NULL;
}

struct triad_known_slot *triad_known_find_slot(const struct triad_known *known,
	const struct triad_known_device *device, uint8_t number)
{
	uint32_t end = device->first_slot + device->n_slots, at;

	TRIAD_SEARCH(at, device->first_slot, end, known->slots[at].number < number);
	return at < end && known->slots[at].number == number ? &known->slots[at] : NULL;
}

/* --- a view --- */

static bool is_asked(
	const struct triad_view *view, const struct triad_fabric_node *node)
{
	if (!triad_device_is_known_vendor(node->vendor_id))
		return false;
	for (uint32_t i = 0; i < node->n_ports; i++)
		if (triad_view_is_asked(view, node->first_port + i))
			return true;
	return false;
}

static uint32_t count_slots(
	const struct triad_fabric *fabric, const struct triad_fabric_node *node)
{
	bool has_port0 = node->n_ports && !fabric->ports[node->first_port].number;

	return node->n_ports - has_port0;
}

static int allocate_known(struct triad_known *known, struct triad_view *view)
{
	const struct triad_fabric *fabric = view->fabric;

	*known = (struct triad_known){0};
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (is_asked(view, &fabric->nodes[i])) {
			known->n_devices++;
			known->n_slots += count_slots(fabric, &fabric->nodes[i]);
		}
	known->devices = calloc((size_t)known->n_devices + 1, sizeof(*known->devices));
	known->slots = calloc((size_t)known->n_slots + 1, sizeof(*known->slots));
	if (known->devices && known->slots) {
		known->view = triad_view_ref(view);
		return 0;
	}
	free(known->devices);
	free(known->slots);
	*known = (struct triad_known){0};
	return ENOMEM;
}

static void list_devices(struct triad_known *known)
{
	const struct triad_fabric *fabric = known->view->fabric;
	uint32_t n = 0, n_slots = 0;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];
		struct triad_known_device *device = &known->devices[n];

		if (!is_asked(known->view, node))
			continue;
		n++;
		device->guid = node->guid;
		device->node = i;
		device->first_slot = n_slots;
		device->n_slots = count_slots(fabric, node);
		for (uint32_t j = 0; j < node->n_ports; j++) {
			uint32_t port = node->first_port + j;

			if (!fabric->ports[port].number)
				continue;
			known->slots[n_slots].port = port;
			known->slots[n_slots++].number = fabric->ports[port].number;
		}
	}
}

int triad_known_make(struct triad_known *known, struct triad_view *view)
{
	int error = allocate_known(known, view);

	if (!error)
		list_devices(known);
	return error;
}

/* Whether a port's link leads to the same port as before. */
static bool has_same_link(const struct triad_known *old,
	const struct triad_known_slot *was, const struct triad_known *now,
	const struct triad_known_slot *is)
{
	const struct triad_fabric *before = old->view->fabric,
				  *after = now->view->fabric;
	uint32_t a = before->ports[was->port].remote, b = after->ports[is->port].remote;

	if (a == TRIAD_FABRIC_NONE || b == TRIAD_FABRIC_NONE)
		return a == b;
	return before->ports[a].number == after->ports[b].number &&
		before->nodes[before->ports[a].node].guid ==
		after->nodes[after->ports[b].node].guid;
}

static void inherit_slots(struct triad_known *old, struct triad_known_device *was,
	struct triad_known *now, const struct triad_known_device *device)
{
	for (uint32_t i = 0; i < device->n_slots; i++) {
		struct triad_known_slot *slot = &now->slots[device->first_slot + i];
		struct triad_known_slot *before =
			triad_known_find_slot(old, was, slot->number);

		if (!before)
			continue;
		slot->cable = before->cable;
		before->cable = NULL;
		slot->read_us = before->read_us;
		slot->module = before->module;
		slot->is_faulty = before->is_faulty;
		if (has_same_link(old, before, now, slot))
			slot->whole_us = before->whole_us;
	}
}

void triad_known_inherit(struct triad_known *known, struct triad_known *old)
{
	for (uint32_t i = 0; i < known->n_devices; i++) {
		struct triad_known_device *device = &known->devices[i];
		struct triad_known_device *was = triad_known_find(old, device->guid);

		if (!was)
			continue;
		device->info = was->info;
		was->info = NULL;
		device->read_us = was->read_us;
		device->missed_us = was->missed_us;
		device->n_missed = was->n_missed;
		device->has_answered = was->has_answered;
		device->is_silent = was->is_silent;
		device->refuses_cables = was->refuses_cables;
		device->is_faulty = was->is_faulty;
		inherit_slots(old, was, known, device);
	}
}

void triad_known_clear(struct triad_known *known)
{
	for (uint32_t i = 0; i < known->n_devices; i++)
		free(known->devices[i].info);
	for (uint32_t i = 0; i < known->n_slots; i++)
		free(known->slots[i].cable);
	free(known->devices);
	free(known->slots);
	triad_view_unref(known->view);
	*known = (struct triad_known){0};
}
