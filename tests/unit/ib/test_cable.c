/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory of cables and modules in the layouts of SFF-8636 and CMIS, and the MADs that
 * read it. */
#include "ib/cable.h"

#include <math.h>
#include <string.h>

#include "tests/unit/run.h"
#include "triad/wire.h"

/* The simulated module's memory: octets 0 to 127, and 128 to 255 of each page. */
static uint8_t lower[128], pages[256][128];
static bool has_page[256];
static unsigned n_reads;

static void set_up(void)
{
	memset(lower, 0, sizeof(lower));
	memset(pages, 0, sizeof(pages));
	memset(has_page, 0, sizeof(has_page));
	has_page[0] = true;
	n_reads = 0;
}

static uint8_t *at(unsigned page, unsigned address)
{
	has_page[page] = true;
	return address < 128 ? &lower[address] : &pages[page][address - 128];
}

static void put_text(unsigned page, unsigned address, const char *text, size_t n)
{
	memset(at(page, address), ' ', n);
	memcpy(at(page, address), text, strlen(text));
}

static void put16(unsigned page, unsigned address, unsigned value)
{
	*at(page, address) = (uint8_t)(value >> 8);
	*at(page, address + 1) = (uint8_t)value;
}

static void read_address(const struct triad_cable_address *place, uint8_t *octets)
{
	for (unsigned i = 0; i < place->size; i++)
		octets[i] = *at(place->page, place->address + i);
}

static void read_cable(struct triad_cable *cable)
{
	enum triad_cable_block block;

	while (triad_cable_next(cable, &block)) {
		struct triad_cable_address place = triad_cable_address(cable, block);
		uint8_t octets[TRIAD_CABLE_INFO_MOST];

		ck_assert_uint_le(place.size, TRIAD_CABLE_INFO_MOST);
		ck_assert_uint_lt(n_reads++, 20);
		if (!has_page[place.page]) {
			triad_cable_lacks(cable, block);
			continue;
		}
		read_address(&place, octets);
		triad_cable_take(cable, block, octets);
	}
}

/* An active optical cable of 20 m. */
static void plug_qsfp28(void)
{
	lower[0] = *at(0, 128) = 0x11;
	*at(0, 130) = 0x23;
	*at(0, 146) = 20;
	*at(0, 147) = 0x00;
	put_text(0, 148, "Mellanox", 16);
	memcpy(at(0, 165), "\x00\x02\xc9", 3);
	put_text(0, 168, "MFS1S00-H020V", 16);
	put_text(0, 184, "B2", 2);
	put_text(0, 196, "MT2133VS01234", 16);
	put_text(0, 212, "210817", 8);
	*at(0, 220) = 0x0c;
	put16(0, 22, 35 * 256 + 128);
	put16(0, 26, 33000);
	for (unsigned i = 0; i < 4; i++) {
		put16(0, 34 + 2 * i, 8000 - 1000 * i);
		put16(0, 42 + 2 * i, 3350 + i);
		put16(0, 50 + 2 * i, 9000 + i);
	}
	put16(3, 128, 75 * 256);
	put16(3, 130, (unsigned)(-5 * 256) & 0xffff);
	put16(3, 176, 25000);
	put16(3, 178, 1000);
}

/* Row: N6 */
START_TEST(test_optical_cable_has_all_of_sff8636)
{
	struct triad_cable cable = {0};

	plug_qsfp28();
	read_cable(&cable);
	ck_assert_uint_eq(n_reads, 6);
	ck_assert_str_eq(triad_cable_identifier(&cable), "QSFP28");
	ck_assert_str_eq(triad_cable_technology(&cable), "850 nm VCSEL");
	ck_assert_str_eq(cable.vendor, "Mellanox");
	ck_assert_str_eq(cable.part, "MFS1S00-H020V");
	ck_assert_str_eq(cable.revision, "B2");
	ck_assert_str_eq(cable.serial, "MT2133VS01234");
	ck_assert_str_eq(cable.date, "210817");
	ck_assert_uint_eq(cable.oui, 0x0002c9);
	ck_assert_uint_eq(cable.length_dm, 200);
	ck_assert(triad_cable_has_state(&cable) && triad_cable_has_lanes(&cable));
	ck_assert_double_eq(cable.temperature / 256.0, 35.5);
	ck_assert_double_eq_tol(triad_cable_volts(cable.voltage), 3.3, 1e-9);
	ck_assert_uint_eq(cable.n_lanes, 4);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(cable.rx[i], 8000 - 1000 * i);
		ck_assert_uint_eq(cable.bias[i], 3350 + i);
		ck_assert_uint_eq(cable.tx[i], 9000 + i);
	}
	ck_assert_double_eq_tol(triad_cable_dbm(cable.rx[0]), -0.969, 1e-3);
	ck_assert_double_eq_tol(
		triad_cable_milliamperes(&cable, cable.bias[0]), 6.7, 1e-9);
	ck_assert_int_eq((int16_t)cable.temperature_limits.low_alarm, -5 * 256);
	ck_assert_uint_eq(cable.rx_limits.low_alarm, 1000);
}
END_TEST

