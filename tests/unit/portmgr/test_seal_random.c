/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The network between two or three ends loses, repeats, reorders and delays datagrams.
 * An attacker records all of them, delivers any to any end at any time, and changes
 * some.  Ends restart at any time.  No end ever accepts a datagram twice, one that was
 * sent between other ends, or one older than the last accepted.  After the attack a few
 * datagrams in each direction restore communication. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "portmgr/cluster/seal.h"
#include "tests/random.h"
#include "tests/unit/run.h"

#define MAX_ENDS 3
#define MAX_RECORDS 20000
#define N_STEPS 4000
/* So many rounds of a datagram in each direction, and all ends accept each other's. */
#define N_ROUNDS 3

struct record {
	uint8_t octets[200];
	size_t size;
	unsigned from, to;
};

/* The content of a payload: its ends, how often the sender had started, and the
 * payload's number. */
struct content {
	uint32_t from, to, start, n;
};

struct end {
	struct triad_seal seal;
	struct triad_seal_peer peers[MAX_ENDS];
	uint32_t start, n;
};

struct storm {
	uint64_t state, now_us;
	unsigned n_ends;
	struct end ends[MAX_ENDS];
	struct content last[MAX_ENDS][MAX_ENDS]; /* accepted, by receiver and sender */
	unsigned n_accepted, n_restarts;
	uint32_t n_records;
	struct record records[MAX_RECORDS];
};

static struct storm storm;

static uint64_t next_random(void *context)
{
	return random_next(context);
}

static unsigned pick(unsigned n)
{
	return random_below(&storm.state, n);
}

static struct triad_address address_of(unsigned end)
{
	return (struct triad_address){.family = AF_INET6,
		.octets = {0xfd, [15] = (uint8_t)(end + 1)},
		.port = 7000};
}

static void start(unsigned number)
{
	struct end *end = &storm.ends[number];
	struct triad_address address = address_of(number);

	end->start++;
	end->n = 0;
	triad_seal_init(&end->seal, number + 1, &address, "0123456789abcdef", 16,
		next_random, &storm.state);
	for (unsigned i = 0; i < storm.n_ends; i++) {
		address = address_of(i);
		triad_seal_peer_init(&end->seal, &end->peers[i], &address);
	}
}

static struct record *make(unsigned from, unsigned to, bool is_payload)
{
	struct end *end = &storm.ends[from];
	struct record *record = &storm.records[storm.n_records++ % MAX_RECORDS];
	struct content content = {from, to, end->start, ++end->n};
	uint8_t octets[TRIAD_SEAL_MAX_SIZE];

	record->from = from;
	record->to = to;
	record->size = triad_seal_make(&end->seal, &end->peers[to],
		is_payload ? TRIAD_SEAL_PAYLOAD : TRIAD_SEAL_KEEPALIVE, &content,
		is_payload ? sizeof(content) : 0, octets);
	ck_assert_uint_le(record->size, sizeof(record->octets));
	memcpy(record->octets, octets, record->size);
	return record;
}

static void check_accepted(
	unsigned from, unsigned to, const struct triad_seal_opened *opened)
{
	struct content content, *last = &storm.last[to][from];

	ck_assert_uint_eq(opened->id, from + 1);
	storm.n_accepted++;
	if (opened->kind != TRIAD_SEAL_PAYLOAD)
		return;
	ck_assert_uint_eq(opened->size, sizeof(content));
	memcpy(&content, opened->payload, sizeof(content));
	ck_assert_uint_eq(content.from, from);
	ck_assert_uint_eq(content.to, to);
	ck_assert_uint_ge(content.start, last->start);
	if (content.start == last->start)
		ck_assert_uint_gt(content.n, last->n);
	*last = content;
}

/* Delivers a datagram to 'to' as if it came from 'from', and records the answer, if
 * any. */
