/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The network between members loses, repeats and delays packets; it is partitioned and
 * heals.  Members are killed, and return with the contents of their disks.  In the end
 * all members have the same records and configuration. */
#include "portmgr/replica/replica_message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <glib.h>

#include "lib/pieces.h"
#include "tests/random.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

#define MAX_MEMBERS 32u
#define MAX_PACKETS 100000u
#define INTERVAL_US (200 * TRIAD_US_PER_MS)
#define TICK_US TRIAD_US_PER_MS
#define MAX_CONFIG_SIZE ((size_t)8 << 20)

struct packet {
	uint64_t due_us;
	unsigned from, to;
	size_t size;
	uint8_t *payload;
};

struct member {
	bool is_up;
	unsigned side; /* in a partition of the network */
	struct triad_replica *replica;
	struct triad_history *history, *disk;
	struct triad_replica_config config; /* on its disk */
};

static struct {
	uint64_t state, now_us;
	unsigned n;
	unsigned lost, doubled, late; /* percent; percent; maximal delay in ms */
	struct member members[MAX_MEMBERS];
	struct packet packets[MAX_PACKETS];
	unsigned n_packets;
	unsigned writer;
	uint64_t term, number, newest;
	/* The record that the writer waits to have on a majority of disks. */
	bool is_asking;
	struct triad_record asked;
	uint64_t asked_us;
	unsigned n_majorities, n_taken, n_sent[5];
} net;

static uint64_t pick(uint64_t n)
{
	return random_next(&net.state) % n;
}

static uint64_t id_of(unsigned i)
{
	return 100 + 7 * i;
}

/* --- configurations: their octets follow from the generation --- */

static size_t fill_config(
	struct triad_replica_config *config, uint64_t generation, uint8_t **octets)
{
	size_t size = config->size;
	guint8 digest[32];
	gsize digest_size = sizeof(digest);
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	uint64_t z = generation;

	*octets = malloc(size);
	for (size_t i = 0; i < size; i++) {
		z = z * UINT64_C(6364136223846793005) + 1442695040888963407;
		(*octets)[i] = (uint8_t)(z >> 56);
	}
	g_checksum_update(sum, *octets, (gssize)size);
	g_checksum_get_digest(sum, digest, &digest_size);
	g_checksum_free(sum);
	config->generation = generation;
	config->hash = 0;
	for (unsigned i = 0; i < 8; i++)
		config->hash = config->hash << 8 | digest[i];
	return size;
}

static void offer(unsigned i, uint64_t generation, size_t size)
{
	struct member *member = &net.members[i];
	uint8_t *octets;

	member->config.size = size;
	fill_config(&member->config, generation, &octets);
	if (member->is_up)
		ck_assert_int_eq(triad_replica_offer(member->replica, &member->config,
					 octets, net.now_us),
			0);
	free(octets);
}

/* --- the network --- */

static bool is_together(unsigned a, unsigned b)
{
	return net.members[a].is_up && net.members[b].is_up &&
		net.members[a].side == net.members[b].side;
}

static void post(unsigned from, unsigned to, const uint8_t *payload, size_t size)
{
	struct packet *packet = &net.packets[net.n_packets];

	ck_assert_uint_lt(net.n_packets, MAX_PACKETS);
	*packet = (struct packet){net.now_us + 1 + pick(net.late * TICK_US), from, to,
		size, malloc(size)};
	memcpy(packet->payload, payload, size);
	net.n_packets++;
}

static void send_all(unsigned from, const uint8_t *payload, size_t size)
{
	net.n_sent[payload[5]]++;
	for (unsigned to = 0; to < net.n; to++) {
		if (from != to && pick(100) < net.lost)
			continue;
		post(from, to, payload, size);
		if (pick(100) < net.doubled)
			post(from, to, payload, size);
	}
}

static void deliver(void)
{
	for (unsigned i = 0; i < net.n_packets;) {
		struct packet packet = net.packets[i];

		if (packet.due_us > net.now_us) {
			i++;
			continue;
		}
		/* Of the packets that are due, deliver those first that were sent
		 * first. */
		net.packets[i].size = 0;
		if (packet.size && is_together(packet.from, packet.to))
			triad_replica_payload(net.members[packet.to].replica,
				id_of(packet.from), packet.payload, packet.size,
				net.now_us);
		free(packet.payload);
		net.packets[i].payload = NULL;
		i++;
	}
	for (unsigned i = 0, to = 0, n = net.n_packets; i < n; i++) {
		net.n_packets = to + (net.packets[i].size != 0);
		if (net.packets[i].size)
			net.packets[to++] = net.packets[i];
	}
}

static void take_config(unsigned i)
{
	struct member *member = &net.members[i];
	struct triad_replica_config config, right = {.generation = 0};
	uint8_t *octets, *should;

	if (!triad_replica_take_config(member->replica, &config, &octets))
		return;
	right.size = config.size;
	fill_config(&right, config.generation, &should);
	ck_assert_uint_gt(config.generation, member->config.generation);
	ck_assert_uint_eq(config.hash, right.hash);
	ck_assert_mem_eq(octets, should, config.size);
	free(octets);
	free(should);
	net.n_taken++;
	offer(i, config.generation, config.size);
}

