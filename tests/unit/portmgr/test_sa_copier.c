/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The network between a master and standbys loses, repeats and delays packets, and is
 * partitioned.  Masters die, return, and don't know of each other for a while.  In the
 * end the standbys have the records of the last master, and they report themselves
 * complete only when they are. */
#include "portmgr/sa/sa_copier.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/random.h"
#include "tests/unit/portmgr/sa_records.h"
#include "triad/clock.h"

#define MAX_MEMBERS 5u
#define MAX_PACKETS 20000u
#define TICK_US TRIAD_US_PER_MS
#define RATE 1000000u
#define WALL_US (UINT64_C(1700000000) * TRIAD_US_PER_S)

struct packet {
	uint64_t due_us;
	unsigned from, to;
	size_t size;
	uint8_t payload[TRIAD_SA_PAYLOAD_SIZE];
};

struct member {
	bool is_up, is_master;
	unsigned side;   /* in a partition of the network */
	unsigned master; /* the SM that its OpenSM follows */
	struct triad_sa_copier *copier;
	uint64_t n_octets; /* sent */
	unsigned n_sent[TRIAD_SA_PIECES + 1];
};

static struct {
	uint64_t state, now_us;
	unsigned n;
	unsigned lost, doubled, late; /* percent; percent; maximal delay in ms */
	struct member members[MAX_MEMBERS];
	struct packet packets[MAX_PACKETS];
	unsigned n_packets;
	struct list records; /* of the master */
} net;

static unsigned pick(unsigned n)
{
	return random_below(&net.state, n);
}

static uint64_t id_of(unsigned i)
{
	return 100 + 7 * i;
}

/* --- the network --- */

static bool is_together(unsigned a, unsigned b)
{
	return net.members[a].is_up && net.members[b].is_up &&
		net.members[a].side == net.members[b].side;
}

static void send_all(unsigned from, const uint8_t *payload, size_t size)
{
	net.members[from].n_octets += size;
	net.members[from].n_sent[payload[5]]++;
	for (unsigned to = 0; to < net.n; to++)
		for (unsigned n = pick(100) >= net.lost; n;
			n = pick(100) < net.doubled) {
			struct packet *packet = &net.packets[net.n_packets];

			ck_assert_uint_lt(net.n_packets, MAX_PACKETS);
			*packet = (struct packet){
				net.now_us + 1 + pick(net.late * 1000 + 1), from, to,
				size, {0}};
			memcpy(packet->payload, payload, size);
			net.n_packets++;
		}
}

static void deliver(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < net.n_packets; i++) {
		struct packet *packet = &net.packets[i];

		if (packet->due_us > net.now_us)
			net.packets[n++] = *packet;
		else if (is_together(packet->from, packet->to))
			triad_sa_copier_payload(net.members[packet->to].copier,
				id_of(packet->from), packet->payload, packet->size);
	}
	net.n_packets = n;
}

static void run_member(unsigned i)
{
	struct member *member = &net.members[i];
	uint8_t payload[TRIAD_SA_PAYLOAD_SIZE];
	size_t size;

	triad_sa_copier_run(member->copier, net.now_us, WALL_US + net.now_us);
	triad_sa_copier_set_role(member->copier,
		member->is_master ? TRIAD_SA_GIVES : TRIAD_SA_TAKES,
		id_of(member->master));
	while ((size = triad_sa_copier_take_payload(member->copier, payload)))
		send_all(i, payload, size);
	ck_assert_uint_gt(triad_sa_copier_next_us(member->copier), net.now_us);
}

static void run_for(uint64_t us)
{
	for (uint64_t until_us = net.now_us + us; net.now_us < until_us;) {
		net.now_us += TICK_US;
		deliver();
		for (unsigned i = 0; i < net.n; i++)
			if (net.members[i].is_up)
				run_member(i);
	}
}

/* --- members --- */

static void start(unsigned i)
{
	const struct triad_sa_copier_conf conf = {id_of(i), RATE};
	struct member *member = &net.members[i];

	*member = (struct member){.is_up = true, .side = member->side};
	member->copier = triad_sa_copier_new(&conf);
	ck_assert_ptr_nonnull(member->copier);
}

