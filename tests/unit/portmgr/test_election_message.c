/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/run.h"

#define HEAD 108u

static struct triad_election_message a_message(uint32_t n_blacklisted)
{
	struct triad_election_message message = {
		.kind = TRIAD_ELECTION_CEDE,
		.state = TRIAD_ELECTION_STANDBY,
		.flags = TRIAD_ELECTION_IS_ABLE,
		.from = UINT64_C(0x0102030405060708),
		.to = UINT64_C(0x1112131415161718),
		.priority = 0x21222324,
		.round = UINT64_C(0x3132333435363738),
		.answers = UINT64_C(0x4142434445464748),
		.term = UINT64_C(0x7152535455565758),
		.claim = UINT64_C(0x6162636465666768),
		.grant = UINT64_C(0x5172737475767778),
		.generation = UINT64_C(0x7182838485868788),
		.hash = UINT64_C(0x9192939495969798),
		.newest = UINT64_C(0x78a2a3a4a5a6a7a8),
		.lease_ms = 400,
		.held = UINT64_C(0x5a52535455565758),
		.blacklist = {.n = n_blacklisted},
	};

	for (uint32_t i = 0; i < n_blacklisted; i++)
		message.blacklist.entries[i] = (struct triad_blacklist_entry){
			.id = i + 1, .version = i + 7, .is_listed = i % 3};
	return message;
}

/* Decodes a heap copy of exactly that size, so that a sanitizer reports any read past
 * the end. */
static int decode(
	struct triad_election_message *message, const uint8_t *octets, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);
	int error;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, octets, size);
	error = triad_election_message_decode(message, exact, size);
	free(exact);
	return error;
}

START_TEST(test_message_round_trip_is_the_same)
{
	struct triad_election_message theirs, ours = a_message((uint32_t)_i);
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	uint8_t again[TRIAD_ELECTION_MESSAGE_SIZE];
	size_t size = triad_election_message_encode(&ours, octets);

	ck_assert_uint_eq(size, HEAD + 13u * (uint32_t)_i);
	ck_assert_int_eq(decode(&theirs, octets, size), 0);
	ck_assert_uint_eq(triad_election_message_encode(&theirs, again), size);
	ck_assert_mem_eq(octets, again, size);
	ck_assert_uint_eq(theirs.kind, ours.kind);
	ck_assert_uint_eq(theirs.state, ours.state);
	ck_assert_uint_eq(theirs.flags, ours.flags);
	ck_assert_uint_eq(theirs.from, ours.from);
	ck_assert_uint_eq(theirs.to, ours.to);
	ck_assert_uint_eq(theirs.priority, ours.priority);
	ck_assert_uint_eq(theirs.round, ours.round);
	ck_assert_uint_eq(theirs.answers, ours.answers);
	ck_assert_uint_eq(theirs.term, ours.term);
	ck_assert_uint_eq(theirs.claim, ours.claim);
	ck_assert_uint_eq(theirs.grant, ours.grant);
	ck_assert_uint_eq(theirs.generation, ours.generation);
	ck_assert_uint_eq(theirs.hash, ours.hash);
	ck_assert_uint_eq(theirs.newest, ours.newest);
	ck_assert_uint_eq(theirs.lease_ms, ours.lease_ms);
	ck_assert_uint_eq(theirs.held, ours.held);
	ck_assert_uint_eq(theirs.blacklist.n, ours.blacklist.n);
	for (int i = 0; i < _i; i++) {
		ck_assert_uint_eq(theirs.blacklist.entries[i].id, (unsigned)i + 1);
		ck_assert_uint_eq(theirs.blacklist.entries[i].version, (unsigned)i + 7);
		ck_assert_uint_eq(theirs.blacklist.entries[i].is_listed, i % 3 != 0);
	}
}
END_TEST

/* The layout in message.h; other versions of Triad rely on it. */
/* Row: E4 */
START_TEST(test_message_octets_are_where_they_are_documented)
{
	struct triad_election_message message = a_message(1);
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	const struct {
		size_t at;
		uint8_t octet;
	} places[] = {{4, 2}, {5, 3}, {6, 2}, {7, 1}, {8, 0x01}, {16, 0x11}, {24, 0x21},
		{31, 1}, {32, 0x31}, {40, 0x41}, {48, 0x71}, {56, 0x61}, {64, 0x51},
		{72, 0x71}, {80, 0x91}, {88, 0x78}, {98, 1}, {100, 0x5a}, {115, 1},
		{119, 7}, {120, 0}};

	triad_election_message_encode(&message, octets);
	ck_assert_mem_eq(octets, "TrEl", 4);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		ck_assert_msg(octets[places[i].at] == places[i].octet, "at %zu",
			places[i].at);
}
END_TEST

