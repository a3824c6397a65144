/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/conf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "conf/conf_keys.h"
#include "conf/conf_value.h"
#include "tests/unit/mentions.h"
#include "tests/unit/conf/conf_fixture.h"
#include "triad/log.h"

static char *all_diags(void)
{
	static char text[TRIAD_DIAG_MAX * TRIAD_DIAG_TEXT_SIZE * 2];
	char line[TRIAD_DIAG_TEXT_SIZE * 2];

	text[0] = '\0';
	for (size_t i = 0; i < diags.n; i++) {
		triad_diags_format(&diags, i, line, sizeof(line));
		g_strlcat(text, line, sizeof(text));
		g_strlcat(text, "\n", sizeof(text));
	}
	return text;
}

#define ASSERT_DIAGS(words) assert_mentions(all_diags(), words)

/* Checks that the parser reports one mistake, whose text contains all these words. */
#define ASSERT_ONE_DIAG(file, line_, ...)                                              \
	do {                                                                           \
		const char *const words_[] = {__VA_ARGS__};                            \
		begin();                                                               \
		ck_assert_int_eq(parse(file), EINVAL);                                 \
		ck_assert_msg(diags.n == 1, "%s gives %s", file, all_diags());         \
		ck_assert_uint_eq(diags.entries[0].line, line_);                       \
		for (size_t i_ = 0; i_ < sizeof(words_) / sizeof(words_[0]); i_++)     \
			ck_assert_msg(strstr(all_diags(), words_[i_]) != NULL,         \
				"'%s' isn't in '%s'", words_[i_], all_diags());        \
	} while (0)

static bool is_equal(const struct triad_conf *a, const struct triad_conf *b)
{
	struct triad_conf_entry in_a = {0}, in_b = {0};

	while (triad_conf_next(a, &in_a))
		if (!triad_conf_next(b, &in_b) || strcmp(in_a.name, in_b.name) ||
			strcmp(in_a.value, in_b.value))
			return false;
	return !triad_conf_next(b, &in_b);
}

/* --- the table --------------------------------------------------------- */

START_TEST(test_keys_rows_complete)
{
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	ck_assert_uint_ge(n, 12);
	for (i = 0; i < n; i++) {
		const struct triad_conf_key *key = &keys[i];

		ck_assert_ptr_nonnull(key->unit);
		ck_assert_ptr_nonnull(key->default_text);
		ck_assert(key->help[strlen(key->help) - 1] == '.');
		ck_assert((key->type == TRIAD_CONF_CHOICE) == !!key->choices);
		ck_assert((key->type == TRIAD_CONF_UINT) == !!key->max);
		ck_assert((key->type == TRIAD_CONF_TEXT) == !!key->check);
		ck_assert(key->type == TRIAD_CONF_PATH || !key->may_be_empty);
		ck_assert((key->type == TRIAD_CONF_THRESHOLD) ==
			(key->per == TRIAD_CONF_PER_SCOPE));
		ck_assert(key->at_run_time || key->per == TRIAD_CONF_ONCE);
	}
}
END_TEST

START_TEST(test_keys_found_by_full_name)
{
	struct triad_conf_key_ref ref;
	char name[TRIAD_CONF_NAME_SIZE], reason[TRIAD_DIAG_TEXT_SIZE];
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	ck_assert(!parse("[group all-of_24_octets-10-24]\n"));
	for (i = 0; i < n; i++) {
		triad_conf_key_ref_name(conf, (struct triad_conf_key_ref){&keys[i], 0},
			name, sizeof(name));
		ck_assert(triad_conf_key_ref_find(
			conf, NULL, name, &ref, reason, sizeof(reason)));
		ck_assert_ptr_eq(ref.key, &keys[i]);
		ck_assert_uint_eq(ref.element, 0);
	}
}
END_TEST

/* Row: M9, A5 */
START_TEST(test_init_defaults_as_documented)
{
	ck_assert(defaults->perfmgr.enabled);
	ck_assert_uint_eq(defaults->perfmgr.sweep_period_s, 60);
	ck_assert_uint_eq(defaults->perfmgr.window, 64);
	ck_assert_uint_eq(defaults->perfmgr.timeout_ms, 1000);
	ck_assert_uint_eq(defaults->perfmgr.retries, 2);
	ck_assert_uint_eq(defaults->log.level, TRIAD_LOG_INFO);
	ck_assert(defaults->log.syslog);
	ck_assert_str_eq(
		defaults->control.socket, TRIAD_RUNSTATEDIR "/" GUID_TEXT ".sock");
	ck_assert(!defaults->console.enabled);
	ck_assert_uint_eq(defaults->perfmgr.role, TRIAD_ROLE_MASTER);
	ck_assert_str_eq(defaults->perfmgr.histogram_counters,
		"PortXmitData; PortRcvData; PortXmitWait");
	ck_assert(defaults->alerts.enabled);
	ck_assert_uint_eq(defaults->alerts.raise_after_s, 0);
	ck_assert_uint_eq(defaults->alerts.clear_after_s, 180);
	ck_assert_uint_eq(defaults->alerts.unanswered_sweeps, 2);
	ck_assert(defaults->alerts.links);
	ck_assert_str_eq(defaults->alerts.file, "");
	ck_assert_str_eq(defaults->prometheus.listen, "");
	ck_assert_str_eq(defaults->prometheus.tls_certificate, "");
	ck_assert_str_eq(defaults->prometheus.tls_key, "");
	ck_assert_str_eq(defaults->prometheus.token_file, "");
	ck_assert_uint_eq(defaults->web.max_clients, 32);
	ck_assert_str_eq(defaults->sflow.collectors, "");
	ck_assert_uint_eq(defaults->sflow.interval_s, 30);
	ck_assert_str_eq(defaults->sflow.agent, "");
	ck_assert_str_eq(defaults->state.dir, TRIAD_STATEDIR);
	ck_assert_str_eq(defaults->profile.file, "");
	ck_assert_uint_eq(defaults->profile.counters, TRIAD_PROFILE_DATA);
	ck_assert_uint_eq(defaults->profile.max_size_mb, 1024);
	ck_assert_uint_eq(defaults->profile.keep, 10);
	ck_assert_uint_eq(defaults->n_groups, 0);
}
END_TEST

