/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "shield/check.h"

#include <string.h>

#include "tests/unit/run.h"
#include "triad/wire.h"

enum {
	GET = 0x01,
	SET = 0x02,
	TRAP = 0x05,
	REPORT_RESP = 0x86,
	GET_TABLE = 0x12,
	GET_MULTI = 0x14,
	DELETE = 0x15
};
enum {
	INFORM_INFO = 0x03,
	NODE_RECORD = 0x11,
	SL2VL = 0x13,
	LFT = 0x15,
	GUIDINFO = 0x30,
	SERVICE = 0x31,
	PATH = 0x35,
	MEMBER = 0x38,
	MULTIPATH = 0x3a
};
/* Bits of the component masks. */
enum { LID = 1, IN_PORT = 2, OUT_PORT = 4 };

static uint8_t mad[TRIAD_SHIELD_MAD_SIZE];

static void make_request(uint8_t method, uint16_t attribute, uint64_t mask)
{
	struct triad_wire w;

	memset(mad, 0, sizeof(mad));
	triad_wire_init(&w, mad, sizeof(mad));
	triad_wire_put(&w, 4, 0x01030200u | method);
	triad_wire_seek(&w, 16);
	triad_wire_put(&w, 2, attribute);
	triad_wire_seek(&w, 48);
	triad_wire_put(&w, 8, mask);
}

static void check(struct triad_shield_judgement found,
	enum triad_shield_verdict verdict, enum triad_shield_reason reason,
	uint16_t status)
{
	ck_assert_uint_eq(found.verdict, verdict);
	ck_assert_uint_eq(found.reason, reason);
	ck_assert_uint_eq(found.status, status);
}

static void check_method(
	uint8_t method, uint16_t attribute, enum triad_shield_verdict verdict)
{
	make_request(method, attribute, 0);
	check(triad_shield_look(mad), verdict,
		verdict == TRIAD_SHIELD_ANSWER ? TRIAD_SHIELD_METHOD
					       : TRIAD_SHIELD_GOOD,
		verdict == TRIAD_SHIELD_ANSWER ? 0x000c : 0);
}

START_TEST(test_each_attribute_has_its_methods)
{
	static const uint8_t never[] = {0, 3, TRAP, 6, 0x13, 0x81, 0xff};

	check_method(GET, NODE_RECORD, TRIAD_SHIELD_PASS);
	check_method(GET_TABLE, NODE_RECORD, TRIAD_SHIELD_PASS);
	check_method(SET, NODE_RECORD, TRIAD_SHIELD_ANSWER);
	check_method(GET_MULTI, PATH, TRIAD_SHIELD_ANSWER);
	check_method(GET_MULTI, MULTIPATH, TRIAD_SHIELD_PASS);
	check_method(GET, MULTIPATH, TRIAD_SHIELD_ANSWER);
	check_method(GET, SERVICE, TRIAD_SHIELD_PASS);
	check_method(SET, SERVICE, TRIAD_SHIELD_ASK);
	check_method(DELETE, SERVICE, TRIAD_SHIELD_ASK);
	check_method(SET, GUIDINFO, TRIAD_SHIELD_ASK);
	check_method(DELETE, GUIDINFO, TRIAD_SHIELD_ASK);
	check_method(SET, INFORM_INFO, TRIAD_SHIELD_ASK);
	check_method(SET, MEMBER, TRIAD_SHIELD_PASS);
	check_method(GET, SL2VL, TRIAD_SHIELD_ASK);
	check_method(GET_TABLE, LFT, TRIAD_SHIELD_ASK);
	check_method(SET, LFT, TRIAD_SHIELD_ANSWER);
	check_method(REPORT_RESP, 0x02, TRIAD_SHIELD_PASS);
	for (unsigned i = 0; i < sizeof(never); i++)
		check_method(never[i], NODE_RECORD, TRIAD_SHIELD_ANSWER);
}
END_TEST

START_TEST(test_attribute_that_the_sa_has_not_is_unsupported)
{
	static const uint16_t unknown[] = {0, 0x02, 0x16, 0x39, 0x3b, 0xff00, 0xffff};

	for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		make_request(GET, unknown[i], 0);
		check(triad_shield_look(mad), TRIAD_SHIELD_ANSWER,
			TRIAD_SHIELD_ATTRIBUTE, 0x000c);
	}
}
END_TEST

