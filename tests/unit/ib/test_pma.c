/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/pma.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/run.h"

#define ALL_CAPABILITIES                                                               \
	(TRIAD_PMA_EXTENDED_WIDTH | TRIAD_PMA_XMIT_WAIT | TRIAD_PMA_QP1_DROPPED)

/* A PortCounters answer, octet by octet from the table of IBA 16.1.3.5. */
static void make_port_counters(uint8_t mad[TRIAD_MAD_SIZE])
{
	static const uint8_t data[] = {
		0, 7, 0xff, 0xff,       /* PortSelect, CounterSelect */
		0x01, 0x02,             /* SymbolErrorCounter */
		3, 4,                   /* LinkErrorRecovery, LinkDowned */
		0x05, 0x06, 0x07, 0x08, /* RcvErrors, RcvRemotePhysical */
		0x09, 0x0a, 0x0b, 0x0c, /* RcvSwitchRelay, XmitDiscards */
		13, 14, 0, 0x5e,        /* constraint errors, integrity 5, overrun 14 */
		0x0f, 0x10, 0x11, 0x12, /* QP1Dropped, VL15Dropped */
		1, 2, 3, 4,             /* XmitData */
		5, 6, 7, 8,             /* RcvData */
		9, 10, 11, 12,          /* XmitPkts */
		13, 14, 15, 16,         /* RcvPkts */
		17, 18, 19, 20,         /* XmitWait */
	};

	triad_pma_encode_get(mad, TRIAD_PMA_PORT_COUNTERS, 7, 0x12345678);
	mad[3] = TRIAD_MAD_METHOD_GET_RESPONSE;
	memcpy(mad + 64, data, sizeof(data));
}

START_TEST(test_get_encoded_as_specified)
{
	uint8_t mad[TRIAD_MAD_SIZE];
	static const uint8_t header[24] = {1, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xde,
		0xad, 0xbe, 0xef, 0x00, 0x1d, 0, 0, 0, 0, 0, 0};

	triad_pma_encode_get(mad, TRIAD_PMA_PORT_COUNTERS_EXTENDED, 36, 0xdeadbeef);
	ck_assert_int_eq(memcmp(mad, header, sizeof(header)), 0);
	ck_assert_uint_eq(mad[65], 36);
	ck_assert_uint_eq(triad_pma_tid(mad, sizeof(mad)), 0xdeadbeef);
	ck_assert_uint_eq(triad_pma_tid(mad, 15), 0);
}
END_TEST

START_TEST(test_reset_selects_counters_of_mask)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	triad_pma_encode_reset(mad, TRIAD_PMA_PORT_COUNTERS, 9,
		1u << TRIAD_LINK_DOWNED_COUNTER | 1u << TRIAD_VL15_DROPPED |
			1u << TRIAD_PORT_XMIT_WAIT,
		77);
	ck_assert_uint_eq(mad[3], TRIAD_MAD_METHOD_SET);
	ck_assert_uint_eq(mad[17], 0x12);
	ck_assert_uint_eq(mad[65], 9);
	ck_assert_uint_eq(mad[66] << 8 | mad[67], 1 << 2 | 1 << 11);
	ck_assert_uint_eq(mad[64 + 18], 1); /* CounterSelect2 */
	triad_pma_encode_reset(mad, TRIAD_PMA_PORT_COUNTERS_EXTENDED, 9,
		1u << TRIAD_PORT_XMIT_DATA | 1u << TRIAD_PORT_MULTICAST_RCV_PKTS, 77);
	ck_assert_uint_eq(mad[17], 0x1d);
	ck_assert_uint_eq(mad[66] << 8 | mad[67], 1 << 0 | 1 << 7);
	ck_assert_uint_eq(mad[70] << 8 | mad[71], 0);
	triad_pma_encode_reset(mad, TRIAD_PMA_PORT_COUNTERS_EXTENDED, 9,
		1u << TRIAD_PORT_XMIT_WAIT | 1u << TRIAD_SYMBOL_ERROR_COUNTER |
			1u << TRIAD_VL15_DROPPED | 1u << TRIAD_QP1_DROPPED,
		77);
	ck_assert_uint_eq(mad[66] << 8 | mad[67], 0);
	ck_assert_uint_eq(mad[70] << 8 | mad[71], 1 << 0 | 1 << 11 | 1 << 12 | 1 << 13);
}
END_TEST

