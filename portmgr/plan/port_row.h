/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What 'port list' and 'port plan' show: a row for each port that the expected
 * configuration has, and the state of the port manager; also as octets, in which images
 * keep them.
 *
 * The octets are one for the kind, then a table of fields (lib/fields.h) and a text.  A
 * reader ignores what a later version adds after that.  Enumerations are written by
 * value: new values must be added at the end, and functions that name them must accept
 * unknown values.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PORTMGR_PORT_ROW_H
#define TRIAD_PORTMGR_PORT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "portmgr/plan/plan.h"
#include "triad/fabric.h"

#define TRIAD_PORT_ROW_SIZE 1024u /* octets of either, at most */

/* One port. */
struct triad_port_row {
	uint64_t node_guid;
	char node[TRIAD_NODE_NAME_SIZE];
	uint8_t number;
	uint8_t expected;   /* enum triad_expected_state */
	uint8_t state;      /* enum triad_port_state; 0: not in the fabric */
	uint8_t phys_state; /* PortInfo:PortPhysicalState */
	bool is_held, is_tested, is_failed, is_admitted;
	bool has_item; /* the plan has an item for it, to which the following apply */
	uint8_t kind, reason, note, guard, agenda;
	bool is_overridden, is_approved;
	uint32_t n_lost;  /* nodes that could no longer be reached, with a guard */
	uint8_t step;     /* enum triad_test_step, of a test */
	char remote[192]; /* what is expected there */
	char text[512];   /* why, or what it waits for */
};

/* The state of the port manager, which precedes the rows. */
struct triad_port_rows_head {
	uint64_t generation; /* of the configuration in force; 0: none */
	bool is_enforcing;   /* mode = enforce */
	bool may_act;
	bool is_stopped; /* there are more items than max_actions */
	uint32_t n_of_kind[TRIAD_PLAN_N_KINDS];
	uint32_t n_guarded;
	char trouble
		[256]; /* what keeps it from acting, beside permission; "": nothing */
};

/* Return how many octets there are. */
size_t triad_port_row_put(
	const struct triad_port_row *row, uint8_t octets[TRIAD_PORT_ROW_SIZE]);
size_t triad_port_rows_head_put(
	const struct triad_port_rows_head *head, uint8_t octets[TRIAD_PORT_ROW_SIZE]);

/* False if the octets are not of that kind; then the structure is undefined. */
bool triad_port_row_get(const uint8_t *octets, size_t size, struct triad_port_row *row);
bool triad_port_rows_head_get(
	const uint8_t *octets, size_t size, struct triad_port_rows_head *head);

#endif
