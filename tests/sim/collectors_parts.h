/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared by the parts of the simulated collectors: collectors.c has agents, time and
 * the broker, collectors_fabric.c the fabric, collectors_check.c the checks. */
#ifndef TRIAD_TESTS_SIM_COLLECTORS_PARTS_H
#define TRIAD_TESTS_SIM_COLLECTORS_PARTS_H

#include "tests/sim/collectors.h"
#include "tests/sim/event_heap.h"

/* The fabric as it was at one moment, without the nodes that were down. */
struct sight {
	unsigned n_refs;
	uint64_t number; /* greater is newer */
	uint32_t n;
	uint64_t *guids;
	uint32_t *places; /* of all nodes; UINT32_MAX: it is down */
	uint8_t *hops;    /* [agent][n] */
};

struct graph {
	uint32_t n, n_hosts;
	bool *is_up;
	uint32_t *first,
		*far; /* neighbours of i: far[first[i]] to before first[i + 1] */
};

struct payload {
	unsigned n_refs;
	size_t size;
	uint8_t octets[];
};

struct event {
	uint64_t at_us, number; /* event_heap.h */
	enum { DELIVER, SEE, SAY_ALIVE, FAIL, MEND, LOOK } kind;
	unsigned from, to;
	uint64_t life;
	uint32_t node;
	struct payload *payload;
	struct sight *sight;
};

struct agent {
	struct collectors *all;
	struct triad_claims *claims; /* NULL: dead */
	unsigned number, group;
	uint64_t life, offset_us;
	uint32_t host;
	uint64_t paused_us;
	bool is_paused, is_draining;
	struct sight *sight;
	uint64_t wake_us;     /* true time */
	uint64_t *last_at_us; /* of each sender */
	struct event *inbox;  /* while paused */
	unsigned n_inbox, max_inbox;
};

struct collectors {
	unsigned n_agents; /* without the observer */
	struct agent *agents;
	struct graph graph;
	struct sight *sight; /* the newest */
	uint64_t now_us, random, n_events, n_sights;
	unsigned loss_percent, doubles_percent;
	uint64_t min_delay_us, max_delay_us, mtbf_us;
	bool may_overtake;
	struct event_heap heap;
	struct collectors_traffic traffic;
	struct triad_collect_claim *entries; /* of the current message */
	uint64_t *guids;

	bool is_watching, has_loads;
	uint64_t *two_since_us, *none_since_us; /* [group][node]; 0: it is not so */
	char violation[256], wrong[256];
};

void *collectors_must(void *memory);

/* --- collectors_fabric.c --- */
void collectors_make_graph(struct graph *graph, uint32_t n_nodes);
void collectors_free_graph(struct graph *graph);
uint64_t collectors_guid(uint32_t node);
/* With one reference. */
struct sight *collectors_look(struct collectors *collectors);
void collectors_unref_sight(struct sight *sight);

/* --- collectors_check.c --- */
void collectors_take_note(struct collectors *collectors);

#endif