START_TEST(test_lid_counts_only_if_the_mask_has_it)
{
	make_request(GET, SL2VL, LID | IN_PORT);
	mad[56] = 0x12;
	mad[57] = 0x34;
	ck_assert_uint_eq(triad_shield_lid(mad), 0x1234);
	make_request(GET, SL2VL, IN_PORT);
	mad[57] = 5;
	ck_assert_uint_eq(triad_shield_lid(mad), 0);
}
END_TEST

static struct triad_shield_judgement judge_ports(
	uint64_t mask, uint8_t in, uint8_t out, const struct triad_shield_facts *facts)
{
	make_request(GET_TABLE, SL2VL, mask);
	mad[58] = in;
	mad[59] = out;
	return triad_shield_judge(mad, facts);
}

START_TEST(test_port_beyond_the_switch_matches_nothing)
{
	static const struct triad_shield_facts facts = {
		.has_switch = true, .least = 9, .most = 9};

	for (unsigned in = 0; in < 256; in++)
		for (unsigned out = 0; out < 256; out++) {
			bool is_good = in < 9 && out < 9;

			check(judge_ports(LID | IN_PORT | OUT_PORT, (uint8_t)in,
				      (uint8_t)out, &facts),
				is_good ? TRIAD_SHIELD_PASS : TRIAD_SHIELD_ANSWER,
				is_good ? TRIAD_SHIELD_GOOD : TRIAD_SHIELD_NO_SUCH_PORT,
				0);
		}
	/* A number counts only if the mask has it. */
	check(judge_ports(LID | IN_PORT, 8, 200, &facts), TRIAD_SHIELD_PASS,
		TRIAD_SHIELD_GOOD, 0);
	check(judge_ports(LID | OUT_PORT, 200, 8, &facts), TRIAD_SHIELD_PASS,
		TRIAD_SHIELD_GOOD, 0);
	check(judge_ports(LID, 200, 200, &facts), TRIAD_SHIELD_PASS, TRIAD_SHIELD_GOOD,
		0);
}
END_TEST

START_TEST(test_port_of_some_switches_alone_needs_a_lid)
{
	static const struct triad_shield_facts facts = {
		.has_switch = true, .least = 9, .most = 37};

	check(judge_ports(OUT_PORT, 0, 8, &facts), TRIAD_SHIELD_PASS, TRIAD_SHIELD_GOOD,
		0);
	check(judge_ports(OUT_PORT, 0, 9, &facts), TRIAD_SHIELD_ANSWER,
		TRIAD_SHIELD_PORTS_OF_ALL, 0x0600);
	check(judge_ports(IN_PORT, 36, 0, &facts), TRIAD_SHIELD_ANSWER,
		TRIAD_SHIELD_PORTS_OF_ALL, 0x0600);
	check(judge_ports(IN_PORT, 37, 0, &facts), TRIAD_SHIELD_ANSWER,
		TRIAD_SHIELD_NO_SUCH_PORT, 0);
}
END_TEST

START_TEST(test_hosts_have_no_ports_to_check)
{
	static const struct triad_shield_facts none = {0};

	check(judge_ports(LID | IN_PORT | OUT_PORT, 255, 255, &none), TRIAD_SHIELD_PASS,
		TRIAD_SHIELD_GOOD, 0);
}
END_TEST

START_TEST(test_switch_without_routes_is_busy)
{
	static const struct triad_shield_facts facts = {
		.has_switch = true, .least = 9, .most = 9, .has_unrouted = true};
	struct triad_shield_facts routed = facts;

	make_request(GET, LFT, LID);
	check(triad_shield_judge(mad, &facts), TRIAD_SHIELD_ANSWER,
		TRIAD_SHIELD_NOT_ROUTED, 0x0001);
	routed.has_unrouted = false;
	check(triad_shield_judge(mad, &routed), TRIAD_SHIELD_PASS, TRIAD_SHIELD_GOOD,
		0);
	/* Its ports are there all the same. */
	check(judge_ports(LID | OUT_PORT, 0, 1, &facts), TRIAD_SHIELD_PASS,
		TRIAD_SHIELD_GOOD, 0);
}
END_TEST