static void run_member(unsigned i)
{
	struct member *member = &net.members[i];
	struct triad_replica_news news;
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE];
	size_t size;

	triad_replica_run(member->replica, net.now_us);
	while (triad_replica_take_news(member->replica, &news))
		ck_assert_int_eq(triad_history_merge(member->disk, &news.record),
			news.is_last ? 0 : ESTALE);
	take_config(i);
	while ((size = triad_replica_take_payload(member->replica, payload)))
		send_all(i, payload, size);
	ck_assert_uint_gt(triad_replica_next_us(member->replica), net.now_us);
}

static bool has_on_disk(unsigned i, const struct triad_record *record)
{
	const struct triad_record *there = triad_history_find(
		net.members[i].disk, record->node_guid, record->port);

	return there && triad_record_compare(there, record) >= 0;
}

/* Checks that at least as many members have the record as the replica counts. */
static void check_n_same(void)
{
	unsigned n = 0, n_same;

	if (!net.is_asking)
		return;
	n_same = triad_replica_n_same(net.members[net.writer].replica, net.asked_us);
	for (unsigned i = 0; i < net.n; i++)
		n += has_on_disk(i, &net.asked);
	ck_assert_uint_le(n_same, n);
	if (n_same * 2 > net.n) {
		net.n_majorities++;
		net.is_asking = false;
	}
}

static void tick(void)
{
	net.now_us += TICK_US;
	deliver();
	for (unsigned i = 0; i < net.n; i++)
		if (net.members[i].is_up)
			run_member(i);
	check_n_same();
}

static void deliver_views(void)
{
	for (unsigned i = 0; i < net.n; i++) {
		struct triad_cluster_view view = {.number = 1, .is_connected = true};

		for (unsigned j = 0; j < net.n; j++)
			if (is_together(i, j))
				view.members[view.n_members++] = id_of(j);
		if (net.members[i].is_up)
			triad_replica_view(net.members[i].replica, &view, net.now_us);
	}
}

/* --- members --- */

static void merge_all(struct triad_history *to, const struct triad_history *from)
{
	const struct triad_record *record;

	for (unsigned bucket = 0; bucket < TRIAD_HISTORY_N_BUCKETS; bucket++)
		for (uint32_t i = 0; (record = triad_history_at(from, bucket, i)); i++)
			triad_history_merge(to, record);
	for (uint32_t i = 0; (record = triad_history_latest(from, i)); i++)
		triad_history_merge(to, record);
}

static void start(unsigned i)
{
	struct member *member = &net.members[i];
	struct triad_replica_conf conf = {.id = id_of(i),
		.interval_us = INTERVAL_US,
		.max_config_size = MAX_CONFIG_SIZE};

	member->is_up = true;
	member->history = triad_history_new();
	if (!member->disk)
		member->disk = triad_history_new();
	merge_all(member->history, member->disk);
	member->replica = triad_replica_new(&conf, member->history);
	if (member->config.generation)
		offer(i, member->config.generation, member->config.size);
}

static void stop(unsigned i)
{
	struct member *member = &net.members[i];

	member->is_up = false;
	triad_replica_free(member->replica);
	triad_history_free(member->history);
	if (i == net.writer)
		net.is_asking = false;
}

static void build(unsigned n, uint64_t seed)
{
	memset(&net, 0, sizeof(net));
	net.state = seed;
	net.now_us = 1000000;
	net.n = n;
	net.late = 2;
	net.term = 1;
	for (unsigned i = 0; i < n; i++)
		start(i);
	deliver_views();
}

static void tear_down(void)
{
	for (unsigned i = 0; i < net.n_packets; i++)
		free(net.packets[i].payload);
	for (unsigned i = 0; i < net.n; i++) {
		if (net.members[i].is_up)
			stop(i);
		triad_history_free(net.members[i].disk);
	}
}

static struct triad_record a_record(uint64_t node_guid)
{
	struct triad_record record = {.term = net.term,
		.number = ++net.number,
		.writer = id_of(net.writer),
		.node_guid = node_guid,
		.port = (uint8_t)(1 + pick(4)),
		.action = TRIAD_ACTION_DISABLE,
		.outcome = TRIAD_OUTCOME_INTENDED,
		.reason = TRIAD_REASON_EXPECTED};

	snprintf(record.text, sizeof(record.text), "\xff %u", (unsigned)net.number);
	triad_record_clean(&record);
	return record;
}

/* Writes a record to the disk, then to the history, then sends it to all. */
static void write_record(void)
{
	struct member *member = &net.members[net.writer];
	struct triad_record record = a_record(1 + pick(40));

	triad_history_merge(member->disk, &record);
	triad_history_merge(member->history, &record);
	triad_replica_send(member->replica, &record, net.now_us);
	net.is_asking = true;
	net.asked = record;
	net.asked_us = net.now_us;
}