/* Row: N6 */
START_TEST(test_passive_copper_is_read_in_two_mads)
{
	struct triad_cable cable = {0};

	plug_qsfp28();
	*at(0, 146) = 2;
	*at(0, 147) = 0xa0;
	read_cable(&cable);
	ck_assert_uint_eq(n_reads, 2);
	ck_assert_str_eq(triad_cable_technology(&cable), "copper");
	ck_assert_uint_eq(cable.length_dm, 20);
	ck_assert(!triad_cable_has_state(&cable) && !triad_cable_has_lanes(&cable));
}
END_TEST

START_TEST(test_module_without_fibre_has_no_length_and_flat_one_no_limits)
{
	struct triad_cable cable = {0};

	plug_qsfp28();
	*at(0, 130) = 0x0c; /* MPO */
	lower[2] = 0x04;    /* no pages */
	read_cable(&cable);
	ck_assert_uint_eq(n_reads, 4);
	ck_assert_uint_eq(cable.length_dm, 0);
	ck_assert_uint_eq(cable.rx_limits.low_alarm, 0);
	ck_assert(triad_cable_has_lanes(&cable));
}
END_TEST

static void plug_osfp(void)
{
	lower[0] = *at(0, 128) = 0x19;
	put_text(0, 129, "NVIDIA", 16);
	memcpy(at(0, 145), "\x48\xb0\x2d", 3);
	put_text(0, 148, "MMA4Z00-NS", 16);
	put_text(0, 164, "A1", 2);
	put_text(0, 166, "MT2301FT098765432", 16);
	/* The text is one character too long on purpose; the date follows it. */
	put_text(0, 182, "230102", 8);
	*at(0, 202) = 0x40 | 30; /* 30 m */
	*at(0, 203) = 0x23;
	*at(0, 212) = 0x00;
	put16(0, 14, (unsigned)(-3 * 256) & 0xffff);
	put16(0, 16, 32900);
	*at(1, 160) = 0x05 | 1 << 3; /* bias and received power; factor 2 */
	for (unsigned i = 0; i < 8; i++) {
		put16(0x11, 154 + 2 * i, 100 + i);
		put16(0x11, 170 + 2 * i, 200 + i);
		put16(0x11, 186 + 2 * i, 300 + i);
	}
	put16(2, 128, 80 * 256);
	put16(2, 136, 36300);
	put16(2, 176, 1);
	put16(2, 184, 2);
	put16(2, 194, 250);
}

/* Row: N6 */
START_TEST(test_cmis_module_has_eight_lanes)
{
	struct triad_cable cable = {0};

	plug_osfp();
	read_cable(&cable);
	ck_assert_uint_eq(n_reads, 7);
	ck_assert_str_eq(triad_cable_identifier(&cable), "OSFP");
	ck_assert_str_eq(cable.vendor, "NVIDIA");
	ck_assert_str_eq(cable.part, "MMA4Z00-NS");
	ck_assert_str_eq(cable.serial, "MT2301FT09876543");
	ck_assert_uint_eq(cable.oui, 0x48b02d);
	ck_assert_uint_eq(cable.length_dm, 300);
	ck_assert_int_eq(cable.temperature, -3 * 256);
	ck_assert_uint_eq(cable.voltage, 32900);
	ck_assert(cable.has_rx_power && cable.has_bias && !cable.has_tx_power);
	ck_assert_uint_eq(cable.n_lanes, 8);
	for (unsigned i = 0; i < 8; i++) {
		ck_assert_uint_eq(cable.tx[i], 100 + i);
		ck_assert_uint_eq(cable.bias[i], 200 + i);
		ck_assert_uint_eq(cable.rx[i], 300 + i);
	}
	ck_assert_double_eq_tol(triad_cable_milliamperes(&cable, 200), 0.8, 1e-9);
	ck_assert_uint_eq(cable.temperature_limits.high_alarm, 80 * 256);
	ck_assert_uint_eq(cable.voltage_limits.high_alarm, 36300);
	ck_assert_uint_eq(cable.tx_limits.high_alarm, 1);
	ck_assert_uint_eq(cable.bias_limits.high_alarm, 2);
	ck_assert_uint_eq(cable.rx_limits.low_alarm, 250);
}
END_TEST

