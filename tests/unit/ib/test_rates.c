/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/rates.h"

#include "tests/unit/run.h"
#include "triad/fabric.h"

/* The codes of rates [IBA 15.2.5.16], in the order of their data rates: from FDR on 64
 * of 66 bits are data, before that 8 of 10. */
static const struct {
	uint8_t code;
	unsigned tenths;
	unsigned carried; /* data rate in tenths of Gb/s, times 10 / 8 */
} rates[] = {
	{2, 25, 25},
	{5, 50, 50},
	{3, 100, 100},
	{11, 140, 170},
	{6, 200, 200},
	{4, 300, 300},
	{15, 250, 312},
	{19, 280, 341},
	{7, 400, 400},
	{8, 600, 600},
	{20, 500, 625},
	{12, 560, 682},
	{9, 800, 800},
	{10, 1200, 1200},
	{16, 1000, 1250},
	{13, 1120, 1364},
	{14, 1680, 2045},
	{17, 2000, 2500},
	{18, 3000, 3750},
	{21, 4000, 5000},
	{22, 6000, 7500},
	{23, 8000, 10000},
	{24, 12000, 15000},
};

#define N_RATES (sizeof(rates) / sizeof(rates[0]))

START_TEST(test_rank_in_the_order_of_what_is_carried)
{
	for (unsigned i = 0; i < N_RATES; i++) {
		if (i)
			ck_assert_uint_lt(rates[i - 1].carried, rates[i].carried);
		ck_assert_uint_eq(triad_rate_rank(rates[i].code), i + 1);
		ck_assert_uint_eq(triad_rate_of_rank((uint8_t)(i + 1)), rates[i].code);
		ck_assert_uint_eq(triad_rate_tenths(rates[i].code), rates[i].tenths);
	}
}
END_TEST

START_TEST(test_rank_of_no_rate_is_0)
{
	for (unsigned code = 0; code < 256; code++) {
		if (code >= TRIAD_RATE_MIN && code <= TRIAD_RATE_MAX)
			continue;
		ck_assert_uint_eq(triad_rate_rank((uint8_t)code), 0);
		ck_assert_uint_eq(triad_rate_tenths((uint8_t)code), 0);
	}
	ck_assert_uint_eq(triad_rate_of_rank(0), 0);
	for (unsigned rank = N_RATES + 1; rank < 256; rank++)
		ck_assert_uint_eq(triad_rate_of_rank((uint8_t)rank), 0);
}
END_TEST

START_TEST(test_rate_below_as_naive)
{
	for (unsigned tenths = 0; tenths < 13000; tenths++) {
		unsigned best = 0;

		for (unsigned i = 0; i < N_RATES; i++)
			if (rates[i].tenths <= tenths && rates[i].tenths > best)
				best = rates[i].tenths;
		ck_assert_uint_eq(triad_rate_tenths(triad_rate_below(tenths)), best);
	}
	ck_assert_uint_eq(triad_rate_below(24), 0);
	ck_assert_uint_eq(triad_rate_below(UINT64_MAX), 24);
}
END_TEST

/* The reported rate is never faster than the path's, the port understands it, and a
 * rate that the port understands stays. */
START_TEST(test_rate_of_link_is_width_times_speed)
{
	static const struct {
		const char *width, *speed;
		unsigned tenths;
	} of[] = {{"1x", "SDR", 25}, {"4x", "SDR", 100}, {"4x", "DDR", 200},
		{"4x", "QDR", 400}, {"12x", "QDR", 1200}, {"1x", "FDR", 140},
		{"2x", "FDR", 280}, {"4x", "FDR", 560}, {"12x", "FDR", 1680},
		{"1x", "EDR", 250}, {"2x", "EDR", 500}, {"4x", "EDR", 1000},
		{"2x", "HDR", 1000}, {"4x", "HDR", 2000}, {"8x", "HDR", 4000},
		{"12x", "HDR", 6000}, {"1x", "NDR", 1000}, {"2x", "NDR", 2000},
		{"4x", "NDR", 4000}, {"8x", "NDR", 8000}, {"12x", "NDR", 12000},
		{"2x", "XDR", 4000}, {"4x", "XDR", 8000},
		/* No code is higher. */
		{"8x", "XDR", 12000}, {"12x", "XDR", 12000}};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		ck_assert_uint_eq(
			triad_rate_tenths(triad_rate_of_link((struct triad_link_rate){
				triad_link_width_find(of[i].width),
				triad_link_speed_find(of[i].speed)})),
			of[i].tenths);
	ck_assert_uint_eq(
		triad_rate_of_link((struct triad_link_rate){2, TRIAD_SPEED_ANY}), 0);
	ck_assert_uint_eq(
		triad_rate_of_link((struct triad_link_rate){0, TRIAD_SPEED_EDR}), 0);
}
END_TEST