START_TEST(test_defaults_formatted_as_in_table)
{
	for (struct triad_conf_entry entry = {0}; triad_conf_next(defaults, &entry);)
		if (!strchr(entry.key->default_text, '%'))
			ck_assert_str_eq(entry.value, entry.key->default_text);
}
END_TEST

/* Row: A3, A5 */
START_TEST(test_keys_ranges_as_documented)
{
	static const struct {
		const char *name;
		uint64_t min, max;
	} ranges[] = {
		{"perfmgr.sweep_period", 1, 65535},
		{"perfmgr.window", 1, 4096},
		{"perfmgr.timeout", 10, 60000},
		{"perfmgr.retries", 0, 10},
		{"group.g.sweep_period", 0, 65535},
		{"alerts.raise_after", 0, 86400},
		{"alerts.clear_after", 0, 86400},
		{"alerts.unanswered", 0, 1000},
		{"web.max_clients", 1, 1000},
		{"sflow.interval", 1, 3600},
		{"profile.max_size", 1, 1048576},
		{"profile.keep", 1, 10000},
	};
	char value[32];

	ck_assert(!parse("[group g]\n"));
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		snprintf(value, sizeof(value), "%" PRIu64, ranges[i].min);
		ck_assert_int_eq(set(ranges[i].name, value), 0);
		snprintf(value, sizeof(value), "%" PRIu64, ranges[i].max);
		ck_assert_int_eq(set(ranges[i].name, value), 0);
		snprintf(value, sizeof(value), "%" PRIu64, ranges[i].max + 1);
		ck_assert_int_eq(set(ranges[i].name, value), EINVAL);
		snprintf(value, sizeof(value), "%" PRId64, (int64_t)ranges[i].min - 1);
		ck_assert_int_eq(set(ranges[i].name, value), EINVAL);
	}
}
END_TEST

/* --- values ------------------------------------------------------------ */

START_TEST(test_parse_empty_gives_defaults)
{
	ck_assert_int_eq(parse(""), 0);
	ck_assert(is_equal(conf, defaults));
	ck_assert_int_eq(parse("\n  \n# nothing = here\n\t#[either]\n[perfmgr]"), 0);
	ck_assert(is_equal(conf, defaults));
	ck_assert_uint_eq(diags.n_total, 0);
}
END_TEST

START_TEST(test_parse_every_key_stored)
{
	ck_assert_int_eq(parse("[perfmgr]\n"
			       "enabled = no\n"
			       "sweep_period=5\n"
			       "  window \t= 128  \n"
			       "timeout = 250\n"
			       "retries = 0\n"
			       "role = any\n"
			       "histogram_counters =\n"
			       "[log]\n"
			       "level = debug\n"
			       "syslog = off\n"
			       " [control] \n"
			       "socket = /tmp/100%%/t=%g\n"
			       "[console]\n"
			       "enabled = on\n"
			       "[alerts]\n"
			       "enabled = no\n"
			       "raise_after = 1\n"
			       "clear_after = 2\n"
			       "unanswered = 4\n"
			       "links = no\n"
			       "file = /a%g\n"
			       "[prometheus]\n"
			       "listen = [::1]:9315\n"
			       "tls_certificate = /c\n"
			       "tls_key = /k\n"
			       "tls_client_ca = /ca\n"
			       "token_file = /t\n"
			       "[web]\n"
			       "max_clients = 6\n"
			       "[sflow]\n"
			       "collectors = 10.0.0.1; [::1]:7\n"
			       "interval = 8\n"
			       "agent_address = ::1\n"
			       "[profile]\n"
			       "file = /p\n"
			       "counters = all\n"
			       "max_size = 9\n"
			       "keep = 11\n"),
		0);
	ck_assert(!conf->perfmgr.enabled);
	ck_assert_uint_eq(conf->perfmgr.sweep_period_s, 5);
	ck_assert_uint_eq(conf->perfmgr.window, 128);
	ck_assert_uint_eq(conf->perfmgr.timeout_ms, 250);
	ck_assert_uint_eq(conf->perfmgr.retries, 0);
	ck_assert_uint_eq(conf->log.level, TRIAD_LOG_DEBUG);
	ck_assert(!conf->log.syslog);
	ck_assert_str_eq(conf->control.socket, "/tmp/100%/t=" GUID_TEXT);
	ck_assert(conf->console.enabled);
	ck_assert_uint_eq(conf->perfmgr.role, TRIAD_ROLE_ANY);
	ck_assert_str_eq(conf->perfmgr.histogram_counters, "");
	ck_assert(!conf->alerts.enabled && !conf->alerts.links);
	ck_assert_uint_eq(conf->alerts.raise_after_s, 1);
	ck_assert_uint_eq(conf->alerts.clear_after_s, 2);
	ck_assert_uint_eq(conf->alerts.unanswered_sweeps, 4);
	ck_assert_str_eq(conf->alerts.file, "/a" GUID_TEXT);
	ck_assert_str_eq(conf->prometheus.listen, "[::1]:9315");
	ck_assert_str_eq(conf->prometheus.tls_certificate, "/c");
	ck_assert_str_eq(conf->prometheus.tls_key, "/k");
	ck_assert_str_eq(conf->prometheus.tls_client_ca, "/ca");
	ck_assert_str_eq(conf->prometheus.token_file, "/t");
	ck_assert_uint_eq(conf->web.max_clients, 6);
	ck_assert_str_eq(conf->sflow.collectors, "10.0.0.1; [::1]:7");
	ck_assert_uint_eq(conf->sflow.interval_s, 8);
	ck_assert_str_eq(conf->sflow.agent, "::1");
	ck_assert_str_eq(conf->profile.file, "/p");
	ck_assert_uint_eq(conf->profile.counters, TRIAD_PROFILE_ALL);
	ck_assert_uint_eq(conf->profile.max_size_mb, 9);
	ck_assert_uint_eq(conf->profile.keep, 11);
}
END_TEST

