/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Simulated performance management agents: a transport (triad/mad.h) and a clock that
 * stand in for a fabric's PMAs.
 *
 * Time moves only while receive() waits.  Faults are by dice with a seed: a MAD is
 * lost, answered twice, answered late, or its answer is garbage; an agent may be
 * silent.  Counters are what the test set; they are encoded by code of its own. */
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
	uint16_t capabilities; /* of every agent */
	bool refuses_extended; /* whatever 'capabilities' says */
	uint16_t silent_lid;   /* 0: none */
	bool *silent_lids;     /* these too, by LID */
	bool lose_set_answers; /* what was asked is done all the same */
	/* The agent of the first LID is at the second one, and says so in whatever it
	 * answers, or only in its ClassPortInfo. */
	uint16_t moved_from, moved_to;
	uint32_t moved_qpn;
	uint16_t moved_pkey;
	bool says_moved_in_info_only;
	unsigned send_room; /* EAGAIN past so many in flight; 0: any number */
	bool broken;        /* receive() fails */
	uint64_t (*raw)[TRIAD_N_COUNTERS]; /* for each port of the fabric */
	/* Detail attributes that are answered; that are answered by nothing at all.
	 * The others are refused. */
	uint32_t details, ignored_details;
	struct triad_detail_reading (
		*detail)[TRIAD_PMA_N_ATTRIBUTES]; /* of each port */
	/* what was seen */
	unsigned n_details, n_detail_sets; /* Gets and Sets of detail attributes */
	unsigned n_detail_of[TRIAD_PMA_N_ATTRIBUTES]; /* Gets of each */
	unsigned n_sent, n_class_port_info, n_summaries, n_sets;
	unsigned in_flight, most_in_flight;
	unsigned lid_in_flight[65536];
	unsigned most_to_one_lid;
	struct agents_reply *queue; /* by time */
	unsigned n_queued, queue_room;
};

/* From now on it is 'fabric' that is answered for; ports keep their counters. */
void agents_move_to(struct agents *agents, const struct triad_fabric *fabric);

/* Answers for 'fabric', which must outlive it. */
struct agents *agents_new(const struct triad_fabric *fabric, uint64_t seed);
void agents_free(struct agents *agents);

#endif
