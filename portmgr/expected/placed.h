/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Maps the rows of an expected configuration to the ports of a fabric.
 *
 * A missing switch is a warning, because it may appear later.  What can never be right
 * is a mistake.
 *
 * Thread-safety: built by one thread, then immutable.  Memory: owns its arrays; the
 * configuration and the fabric are borrowed for the build alone. */
#ifndef TRIAD_PORTMGR_PLACED_H
#define TRIAD_PORTMGR_PLACED_H

#include "portmgr/expected/expected.h"
#include "triad/diag.h"
#include "triad/fabric.h"

#define TRIAD_PLACED_NONE UINT32_MAX

struct triad_placed {
	uint32_t n_ports; /* of the fabric */
	uint32_t *row_of; /* for each port of the fabric, a row, or NONE */
	uint32_t n_rows;
	uint32_t *port_of;  /* for each row, a port of the fabric, or NONE */
	uint32_t n_unknown; /* rows whose switch is not in the fabric, */
	uint32_t *unknown;  /* ascending */
};

/* Returns 0 or ENOMEM. 'mistakes' (may be NULL) gets, with their lines: a node that is
 * not a switch, a name of several nodes, a port number that the switch lacks, a port
 * with two rows (one by GUID, one by name), and contradicting rows about the two ends
 * of a link.  'warnings' (may be NULL) gets missing nodes.  A row with a mistake gets
 * no port. */
int triad_placed_build(const struct triad_expected *expected,
	const struct triad_fabric *fabric, struct triad_diags *mistakes,
	struct triad_diags *warnings, struct triad_placed **placed);
/* Accepts NULL. */
void triad_placed_free(struct triad_placed *placed);

#endif