START_TEST(test_parse_booleans_all_spellings)
{
	static const char *const yes[] = {"true", "yes", "on", "1", "True", "YES"};
	static const char *const no[] = {"false", "no", "off", "0", "FALSE", "Off"};
	static const char *const invalid[] = {"", "maybe", "2", "tru", "true false"};

	renew(&conf);
	for (size_t i = 0; i < 6; i++) {
		ck_assert_int_eq(set("perfmgr.enabled", no[i]), 0);
		ck_assert(!conf->perfmgr.enabled);
		ck_assert_int_eq(set("perfmgr.enabled", yes[i]), 0);
		ck_assert(conf->perfmgr.enabled);
	}
	for (size_t i = 0; i < 5; i++)
		ck_assert_int_eq(set("perfmgr.enabled", invalid[i]), EINVAL);
}
END_TEST

START_TEST(test_parse_numbers_strictly_decimal)
{
	static const char *const invalid[] = {"", "-1", "+60", "0x3c", "6 0", "60x",
		"60 MB", "6.0", "99999999999999999999", "18446744073709551617"};

	renew(&conf);
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		ck_assert_int_eq(set("perfmgr.sweep_period", invalid[i]), EINVAL);
	ck_assert(is_equal(conf, defaults));
	ck_assert_int_eq(set("perfmgr.sweep_period", "007"), 0);
	ck_assert_uint_eq(conf->perfmgr.sweep_period_s, 7);
}
END_TEST

START_TEST(test_parse_line_ends_of_other_systems_taken)
{
	ck_assert_int_eq(parse("[perfmgr]\r\nwindow = 5\r\n\r\n# end\r\n"), 0);
	ck_assert_uint_eq(conf->perfmgr.window, 5);
}
END_TEST

START_TEST(test_parse_value_with_hash_and_equals_taken_whole)
{
	ck_assert_int_eq(parse("[control]\nsocket = /run/a#b=c d\n"), 0);
	ck_assert_str_eq(conf->control.socket, "/run/a#b=c d");
}
END_TEST

/* --- mistakes ---------------------------------------------------------- */

START_TEST(test_parse_syntax_mistakes_located)
{
	ASSERT_ONE_DIAG("\n[perfmgr]\nwindow 5\n", 3, "'window 5'", "key = value");
	ASSERT_ONE_DIAG("[perfmgr]\n= 5\n", 2, "'= 5'");
	ASSERT_ONE_DIAG("[perfmgr\nwindow = x\n", 1, "']'");
	ASSERT_ONE_DIAG("[perfmgr] x\nwindow = x\n", 1, "']'");
	ASSERT_ONE_DIAG("[perfmgr]x\n", 1, "']'");
	ASSERT_ONE_DIAG("window = 5\n[perfmgr]\n", 1, "'window'", "[perfmgr]");
}
END_TEST