START_TEST(test_lengths_of_cmis_have_factors)
{
	static const struct {
		uint8_t octet;
		unsigned length_dm;
	} lengths[] = {{0x0f, 15}, {0x41, 10}, {0x85, 500}, {0xff, 63000}, {0, 0}};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct triad_cable cable = {0};

		plug_osfp();
		n_reads = 0;
		*at(0, 202) = lengths[i].octet;
		read_cable(&cable);
		ck_assert_uint_eq(cable.length_dm, lengths[i].length_dm);
	}
}
END_TEST

START_TEST(test_refresh_reads_what_changes_alone)
{
	struct triad_cable cable = {0};

	plug_qsfp28();
	read_cable(&cable);
	n_reads = 0;
	put16(0, 22, 50 * 256);
	triad_cable_refresh(&cable);
	read_cable(&cable);
	ck_assert_uint_eq(n_reads, 2);
	ck_assert_int_eq(cable.temperature, 50 * 256);
	ck_assert_str_eq(cable.serial, "MT2133VS01234");
	ck_assert_uint_eq(cable.rx_limits.low_alarm, 1000);
}
END_TEST

START_TEST(test_hostile_octets_become_question_marks)
{
	struct triad_cable cable = {0};

	plug_qsfp28();
	memcpy(at(0, 148), "Evil\x1b[2J\xff\n\x80\0Inc ", 16);
	put_text(0, 196, "  a b  ", 16);
	read_cable(&cable);
	ck_assert_str_eq(cable.vendor, "Evil?[2J??? Inc");
	ck_assert_str_eq(cable.serial, "a b");
	/* With an unknown identifier Triad reads one block and takes nothing from
	 * it. */
	memset(&cable, 0, sizeof(cable));
	*at(0, 128) = 0x77;
	n_reads = 0;
	read_cable(&cable);
	ck_assert_uint_eq(n_reads, 1);
	ck_assert_str_eq(triad_cable_identifier(&cable), "unknown");
	ck_assert_str_eq(triad_cable_technology(&cable), "unknown");
	ck_assert_str_eq(cable.vendor, "");
}
END_TEST

START_TEST(test_missing_pages_end_the_reading)
{
	struct triad_cable cable = {0};

	plug_osfp();
	memset(has_page + 1, 0, 255);
	read_cable(&cable);
	ck_assert(!triad_cable_has_lanes(&cable) && triad_cable_has_state(&cable));
	/* Without the first block there is no data. */
	memset(&cable, 0, sizeof(cable));
	has_page[0] = false;
	n_reads = 0;
	read_cable(&cable);
	ck_assert_uint_eq(n_reads, 1);
	ck_assert_uint_eq(cable.taken, 0);
}
END_TEST

/* Row: N6 */
START_TEST(test_module_is_judged_by_its_own_alarms)
{
	struct triad_cable cable = {0};
	double value, limit;
	unsigned lane;

	plug_qsfp28();
	read_cable(&cable);
	ck_assert_int_eq(triad_cable_judge(&cable, true, &lane, &value, &limit),
		TRIAD_CABLE_FINE);
	cable.rx[1] = 999;
	cable.rx[2] = 500;
	ck_assert_int_eq(triad_cable_judge(&cable, true, &lane, &value, &limit),
		TRIAD_CABLE_DARK);
	ck_assert_uint_eq(lane, 3);
	ck_assert_double_eq_tol(value, -13.01, 0.01);
	ck_assert_double_eq_tol(limit, -10, 1e-9);
	/* Low received power is no fault while the link is down: the far end may be
	 * off. */
	ck_assert_int_eq(triad_cable_judge(&cable, false, &lane, &value, &limit),
		TRIAD_CABLE_FINE);
	cable.temperature = 75 * 256;
	ck_assert_int_eq(triad_cable_judge(&cable, false, &lane, &value, &limit),
		TRIAD_CABLE_FINE);
	cable.temperature++;
	ck_assert_int_eq(triad_cable_judge(&cable, true, &lane, &value, &limit),
		TRIAD_CABLE_HOT);
	ck_assert_double_eq_tol(limit, 75, 1e-9);
	/* A value without a limit isn't judged. */
	cable.temperature_limits.high_alarm = cable.rx_limits.low_alarm = 0;
	ck_assert_int_eq(triad_cable_judge(&cable, true, &lane, &value, &limit),
		TRIAD_CABLE_FINE);
}
END_TEST

