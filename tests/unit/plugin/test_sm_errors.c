/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/sm_errors.h"

#include <string.h>

#include "tests/unit/mentions.h"
#include "tests/unit/run.h"

#define HEAD "Nov 27 21:50:23 024829 [AF2966C0] "
#define PARTITIONS                                                                     \
	HEAD "0x01 -> osm_prtn_make_partitions: Partition configuration in error; "    \
	     "retrying with default config"

static struct triad_sm_errors errors;

static void set_up(void)
{
	triad_sm_errors_init(&errors);
}

static enum triad_sm_error take(const char *line)
{
	return triad_sm_errors_take(&errors, line, 5);
}

static const char *text_of(enum triad_sm_error kind)
{
	return errors.of[kind].text;
}

START_TEST(test_errors_last_until_a_sweep_without)
{
	ck_assert_uint_eq(take(PARTITIONS), TRIAD_SM_ERROR_PARTITIONS);
	ck_assert(triad_sm_errors_has(&errors, TRIAD_SM_ERROR_PARTITIONS));
	triad_sm_errors_up(&errors);
	ck_assert(triad_sm_errors_has(&errors, TRIAD_SM_ERROR_PARTITIONS));
	/* Not news: it has lasted. */
	ck_assert_uint_eq(take(PARTITIONS), TRIAD_SM_N_ERRORS);
	triad_sm_errors_up(&errors);
	ck_assert_uint_eq(errors.of[TRIAD_SM_ERROR_PARTITIONS].n, 2);
	ck_assert_uint_eq(triad_sm_errors_count(&errors), 1);
	triad_sm_errors_up(&errors);
	ck_assert(!triad_sm_errors_has(&errors, TRIAD_SM_ERROR_PARTITIONS));
	ck_assert_uint_eq(triad_sm_errors_count(&errors), 0);
	ck_assert_uint_eq(take(PARTITIONS), TRIAD_SM_ERROR_PARTITIONS);
}
END_TEST

START_TEST(test_errors_of_the_start_last_until_the_next)
{
	take(HEAD
		"0x01 -> osm_opensm_init: cannot find or setup routing engine 'ftre'");
	ck_assert(triad_sm_errors_has(&errors, TRIAD_SM_ERROR_ENGINE));
	for (unsigned i = 0; i < 3; i++)
		triad_sm_errors_up(&errors);
	ck_assert(triad_sm_errors_has(&errors, TRIAD_SM_ERROR_ENGINE));
	assert_mentions(text_of(TRIAD_SM_ERROR_ENGINE), "ftre");
	take(PARTITIONS);
	take(HEAD "0x03 -> OpenSM 3.3.23");
	ck_assert_uint_eq(triad_sm_errors_count(&errors), 0);
}
END_TEST

START_TEST(test_errors_each_message_is_of_its_kind)
{
	static const struct {
		const char *message;
		enum triad_sm_error kind;
	} cases[] = {
		{"report_duplicated_guid: ERR 0D01: Found duplicated node GUID.",
			TRIAD_SM_ERROR_DUPLICATE_GUID},
		{"osm_ucast_mgr_process: No routing engine able to successfully configure  "
		 "switch tables on current fabric",
			TRIAD_SM_ERROR_NO_ROUTES},
		{"setup_routing_engines: Failed to setup routing engine 'file'",
			TRIAD_SM_ERROR_ENGINE},
		{"updn_init: cannot parse root guids file '/x'",
			TRIAD_SM_ERROR_ROUTING_FILE},
		{"fabric_create: ERR AB23: Problem parsing CN guid file",
			TRIAD_SM_ERROR_ROUTING_FILE},
		{"osm_qos_parse_policy_file: ERR AC03: Failed parsing QoS policy file (/x)",
			TRIAD_SM_ERROR_QOS_POLICY},
		/* Labs and many hosts have none. */
		{"osm_qos_parse_policy_file: ERR AC01: Failed opening QoS policy file /x - "
		 "No such file or directory",
			TRIAD_SM_N_ERRORS},
		{"load_plugins: ERR 1000: cannot load plugin 'other'",
			TRIAD_SM_ERROR_PLUGIN},
		{"osm_prefix_route_parse: fopen(/x) failed: No such file or directory",
			TRIAD_SM_ERROR_FILE},
		{"sm_mad_ctrl_send_err_cb: ERR 3113: MAD completed in error (IB_TIMEOUT)",
			TRIAD_SM_N_ERRORS},
	};
	char line[300];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up();
		snprintf(line, sizeof(line), HEAD "0x01 -> %s", cases[i].message);
		ck_assert_uint_eq(take(line), cases[i].kind);
		ck_assert_uint_eq(
			errors.n_others_now, cases[i].kind == TRIAD_SM_N_ERRORS);
		/* What is no error, though it has the words. */
		set_up();
		snprintf(line, sizeof(line), HEAD "0x02 -> %s", cases[i].message);
		ck_assert_uint_eq(take(line), TRIAD_SM_N_ERRORS);
		snprintf(line, sizeof(line), HEAD "0x01 -> triad: error: %s",
			cases[i].message);
		ck_assert_uint_eq(take(line), TRIAD_SM_N_ERRORS);
		ck_assert_uint_eq(errors.n_others_now, 0);
	}
}
END_TEST

