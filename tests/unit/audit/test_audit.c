/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "audit/audit.h"

#include <string.h>

#include "tests/random.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/mentions.h"
#include "tests/unit/run.h"

#define MAX_FOUND 512u

static struct triad_audit_difference found[MAX_FOUND];
static unsigned n_found;

static void add(void *context, const struct triad_audit_difference *difference)
{
	(void)context;
	ck_assert_uint_lt(n_found, MAX_FOUND);
	found[n_found++] = *difference;
}

static void compare(const struct triad_audit_place *place,
	const struct triad_audit_wish *wish, const uint8_t *octets)
{
	n_found = 0;
	triad_audit_compare(place, wish, octets, add, NULL);
}

/* Where fields are, octet by octet [IBA 14.2.5.4, 14.2.5.6]: the octet that the last bit is
 * in, how far that is from the octet's end, and how many bits. */
static const struct {
	uint8_t kind, field, octet, shift, bits;
} places[] = {
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_M_KEY, 7, 0, 64},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_PREFIX, 15, 0, 64},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_LID, 17, 0, 16},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_SM_LID, 19, 0, 16},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_LEASE, 27, 0, 16},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_PROTECT, 34, 6, 2},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_LMC, 34, 0, 3},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_MTU, 36, 4, 4},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_SM_SL, 36, 0, 4},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_HIGH_LIMIT, 38, 0, 8},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_STALL, 42, 5, 3},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_HOQ, 42, 0, 5},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_OP_VLS, 43, 4, 4},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_ENFORCE_IN, 43, 3, 1},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_ENFORCE_OUT, 43, 2, 1},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_TIMEOUT, 51, 0, 5},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_PHY_ERRORS, 53, 4, 4},
	{TRIAD_AUDIT_PORT_INFO, TRIAD_AUDIT_OVERRUNS, 53, 0, 4},
	{TRIAD_AUDIT_SWITCH_INFO, TRIAD_AUDIT_LFT_TOP, 7, 0, 16},
	{TRIAD_AUDIT_SWITCH_INFO, TRIAD_AUDIT_LIFETIME, 11, 3, 5},
	{TRIAD_AUDIT_SWITCH_INFO, TRIAD_AUDIT_STATE_CHANGE, 11, 2, 1},
	{TRIAD_AUDIT_SWITCH_INFO, TRIAD_AUDIT_MFT_TOP, 19, 0, 16},
};
#define N_PLACES (sizeof(places) / sizeof(places[0]))

START_TEST(test_each_field_is_at_its_place)
{
	ck_assert_uint_eq(
		N_PLACES, TRIAD_AUDIT_N_PORT_FIELDS + TRIAD_AUDIT_N_SWITCH_FIELDS);
	for (unsigned i = 0; i < N_PLACES; i++)
		for (unsigned bit = 0; bit < places[i].bits; bit++) {
			struct triad_audit_wish wish = {0};
			uint8_t octets[TRIAD_AUDIT_OCTETS] = {0};
			unsigned from_end = places[i].shift + bit;

			triad_audit_want(&wish, places[i].kind, places[i].field, 0);
			octets[places[i].octet - from_end / 8] =
				(uint8_t)(1u << from_end % 8);
			compare(&(struct triad_audit_place){.kind = places[i].kind},
				&wish, octets);
			ck_assert_uint_eq(n_found, 1);
			ck_assert_uint_eq(found[0].field, places[i].field);
			ck_assert(found[0].found == UINT64_C(1) << bit);
		}
}
END_TEST

/* Tables: how many octets or nibbles an entry has. */
static const struct {
	uint8_t kind, bits;
} tables[] = {{TRIAD_AUDIT_LFT, 8}, {TRIAD_AUDIT_MFT, 16}, {TRIAD_AUDIT_PKEYS, 16},
	{TRIAD_AUDIT_SL2VL, 4}, {TRIAD_AUDIT_VLARB, 16}, {TRIAD_AUDIT_GUIDS, 64}};

static uint64_t entry_of(const uint8_t *octets, unsigned bits, unsigned i)
{
	uint64_t value = 0;

	if (bits == 4)
		return octets[i / 2] >> (i % 2 ? 0 : 4) & 0xf;
	for (unsigned octet = 0; octet < bits / 8; octet++)
		value = value << 8 | octets[i * bits / 8 + octet];
	return value;
}