/* --- MADs --- */

START_TEST(test_question_is_a_get_by_lid_with_the_port_as_modifier)
{
	const struct triad_cable_address place = {
		.page = 3, .address = 176, .size = 24};
	uint8_t mad[TRIAD_MAD_SIZE];

	triad_cable_info_encode(mad, 7, &place, 0x12345678);
	ck_assert_mem_eq(mad, "\x01\x01\x01\x01\0\0\0\0\0\0\0\0\x12\x34\x56\x78", 16);
	ck_assert_mem_eq(mad + 16, "\xff\x60\0\0\0\0\0\x07\0\0\0\0\0\0\0\0", 16);
	ck_assert_mem_eq(mad + 64, "\x50\x03\x00\xb0\0\0\x00\x18", 8);
}
END_TEST

static enum triad_cable_info_result decode(unsigned status, uint8_t method)
{
	const struct triad_cable_address place = {.size = 48};
	const uint8_t *data;
	uint8_t mad[TRIAD_MAD_SIZE];

	triad_cable_info_encode(mad, 1, &place, 1);
	mad[3] = method;
	mad[4] = (uint8_t)(status >> 8);
	mad[5] = (uint8_t)status;
	return triad_cable_info_decode(mad, &data);
}

START_TEST(test_status_shows_why_there_is_no_data)
{
	ck_assert_int_eq(decode(0, 0x81), TRIAD_CABLE_INFO_READ);
	ck_assert_int_eq(decode(0, 0x01), TRIAD_CABLE_INFO_REFUSED);
	ck_assert_int_eq(decode(0x0100, 0x81), TRIAD_CABLE_INFO_NO_CAGE);
	ck_assert_int_eq(decode(0x0200, 0x81), TRIAD_CABLE_INFO_NO_CAGE);
	ck_assert_int_eq(decode(0x0300, 0x81), TRIAD_CABLE_INFO_EMPTY);
	ck_assert_int_eq(decode(0x0400, 0x81), TRIAD_CABLE_INFO_NO_MEMORY);
	ck_assert_int_eq(decode(0x0500, 0x81), TRIAD_CABLE_INFO_NO_PAGE);
	ck_assert_int_eq(decode(0x0700, 0x81), TRIAD_CABLE_INFO_NO_PAGE);
	ck_assert_int_eq(decode(0x0900, 0x81), TRIAD_CABLE_INFO_BUSY);
	ck_assert_int_eq(decode(0x0001, 0x81), TRIAD_CABLE_INFO_BUSY);
	ck_assert_int_eq(decode(0x000c, 0x81), TRIAD_CABLE_INFO_REFUSED);
	ck_assert_int_eq(decode(0xff00, 0x81), TRIAD_CABLE_INFO_REFUSED);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("cable");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_optical_cable_has_all_of_sff8636);
	tcase_add_test(cases, test_passive_copper_is_read_in_two_mads);
	tcase_add_test(
		cases, test_module_without_fibre_has_no_length_and_flat_one_no_limits);
	tcase_add_test(cases, test_cmis_module_has_eight_lanes);
	tcase_add_test(cases, test_lengths_of_cmis_have_factors);
	tcase_add_test(cases, test_refresh_reads_what_changes_alone);
	tcase_add_test(cases, test_hostile_octets_become_question_marks);
	tcase_add_test(cases, test_missing_pages_end_the_reading);
	tcase_add_test(cases, test_module_is_judged_by_its_own_alarms);
	tcase_add_test(cases, test_question_is_a_get_by_lid_with_the_port_as_modifier);
	tcase_add_test(cases, test_status_shows_why_there_is_no_data);
	return run_cases(cases);
}
