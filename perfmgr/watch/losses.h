/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds what a fabric lost since the last one: links, and nodes with all behind them.
 *
 * Model: a link of the old fabric is lost when both its nodes are in the new one, and
 * neither port has a far end there.  (Either port may be missing there: the SM may drop
 * a port of a node that it reaches by another one.)  Nodes missing in the new fabric
 * form one part, and one loss, as far as links of the old fabric join them.  The loss
 * is seen at the links between the part and the nodes that stayed.  So a dead cable is
 * one loss, whether it parts two switches or takes a rack with it, and so is a dead
 * switch with forty links.  A port that was plugged in elsewhere is no loss.
 *
 * The new fabric may hide links ('n_hidden').  Then two things are no loss: a link with
 * an end that is still up; and a part that has such a link to nodes that stayed, or no
 * link at all that could show whether it is gone.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PERFMGR_LOSSES_H
#define TRIAD_PERFMGR_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

struct triad_loss {
	bool nodes_gone;       /* else a link between nodes that stayed */
	uint32_t near, far;    /* first lost link: ports of the old fabric.  The node of
	                        * 'near' stayed; TRIAD_FABRIC_NONE: no lost link leads
	                        * to the part */
	uint32_t n_nodes;      /* that are gone */
	const uint32_t *nodes; /* of the old fabric, n_nodes of them */
	uint32_t n_links;      /* lost links to nodes that stayed */
	const uint32_t *ends;  /* their ports at those nodes, n_links of them */
};

/* Calls 'take' for each loss.  'new_port' maps each port of 'old' to the same port of
 * 'new', or TRIAD_FABRIC_NONE.  Returns 0, or ENOMEM before any call. */
int triad_losses_find(const struct triad_fabric *old, const struct triad_fabric *new,
	const uint32_t *new_port, void (*take)(void *, const struct triad_loss *),
	void *context);

/* Fills in 'new_port' (room for old->n_ports). */
void triad_losses_match_ports(const struct triad_fabric *old,
	const struct triad_fabric *new, uint32_t *new_port);

#endif
