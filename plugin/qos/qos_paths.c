/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The present answers, for agents (service/path_exchange.h).  Does not take OpenSM's
 * lock. */
#include "plugin/opensm.h"

#include "plugin/qos/qos_parts.h"

#include <errno.h>

#include "plugin/ports/hold.h"
#include "qos/path_rows.h"

/* A generation is the number of the snapshot and, below HOLD_BITS, of the change of
 * held ports.  Both change with heavy sweeps, so no agent still has an old number when
 * the lower half wraps. */
#define HOLD_BITS 32

/* False also while paths are marked: the sweep is changing some, and OpenSM answers for
 * them.  The caller holds the lock. */
static bool is_published(const struct triad_qos *qos)
{
	return qos->fabric && qos->snapshot &&
		qos->status.state == TRIAD_QOS_ANSWERING &&
		!atomic_load(&qos->snapshot->paths->marked) &&
		triad_osm_peek(&qos->osm->subn.sm_state) == IB_SMINFO_STATE_MASTER;
}

/* The caller holds the lock. */
static uint64_t generation_of(const struct triad_qos *qos)
{
	return (uint64_t)qos->snapshot->generation << HOLD_BITS |
		triad_hold_n_changes(qos->hold);
}

bool triad_qos_paths_now(struct triad_qos *qos, uint64_t *generation)
{
	bool is_there;

	pthread_mutex_lock(&qos->lock);
	is_there = is_published(qos);
	if (is_there)
		*generation = generation_of(qos);
	pthread_mutex_unlock(&qos->lock);
	return is_there;
}

/* Removes paths from and to held ports, as requests for these find no records. */
static void leave_out_held(struct triad_hold *hold, struct triad_path_table *table)
{
	bool is_source_held = triad_hold_has_end(hold, table->lid, table->guid);

	for (uint32_t i = 0; i < table->n; i++) {
		struct triad_path_row *row = &table->rows[i];

		if (!row->has_path ||
			(!is_source_held &&
				!triad_hold_has_end(hold, row->lid, row->guid)))
			continue;
		*row = (struct triad_path_row){.guid = row->guid,
			.lid = row->lid,
			.type = row->type,
			.number = row->number,
			.lmc = row->lmc};
		table->n_paths--;
	}
}

/* A reference to the snapshot of that generation; NULL: there is another one now. */
static struct triad_qos_snapshot *snapshot_of(
	struct triad_qos *qos, uint64_t generation)
{
	struct triad_qos_snapshot *snapshot = NULL;

	pthread_mutex_lock(&qos->lock);
	if (is_published(qos) && generation_of(qos) == generation)
		snapshot = triad_qos_snapshot_ref(qos->snapshot);
	pthread_mutex_unlock(&qos->lock);
	return snapshot;
}

int triad_qos_paths_make(struct triad_qos *qos, uint64_t generation, uint64_t guid,
	struct triad_path_table **table)
{
	struct triad_qos_snapshot *snapshot = snapshot_of(qos, generation);
	struct triad_answer_snapshot answers;
	uint64_t after;
	int error;

	if (!snapshot)
		return ESTALE;
	answers = (struct triad_answer_snapshot){
		.paths = snapshot->paths, .classifier = snapshot->classifier};
	error = triad_path_rows_make(&answers, guid, table);
	triad_qos_snapshot_unref(snapshot);
	if (error)
		return error;
	if (triad_hold_has_any(qos->hold))
		leave_out_held(qos->hold, *table);
	if (triad_qos_paths_now(qos, &after) && after == generation)
		return 0;
	triad_path_table_unref(*table);
	return ESTALE;
}
