/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The forms of 'topology' that programs for ibdiagnet's files read.
 *
 * They are written row by row, as a client takes them: nothing grows with the fabric.
 * Once the client is gone, they end early.
 *
 * Thread-safety: functions without state; any thread. */
#ifndef TRIAD_SERVICE_COMMAND_TOPOLOGY_PARTS_H
#define TRIAD_SERVICE_COMMAND_TOPOLOGY_PARTS_H

#include "service/command/moment.h"
#include "triad/fabric.h"

/* As in ibdiagnet2.db_csv: sections of comma-separated values, each with a line of
 * column names.  Columns of ibdiagnet that the fabric does not know are left out; a value that
 * is not known is N/A.  NODES, PORTS, LINKS, SWITCHES and PKEY are of 'fabric'; PM_INFO (the
 * totals) and CABLE_INFO of the moment, which may have no view.  ibdiagnet has no section of
 * SL2VL tables and entries of VL arbitration: they are in TRIAD_SL2VL, a row for each in-ports
 * that share a table, and TRIAD_VL_ARBITRATION.  NumPorts is the highest number of a port that
 * the SM found: it does not see an HCA's other ports. */
void triad_topology_put_db_csv(const struct triad_fabric *fabric,
	const struct triad_moment *moment, struct triad_output *output);

/* As in ibdiagnet2.fdbs, and in OpenSM's opensm.fdbs.  Hops are 0, as ibdiagnet writes them.
 * A switch whose table is not known has a comment. */
void triad_topology_put_fdbs(
	const struct triad_fabric *fabric, struct triad_output *output);
/* As in ibdiagnet2.mcfdbs, and in OpenSM's opensm.mcfdbs. */
void triad_topology_put_mcfdbs(
	const struct triad_fabric *fabric, struct triad_output *output);

#endif