static void stop(unsigned i)
{
	net.members[i].is_up = false;
	triad_sa_copier_free(net.members[i].copier);
	net.members[i].copier = NULL;
}

static void build(unsigned n, uint64_t seed)
{
	memset(&net, 0, sizeof(net));
	net.state = seed;
	net.now_us = TRIAD_US_PER_S;
	net.n = n;
	for (unsigned i = 0; i < n; i++)
		start(i);
}

static void tear_down(void)
{
	for (unsigned i = 0; i < net.n; i++)
		if (net.members[i].is_up)
			stop(i);
	clear(&net.records);
	net.n = 0;
}

static void make_master(unsigned i)
{
	for (unsigned j = 0; j < net.n; j++)
		net.members[j].master = i;
	net.members[i].is_master = true;
	run_for(TICK_US);
}

static void give_records(unsigned i)
{
	ck_assert_int_eq(triad_sa_copier_set_records(net.members[i].copier,
				 net.records.octets, net.records.size),
		0);
}

static void fill_records(unsigned n_groups, unsigned n_members)
{
	struct triad_sa_record record;

	net.records.size = 0;
	for (unsigned group = 0; group < n_groups; group++) {
		record = a_group(group);
		add(&net.records, &record);
		for (unsigned i = 0; i < n_members; i++) {
			record = a_member(group, 1000 + i);
			add(&net.records, &record);
		}
	}
}

static struct triad_sa_copier_status status_of(unsigned i)
{
	struct triad_sa_copier_status status;

	triad_sa_copier_status(net.members[i].copier, &status);
	return status;
}

static bool are_equal(unsigned a, unsigned b)
{
	return triad_sa_copier_digest(net.members[a].copier) ==
		triad_sa_copier_digest(net.members[b].copier);
}

/* Runs until all members on the master's side have its records; fails after
 * 'max_us'. */
static void run_until_complete(unsigned master, uint64_t max_us)
{
	uint64_t until_us = net.now_us + max_us;
	bool is_so = false;

	while (!is_so) {
		ck_assert_msg(net.now_us < until_us,
			"not complete after %" PRIu64 " ms", max_us / TRIAD_US_PER_MS);
		run_for(TICK_US);
		is_so = true;
		for (unsigned i = 0; i < net.n; i++)
			if (i != master && is_together(i, master))
				is_so &= status_of(i).is_complete &&
					are_equal(i, master);
	}
}

static uint64_t now_ms(void)
{
	return net.now_us / TRIAD_US_PER_MS;
}

/* --- cases --- */

/* 648 hosts in 50 groups, over a network that carries a megabyte a second. */
START_TEST(test_copier_fills_an_empty_copy_within_seconds)
{
	uint64_t begun_ms;

	build(3, 1);
	fill_records(50, 648);
	make_master(0);
	give_records(0);
	begun_ms = now_ms();
	run_until_complete(0, 4 * TRIAD_US_PER_S);
	printf("# %u octets of records: copied in %" PRIu64 " ms, %" PRIu64
	       " octets sent\n",
		status_of(0).counts.octets, now_ms() - begun_ms,
		net.members[0].n_octets);
	/* The master doesn't send twice what both standbys ask for. */
	ck_assert_uint_lt(net.members[0].n_octets,
		status_of(0).counts.octets + status_of(0).counts.octets / 2);
	ck_assert_uint_eq(status_of(1).counts.n[TRIAD_SA_MEMBER], 50 * 648);
	ck_assert_uint_eq(status_of(1).source, id_of(0));
}
END_TEST