static bool is_same_history(
	const struct triad_history *a, const struct triad_history *b)
{
	struct triad_history_digest ours, theirs;
	const struct triad_record *record, *other;

	triad_history_digest(a, &ours);
	triad_history_digest(b, &theirs);
	if (memcmp(&ours, &theirs, sizeof(ours)))
		return false;
	for (uint32_t i = 0;; i++) {
		record = triad_history_latest(a, i);
		other = triad_history_latest(b, i);
		if (!record || !other)
			return record == other;
		if (triad_record_compare(record, other))
			return false;
	}
}

static bool is_all_same(void)
{
	for (unsigned i = 1; i < net.n; i++)
		if (!is_same_history(net.members[0].history, net.members[i].history) ||
			net.members[i].config.generation !=
				net.members[0].config.generation)
			return false;
	return true;
}

static unsigned ticks_until_same(unsigned most)
{
	unsigned n = 0;

	while (!is_all_same() && n++ < most)
		tick();
	return n;
}

/* --- storms --- */

static void change_writer(void)
{
	unsigned i = (unsigned)pick(net.n);

	if (!net.members[i].is_up)
		return;
	net.writer = i;
	net.term++;
	net.number = 0;
	net.is_asking = false;
}

static void change_member(void)
{
	unsigned i = (unsigned)pick(net.n);

	if (net.members[i].is_up)
		stop(i);
	else
		start(i);
	deliver_views();
}

static void change_sides(void)
{
	bool is_whole = pick(2);

	for (unsigned i = 0; i < net.n; i++)
		net.members[i].side = is_whole ? 0 : (unsigned)pick(2);
	deliver_views();
}

static void change_config(void)
{
	unsigned i = (unsigned)pick(net.n);

	if (net.members[i].is_up)
		offer(i, ++net.newest, 1 + pick(pick(4) ? 5000 : 200000));
}

static void step(void)
{
	unsigned what = (unsigned)pick(1000);

	if (what < 40 && net.members[net.writer].is_up)
		write_record();
	else if (what < 45)
		change_writer();
	else if (what < 48)
		change_member();
	else if (what < 50)
		change_sides();
	else if (what < 52)
		change_config();
	tick();
}

static void heal(void)
{
	net.lost = net.doubled = 0;
	for (unsigned i = 0; i < net.n; i++) {
		net.members[i].side = 0;
		if (!net.members[i].is_up)
			start(i);
	}
	deliver_views();
}

static void check_ends(void)
{
	ck_assert_uint_lt(ticks_until_same(10000), 10000);
	ck_assert_uint_eq(net.members[0].config.generation, net.newest);
	for (unsigned i = 0; i < 2000; i++)
		tick();
	for (unsigned i = 0; i < net.n; i++) {
		struct triad_replica_status status;

		ck_assert_uint_eq(triad_replica_n_same(net.members[i].replica,
					  net.now_us - 3 * INTERVAL_US),
			net.n);
		triad_replica_status(net.members[i].replica, &status);
		ck_assert_uint_eq(status.n_malformed + status.n_versions +
				status.n_configs_bad + status.n_offers_refused,
			0);
		ck_assert_uint_eq(status.wanted.generation, 0);
	}
}

static void check_storm(unsigned n, uint64_t seed)
{
	build(n, seed);
	net.lost = (unsigned)pick(40);
	net.doubled = (unsigned)pick(20);
	net.late = 1 + (unsigned)pick(30);
	for (unsigned i = 0; i < 4000; i++)
		step();
	heal();
	offer(net.writer, ++net.newest, 3000);
	write_record();
	check_ends();
	ck_assert_uint_gt(net.n_majorities, 0);
	ck_assert_uint_gt(net.n_taken, 0);
	tear_down();
}

static void check_storms(unsigned n, unsigned n_storms)
{
	const char *text = getenv("TRIAD_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) * 1000;

	for (unsigned i = 0; i < (text ? 1 : n_storms); i++, seed++) {
		printf("# TRIAD_SEED=%llu\n", (unsigned long long)seed);
		fflush(stdout);
		check_storm(n, seed);
	}
}

START_TEST(test_storm_of_three_members_all_same_in_the_end)
{
	check_storms(3, 20);
}
END_TEST

START_TEST(test_storm_of_nine_members_all_same_in_the_end)
{
	check_storms(9, 6);
}
END_TEST

/* --- quiet --- */

START_TEST(test_record_reaches_all_at_once)
{
	build(9, 1);
	for (unsigned i = 0; i < 500; i++)
		tick();
	write_record();
	for (unsigned i = 0; i < 20; i++)
		tick();
	ck_assert_uint_eq(
		triad_replica_n_same(net.members[0].replica, net.asked_us), 9);
	ck_assert_uint_eq(triad_replica_n_same(net.members[0].replica, net.now_us), 1);
	tear_down();
}
END_TEST

static void receive_from(
	unsigned to, uint64_t from, const struct triad_replica_message *message)
{
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE];
	size_t size = triad_replica_message_encode(message, payload);

	ck_assert_uint_gt(size, 0);
	triad_replica_payload(net.members[to].replica, from, payload, size, net.now_us);
}

