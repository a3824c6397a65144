/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Bit error rates of all links: the readings that they are computed from, when they
 * begin anew, and their alerts. */
#include "perfmgr/watch/bers.h"

#include <string.h>

#include "perfmgr/watch/alert_text.h"
#include "triad/clock.h"
#include "tests/unit/mentions.h"
#include "tests/unit/perfmgr/alert_fixture.h"
#include "triad/lists.h"

/* 4x HDR at 1e-14: 0.02 errors are expected in the 10 s of a sweep. */
#define ERRORS                                                                         \
	5 /* in a sweep: under SymbolErrorCounter's threshold, 500 times too many */

static struct triad_bers *bers;
static struct triad_view *view;
static uint64_t now_us;

static struct triad_bers_params bers_params(const char *targets)
{
	struct triad_bers_params made = {.enabled = true, .false_alarms = 1};
	char reason[128];

	ck_assert(triad_ber_targets_parse(
		targets, &made.targets, reason, sizeof(reason)));
	return made;
}

static void set_up_bers(void)
{
	set_up_alerts();
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		fabric->ports[i].width = 2;
		fabric->ports[i].speed_ext = 4;
	}
	set("alerts.ber", "true");
	sweep(1);
	view = triad_collector_view(collector);
	now_us = agents->now_us;
	bers = triad_bers_new();
	ck_assert_ptr_nonnull(bers);
	triad_bers_configure(bers, &(struct triad_bers_params){.enabled = false});
	triad_bers_configure(bers, (struct triad_bers_params[]){bers_params("")});
	ck_assert_int_eq(triad_bers_adopt(bers, view), 0);
}

static void tear_down_bers(void)
{
	triad_bers_free(bers);
	triad_view_unref(view);
	triad_conf_unref(conf);
	tear_down();
}

/* --- through a collector --- */

static void sweep_with_errors(uint32_t port, unsigned n)
{
	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += n;
	sweep(1);
}

static struct triad_bers_rate rate_of(uint32_t port, enum triad_ber_kind kind)
{
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS];

	triad_watch_read_bers(triad_collector_watch(collector), view, port, rates);
	return rates[kind];
}

/* Row: N5 */
START_TEST(test_worn_cable_is_an_alert_at_the_third_reading_with_errors)
{
	uint32_t port = find_port(0x201, 3);
	const struct triad_alert_finding *finding = &seen[0].alert.findings[0];
	char text[TRIAD_ALERT_TEXT_SIZE];

	sweep_with_errors(port, ERRORS);
	sweep_with_errors(port, ERRORS);
	ck_assert_uint_eq(n_seen, 0);
	ck_assert_int_eq(rate_of(port, TRIAD_BER_SYMBOL).verdict, TRIAD_BER_UNDECIDED);
	sweep_with_errors(port, ERRORS);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_BER);
	ck_assert_uint_eq(finding->ber.kind, TRIAD_BER_SYMBOL);
	/* 15 errors in 30 s of 212.5 Gb/s: 2.4e-12. */
	ck_assert_float_gt(finding->value, 2.2e-12f);
	ck_assert_float_lt(finding->value, 2.6e-12f);
	ck_assert_float_lt(finding->ber.low, finding->value);
	ck_assert_float_gt(finding->ber.high, finding->value);
	triad_alert_findings_format(&seen[0].alert, text, sizeof(text));
	ck_assert_msg(strstr(text, "symbol bit error rate 2.") &&
			strstr(text, "; target 1e-14), by 30 s"),
		"%s", text);
	assert_mentions(triad_alert_advice(&seen[0].alert), "cable");
}
END_TEST

/* Row: N5 */
START_TEST(test_alert_ends_when_the_link_has_recovered)
{
	uint32_t port = find_port(0x201, 3);

	for (unsigned i = 0; i < 3; i++)
		sweep_with_errors(port, ERRORS);
	ck_assert_uint_eq(n_active(), 1);
	/* At the target rate 6.9 errors are expected in 3250 s; there is none. */
	sweep(310);
	ck_assert_uint_eq(n_active(), 1);
	sweep(30);
	ck_assert_uint_eq(n_active(), 0);
	expect(n_seen - 1, TRIAD_ALERT_ENDED, TRIAD_ALERT_BER);
	ck_assert_int_eq(rate_of(port, TRIAD_BER_SYMBOL).verdict, TRIAD_BER_GOOD);
}
END_TEST