START_TEST(test_copier_sends_a_change_at_once_and_nothing_else)
{
	struct triad_sa_record record = a_member(3, 5);
	uint64_t octets;

	build(3, 2);
	fill_records(50, 100);
	make_master(0);
	give_records(0);
	run_until_complete(0, 4 * TRIAD_US_PER_S);
	octets = net.members[0].n_octets;
	add(&net.records, &record);
	give_records(0);
	run_until_complete(0, 20 * TRIAD_US_PER_MS);
	/* The master sends a bucket, digests, and perhaps the digests due each
	 * second. */
	ck_assert_uint_lt(net.members[0].n_octets - octets, 3000);
	/* Now the master removes the record. */
	net.records.size -= 36;
	give_records(0);
	run_until_complete(0, 20 * TRIAD_US_PER_MS);
	/* Without changes, members send only digests, once a second. */
	octets = net.members[0].n_octets + net.members[1].n_octets;
	run_for(10 * TRIAD_US_PER_S);
	ck_assert_uint_lt(net.members[0].n_octets + net.members[1].n_octets - octets,
		11 * TRIAD_SA_PAYLOAD_SIZE);
}
END_TEST

START_TEST(test_copier_of_a_new_master_sends_only_what_differs)
{
	struct triad_sa_record record = a_member(3, 5);
	uint64_t octets;

	build(3, 3);
	fill_records(50, 100);
	make_master(0);
	give_records(0);
	run_until_complete(0, 4 * TRIAD_US_PER_S);
	stop(0);
	make_master(1);
	octets = net.members[1].n_octets;
	add(&net.records, &record);
	give_records(1);
	run_until_complete(1, 100 * TRIAD_US_PER_MS);
	ck_assert_uint_lt(net.members[1].n_octets - octets, 4000);
	ck_assert_uint_eq(status_of(2).source, id_of(1));
	/* The old master starts again, without records. */
	start(0);
	net.members[0].master = 1;
	run_until_complete(1, 4 * TRIAD_US_PER_S);
}
END_TEST

/* A master that was cut off gives its old records, until it learns that another SM took
 * over. */
START_TEST(test_copier_of_an_old_master_knows_that_it_is_outdated)
{
	build(3, 4);
	fill_records(5, 10);
	make_master(0);
	give_records(0);
	run_until_complete(0, TRIAD_US_PER_S);
	net.members[0].side = 1;
	make_master(1);
	net.members[0].is_master = true;
	fill_records(6, 10);
	give_records(1);
	run_until_complete(1, 4 * TRIAD_US_PER_S);
	ck_assert(!status_of(0).is_outdated);
	net.members[0].side = 0;
	run_for(2 * TRIAD_US_PER_S);
	ck_assert(status_of(0).is_outdated);
	ck_assert(!status_of(1).is_outdated);
	/* The standby keeps the records of the master that it follows. */
	ck_assert_uint_eq(status_of(2).source, id_of(1));
	ck_assert(are_equal(1, 2));
	net.members[0].is_master = false;
	net.members[0].master = 1;
	run_until_complete(1, 2 * TRIAD_US_PER_S);
	ck_assert(!status_of(0).is_outdated);
}
END_TEST

/* OpenSM follows an SM that gives no records, or that isn't master. */
START_TEST(test_copier_follows_who_gives)
{
	build(3, 5);
	fill_records(5, 10);
	make_master(0);
	give_records(0);
	net.members[2].master = 1;
	run_until_complete(0, TRIAD_US_PER_S);
	net.members[0].side = 1;
	run_for(5 * TRIAD_US_PER_S);
	/* The copy stays complete, and the status reports how old it is. */
	ck_assert(status_of(2).is_complete);
	ck_assert_uint_gt(net.now_us - status_of(2).equal_us, 4 * TRIAD_US_PER_S);
	net.members[1].is_master = true;
	run_for(TICK_US);
	fill_records(4, 10);
	give_records(1);
	run_until_complete(1, 2 * TRIAD_US_PER_S);
	ck_assert_uint_eq(status_of(2).source, id_of(1));
}
END_TEST

