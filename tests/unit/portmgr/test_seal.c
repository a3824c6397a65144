/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/cluster/seal.h"

#include <nettle/hmac.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/random.h"
#include "tests/unit/run.h"

#define ID(end) (0x1000u + (end))
#define KEY "a key of more than 16 octets"

static uint64_t next_random(void *context)
{
	return random_next(context);
}

static uint64_t nonces = 7;
static uint64_t now_us;

static struct triad_address address_of(unsigned end)
{
	return (struct triad_address){.family = AF_INET,
		.octets = {10, 0, 0, (uint8_t)(end + 1)},
		.port = 7000};
}

/* An end, with its state for each other end. */
#define MAX_ENDS 3
struct end {
	struct triad_seal seal;
	struct triad_seal_peer peers[MAX_ENDS];
};

static void start(struct end *ends, unsigned n, unsigned end)
{
	struct triad_address address = address_of(end);

	triad_seal_init(&ends[end].seal, ID(end), &address, KEY, sizeof(KEY),
		next_random, &nonces);
	for (unsigned i = 0; i < n; i++) {
		address = address_of(i);
		triad_seal_peer_init(&ends[end].seal, &ends[end].peers[i], &address);
	}
}

struct datagram {
	uint8_t octets[TRIAD_SEAL_MAX_SIZE];
	size_t size;
};

static struct datagram make(
	struct end *ends, unsigned from, unsigned to, const char *text)
{
	struct datagram made;

	made.size = triad_seal_make(&ends[from].seal, &ends[from].peers[to],
		text ? TRIAD_SEAL_PAYLOAD : TRIAD_SEAL_KEEPALIVE, text,
		text ? strlen(text) : 0, made.octets);
	return made;
}

static enum triad_seal_verdict take(struct end *ends, unsigned from, unsigned to,
	const struct datagram *datagram, struct triad_seal_opened *opened)
{
	return triad_seal_open(&ends[to].seal, &ends[to].peers[from], datagram->octets,
		datagram->size, now_us, opened);
}

/* Makes a keepalive and delivers it. */
static enum triad_seal_verdict pass(
	struct end *ends, unsigned from, unsigned to, struct triad_seal_opened *opened)
{
	const struct datagram made = make(ends, from, to, NULL);

	now_us += TRIAD_SEAL_ANSWER_US;
	return take(ends, from, to, &made, opened);
}

static struct end ends[MAX_ENDS];
static struct triad_seal_opened opened;

static void start_two(void)
{
	start(ends, 2, 0);
	start(ends, 2, 1);
}

static void meet(void)
{
	start_two();
	(void)pass(ends, 0, 1, &opened);
	ck_assert_int_eq(pass(ends, 1, 0, &opened), TRIAD_SEAL_ACCEPTED);
	ck_assert_int_eq(pass(ends, 0, 1, &opened), TRIAD_SEAL_ACCEPTED);
	ck_assert_int_eq(pass(ends, 1, 0, &opened), TRIAD_SEAL_ACCEPTED);
	ck_assert(!opened.answer);
}

/* Gives the datagram a valid MAC. */
static void seal_again(struct datagram *datagram, unsigned from, unsigned to)
{
	const unsigned pair[] = {from, to};
	struct hmac_sha256_ctx mac;

	hmac_sha256_set_key(&mac, sizeof(KEY), (const uint8_t *)KEY);
	hmac_sha256_update(&mac, datagram->size - 32, datagram->octets);
	for (unsigned i = 0; i < 2; i++) {
		uint8_t octets[19] = {4, 10, 0, 0, (uint8_t)(pair[i] + 1)};

		octets[17] = 7000 >> 8;
		octets[18] = 7000 & 0xff;
		hmac_sha256_update(&mac, sizeof(octets), octets);
	}
	hmac_sha256_digest(&mac, 32, datagram->octets + datagram->size - 32);
}

START_TEST(test_datagram_made_is_as_in_the_table)
{
	static const uint8_t begin[] = {
		'T', 'r', 'C', 'l', 1, 2, 0, 5, 0, 0, 0, 0, 0, 0, 0x10, 0};
	struct datagram made, again;

	meet();
	made = make(ends, 0, 1, "hello");
	ck_assert_uint_eq(made.size, 48 + 5 + 32);
	ck_assert_mem_eq(made.octets, begin, sizeof(begin));
	ck_assert_uint_eq(made.octets[47], 3); /* the third of the session */
	ck_assert_mem_eq(made.octets + 48, "hello", 5);
	again = made;
	seal_again(&again, 0, 1);
	ck_assert_mem_eq(again.octets, made.octets, made.size);
	ck_assert_int_eq(take(ends, 0, 1, &made, &opened), TRIAD_SEAL_ACCEPTED);
	ck_assert_int_eq(opened.kind, TRIAD_SEAL_PAYLOAD);
	ck_assert_uint_eq(opened.id, ID(0));
	ck_assert_uint_eq(opened.size, 5);
	ck_assert_mem_eq(opened.payload, "hello", 5);
}
END_TEST