START_TEST(test_redirect_read)
{
	static const uint8_t where[] = {0x00, 0xa5, 0x00, 0x00, /* SL 10 */
		0x12, 0x34, 0xff, 0xfe,                         /* LID, P_Key */
		0x00, 0x00, 0xab, 0xcd,                         /* QP */
		0x80, 0x01, 0x00, 0x00};                        /* Q_Key */
	uint8_t mad[TRIAD_MAD_SIZE];
	struct triad_pma_redirect redirect;
	bool behind_router;
	uint16_t status;

	triad_pma_encode_get(mad, TRIAD_PMA_CLASS_PORT_INFO, 0, 1);
	mad[3] = TRIAD_MAD_METHOD_GET_RESPONSE;
	ck_assert(!triad_pma_decode_redirect(mad, &redirect, &behind_router));
	ck_assert(!behind_router);
	mad[5] = 2;
	memcpy(mad + 64 + 24, where, sizeof(where));
	ck_assert_int_eq(
		triad_pma_check(mad, sizeof(mad), TRIAD_PMA_PORT_COUNTERS, &status),
		EREMOTE);
	ck_assert(triad_pma_decode_redirect(mad, &redirect, &behind_router));
	ck_assert_uint_eq(redirect.sl, 10);
	ck_assert_uint_eq(redirect.lid, 0x1234);
	ck_assert_uint_eq(redirect.pkey, 0xfffe);
	ck_assert_uint_eq(redirect.qpn, 0xabcd);
	ck_assert_uint_eq(redirect.qkey, 0x80010000);
	mad[64 + 28] = mad[64 + 29] = 0; /* no LID, but a GID */
	mad[64 + 23] = 1;
	ck_assert(!triad_pma_decode_redirect(mad, &redirect, &behind_router));
	ck_assert(behind_router);
}
END_TEST

/* Row: A2 */
START_TEST(test_port_counters_every_field_read)
{
	static const struct {
		enum triad_counter counter;
		uint64_t value;
	} expected[] = {
		{TRIAD_SYMBOL_ERROR_COUNTER, 0x0102},
		{TRIAD_LINK_ERROR_RECOVERY_COUNTER, 3},
		{TRIAD_LINK_DOWNED_COUNTER, 4},
		{TRIAD_PORT_RCV_ERRORS, 0x0506},
		{TRIAD_PORT_RCV_REMOTE_PHYSICAL_ERRORS, 0x0708},
		{TRIAD_PORT_RCV_SWITCH_RELAY_ERRORS, 0x090a},
		{TRIAD_PORT_XMIT_DISCARDS, 0x0b0c},
		{TRIAD_PORT_XMIT_CONSTRAINT_ERRORS, 13},
		{TRIAD_PORT_RCV_CONSTRAINT_ERRORS, 14},
		{TRIAD_LOCAL_LINK_INTEGRITY_ERRORS, 5},
		{TRIAD_EXCESSIVE_BUFFER_OVERRUN_ERRORS, 14},
		{TRIAD_QP1_DROPPED, 0x0f10},
		{TRIAD_VL15_DROPPED, 0x1112},
		{TRIAD_PORT_XMIT_DATA, 0x01020304},
		{TRIAD_PORT_RCV_DATA, 0x05060708},
		{TRIAD_PORT_XMIT_PKTS, 0x090a0b0c},
		{TRIAD_PORT_RCV_PKTS, 0x0d0e0f10},
		{TRIAD_PORT_XMIT_WAIT, 0x11121314},
	};
	const uint16_t capabilities =
		ALL_CAPABILITIES & ~TRIAD_PMA_EXTENDED_WIDTH & 0xffff;
	uint8_t mad[TRIAD_MAD_SIZE];
	struct triad_pma_reading reading;
	uint32_t has = 0;
	uint16_t status;

	make_port_counters(mad);
	ck_assert_int_eq(
		triad_pma_check(mad, sizeof(mad), TRIAD_PMA_PORT_COUNTERS, &status), 0);
	ck_assert_int_eq(triad_pma_decode_counters(mad, TRIAD_PMA_PORT_COUNTERS, 7,
				 capabilities, &reading),
		0);
	for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		has |= 1u << expected[i].counter;
		ck_assert_msg(reading.raw[expected[i].counter] == expected[i].value,
			"%s is 0x%lx", triad_counters[expected[i].counter].name,
			(unsigned long)reading.raw[expected[i].counter]);
	}
	ck_assert_uint_eq(reading.has, has);
}
END_TEST

