/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The origin of values, and access to keys by name. */
#include <errno.h>
#include <stdio.h>

#include "tests/unit/mentions.h"
#include "tests/unit/conf/conf_fixture.h"

static struct triad_conf_entry entry;

static void check(const char *name, const char *value, enum triad_conf_origin origin)
{
	char reason[256] = "";

	ck_assert_msg(triad_conf_get(conf, name, &entry, reason, sizeof(reason)), "%s",
		reason);
	ck_assert_str_eq(entry.name, name);
	ck_assert_str_eq(entry.value, value);
	ck_assert_msg(entry.origin == origin, "%s: %u", name, entry.origin);
}

START_TEST(test_origin_default_file_or_set)
{
	ck_assert_int_eq(parse("[perfmgr]\nwindow = 7\nsweep_period = 60\n"
			       "[alerts ca]\nVL15Dropped = 1/s\n"
			       "[group b]\nports = 1\n[group a]\nskip = yes\n"),
		0);
	check("perfmgr.window", "7", TRIAD_CONF_FROM_FILE);
	check("perfmgr.sweep_period", "60", TRIAD_CONF_FROM_FILE); /* the default */
	check("perfmgr.retries", "2", TRIAD_CONF_FROM_DEFAULT);
	check("alerts.ca.VL15Dropped", "1/s", TRIAD_CONF_FROM_FILE);
	check("alerts.switch.VL15Dropped", "inherit", TRIAD_CONF_FROM_DEFAULT);
	check("group.a.skip", "true", TRIAD_CONF_FROM_FILE);
	check("group.b.skip", "false", TRIAD_CONF_FROM_DEFAULT);
	ck_assert_int_eq(set("perfmgr.window", "7"), 0);
	ck_assert_int_eq(set("group.b.skip", "on"), 0);
	check("perfmgr.window", "7", TRIAD_CONF_FROM_SET);
	check("group.b.skip", "true", TRIAD_CONF_FROM_SET);
	check("group.a.skip", "true", TRIAD_CONF_FROM_FILE);
	/* A refused value doesn't change the origin. */
	ck_assert_int_eq(set("perfmgr.retries", "x"), EINVAL);
	check("perfmgr.retries", "2", TRIAD_CONF_FROM_DEFAULT);
}
END_TEST

START_TEST(test_origin_of_port_sections)
{
	ck_assert_int_eq(parse("[port " GUID_TEXT "]\nperfmgr.window = 7\n"
			       "[port 0x77]\nperfmgr.retries = 3\n"),
		0);
	check("perfmgr.window", "7", TRIAD_CONF_FROM_FILE);
	check("perfmgr.retries", "2", TRIAD_CONF_FROM_DEFAULT);
}
END_TEST

/* A value that needs a restart keeps its former value and origin until then. */
START_TEST(test_origin_kept_with_what_needs_a_restart)
{
	struct triad_conf *in_force = triad_conf_new(GUID);

	ck_assert_int_eq(parse("[console]\nenabled = true\n[log]\nlevel = debug\n"), 0);
	triad_conf_keep_start_only(conf, in_force, "OpenSM", &diags);
	check("console.enabled", "false", TRIAD_CONF_FROM_DEFAULT);
	check("log.level", "debug", TRIAD_CONF_FROM_FILE);
	triad_conf_unref(in_force);
}
END_TEST

START_TEST(test_get_unknown_key_refused)
{
	char reason[256] = "";

	ck_assert(
		!triad_conf_get(conf, "perfmgr.windw", &entry, reason, sizeof(reason)));
	ck_assert_ptr_nonnull(strstr(reason, "did you mean 'perfmgr.window'?"));
	ck_assert(!triad_conf_get(conf, "group.a.skip", &entry, NULL, 0));
}
END_TEST

START_TEST(test_alike_looks_behind_masks_and_at_groups_by_name)
{
	static const char other[] = "[collect]\nservers = nats://a:two@h:1\n"
				    "[group a]\nports = 2\n";

	ck_assert_int_eq(parse("[collect]\nservers = nats://a:one@h:1\n"
			       "[group b]\nports = 1\n[group a]\nports = 2\n"),
		0);
	ck_assert_int_eq(
		triad_conf_parse(other, strlen(other), GUID, defaults, &diags), 0);
	check("collect.servers", "nats://***@h:1", TRIAD_CONF_FROM_FILE);
	ck_assert(!triad_conf_is_alike(conf, defaults, "collect.servers"));
	ck_assert(triad_conf_is_alike(conf, defaults, "group.a.ports"));
	ck_assert(!triad_conf_is_alike(conf, defaults, "group.b.ports"));
	ck_assert(triad_conf_is_alike(conf, defaults, "perfmgr.window"));
}
END_TEST

START_TEST(test_units_behind_numbers)
{
	ck_assert_int_eq(parse("[perfmgr]\nsweep_period = 5m\ntimeout = 2 s\n"
			       "detail_share = 40 %\n"
			       "[alerts]\nclear_after = 180 s\n"
			       "[profile]\nmax_size = 7 MB\n"),
		0);
	check("perfmgr.sweep_period", "300", TRIAD_CONF_FROM_FILE);
	check("perfmgr.timeout", "2000", TRIAD_CONF_FROM_FILE);
	check("perfmgr.detail_share", "40", TRIAD_CONF_FROM_FILE);
	check("profile.max_size", "7", TRIAD_CONF_FROM_FILE);
	ck_assert_int_eq(set("perfmgr.sweep_period", "500ms"), EINVAL);
	assert_mentions(diags.entries[0].text,
		"perfmgr.sweep_period '500ms' whole s 1 65535 s");
	ck_assert_int_eq(set("perfmgr.window", "5 s"), EINVAL);
	ck_assert_int_eq(set("profile.max_size", "7 s"), EINVAL);
	ck_assert_int_eq(set("perfmgr.sweep_period", "19h"), EINVAL);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("conf_origin");

	tcase_add_checked_fixture(cases, begin, NULL);
	tcase_add_test(cases, test_origin_default_file_or_set);
	tcase_add_test(cases, test_origin_of_port_sections);
	tcase_add_test(cases, test_origin_kept_with_what_needs_a_restart);
	tcase_add_test(cases, test_get_unknown_key_refused);
	tcase_add_test(cases, test_alike_looks_behind_masks_and_at_groups_by_name);
	tcase_add_test(cases, test_units_behind_numbers);
	return run_cases(cases);
}