/* A packet of before the term may be held back, and come long after it has begun. */
START_TEST(test_digest_counts_that_was_made_after_the_term_was_heard_of)
{
	struct triad_replica_message message = {
		.kind = TRIAD_REPLICA_DIGEST, .has_latest = true, .has_terms = true};
	uint64_t begun_us;

	build(3, 1);
	for (unsigned i = 0; i < 500; i++)
		tick();
	stop(1);
	begun_us = net.now_us;
	triad_replica_set_term(net.members[0].replica, 5, begun_us);
	tick();
	triad_history_digest(net.members[0].history, &message.digest);
	message.heard_term = 4;
	receive_from(0, id_of(1), &message);
	ck_assert_uint_eq(triad_replica_n_same(net.members[0].replica, begun_us), 1);
	ck_assert_uint_eq(
		triad_replica_n_same_config(net.members[0].replica, begun_us), 1);
	message.heard_term = 5;
	receive_from(0, id_of(1), &message);
	ck_assert_uint_eq(triad_replica_n_same(net.members[0].replica, begun_us), 2);
	ck_assert_uint_eq(
		triad_replica_n_same_config(net.members[0].replica, begun_us), 2);
	/* The other one answers at once, though nothing differs. */
	for (unsigned i = 0; i < 100; i++)
		tick();
	ck_assert_uint_eq(triad_replica_n_same(net.members[0].replica, begun_us), 3);
	tear_down();
}
END_TEST

/* The holder of a new lease counts members that have its configuration since then:
 * before, they may have had an older one. */
START_TEST(test_config_confirmed_before_does_not_count)
{
	build(3, 1);
	offer(0, ++net.newest, 3000);
	for (unsigned i = 0; i < 1000; i++)
		tick();
	ck_assert_uint_eq(triad_replica_n_same_config(net.members[0].replica, 0), 3);
	ck_assert_uint_eq(
		triad_replica_n_same_config(net.members[0].replica, net.now_us), 1);
	ck_assert_uint_eq(triad_replica_n_same_config(
				  net.members[0].replica, net.now_us - 3 * INTERVAL_US),
		3);
	tear_down();
}
END_TEST

START_TEST(test_members_at_rest_send_digests_alone)
{
	build(9, 1);
	write_record();
	for (unsigned i = 0; i < 1000; i++)
		tick();
	memset(net.n_sent, 0, sizeof(net.n_sent));
	for (unsigned i = 0; i < 1000; i++)
		tick();
	ck_assert_uint_le(net.n_sent[TRIAD_REPLICA_DIGEST], 9 * 6);
	ck_assert_uint_eq(net.n_sent[TRIAD_REPLICA_RECORDS], 0);
	ck_assert_uint_eq(net.n_sent[TRIAD_REPLICA_WANT], 0);
	tear_down();
}
END_TEST

/* A member without records meets many that have all of them.  They must not all send
 * the same records. */
START_TEST(test_newcomer_receives_records_about_once)
{
	unsigned n_least;

	build(MAX_MEMBERS, 1);
	for (unsigned k = 0; k < 1000; k++) {
		struct triad_record record = a_record(1 + k);

		for (unsigned i = 1; i < net.n; i++) {
			triad_history_merge(net.members[i].history, &record);
			triad_history_merge(net.members[i].disk, &record);
		}
	}
	n_least = 1000 / 7;
	ck_assert_uint_lt(ticks_until_same(5000), 5000);
	for (unsigned i = 0; i < 2000; i++)
		tick();
	ck_assert_uint_ge(net.n_sent[TRIAD_REPLICA_RECORDS], 1000 / 9);
	ck_assert_uint_le(net.n_sent[TRIAD_REPLICA_RECORDS], 3 * n_least);
	tear_down();
}
END_TEST

/* --- the latest records --- */

/* All have written them to disk long ago: 'n' of few ports, from 'first' on. */
static void fill_with_records(unsigned first, unsigned n)
{
	net.number = 0;
	for (unsigned k = 0; k < n; k++) {
		struct triad_record record = a_record(1 + k % 5);

		for (unsigned i = first; i < net.n; i++) {
			triad_history_merge(net.members[i].history, &record);
			triad_history_merge(net.members[i].disk, &record);
		}
	}
}

static void lose_disk(unsigned i)
{
	stop(i);
	triad_history_free(net.members[i].disk);
	net.members[i].disk = NULL;
	start(i);
	deliver_views();
}

START_TEST(test_latest_records_lost_are_sent_again_about_once)
{
	uint32_t n = 0;

	build(5, 1);
	/* Some are cut off everywhere. */
	fill_with_records(0, TRIAD_HISTORY_N_LATEST + 100);
	for (unsigned i = 0; i < 1000; i++)
		tick();
	ck_assert(is_all_same());
	lose_disk(3);
	ck_assert(!is_all_same());
	memset(net.n_sent, 0, sizeof(net.n_sent));
	ck_assert_uint_lt(ticks_until_same(5000), 5000);
	ck_assert(is_same_history(net.members[3].disk, net.members[3].history));
	while (triad_history_latest(net.members[3].history, n))
		n++;
	ck_assert_uint_eq(n, TRIAD_HISTORY_N_LATEST);
	for (unsigned i = 0; i < 3000; i++)
		tick();
	/* Some seven in a payload. */
	ck_assert_uint_le(
		net.n_sent[TRIAD_REPLICA_RECORDS], TRIAD_HISTORY_N_LATEST / 3);
	tear_down();
}
END_TEST