START_TEST(test_port_counters_unsupported_absent)
{
	uint8_t mad[TRIAD_MAD_SIZE];
	struct triad_pma_reading reading;

	make_port_counters(mad);
	triad_pma_decode_counters(mad, TRIAD_PMA_PORT_COUNTERS, 7, 0, &reading);
	ck_assert(!(reading.has & 1u << TRIAD_PORT_XMIT_WAIT));
	ck_assert(!(reading.has & 1u << TRIAD_QP1_DROPPED));
	ck_assert(reading.has & 1u << TRIAD_PORT_XMIT_DATA);
	/* If there are 64-bit data counters, the 32-bit ones are ignored. */
	triad_pma_decode_counters(
		mad, TRIAD_PMA_PORT_COUNTERS, 7, TRIAD_PMA_EXTENDED_WIDTH, &reading);
	ck_assert(!(reading.has & 1u << TRIAD_PORT_XMIT_DATA));
	ck_assert(reading.has & 1u << TRIAD_SYMBOL_ERROR_COUNTER);
	/* So is all the rest, where they have that. */
	triad_pma_decode_counters(mad, TRIAD_PMA_PORT_COUNTERS, 7,
		TRIAD_PMA_EXTENDED_WIDTH | TRIAD_PMA_XMIT_WAIT, &reading);
	ck_assert(reading.has & 1u << TRIAD_PORT_XMIT_WAIT);
	triad_pma_decode_counters(mad, TRIAD_PMA_PORT_COUNTERS, 7,
		TRIAD_PMA_EXTENDED_WIDTH | TRIAD_PMA_XMIT_WAIT | TRIAD_PMA_WIDE_ERRORS,
		&reading);
	ck_assert_uint_eq(reading.has, 0);
	/* Not where there is no such attribute to have them. */
	triad_pma_decode_counters(mad, TRIAD_PMA_PORT_COUNTERS, 7,
		TRIAD_PMA_XMIT_WAIT | TRIAD_PMA_WIDE_ERRORS, &reading);
	ck_assert_uint_eq(reading.has & TRIAD_NARROW_COUNTERS,
		TRIAD_NARROW_COUNTERS & ~(1u << TRIAD_QP1_DROPPED));
}
END_TEST

/* CapabilityMask2 has 27 bits, in front of RespTimeValue. */
START_TEST(test_both_capability_masks_are_read)
{
	uint8_t mad[TRIAD_MAD_SIZE] = {0};

	mad[64 + 2] = 0x12;
	mad[64 + 7] = 0x1f;
	ck_assert_uint_eq(triad_pma_decode_capabilities(mad), 0x1200);
	mad[64 + 7] |= 1u << 1 << 5;
	ck_assert_uint_eq(
		triad_pma_decode_capabilities(mad), 0x1200 | TRIAD_PMA_WIDE_ERRORS);
}
END_TEST