START_TEST(test_parse_unknown_names_guessed)
{
	ASSERT_ONE_DIAG(
		"[perfmgr]\nwindw = 5\n", 2, "'windw'", "did you mean 'window'?");
	ASSERT_ONE_DIAG("[perfmgr]\nperfmgr.window = 5\n", 2, "did you mean 'window'?");
	ASSERT_ONE_DIAG("[log]\nwindow = 5\n", 2, "in [log]", "'window' in [perfmgr]");
	ASSERT_ONE_DIAG("[perfmgr]\nlogsyslog = 1\n", 2, "'syslog' in [log]");
	ASSERT_ONE_DIAG("[log]\nzzz = 5\n", 2, "'zzz'", "known are level, syslog");
	ASSERT_ONE_DIAG("[perfmg]\nx = 5\n", 1, "did you mean [perfmgr]?");
	ASSERT_ONE_DIAG("[]\nx = 5\n", 1, "unknown section []; known are ",
		"[perfmgr], [state], [routes], [congestion], [collect], [log], [control], "
		"[sm], [shield], [repair], [damp], [heal], [audit], [console], [group NAME], [devices], [alerts], [alerts NAME], [prometheus], "
		"[web], [sflow], [qos], [election], [port], [profile], [history], [port 0x...]");
	ASSERT_ONE_DIAG("[ports 0x1]\n", 1, "unknown section [ports 0x1]");
}
END_TEST

START_TEST(test_parse_repeated_names_refused)
{
	ASSERT_ONE_DIAG("[log]\nsyslog = 1\n\nsyslog = 0\n", 4, "log.syslog", "line 2");
	ck_assert(conf->log.syslog);
	ASSERT_ONE_DIAG("[log]\n[control]\n[log]\n", 3, "line 1", "together");
	ASSERT_ONE_DIAG("[port 0x1]\n[port 0x2]\n[port 0x01]\n", 3, "line 1");
}
END_TEST

START_TEST(test_parse_bad_values_report_what_is_allowed)
{
	ASSERT_ONE_DIAG("[perfmgr]\nenabled = maybe\n", 2, "perfmgr.enabled", "'maybe'",
		"true or false");
	ASSERT_ONE_DIAG("[perfmgr]\nwindow = many\n", 2, "perfmgr.window", "'many'",
		"1 to 4096");
	ASSERT_ONE_DIAG("[perfmgr]\nsweep_period = 65536\n", 2, "65536", "out of range",
		"1 to 65535 s");
	ASSERT_ONE_DIAG(
		"[perfmgr]\ntimeout = 9\n", 2, "out of range", "10 to 60000 ms");
	ASSERT_ONE_DIAG("[log]\nlevel = loud\n", 2, "'loud'",
		"error, warning, info, verbose, debug");
	ASSERT_ONE_DIAG("[log]\nlevel =\n", 2, "''", "error, warning");
	ASSERT_ONE_DIAG("[perfmgr]\nwindow = 5 # five\n", 2, "'5 # five'", "line");
}
END_TEST

START_TEST(test_parse_bad_paths_refused)
{
	ASSERT_ONE_DIAG("[control]\nsocket = run/x\n", 2, "'run/x'", "absolute");
	ASSERT_ONE_DIAG("[control]\nsocket =\n", 2, "absolute");
	ASSERT_ONE_DIAG("[control]\nsocket = /run/\n", 2, "folder");
	ASSERT_ONE_DIAG("[control]\nsocket = /run/%h\n", 2, "'/run/%h'", "%g");
	ASSERT_ONE_DIAG("[control]\nsocket = /run/x%\n", 2, "%g", "%%");
}
END_TEST

/* A path of 'n' octets, of which "%g" stands for 18. */
static const char *socket_of_length(int n)
{
	static char text[512];

	snprintf(text, sizeof(text), "[control]\nsocket = /%0*d%%g\n", n - 19, 0);
	return text;
}

START_TEST(test_parse_path_as_long_as_a_socket_may_be_taken)
{
	ck_assert_int_eq(parse(socket_of_length(107)), 0);
	ck_assert_uint_eq(strlen(conf->control.socket), 107);
}
END_TEST

START_TEST(test_parse_path_too_long_refused)
{
	ASSERT_ONE_DIAG(socket_of_length(108), 2, "has 108 octets", "at most 107");
	ASSERT_ONE_DIAG(socket_of_length(200), 2, "has 200 octets", "at most 107");
	ck_assert_str_eq(conf->control.socket, defaults->control.socket);
}
END_TEST

START_TEST(test_parse_value_too_long_refused)
{
	char text[400];

	snprintf(text, sizeof(text), "[perfmgr]\nwindow = %0256d\n", 7);
	ASSERT_ONE_DIAG(text, 2, "perfmgr.window", "256 octets", "255");
	snprintf(text, sizeof(text), "[perfmgr]\nwindow = %0255d\n", 7);
	begin();
	ck_assert_int_eq(parse(text), 0);
	ck_assert_uint_eq(conf->perfmgr.window, 7);
}
END_TEST

/* Files of former releases stay in force. */
START_TEST(test_parse_keys_that_are_gone_are_accepted_and_named)
{
	begin();
	ck_assert_int_eq(parse("[collect]\npaths = true\nmin_change = 7\n"
			       "[port 0x8000f10400411a08]\ncollect.paths_file = /x\n"),
		0);
	ck_assert_str_eq(conf->gone, "collect.paths, collect.paths_file");
	ck_assert_uint_eq(conf->collect.min_change_kb, 7);
	ASSERT_ONE_DIAG("[perfmgr]\npaths = true\n", 2, "unknown key 'paths'");
}
END_TEST