/* Its disk is of a day when it had less; the others have since cut off what was there. */
START_TEST(test_latest_records_of_an_old_backup_are_the_same_in_the_end)
{
	struct triad_history *backup = triad_history_new();

	build(3, 1);
	fill_with_records(0, 50);
	merge_all(backup, net.members[1].disk);
	net.term++;
	fill_with_records(0, TRIAD_HISTORY_N_LATEST);
	stop(1);
	triad_history_free(net.members[1].disk);
	net.members[1].disk = backup;
	start(1);
	deliver_views();
	ck_assert_uint_lt(ticks_until_same(5000), 5000);
	ck_assert_uint_eq(
		triad_history_latest(net.members[1].history, TRIAD_HISTORY_N_LATEST - 1)
			->term,
		net.term);
	tear_down();
}
END_TEST

/* The network loses half of what is sent, and one has what the others lack. */
START_TEST(test_latest_records_reach_all_though_payloads_are_lost)
{
	build(3, 1);
	net.lost = 50;
	fill_with_records(2, 300);
	ck_assert_uint_lt(ticks_until_same(60000), 60000);
	tear_down();
}
END_TEST

/* A hostile member, or one that keeps another number of them. */
START_TEST(test_latest_records_are_sent_more_rarely_to_who_never_has_them)
{
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_DIGEST};
	unsigned n_payloads;

	build(2, 1);
	fill_with_records(0, 100);
	stop(1);
	message.has_latest = true;
	triad_history_digest(net.members[0].history, &message.digest);
	for (unsigned i = 0; i < 60000; i++) {
		message.latest.buckets[i % TRIAD_HISTORY_N_BUCKETS]++;
		if (i % 200 == 0)
			receive_from(0, id_of(1), &message);
		tick();
	}
	n_payloads = net.n_sent[TRIAD_REPLICA_RECORDS];
	ck_assert_uint_ge(n_payloads, 100 / 9);
	/* At 0, 1, 3, 7, 15, 31 and 63 s. */
	ck_assert_uint_le(n_payloads, 7 * (100 / 3));
	tear_down();
}
END_TEST

START_TEST(test_latest_records_of_a_member_of_an_earlier_release_are_left_alone)
{
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_DIGEST};

	build(2, 1);
	fill_with_records(0, 100);
	stop(1);
	triad_history_digest(net.members[0].history, &message.digest);
	for (unsigned i = 0; i < 5000; i++) {
		if (i % 200 == 0)
			receive_from(0, id_of(1), &message);
		tick();
	}
	ck_assert_uint_eq(net.n_sent[TRIAD_REPLICA_RECORDS], 0);
	ck_assert_uint_eq(triad_replica_n_same(
				  net.members[0].replica, net.now_us - 3 * INTERVAL_US),
		2);
	tear_down();
}
END_TEST

/* A record of long ago gets into the list, and changes nothing that decides. */
START_TEST(test_record_of_long_ago_is_not_a_ports_last)
{
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_RECORDS};
	char line[TRIAD_RECORD_LINE_SIZE + 1];
	struct triad_history_digest before, after;
	struct triad_record old, record;
	struct triad_replica_news news;

	build(2, 1);
	old = a_record(1);
	record = a_record(1);
	record.port = old.port;
	triad_history_merge(net.members[0].history, &record);
	triad_history_digest(net.members[0].history, &before);
	message.n_octets = triad_record_format(&old, line);
	line[message.n_octets++] = '\n';
	message.octets = (const uint8_t *)line;
	receive_from(0, id_of(1), &message);
	receive_from(0, id_of(1), &message);
	ck_assert(triad_replica_take_news(net.members[0].replica, &news));
	ck_assert(!news.is_last);
	ck_assert(!triad_record_compare(&news.record, &old));
	ck_assert(!triad_replica_take_news(net.members[0].replica, &news));
	triad_history_digest(net.members[0].history, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	tear_down();
}
END_TEST

START_TEST(test_config_of_megabytes_reaches_all_in_seconds)
{
	build(5, 1);
	offer(2, net.newest = 3, 5 << 20);
	ck_assert_uint_lt(ticks_until_same(8000), 8000);
	ck_assert_uint_eq(net.members[4].config.generation, 3);
	/* The source sent each piece about once, to all members. */
	ck_assert_uint_le(net.n_sent[TRIAD_REPLICA_PART],
		triad_pieces_n(5 << 20, TRIAD_REPLICA_PIECE_SIZE) * 5 / 4);
	tear_down();
}
END_TEST

START_TEST(test_config_source_gone_another_is_asked)
{
	build(3, 1);
	offer(0, 3, 500000);
	offer(1, 3, 500000);
	net.newest = 3;
	for (unsigned i = 0; i < 30; i++)
		tick();
	stop(0);
	deliver_views();
	for (unsigned i = 0; i < 3000; i++)
		tick();
	ck_assert_uint_eq(net.members[2].config.generation, 3);
	start(0);
	deliver_views();
	check_ends();
	tear_down();
}
END_TEST