static bool hand(unsigned from, unsigned to, const struct record *record)
{
	struct end *end = &storm.ends[to];
	struct triad_seal_opened opened;
	bool accepted;

	accepted = triad_seal_open(&end->seal, &end->peers[from], record->octets,
			   record->size, storm.now_us, &opened) == TRIAD_SEAL_ACCEPTED;
	if (accepted)
		check_accepted(from, to, &opened);
	if (opened.answer)
		make(to, from, false);
	return accepted;
}

/* Picks mostly one of the last datagrams, sometimes any of those recorded. */
static const struct record *pick_record(void)
{
	uint32_t n = storm.n_records < MAX_RECORDS ? storm.n_records : MAX_RECORDS;
	uint32_t back = pick(3) ? pick(n < 8 ? n : 8) : pick(n);

	return &storm.records[(storm.n_records - 1 - back) % MAX_RECORDS];
}

static void meddle(void)
{
	struct record record = *pick_record();
	unsigned from = pick(storm.n_ends), to = pick(storm.n_ends);

	if (pick(2)) {
		from = record.from;
		to = record.to;
		record.octets[pick((unsigned)record.size)] ^= (uint8_t)(1 + pick(255));
		ck_assert(!hand(from, to, &record));
	} else if (from != record.from || to != record.to) {
		ck_assert(!hand(from, to, &record));
	}
}

static void step(void)
{
	unsigned what = pick(100), from = pick(storm.n_ends);
	unsigned to = (from + 1 + pick(storm.n_ends - 1)) % storm.n_ends;
	const struct record *record;

	storm.now_us += pick(20000);
	if (what == 0) {
		storm.n_restarts++;
		start(from);
	} else if (what < 40 || !storm.n_records) {
		make(from, to, pick(4));
	} else if (what < 90) {
		record = pick_record();
		hand(record->from, record->to, record);
	} else {
		meddle();
	}
}

/* Checks that all ends accept each other's datagrams again.  The network loses nothing
 * now, but still delivers 'n_old' recorded datagrams. */
static void check_convergence(unsigned n_old)
{
	bool received;

	for (unsigned round = 0; round <= N_ROUNDS; round++) {
		received = true;
		storm.now_us += 100000;
		for (unsigned i = 0; i < n_old; i++)
			meddle();
		for (unsigned from = 0; from < storm.n_ends; from++)
			for (unsigned to = 0; to < storm.n_ends; to++)
				if (from != to)
					received &=
						hand(from, to, make(from, to, true));
	}
	ck_assert(received);
}

static void check_storm(unsigned n_ends, uint64_t seed)
{
	memset(&storm, 0, sizeof(storm));
	storm.state = seed;
	storm.n_ends = n_ends;
	for (unsigned i = 0; i < n_ends; i++)
		start(i);
	for (unsigned i = 0; i < N_STEPS; i++) {
		step();
		if (i % 500 == 499)
			check_convergence(i % 1000 == 499 ? 0 : 3);
	}
	ck_assert_uint_gt(storm.n_accepted, N_STEPS / 20);
	ck_assert_uint_gt(storm.n_restarts, 0);
}

static void check_storms(unsigned n_ends)
{
	const char *text = getenv("TRIAD_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) * 1000;
	unsigned n = text ? 1 : 60;

	for (unsigned i = 0; i < n; i++, seed++) {
		printf("# TRIAD_SEED=%llu\n", (unsigned long long)seed);
		fflush(stdout);
		check_storm(n_ends, seed);
	}
}

START_TEST(test_storm_of_two_ends_nothing_twice_nothing_old)
{
	check_storms(2);
}
END_TEST

START_TEST(test_storm_of_three_ends_nothing_twice_nothing_old)
{
	check_storms(3);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("seal_random");

	tcase_add_test(cases, test_storm_of_two_ends_nothing_twice_nothing_old);
	tcase_add_test(cases, test_storm_of_three_ends_nothing_twice_nothing_old);
	return run_cases(cases);
}
