/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares Triad's table of detail attributes with that of libibmad, which perfquery
 * uses. */
#include "ib/detail.h"

#include <errno.h>
#include <infiniband/mad.h>
#include <string.h>

#include "tests/unit/run.h"

/* The fields of each attribute in libibmad's enum. */
static const struct {
	enum triad_pma_attribute attribute;
	enum MAD_FIELDS first, end;
	uint16_t id;
} theirs[] = {
	{TRIAD_PMA_RCV_ERROR_DETAILS, IB_PC_RCV_LOCAL_PHY_ERR_F, IB_PC_RCV_ERR_LAST_F,
		IB_GSI_PORT_RCV_ERROR_DETAILS},
	{TRIAD_PMA_XMIT_DISCARD_DETAILS, IB_PC_XMT_INACT_DISC_F, IB_PC_XMT_DISC_LAST_F,
		IB_GSI_PORT_XMIT_DISCARD_DETAILS},
	{TRIAD_PMA_OP_RCV_COUNTERS, IB_PC_PORT_OP_RCV_COUNTERS_FIRST_F,
		IB_PC_PORT_OP_RCV_COUNTERS_LAST_F, IB_GSI_PORT_PORT_OP_RCV_COUNTERS},
	{TRIAD_PMA_FLOW_CTL_COUNTERS, IB_PC_PORT_FLOW_CTL_COUNTERS_FIRST_F,
		IB_PC_PORT_FLOW_CTL_COUNTERS_LAST_F,
		IB_GSI_PORT_PORT_FLOW_CTL_COUNTERS},
	{TRIAD_PMA_VL_OP_PACKETS, IB_PC_PORT_VL_OP_PACKETS_FIRST_F,
		IB_PC_PORT_VL_OP_PACKETS_LAST_F, IB_GSI_PORT_PORT_VL_OP_PACKETS},
	{TRIAD_PMA_VL_OP_DATA, IB_PC_PORT_VL_OP_DATA_FIRST_F,
		IB_PC_PORT_VL_OP_DATA_LAST_F, IB_GSI_PORT_PORT_VL_OP_DATA},
	{TRIAD_PMA_VL_XMIT_FLOW_CTL_UPDATE_ERRORS,
		IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS_FIRST_F,
		IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS_LAST_F,
		IB_GSI_PORT_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS},
	{TRIAD_PMA_VL_XMIT_WAIT, IB_PC_PORT_VL_XMIT_WAIT_COUNTERS_FIRST_F,
		IB_PC_PORT_VL_XMIT_WAIT_COUNTERS_LAST_F,
		IB_GSI_PORT_PORT_VL_XMIT_WAIT_COUNTERS},
	{TRIAD_PMA_EXT_SPEEDS, IB_PESC_SYNC_HDR_ERR_CTR_F, IB_PESC_LAST_F,
		IB_GSI_PORT_EXT_SPEEDS_COUNTERS},
	{TRIAD_PMA_EXT_SPEEDS_RSFEC, IB_PESC_RSFEC_SYNC_HDR_ERR_CTR_F,
		IB_PESC_RSFEC_LAST_F, IB_GSI_PORT_EXT_SPEEDS_COUNTERS},
	{TRIAD_PMA_SW_PORT_VL_CONGESTION, IB_PC_SW_PORT_VL_CONGESTION_FIRST_F,
		IB_PC_SW_PORT_VL_CONGESTION_LAST_F, IB_GSI_SW_PORT_VL_CONGESTION},
	{TRIAD_PMA_RCV_CON_CTRL, IB_PC_RCV_CON_CTRL_FIRST_F, IB_PC_RCV_CON_CTRL_LAST_F,
		IB_GSI_PORT_RCV_CON_CTRL},
	{TRIAD_PMA_SL_RCV_FECN, IB_PC_SL_RCV_FECN_FIRST_F, IB_PC_SL_RCV_FECN_LAST_F,
		IB_GSI_PORT_SL_RCV_FECN},
	{TRIAD_PMA_SL_RCV_BECN, IB_PC_SL_RCV_BECN_FIRST_F, IB_PC_SL_RCV_BECN_LAST_F,
		IB_GSI_PORT_SL_RCV_BECN},
	{TRIAD_PMA_XMIT_CON_CTRL, IB_PC_XMIT_CON_CTRL_FIRST_F,
		IB_PC_XMIT_CON_CTRL_LAST_F, IB_GSI_PORT_XMIT_CON_CTRL},
	{TRIAD_PMA_VL_XMIT_TIME_CONG, IB_PC_VL_XMIT_TIME_CONG_FIRST_F,
		IB_PC_VL_XMIT_TIME_CONG_LAST_F, IB_GSI_PORT_VL_XMIT_TIME_CONG},
	{TRIAD_PMA_XMIT_DATA_SL, IB_PC_XMT_DATA_SL_FIRST_F, IB_PC_XMT_DATA_SL_LAST_F,
		IB_GSI_PORT_XMIT_DATA_SL},
	{TRIAD_PMA_RCV_DATA_SL, IB_PC_RCV_DATA_SL_FIRST_F, IB_PC_RCV_DATA_SL_LAST_F,
		IB_GSI_PORT_RCV_DATA_SL},
};
#define N_THEIRS (sizeof(theirs) / sizeof(theirs[0]))