static void put(size_t at, size_t n, uint64_t number)
{
	struct triad_wire w;

	triad_wire_init(&w, mad, sizeof(mad));
	triad_wire_seek(&w, 56 + at);
	triad_wire_put(&w, n, number);
}

static void check_alias(uint64_t mask, unsigned i, uint64_t guid, bool is_good)
{
	static const struct triad_shield_facts facts = {
		.used_aliases = {[1] = 0xa1, [7] = 0xa7}};

	make_request(SET, GUIDINFO, mask);
	put(8 + 8 * i, 8, guid);
	check(triad_shield_judge(mad, &facts),
		is_good ? TRIAD_SHIELD_PASS : TRIAD_SHIELD_ANSWER,
		is_good ? TRIAD_SHIELD_GOOD : TRIAD_SHIELD_ALIAS_IN_USE,
		is_good ? 0 : 0x0700);
	mad[3] = DELETE; /* which OpenSM checks itself */
	check(triad_shield_judge(mad, &facts), TRIAD_SHIELD_PASS, TRIAD_SHIELD_GOOD, 0);
}

START_TEST(test_alias_of_a_group_is_not_replaced)
{
	check_alias(3 | 1 << 5, 1, 0xb1, false);
	check_alias(3 | 1 << 11, 7, 0xb7, false);
	check_alias(3 | 0xff << 4, 7, 0xb7, false);
	/* The same, or what OpenSM leaves as it is. */
	check_alias(3 | 1 << 5, 1, 0xa1, true);
	check_alias(3 | 1 << 5, 1, 0, true);
	/* One that is in no group; a GUID that the mask has not. */
	check_alias(3 | 1 << 6, 2, 0xb2, true);
	check_alias(3 | 1 << 6, 1, 0xb1, true);
}
END_TEST

static void check_lease(uint8_t method, uint64_t mask, uint32_t lease, bool is_good)
{
	make_request(method, SERVICE, mask);
	put(28, 4, lease);
	check(triad_shield_look(mad), is_good ? TRIAD_SHIELD_ASK : TRIAD_SHIELD_ANSWER,
		is_good ? TRIAD_SHIELD_GOOD : TRIAD_SHIELD_SHORT_LEASE,
		is_good ? 0 : 0x0200);
}

START_TEST(test_service_with_a_short_lease_is_invalid)
{
	check_lease(SET, 0x13, 0, false);
	check_lease(SET, 0x13, 1, false);
	check_lease(SET, 0x13, 2, true);
	check_lease(SET, 0x13, UINT32_MAX, true);
	/* Without the component it has no end. */
	check_lease(SET, 0x03, 0, true);
	check_lease(DELETE, 0x13, 0, true);
}
END_TEST

static void check_paths(uint64_t mask, bool is_good)
{
	make_request(GET_TABLE, PATH, mask);
	check(triad_shield_look(mad), is_good ? TRIAD_SHIELD_PASS : TRIAD_SHIELD_ANSWER,
		is_good ? TRIAD_SHIELD_GOOD : TRIAD_SHIELD_PATHS_OF_ALL,
		is_good ? 0 : 0x0600);
}

START_TEST(test_paths_between_all_are_of_few_ports)
{
	for (unsigned i = 0; i < 2; i++) {
		make_request(i ? GET : GET_TABLE, PATH, i ? 1 << 12 : 0);
		check(triad_shield_look(mad), TRIAD_SHIELD_ASK, TRIAD_SHIELD_GOOD, 0);
		check(triad_shield_judge(
			      mad, &(struct triad_shield_facts){.n_ports = 500}),
			TRIAD_SHIELD_PASS, TRIAD_SHIELD_GOOD, 0);
		check(triad_shield_judge(
			      mad, &(struct triad_shield_facts){.n_ports = 501}),
			TRIAD_SHIELD_ANSWER, TRIAD_SHIELD_PATHS_OF_ALL, 0x0100);
	}
}
END_TEST

static void check_table(
	uint8_t method, uint16_t attribute, uint64_t mask, bool is_table)
{
	make_request(method, attribute, mask);
	ck_assert_int_eq(triad_shield_is_table(mad), is_table);
}

