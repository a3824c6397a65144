/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The QoS tables of a port, one after the other: as they should be, and as the SM knows
 * them.
 *
 * Thread-safety: functions without state.  Memory: none. */
#ifndef TRIAD_QOS_PORT_TABLES_H
#define TRIAD_QOS_PORT_TABLES_H

#include "qos/setup/desired.h"
#include "qos/setup/setup_plan.h"

/* One table, or SL2VL tables of in-ports in a row that are alike. */
struct triad_port_table {
	enum triad_setup_table table;
	uint8_t in_first, in_last; /* numbers; of SL2VL */
	uint8_t n;                 /* entries of an arbitration table */
	union triad_setup_value policy, sm;
};

/* In-ports of the SL2VL tables of 'port'; 0: it has none. */
unsigned triad_port_tables_n_in_ports(
	const struct triad_desired *desired, uint32_t port);

/* Gives each table of a port that is looked at: SL2VL of each in-port, VLArb low and
 * high, high limit. */
typedef void triad_port_tables_take(
	void *context, uint32_t port, const struct triad_port_table *table);
void triad_port_tables_each(const struct triad_desired *desired, uint32_t port,
	triad_port_tables_take *take, void *context);

/* Whether two values of a table with 'n' entries are the same. */
bool triad_port_table_is_same(enum triad_setup_table table, unsigned n,
	const union triad_setup_value *a, const union triad_setup_value *b);

#endif