START_TEST(test_config_not_newer_is_left_alone)
{
	build(3, 1);
	offer(0, 5, 3000);
	offer(1, 4, 3000);
	offer(2, 5, 2000);
	for (unsigned i = 0; i < 3000; i++)
		tick();
	ck_assert_uint_eq(net.members[0].config.size, 3000);
	ck_assert_uint_eq(net.members[1].config.generation, 5);
	ck_assert_uint_eq(net.members[2].config.size, 2000);
	tear_down();
}
END_TEST

/* --- unexpected messages --- */

START_TEST(test_offer_too_large_is_refused)
{
	struct triad_replica_status status;
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_DIGEST,
		.config = {.generation = TRIAD_REPLICA_MAX_GENERATION,
			.hash = 1,
			.size = MAX_CONFIG_SIZE + 1}};

	build(3, 1);
	receive_from(0, id_of(1), &message);
	triad_replica_status(net.members[0].replica, &status);
	ck_assert_uint_eq(status.n_offers_refused, 1);
	ck_assert_uint_eq(status.wanted.generation, 0);
	message.config.size--;
	receive_from(0, id_of(1), &message);
	triad_replica_status(net.members[0].replica, &status);
	ck_assert_uint_eq(status.wanted.generation, TRIAD_REPLICA_MAX_GENERATION);
	tear_down();
}
END_TEST

START_TEST(test_offer_that_no_member_gives_is_given_up)
{
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_DIGEST,
		.config = {.generation = 9, .hash = 1, .size = 5000}};

	build(3, 1);
	offer(2, net.newest = 3, 3000);
	receive_from(0, id_of(1), &message);
	for (unsigned i = 0; i < 5000; i++) {
		if (i % 50 == 0)
			receive_from(0, id_of(1), &message);
		tick();
	}
	ck_assert_uint_eq(net.members[0].config.generation, 3);
	tear_down();
}
END_TEST

START_TEST(test_config_with_other_octets_is_not_taken)
{
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_DIGEST,
		.config = {.generation = 9, .hash = 1, .size = 10}};
	struct triad_replica_config config;
	struct triad_replica_status status;
	uint8_t *octets;

	build(2, 1);
	receive_from(0, id_of(1), &message);
	message.kind = TRIAD_REPLICA_PART;
	message.octets = (const uint8_t *)"0123456789";
	message.n_octets = 10;
	receive_from(0, id_of(1), &message);
	ck_assert(!triad_replica_take_config(net.members[0].replica, &config, &octets));
	triad_replica_status(net.members[0].replica, &status);
	ck_assert_uint_eq(status.n_configs_bad, 1);
	ck_assert_uint_eq(status.wanted.generation, 0);
	tear_down();
}
END_TEST

/* The piece's offset is behind the end of the configuration. */
START_TEST(test_piece_of_another_size_is_ignored)
{
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_DIGEST,
		.config = {.generation = 9, .hash = 1, .size = 10}};
	struct triad_replica_status status;

	build(2, 1);
	receive_from(0, id_of(1), &message);
	message.kind = TRIAD_REPLICA_PART;
	message.config.size = TRIAD_REPLICA_PIECE_SIZE + 10;
	message.piece = 1;
	message.octets = (const uint8_t *)"0123456789";
	message.n_octets = 10;
	receive_from(0, id_of(1), &message);
	triad_replica_status(net.members[0].replica, &status);
	ck_assert_uint_eq(status.wanted.generation, 9);
	ck_assert_uint_eq(status.n_octets_here, 0);
	tear_down();
}
END_TEST

/* The owner took the configuration and may have refused it. */
START_TEST(test_config_taken_is_not_fetched_again)
{
	struct triad_replica_message message = {
		.kind = TRIAD_REPLICA_DIGEST, .config = {.size = 10}};
	struct triad_replica_config config;
	struct triad_replica_status status;
	uint8_t *octets, *taken;

	build(2, 1);
	message.n_octets = fill_config(&message.config, 9, &octets);
	message.octets = octets;
	receive_from(0, id_of(1), &message);
	message.kind = TRIAD_REPLICA_PART;
	receive_from(0, id_of(1), &message);
	ck_assert(triad_replica_take_config(net.members[0].replica, &config, &taken));
	ck_assert_mem_eq(taken, octets, 10);
	ck_assert(!triad_replica_take_config(net.members[0].replica, &config, &taken));
	message.kind = TRIAD_REPLICA_DIGEST;
	receive_from(0, id_of(1), &message);
	triad_replica_status(net.members[0].replica, &status);
	ck_assert_uint_eq(status.wanted.generation, 0);
	free(octets);
	free(taken);
	tear_down();
}
END_TEST

START_TEST(test_own_payload_come_back_is_ignored)
{
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_DIGEST,
		.config = {.generation = 9, .hash = 1, .size = 10}};
	struct triad_replica_status status;

	build(2, 1);
	receive_from(0, id_of(0), &message);
	triad_replica_payload(net.members[0].replica, id_of(0), "x", 1, net.now_us);
	triad_replica_status(net.members[0].replica, &status);
	ck_assert_uint_eq(status.wanted.generation + status.n_malformed, 0);
	tear_down();
}
END_TEST

