/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/qos_snapshot.h"

#include <stdatomic.h>
#include <stdlib.h>

struct counted {
	struct triad_qos_snapshot snapshot;
	atomic_uint refs;
};

struct triad_qos_snapshot *triad_qos_snapshot_new(
	struct triad_paths *paths, struct triad_classifier *classifier, bool osm_has_it)
{
	static atomic_ulong generations;
	struct counted *counted = malloc(sizeof(*counted));

	if (!counted) {
		triad_paths_unref(paths);
		triad_classifier_free(classifier);
		return NULL;
	}
	atomic_init(&counted->refs, 1);
	counted->snapshot = (struct triad_qos_snapshot){
		.generation = atomic_fetch_add(&generations, 1) + 1,
		.paths = paths,
		.classifier = classifier,
		.osm_has_it = osm_has_it,
	};
	return &counted->snapshot;
}

struct triad_qos_snapshot *triad_qos_snapshot_ref(struct triad_qos_snapshot *snapshot)
{
	atomic_fetch_add_explicit(
		&((struct counted *)snapshot)->refs, 1, memory_order_relaxed);
	return snapshot;
}

void triad_qos_snapshot_unref(struct triad_qos_snapshot *snapshot)
{
	if (!snapshot || atomic_fetch_sub(&((struct counted *)snapshot)->refs, 1) != 1)
		return;
	triad_paths_unref(snapshot->paths);
	triad_classifier_free(snapshot->classifier);
	free(snapshot);
}