START_TEST(test_one_burst_raises_no_alert)
{
	uint32_t port = find_port(0x201, 3);

	sweep_with_errors(port, 5000);
	sweep(5);
	ck_assert_int_ne(rate_of(port, TRIAD_BER_SYMBOL).verdict, TRIAD_BER_WORSE);
	for (unsigned i = 0; i < n_seen; i++)
		ck_assert_uint_ne(seen[i].alert.findings[0].cause, TRIAD_ALERT_BER);
}
END_TEST

START_TEST(test_link_that_went_down_begins_anew)
{
	uint32_t port = find_port(0x201, 3);

	sweep_with_errors(port, ERRORS);
	sweep_with_errors(port, ERRORS);
	agents->raw[port][TRIAD_LINK_DOWNED_COUNTER]++;
	sweep_with_errors(port, ERRORS);
	sweep_with_errors(port, ERRORS);
	ck_assert_uint_eq(rate_of(port, TRIAD_BER_SYMBOL).estimate.errors, ERRORS);
	ck_assert_int_eq(rate_of(port, TRIAD_BER_SYMBOL).verdict, TRIAD_BER_UNDECIDED);
}
END_TEST

/* A port without a link is not read, so only the fabric says that it was down. */
START_TEST(test_link_that_was_down_unread_begins_anew)
{
	uint32_t port = find_port(0x201, 3);
	struct triad_engine_changes changes = {
		.fresh = 1u << TRIAD_SYMBOL_ERROR_COUNTER,
		.changed = 1u << TRIAD_SYMBOL_ERROR_COUNTER,
		.interval_us = {[TRIAD_READ_ERRORS] = 1e7f},
		.change = {[TRIAD_SYMBOL_ERROR_COUNTER] = ERRORS},
	};
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS];
	enum triad_ber_kind kind;

	for (unsigned i = 0; i < 3; i++)
		(void)triad_bers_look(
			bers, port, &changes, now_us += 10 * TRIAD_US_PER_S, &kind);
	triad_bers_read(bers, view, port, rates);
	ck_assert_uint_eq(rates[TRIAD_BER_SYMBOL].estimate.errors, 3 * ERRORS);
	fabric->ports[port].state = TRIAD_PORT_DOWN;
	ck_assert_int_eq(triad_bers_adopt(bers, view), 0);
	fabric->ports[port].state = TRIAD_PORT_ACTIVE;
	ck_assert_int_eq(triad_bers_adopt(bers, view), 0);
	changes.changed = 0;
	ck_assert_int_eq(triad_bers_look(bers, port, &changes,
				 now_us += 10 * TRIAD_US_PER_S, &kind),
		TRIAD_BERS_OVER);
	triad_bers_read(bers, view, port, rates);
	ck_assert_uint_eq(rates[TRIAD_BER_SYMBOL].estimate.errors, 0);
}
END_TEST

/* The port's neighbour isn't in the agent's part of the fabric; it may come and go as
 * the agent's part changes. */
START_TEST(test_end_of_a_part_is_judged_and_goes_on_when_the_part_grows)
{
	uint32_t port = find_port(0x201, 3), remote = fabric->ports[port].remote;

	fabric->ports[port].remote = TRIAD_FABRIC_NONE;
	sweep_with_errors(port, ERRORS);
	ck_assert_uint_eq(rate_of(port, TRIAD_BER_SYMBOL).estimate.errors, ERRORS);
	fabric->ports[port].remote = remote;
	sweep_with_errors(port, ERRORS);
	ck_assert_uint_eq(rate_of(port, TRIAD_BER_SYMBOL).estimate.errors, 2 * ERRORS);
	fabric->ports[port].remote = find_port(0x202, 3);
	sweep_with_errors(port, ERRORS);
	ck_assert_uint_eq(rate_of(port, TRIAD_BER_SYMBOL).estimate.errors, ERRORS);
}
END_TEST

START_TEST(test_port_without_a_link_is_not_judged)
{
	uint32_t port = find_port(0x201, 3);

	fabric->ports[port].state = TRIAD_PORT_DOWN;
	for (unsigned i = 0; i < 4; i++)
		sweep_with_errors(port, ERRORS);
	ck_assert(!rate_of(port, TRIAD_BER_SYMBOL).is_known);
	ck_assert_uint_eq(n_seen, 0);
}
END_TEST

/* A time without answers is one long reading: its errors didn't all come in the last
 * sweep. */