START_TEST(test_payload_not_understood_is_counted)
{
	struct triad_replica_status status;
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_RECORDS,
		.octets = (const uint8_t *)"no record\n",
		.n_octets = 10};

	build(2, 1);
	triad_replica_payload(
		net.members[0].replica, id_of(1), "TrPm\2", 5, net.now_us);
	triad_replica_payload(
		net.members[0].replica, id_of(1), "TrPm\1", 5, net.now_us);
	receive_from(0, id_of(1), &message);
	triad_replica_status(net.members[0].replica, &status);
	ck_assert_uint_eq(status.n_versions, 1);
	ck_assert_uint_eq(status.n_malformed, 2);
	tear_down();
}
END_TEST

/* The owner must write new records to its disk before the replica sends anything: a
 * digest promises that they are there. */
START_TEST(test_payloads_wait_for_records_to_be_taken)
{
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_RECORDS};
	char line[TRIAD_RECORD_LINE_SIZE + 1];
	struct triad_record record;
	struct triad_replica_news news;
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE];

	build(2, 1);
	record = a_record(1);
	message.n_octets = triad_record_format(&record, line);
	line[message.n_octets++] = '\n';
	message.octets = (const uint8_t *)line;
	receive_from(0, id_of(1), &message);
	triad_replica_run(net.members[0].replica, net.now_us);
	ck_assert_uint_eq(
		triad_replica_take_payload(net.members[0].replica, payload), 0);
	ck_assert(triad_replica_take_news(net.members[0].replica, &news));
	ck_assert(news.is_last);
	ck_assert(!triad_replica_take_news(net.members[0].replica, &news));
	ck_assert_uint_gt(
		triad_replica_take_payload(net.members[0].replica, payload), 0);
	tear_down();
}
END_TEST

/* --- octets --- */

static const struct triad_replica_message messages[] = {
	{.kind = TRIAD_REPLICA_DIGEST, .digest = {{[1] = 7, [63] = 9}}},
	{.kind = TRIAD_REPLICA_DIGEST,
		.config = {.generation = 0x11, .hash = 0x12, .size = 0x13}},
	{.kind = TRIAD_REPLICA_RECORDS,
		.octets = (const uint8_t *)"ab\n",
		.n_octets = 3},
	{.kind = TRIAD_REPLICA_WANT,
		.to = 5,
		.config = {.generation = 0x11, .hash = 0x12},
		.piece = 3,
		.n_pieces = TRIAD_REPLICA_WINDOW},
	{.kind = TRIAD_REPLICA_PART,
		.config = {.generation = 0x11,
			.hash = 0x12,
			.size = TRIAD_REPLICA_PIECE_SIZE * 3 + 2},
		.piece = 3,
		.octets = (const uint8_t *)"ab",
		.n_octets = 2},
};

START_TEST(test_message_round_trip_is_the_same_shorter_is_refused)
{
	struct triad_replica_message message;
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE + 1] = {0};
	uint8_t again[TRIAD_CLUSTER_PAYLOAD_SIZE];
	size_t size = triad_replica_message_encode(&messages[_i], payload);

	ck_assert_int_eq(triad_replica_message_decode(&message, payload, size), 0);
	ck_assert_uint_eq(triad_replica_message_encode(&message, again), size);
	ck_assert_mem_eq(payload, again, size);
	for (size_t shorter = 0; shorter < size; shorter++) {
		uint8_t *exact = malloc(shorter ? shorter : 1);

		memcpy(exact, payload, shorter);
		ck_assert_int_ne(
			triad_replica_message_decode(&message, exact, shorter), 0);
		free(exact);
	}
}
END_TEST

START_TEST(test_message_with_latest_records_is_the_same_shorter_is_without_them)
{
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_DIGEST,
		.digest = {{[1] = 7}},
		.latest = {{[0] = UINT32_MAX, [63] = 9}},
		.has_latest = true};
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE];
	size_t size = triad_replica_message_encode(&message, payload);

	ck_assert_uint_eq(size, 800);
	memset(&message, 0xff, sizeof(message));
	ck_assert_int_eq(triad_replica_message_decode(&message, payload, size), 0);
	ck_assert(message.has_latest);
	ck_assert_uint_eq(message.digest.buckets[1], 7);
	ck_assert_uint_eq(message.latest.buckets[0], UINT32_MAX);
	ck_assert_uint_eq(message.latest.buckets[63], 9);
	ck_assert_int_eq(triad_replica_message_decode(&message, payload, size - 1), 0);
	ck_assert(!message.has_latest);
}
END_TEST