START_TEST(test_parse_all_keys_that_are_gone_accepted)
{
	GString *text = g_string_new("[port 0x8000f10400411a08]\n");
	const char *name, *last = "";
	char reason[TRIAD_DIAG_TEXT_SIZE];
	struct triad_conf_key_ref ref;
	size_t n = 0;

	begin();
	while ((name = triad_conf_key_gone(n++))) {
		ck_assert_str_lt(last, name);
		ck_assert(!triad_conf_key_ref_find(
			conf, NULL, name, &ref, reason, sizeof(reason)));
		g_string_append_printf(text, "%s = 1\n", name);
		last = name;
	}
	ck_assert_int_eq(parse(text->str), 0);
	ck_assert_uint_eq(diags.n_total, 0);
	ck_assert(g_str_has_prefix(conf->gone, triad_conf_key_gone(0)));
	/* The names that find room are whole. */
	ck_assert(g_str_has_suffix(conf->gone, ", ..."));
	*strrchr(conf->gone, ',') = '\0';
	ck_assert(triad_conf_key_find_gone(NULL, strrchr(conf->gone, ' ') + 1));
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_parse_long_names_cut_in_message)
{
	char text[2000] = "[perfmgr]\n";

	memset(text + strlen(text), 'x', 1000);
	strcat(text, " = 1\n");
	ASSERT_ONE_DIAG(text, 2, "unknown key 'xxxx", "xxxx...'");
	memset(text, 'x', 1000);
	text[0] = '[';
	text[1000] = ']';
	text[1001] = '\0';
	ASSERT_ONE_DIAG(text, 1, "unknown section [xxxx", "xxxx...]");
}
END_TEST

START_TEST(test_parse_not_text_located)
{
	static const char with_nul[] = "[log]\n# a\0b\n";

	ck_assert_int_eq(
		triad_conf_parse(with_nul, sizeof(with_nul) - 1, GUID, conf, &diags),
		EINVAL);
	ASSERT_DIAGS("triad.conf:2:4: 0x00 UTF-8\n");
	ASSERT_ONE_DIAG("[log]\n# caf\xe9\n", 2, "0xe9");
	ck_assert_uint_eq(diags.entries[0].column, 6);
	ASSERT_ONE_DIAG("[log]\nlevel = info\x1b\n", 2, "0x1b");
	ASSERT_ONE_DIAG("[log]\nlevel = info\r\r\n", 2, "0x0d");
}
END_TEST

START_TEST(test_parse_all_mistakes_at_once_right_keys_kept)
{
	ck_assert_int_eq(parse("stray = 1\n"
			       "[perfmgr]\n"
			       "window = 0\n"
			       "retries = 7\n"
			       "nonsense\n"
			       "[lgo]\n"
			       "level = whatever\n"
			       "[control]\n"
			       "admin_group = 5\n"
			       "socket = x\n"),
		EINVAL);
	ASSERT_DIAGS("triad.conf:1: 'stray' section [perfmgr]\n"
		     "triad.conf:3: perfmgr.window 0 range 1 4096\n"
		     "triad.conf:5: 'nonsense'\n"
		     "triad.conf:6: unknown [lgo] [log]\n"
		     "triad.conf:10: control.socket 'x' '/'\n");
	ck_assert_uint_eq(conf->perfmgr.retries, 7);
	ck_assert_str_eq(conf->control.admin_group, "5");
	ck_assert_uint_eq(conf->perfmgr.window, 64);
	ck_assert_str_eq(conf->control.socket, defaults->control.socket);
}
END_TEST

START_TEST(test_parse_mistakes_beyond_room_counted)
{
	GString *text = g_string_new("[perfmgr]\n");

	for (int i = 0; i < 1000; i++)
		g_string_append(text, "wrong\n");
	ck_assert_int_eq(parse(text->str), EINVAL);
	ck_assert_uint_eq(diags.n_total, 1000);
	ck_assert_uint_eq(diags.n, TRIAD_DIAG_MAX);
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_webhook_is_a_url_without_password)
{
	static const char *const wrong[] = {"host:9093", "ftp://host/alerts", "http://",
		"https:///alerts", "http://host/a#b", "HTTP//host"};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[128];

		snprintf(text, sizeof(text), "[alerts]\nwebhook = %s\n", wrong[i]);
		ASSERT_ONE_DIAG(text, 2, "webhook", "http://host:9093/api/v2/alerts");
	}
	ASSERT_ONE_DIAG("[alerts]\nwebhook = https://me:secret@host/alerts\n", 2,
		"no user and password", "webhook_token_file");
	begin();
	ck_assert_int_eq(
		parse("[alerts]\nwebhook = https://[::1]:9093/a?user=me@x\n"), 0);
	ck_assert_str_eq(conf->alerts.webhook, "https://[::1]:9093/a?user=me@x");
}
END_TEST