START_TEST(test_silence_is_one_long_reading)
{
	uint32_t port = find_port(0x201, 3);
	double bits;

	sweep_with_errors(port, ERRORS);
	bits = rate_of(port, TRIAD_BER_SYMBOL).estimate.bits;
	agents->silent_lid = fabric->ports[port].lid;
	sweep(10);
	agents->silent_lid = 0;
	sweep_with_errors(port, ERRORS);
	for (unsigned i = 0;
		i < 20 && rate_of(port, TRIAD_BER_SYMBOL).estimate.errors < 2 * ERRORS;
		i++)
		sweep(1);
	ck_assert_uint_eq(rate_of(port, TRIAD_BER_SYMBOL).estimate.errors, 2 * ERRORS);
	ck_assert_double_gt(
		rate_of(port, TRIAD_BER_SYMBOL).estimate.bits - bits, 100 * 212e9);
}
END_TEST

START_TEST(test_switched_off_ends_the_alert_and_forgets)
{
	uint32_t port = find_port(0x201, 3);

	for (unsigned i = 0; i < 4; i++)
		sweep_with_errors(port, ERRORS);
	ck_assert_uint_eq(n_active(), 1);
	set("alerts.ber", "false");
	sweep(1);
	ck_assert_uint_eq(n_active(), 0);
	ck_assert(!rate_of(port, TRIAD_BER_SYMBOL).is_known);
	set("alerts.ber", "true");
	sweep(1);
	ck_assert_uint_eq(n_active(), 0);
}
END_TEST

START_TEST(test_target_that_is_off_is_not_judged)
{
	uint32_t port = find_port(0x201, 3);

	set("alerts.ber_targets", "HDR symbol off");
	for (unsigned i = 0; i < 5; i++)
		sweep_with_errors(port, ERRORS);
	ck_assert_uint_eq(n_seen, 0);
	ck_assert(!rate_of(port, TRIAD_BER_SYMBOL).is_known);
}
END_TEST

/* --- forward error correction --- */

static void read_fec(
	uint32_t port, uint64_t after_s, uint32_t corrected, uint32_t not_corrected)
{
	const struct triad_details_port of = triad_view_details_port(view, port);
	struct triad_detail_reading reading = {.raw = {0}};

	for (unsigned i = 0; i < triad_detail_n_slots(TRIAD_PMA_EXT_SPEEDS_RSFEC);
		i++) {
		const char *name =
			triad_detail_field(TRIAD_PMA_EXT_SPEEDS_RSFEC, i)->name;

		if (!strcmp(name, "PortFECCorrectedSymbolCtr"))
			reading.raw[i] = corrected;
		else if (!strcmp(name, "PortFECUncorrectableBlockCtr"))
			reading.raw[i] = not_corrected;
	}
	now_us += after_s * S;
	triad_details_update(triad_engine_details(view->engine), &of,
		TRIAD_PMA_EXT_SPEEDS_RSFEC, &reading, false, now_us);
}

static enum triad_bers_change look(uint32_t port, enum triad_ber_kind *kind)
{
	return triad_bers_look(bers, port, NULL, now_us, kind);
}

START_TEST(test_fec_gives_raw_and_effective_rates)
{
	uint32_t port = find_port(0x201, 3);
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS];
	enum triad_ber_kind kind = TRIAD_BER_N_KINDS;

	/* A raw rate of 1e-8 is well below HDR's 1e-6; one block lost in 300 s is
	 * 1.6e-14. */
	for (unsigned i = 0; i <= 3; i++) {
		read_fec(port, 300, i * 637500u, i);
		ck_assert_int_eq(look(port, &kind), TRIAD_BERS_NOTHING);
	}
	triad_bers_read(bers, view, port, rates);
	ck_assert(rates[TRIAD_BER_RAW].is_known);
	/* At the target a reading has far more errors than the test looks back on, so
	 * it keeps only two readings. */
	ck_assert_uint_eq(rates[TRIAD_BER_RAW].estimate.errors, 2 * 637500u);
	ck_assert_double_eq_tol(rates[TRIAD_BER_RAW].estimate.ber, 1e-8, 1e-10);
	ck_assert_int_eq(rates[TRIAD_BER_RAW].verdict, TRIAD_BER_GOOD);
	ck_assert_uint_eq(rates[TRIAD_BER_EFFECTIVE].estimate.errors, 3);
	ck_assert_int_ne(rates[TRIAD_BER_EFFECTIVE].verdict, TRIAD_BER_WORSE);
	for (unsigned i = 1; i <= 3; i++) {
		read_fec(port, 300, 4 * 637500u, 3 + 1000 * i);
		(void)look(port, &kind);
	}
	ck_assert_int_eq(look(port, &kind), TRIAD_BERS_WORSE);
	ck_assert_int_eq(kind, TRIAD_BER_EFFECTIVE);
}
END_TEST

