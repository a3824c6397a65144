/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the elector, for its own files:
 *
 *     elector.c          life, thread, what comes in
 *     elector_act.c      what the machine asks for: files, messages, OpenSM, the log
 *     elector_conf.c     the configuration put into force
 *     elector_ask.c      operators and permission
 *     elector_sink.c     what the transport hands over
 *     elector_status.c   what the elector publishes of itself */
#ifndef TRIAD_PLUGIN_ELECTION_ELECTOR_PARTS_H
#define TRIAD_PLUGIN_ELECTION_ELECTOR_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "lib/inbox.h"
#include "lib/task.h"
#include "plugin/election/elector.h"
#include "plugin/election/health_watch.h"
#include "portmgr/election/divided.h"
#include "portmgr/election/port_health.h"
#include "service/state_probe.h"
#include "triad/clock.h"
#include "triad/file.h"
#include "triad/line_file.h"

/* A step takes less than this, unless a disk hangs. */
#define ELECTOR_PATIENCE_US (TRIAD_US_PER_S / 2)

struct triad_elector {
	struct osm_opensm *osm;
	uint64_t id;
	struct triad_log *log;
	struct triad_sm_control *sm;
	struct triad_health_watch *watch;
	struct triad_state_probe *probe;
	struct triad_fabric_ask *fabric;

	atomic_bool is_up; /* left by OpenSM's thread */

	/* Input from the transport's thread. */
	pthread_mutex_t inbox_lock;
	struct triad_task task;
	bool has_view;
	struct triad_cluster_view view; /* the last */
	struct triad_inbox inbox;       /* an empty payload: 'view' is new */

	pthread_mutex_t listener_lock; /* guards the listeners */
	struct triad_cluster_sink listeners[TRIAD_ELECTOR_N_LISTENERS]; /* 'view' NULL:
									   nobody */

	pthread_mutex_t lock; /* guards what follows, unless noted otherwise */
	bool is_on, has_resigned;
	const struct triad_conf *conf; /* in force; the defaults before the first one */
	struct triad_election *election;
	struct triad_cluster *cluster;
	struct triad_port_health health;
	uint64_t health_us;   /* when local ports were seen last */
	bool is_blind;        /* the ports could not be read for too long */
	uint64_t absent_port; /* of election.ports; 0: all are there */
	uint64_t due_us;      /* when the present step was due */
	uint64_t n_late, longest_late_us;
	struct triad_log_limit late_limit;
	struct triad_release release;
	enum triad_check check;
	uint64_t verdict_us; /* 0: none yet */
	bool verdict;
	uint64_t generation, hash;
	uint64_t ports[TRIAD_CONF_MAX_GUIDS];
	size_t n_ports;
	bool has_left; /* a transport's thread hangs, and can reach this struct */
	uint32_t longest_lease_ms;     /* that this process promised */
	struct triad_sm_target target; /* as the election wants it */
	struct triad_sm_target given;  /* as triad-sm has it */
	struct triad_divided divided;
	bool has_store_trouble;
	uint64_t n_store_failed;
	struct triad_line_file trace;
	struct triad_file_report reported_trace;
	struct triad_permission traced, reported; /* last */
	enum triad_election_state reported_state;
	uint64_t reported_master;

	pthread_mutex_t facts_lock; /* guards the next two members */
	struct triad_permission_facts facts;
	struct triad_elector_status status; /* as of the last step */

	pthread_mutex_t conf_lock; /* one configuration at a time; before 'lock' */
};

/* --- elector_act.c: with 'lock' held --- */
/* Carries out the machine's actions, and publishes the result. */
void elector_act(struct triad_elector *elector);
/* Opens the trace that the configuration names, or closes it. */
void elector_open_trace(struct triad_elector *elector);
/* Tells fabric_ask.h the members to ask over the fabric, and which one is the
 * master. */
void elector_look_at_fabric(struct triad_elector *elector);

/* --- elector_status.c --- */
/* Call it after every change.  A hanging disk may keep 'lock' held, so readers use only
 * what is published. */
void elector_publish_and_unlock(struct triad_elector *elector);
enum triad_check elector_find_check(
	const struct triad_elector *elector, uint64_t now_us);

/* --- elector_conf.c --- */
/* Resigns and leaves the cluster.  Returns false when the election's thread hangs: then
 * it has only withdrawn permission. */
bool elector_stop(struct triad_elector *elector);

/* --- elector_sink.c --- */
/* Wakes the elector's thread. */
void elector_poke(struct triad_elector *elector);
void elector_clear_inbox(struct triad_elector *elector);
/* Called by the transport's thread. */
struct triad_cluster_sink elector_sink(struct triad_elector *elector);

#endif