START_TEST(test_errors_others_are_counted_by_sweep)
{
	take(HEAD "0x01 -> a: ERR 1111: b");
	take(HEAD "0x81 -> a: ERR 1112: b");
	triad_sm_errors_up(&errors);
	ck_assert_uint_eq(errors.n_others, 2);
	triad_sm_errors_up(&errors);
	ck_assert_uint_eq(errors.n_others, 0);
}
END_TEST

START_TEST(test_errors_partitions_have_their_reason)
{
	take(HEAD
		"0x01 -> osm_prtn_config_parse_file: PARSE ERROR: line 3: bad PortGUID");
	take(PARTITIONS);
	assert_mentions(
		text_of(TRIAD_SM_ERROR_PARTITIONS), "in error line 3: bad PortGUID");
}
END_TEST

START_TEST(test_errors_text_goes_on_in_the_next_lines)
{
	struct triad_sm_duplicate duplicate;

	take(HEAD
		"0x81 -> report_duplicated_guid: ERR 0D01: Found duplicated node GUID.");
	take("Node 0x100010 port 1 is reachable from remote node 0x200000 port 2 and remote "
	     "node 0x200010 port 7.");
	take("Paths are:");
	take(HEAD "0x01 -> Directed Path Dump of 2 hop path: Path = 0,1,2");
	take("not of it");
	ck_assert(triad_sm_errors_duplicate(
		text_of(TRIAD_SM_ERROR_DUPLICATE_GUID), &duplicate));
	ck_assert_uint_eq(duplicate.guid, 0x100010);
	ck_assert_uint_eq(duplicate.at[0], 0x200000);
	ck_assert_uint_eq(duplicate.ports[0], 2);
	ck_assert_uint_eq(duplicate.at[1], 0x200010);
	ck_assert_uint_eq(duplicate.ports[1], 7);
	ck_assert_ptr_null(strstr(text_of(TRIAD_SM_ERROR_DUPLICATE_GUID), "not of it"));
	/* The next of the same sweep does not hide the first. */
	take(HEAD
		"0x81 -> report_duplicated_guid: ERR 0D01: Found duplicated node GUID.");
	take("Node 0x5 port 1 is reachable from remote node 0x6 port 2 and remote node 0x7 "
	     "port 7.");
	ck_assert(triad_sm_errors_duplicate(
		text_of(TRIAD_SM_ERROR_DUPLICATE_GUID), &duplicate));
	ck_assert_uint_eq(duplicate.guid, 0x100010);
}
END_TEST

START_TEST(test_errors_text_is_bounded_and_can_be_shown)
{
	char line[2000];

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	take(HEAD "0x01 -> a: cannot open file '\033[31m': b");
	assert_mentions(text_of(TRIAD_SM_ERROR_FILE), "'?[31m'");
	take(line);
	take(line);
	ck_assert_uint_eq(
		strlen(text_of(TRIAD_SM_ERROR_FILE)), TRIAD_SM_ERROR_TEXT_SIZE - 1);
	ck_assert(!triad_sm_errors_duplicate(
		"Node 0x1 port 2 is", &(struct triad_sm_duplicate){0}));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("SM errors");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_errors_last_until_a_sweep_without);
	tcase_add_test(cases, test_errors_of_the_start_last_until_the_next);
	tcase_add_test(cases, test_errors_each_message_is_of_its_kind);
	tcase_add_test(cases, test_errors_others_are_counted_by_sweep);
	tcase_add_test(cases, test_errors_partitions_have_their_reason);
	tcase_add_test(cases, test_errors_text_goes_on_in_the_next_lines);
	tcase_add_test(cases, test_errors_text_is_bounded_and_can_be_shown);
	return run_cases(cases);
}
