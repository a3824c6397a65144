/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/mad_requests.h"

#include <string.h>

#include "ib/pma.h"
#include "ib/smp_mad.h"
#include "tests/random.h"
#include "tests/unit/run.h"
#include "triad/mad.h"
#include "triad/wire.h"

enum { AT_CLASS = 1, AT_METHOD = 3, AT_STATUS = 4, AT_TID = 8, AT_ATTRIBUTE = 16 };
enum { AT_MODIFIER = 20, RESPONSE = 0x80, LID = 7, OTHER_LID = 8, TID = 0x1234 };

static struct triad_mad_requests *requests;
static uint64_t seed;

static uint64_t draw(void)
{
	return random_next(&seed);
}

static void begin(void)
{
	seed = 1;
	requests = triad_mad_requests_new(draw);
	ck_assert_ptr_nonnull(requests);
}

static void end(void)
{
	triad_mad_requests_free(requests);
}

static void put(uint8_t *mad, size_t at, size_t n, uint64_t value)
{
	struct triad_wire w;

	triad_wire_init(&w, mad + at, n);
	triad_wire_put(&w, n, value);
}

/* Asks for PortCounters; 'mad' is what is sent, then. */
static void ask(uint8_t mad[TRIAD_MAD_SIZE], uint32_t tid)
{
	triad_pma_encode_get(mad, TRIAD_PMA_PORT_COUNTERS, 1, tid);
	triad_mad_requests_add(requests, mad, LID);
}

static bool take(uint8_t *mad, uint16_t lid)
{
	return triad_mad_requests_take(requests, mad, TRIAD_MAD_SIZE, lid, false);
}

/* Whether the reply is taken after 'n' octets at 'at' became 'value'. */
static bool is_taken_with(size_t at, size_t n, uint64_t value)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	ask(mad, TID);
	mad[AT_METHOD] |= RESPONSE;
	put(mad, at, n, value);
	return take(mad, LID);
}

START_TEST(test_reply_to_request_taken_once_with_callers_tid)
{
	uint8_t mad[TRIAD_MAD_SIZE], copy[TRIAD_MAD_SIZE];

	ask(mad, TID);
	ck_assert_uint_ne(triad_pma_tid(mad, TRIAD_MAD_SIZE), TID);
	mad[AT_METHOD] |= RESPONSE;
	/* The high half is the kernel's. */
	put(mad, AT_TID, 4, 0xabcd);
	memcpy(copy, mad, sizeof(copy));
	ck_assert(take(mad, LID));
	ck_assert_uint_eq(triad_pma_tid(mad, TRIAD_MAD_SIZE), TID);
	ck_assert(!take(copy, LID));
}
END_TEST

START_TEST(test_reply_from_another_lid_refused_and_request_goes_on)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	ask(mad, TID);
	mad[AT_METHOD] |= RESPONSE;
	ck_assert(!take(mad, OTHER_LID));
	ck_assert(take(mad, LID));
}
END_TEST

START_TEST(test_reply_from_another_lid_known_as_such)
{
	uint8_t mad[TRIAD_MAD_SIZE], other[TRIAD_MAD_SIZE], reply[TRIAD_MAD_SIZE];

	ask(mad, TID);
	mad[AT_METHOD] |= RESPONSE;
	memcpy(other, mad, sizeof(other));
	memcpy(reply, mad, sizeof(reply));
	put(other, AT_ATTRIBUTE, 2, 0x1d);
	ck_assert(
		!triad_mad_requests_is_from_elsewhere(requests, other, TRIAD_MAD_SIZE));
	ck_assert(!triad_mad_requests_is_from_elsewhere(requests, mad, 23));
	ck_assert(triad_mad_requests_is_from_elsewhere(requests, mad, TRIAD_MAD_SIZE));
	ck_assert_uint_eq(triad_pma_tid(mad, TRIAD_MAD_SIZE), TID);
	ck_assert(take(reply, LID));
	memcpy(mad, reply, sizeof(mad));
	ck_assert(!triad_mad_requests_is_from_elsewhere(requests, mad, TRIAD_MAD_SIZE));
}
END_TEST

START_TEST(test_reply_that_does_not_fit_refused)
{
	ck_assert(is_taken_with(AT_MODIFIER, 4, 0));
	ck_assert(!is_taken_with(AT_MODIFIER, 4, 1));
	ck_assert(!is_taken_with(AT_CLASS, 1, TRIAD_MAD_CLASS_SUBNET_LID));
	ck_assert(!is_taken_with(AT_METHOD, 1, TRIAD_MAD_METHOD_GET));
	ck_assert(!is_taken_with(AT_METHOD, 1, TRIAD_MAD_METHOD_SET | RESPONSE));
	ck_assert(!is_taken_with(AT_ATTRIBUTE, 2, 0x1d));
	ck_assert(!is_taken_with(AT_TID + 4, 4, TID));
}
END_TEST