START_TEST(test_rate_for_port_not_above_and_understood)
{
	for (unsigned i = 0; i < N_RATES; i++)
		for (uint8_t caps = 0; caps < 32; caps++) {
			uint8_t reported = triad_rate_for(rates[i].code, caps);

			ck_assert_uint_le(triad_rate_rank(reported), i + 1);
			ck_assert_uint_ne(triad_rate_rank(reported), 0);
			/* Like in OpenSM, 800 Gb/s becomes 600 for a port of which it
			 * isn't known whether it supports HDR. */
			if (rates[i].code < 23 || caps & TRIAD_RATE_CAP_MASK2)
				ck_assert_uint_eq(
					triad_rate_for(reported, caps), reported);
			if (rates[i].code < 19 || caps == 31)
				ck_assert_uint_eq(reported, rates[i].code);
		}
}
END_TEST

START_TEST(test_rate_for_port_each_capability)
{
	static const uint8_t cases[][3] = {
		{19, 0, 6},
		{19, TRIAD_RATE_CAP_EXTENDED, 15},
		{19, TRIAD_RATE_CAP_HDR, 6},
		{19, TRIAD_RATE_CAP_2X, 19},
		{20, 0, 7},
		{20, TRIAD_RATE_CAP_EXTENDED, 7},
		{20, TRIAD_RATE_CAP_2X, 20},
		{20, TRIAD_RATE_CAP_HDR, 20},
		{21, TRIAD_RATE_CAP_EXTENDED | TRIAD_RATE_CAP_2X, 18},
		{21, TRIAD_RATE_CAP_HDR, 21},
		{22, TRIAD_RATE_CAP_EXTENDED | TRIAD_RATE_CAP_2X, 18},
		{22, TRIAD_RATE_CAP_HDR, 22},
		{22, TRIAD_RATE_CAP_NDR, 22},
		{23, TRIAD_RATE_CAP_EXTENDED, 22},
		{23, TRIAD_RATE_CAP_MASK2, 18},
		{23, TRIAD_RATE_CAP_MASK2 | TRIAD_RATE_CAP_HDR, 22},
		{23, TRIAD_RATE_CAP_MASK2 | TRIAD_RATE_CAP_NDR, 23},
		{24, TRIAD_RATE_CAP_MASK2 | TRIAD_RATE_CAP_NDR, 24},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(triad_rate_for(cases[i][0], cases[i][1]) == cases[i][2],
			"case %u", i);
}
END_TEST

START_TEST(test_rate_original_not_above_and_none_that_came_later)
{
	for (unsigned i = 0; i < N_RATES; i++) {
		uint8_t reported = triad_rate_original(rates[i].code);

		ck_assert_uint_le(triad_rate_rank(reported), i + 1);
		ck_assert_uint_lt(reported, 19);
		if (rates[i].code < 19)
			ck_assert_uint_eq(reported, rates[i].code);
	}
	ck_assert_uint_eq(triad_rate_original(19), 15);
	ck_assert_uint_eq(triad_rate_original(20), 7);
	ck_assert_uint_eq(triad_rate_original(21), 18);
	ck_assert_uint_eq(triad_rate_original(22), 18);
	ck_assert_uint_eq(triad_rate_original(24), 18);
}
END_TEST

/* The result is the highest rate that is above neither the given rate nor the limit, by
 * rank and by code, like that of OpenSM's ib_path_get_reduced_rate(). */
START_TEST(test_rate_limited_as_naive)
{
	for (unsigned limit = TRIAD_RATE_MIN; limit <= TRIAD_RATE_MAX; limit++)
		for (unsigned i = 0; i < N_RATES; i++) {
			uint8_t reported =
				triad_rate_limited(rates[i].code, (uint8_t)limit);
			uint8_t most = triad_rate_rank((uint8_t)limit), want = 2;

			for (unsigned k = 0; k < i; k++)
				if (rates[k].code <= limit && k + 1 <= most)
					want = rates[k].code;
			if (rates[i].code <= limit)
				want = rates[i].code;
			ck_assert_msg(reported == want, "%u limited to %u: %u, not %u",
				rates[i].code, limit, reported, want);
		}
}
END_TEST

START_TEST(test_mtu_octets_of_each_code)
{
	static const unsigned octets[] = {0, 256, 512, 1024, 2048, 4096, 0};

	for (uint8_t mtu = 0; mtu < 7; mtu++)
		ck_assert_uint_eq(triad_mtu_octets(mtu), octets[mtu]);
	ck_assert_uint_eq(triad_mtu_octets(255), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("rates");

	tcase_add_test(cases, test_rank_in_the_order_of_what_is_carried);
	tcase_add_test(cases, test_rank_of_no_rate_is_0);
	tcase_add_test(cases, test_rate_below_as_naive);
	tcase_add_test(cases, test_rate_of_link_is_width_times_speed);
	tcase_add_test(cases, test_rate_for_port_not_above_and_understood);
	tcase_add_test(cases, test_rate_for_port_each_capability);
	tcase_add_test(cases, test_rate_original_not_above_and_none_that_came_later);
	tcase_add_test(cases, test_rate_limited_as_naive);
	tcase_add_test(cases, test_mtu_octets_of_each_code);
	return run_cases(cases);
}
