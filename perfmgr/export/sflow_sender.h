/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sFlow agent: sends the counters of all ports to up to 8 collectors.
 *
 * Model: the owner's thread calls triad_sflow_sender_run() with the PerfManager's view,
 * and sleeps as long as that returns.  Each call encodes the ports that became due
 * (perfmgr/formats/sflow_schedule.h), and sends every datagram to every collector.  So
 * all collectors see the same sequence numbers, and one that misses a datagram sees a
 * gap.  A sample waits for others at most 50 ms, until the next call.
 *
 * Samples carry the engine's totals, which no reset of hardware takes back.  A port
 * that did not answer when it was last asked gives no sample ("skipped"): the same
 * totals again would mean that nothing passed.  Without a view nothing is sent.
 *
 * Requests to the SA that a sampler picked (sampler.h) are sent as flow samples of the
 * SM's port, in datagrams of their own.
 *
 * Sending never waits: datagrams that the kernel doesn't take are lost, and counted for
 * their collector.  A collector that can't be reached is tried again every 5 seconds.
 *
 * The agent's address is the configured one, or else this host's address towards the
 * first collector that can be opened.  An agent lives while it has collectors: uptime,
 * sequence numbers and interfaces begin anew when it gets some after it had none.
 *
 * Thread-safety: one thread calls run; its maker calls new and free; any thread the
 * rest.
 * Memory: without collectors a few hundred octets; else 24 octets a port, and the
 * fabric of the last view. */
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
	bool failing;         /* last_error is less than 10 s old */
};

struct triad_sflow_sender_status {
	struct triad_address agent; /* family 0: not known yet */
	uint64_t n_datagrams;       /* made, for all collectors */
	uint64_t n_samples;
	uint64_t n_flow_samples;
	uint64_t n_skipped; /* due ports without new counters */
	struct triad_sflow_schedule_status schedule;
	unsigned n_collectors;
	struct triad_sflow_collector_status collectors[TRIAD_SFLOW_MAX_COLLECTORS];
};

/* 'udp' is NULL except in tests; 'sampler' (may be NULL) outlives the sender.  NULL
 * when memory is short. */
struct triad_sflow_sender *triad_sflow_sender_new(struct triad_log *log,
	const struct triad_udp *udp, struct triad_sampler *sampler);

/* Accepts NULL. */
void triad_sflow_sender_free(struct triad_sflow_sender *sender);

/* The next run applies it: wake its thread.  Returns 0, or EINVAL with nothing changed
 * when a value is out of its range. */
int triad_sflow_sender_configure(
	struct triad_sflow_sender *sender, const struct triad_sflow_params *params);

/* Sends what is due.  'view' (borrowed) is NULL while the PerfManager doesn't run.
 * Returns after how many microseconds to call again, at most a second; UINT64_MAX: not
 * before the next configure. */
uint64_t triad_sflow_sender_run(struct triad_sflow_sender *sender,
	const struct triad_view *view, uint64_t now_us);

/* The ifIndex of each port of the fabric that is sent at present; immutable. */
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