/* A later Triad may add flags, fields at the end, and kinds within the same version. */
START_TEST(test_message_of_a_later_triad_is_understood_or_of_another_version)
{
	struct triad_replica_message message;
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE] = {0};
	size_t size = triad_replica_message_encode(&messages[1], payload);

	payload[7] = 1;
	ck_assert_int_eq(triad_replica_message_decode(&message, payload, size + 9), 0);
	ck_assert_uint_eq(message.config.generation, messages[1].config.generation);
	payload[5] = 5;
	ck_assert_int_eq(
		triad_replica_message_decode(&message, payload, size), EPROTONOSUPPORT);
	payload[5] = 0;
	ck_assert_int_eq(
		triad_replica_message_decode(&message, payload, size), EPROTONOSUPPORT);
}
END_TEST

/* Each row overwrites 'size' octets of the valid message with that index. */
static const struct {
	unsigned message;
	size_t at, size;
	uint8_t value;
} hostile[] = {
	{0, 0, 1, 't'},                                 /* magic */
	{0, 535, 1, 1}, {0, 543, 1, 1},                 /* no generation, but more */
	{1, 520, 1, 0x81}, {1, 536, 8, 0},              /* generation, size */
	{1, 536, 1, 0x81}, {2, 10, 1, 'x'},             /* size, no end of line */
	{3, 8, 8, 0}, {3, 16, 8, 0}, {3, 16, 1, 255},   /* no receiver, generation */
	{3, 40, 4, 0}, {3, 43, 1, 65}, {3, 32, 8, 255}, /* pieces */
	{4, 8, 8, 0}, {4, 39, 1, 2}, {4, 39, 1, 4}, {4, 32, 8, 255}, /* which */
	{4, 31, 1, 0x43}, {4, 24, 8, 0}, {4, 24, 8, 255},            /* size */
};

START_TEST(test_message_with_hostile_field_is_refused)
{
	struct triad_replica_message message;
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE];
	size_t size =
		triad_replica_message_encode(&messages[hostile[_i].message], payload);

	memset(payload + hostile[_i].at, hostile[_i].value, hostile[_i].size);
	ck_assert_int_eq(triad_replica_message_decode(&message, payload, size), EINVAL);
}
END_TEST

START_TEST(test_message_too_large_is_not_encoded)
{
	uint8_t octets[TRIAD_CLUSTER_PAYLOAD_SIZE] = {0};
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE];
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_RECORDS,
		.octets = octets,
		.n_octets = sizeof(octets) - 7};

	ck_assert_uint_eq(triad_replica_message_encode(&message, payload), 0);
	message.n_octets--;
	ck_assert_uint_eq(
		triad_replica_message_encode(&message, payload), sizeof(payload));
}
END_TEST

static void add_messages(TCase *cases)
{
	tcase_add_test(cases, test_offer_too_large_is_refused);
	tcase_add_test(cases, test_offer_that_no_member_gives_is_given_up);
	tcase_add_test(cases, test_config_with_other_octets_is_not_taken);
	tcase_add_test(cases, test_piece_of_another_size_is_ignored);
	tcase_add_test(cases, test_config_taken_is_not_fetched_again);
	tcase_add_test(cases, test_own_payload_come_back_is_ignored);
	tcase_add_test(cases, test_payload_not_understood_is_counted);
	tcase_add_test(cases, test_payloads_wait_for_records_to_be_taken);
	tcase_add_loop_test(cases,
		test_message_round_trip_is_the_same_shorter_is_refused, 0,
		sizeof(messages) / sizeof(*messages));
	tcase_add_test(cases,
		test_message_of_a_later_triad_is_understood_or_of_another_version);
	tcase_add_loop_test(cases, test_message_with_hostile_field_is_refused, 0,
		sizeof(hostile) / sizeof(*hostile));
	tcase_add_test(cases, test_message_too_large_is_not_encoded);
	tcase_add_test(cases,
		test_message_with_latest_records_is_the_same_shorter_is_without_them);
}

int main(void)
{
	TCase *cases = tcase_create("share");

	tcase_add_test(cases, test_storm_of_three_members_all_same_in_the_end);
	tcase_add_test(cases, test_storm_of_nine_members_all_same_in_the_end);
	tcase_add_test(cases, test_record_reaches_all_at_once);
	tcase_add_test(
		cases, test_digest_counts_that_was_made_after_the_term_was_heard_of);
	tcase_add_test(cases, test_config_confirmed_before_does_not_count);
	tcase_add_test(cases, test_members_at_rest_send_digests_alone);
	tcase_add_test(cases, test_newcomer_receives_records_about_once);
	tcase_add_test(cases, test_latest_records_lost_are_sent_again_about_once);
	tcase_add_test(
		cases, test_latest_records_of_an_old_backup_are_the_same_in_the_end);
	tcase_add_test(cases, test_latest_records_reach_all_though_payloads_are_lost);
	tcase_add_test(
		cases, test_latest_records_are_sent_more_rarely_to_who_never_has_them);
	tcase_add_test(cases,
		test_latest_records_of_a_member_of_an_earlier_release_are_left_alone);
	tcase_add_test(cases, test_record_of_long_ago_is_not_a_ports_last);
	tcase_add_test(cases, test_config_of_megabytes_reaches_all_in_seconds);
	tcase_add_test(cases, test_config_source_gone_another_is_asked);
	tcase_add_test(cases, test_config_not_newer_is_left_alone);
	add_messages(cases);
	return run_cases(cases);
}