START_TEST(test_records_of_the_whole_fabric_are_a_table)
{
	check_table(GET_TABLE, SL2VL, 0, true);
	check_table(GET_TABLE, SL2VL, IN_PORT | OUT_PORT, true);
	check_table(GET_TABLE, SL2VL, LID, false);
	check_table(GET, LFT, 0, true);
	check_table(
		GET_TABLE, PATH, LID, true); /* of a path, a part of the service's ID */
	check_table(GET_TABLE, MEMBER, 1, false);
	for (unsigned bit = 2; bit <= 5; bit++)
		check_table(GET_TABLE, PATH, 1 << bit, false);
	check_table(SET, SERVICE, 0, false);
	check_table(GET_MULTI, MULTIPATH, 0, false);
	check_table(
		GET, 0x01, 0, false); /* ClassPortInfo, which each client asks for */
}
END_TEST

START_TEST(test_paths_with_a_pkey_begin_or_end_somewhere)
{
	check_paths(1 << 13, false);
	check_paths(1 << 13 | 1 << 12, false);
	for (unsigned bit = 2; bit <= 5; bit++)
		check_paths(1 << 13 | 1 << bit, true);
}
END_TEST

static void check_room(uint16_t attribute, uint8_t subscribe,
	const struct triad_shield_facts *facts, bool is_good)
{
	make_request(SET, attribute, 3);
	mad[56 + 23] = subscribe;
	check(triad_shield_judge(mad, facts),
		is_good ? TRIAD_SHIELD_PASS : TRIAD_SHIELD_ANSWER,
		is_good ? TRIAD_SHIELD_GOOD : TRIAD_SHIELD_REGISTRATIONS,
		is_good ? 0 : 0x0100);
}

START_TEST(test_registrations_have_an_end)
{
	struct triad_shield_facts facts = {.n_services = TRIAD_SHIELD_MAX_SERVICES - 1,
		.n_subscriptions = TRIAD_SHIELD_MAX_SUBSCRIPTIONS - 1,
		.n_all_subscriptions = 124,
		.n_reports = 125 * TRIAD_SHIELD_N_EVENTS};

	check_room(SERVICE, 0, &facts, true);
	check_room(INFORM_INFO, 1, &facts, true);
	facts.n_subscriptions++;
	check_room(SERVICE, 0, &facts, true);
	check_room(INFORM_INFO, 1, &facts, false);
	check_room(INFORM_INFO, 0, &facts, true); /* an end of one */
	facts.n_services++;
	check_room(SERVICE, 0, &facts, false);
	facts.has_service = true; /* whose lease is prolonged */
	check_room(SERVICE, 0, &facts, true);
	facts.n_subscriptions = 0;
	check_room(INFORM_INFO, 1, &facts, true);
	facts.n_all_subscriptions++; /* of others */
	check_room(INFORM_INFO, 1, &facts, false);
	check_room(INFORM_INFO, 0, &facts, true);
}
END_TEST

START_TEST(test_each_reason_has_a_name_and_a_text)
{
	for (unsigned i = 0; i < TRIAD_SHIELD_N_REASONS; i++) {
		ck_assert_ptr_nonnull(triad_shield_reason_name(i));
		ck_assert_ptr_nonnull(triad_shield_reason_text(i));
		for (unsigned j = 0; j < i; j++)
			ck_assert_str_ne(triad_shield_reason_name(i),
				triad_shield_reason_name(j));
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("check");

	tcase_add_test(cases, test_each_attribute_has_its_methods);
	tcase_add_test(cases, test_attribute_that_the_sa_has_not_is_unsupported);
	tcase_add_test(cases, test_lid_counts_only_if_the_mask_has_it);
	tcase_add_test(cases, test_port_beyond_the_switch_matches_nothing);
	tcase_add_test(cases, test_port_of_some_switches_alone_needs_a_lid);
	tcase_add_test(cases, test_hosts_have_no_ports_to_check);
	tcase_add_test(cases, test_switch_without_routes_is_busy);
	tcase_add_test(cases, test_alias_of_a_group_is_not_replaced);
	tcase_add_test(cases, test_service_with_a_short_lease_is_invalid);
	tcase_add_test(cases, test_paths_with_a_pkey_begin_or_end_somewhere);
	tcase_add_test(cases, test_paths_between_all_are_of_few_ports);
	tcase_add_test(cases, test_records_of_the_whole_fabric_are_a_table);
	tcase_add_test(cases, test_registrations_have_an_end);
	tcase_add_test(cases, test_each_reason_has_a_name_and_a_text);
	return run_cases(cases);
}
