/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The devices of one view, and their ports, with what is known of each.
 *
 * Internal to perfmgr/devices; thread-safety: none. */
#ifndef TRIAD_PERFMGR_DEVICES_KNOWN_H
#define TRIAD_PERFMGR_DEVICES_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/cable.h"
#include "ib/device_info.h"
#include "perfmgr/view.h"

struct triad_known_slot {
	struct triad_cable *cable; /* NULL: not known */
	uint64_t read_us;          /* the last answer */
	uint64_t whole_us;         /* all of the cable; 0: read it again */
	uint32_t port;             /* index in the view's fabric */
	uint8_t number;
	uint8_t module; /* enum triad_port_module */
	bool is_faulty;
};

struct triad_known_device {
	uint64_t guid;
	uint64_t read_us;
	uint64_t missed_us;             /* the last question without an answer */
	struct triad_device_info *info; /* NULL: not asked yet */
	uint32_t node;                  /* index in the view's fabric */
	uint32_t first_slot, n_slots;
	uint8_t n_missed; /* rounds in a row with an unanswered question */
	bool has_answered, is_silent, refuses_cables, is_faulty;
};

/* All of one view. */
struct triad_known {
	struct triad_view *view; /* referenced; NULL: none */
	uint32_t n_devices, n_slots;
	struct triad_known_device *devices; /* sorted by GUID */
	/* Grouped by device, sorted by number. */
	struct triad_known_slot *slots;
};

/* Lists the devices of 'view' (referenced) that are asked here, with nothing known yet.
 * Returns 0, or ENOMEM with '*known' empty. */
int triad_known_make(struct triad_known *known, struct triad_view *view);

/* Moves what 'old' knows of devices that are in both. */
void triad_known_inherit(struct triad_known *known, struct triad_known *old);

/* Frees all, and leaves it empty. */
void triad_known_clear(struct triad_known *known);

/* NULL: there is none. */
struct triad_known_device *triad_known_find(
	const struct triad_known *known, uint64_t guid);
struct triad_known_slot *triad_known_find_slot(const struct triad_known *known,
	const struct triad_known_device *device, uint8_t number);

#endif
