/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/link.h"

#include "ib/sa_topology.h"
#include "tests/unit/run.h"
#include "triad/fabric.h"

START_TEST(test_link_names_of_widths_and_speeds_are_found_again)
{
	for (unsigned i = TRIAD_SPEED_SDR; i < TRIAD_N_SPEEDS; i++) {
		enum triad_link_speed speed = (enum triad_link_speed)i;
		uint8_t code, code_ext;

		ck_assert_int_eq(
			triad_link_speed_find(triad_link_speed_name(speed)), speed);
		triad_link_speed_codes(speed, &code, &code_ext);
		ck_assert_int_eq(triad_link_speed(code, code_ext), speed);
	}
	for (unsigned width = 1; width <= 16; width *= 2)
		ck_assert_uint_eq(
			triad_link_width_find(triad_link_width_name(width)), width);
	ck_assert_str_eq(triad_link_width_name(3), "");
	ck_assert_int_eq(triad_link_speed(4, 2), TRIAD_SPEED_EDR);
	/* 16 is no speed in this field: XDR is in a separate field. */
	ck_assert_int_eq(triad_link_speed(4, 16), TRIAD_SPEED_ANY);
}
END_TEST

/* PortInfo of a port that supports XDR, then of one that runs at XDR. */
/* Row: N6 */
START_TEST(test_xdr_is_read_from_its_own_field_of_port_info)
{
	uint8_t info[64] = {[31] = 2, [30] = 3, [32] = 0x74, [35] = 0x40, [62] = 0x8f};
	struct triad_fabric_port ndr = {.number = 1}, xdr = {.number = 1};

	info[TRIAD_PORT_INFO_EXT2] = 0x08; /* supported */
	triad_port_info_read(info, true, &ndr);
	ck_assert_int_eq(triad_link_rate_active(&ndr).speed, TRIAD_SPEED_NDR);
	ck_assert_uint_eq(triad_link_rate_bps(triad_link_rate_active(&ndr)),
		UINT64_C(400000000000));
	info[TRIAD_PORT_INFO_EXT2] = 0x29; /* active, supported, enabled */
	triad_port_info_read(info, true, &xdr);
	ck_assert_int_eq(triad_link_rate_active(&xdr).speed, TRIAD_SPEED_XDR);
	ck_assert_uint_eq(triad_link_rate_bps(triad_link_rate_active(&xdr)),
		UINT64_C(800000000000));
	ck_assert_uint_eq(triad_link_rate_signal_bps(triad_link_rate_active(&xdr)),
		UINT64_C(850000000000));
	ck_assert_int_eq(triad_link_rate_best(&ndr, &xdr).speed, TRIAD_SPEED_XDR);
	info[TRIAD_PORT_INFO_EXT2] = 0x00;
	triad_port_info_read(info, true, &ndr);
	ck_assert_int_eq(triad_link_rate_best(&ndr, &xdr).speed, TRIAD_SPEED_NDR);
}
END_TEST

/* The best link is the widest width and the fastest speed that both ends support. */
START_TEST(test_link_best_is_the_most_that_both_can)
{
	/* 1x, 4x and 2x; SDR to QDR; FDR, EDR and HDR. */
	struct triad_fabric_port hdr = {.width_supported = 1 | 2 | 16,
		.speed_supported = 7,
		.speed_ext_supported = 7};
	/* 1x and 4x; SDR to QDR; FDR. */
	struct triad_fabric_port fdr = {.width_supported = 1 | 2,
		.speed_supported = 7,
		.speed_ext_supported = 1};
	struct triad_fabric_port qdr = {
		.width_supported = 1 | 2 | 8, .speed_supported = 7};
	struct triad_fabric_port unknown = {0};
	struct triad_link_rate best = triad_link_rate_best(&hdr, &hdr);

	ck_assert_uint_eq(best.width, 2);
	ck_assert_int_eq(best.speed, TRIAD_SPEED_HDR);
	ck_assert_uint_eq(triad_link_rate_bps(best), UINT64_C(200000000000));
	best = triad_link_rate_best(&hdr, &fdr);
	ck_assert_int_eq(best.speed, TRIAD_SPEED_FDR);
	best = triad_link_rate_best(&qdr, &hdr);
	ck_assert_int_eq(best.speed, TRIAD_SPEED_QDR);
	ck_assert_uint_eq(best.width, 2);
	best = triad_link_rate_best(&qdr, &qdr);
	ck_assert_uint_eq(best.width, 8);
	best = triad_link_rate_best(&hdr, &unknown);
	ck_assert_uint_eq(best.width, 0);
	ck_assert_int_eq(best.speed, TRIAD_SPEED_ANY);
	ck_assert_uint_eq(triad_link_rate_bps(best), 0);
}
END_TEST

START_TEST(test_link_rate_as_text)
{
	char text[16];

	triad_link_rate_format(
		(struct triad_link_rate){2, TRIAD_SPEED_HDR}, text, sizeof(text));
	ck_assert_str_eq(text, "4x HDR");
	triad_link_rate_format(
		(struct triad_link_rate){8, TRIAD_SPEED_ANY}, text, sizeof(text));
	ck_assert_str_eq(text, "12x ?");
	triad_link_rate_format(
		(struct triad_link_rate){0, TRIAD_SPEED_ANY}, text, sizeof(text));
	ck_assert_str_eq(text, "-");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("link");

	tcase_add_test(cases, test_link_names_of_widths_and_speeds_are_found_again);
	tcase_add_test(cases, test_xdr_is_read_from_its_own_field_of_port_info);
	tcase_add_test(cases, test_link_best_is_the_most_that_both_can);
	tcase_add_test(cases, test_link_rate_as_text);
	return run_cases(cases);
}
