/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/basis.h"

#include <stdatomic.h>
#include <stdlib.h>

struct counted {
	struct triad_qos_basis basis;
	atomic_uint refs;
};

struct triad_qos_basis *triad_qos_basis_new(struct triad_paths *paths,
	struct triad_classifier *classifier, enum triad_service_id_mask service_id,
	bool osm_has_it)
{
	static atomic_ulong generations;
	struct counted *counted = malloc(sizeof(*counted));

	if (!counted) {
		triad_paths_unref(paths);
		triad_classifier_unref(classifier);
		return NULL;
	}
	atomic_init(&counted->refs, 1);
	counted->basis = (struct triad_qos_basis){
		.generation = atomic_fetch_add(&generations, 1) + 1,
		.paths = paths,
		.classifier = classifier,
		.service_id = service_id,
		.osm_has_it = osm_has_it,
	};
	return &counted->basis;
}

struct triad_qos_basis *triad_qos_basis_ref(struct triad_qos_basis *basis)
{
	atomic_fetch_add_explicit(
		&((struct counted *)basis)->refs, 1, memory_order_relaxed);
	return basis;
}

void triad_qos_basis_unref(struct triad_qos_basis *basis)
{
	if (!basis || atomic_fetch_sub(&((struct counted *)basis)->refs, 1) != 1)
		return;
	triad_paths_unref(basis->paths);
	triad_classifier_unref(basis->classifier);
	free(basis);
}
