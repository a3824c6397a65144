/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The worker: the thread that acts on OpenSM's events.
 *
 * - When OpenSM has brought the subnet up or rerouted it, the worker takes a snapshot and
 *   hands it to the PerfManager, the port manager, QoS and the check of routes.
 * - It informs the PerfManager whether this SM is master.
 * - While this SM is standby and must read counters, it has the topology fetched
 *   (service/sa_source.h).
 * - It checks whether this SM does its work (plugin/sm_watch.h), and helps it
 *   (plugin/sm_recover.h).
 * - It reads OpenSM's log for what OpenSM could not do (plugin/sm_errors.h).
 * - It waits for OpenSM's console to appear, and puts Triad before it.
 *
 * SUBNET_UP comes late when ports don't answer the SM. So the worker also takes a
 * snapshot some time after switches were routed. */
#ifndef TRIAD_PLUGIN_WORKER_H
#define TRIAD_PLUGIN_WORKER_H

#include <stdint.h>

#include "plugin/events.h"
#include "plugin/sm_errors.h"
#include "plugin/sm_watch.h"
#include "triad/conf.h"
#include "triad/fabric.h"
#include "triad/log.h"

struct osm_opensm;
struct triad_console;
struct triad_perf;
struct triad_qos;
struct triad_ports;
struct triad_recorder;
struct triad_route_checker;
struct triad_sa_source;
struct triad_speed_reader;
struct triad_worker;

struct triad_worker_status {
	uint64_t n_snapshots;
	uint64_t n_discarded; /* a sweep began while they were taken */
	uint64_t n_failed;
	/* of the last snapshot */
	uint64_t generation, taken_us, lock_us, octets;
	uint32_t n_nodes, n_switches, n_ports, n_links;
	struct triad_sm_watch sm;      /* whether this SM does its work */
	uint64_t n_recoveries;         /* steps taken to help it */
	struct triad_sm_errors errors; /* what OpenSM's log says */
	bool reads_log;                /* whether they are known */
	/* Of a master: the routing engine in force, and the one that opensm.conf wants;
	 * "": not known, or none. */
	char engine[24], engine_wanted[24];
};

/* From create().  Starts the thread.  The arguments outlive it.  NULL when memory or
 * threads are short. */
struct triad_worker *triad_worker_new(struct osm_opensm *osm, struct triad_log *log,
	struct triad_events *events, struct triad_perf *perf,
	struct triad_sa_source *source, struct triad_qos *qos,
	struct triad_ports *ports, struct triad_recorder *recorder,
	struct triad_route_checker *routes, struct triad_speed_reader *speeds);
void triad_worker_free(struct triad_worker *worker);

/* Applies sm.recover. */
void triad_worker_configure(struct triad_worker *worker, const struct triad_conf *conf);

/* Sets the console that the worker arms until it is freed. */
void triad_worker_set_console(
	struct triad_worker *worker, struct triad_console *console);

/* From report() of HEAVY_SWEEP_START: never blocks. */
void triad_worker_note_sweep(struct triad_worker *worker);

/* From report() of HEAVY_SWEEP_DONE, in the SM's thread, when the discovery has finished:
 * reads the QoS tables that OpenSM has by default. */
void triad_worker_note_discovered(struct triad_worker *worker);

struct triad_worker_status triad_worker_status(struct triad_worker *worker);

/* Whether routes are made by another routing engine than opensm.conf wants. */
bool triad_worker_has_other_engine(const struct triad_worker_status *status);

/* Whether the fabric of that generation is the latest, and no heavy sweep has begun
 * since it was copied. */
bool triad_worker_is_current(struct triad_worker *worker, uint64_t generation);

#endif
