/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sFlow agent: sends the counters of all ports to up to 8 collectors.
 *
 * Model: the owner's thread calls triad_sflow_sender_run() with the PerfManager's view, and
 * sleeps as long as that says.  Each call encodes the ports that became due
 * (perfmgr/formats/sflow_schedule.h), and sends every datagram to every collector: they see
 * the same sequence numbers, and a collector that misses a datagram sees a gap.  No sample
 * waits for others longer than 50 ms, after which the next call may be.
 *
 * It sends the engine's totals, which a reset of hardware does not decrease.  A port that
 * did not answer the last request gives no sample ("skipped"): unchanged totals would look
 * idle.  Without a view nothing is sent.
 *
 * Requests to the SA that a sampler picked (sampler.h) are sent as flow samples of the
 * SM's port, in datagrams of their own.
 *
 * It never waits: a datagram that the kernel refuses is lost, and counted for its
 * collector.  It retries an unreachable collector every 5 seconds.
 *
 * The agent's address is the configured one, or else that of this host from which the first
 * collector that can be opened is reached.  An agent exists while it has collectors:
 * uptime, sequence numbers and interfaces restart when it gets collectors after it had
 * none.
 *
 * Thread-safety: run by one thread; new and free by its owner; the rest by any.
 * Memory: without collectors a few hundred octets, else 24 octets a port, and the
 * fabric of the last view is kept. */
#ifndef TRIAD_PERFMGR_EXPORT_SFLOW_SENDER_H
#define TRIAD_PERFMGR_EXPORT_SFLOW_SENDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/export/sampler.h"
#include "perfmgr/export/udp.h"
#include "perfmgr/formats/sflow_schedule.h"
#include "perfmgr/view.h"
#include "triad/address.h"
#include "triad/log.h"

#define TRIAD_SFLOW_MAX_COLLECTORS 8
#define TRIAD_SFLOW_MIN_MTU 576
#define TRIAD_SFLOW_MAX_MTU 9000
#define TRIAD_SFLOW_MIN_INTERVAL_US UINT64_C(100000)
#define TRIAD_SFLOW_MAX_INTERVAL_US (UINT64_C(86400) * 1000000)

struct triad_sflow_sender;

struct triad_sflow_params {
	struct triad_address collectors[TRIAD_SFLOW_MAX_COLLECTORS];
	unsigned n_collectors;
	uint64_t interval_us; /* between two samples of a port */
	struct triad_address agent;
	bool has_agent;
	unsigned mtu; /* of the path to the collectors, IP and UDP headers included */
};

struct triad_sflow_collector_status {
	struct triad_address address;
	uint64_t n_datagrams; /* datagrams that the kernel accepted */
	uint64_t n_drops;     /* datagrams that it refused */
	int last_error;       /* errno of sending or opening it; 0: none yet */
	bool failing;         /* the last error is less than 10 s ago */
};

struct triad_sflow_sender_status {
	struct triad_address agent; /* family 0: not known yet */
	uint64_t n_datagrams;       /* made, whether or not received */
	uint64_t n_samples;
	uint64_t n_flow_samples;
	uint64_t n_skipped; /* due ports that had not answered */
	struct triad_sflow_schedule_status schedule;
	unsigned n_collectors;
	struct triad_sflow_collector_status collectors[TRIAD_SFLOW_MAX_COLLECTORS];
};

/* 'udp' is NULL but in tests; 'sampler' (may be NULL) outlives it.  NULL when memory is
 * short. */
struct triad_sflow_sender *triad_sflow_sender_new(struct triad_log *log,
	const struct triad_udp *udp, struct triad_sampler *sampler);

/* Accepts NULL. */
void triad_sflow_sender_free(struct triad_sflow_sender *sender);

/* Takes effect at the next run: wake its thread.  Returns 0, or EINVAL when a value is out
 * of its range; then nothing changed. */
int triad_sflow_sender_configure(
	struct triad_sflow_sender *sender, const struct triad_sflow_params *params);

/* Sends what is due.  'view' (borrowed) is NULL while the PerfManager doesn't run.
 * Returns in how many microseconds to call again, at most a second; UINT64_MAX: not
 * before the next configure. */
uint64_t triad_sflow_sender_run(struct triad_sflow_sender *sender,
	const struct triad_view *view, uint64_t now_us);

/* The interface of each port of the fabric being sent; immutable. */
struct triad_sflow_indices {
	atomic_uint refs;
	struct triad_fabric *fabric;
	uint32_t if_index[]; /* of each of its ports */
};

/* Referenced; NULL while nothing is sent.  Any thread. */
struct triad_sflow_indices *triad_sflow_sender_indices(
	struct triad_sflow_sender *sender);

/* Accepts NULL. */
void triad_sflow_indices_unref(struct triad_sflow_indices *indices);

/* As of the last run's end. */
struct triad_sflow_sender_status triad_sflow_sender_status(
	struct triad_sflow_sender *sender);

#endif