START_TEST(test_each_entry_that_differs_is_found_and_no_other)
{
	uint64_t seed = 20261129;

	for (unsigned round = 0; round < 2000; round++) {
		unsigned which = random_below(&seed, 6), bits = tables[which].bits,
			 n = bits == 4 ? 16 : 512 / bits, n_expected = 0, at = 0;
		const struct triad_audit_place place = {.node_guid = round,
			.block = round,
			.port = 3,
			.kind = tables[which].kind};
		struct triad_audit_wish wish = {0};
		uint8_t octets[TRIAD_AUDIT_OCTETS] = {0};

		for (unsigned i = 0; i < n; i++)
			if (random_below(&seed, 4))
				triad_audit_want(
					&wish, place.kind, i, random_next(&seed));
		memcpy(octets, wish.wanted, sizeof(octets));
		for (unsigned i = random_below(&seed, 8); i; i--)
			octets[random_below(&seed, bits == 4 ? 8 : 64)] ^=
				(uint8_t)random_next(&seed);
		compare(&place, &wish, octets);
		for (unsigned i = 0; i < n; i++) {
			uint64_t wanted = entry_of(wish.wanted, bits, i),
				 is = entry_of(octets, bits, i);

			if (!entry_of(wish.mask, bits, i) || wanted == is)
				continue;
			n_expected++;
			ck_assert_uint_lt(at, n_found);
			ck_assert_uint_eq(found[at].field, i);
			ck_assert(found[at].wanted == wanted);
			ck_assert(found[at].found == is);
			ck_assert(!memcmp(&found[at].place.node_guid, &place.node_guid,
				sizeof(place.node_guid)));
			at++;
		}
		ck_assert_uint_eq(n_found, n_expected);
	}
}
END_TEST

START_TEST(test_wish_without_a_mask_is_none)
{
	struct triad_audit_wish wish = {0};
	uint8_t octets[TRIAD_AUDIT_OCTETS];

	memset(octets, 0xa5, sizeof(octets));
	ck_assert(!triad_audit_wants(&wish));
	compare(&(struct triad_audit_place){.kind = TRIAD_AUDIT_LFT}, &wish, octets);
	ck_assert_uint_eq(n_found, 0);
	triad_audit_want_bits(&wish, TRIAD_AUDIT_MFT, 0, 0x0001, 0);
	ck_assert(triad_audit_wants(&wish));
	/* 0xa5a5 has bit 0; the other bits are not wanted. */
	compare(&(struct triad_audit_place){.kind = TRIAD_AUDIT_MFT}, &wish, octets);
	ck_assert_uint_eq(n_found, 1);
	ck_assert_uint_eq(found[0].found, 1);
}
END_TEST

START_TEST(test_difference_that_lasts_keeps_its_time)
{
	struct triad_audit_difference before[] = {
		{.place = {.node_guid = 1}, .field = 2, .found = 5, .since_us = 100},
		{.place = {.node_guid = 2}, .field = 2, .found = 5, .since_us = 200},
		{.place = {.node_guid = 2, .block = 1},
			.field = 2,
			.found = 5,
			.since_us = 300}};
	struct triad_audit_difference now[] = {
		{.place = {.node_guid = 1}, .field = 1, .found = 5, .since_us = 900},
		{.place = {.node_guid = 2}, .field = 2, .found = 5, .since_us = 900},
		{.place = {.node_guid = 2, .block = 1},
			.field = 2,
			.found = 6,
			.since_us = 900}};

	triad_audit_keep_since(now, 3, before, 3);
	ck_assert_uint_eq(now[0].since_us, 900);
	ck_assert_uint_eq(now[1].since_us, 200);
	/* The device has something else than before. */
	ck_assert_uint_eq(now[2].since_us, 900);
}
END_TEST