START_TEST(test_copier_does_not_believe_members_that_are_not_followed)
{
	struct triad_sa_message ask = {.kind = TRIAD_SA_ASK, .groups = 1};
	uint8_t payload[TRIAD_SA_PAYLOAD_SIZE];
	unsigned n_leaves;
	size_t size;

	build(3, 6);
	fill_records(5, 10);
	make_master(0);
	give_records(0);
	run_until_complete(0, TRIAD_US_PER_S);
	/* The pieces come from a member that the standby doesn't follow. */
	size = triad_sa_message_begin_pieces(payload);
	for (unsigned i = 0; i < TRIAD_SA_SET_N_BUCKETS; i++) {
		struct triad_sa_message_piece piece = {.bucket = (uint16_t)i};

		/* The piece would empty the bucket. */
		if (triad_sa_set_bucket(triad_sa_copier_set(net.members[1].copier), i)
				.size)
			size = triad_sa_message_add_piece(payload, size, &piece);
	}
	triad_sa_copier_payload(net.members[1].copier, id_of(2), payload, size);
	ck_assert(are_equal(0, 1));
	/* No member answers a request to another member, or one to a standby. */
	n_leaves = net.members[0].n_sent[TRIAD_SA_LEAVES];
	ask.to = id_of(1);
	size = triad_sa_message_encode(&ask, payload);
	for (unsigned i = 0; i < 3; i++)
		triad_sa_copier_payload(net.members[i].copier, id_of(2), payload, size);
	run_for(100 * TRIAD_US_PER_MS);
	ck_assert_uint_eq(net.members[0].n_sent[TRIAD_SA_LEAVES], n_leaves);
	ck_assert_uint_eq(net.members[1].n_sent[TRIAD_SA_LEAVES], 0);
	ask.to = id_of(0);
	size = triad_sa_message_encode(&ask, payload);
	triad_sa_copier_payload(net.members[0].copier, id_of(2), payload, size);
	run_for(100 * TRIAD_US_PER_MS);
	ck_assert_uint_eq(net.members[0].n_sent[TRIAD_SA_LEAVES], n_leaves + 1);
	payload[4] = 2;
	triad_sa_copier_payload(net.members[1].copier, id_of(0), payload, size);
	triad_sa_copier_payload(net.members[1].copier, id_of(0), payload, 5);
	ck_assert_uint_eq(status_of(1).n_versions, 1);
	ck_assert_uint_eq(status_of(1).n_malformed, 1);
}
END_TEST

/* A bucket of hundreds of pieces, some of which are lost. */
START_TEST(test_copier_copies_a_bucket_of_many_pieces)
{
	struct triad_sa_record record;

	build(2, 7);
	net.lost = 1;
	net.doubled = 5;
	for (unsigned i = 0; i < 800; i++) {
		record = a_service(1, "one");
		record.service.lease_s = i;
		add(&net.records, &record);
	}
	make_master(0);
	give_records(0);
	run_until_complete(0, 60 * TRIAD_US_PER_S);
	ck_assert_uint_eq(status_of(1).counts.n[TRIAD_SA_SERVICE], 800);
}
END_TEST

/* Member 0, a standby, receives digests from an SM. */
static void receive_state(uint64_t sender, uint64_t era)
{
	const struct triad_sa_message state = {
		.kind = TRIAD_SA_STATE, .era = era, .number = 1};
	uint8_t payload[TRIAD_SA_PAYLOAD_SIZE];
	size_t size = triad_sa_message_encode(&state, payload);

	triad_sa_copier_payload(net.members[0].copier, sender, payload, size);
}

START_TEST(test_copier_chooses_whom_to_follow)
{
	build(1, 8);
	net.members[0].master = 50;
	run_for(TICK_US);
	receive_state(7, 10);
	ck_assert_uint_eq(status_of(0).source, 7);
	receive_state(8, 9);
	ck_assert_uint_eq(status_of(0).source, 7);
	/* The SM with the highest era became master last. */
	receive_state(9, 11);
	ck_assert_uint_eq(status_of(0).source, 9);
	/* The SM that its OpenSM follows is preferred to a higher era. */
	receive_state(id_of(50), 5);
	ck_assert_uint_eq(status_of(0).source, id_of(50));
	receive_state(9, 12);
	ck_assert_uint_eq(status_of(0).source, id_of(50));
	/* If that SM is silent, the standby follows any other. */
	run_for(4 * TRIAD_US_PER_S);
	receive_state(8, 2);
	ck_assert_uint_eq(status_of(0).source, 8);
}
END_TEST