/* Each sweep sees the same reading until there is a new one. */
START_TEST(test_fec_reading_counts_once)
{
	uint32_t port = find_port(0x201, 3);
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS];
	enum triad_ber_kind kind;

	read_fec(port, 300, 0, 0);
	(void)look(port, &kind);
	read_fec(port, 300, 1000, 2);
	for (unsigned i = 0; i < 10; i++)
		(void)look(port, &kind);
	triad_bers_read(bers, view, port, rates);
	ck_assert_uint_eq(rates[TRIAD_BER_RAW].estimate.errors, 1000);
	ck_assert_uint_eq(rates[TRIAD_BER_EFFECTIVE].estimate.errors, 2);
	ck_assert_double_eq_tol(rates[TRIAD_BER_RAW].estimate.bits, 300 * 212.5e9, 1e9);
}
END_TEST

START_TEST(test_totals_made_zero_are_no_errors)
{
	uint32_t port = find_port(0x201, 3);
	const struct triad_details_port of = triad_view_details_port(view, port);
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS];
	enum triad_ber_kind kind;

	read_fec(port, 300, 1000, 10);
	(void)look(port, &kind);
	read_fec(port, 300, 2000, 10);
	(void)look(port, &kind);
	triad_details_zero(triad_engine_details(view->engine), &of);
	read_fec(port, 300, 2100, 10);
	(void)look(port, &kind);
	read_fec(port, 300, 2300, 10);
	(void)look(port, &kind);
	triad_bers_read(bers, view, port, rates);
	ck_assert_uint_eq(rates[TRIAD_BER_RAW].estimate.errors, 1000 + 200);
}
END_TEST

/* --- targets --- */

START_TEST(test_targets_as_people_write_them)
{
	struct triad_ber_targets targets;
	char reason[256];

	ck_assert(triad_ber_targets_parse(
		" NDR RAW 2e-7 ;HDR symbol off;", &targets, reason, sizeof(reason)));
	ck_assert_double_eq(targets.of[TRIAD_SPEED_NDR][TRIAD_BER_RAW], 2e-7);
	ck_assert_double_eq(targets.of[TRIAD_SPEED_HDR][TRIAD_BER_SYMBOL], 0);
	ck_assert_double_eq(targets.of[TRIAD_SPEED_HDR][TRIAD_BER_RAW],
		triad_ber_target(TRIAD_SPEED_HDR, TRIAD_BER_RAW));
}
END_TEST

START_TEST(test_wrong_targets_are_refused)
{
	static const char *const wrong[] = {"NDR", "NDR raw", "NDR raw 0", "NDR raw 1",
		"NDR raw nan", "NDR raw 1e-6x", "NDR raw 1e-6 1", "QDRR raw 1e-6",
		"NDR rough 1e-6", "NDR raw -1e-6"};
	struct triad_ber_targets targets;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char reason[256] = "";

		ck_assert_msg(!triad_ber_targets_parse(
				      wrong[i], &targets, reason, sizeof(reason)),
			"%s", wrong[i]);
		ck_assert_msg(strstr(reason, wrong[i]), "%s", reason);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("bers");

	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up_bers, tear_down_bers);
	tcase_add_test(
		cases, test_worn_cable_is_an_alert_at_the_third_reading_with_errors);
	tcase_add_test(cases, test_alert_ends_when_the_link_has_recovered);
	tcase_add_test(cases, test_one_burst_raises_no_alert);
	tcase_add_test(cases, test_link_that_went_down_begins_anew);
	tcase_add_test(cases, test_link_that_was_down_unread_begins_anew);
	tcase_add_test(
		cases, test_end_of_a_part_is_judged_and_goes_on_when_the_part_grows);
	tcase_add_test(cases, test_port_without_a_link_is_not_judged);
	tcase_add_test(cases, test_silence_is_one_long_reading);
	tcase_add_test(cases, test_switched_off_ends_the_alert_and_forgets);
	tcase_add_test(cases, test_target_that_is_off_is_not_judged);
	tcase_add_test(cases, test_fec_gives_raw_and_effective_rates);
	tcase_add_test(cases, test_fec_reading_counts_once);
	tcase_add_test(cases, test_totals_made_zero_are_no_errors);
	tcase_add_test(cases, test_targets_as_people_write_them);
	tcase_add_test(cases, test_wrong_targets_are_refused);
	return run_cases(cases);
}
