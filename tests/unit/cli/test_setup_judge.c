/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/setup_judge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/mentions.h"

static struct triad_setup_checks checks;
static char path[PATH_MAX], message[1024];

/* --- output of programs --- */

START_TEST(test_help_names_the_default_file)
{
	ck_assert(triad_setup_read_help(
		"OpenSM 3.3.23\n--version\n\n--config, -F <file-name>\n"
		"  The name of the OpenSM config file. When not specified\n"
		"          /etc/rdma/opensm.conf will be used (if exists).\n",
		path));
	ck_assert_str_eq(path, "/etc/rdma/opensm.conf");
	ck_assert(!triad_setup_read_help("usage: something else", path));
	ck_assert(!triad_setup_read_help("--config FILE", path));
}
END_TEST

START_TEST(test_version_is_a_line_of_its_own)
{
	char version[TRIAD_PLUGIN_VERSION_SIZE];

	ck_assert(triad_setup_read_version("-----\nOpenSM 3.3.24\n---\n", version));
	ck_assert_str_eq(version, "OpenSM 3.3.24");
	ck_assert(!triad_setup_read_version("is no OpenSM 3\n", version));
}
END_TEST

START_TEST(test_trace_has_path_and_missing_libraries)
{
	struct triad_setup_trace trace;

	triad_setup_read_trace("\tlinux-vdso.so.1 (0x00007ffc)\n"
			       "\tlibosmtriad.so => /usr/lib/libosmtriad.so (0x0000)\n"
			       "\tlibc.so.6 => /lib/libc.so.6 (0x0000)\n",
		"libosmtriad.so", &trace);
	ck_assert_str_eq(trace.path, "/usr/lib/libosmtriad.so");
	ck_assert_str_eq(trace.missing, "");
	triad_setup_read_trace("\tlibosmtriad.so => /l/libosmtriad.so (0x0000)\n"
			       "\tlibnats.so.3 => not found\n"
			       "undefined symbol: osm_new\t(/l/libosmtriad.so)\n",
		"libosmtriad.so", &trace);
	ck_assert_str_eq(trace.missing, "libnats.so.3, undefined symbol: osm_new");
	triad_setup_read_trace("ERROR: ld.so: object 'libosmtriad.so' from LD_PRELOAD "
			       "cannot be preloaded: ignored.\n"
			       "\tlibosmtriad.so.2 => /usr/lib/libosmtriad.so.2 (0x0)",
		"libosmtriad.so", &trace);
	ck_assert_str_eq(trace.path, "");
}
END_TEST

/* --- running opensm processes --- */

static void read_words(struct triad_setup_sm *sm, const char *words, size_t size)
{
	*sm = (struct triad_setup_sm){0};
	triad_setup_read_words(words, size, sm);
}

#define READ_WORDS(sm, words) read_words(sm, words, sizeof(words))

START_TEST(test_words_of_a_command_line_name_its_files)
{
	struct triad_setup_sm sm;

	READ_WORDS(&sm, "opensm\0--guid\0-F\0--log_file\0/var/log/a.log");
	ck_assert_str_eq(sm.log, "/var/log/a.log");
	READ_WORDS(&sm, "opensm\0-F\0/a.conf\0-f/b.log");
	ck_assert_str_eq(sm.conf, "/a.conf");
	ck_assert_str_eq(sm.log, "/b.log");
	READ_WORDS(&sm, "opensm\0--config=/c.conf\0-B");
	ck_assert_str_eq(sm.conf, "/c.conf");
	READ_WORDS(&sm, "opensm\0-F");
	ck_assert_str_eq(sm.conf, "");
	/* A command line that was cut off lacks its last 0. */
	read_words(&sm, "opensm\0-F\0/a", 12);
	ck_assert_str_eq(sm.conf, "");
}
END_TEST

static const char *ambiguity = "";

static bool choose(const char *requested, unsigned n, const char *default_path)
{
	static const struct triad_setup_sm sms[] = {
		{.pid = 7, .conf = "/a"},
		{.pid = 8, .conf = "/a"},
		{.pid = 9, .conf = "/b"},
	};

	message[0] = '\0';
	return triad_setup_choose(requested, sms, n, default_path, ambiguity, path,
		message, sizeof(message));
}

START_TEST(test_starter_names_a_configuration)
{
	ck_assert(triad_setup_names_conf("[Service]\nExecStart=/sbin/opensm -F /a\n"));
	ck_assert(triad_setup_names_conf("OPTIONS=\"--config /a.conf\""));
	ck_assert(triad_setup_names_conf("OPTIONS='-F/a.conf'\n"));
	ck_assert(triad_setup_names_conf("exec opensm --config=/a"));
	ck_assert(!triad_setup_names_conf("# OPTIONS=-F /a\n\nPORTS=ALL\n"));
	ck_assert(!triad_setup_names_conf("ExecStart=opensm --guid %I -f /a.log -FOO"));
	ck_assert(!triad_setup_names_conf("A=--configure\n -x"));
}
END_TEST

START_TEST(test_choice_of_the_file)
{
	ck_assert(choose(NULL, 0, "/default"));
	ck_assert_str_eq(path, "/default");
	ck_assert(choose(NULL, 2, "/default"));
	ck_assert_str_eq(path, "/a");
	ck_assert(choose("/requested", 3, "/default"));
	ck_assert_str_eq(path, "/requested");
	ck_assert(!choose(NULL, 3, "/default"));
	ck_assert_ptr_nonnull(strstr(message, "--conf"));
	ck_assert_ptr_nonnull(strstr(message, "/a (process 7)"));
	ck_assert_ptr_nonnull(strstr(message, "/b (process 9)"));
	ambiguity = "there are two";
	ck_assert(choose("/requested", 0, "/default"));
	ck_assert(choose(NULL, 2, "/default"));
	ck_assert(!choose(NULL, 0, "/default"));
	ck_assert_ptr_nonnull(strstr(message, "there are two"));
	ambiguity = "";
	ck_assert(!choose(NULL, 0, ""));
	ck_assert_ptr_nonnull(strstr(message, "--conf"));
}
END_TEST