static uint8_t mad[TRIAD_MAD_SIZE];

static struct triad_detail_reading decode(enum triad_pma_attribute attribute)
{
	struct triad_detail_reading reading;

	ck_assert_int_eq(triad_detail_decode(mad, attribute, 7, &reading), 0);
	return reading;
}

/* A value that libibmad writes into a field is in exactly one of Triad's slots, that
 * with the field's name. */
START_TEST(test_every_field_is_where_libibmad_has_it)
{
	enum triad_pma_attribute attribute = theirs[_i].attribute;
	unsigned n_slots = triad_detail_n_slots(attribute);
	char name[64];

	ck_assert_uint_eq(n_slots, theirs[_i].end - theirs[_i].first);
	for (unsigned slot = 0; slot < n_slots; slot++) {
		enum MAD_FIELDS their = theirs[_i].first + slot;
		const struct triad_detail_field *field =
			triad_detail_field(attribute, slot);
		struct triad_detail_reading reading;

		triad_pma_encode_get(mad, attribute, 7, 0);
		memset(triad_pma_data(mad) + 4, 0, 188);
		mad_set_field(triad_pma_data(mad), 0, their, triad_detail_max(field));
		reading = decode(attribute);
		for (unsigned i = 0; i < n_slots; i++)
			ck_assert_uint_eq(reading.raw[i],
				i == slot ? triad_detail_max(field) : 0);
		triad_detail_format_name(field, slot, name, sizeof(name));
		ck_assert_str_eq(name, mad_field_name(their));
		/* Both fields have the same number of bits. */
		memset(triad_pma_data(mad) + 4, 0xff, 188);
		ck_assert_uint_eq(mad_get_field(triad_pma_data(mad), 0, their),
			triad_detail_max(field));
	}
	ck_assert_ptr_null(triad_detail_field(attribute, n_slots));
}
END_TEST

START_TEST(test_attribute_ids_are_libibmads)
{
	triad_pma_encode_get(mad, theirs[_i].attribute, 7, 0x1234);
	ck_assert_uint_eq(mad[16] << 8 | mad[17], theirs[_i].id);
	ck_assert_uint_eq(mad[3], IB_MAD_METHOD_GET);
	ck_assert_uint_eq(triad_pma_port_select(mad), 7);
}
END_TEST

START_TEST(test_every_attribute_is_of_one_class_and_has_fields)
{
	uint32_t all = 0;

	ck_assert_uint_eq(N_THEIRS, TRIAD_PMA_N_ATTRIBUTES - TRIAD_PMA_FIRST_DETAIL);
	for (unsigned class = 0; class < TRIAD_DETAIL_N_CLASSES; class ++) {
		ck_assert_uint_eq(all & triad_detail_attributes(class), 0);
		all |= triad_detail_attributes(class);
	}
	for (unsigned i = 0; i < 32; i++) {
		bool is_detail =
			i >= TRIAD_PMA_FIRST_DETAIL && i < TRIAD_PMA_N_ATTRIBUTES;

		ck_assert_uint_eq(all >> i & 1, is_detail);
		ck_assert_int_eq(triad_detail_attribute(i) != NULL, is_detail);
		ck_assert_uint_le(is_detail ? triad_detail_n_slots(i) : 0,
			TRIAD_DETAIL_MOST_SLOTS);
	}
}
END_TEST