START_TEST(test_parse_many_sections_bounded)
{
	GString *text = g_string_new(NULL);

	for (int i = 1; i <= 300; i++)
		g_string_append_printf(text, "[port 0x%x]\nlog.level = info\n", i);
	ck_assert_int_eq(parse(text->str), EINVAL);
	ck_assert_uint_eq(diags.n_total, 45);
	ck_assert_ptr_nonnull(strstr(diags.entries[0].text, "more than 255 sections"));
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_parse_size_limit)
{
	char *text = malloc(TRIAD_CONF_FILE_MAX_SIZE + 1);

	ck_assert_ptr_nonnull(text);
	memset(text, '\n', TRIAD_CONF_FILE_MAX_SIZE + 1);
	memcpy(text, "[log]\nlevel=debug\n", 18);
	ck_assert_int_eq(
		triad_conf_parse(text, TRIAD_CONF_FILE_MAX_SIZE, GUID, conf, &diags),
		0);
	ck_assert_uint_eq(conf->log.level, TRIAD_LOG_DEBUG);
	renew(&conf);
	ck_assert_int_eq(triad_conf_parse(text, TRIAD_CONF_FILE_MAX_SIZE + 1, GUID,
				 conf, &diags),
		EFBIG);
	ASSERT_DIAGS("triad.conf 1048576 octets\n");
	ck_assert(is_equal(conf, defaults));
	free(text);
}
END_TEST

/* --- port sections ----------------------------------------------------- */

START_TEST(test_port_section_own_overrides_wherever_it_stands)
{
	ck_assert_int_eq(parse("[port " GUID_TEXT "]\n"
			       "perfmgr.window = 9\n"
			       "[port 0x1]\n"
			       "perfmgr.window = 8\n"
			       "perfmgr.retries = 8\n"
			       "[perfmgr]\n"
			       "window = 7\n"
			       "timeout = 77\n"),
		0);
	ck_assert_uint_eq(conf->perfmgr.window, 9);
	ck_assert_uint_eq(conf->perfmgr.retries, 2);
	ck_assert_uint_eq(conf->perfmgr.timeout_ms, 77);
}
END_TEST

START_TEST(test_port_section_short_guid_is_the_same)
{
	ck_assert_int_eq(parse("[port\t 0X2c90300001234 ]\ncontrol.socket = /%g\n"), 0);
	ck_assert_str_eq(conf->control.socket, "/" GUID_TEXT);
}
END_TEST

START_TEST(test_port_section_of_another_port_checked)
{
	ASSERT_ONE_DIAG(
		"[port 0x1]\nperfmgr.window = 0\n", 2, "perfmgr.window", "4096");
	ASSERT_ONE_DIAG(
		"[port 0x1]\nperfmgr.windw = 1\n", 2, "did you mean 'perfmgr.window'?");
	ASSERT_ONE_DIAG(
		"[port 0x1]\nwindow = 1\n", 2, "did you mean 'perfmgr.window'?");
	ASSERT_ONE_DIAG(
		"[port 0x1]\nlog.level = info\nlog.level = info\n", 3, "line 2");
	ASSERT_ONE_DIAG("[port 0x1]\nzzz = 1\n", 2, "'triadctl get' lists all");
}
END_TEST

START_TEST(test_port_section_wrong_value_leaves_general_one)
{
	ck_assert_int_eq(parse("[perfmgr]\nwindow = 5\n"
			       "[port " GUID_TEXT "]\nperfmgr.window = 0\n"),
		EINVAL);
	ck_assert_uint_eq(conf->perfmgr.window, 5);
}
END_TEST

START_TEST(test_port_section_bad_guid_refused)
{
	/* [port] is the port manager's section; the user may have forgotten a GUID. */
	ASSERT_ONE_DIAG("[port]\nperfmgr.window = 1\n", 2, "in [port]");
	ASSERT_ONE_DIAG("[port 0]\nx = 1\n", 1, "'0'");
	ASSERT_ONE_DIAG("[port 0x0]\nx = 1\n", 1, "'0x0'");
	ASSERT_ONE_DIAG("[port 0x12345678901234567]\n", 1, "'0x12345678901234567'");
	ASSERT_ONE_DIAG("[port 2c90300001234]\n", 1, "[port 0x0002c90300001234]");
}
END_TEST

/* --- one key at run time ----------------------------------------------- */

START_TEST(test_set_key_changed)
{
	renew(&conf);
	ck_assert_int_eq(set("perfmgr.sweep_period", "10"), 0);
	ck_assert_uint_eq(conf->perfmgr.sweep_period_s, 10);
	ck_assert_int_eq(set("log.level", "Error"), 0);
	ck_assert_uint_eq(conf->log.level, TRIAD_LOG_ERROR);
	ck_assert_uint_eq(diags.n_total, 0);
}
END_TEST

START_TEST(test_set_refused_value_changes_nothing)
{
	renew(&conf);
	ck_assert_int_eq(set("perfmgr.sweep_period", "0"), EINVAL);
	ASSERT_DIAGS("triad.conf perfmgr.sweep_period 0 range 1 65535 s\n");
	ck_assert(is_equal(conf, defaults));
}
END_TEST

START_TEST(test_set_unknown_key_refused)
{
	renew(&conf);
	ck_assert_int_eq(set("perfmgr.sweep_perod", "1"), ENOENT);
	ASSERT_DIAGS("triad.conf: unknown key 'perfmgr.sweep_perod'; did you mean "
		     "'perfmgr.sweep_period'?\n");
	ck_assert_int_eq(set("perfmgr", "1"), ENOENT);
	ck_assert_int_eq(set("", "1"), ENOENT);
	ck_assert_int_eq(set("perfmgr.", "1"), ENOENT);
	ck_assert_int_eq(set("perfmgrx.window", "1"), ENOENT);
	/* No section's name is similar, so there is no guess from 'ber' alone, but from
	 * a key's whole name. */
	begin();
	ck_assert_int_eq(set("foo.bar", "1"), ENOENT);
	ASSERT_DIAGS("triad.conf: unknown key 'foo.bar'; 'triadctl get' lists all, and "
		     "triad.conf(5) describes them\n");
	begin();
	ck_assert_int_eq(set("foo.window", "1"), ENOENT);
	ASSERT_DIAGS("triad.conf: unknown key 'foo.window'; did you mean "
		     "'perfmgr.window'?\n");
}
END_TEST