START_TEST(test_both_readings_must_have_it_and_one_wish)
{
	const struct triad_audit_difference before[] = {
		{.field = 1, .wanted = 7, .found = 5, .since_us = 100},
		{.field = 3, .wanted = 7, .found = 5, .since_us = 200}};
	struct triad_audit_difference now[] = {
		{.field = 1, .wanted = 7, .found = 6, .since_us = 900},
		{.field = 2, .wanted = 7, .found = 5, .since_us = 900},
		{.field = 3, .wanted = 7, .found = 5, .since_us = 900},
		{.field = 4, .wanted = 7, .found = 5, .since_us = 900}};
	size_t n = 4;

	ck_assert(!triad_audit_keep_both(now, &n, before, 2));
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(now[0].field, 1);
	ck_assert_uint_eq(now[0].since_us, 100);
	ck_assert_uint_eq(now[1].field, 3);
	ck_assert_uint_eq(now[1].since_us, 200);
	/* What the SM wants otherwise now may be on its way. */
	now[1].wanted = 8;
	ck_assert(triad_audit_keep_both(now, &n, before, 2));
	ck_assert_uint_eq(n, 2);
	n = 0;
	ck_assert(!triad_audit_keep_both(now, &n, before, 2));
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(test_objects_and_values_are_named)
{
	char text[TRIAD_AUDIT_TEXT_SIZE];
	struct triad_audit_difference lft = {
		.place = {.kind = TRIAD_AUDIT_LFT, .block = 2}, .field = 3};
	struct triad_audit_difference mft = {
		.place = {.kind = TRIAD_AUDIT_MFT, .block = 1u << 28 | 1}, .field = 4};
	struct triad_audit_difference key = {.place = {.kind = TRIAD_AUDIT_PORT_INFO},
		.field = TRIAD_AUDIT_M_KEY,
		.wanted = 0x1234,
		.found = 0x5678};
	struct triad_audit_difference mtu = {
		.place = {.kind = TRIAD_AUDIT_PORT_INFO}, .field = TRIAD_AUDIT_MTU};
	struct triad_audit_difference guid = {
		.place = {.kind = TRIAD_AUDIT_GUIDS, .block = 1}, .field = 2};

	ck_assert_str_eq(triad_audit_object(&lft, text), "LID 131");
	ck_assert_str_eq(triad_audit_object(&mft, text), "MLID 0xc024");
	ck_assert_str_eq(triad_audit_value(&mft, 0x8001, text), "16,31");
	ck_assert_str_eq(triad_audit_value(&mft, 0, text), "-");
	ck_assert_str_eq(triad_audit_object(&key, text), "M_Key");
	ck_assert_str_eq(triad_audit_object(&guid, text), "GUID index 10");
	ck_assert_str_eq(triad_audit_value(&mtu, 4, text), "2048");
	/* An M_Key is a secret. */
	assert_mentions(triad_audit_value(&key, key.wanted, text), "SM");
	ck_assert(!strstr(text, "1234"));
	assert_mentions(triad_audit_value(&key, key.found, text), "another");
	ck_assert(!strstr(text, "5678"));
}
END_TEST

/* The last entry of a block, and the one before it. */
START_TEST(test_row_says_whether_a_group_has_it_and_the_copy_is_wrong)
{
	const struct triad_audit_place place = {.kind = TRIAD_AUDIT_MFT};
	struct triad_audit_wish wish = {
		.no_group = UINT32_C(1) << 31, .copy_wrong = UINT32_C(1) << 30};
	uint8_t octets[TRIAD_AUDIT_OCTETS] = {[61] = 1 << 3, [63] = 1 << 2};
	char text[TRIAD_AUDIT_TEXT_SIZE];

	triad_audit_want(&wish, place.kind, 30, 1 << 4);
	triad_audit_want(&wish, place.kind, 31, 0);
	compare(&place, &wish, octets);
	ck_assert_uint_eq(n_found, 2);
	assert_mentions(
		triad_audit_touches(NULL, &found[0], text), "group 4 3 copy wrong");
	ck_assert(!strstr(text, "no group"));
	assert_mentions(triad_audit_touches(NULL, &found[1], text), "no group LID 2");
	ck_assert(!strstr(text, "copy"));
}
END_TEST

/* Whom a P_Key is for: all ports of the other hosts that have it. */
START_TEST(test_pkey_says_how_many_ports_it_is_about)
{
	struct triad_fabric *fabric = fabric_partitioned(40, 8, 3);
	struct triad_audit_difference difference = {
		.place = {.node_guid = FABRIC_PARTITIONED_GUID(0),
			.kind = TRIAD_AUDIT_PKEYS}};
	char text[TRIAD_AUDIT_TEXT_SIZE], expected[32];
	uint32_t node = triad_fabric_find_node(fabric, FABRIC_PARTITIONED_GUID(0)),
		 own = fabric->nodes[node].first_port;

	difference.place.port = fabric->ports[own].number;
	for (unsigned pkey = 0x8001; pkey <= 0x8008; pkey++) {
		unsigned n = 0;

		for (uint32_t i = 0; i < fabric->n_ports; i++) {
			const struct triad_fabric_slice *keys = &fabric->ports[i].pkeys;
			bool has = false;

			for (uint32_t at = 0; at < keys->n; at++)
				has |= (fabric->pkeys[keys->at + at] & 0x7fff) ==
					(pkey & 0x7fff);
			n += has && i != own && triad_fabric_is_end_port(fabric, i);
		}
		difference.wanted = pkey;
		difference.found = 0;
		snprintf(expected, sizeof(expected), "can't %u 0x%04x", n, pkey);
		assert_mentions(
			triad_audit_touches(fabric, &difference, text), expected);
		difference.wanted = 0;
		difference.found = pkey;
		snprintf(expected, sizeof(expected), "can %u more 0x%04x", n, pkey);
		assert_mentions(
			triad_audit_touches(fabric, &difference, text), expected);
	}
	/* Limited in place of full: those that are limited, too, are lost, and none is won. */
	difference.wanted = 0xffff;
	difference.found = 0x7fff;
	assert_mentions(triad_audit_touches(fabric, &difference, text),
		"can't 0xffff 0 more 0x7fff");
	triad_fabric_unref(fabric);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("audit");

	tcase_add_test(cases, test_each_field_is_at_its_place);
	tcase_add_test(cases, test_each_entry_that_differs_is_found_and_no_other);
	tcase_add_test(cases, test_wish_without_a_mask_is_none);
	tcase_add_test(cases, test_difference_that_lasts_keeps_its_time);
	tcase_add_test(cases, test_both_readings_must_have_it_and_one_wish);
	tcase_add_test(cases, test_objects_and_values_are_named);
	tcase_add_test(
		cases, test_row_says_whether_a_group_has_it_and_the_copy_is_wrong);
	tcase_add_test(cases, test_pkey_says_how_many_ports_it_is_about);
	return run_cases(cases);
}