START_TEST(test_datagram_with_any_bit_changed_is_not_accepted)
{
	struct datagram made;

	meet();
	made = make(ends, 0, 1, "hello");
	for (size_t bit = 0; bit < 8 * made.size; bit++) {
		enum triad_seal_verdict verdict;

		made.octets[bit / 8] ^= (uint8_t)(1 << bit % 8);
		verdict = take(ends, 0, 1, &made, &opened);
		ck_assert_int_eq(
			verdict, bit < 32 ? TRIAD_SEAL_MALFORMED : TRIAD_SEAL_FORGED);
		ck_assert(!opened.answer);
		made.octets[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	ck_assert_int_eq(take(ends, 0, 1, &made, &opened), TRIAD_SEAL_ACCEPTED);
}
END_TEST

START_TEST(test_datagram_of_any_other_size_is_not_accepted)
{
	struct datagram made;

	meet();
	made = make(ends, 0, 1, "hello");
	for (size_t size = 0; size < made.size; size++) {
		struct datagram cut = made;

		cut.size = size;
		ck_assert_int_eq(take(ends, 0, 1, &cut, &opened),
			size < 80 ? TRIAD_SEAL_MALFORMED : TRIAD_SEAL_FORGED);
		if (size < 80)
			continue;
		seal_again(&cut, 0, 1);
		ck_assert_int_eq(take(ends, 0, 1, &cut, &opened), TRIAD_SEAL_MALFORMED);
	}
}
END_TEST

START_TEST(test_largest_payload_is_accepted)
{
	static uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE];
	struct datagram made;

	meet();
	memset(payload, 0xa5, sizeof(payload));
	made.size = triad_seal_make(&ends[0].seal, &ends[0].peers[1],
		TRIAD_SEAL_PAYLOAD, payload, sizeof(payload), made.octets);
	ck_assert_uint_eq(made.size, TRIAD_SEAL_MAX_SIZE);
	ck_assert_int_eq(take(ends, 0, 1, &made, &opened), TRIAD_SEAL_ACCEPTED);
	ck_assert_uint_eq(opened.size, sizeof(payload));
	ck_assert_mem_eq(opened.payload, payload, sizeof(payload));
}
END_TEST

START_TEST(test_version_unknown_is_reported_only_of_what_is_authentic)
{
	struct datagram made;

	meet();
	made = make(ends, 0, 1, "hello");
	made.octets[4] = 2;
	ck_assert_int_eq(take(ends, 0, 1, &made, &opened), TRIAD_SEAL_FORGED);
	seal_again(&made, 0, 1);
	ck_assert_int_eq(take(ends, 0, 1, &made, &opened), TRIAD_SEAL_OTHER_VERSION);
	ck_assert(!opened.answer);
}
END_TEST

START_TEST(test_header_authentic_but_wrong_is_malformed)
{
	/* The offset and the size of each field. */
	static const uint8_t zeroed[][2] = {
		{5, 1}, {6, 2}, {8, 8}, {16, 8}, {24, 8}, {40, 8}};

	meet();
	for (unsigned i = 0; i < sizeof(zeroed) / sizeof(zeroed[0]); i++) {
		struct datagram made = make(ends, 0, 1, "hello");

		memset(made.octets + zeroed[i][0], 0, zeroed[i][1]);
		seal_again(&made, 0, 1);
		ck_assert_int_eq(
			take(ends, 0, 1, &made, &opened), TRIAD_SEAL_MALFORMED);
	}
}
END_TEST

START_TEST(test_datagram_between_other_ends_is_forged)
{
	struct datagram made;

	start(ends, 3, 0);
	start(ends, 3, 1);
	start(ends, 3, 2);
	made = make(ends, 0, 1, "hello");
	ck_assert_int_eq(take(ends, 1, 0, &made, &opened), TRIAD_SEAL_FORGED);
	ck_assert_int_eq(take(ends, 0, 2, &made, &opened), TRIAD_SEAL_FORGED);
	ck_assert_int_eq(take(ends, 2, 1, &made, &opened), TRIAD_SEAL_FORGED);
	ck_assert_int_eq(take(ends, 0, 1, &made, &opened), TRIAD_SEAL_HELLO);
}
END_TEST

START_TEST(test_handshake_of_two_that_start_takes_three_datagrams)
{
	start_two();
	ck_assert_int_eq(pass(ends, 0, 1, &opened), TRIAD_SEAL_HELLO);
	ck_assert(opened.answer);
	ck_assert_int_eq(pass(ends, 1, 0, &opened), TRIAD_SEAL_ACCEPTED);
	ck_assert(opened.answer && opened.is_adopted);
	ck_assert_int_eq(pass(ends, 0, 1, &opened), TRIAD_SEAL_ACCEPTED);
	ck_assert(opened.answer && opened.is_adopted);
	ck_assert_int_eq(pass(ends, 1, 0, &opened), TRIAD_SEAL_ACCEPTED);
	ck_assert(!opened.answer && !opened.is_adopted);
}
END_TEST

START_TEST(test_handshake_after_a_restart_takes_four_datagrams)
{
	for (unsigned restarted = 0; restarted < 2; restarted++) {
		meet();
		start(ends, 2, restarted);
		ck_assert_int_eq(
			pass(ends, restarted, !restarted, &opened), TRIAD_SEAL_HELLO);
		ck_assert(opened.answer);
		ck_assert_int_eq(
			pass(ends, !restarted, restarted, &opened), TRIAD_SEAL_OLD);
		ck_assert(opened.answer);
		ck_assert_int_eq(pass(ends, restarted, !restarted, &opened),
			TRIAD_SEAL_ACCEPTED);
		ck_assert(opened.answer && opened.is_adopted);
		ck_assert_int_eq(pass(ends, !restarted, restarted, &opened),
			TRIAD_SEAL_ACCEPTED);
	}
}
END_TEST

START_TEST(test_handshake_crossing_converges)
{
	struct datagram a, b;

	start_two();
	for (unsigned i = 0; i < 3; i++) {
		a = make(ends, 0, 1, NULL);
		b = make(ends, 1, 0, NULL);
		ck_assert_int_eq(take(ends, 0, 1, &a, &opened),
			i ? TRIAD_SEAL_ACCEPTED : TRIAD_SEAL_HELLO);
		ck_assert_int_eq(take(ends, 1, 0, &b, &opened),
			i ? TRIAD_SEAL_ACCEPTED : TRIAD_SEAL_HELLO);
	}
	ck_assert(!opened.answer);
}
END_TEST

START_TEST(test_recordings_of_a_session_that_ended_are_old)
{
	struct datagram received, undelivered, hello;

	meet();
	received = make(ends, 0, 1, "heard");
	undelivered = make(ends, 0, 1, "unheard");
	ck_assert_int_eq(take(ends, 0, 1, &received, &opened), TRIAD_SEAL_ACCEPTED);
	ck_assert_int_eq(take(ends, 0, 1, &received, &opened), TRIAD_SEAL_OLD);
	ck_assert(!opened.answer);
	start(ends, 2, 0);
	hello = make(ends, 0, 1, NULL);
	(void)take(ends, 0, 1, &hello, &opened);
	(void)pass(ends, 1, 0, &opened);
	ck_assert_int_eq(pass(ends, 0, 1, &opened), TRIAD_SEAL_ACCEPTED);
	ck_assert_int_eq(take(ends, 0, 1, &received, &opened), TRIAD_SEAL_OLD);
	ck_assert_int_eq(take(ends, 0, 1, &undelivered, &opened), TRIAD_SEAL_OLD);
	/* Even after its restart the receiver doesn't accept them. */
	start(ends, 2, 1);
	ck_assert_int_eq(take(ends, 0, 1, &received, &opened), TRIAD_SEAL_OLD);
	ck_assert_int_eq(take(ends, 0, 1, &undelivered, &opened), TRIAD_SEAL_OLD);
	ck_assert_int_eq(take(ends, 0, 1, &hello, &opened), TRIAD_SEAL_HELLO);
}
END_TEST

START_TEST(test_hellos_repeated_are_answered_once_in_20_ms)
{
	struct datagram hello;
	unsigned n_answers = 0;

	start_two();
	hello = make(ends, 0, 1, NULL);
	for (unsigned i = 0; i < 1000; i++) {
		now_us += 1000;
		(void)take(ends, 0, 1, &hello, &opened);
		n_answers += opened.answer;
	}
	ck_assert_uint_eq(n_answers, 50);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("seal");

	tcase_add_test(cases, test_datagram_made_is_as_in_the_table);
	tcase_add_test(cases, test_datagram_with_any_bit_changed_is_not_accepted);
	tcase_add_test(cases, test_datagram_of_any_other_size_is_not_accepted);
	tcase_add_test(cases, test_largest_payload_is_accepted);
	tcase_add_test(
		cases, test_version_unknown_is_reported_only_of_what_is_authentic);
	tcase_add_test(cases, test_header_authentic_but_wrong_is_malformed);
	tcase_add_test(cases, test_datagram_between_other_ends_is_forged);
	tcase_add_test(cases, test_handshake_of_two_that_start_takes_three_datagrams);
	tcase_add_test(cases, test_handshake_after_a_restart_takes_four_datagrams);
	tcase_add_test(cases, test_handshake_crossing_converges);
	tcase_add_test(cases, test_recordings_of_a_session_that_ended_are_old);
	tcase_add_test(cases, test_hellos_repeated_are_answered_once_in_20_ms);
	return run_cases(cases);
}