/* Row: A6 */
START_TEST(test_set_only_what_may_change_at_run_time)
{
	static const char *const fixed[] = {
		"state.dir", "control.socket", "console.enabled"};
	size_t i, n, n_fixed = 0;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	renew(&conf);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(set(fixed[i], i < 2 ? "/x" : "true"), EPERM);
	ck_assert_ptr_nonnull(strstr(diags.entries[0].text, "restart OpenSM"));
	ck_assert(is_equal(conf, defaults));
	for (i = 0; i < n; i++)
		n_fixed += !keys[i].at_run_time;
	ck_assert_uint_eq(n_fixed, 3);
}
END_TEST

/* --- back to text ------------------------------------------------------ */

/* A text that all checks accept, or an empty one. */
static const char *random_text(const struct triad_conf_key *key)
{
	static const char *const texts[] = {"spine-*; 0x1f", "1-4; 7", "PortXmitWait",
		"[::1]:9315", "10.0.0.1; [::1]:5", "10.0.0.1"};
	char reason[TRIAD_DIAG_TEXT_SIZE];
	const char *text = texts[rand() % 6];

	return key->check(text, reason, sizeof(reason)) ? text : "";
}

static void random_value(const struct triad_conf_key *key, char *text, size_t size)
{
	static const char *const booleans[] = {"true", "false", "yes", "Off", "1"};
	unsigned n = 0;

	switch (key->type) {
	case TRIAD_CONF_BOOL:
		snprintf(text, size, "%s", booleans[rand() % 5]);
		break;
	case TRIAD_CONF_UINT:
		snprintf(text, size, "%u",
			key->min +
				(unsigned)((uint64_t)rand() %
					(key->max - key->min + UINT64_C(1))));
		break;
	case TRIAD_CONF_CHOICE:
		while (key->choices[n])
			n++;
		snprintf(text, size, "%s", key->choices[(unsigned)rand() % n]);
		break;
	case TRIAD_CONF_PATH:
		snprintf(text, size, "/r%d/%%g%%%%%d.sock", rand() % 100, rand() % 100);
		break;
	case TRIAD_CONF_TEXT:
		snprintf(text, size, "%s", random_text(key));
		break;
	case TRIAD_CONF_THRESHOLD:
		snprintf(text, size, "%d.%d/%s", rand() % 1000, 1 + rand() % 9,
			rand() % 2 ? "s" : "sweep");
		break;
	}
}

/* Sections of the random files, and which element of a key's values they set. */
static const struct {
	const char *heading, *section;
	unsigned element;
} random_sections[] = {{"perfmgr", "perfmgr", 0}, {"log", "log", 0},
	{"control", "control", 0}, {"console", "console", 0}, {"alerts", "alerts", 0},
	{"prometheus", "prometheus", 0}, {"sflow", "sflow", 0},
	{"profile", "profile", 0}, {"alerts g1", "alerts", TRIAD_CONF_N_TYPES + 1},
	{"alerts switch", "alerts", 2}, {"group g0", "group", 0},
	{"group g1", "group", 1}};

#define N_RANDOM_SECTIONS (sizeof(random_sections) / sizeof(random_sections[0]))

static bool stands_in(const struct triad_conf_key *key, size_t section)
{
	return !strcmp(key->section, random_sections[section].section) &&
		!(key->per == TRIAD_CONF_ONCE && random_sections[section].element);
}

/* A valid file with random keys.  The keys of TLS are always there, as they need each
 * other. */
static GString *random_file(void)
{
	GString *text = g_string_new("# random\n");
	char value[64];
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (size_t section = 0; section < N_RANDOM_SECTIONS; section++) {
		g_string_append_printf(
			text, "[%s]\n", random_sections[section].heading);
		for (i = 0; i < n; i++) {
			random_value(&keys[i], value, sizeof(value));
			if (stands_in(&keys[i], section) &&
				(rand() % 3 || g_str_has_prefix(keys[i].name, "tls_")))
				g_string_append_printf(text, "%s%s%s=%s%s\n",
					rand() % 2 ? " " : "", keys[i].name,
					rand() % 2 ? " " : "", rand() % 2 ? "\t" : "",
					value);
		}
	}
	return text;
}

