/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares forwarding tables that switches have with those that the SM wants.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_ROUTES_AUDIT_H
#define TRIAD_ROUTES_AUDIT_H

#include "routes/layout.h"

#define TRIAD_LFT_BLOCK_SIZE 64u /* entries of a block [IBA 14.2.5.11] */

struct triad_audit_entry {
	uint32_t node; /* the switch, index in the fabric's nodes */
	uint16_t lid;
	uint8_t wanted, found; /* ports; 255: no route */
};

/* How many blocks of the switch's table the SM has made; 0: none. */
uint32_t triad_audit_n_blocks(const struct triad_fabric *fabric, uint32_t node);

/* Gives 'add' each entry of a block that the switch has otherwise. */
void triad_audit_block(const struct triad_fabric *fabric, uint32_t node, uint32_t block,
	const uint8_t found[TRIAD_LFT_BLOCK_SIZE],
	void (*add)(void *context, const struct triad_audit_entry *entry),
	void *context);

/* From how many other hosts' ports the SM's route to the LID leaves by this switch. */
uint32_t triad_audit_n_hosts(
	const struct triad_routes_layout *layout, uint32_t node, uint16_t lid);

#endif