/* Row: A2 */
START_TEST(test_extended_every_field_read)
{
	/* The first octet of each, in the attribute [IBA 16.1.4.11]. */
	static const struct {
		enum triad_counter counter;
		unsigned at;
	} wide[] = {
		{TRIAD_SYMBOL_ERROR_COUNTER, 72},
		{TRIAD_LINK_ERROR_RECOVERY_COUNTER, 80},
		{TRIAD_LINK_DOWNED_COUNTER, 88},
		{TRIAD_PORT_RCV_ERRORS, 96},
		{TRIAD_PORT_RCV_REMOTE_PHYSICAL_ERRORS, 104},
		{TRIAD_PORT_RCV_SWITCH_RELAY_ERRORS, 112},
		{TRIAD_PORT_XMIT_DISCARDS, 120},
		{TRIAD_PORT_XMIT_CONSTRAINT_ERRORS, 128},
		{TRIAD_PORT_RCV_CONSTRAINT_ERRORS, 136},
		{TRIAD_LOCAL_LINK_INTEGRITY_ERRORS, 144},
		{TRIAD_EXCESSIVE_BUFFER_OVERRUN_ERRORS, 152},
		{TRIAD_VL15_DROPPED, 160},
		{TRIAD_PORT_XMIT_WAIT, 168},
		{TRIAD_QP1_DROPPED, 176},
	};
	uint8_t mad[TRIAD_MAD_SIZE];
	struct triad_pma_reading reading;

	triad_pma_encode_get(mad, TRIAD_PMA_PORT_COUNTERS_EXTENDED, 1, 1);
	mad[3] = TRIAD_MAD_METHOD_GET_RESPONSE;
	for (unsigned i = 8; i < 184; i++)
		mad[64 + i] = (uint8_t)i;
	ck_assert_int_eq(
		triad_pma_decode_counters(mad, TRIAD_PMA_PORT_COUNTERS_EXTENDED, 1,
			ALL_CAPABILITIES | TRIAD_PMA_WIDE_ERRORS, &reading),
		0);
	ck_assert_uint_eq(reading.raw[TRIAD_PORT_XMIT_DATA], 0x08090a0b0c0d0e0f);
	ck_assert_uint_eq(reading.raw[TRIAD_PORT_RCV_DATA], 0x1011121314151617);
	ck_assert_uint_eq(reading.raw[TRIAD_PORT_XMIT_PKTS], 0x18191a1b1c1d1e1f);
	ck_assert_uint_eq(reading.raw[TRIAD_PORT_RCV_PKTS], 0x2021222324252627);
	ck_assert_uint_eq(
		reading.raw[TRIAD_PORT_UNICAST_XMIT_PKTS], 0x28292a2b2c2d2e2f);
	ck_assert_uint_eq(reading.raw[TRIAD_PORT_UNICAST_RCV_PKTS], 0x3031323334353637);
	ck_assert_uint_eq(
		reading.raw[TRIAD_PORT_MULTICAST_XMIT_PKTS], 0x38393a3b3c3d3e3f);
	ck_assert_uint_eq(
		reading.raw[TRIAD_PORT_MULTICAST_RCV_PKTS], 0x4041424344454647);
	ck_assert_uint_eq(reading.has, (1u << TRIAD_N_COUNTERS) - 1);
	for (unsigned i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		ck_assert_uint_eq(reading.raw[wide[i].counter] >> 56, wide[i].at);
	ck_assert_uint_eq(reading.raw[TRIAD_PORT_XMIT_WAIT], 0xa8a9aaabacadaeaf);
	/* QP1Dropped is optional there, too. */
	triad_pma_decode_counters(mad, TRIAD_PMA_PORT_COUNTERS_EXTENDED, 1,
		TRIAD_PMA_EXTENDED_WIDTH | TRIAD_PMA_WIDE_ERRORS, &reading);
	ck_assert_uint_eq(reading.has,
		((1u << TRIAD_N_COUNTERS) - 1) & ~(1u << TRIAD_QP1_DROPPED));
	/* Agents without the IETF counters have only the first four. */
	triad_pma_decode_counters(mad, TRIAD_PMA_PORT_COUNTERS_EXTENDED, 1,
		TRIAD_PMA_EXTENDED_WIDTH_NO_IETF, &reading);
	ck_assert_uint_eq(reading.has, 0xfu << TRIAD_PORT_XMIT_DATA);
}
END_TEST

START_TEST(test_answer_of_another_port_refused)
{
	uint8_t mad[TRIAD_MAD_SIZE];
	struct triad_pma_reading reading;

	make_port_counters(mad);
	ck_assert_int_eq(
		triad_pma_decode_counters(mad, TRIAD_PMA_PORT_COUNTERS, 8, 0, &reading),
		EPROTO);
}
END_TEST

START_TEST(test_check_wrong_header_refused)
{
	static const struct {
		unsigned at;
		uint8_t value;
		int error;
	} changes[] = {
		{1, 3, EPROTO},     /* class */
		{3, 1, EPROTO},     /* method: a Get instead of the response */
		{17, 0x1d, EPROTO}, /* attribute */
		{5, 0x01, EBUSY},   /* status */
		{5, 0x0c, EOPNOTSUPP},
	};
	uint8_t mad[TRIAD_MAD_SIZE];
	uint16_t status;

	for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		make_port_counters(mad);
		mad[changes[i].at] = changes[i].value;
		ck_assert_int_eq(triad_pma_check(mad, sizeof(mad),
					 TRIAD_PMA_PORT_COUNTERS, &status),
			changes[i].error);
	}
	ck_assert_uint_eq(status, 0x0c);
	ck_assert_int_eq(triad_pma_check(mad, TRIAD_MAD_SIZE - 1,
				 TRIAD_PMA_PORT_COUNTERS, &status),
		EPROTO);
}
END_TEST

START_TEST(test_find_name_any_case_found)
{
	ck_assert_int_eq(triad_counter_find("portxmitWAIT"), TRIAD_PORT_XMIT_WAIT);
	ck_assert_int_eq(triad_counter_find("PortXmit"), -1);
	for (int i = 0; i < TRIAD_N_COUNTERS; i++)
		ck_assert_int_eq(triad_counter_find(triad_counters[i].name), i);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("pma");

	tcase_add_test(cases, test_get_encoded_as_specified);
	tcase_add_test(cases, test_reset_selects_counters_of_mask);
	tcase_add_test(cases, test_redirect_read);
	tcase_add_test(cases, test_port_counters_every_field_read);
	tcase_add_test(cases, test_port_counters_unsupported_absent);
	tcase_add_test(cases, test_both_capability_masks_are_read);
	tcase_add_test(cases, test_extended_every_field_read);
	tcase_add_test(cases, test_answer_of_another_port_refused);
	tcase_add_test(cases, test_check_wrong_header_refused);
	tcase_add_test(cases, test_find_name_any_case_found);
	return run_cases(cases);
}
