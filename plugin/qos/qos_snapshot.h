/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The answer snapshot: the fabric's paths, the compiled policy, and the keys of
 * triad.conf that answers depend on.  Immutable and swapped whole, so that every answer
 * follows from one policy and one fabric, never a mixture.
 *
 * Thread-safety: made by one thread, then shared by reference count. */
#ifndef TRIAD_PLUGIN_QOS_QOS_SNAPSHOT_H
#define TRIAD_PLUGIN_QOS_QOS_SNAPSHOT_H

#include <stdint.h>

#include "qos/answer.h"

struct triad_qos_snapshot {
	unsigned long generation;
	struct triad_paths *paths;
	struct triad_classifier *classifier; /* NULL: no policy */
	bool osm_has_it; /* OpenSM's own answers follow the same policy */
};

/* Takes over the references to 'paths' and 'classifier', even if it returns NULL
 * because memory is short. */
struct triad_qos_snapshot *triad_qos_snapshot_new(struct triad_paths *paths,
	struct triad_classifier *classifier, bool osm_has_it);
struct triad_qos_snapshot *triad_qos_snapshot_ref(struct triad_qos_snapshot *snapshot);
void triad_qos_snapshot_unref(struct triad_qos_snapshot *snapshot); /* accepts NULL */

#endif
