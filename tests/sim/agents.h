/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Simulated performance management agents: a transport (triad/mad.h) and a clock that
 * stand in for a fabric's PMAs.
 *
 * Time moves only while receive() waits.  Faults are random, from a seed: a MAD is
 * lost, answered twice, answered late, or its answer is garbage; an agent may be
 * silent.  The test sets the counters; code that shares nothing with the decoder
 * encodes them. */
#ifndef TRIAD_TESTS_SIM_AGENTS_H
#define TRIAD_TESTS_SIM_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/collector.h"
#include "ib/counter.h"
#include "ib/detail.h"
#include "triad/fabric.h"
#include "triad/mad.h"

struct agents_reply {
	uint64_t at_us;
	struct triad_mad_reply reply;
};

struct agents {
	struct triad_mad_transport transport;
	struct triad_collector_clock clock;
	const struct triad_fabric *fabric;
	uint64_t now_us;
	uint64_t latency_us, jitter_us;
	unsigned lost_percent, twice_percent, garbage_percent;
	uint64_t seed;
	uint16_t capabilities;  /* of every agent */
	bool has_wide_errors;   /* CapabilityMask2 says so */
	bool lacks_wide_errors; /* in spite of that those of ports are 0 */
	bool ignores_wide_sums; /* PortCountersExtended of all ports gets no answer */
	bool has_zero_sums;     /* all sums are 0 */
	bool refuses_extended;  /* whatever 'capabilities' says */
	uint16_t silent_lid;    /* 0: none */
	bool *silent_lids;      /* also silent, by LID */
	bool lose_set_answers; /* the agent acts on the request, and its answer is lost */
	/* The agent of the first LID is at the second one.  It redirects in each
	 * answer, or only in its ClassPortInfo. */
	uint16_t moved_from, moved_to;
	uint32_t moved_qpn;
	uint16_t moved_pkey;
	bool says_moved_in_info_only;
	unsigned send_room; /* EAGAIN beyond this number in flight; 0: no limit */
	bool broken;        /* receive() fails */
	uint64_t (*raw)[TRIAD_N_COUNTERS]; /* for each port of the fabric */
	/* Detail attributes that are answered; those that get no answer at all.  The
	 * others are refused. */
	uint32_t details, ignored_details;
	struct triad_detail_reading (
		*detail)[TRIAD_PMA_N_ATTRIBUTES]; /* of each port */
	/* counts */
	unsigned n_details, n_detail_sets; /* Gets and Sets of detail attributes */
	unsigned n_detail_of[TRIAD_PMA_N_ATTRIBUTES]; /* Gets of each */
	unsigned n_sent, n_class_port_info, n_summaries, n_sets;
	unsigned n_narrow; /* Gets of PortCounters */
	unsigned in_flight, most_in_flight;
	unsigned lid_in_flight[65536];
	unsigned most_to_one_lid;
	struct agents_reply *queue; /* by time */
	unsigned n_queued, queue_room;
};

/* From now on answers for 'fabric'; ports keep their counters. */
void agents_move_to(struct agents *agents, const struct triad_fabric *fabric);

/* Answers for 'fabric', which must outlive it. */
struct agents *agents_new(const struct triad_fabric *fabric, uint64_t seed);
void agents_free(struct agents *agents);

#endif
