/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Records of data about ports and devices other than counters are read as they were
 * written; invalid records are refused. */
#include "history/extra.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ib/detail.h"
#include "tests/random.h"
#include "tests/unit/run.h"

#define OFFSET_US INT64_C(1767323045000000)

static uint64_t seed;

static void set_up(void)
{
	seed = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
}

static unsigned below(unsigned n)
{
	return random_below(&seed, n);
}

static uint64_t random_us(void)
{
	return below(4) ? 1 + random_next(&seed) % (UINT64_C(1) << 40) : 0;
}

static void put_text(char *text, size_t size)
{
	unsigned n = below((unsigned)size);

	for (unsigned i = 0; i < n; i++)
		text[i] = (char)('!' + below(90));
}

#define TEXT(member) put_text(member, sizeof(member))

static void put_random(void *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = (uint8_t)random_next(&seed);
}

static void make_detail(struct triad_extra *extra)
{
	struct triad_detail_row *row = &extra->is.detail;
	unsigned n;

	extra->part = (uint8_t)(TRIAD_PMA_FIRST_DETAIL +
		below(TRIAD_PMA_N_ATTRIBUTES - TRIAD_PMA_FIRST_DETAIL));
	n = triad_detail_n_slots(extra->part);
	row->read_us = random_us();
	row->interval_us = random_us();
	row->n_own_resets = below(9);
	row->saturated = random_next(&seed) & ((UINT64_C(1) << n) - 1);
	for (unsigned i = 0; i < n; i++) {
		row->total[i] = below(2) ? random_next(&seed) : 0;
		row->change[i] = below(2) ? random_next(&seed) : 0;
	}
}

static void make_ber(struct triad_extra *extra)
{
	extra->part = (uint8_t)below(TRIAD_BER_N_KINDS);
	extra->is.ber = (struct triad_bers_rate){.is_known = below(2),
		.verdict = below(3),
		.target = 1e-14,
		.estimate = {1e-12 * below(100), 1e-13, 1e-11, random_next(&seed),
			1e15},
		.remaining_s = 1.5 * below(1000),
		.since_us = random_us(),
		.read_us = random_us()};
}

static void make_cable(struct triad_extra *extra)
{
	struct triad_cable *cable = &extra->is.cable.cable;

	extra->is.cable.module = below(TRIAD_MODULE_KNOWN + 1);
	extra->is.cable.read_us = random_us();
	cable->identifier = (uint8_t)below(256);
	cable->n_lanes = (uint8_t)below(TRIAD_CABLE_MAX_LANES + 1);
	cable->has_rx_power = below(2);
	cable->is_separable = below(2);
	cable->length_dm = (uint16_t)below(65536);
	TEXT(cable->vendor);
	TEXT(cable->part);
	TEXT(cable->revision);
	TEXT(cable->serial);
	TEXT(cable->date);
	cable->taken = (uint8_t)below(256);
	cable->lacking = (uint8_t)below(256);
	cable->technology = (uint8_t)below(256);
	cable->is_flat = below(2);
	cable->has_tx_power = below(2);
	cable->has_bias = below(2);
	cable->bias_factor = (uint8_t)below(256);
	cable->voltage = (uint16_t)below(65536);
	put_random(&cable->temperature_limits, sizeof(cable->temperature_limits));
	put_random(&cable->voltage_limits, sizeof(cable->voltage_limits));
	put_random(&cable->tx_limits, sizeof(cable->tx_limits));
	put_random(&cable->bias_limits, sizeof(cable->bias_limits));
	put_random(cable->tx, sizeof(cable->tx));
	cable->oui = (uint32_t)random_next(&seed);
	cable->temperature = (int16_t)random_next(&seed);
	put_random(&cable->rx_limits, sizeof(cable->rx_limits));
	put_random(cable->rx, sizeof(cable->rx));
	put_random(cable->bias, sizeof(cable->bias));
}

/* Makes a device; the largest one has the maximum of everything. */
static void make_device(struct triad_extra *extra)
{
	struct triad_device_info *info = &extra->is.device.info;

	extra->port = 0;
	extra->is.device.is_silent = below(2);
	extra->is.device.read_us = random_us();
	info->reported = (uint8_t)random_next(&seed);
	info->refused = (uint8_t)random_next(&seed);
	info->has_registers = below(2);
	info->device_id = (uint16_t)below(65536);
	info->uptime_s = (uint32_t)random_next(&seed);
	info->sensors_there = random_next(&seed);
	info->fans_slow = (uint16_t)below(65536);
	extra->is.device.refuses_cables = below(2);
	put_random(info->firmware, sizeof(info->firmware));
	TEXT(info->psid);
	TEXT(info->serial);
	TEXT(info->product);
	info->n_sensors = (uint8_t)below(TRIAD_DEVICE_MAX_SENSORS + 1);
	info->n_fans = (uint8_t)below(TRIAD_DEVICE_MAX_FANS + 1);
	info->n_supplies = (uint8_t)below(TRIAD_DEVICE_MAX_SUPPLIES + 1);
	for (unsigned i = 0; i < info->n_sensors; i++) {
		info->sensors[i].index = (uint8_t)below(64);
		info->sensors[i].now = (int16_t)random_next(&seed);
		TEXT(info->sensors[i].name);
	}
	for (unsigned i = 0; i < info->n_fans; i++) {
		info->fans[i].index = (uint8_t)below(TRIAD_DEVICE_MAX_FANS);
		info->fans[i].rpm = (uint16_t)below(20000);
	}
	for (unsigned i = 0; i < info->n_supplies; i++) {
		info->supplies[i].state = (uint8_t)below(4);
		info->supplies[i].watts = below(2000);
		TEXT(info->supplies[i].serial);
		TEXT(info->supplies[i].part);
	}
}