/* --- the plugin --- */

static struct triad_setup_plugin make_plugin(void)
{
	return (struct triad_setup_plugin){
		.opensm = "/usr/sbin/opensm",
		.opensm_version = "OpenSM 3.3.23",
		.trace = {.path = "/usr/lib/libosmtriad.so"},
		.version = "OpenSM 3.3.23",
	};
}

static const struct triad_setup_check *judge(const struct triad_setup_plugin *plugin)
{
	checks = (struct triad_setup_checks){0};
	triad_setup_judge_plugin(plugin, &checks);
	return &checks.checks[checks.n - 1];
}

static void check_problem(const struct triad_setup_plugin *plugin, const char *words)
{
	const struct triad_setup_check *check = judge(plugin);

	ck_assert_uint_eq(checks.n_problems, 1);
	for (unsigned i = 0; i < checks.n; i++)
		if (checks.checks[i].state == TRIAD_SETUP_PROBLEM)
			check = &checks.checks[i];
	assert_mentions(check->text, words);
	ck_assert(*check->advice);
}

START_TEST(test_plugin_that_fits_is_well)
{
	struct triad_setup_plugin plugin = make_plugin();

	judge(&plugin);
	ck_assert_uint_eq(checks.n_problems, 0);
	ck_assert_uint_eq(checks.n, 3);
	for (unsigned i = 0; i < checks.n; i++)
		ck_assert_int_eq(checks.checks[i].state, TRIAD_SETUP_OK);
	plugin.library_path = "/home/me/lib";
	judge(&plugin);
	ck_assert_int_eq(checks.checks[1].state, TRIAD_SETUP_WARNING);
	ck_assert_uint_eq(checks.n_problems, 0);
}
END_TEST

START_TEST(test_plugin_that_opensm_would_refuse_is_a_problem)
{
	struct triad_setup_plugin plugin = make_plugin();

	plugin.opensm = "";
	check_problem(&plugin, "not installed");
	plugin = make_plugin();
	plugin.opensm_version[0] = '\0';
	check_problem(&plugin, "version");
	plugin = make_plugin();
	plugin.trace.path[0] = '\0';
	check_problem(&plugin, "linker");
	plugin = make_plugin();
	strcpy(plugin.trace.missing, "libnats.so.3");
	check_problem(&plugin, "libnats.so.3");
	plugin = make_plugin();
	strcpy(plugin.version, "OpenSM 3.3.22");
	check_problem(&plugin, "OpenSM 3.3.22 /usr/sbin/opensm OpenSM 3.3.23");
	plugin = make_plugin();
	plugin.error = ENOENT;
	check_problem(&plugin, "plugin OpenSM");
}
END_TEST

START_TEST(test_checks_beyond_the_maximum_are_counted)
{
	checks = (struct triad_setup_checks){0};
	for (unsigned i = 0; i < TRIAD_SETUP_MAX_CHECKS + 3; i++)
		triad_setup_check(&checks, TRIAD_SETUP_PROBLEM, "x", "%u\n", i);
	ck_assert_uint_eq(checks.n, TRIAD_SETUP_MAX_CHECKS);
	ck_assert_uint_eq(checks.n_problems, TRIAD_SETUP_MAX_CHECKS + 3);
	ck_assert_str_eq(checks.checks[checks.n - 1].text, "18?");
}
END_TEST

/* --- OpenSM's log --- */

START_TEST(test_lines_of_the_log_with_the_reason)
{
	const char *advice = NULL;
	bool is_final = false;

	ck_assert(triad_setup_judge_line(
		"Jan 02 [A] 0x01 -> load_plugins: ERR 1000: cannot load plugin "
		"'osmtriad'",
		&advice, &is_final));
	ck_assert(is_final);
	ck_assert(!triad_setup_judge_line(
		"ERR 1000: cannot load plugin 'other'", &advice, &is_final));
	ck_assert(triad_setup_judge_line(
		"Error loading plugin 'osmtriad': OpenSM version mismatch - plugin was "
		"built against OpenSM 1 version",
		&advice, &is_final));
	ck_assert(!is_final);
	ck_assert_ptr_nonnull(strstr(advice, "build it against"));
	ck_assert(!triad_setup_judge_line("SUBNET UP", &advice, &is_final));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("setup_judge");

	tcase_add_test(cases, test_help_names_the_default_file);
	tcase_add_test(cases, test_version_is_a_line_of_its_own);
	tcase_add_test(cases, test_trace_has_path_and_missing_libraries);
	tcase_add_test(cases, test_words_of_a_command_line_name_its_files);
	tcase_add_test(cases, test_starter_names_a_configuration);
	tcase_add_test(cases, test_choice_of_the_file);
	tcase_add_test(cases, test_plugin_that_fits_is_well);
	tcase_add_test(cases, test_plugin_that_opensm_would_refuse_is_a_problem);
	tcase_add_test(cases, test_checks_beyond_the_maximum_are_counted);
	tcase_add_test(cases, test_lines_of_the_log_with_the_reason);
	return run_cases(cases);
}