START_TEST(test_totals_have_the_attributes_that_explain_them)
{
	ck_assert_uint_eq(triad_detail_explain(1u << TRIAD_PORT_RCV_ERRORS),
		TRIAD_DETAIL_BIT(TRIAD_PMA_RCV_ERROR_DETAILS));
	ck_assert_uint_eq(triad_detail_explain(1u << TRIAD_PORT_XMIT_DISCARDS |
				  1u << TRIAD_SYMBOL_ERROR_COUNTER),
		TRIAD_DETAIL_BIT(TRIAD_PMA_XMIT_DISCARD_DETAILS));
	ck_assert_uint_eq(triad_detail_explain(1u << TRIAD_PORT_XMIT_DATA), 0);
}
END_TEST

START_TEST(test_another_ports_answer_is_refused)
{
	struct triad_detail_reading reading;

	triad_pma_encode_get(mad, TRIAD_PMA_VL_XMIT_WAIT, 8, 0);
	ck_assert_int_eq(
		triad_detail_decode(mad, TRIAD_PMA_VL_XMIT_WAIT, 7, &reading), EPROTO);
}
END_TEST

START_TEST(test_reset_names_all_counters)
{
	triad_detail_encode_reset(mad, TRIAD_PMA_RCV_ERROR_DETAILS, 3, 9);
	ck_assert_uint_eq(mad[3], IB_MAD_METHOD_SET);
	ck_assert_uint_eq(
		mad_get_field(triad_pma_data(mad), 0, IB_PC_COUNTER_SELECT_F), 0xffff);
	triad_detail_encode_reset(mad, TRIAD_PMA_EXT_SPEEDS_RSFEC, 3, 9);
	ck_assert_uint_eq(
		mad_get_field64(triad_pma_data(mad), 0, IB_PESC_COUNTER_SELECT_F),
		UINT64_MAX);
	ck_assert_uint_eq(
		mad_get_field(triad_pma_data(mad), 0, IB_PESC_PORT_SELECT_F), 3);
}
END_TEST

START_TEST(test_near_full_is_past_three_quarters_of_the_fields_own_range)
{
	struct triad_detail_reading reading = {0};

	reading.raw[15] = 2;
	ck_assert(!triad_detail_is_near_full(
		TRIAD_PMA_VL_XMIT_FLOW_CTL_UPDATE_ERRORS, &reading));
	reading.raw[15] = 3;
	ck_assert(triad_detail_is_near_full(
		TRIAD_PMA_VL_XMIT_FLOW_CTL_UPDATE_ERRORS, &reading));
	reading.raw[15] = 49151;
	ck_assert(!triad_detail_is_near_full(TRIAD_PMA_VL_XMIT_WAIT, &reading));
	reading.raw[15] = 49152;
	ck_assert(triad_detail_is_near_full(TRIAD_PMA_VL_XMIT_WAIT, &reading));
	ck_assert(!triad_detail_is_near_full(TRIAD_PMA_VL_OP_DATA, &reading));
	/* Slots that the attribute lacks don't count. */
	ck_assert(!triad_detail_is_near_full(TRIAD_PMA_RCV_ERROR_DETAILS, &reading));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("details");

	tcase_add_loop_test(
		cases, test_every_field_is_where_libibmad_has_it, 0, N_THEIRS);
	tcase_add_loop_test(cases, test_attribute_ids_are_libibmads, 0, N_THEIRS);
	tcase_add_test(cases, test_every_attribute_is_of_one_class_and_has_fields);
	tcase_add_test(cases, test_totals_have_the_attributes_that_explain_them);
	tcase_add_test(cases, test_another_ports_answer_is_refused);
	tcase_add_test(cases, test_reset_names_all_counters);
	tcase_add_test(
		cases, test_near_full_is_past_three_quarters_of_the_fields_own_range);
	return run_cases(cases);
}