/* Reads the file with GLib's parser instead of Triad's. */
static void read_with_glib(const GString *text, struct triad_conf *read)
{
	GKeyFile *file = g_key_file_new();
	char reason[TRIAD_DIAG_TEXT_SIZE];
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	*read = *defaults;
	triad_conf_group_add(read, "g0");
	triad_conf_group_add(read, "g1");
	ck_assert(g_key_file_load_from_data(file, text->str, text->len, 0, NULL));
	for (size_t section = 0; section < N_RANDOM_SECTIONS; section++) {
		for (i = 0; i < n; i++) {
			struct triad_conf_key_ref ref = {
				&keys[i], random_sections[section].element};
			char *value = g_key_file_get_value(file,
				random_sections[section].heading, keys[i].name, NULL);

			if (value && stands_in(&keys[i], section))
				ck_assert(triad_conf_value_set(read, ref, value, GUID,
					reason, sizeof(reason)));
			g_free(value);
		}
	}
	g_key_file_free(file);
}

START_TEST(test_parse_random_files_as_glib_reads_them)
{
	struct triad_conf *expected = triad_conf_new(GUID);

	srand(42);
	for (int i = 0; i < 300; i++) {
		GString *text = random_file();

		ck_assert_msg(!parse(text->str), "seed 42: %s", text->str);
		read_with_glib(text, expected);
		ck_assert_msg(is_equal(conf, expected), "seed 42: %s", text->str);
		g_string_free(text, TRUE);
	}
	triad_conf_unref(expected);
}
END_TEST

/* Writes the whole configuration as a port's section; groups also need their own
 * sections. */
static void write_as_port_section(GString *text)
{
	g_string_assign(text, "[group g0]\n[group g1]\n[port " GUID_TEXT "]\n");
	for (struct triad_conf_entry entry = {0}; triad_conf_next(conf, &entry);)
		g_string_append_printf(text, "%s = %s\n", entry.name, entry.value);
}

START_TEST(test_format_every_value_parses_to_itself)
{
	struct triad_conf *first = triad_conf_new(GUID);

	srand(43);
	for (int round = 0; round < 100; round++) {
		GString *text = random_file();

		ck_assert(!parse(text->str));
		write_as_port_section(text);
		*first = *conf;
		ck_assert_msg(!parse(text->str), "%s%s", text->str, all_diags());
		ck_assert_msg(is_equal(conf, first), "seed 43: %s", text->str);
		/* The text has every key, but the original file had only some, so
		 * 'in_file' differs. */
		ck_assert_mem_eq(conf, first, offsetof(struct triad_conf, in_file));
		g_string_free(text, TRUE);
	}
	triad_conf_unref(first);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("conf");

	tcase_add_checked_fixture(cases, begin, NULL);
	tcase_add_test(cases, test_keys_rows_complete);
	tcase_add_test(cases, test_keys_found_by_full_name);
	tcase_add_test(cases, test_init_defaults_as_documented);
	tcase_add_test(cases, test_defaults_formatted_as_in_table);
	tcase_add_test(cases, test_keys_ranges_as_documented);
	tcase_add_test(cases, test_parse_empty_gives_defaults);
	tcase_add_test(cases, test_parse_every_key_stored);
	tcase_add_test(cases, test_parse_booleans_all_spellings);
	tcase_add_test(cases, test_parse_numbers_strictly_decimal);
	tcase_add_test(cases, test_parse_line_ends_of_other_systems_taken);
	tcase_add_test(cases, test_parse_value_with_hash_and_equals_taken_whole);
	tcase_add_test(cases, test_parse_syntax_mistakes_located);
	tcase_add_test(cases, test_webhook_is_a_url_without_password);
	tcase_add_test(cases, test_parse_unknown_names_guessed);
	tcase_add_test(cases, test_parse_repeated_names_refused);
	tcase_add_test(cases, test_parse_bad_values_report_what_is_allowed);
	tcase_add_test(cases, test_parse_bad_paths_refused);
	tcase_add_test(cases, test_parse_path_as_long_as_a_socket_may_be_taken);
	tcase_add_test(cases, test_parse_path_too_long_refused);
	tcase_add_test(cases, test_parse_value_too_long_refused);
	tcase_add_test(cases, test_parse_keys_that_are_gone_are_accepted_and_named);
	tcase_add_test(cases, test_parse_all_keys_that_are_gone_accepted);
	tcase_add_test(cases, test_parse_long_names_cut_in_message);
	tcase_add_test(cases, test_parse_not_text_located);
	tcase_add_test(cases, test_parse_all_mistakes_at_once_right_keys_kept);
	tcase_add_test(cases, test_parse_mistakes_beyond_room_counted);
	tcase_add_test(cases, test_parse_many_sections_bounded);
	tcase_add_test(cases, test_parse_size_limit);
	tcase_add_test(cases, test_port_section_own_overrides_wherever_it_stands);
	tcase_add_test(cases, test_port_section_short_guid_is_the_same);
	tcase_add_test(cases, test_port_section_of_another_port_checked);
	tcase_add_test(cases, test_port_section_wrong_value_leaves_general_one);
	tcase_add_test(cases, test_port_section_bad_guid_refused);
	tcase_add_test(cases, test_set_key_changed);
	tcase_add_test(cases, test_set_refused_value_changes_nothing);
	tcase_add_test(cases, test_set_unknown_key_refused);
	tcase_add_test(cases, test_set_only_what_may_change_at_run_time);
	tcase_add_test(cases, test_parse_random_files_as_glib_reads_them);
	tcase_add_test(cases, test_format_every_value_parses_to_itself);
	return run_cases(cases);
}
