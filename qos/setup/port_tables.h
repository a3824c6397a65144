/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Enumerates the QoS tables of a port: the desired ones, and those that the SM knows.
 *
 * Thread-safety: functions without state.  Memory: none. */
#ifndef TRIAD_QOS_PORT_TABLES_H
#define TRIAD_QOS_PORT_TABLES_H

#include "qos/setup/desired.h"
#include "qos/setup/setup_plan.h"

/* One table, or equal SL2VL tables of consecutive in-ports. */
struct triad_port_table {
	enum triad_setup_table table;
	uint8_t in_first, in_last; /* numbers; of SL2VL */
	uint8_t n;                 /* entries of an arbitration table */
	union triad_setup_value policy, sm;
};

/* The number of in-ports of the SL2VL tables of 'port'; 0: it has none. */
unsigned triad_port_tables_n_in_ports(
	const struct triad_desired *desired, uint32_t port);

/* Calls 'take' for each table of an examined port: SL2VL of each in-port, VLArb low and
 * high, high limit. */
typedef void triad_port_tables_take(
	void *context, uint32_t port, const struct triad_port_table *table);
void triad_port_tables_each(const struct triad_desired *desired, uint32_t port,
	triad_port_tables_take *take, void *context);

/* Whether two values of a table with 'n' entries are the same. */
bool triad_port_table_is_same(enum triad_setup_table table, unsigned n,
	const union triad_setup_value *a, const union triad_setup_value *b);

#endif
