/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Gives a fabric that is not the SM's own the names of OpenSM's node name map.
 *
 * The file is read each time: a fabric comes once a minute, or after a change.
 *
 * Thread-safety: one thread at a time for each structure. */
#ifndef TRIAD_SERVICE_NODE_NAMES_H
#define TRIAD_SERVICE_NODE_NAMES_H

#include "triad/fabric.h"
#include "triad/log.h"

/* What was logged last, so that each trouble is logged once; zeroed at first. */
struct triad_node_names {
	int error;
	unsigned wrong_line;
};

/* Names the nodes of 'fabric', which no other thread has yet, by the map at 'path'; "":
 * does nothing.  Logs why nodes keep their own names. */
void triad_node_names_apply(struct triad_node_names *names, const char *path,
	struct triad_fabric *fabric, struct triad_log *log);

#endif
