/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/sampler.h"

#include <string.h>

#include "tests/unit/run.h"

START_TEST(test_pick_rate_is_one_of_so_many)
{
	const uint32_t rates[] = {1, 2, 10, 1000};

	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct triad_sampler *sampler = triad_sampler_new(i + 1);
		uint32_t n = rates[i] * 2000, n_picked = 0;

		triad_sampler_set_rate(sampler, rates[i]);
		for (uint32_t j = 0; j < n; j++)
			n_picked += triad_sampler_pick(sampler);
		ck_assert_uint_ge(n_picked, 1900);
		ck_assert_uint_le(n_picked, 2100);
		ck_assert_uint_eq(triad_sampler_pool(sampler), n);
		triad_sampler_free(sampler);
	}
}
END_TEST

START_TEST(test_pick_rate_zero_none_and_nothing_counted)
{
	struct triad_sampler *sampler = triad_sampler_new(1);

	for (unsigned i = 0; i < 1000; i++)
		ck_assert(!triad_sampler_pick(sampler));
	ck_assert_uint_eq(triad_sampler_pool(sampler), 0);
	triad_sampler_free(sampler);
	triad_sampler_free(NULL);
}
END_TEST

START_TEST(test_put_in_order_and_what_has_no_room_is_counted)
{
	struct triad_sampler *sampler = triad_sampler_new(1);
	struct triad_sampled_request request = {0};

	for (uint16_t i = 0; i < TRIAD_SAMPLER_ROOM + 5; i++) {
		request.slid = i;
		triad_sampler_put(sampler, &request);
	}
	ck_assert_uint_eq(triad_sampler_drops(sampler), 5);
	for (uint16_t i = 0; i < TRIAD_SAMPLER_ROOM; i++) {
		ck_assert(triad_sampler_take(sampler, &request));
		ck_assert_uint_eq(request.slid, i);
	}
	ck_assert(!triad_sampler_take(sampler, &request));
	triad_sampler_free(sampler);
}
END_TEST

/* --- the packet --- */

static const struct triad_sampled_request request = {.slid = 0x1234,
	.dlid = 0x0005,
	.pkey = 0x8001,
	.sl = 6,
	.vl = 3,
	.src_qp = 0x00fedcba,
	.traffic_class = 0x7f,
	.flow_label = 0xabcde,
	.hop_limit = 64,
	.src_gid = {0xfe, 0x80, [15] = 1},
	.dst_gid = {0xfe, 0x80, [15] = 2},
	.mad = {1, 3, 2, 1}};

START_TEST(test_frame_local_octets_as_on_the_wire)
{
	static const uint8_t expected[] = {0x30, 0x62, 0x00, 0x05, 0x00, 0x48, 0x12,
		0x34,                                                        /* LRH */
		0x64, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x01, 0, 0, 0, 0,  /* BTH */
		0x80, 0x01, 0x00, 0x00, 0x00, 0xfe, 0xdc, 0xba, 1, 3, 2, 1}; /* DETH */
	struct triad_sflow_flow_sample sample = {0};
	struct triad_sampled_frame frame;

	triad_sampled_request_frame(&request, &frame);
	ck_assert_uint_eq(frame.size, 8 + 12 + 8 + 256);
	ck_assert_mem_eq(frame.octets, expected, sizeof(expected));
	ck_assert_uint_eq(frame.lrh.src.lnh, 2);
	triad_sampled_frame_describe(&frame, false, &sample);
	ck_assert_uint_eq(sample.frame_length, frame.size + 6);
	ck_assert_uint_eq(sample.stripped, 6);
	ck_assert_uint_eq(sample.header_size, TRIAD_SAMPLED_HEADER_SIZE);
	ck_assert_ptr_null(sample.grh);
}
END_TEST

/* Row: S3 */
START_TEST(test_frame_global_has_its_route)
{
	static const uint8_t expected[] = {0x30, 0x63, 0x00, 0x05, 0x00, 0x52, 0x12,
		0x34,                                            /* LRH */
		0x67, 0xfa, 0xbc, 0xde, 0x01, 0x18, 0x1b, 0x40}; /* GRH */
	struct triad_sampled_request global = request;
	struct triad_sflow_flow_sample sample = {0};
	struct triad_sampled_frame frame;

	global.has_grh = true;
	triad_sampled_request_frame(&global, &frame);
	ck_assert_uint_eq(frame.size, 8 + 40 + 12 + 8 + 256);
	ck_assert_mem_eq(frame.octets, expected, sizeof(expected));
	ck_assert_mem_eq(frame.octets + 16, request.src_gid, 16);
	ck_assert_mem_eq(frame.octets + 32, request.dst_gid, 16);
	ck_assert_uint_eq(frame.octets[48], 0x64);
	triad_sampled_frame_describe(&frame, true, &sample);
	ck_assert_uint_eq(sample.grh->length, 0x118);
	ck_assert_uint_eq(sample.grh->next_header, 0x1b);
	ck_assert_uint_eq(sample.grh->flow_label, 0xabcde);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sampler");

	tcase_add_test(cases, test_pick_rate_is_one_of_so_many);
	tcase_add_test(cases, test_pick_rate_zero_none_and_nothing_counted);
	tcase_add_test(cases, test_put_in_order_and_what_has_no_room_is_counted);
	tcase_add_test(cases, test_frame_local_octets_as_on_the_wire);
	tcase_add_test(cases, test_frame_global_has_its_route);
	return run_cases(cases);
}