/* --- storms --- */

static void change_records(void)
{
	struct triad_sa_record record;

	if (!pick(20))
		net.records.size = 0;
	for (unsigned i = pick(30); i; i--) {
		record = pick(2) ? a_member(pick(10), pick(200))
				 : a_subscription(pick(100), (uint16_t)pick(70));
		add(&net.records, &record);
	}
}

/* Checks, after a while without losses: a member that reports itself complete by
 * digests that its master sent after the last change has the master's records. */
static void check_complete(unsigned master, uint64_t changed_us)
{
	for (unsigned i = 0; i < net.n; i++)
		if (i != master && is_together(i, master) && status_of(i).is_complete &&
			status_of(i).source == id_of(master) &&
			status_of(i).received_us > changed_us + 10 * TICK_US)
			ck_assert(are_equal(i, master));
}

static unsigned change_master(unsigned master)
{
	unsigned next = pick(net.n);

	if (next == master)
		return master;
	if (pick(2))
		stop(master);
	else
		/* Sometimes the old master doesn't know of the new one yet. */
		net.members[master].is_master = pick(4) == 0;
	if (!net.members[next].is_up)
		start(next);
	make_master(next);
	return next;
}

static void run_storm(uint64_t seed)
{
	uint64_t changed_us;
	unsigned master = 0, ms;

	build(2 + (unsigned)(seed % (MAX_MEMBERS - 1)), seed);
	make_master(0);
	for (unsigned round = 0; round < 40; round++) {
		net.lost = pick(3) ? 0 : pick(40);
		net.doubled = pick(3) ? 0 : pick(30);
		net.late = pick(3) ? 1 : pick(50);
		if (!pick(8))
			master = change_master(master);
		for (unsigned i = 0; i < net.n; i++) {
			if (!net.members[i].is_up && pick(2)) {
				start(i);
				net.members[i].master = master;
			}
			net.members[i].side = pick(6) == 0;
		}
		change_records();
		give_records(master);
		changed_us = net.now_us;
		ms = pick(500);
		run_for(ms * TRIAD_US_PER_MS);
		if (!net.lost && net.late == 1 && ms > 200)
			check_complete(master, changed_us);
	}
	net.lost = net.doubled = net.late = 0;
	for (unsigned i = 0; i < net.n; i++) {
		net.members[i].side = 0;
		net.members[i].is_master = i == master;
	}
	run_until_complete(master, 10 * TRIAD_US_PER_S);
	tear_down();
}

/* Row: N12 */
START_TEST(test_copies_become_equal_whatever_happens)
{
	const char *wanted = getenv("TRIAD_SEED");
	uint64_t first = wanted ? strtoull(wanted, NULL, 0) : 1;

	for (uint64_t seed = first; seed < first + (wanted ? 1 : 60); seed++) {
		printf("# seed %" PRIu64 "\n", seed);
		run_storm(seed);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sa_copier");

	tcase_add_checked_fixture(cases, NULL, tear_down);
	tcase_add_test(cases, test_copier_fills_an_empty_copy_within_seconds);
	tcase_add_test(cases, test_copier_sends_a_change_at_once_and_nothing_else);
	tcase_add_test(cases, test_copier_of_a_new_master_sends_only_what_differs);
	tcase_add_test(cases, test_copier_of_an_old_master_knows_that_it_is_outdated);
	tcase_add_test(cases, test_copier_follows_who_gives);
	tcase_add_test(
		cases, test_copier_does_not_believe_members_that_are_not_followed);
	tcase_add_test(cases, test_copier_copies_a_bucket_of_many_pieces);
	tcase_add_test(cases, test_copier_chooses_whom_to_follow);
	tcase_add_test(cases, test_copies_become_equal_whatever_happens);
	return run_cases(cases);
}
