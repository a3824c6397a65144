/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The member under test, HERE, in an election with two others: BETTER wins against it,
 * WORSE loses.  The fixture plays the other two, and keeps the messages and actions of
 * the member under test. */
#ifndef TRIAD_TESTS_UNIT_PORTMGR_ELECTION_FIXTURE_H
#define TRIAD_TESTS_UNIT_PORTMGR_ELECTION_FIXTURE_H

#include <string.h>

#include "portmgr/election/election.h"
#include "portmgr/election/priority.h"
#include "tests/unit/run.h"

#define MS UINT64_C(1000)
#define HERE 5u
#define LEASE_MS 400u
/* If the priorities are equal, the lower id wins. */
#define BETTER 3u
#define WORSE 9u
#define GOOD (TRIAD_PRIORITY_PORTS_OK | 8u << 14 | 2u << 8)
#define GOOD_MASTER (GOOD | TRIAD_PRIORITY_IS_MASTER)

static struct triad_election *election;
static uint64_t now_us;
static unsigned n_sent[4], n_take_over, n_step_down, n_stored;
static struct triad_election_message last_sent[4];
static bool is_disk_full;

static inline void forget(void)
{
	memset(n_sent, 0, sizeof(n_sent));
	n_take_over = n_step_down = n_stored = 0;
}

static inline void collect(void)
{
	struct triad_election_action action;

	while (triad_election_take_action(election, &action)) {
		if (action.kind == TRIAD_ELECTION_SEND) {
			n_sent[action.message.kind]++;
			last_sent[action.message.kind] = action.message;
		}
		n_take_over += action.kind == TRIAD_ELECTION_TAKE_OVER;
		n_step_down += action.kind == TRIAD_ELECTION_STEP_DOWN;
		n_stored += action.kind == TRIAD_ELECTION_STORE;
		if (action.kind == TRIAD_ELECTION_STORE && is_disk_full)
			triad_election_store_failed(election);
	}
}

static inline void see(unsigned n_members)
{
	struct triad_cluster_view view = {.number = now_us,
		.is_connected = true,
		.is_quorate = true,
		.n_members = n_members,
		.members = {HERE, BETTER, WORSE},
		.n_votes_needed = 2};

	triad_election_view(election, &view, now_us);
	collect();
}

/* Creates the member; it isn't in a view of the cluster yet. */
static inline void begin(void)
{
	const struct triad_election_conf conf = {.id = HERE,
		.status_ms = 100,
		.keepalive_ms = 500,
		.timeout_ms = 200,
		.step_ms = 50,
		.n_steps = 3,
		.lease_ms = LEASE_MS,
		.has_cluster = true};
	const struct triad_election_stored stored = {.term = 0};

	now_us = 1000 * MS;
	is_disk_full = false;
	election = triad_election_new(&conf, &stored, now_us);
	ck_assert_ptr_nonnull(election);
	triad_election_ports(election,
		&(struct triad_port_health){.n_ports = 2, .n_good = 2, .is_up = true},
		now_us);
}

static inline void set_up(void)
{
	begin();
	see(3);
	forget();
}

static inline void tear_down(void)
{
	triad_election_free(election);
}

static inline struct triad_election_message message_of(enum triad_election_kind kind,
	uint64_t from, enum triad_election_state state, uint32_t priority)
{
	return (struct triad_election_message){.kind = kind,
		.state = state,
		.flags = TRIAD_ELECTION_IS_ABLE,
		.from = from,
		.to = kind == TRIAD_ELECTION_STATUS ? 0 : HERE,
		.lease_ms = LEASE_MS,
		.priority = priority};
}

static inline void receive_message(const struct triad_election_message *message)
{
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	size_t size = triad_election_message_encode(message, octets);

	triad_election_payload(election, message->from, octets, size, now_us);
	collect();
}

static inline void receive_from(enum triad_election_kind kind, uint64_t from,
	enum triad_election_state state, uint32_t priority)
{
	struct triad_election_message message = message_of(kind, from, state, priority);

	receive_message(&message);
}

static inline void run_to(uint64_t us)
{
	now_us = us;
	triad_election_run(election, now_us);
	collect();
}

static inline struct triad_election_status status(void)
{
	struct triad_election_status now;

	triad_election_status(election, now_us, &now);
	return now;
}

static inline enum triad_election_state state(void)
{
	return status().state;
}
static inline void become_standby_of_better(void)
{
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	ck_assert_uint_eq(status().master, BETTER);
	forget();
}

static inline void become_master(void)
{
	run_to(1200 * MS);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	forget();
}

#endif
