/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds what a fabric lost since its last copy: links, and parts with all their nodes.
 *
 * Model: a link of the old fabric is lost when both of its nodes are in the new one, and
 * neither of its ports has a far end there.  A missing port counts, too: the SM may drop a
 * port of a node that it reaches by another port.  Nodes that are missing in the new fabric
 * form parts, as connected by links of the old one.  Each part is one loss, at the links
 * between it and the nodes that stayed.  So a dead cable is one loss, whether it separates
 * two switches or a whole rack; and so is a dead switch with forty links.  (A port that was
 * plugged in elsewhere is no loss.)
 *
 * The new fabric may hide links ('n_hidden').  Then these are no losses: a link with an end
 * that is still up; and a part whose edge has such a link, or has no link that could show
 * the loss.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PERFMGR_LOSSES_H
#define TRIAD_PERFMGR_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

struct triad_loss {
	bool nodes_gone;    /* else a link between nodes that stayed */
	uint32_t near, far; /* the first lost link: ports of the old fabric.  The node
	                       * of 'near' stayed; TRIAD_FABRIC_NONE: the part hung on
	                       * nothing */
	uint32_t n_nodes;   /* missing nodes */
	const uint32_t *nodes; /* of the old fabric, n_nodes of them */
	uint32_t n_links;      /* lost links to nodes that stayed */
	const uint32_t *ends;  /* their ports on that side, n_links of them */
};

/* Calls 'take' for each loss.  'new_port' gives for each port of 'old' the port of
 * 'new' that it is, or TRIAD_FABRIC_NONE.  Returns 0 or ENOMEM; then nothing was
 * taken. */
int triad_losses_find(const struct triad_fabric *old, const struct triad_fabric *new,
	const uint32_t *new_port, void (*take)(void *, const struct triad_loss *),
	void *context);

/* Fills in 'new_port' (room for old->n_ports). */
void triad_losses_match_ports(const struct triad_fabric *old,
	const struct triad_fabric *new, uint32_t *new_port);

#endif
