/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An expected configuration laid over a fabric: which row is about which port.
 *
 * What does not fit is a finding: a switch that is not there may come later, so it is
 * a warning; what can never be right is a mistake.
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

/* Returns 0 or ENOMEM.  'mistakes' (may be NULL) gets, with lines: a node that is no
 * switch, a name that several nodes have, a port that the switch has not, a port that
 * two rows are about (one by GUID, one by name), rows about the two ends of a link that
 * contradict each other; 'warnings' (may be NULL) a node that is not there. Rows with a
 * mistake have no port. */
int triad_placed_build(const struct triad_expected *expected,
	const struct triad_fabric *fabric, struct triad_diags *mistakes,
	struct triad_diags *warnings, struct triad_placed **placed);
/* Accepts NULL. */
void triad_placed_free(struct triad_placed *placed);

#endif