static struct triad_extra make_extra(void)
{
	struct triad_extra extra;

	/* Clear the padding between members, too: records are compared as octets. */
	memset(&extra, 0, sizeof(extra));
	extra.kind = (uint8_t)(TRIAD_EXTRA_DETAIL + below(4));
	extra.node_guid = random_next(&seed);
	extra.port = (uint8_t)below(255);
	if (extra.kind == TRIAD_EXTRA_DETAIL)
		make_detail(&extra);
	else if (extra.kind == TRIAD_EXTRA_BER)
		make_ber(&extra);
	else if (extra.kind == TRIAD_EXTRA_CABLE)
		make_cable(&extra);
	else
		make_device(&extra);
	return extra;
}

static bool is_same(const struct triad_extra *a, const struct triad_extra *b)
{
	if (a->kind == TRIAD_EXTRA_BER)
		return a->is.ber.verdict == b->is.ber.verdict &&
			a->is.ber.is_known == b->is.ber.is_known &&
			a->is.ber.since_us == b->is.ber.since_us &&
			a->is.ber.read_us == b->is.ber.read_us &&
			!memcmp(&a->is.ber.estimate, &b->is.ber.estimate,
				sizeof(a->is.ber.estimate));
	return !memcmp(a, b, sizeof(*a));
}

/* Row: N10 */
START_TEST(test_record_of_each_kind_is_read_as_it_was_written)
{
	/* The reader's monotonic clock began at another time. */
	const int64_t later_us = INT64_C(5000000);

	for (unsigned i = 0; i < 4000; i++) {
		struct triad_extra extra = make_extra(), read;
		uint8_t octets[TRIAD_EXTRA_SIZE];
		size_t size = triad_extra_put(octets, &extra, OFFSET_US);

		ck_assert_uint_eq(triad_extra_size(octets), size);
		ck_assert(triad_extra_get(octets, size, &read, OFFSET_US));
		ck_assert_uint_eq(read.node_guid, extra.node_guid);
		ck_assert_uint_eq(read.port, extra.port);
		ck_assert_uint_eq(read.part, extra.part);
		ck_assert_msg(is_same(&read, &extra), "seed %lu: kind %u",
			(unsigned long)seed, extra.kind);
		ck_assert(triad_extra_get(octets, size, &read, OFFSET_US + later_us));
		if (extra.kind == TRIAD_EXTRA_CABLE && extra.is.cable.read_us)
			ck_assert_uint_eq(read.is.cable.read_us,
				extra.is.cable.read_us - (uint64_t)later_us);
	}
}
END_TEST

START_TEST(test_octets_that_are_cut_or_others_do_no_harm)
{
	for (unsigned i = 0; i < 4000; i++) {
		struct triad_extra extra = make_extra(), read;
		uint8_t octets[TRIAD_EXTRA_SIZE];
		size_t size = triad_extra_put(octets, &extra, OFFSET_US);

		ck_assert(!triad_extra_get(octets, below((unsigned)size - 1), &read,
				  OFFSET_US) ||
			extra.kind == 0);
		for (unsigned k = 0; k < 4; k++)
			octets[TRIAD_EXTRA_HEADER_SIZE +
				below((unsigned)size - TRIAD_EXTRA_HEADER_SIZE)] =
				(uint8_t)random_next(&seed);
		/* Accepted records are within their limits. */
		if (!triad_extra_get(octets, size, &read, OFFSET_US))
			continue;
		ck_assert(read.kind != TRIAD_EXTRA_DEVICE ||
			read.is.device.info.n_fans <= TRIAD_DEVICE_MAX_FANS);
		ck_assert(read.kind != TRIAD_EXTRA_CABLE ||
			read.is.cable.cable.n_lanes <= TRIAD_CABLE_MAX_LANES);
	}
}
END_TEST

START_TEST(test_kind_of_a_later_version_is_no_error)
{
	uint8_t later[TRIAD_EXTRA_SIZE] = {200, 0, 5, 1, 2, 3, 4, 5};
	uint8_t none[TRIAD_EXTRA_HEADER_SIZE] = {0, 0, 5};
	uint8_t large[TRIAD_EXTRA_HEADER_SIZE] = {1, 0xff, 0xff};
	struct triad_extra extra;

	ck_assert_uint_eq(triad_extra_size(later), TRIAD_EXTRA_HEADER_SIZE + 5);
	ck_assert(!triad_extra_get(later, TRIAD_EXTRA_HEADER_SIZE + 5, &extra, 0));
	ck_assert_uint_eq(triad_extra_size(none), 0);
	ck_assert_uint_eq(triad_extra_size(large), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("extra");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_record_of_each_kind_is_read_as_it_was_written);
	tcase_add_test(cases, test_octets_that_are_cut_or_others_do_no_harm);
	tcase_add_test(cases, test_kind_of_a_later_version_is_no_error);
	return run_cases(cases);
}
