/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of 'struct triad_qos': qos.c has its thread and public functions,
 * qos_build.c the work of the thread. */
#ifndef TRIAD_PLUGIN_QOS_QOS_PARTS_H
#define TRIAD_PLUGIN_QOS_QOS_PARTS_H

#include "lib/task.h"
#include "plugin/qos/broadcast.h"
#include "plugin/qos/policy_source.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/tables.h"

struct triad_qos_settings {
	bool enabled;
	bool tables, tables_guard;
	bool groups;
	bool holds; /* ports may be held back; requests for paths to them are refused */
};

struct triad_qos {
	struct osm_opensm *osm;
	struct triad_recorder *recorder;
	struct triad_log *log;
	_Atomic(struct triad_qos_server *) server; /* NULL until QoS is first enabled */
	struct triad_sampler *sampler;
	struct triad_hold *hold;
	struct triad_policy_source source;
	struct triad_tables *tables;
	struct triad_broadcast *broadcast;

	atomic_ulong sweeps, marks;
	atomic_ulong sweeps_up;   /* 'sweeps' when the last sweep finished */
	atomic_bool look_wanted;  /* check the policy's file */
	atomic_bool load_desired; /* load the file, changed or not */

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	bool work_wanted;
	struct triad_qos_settings settings;
	uint64_t reported_not_found; /* triad-qos alone, as is the next */
	/* The policy in force: the last one whose tables the guard did not refuse;
	 * NULL: none. */
	struct triad_policy *accepted;
	struct triad_fabric *fabric;
	unsigned long n_forgotten; /* number of fabrics forgotten: their snapshots
				    * are dropped, too */
	struct triad_qos_moment fabric_before;
	bool fabric_settled, fabric_up;
	struct triad_qos_snapshot *snapshot;
	struct triad_qos_status status;
};

/* Whether anything needs the policy. */
static inline bool triad_qos_wants_policy(const struct triad_qos_settings *settings)
{
	return settings->enabled || settings->tables || settings->groups;
}

/* Does the work that follows from settings, policy and fabric; in triad-qos. */
void triad_qos_work(struct triad_qos *qos);

#endif