START_TEST(test_message_cut_off_is_refused)
{
	struct triad_election_message theirs, ours = a_message(TRIAD_BLACKLIST_MAX);
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	size_t size = triad_election_message_encode(&ours, octets);

	ck_assert_uint_eq(size, TRIAD_ELECTION_MESSAGE_SIZE);
	for (size_t shorter = 0; shorter < size; shorter++)
		ck_assert_int_eq(decode(&theirs, octets, shorter), EINVAL);
	ck_assert_int_eq(decode(&theirs, octets, size), 0);
}
END_TEST

START_TEST(test_message_of_a_later_triad_within_the_version_is_understood)
{
	struct triad_election_message theirs, ours = a_message(2);
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE + 9] = {0};
	size_t size = triad_election_message_encode(&ours, octets);

	octets[7] |= 0x48;
	octets[size + 8] = 1;
	ck_assert_int_eq(decode(&theirs, octets, size + 9), 0);
	ck_assert_uint_eq(theirs.flags, ours.flags);
	ck_assert_uint_eq(theirs.blacklist.n, 2);
}
END_TEST

START_TEST(test_message_of_another_version_is_refused_as_such)
{
	struct triad_election_message theirs, ours = a_message(0);
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	size_t size = triad_election_message_encode(&ours, octets);

	octets[4] = 1;
	ck_assert_int_eq(decode(&theirs, octets, size), EPROTONOSUPPORT);
	ck_assert_int_eq(decode(&theirs, octets, 5), EPROTONOSUPPORT);
	octets[0] = 't';
	ck_assert_int_eq(decode(&theirs, octets, size), EINVAL);
}
END_TEST

/* Each row overwrites 'size' octets of a valid message with two ids on its
 * blacklist. */
static const struct {
	size_t at, size;
	uint8_t value;
} hostile[] = {
	{5, 1, 0}, {5, 1, 4}, {5, 1, 255},        /* kind */
	{6, 1, 0}, {6, 1, 4},                     /* state */
	{8, 8, 0},                                /* no sender */
	{31, 1, 3},                               /* more ids than the message has */
	{31, 1, 33}, {28, 4, 255},                /* more ids than the maximum */
	{48, 8, 0x60},                            /* the claim is above the term, */
	{48, 8, 0x51},                            /* and the grant */
	{56, 1, 0x72}, {64, 1, 0x72},             /* the same */
	{88, 8, 0x70},                            /* a generation above the newest */
	{96, 1, 1},                               /* a lease of hours */
	{100, 1, 0x72},                           /* held above the term */
	{108, 8, 0}, {116, 4, 0}, {120, 1, 2},    /* the blacklist's first */
	{121, 8, 0}, {129, 4, 0}, {133, 1, 0xff}, /* and last */
};

START_TEST(test_message_with_hostile_field_is_refused)
{
	struct triad_election_message theirs, ours = a_message(2);
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	size_t size = triad_election_message_encode(&ours, octets);

	memset(octets + hostile[_i].at, hostile[_i].value, hostile[_i].size);
	ck_assert_int_eq(decode(&theirs, octets, size), EINVAL);
}
END_TEST

/* Row: E3 */
START_TEST(test_state_names_are_the_documents)
{
	ck_assert_str_eq(
		triad_election_state_name(TRIAD_ELECTION_ELECTING), "ELECTING");
	ck_assert_str_eq(triad_election_state_name(TRIAD_ELECTION_STANDBY), "STANDBY");
	ck_assert_str_eq(triad_election_state_name(TRIAD_ELECTION_MASTER), "MASTER");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("election_message");

	tcase_add_loop_test(
		cases, test_message_round_trip_is_the_same, 0, TRIAD_BLACKLIST_MAX + 1);
	tcase_add_test(cases, test_message_octets_are_where_they_are_documented);
	tcase_add_test(cases, test_message_cut_off_is_refused);
	tcase_add_test(
		cases, test_message_of_a_later_triad_within_the_version_is_understood);
	tcase_add_test(cases, test_message_of_another_version_is_refused_as_such);
	tcase_add_loop_test(cases, test_message_with_hostile_field_is_refused, 0,
		sizeof(hostile) / sizeof(*hostile));
	tcase_add_test(cases, test_state_names_are_the_documents);
	return run_cases(cases);
}