START_TEST(test_reply_of_other_method_taken_where_it_reports_an_error)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	triad_pma_encode_get(mad, TRIAD_PMA_PORT_COUNTERS, 1, TID);
	mad[AT_METHOD] = 0x12;
	triad_mad_requests_add(requests, mad, LID);
	mad[AT_METHOD] = TRIAD_MAD_METHOD_GET_RESPONSE;
	ck_assert(take(mad, LID));
}
END_TEST

START_TEST(test_redirection_taken_for_any_attribute)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	ask(mad, TID);
	mad[AT_METHOD] |= RESPONSE;
	put(mad, AT_ATTRIBUTE, 2, 0x0001);
	ck_assert(!take(mad, LID));
	put(mad, AT_STATUS, 2, 0x0002);
	ck_assert(take(mad, LID));
}
END_TEST

START_TEST(test_reply_by_directed_route_has_no_lid)
{
	const struct triad_smp_request request = {
		.attribute = TRIAD_SMP_PORT_INFO, .modifier = 3};
	const uint8_t data[TRIAD_SMP_DATA_SIZE] = {0};
	const struct triad_smp_route route = {.lid = LID};
	uint8_t mad[TRIAD_MAD_SIZE];

	triad_smp_encode(mad, &route, &request, data, TID);
	triad_mad_requests_add(requests, mad, TRIAD_SMP_PERMISSIVE_LID);
	mad[AT_METHOD] |= RESPONSE;
	ck_assert(take(mad, 0));
}
END_TEST

START_TEST(test_request_that_failed_taken_as_it_was_sent)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	ask(mad, TID);
	ck_assert(triad_mad_requests_take(requests, mad, 24, LID, true));
	ck_assert_uint_eq(triad_pma_tid(mad, TRIAD_MAD_SIZE), TID);
	ck_assert(!triad_mad_requests_take(requests, mad, 24, LID, true));
}
END_TEST

START_TEST(test_request_removed_has_no_reply)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	ask(mad, TID);
	triad_mad_requests_remove(requests, mad);
	mad[AT_METHOD] |= RESPONSE;
	ck_assert(!take(mad, LID));
}
END_TEST

START_TEST(test_short_mad_refused)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	ask(mad, TID);
	mad[AT_METHOD] |= RESPONSE;
	for (size_t size = 0; size < 24; size++)
		ck_assert(!triad_mad_requests_take(requests, mad, size, LID, false));
	ck_assert(take(mad, LID));
}
END_TEST

/* As many as a sweep has outstanding at most. */
START_TEST(test_many_requests_at_once_all_answered)
{
	enum { N = 4096 };
	static uint8_t mads[N][TRIAD_MAD_SIZE];

	for (uint32_t i = 0; i < N; i++)
		ask(mads[i], i);
	for (uint32_t i = 0; i < N; i++) {
		mads[i][AT_METHOD] |= RESPONSE;
		ck_assert_msg(take(mads[i], LID), "request %u", i);
		ck_assert_uint_eq(triad_pma_tid(mads[i], TRIAD_MAD_SIZE), i);
	}
}
END_TEST

/* A transport that loses requests and replies without a word. */
START_TEST(test_requests_lost_for_ever_last_one_answered)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	for (uint32_t i = 0; i < 4 * TRIAD_MAD_REQUESTS_MAX; i++)
		ask(mad, i);
	mad[AT_METHOD] |= RESPONSE;
	ck_assert(take(mad, LID));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("mad_requests");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_reply_to_request_taken_once_with_callers_tid);
	tcase_add_test(cases, test_reply_from_another_lid_refused_and_request_goes_on);
	tcase_add_test(cases, test_reply_from_another_lid_known_as_such);
	tcase_add_test(cases, test_reply_that_does_not_fit_refused);
	tcase_add_test(
		cases, test_reply_of_other_method_taken_where_it_reports_an_error);
	tcase_add_test(cases, test_redirection_taken_for_any_attribute);
	tcase_add_test(cases, test_reply_by_directed_route_has_no_lid);
	tcase_add_test(cases, test_request_that_failed_taken_as_it_was_sent);
	tcase_add_test(cases, test_request_removed_has_no_reply);
	tcase_add_test(cases, test_short_mad_refused);
	tcase_add_test(cases, test_many_requests_at_once_all_answered);
	tcase_add_test(cases, test_requests_lost_for_ever_last_one_answered);
	return run_cases(cases);
}
