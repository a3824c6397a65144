/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* triad.conf: sections that may occur more than once, and values that depend on each
 * other. */
#include "triad/conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "tests/unit/conf/conf_fixture.h"
#include "triad/command.h"

static const struct triad_threshold *threshold(unsigned scope, unsigned counter)
{
	return &conf->thresholds[scope].counter[counter];
}

#define ASSERT_THRESHOLD(scope, counter, value_, unit_)                                \
	do {                                                                           \
		ck_assert_double_eq(threshold(scope, counter)->value, value_);         \
		ck_assert_uint_eq(threshold(scope, counter)->unit, unit_);             \
	} while (0)

/* Checks that 'diags' has one mistake, whose text contains all these words. */
#define ASSERT_DIAG(line_, ...)                                                        \
	do {                                                                           \
		const char *const words_[] = {__VA_ARGS__};                            \
		ck_assert_uint_eq(diags.n, 1);                                         \
		ck_assert_uint_eq(diags.entries[0].line, line_);                       \
		for (size_t i_ = 0; i_ < sizeof(words_) / sizeof(words_[0]); i_++)     \
			ck_assert_msg(                                                 \
				strstr(diags.entries[0].text, words_[i_]) != NULL,     \
				"'%s' isn't in '%s'", words_[i_],                      \
				diags.entries[0].text);                                \
	} while (0)

#define ASSERT_ONE_DIAG(file, line, ...)                                               \
	do {                                                                           \
		begin();                                                               \
		ck_assert_int_eq(parse(file), EINVAL);                                 \
		ASSERT_DIAG(line, __VA_ARGS__);                                        \
	} while (0)

#define ASSERT_SET_REFUSED(error, key, value, ...)                                     \
	do {                                                                           \
		triad_diags_init(&diags, "set");                                       \
		*defaults = *conf;                                                     \
		ck_assert_int_eq(set(key, value), error);                              \
		ASSERT_DIAG(0, __VA_ARGS__);                                           \
		ck_assert_mem_eq(conf, defaults, sizeof(*conf));                       \
	} while (0)

/* --- groups ------------------------------------------------------------ */

START_TEST(test_group_keys_stored)
{
	ck_assert_int_eq(parse("[group Gpu_2-x]\n"
			       "nodes = gpu*; 0x1\n"
			       "ports = 1-4; 7\n"
			       "type = ca\n"
			       "skip = yes\n"
			       "sweep_period = 5\n"
			       "[group b]\n"),
		0);
	ck_assert_uint_eq(conf->n_groups, 2);
	ck_assert_str_eq(conf->groups[0].name, "Gpu_2-x");
	ck_assert_str_eq(conf->groups[0].nodes, "gpu*; 0x1");
	ck_assert_str_eq(conf->groups[0].ports, "1-4; 7");
	ck_assert_uint_eq(conf->groups[0].type, TRIAD_COMMAND_TYPE_CA);
	ck_assert(conf->groups[0].skip);
	ck_assert_uint_eq(conf->groups[0].sweep_period_s, 5);
	ck_assert_str_eq(conf->groups[1].name, "b");
	ck_assert_str_eq(conf->groups[1].nodes, "");
	ck_assert_str_eq(conf->groups[1].ports, "");
	ck_assert_uint_eq(conf->groups[1].type, TRIAD_COMMAND_TYPE_ALL);
	ck_assert(!conf->groups[1].skip);
	ck_assert_uint_eq(conf->groups[1].sweep_period_s, 0);
}
END_TEST

START_TEST(test_group_bad_names_refused)
{
	ASSERT_ONE_DIAG("\n[group]\nnodes = a\n", 2, "[group NAME]");
	ASSERT_ONE_DIAG("[group a b]\nnodes = a\n", 1, "'a b'", "1 to 24 of");
	ASSERT_ONE_DIAG("[group a.b]\n", 1, "'a.b'");
	ASSERT_ONE_DIAG("[group caf\xc3\xa9]\n", 1, "group's name");
	ASSERT_ONE_DIAG("[group a234567890123456789012345]\n", 1, "1 to 24 of");
	ASSERT_ONE_DIAG("[group ca]\n", 1, "not ca, switch or router");
	ASSERT_ONE_DIAG("[group Switch]\n", 1, "not ca, switch or router");
	ASSERT_ONE_DIAG("[grup a]\n", 1, "did you mean [group a]?");
	ck_assert_uint_eq(conf->n_groups, 0);
	begin();
	ck_assert_int_eq(parse("[group a23456789012345678901234]\n"), 0);
	ck_assert_int_eq(parse("[group\t A ]\n[group a]\n[group cas]\n"), 0);
	ck_assert_uint_eq(conf->n_groups, 3);
}
END_TEST

START_TEST(test_group_twice_refused)
{
	ASSERT_ONE_DIAG("[group a]\n[group b]\n[group  a]\n", 3, "line 1", "together");
	ck_assert_uint_eq(conf->n_groups, 2);
}
END_TEST

START_TEST(test_group_one_too_many_refused)
{
	GString *text = g_string_new(NULL);

	for (int i = 1; i <= 16; i++)
		g_string_append_printf(text, "[group g%d]\nnodes = n%d\n", i, i);
	ck_assert_int_eq(parse(text->str), 0);
	ck_assert_uint_eq(conf->n_groups, 16);
	ck_assert_str_eq(conf->groups[15].nodes, "n16");
	g_string_append(text, "[group g17]\nnodes = x\n");
	ASSERT_ONE_DIAG(text->str, 33, "more than 16 groups");
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_group_bad_values_refused)
{
	ASSERT_ONE_DIAG("[group a]\nnodes = b; 0xz\n", 2, "group.a.nodes", "'0xz'");
	ASSERT_ONE_DIAG("[group a]\nports = 255\n", 2, "group.a.ports", "0 to 254");
	ASSERT_ONE_DIAG("[group a]\ntype = hub\n", 2, "all, ca, switch, router");
	ASSERT_ONE_DIAG("[group a]\nskip = so\n", 2, "group.a.skip", "true or false");
	ASSERT_ONE_DIAG("[group a]\nsweep_period = 65536\n", 2, "0 to 65535 s");
	ASSERT_ONE_DIAG("[group a]\nskip = 1\nskip = 1\n", 3, "group.a.skip", "line 2");
}
END_TEST

START_TEST(test_group_unknown_key_guessed)
{
	ASSERT_ONE_DIAG("[group a]\nnode = b\n", 2, "'node' in [group a]",
		"did you mean 'nodes'?");
	ASSERT_ONE_DIAG("[group a]\nzzz = b\n", 2,
		"known are nodes, ports, type, skip, sweep_period");
	ASSERT_ONE_DIAG("[log]\nnodes = b\n", 2, "'nodes' in [group NAME]");
	ASSERT_ONE_DIAG("[perfmgr x]\nwindow = 1\n", 1, "without another word");
}
END_TEST

/* --- thresholds -------------------------------------------------------- */

START_TEST(test_thresholds_have_a_row_for_each_counter)
{
	size_t i, n, n_found = 0;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (i = 0; i < n; i++) {
		if (keys[i].type != TRIAD_CONF_THRESHOLD)
			continue;
		ck_assert_str_eq(keys[i].name, triad_counters[n_found].name);
		ck_assert_uint_eq(keys[i].offset,
			offsetof(struct triad_conf_thresholds, counter[n_found]));
		n_found++;
	}
	ck_assert_uint_eq(n_found, TRIAD_N_COUNTERS);
}
END_TEST

/* Row: A12 */
START_TEST(test_thresholds_defaults_as_documented)
{
	static const struct {
		unsigned counter;
		double value;
		unsigned unit;
	} default_values[] = {
		{TRIAD_SYMBOL_ERROR_COUNTER, 10, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_LINK_ERROR_RECOVERY_COUNTER, 1, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_LINK_DOWNED_COUNTER, 1, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_PORT_RCV_ERRORS, 10, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_PORT_RCV_REMOTE_PHYSICAL_ERRORS, 100, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_PORT_RCV_SWITCH_RELAY_ERRORS, 0, TRIAD_THRESHOLD_OFF},
		{TRIAD_PORT_XMIT_DISCARDS, 100, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_PORT_XMIT_CONSTRAINT_ERRORS, 100, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_PORT_RCV_CONSTRAINT_ERRORS, 100, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_LOCAL_LINK_INTEGRITY_ERRORS, 3, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_EXCESSIVE_BUFFER_OVERRUN_ERRORS, 3, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_QP1_DROPPED, 100, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_VL15_DROPPED, 100, TRIAD_THRESHOLD_PER_SWEEP},
		{TRIAD_PORT_XMIT_WAIT, 25, TRIAD_THRESHOLD_PERCENT},
	};
	unsigned i, scope;

	for (i = 0; i < sizeof(default_values) / sizeof(default_values[0]); i++)
		ASSERT_THRESHOLD(0, default_values[i].counter, default_values[i].value,
			default_values[i].unit);
	for (; i < TRIAD_N_COUNTERS; i++)
		ASSERT_THRESHOLD(0, i, 0, TRIAD_THRESHOLD_OFF);
	for (scope = 1; scope < TRIAD_CONF_MAX_SCOPES; scope++)
		for (i = 0; i < TRIAD_N_COUNTERS; i++)
			ASSERT_THRESHOLD(scope, i, 0, TRIAD_THRESHOLD_INHERIT);
}
END_TEST

START_TEST(test_thresholds_of_scopes_stored)
{
	ck_assert_int_eq(parse("[alerts gpu]\n"
			       "VL15Dropped = 7/s\n"
			       "QP1Dropped = inherit\n"
			       "[alerts]\n"
			       "VL15Dropped = 1/sweep\n"
			       "unanswered = 3\n"
			       "[alerts ca]\n"
			       "VL15Dropped = 2/sweep\n"
			       "[alerts switch]\n"
			       "VL15Dropped = off\n"
			       "[alerts router]\n"
			       "PortXmitWait = 4%\n"
			       "[group a]\n"
			       "[group gpu]\n"),
		0);
	ASSERT_THRESHOLD(0, TRIAD_VL15_DROPPED, 1, TRIAD_THRESHOLD_PER_SWEEP);
	ASSERT_THRESHOLD(TRIAD_COMMAND_TYPE_CA, TRIAD_VL15_DROPPED, 2,
		TRIAD_THRESHOLD_PER_SWEEP);
	ASSERT_THRESHOLD(
		TRIAD_COMMAND_TYPE_SWITCH, TRIAD_VL15_DROPPED, 0, TRIAD_THRESHOLD_OFF);
	ASSERT_THRESHOLD(TRIAD_COMMAND_TYPE_ROUTER, TRIAD_PORT_XMIT_WAIT, 4,
		TRIAD_THRESHOLD_PERCENT);
	ASSERT_THRESHOLD(4, TRIAD_VL15_DROPPED, 0, TRIAD_THRESHOLD_INHERIT);
	ASSERT_THRESHOLD(5, TRIAD_VL15_DROPPED, 7, TRIAD_THRESHOLD_PER_S);
	ASSERT_THRESHOLD(5, TRIAD_QP1_DROPPED, 0, TRIAD_THRESHOLD_INHERIT);
	ck_assert_uint_eq(conf->alerts.unanswered_sweeps, 3);
}
END_TEST

START_TEST(test_thresholds_mistakes_located)
{
	ASSERT_ONE_DIAG("[group a]\n[alerts b]\nVL15Dropped = 0\n", 2,
		"no [group b]; known are ca, switch, router, a");
	ASSERT_ONE_DIAG("[alerts all]\n", 1, "no [group all]");
	ASSERT_ONE_DIAG(
		"[alerts]\nVL15Droped = 1/s\n", 2, "did you mean 'VL15Dropped'?");
	ASSERT_ONE_DIAG("[alerts]\nVL15Dropped = inherit\n", 2, "nothing to inherit");
	ASSERT_ONE_DIAG("[alerts ca]\nunanswered = 1\n", 2,
		"'unanswered' in [alerts ca]", "'unanswered' in [alerts]?");
	ASSERT_ONE_DIAG("[alerts ca]\nVL15Dropped = 1%\n", 2, "alerts.ca.VL15Dropped",
		"bandwidth");
	ASSERT_ONE_DIAG("[alerts]\nVL15Dropped = 0\n", 2, "write 'off'");
	ASSERT_ONE_DIAG("[alerts ca]\n[alerts]\n[alerts  ca]\n", 3, "line 1");
}
END_TEST

/* --- a port's section -------------------------------------------------- */

START_TEST(test_port_section_has_groups_and_scopes)
{
	ck_assert_int_eq(parse("[port " GUID_TEXT "]\n"
			       "group.b.nodes = x\n"
			       "alerts.b.VL15Dropped = 1/s\n"
			       "alerts.ca.VL15Dropped = 2/s\n"
			       "alerts.VL15Dropped = 3/s\n"
			       "alerts.unanswered = 4\n"
			       "[port 0x1]\n"
			       "group.a.nodes = y\n"
			       "group.b.nodes = y\n"
			       "[group a]\n"
			       "nodes = a\n"
			       "[group b]\n"
			       "nodes = b\n"
			       "ports = 2\n"),
		0);
	ck_assert_str_eq(conf->groups[0].nodes, "a");
	ck_assert_str_eq(conf->groups[1].nodes, "x");
	ck_assert_str_eq(conf->groups[1].ports, "2");
	ASSERT_THRESHOLD(5, TRIAD_VL15_DROPPED, 1, TRIAD_THRESHOLD_PER_S);
	ASSERT_THRESHOLD(1, TRIAD_VL15_DROPPED, 2, TRIAD_THRESHOLD_PER_S);
	ASSERT_THRESHOLD(0, TRIAD_VL15_DROPPED, 3, TRIAD_THRESHOLD_PER_S);
	ASSERT_THRESHOLD(4, TRIAD_VL15_DROPPED, 0, TRIAD_THRESHOLD_INHERIT);
	ck_assert_uint_eq(conf->alerts.unanswered_sweeps, 4);
}
END_TEST

START_TEST(test_port_section_of_unknown_group_refused)
{
	ASSERT_ONE_DIAG("[group a]\n[port 0x1]\ngroup.b.nodes = x\n", 3, "no [group b]",
		"known are a");
	ASSERT_ONE_DIAG("[port 0x1]\nalerts.b.VL15Dropped = off\n", 2, "no [group b]");
	ASSERT_ONE_DIAG("[group a]\n[port 0x1]\ngroup.a.node = x\n", 3,
		"did you mean 'group.a.nodes'?");
	ASSERT_ONE_DIAG("[port 0x1]\nalerts.ca.VL15Droped = off\n", 2,
		"did you mean 'alerts.ca.VL15Dropped'?");
	ASSERT_ONE_DIAG("[port 0x1]\nperfmgr.x.window = 1\n", 2,
		"unknown key 'perfmgr.x.window'");
	ASSERT_ONE_DIAG(
		"[port 0x1]\ngroup.nodes = 1\n", 2, "unknown key 'group.nodes'");
	ASSERT_ONE_DIAG("[group a]\n[port 0x1]\ngroup.a.skip = 1\ngroup.a.skip = 1\n",
		4, "group.a.skip", "line 3");
}
END_TEST

/* --- at run time ------------------------------------------------------- */

START_TEST(test_set_groups_and_scopes)
{
	ck_assert_int_eq(parse("[group a]\n"), 0);
	ck_assert_int_eq(set("group.a.nodes", " spine*; 0x1 "), 0);
	ck_assert_str_eq(conf->groups[0].nodes, "spine*; 0x1");
	ck_assert_int_eq(set("group.a.nodes", ""), 0);
	ck_assert_str_eq(conf->groups[0].nodes, "");
	ck_assert_int_eq(set("alerts.VL15Dropped", "1/s"), 0);
	ck_assert_int_eq(set("alerts.switch.VL15Dropped", "2/s"), 0);
	ck_assert_int_eq(set("alerts.a.VL15Dropped", "3/s"), 0);
	ck_assert_int_eq(set("alerts.a.QP1Dropped", "3/s"), 0);
	ck_assert_int_eq(set("alerts.a.QP1Dropped", "inherit"), 0);
	ASSERT_THRESHOLD(0, TRIAD_VL15_DROPPED, 1, TRIAD_THRESHOLD_PER_S);
	ASSERT_THRESHOLD(2, TRIAD_VL15_DROPPED, 2, TRIAD_THRESHOLD_PER_S);
	ASSERT_THRESHOLD(4, TRIAD_VL15_DROPPED, 3, TRIAD_THRESHOLD_PER_S);
	ASSERT_THRESHOLD(4, TRIAD_QP1_DROPPED, 0, TRIAD_THRESHOLD_INHERIT);
}
END_TEST

START_TEST(test_set_mistakes_change_nothing)
{
	ck_assert_int_eq(parse("[group a]\n"), 0);
	ASSERT_SET_REFUSED(ENOENT, "group.b.nodes", "x", "no [group b]", "known are a",
		"triad.conf", "'reload'");
	ASSERT_SET_REFUSED(ENOENT, "alerts.b.VL15Dropped", "off", "no [group b]");
	ASSERT_SET_REFUSED(ENOENT, "alerts.ca.unanswered", "1",
		"did you mean 'alerts.unanswered'?");
	ASSERT_SET_REFUSED(ENOENT, "alerts.a.ca.unanswered", "1", "no [group a.ca]");
	ASSERT_SET_REFUSED(ENOENT, "group.a", "x", "unknown key 'group.a'");
	ASSERT_SET_REFUSED(ENOENT, "zzz.qqq", "x",
		"unknown key 'zzz.qqq'; 'triadctl get' lists all");
	ck_assert_uint_lt(strlen(diags.entries[0].text), 120);
	ASSERT_SET_REFUSED(EINVAL, "alerts.VL15Dropped", "inherit", "nothing to");
	ASSERT_SET_REFUSED(EINVAL, "group.a.ports", "x", "group.a.ports");
	ASSERT_SET_REFUSED(EINVAL, "group.a.nodes", "a\nb", "control character");
}
END_TEST

START_TEST(test_set_value_too_long_refused)
{
	char value[300];

	memset(value, 'x', sizeof(value));
	value[256] = '\0';
	ck_assert_int_eq(parse("[group a]\n"), 0);
	ASSERT_SET_REFUSED(EINVAL, "group.a.nodes", value, "256 octets", "255");
	value[255] = '\0';
	ck_assert_int_eq(set("group.a.nodes", value), 0);
	ck_assert_str_eq(conf->groups[0].nodes, value);
}
END_TEST

/* --- texts, paths, pairs ----------------------------------------------- */

START_TEST(test_texts_checked)
{
	ASSERT_ONE_DIAG("[perfmgr]\nhistogram_counters = PortXmitDta\n", 2,
		"did you mean 'PortXmitData'?");
	ASSERT_ONE_DIAG("[perfmgr]\nhistogram_counters = PortXmitData;PortRcvData;"
			"PortXmitPkts;PortRcvPkts;PortXmitWait\n",
		2, "there are 5", "allowed are 4");
	ASSERT_ONE_DIAG("[prometheus]\nlisten = *:9315\n", 2, "prometheus.listen",
		"ADDRESS:PORT");
	ASSERT_ONE_DIAG("[prometheus]\nlisten = 127.0.0.1\n", 2, "ADDRESS:PORT");
	ASSERT_ONE_DIAG(
		"[prometheus]\nlisten = 127.0.0.1:1; 127.0.0.1:2\n", 2, "ADDRESS:PORT");
	ASSERT_ONE_DIAG("[election]\npeers = 127.0.0.1\n", 2, "ADDRESS:PORT");
	ASSERT_ONE_DIAG("[election]\npeers = 0x1; 0x2; 127.0.0.1:1\n", 2,
		"'127.0.0.1:1' isn't a GUID");
	ASSERT_ONE_DIAG("[election]\n"
			"peers = 0x1; 0x2; 0x3; 0x4; 0x5; 0x6; 0x7; 0x8; 0x9; 0xa\n",
		2, "more than 9 GUIDs");
	ASSERT_ONE_DIAG("[sflow]\ncollectors = a.example.org\n", 2, "ADDRESS[:PORT]");
	ASSERT_ONE_DIAG("[sflow]\ncollectors = ::1;::1;::1;::1;::1;::1;::1;::1;::1\n",
		2, "ADDRESS[:PORT]");
	ASSERT_ONE_DIAG("[sflow]\ncollectors = "
			"1.1.1.1;1.1.1.1;1.1.1.1;1.1.1.1;1.1.1.1;1.1.1.1;1.1.1.1;"
			"1.1.1.1;1.1.1.1\n",
		2, "more than 8");
	ASSERT_ONE_DIAG("[sflow]\nagent_address = 10.0.0.1:5\n", 2, "numeric address");
	ASSERT_ONE_DIAG("[profile]\ncounters = none\n", 2, "data, all");
	ASSERT_ONE_DIAG("[perfmgr]\nrole = slave\n", 2, "master, standby, any");
	begin();
	ck_assert_int_eq(parse("[perfmgr]\nhistogram_counters = PortXmitData;"
			       "PortXmitData;PortRcvData;PortXmitPkts;PortRcvPkts\n"),
		0);
}
END_TEST

START_TEST(test_paths_may_be_empty_where_a_row_allows_it)
{
	ck_assert_int_eq(parse("[alerts]\nfile =\n[prometheus]\ntoken_file =\n"
			       "[port " GUID_TEXT "]\nprofile.file =\n"
			       "[profile]\nfile = /p\n"),
		0);
	ck_assert_str_eq(conf->profile.file, "");
	ASSERT_ONE_DIAG("[alerts]\nfile = x\n", 2, "absolute");
	ASSERT_ONE_DIAG("[control]\nsocket =\n", 2, "absolute");
	begin();
	ck_assert_int_eq(set("alerts.file", "/x"), 0);
	ck_assert_int_eq(set("alerts.file", ""), 0);
	ck_assert_str_eq(conf->alerts.file, "");
}
END_TEST

START_TEST(test_tls_needs_certificate_and_key)
{
	ASSERT_ONE_DIAG("[prometheus]\ntls_certificate = /c\n", 2,
		"prometheus.tls_certificate needs prometheus.tls_key");
	ck_assert_str_eq(conf->prometheus.tls_certificate, "");
	ASSERT_ONE_DIAG("[prometheus]\ntls_certificate =\ntls_key = /k\n", 3,
		"prometheus.tls_key needs prometheus.tls_certificate");
	ck_assert_str_eq(conf->prometheus.tls_key, "");
	ASSERT_ONE_DIAG("[prometheus]\ntls_certificate = /c\ntls_key = /k\n"
			"[port " GUID_TEXT "]\nprometheus.tls_key =\n",
		2, "needs prometheus.tls_key");
	begin();
	ck_assert_int_eq(parse("[prometheus]\ntls_certificate = /c\n"
			       "[port " GUID_TEXT "]\nprometheus.tls_key = /k\n"),
		0);
	ASSERT_SET_REFUSED(EINVAL, "prometheus.tls_key", "", "needs", "reload");
	ck_assert_int_eq(set("prometheus.tls_key", "/k2"), 0);
	begin();
	ASSERT_SET_REFUSED(EINVAL, "prometheus.tls_key", "/k",
		"needs prometheus.tls_certificate", "reload");
	ASSERT_ONE_DIAG("[prometheus]\ntls_client_ca = /ca\n", 2,
		"prometheus.tls_client_ca needs prometheus.tls_certificate");
}
END_TEST

#define TLS "tls_certificate = /c\ntls_key = /k\n"

/* Row: N11 */
START_TEST(test_web_for_other_hosts_needs_tls_and_token)
{
	static const char *const addresses[] = {"0.0.0.0:1", "[::]:1", "192.0.2.1:1",
		"[2001:db8::1]:1", "[::ffff:192.0.2.1]:1", "128.0.0.1:1"};
	static const char *const own[] = {
		"127.0.0.1:1", "127.8.9.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1"};
	char text[256];

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		snprintf(text, sizeof(text), "[web]\nlisten = %s\n", addresses[i]);
		ASSERT_ONE_DIAG(text, 2, "web.listen needs web.tls_certificate",
			"TLS and a token");
		ck_assert_str_eq(conf->web.http.listen, "");
		snprintf(text, sizeof(text), "[web]\n" TLS "listen = %s\n",
			addresses[i]);
		ASSERT_ONE_DIAG(text, 4, "web.listen needs web.token_file");
		begin();
		snprintf(text, sizeof(text),
			"[web]\n" TLS "token_file = /t\nlisten = %s\n", addresses[i]);
		ck_assert_int_eq(parse(text), 0);
		ASSERT_SET_REFUSED(EINVAL, "web.token_file", "",
			"web.listen needs web.token_file", "reload");
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		begin();
		snprintf(text, sizeof(text), "[web]\nlisten = %s\n", own[i]);
		ck_assert_int_eq(parse(text), 0);
	}
	ASSERT_SET_REFUSED(EINVAL, "web.listen", "0.0.0.0:1",
		"web.listen needs web.tls_certificate", "reload");
	ASSERT_ONE_DIAG(
		"[web]\ntls_key = /k\n", 2, "web.tls_key needs web.tls_certificate");
}
END_TEST

START_TEST(test_needs_of_both_listeners_are_reported_at_once)
{
	begin();
	ck_assert_int_eq(parse("[prometheus]\ntls_key = /k\n"
			       "[web]\nlisten = 0.0.0.0:1\n"),
		EINVAL);
	ck_assert_uint_eq(diags.n, 2);
}
END_TEST

START_TEST(test_web_names_are_names)
{
	begin();
	ck_assert_int_eq(parse("[web]\nnames = sm1.example; sm-2\n"), 0);
	ASSERT_ONE_DIAG("[web]\nnames = sm1:9316\n", 2, "'sm1:9316'");
	ASSERT_ONE_DIAG("[web]\nnames = *.example\n", 2, "'*.example'");
}
END_TEST

/* --- all keys ---------------------------------------------------------- */

static void append_names(GString *text, const char *prefix)
{
	for (struct triad_conf_entry entry = {0}; triad_conf_next(conf, &entry);)
		if (g_str_has_prefix(entry.name, prefix))
			g_string_append_printf(
				text, "%s=%s\n", entry.name, entry.value);
}

START_TEST(test_next_visits_groups_and_what_is_not_inherited)
{
	GString *text = g_string_new(NULL);

	ck_assert_int_eq(parse("[group b]\nports = 3\n[group a]\nskip = yes\n"
			       "[alerts a]\nVL15Dropped = 3/s\nQP1Dropped = off\n"
			       "[alerts ca]\nVL15Dropped = 2/s\n"),
		0);
	append_names(text, "group.");
	append_names(text, "alerts.a.");
	append_names(text, "alerts.ca.");
	append_names(text, "alerts.VL15");
	ck_assert_str_eq(text->str,
		"group.b.nodes=\ngroup.b.ports=3\ngroup.b.type=all\n"
		"group.b.skip=false\ngroup.b.sweep_period=0\n"
		"group.a.nodes=\ngroup.a.ports=\ngroup.a.type=all\n"
		"group.a.skip=true\ngroup.a.sweep_period=0\n"
		"alerts.a.QP1Dropped=off\nalerts.a.VL15Dropped=3/s\n"
		"alerts.ca.VL15Dropped=2/s\nalerts.VL15Dropped=100/sweep\n");
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_next_visits_all_that_are_there_once)
{
	size_t n, n_visited = 0, n_expected = 0;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (size_t i = 0; i < n; i++)
		n_expected += keys[i].per != TRIAD_CONF_PER_GROUP;
	for (struct triad_conf_entry entry = {0}; triad_conf_next(conf, &entry);)
		n_visited++;
	ck_assert_uint_eq(n_visited, n_expected);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("conf_groups");

	tcase_add_checked_fixture(cases, begin, NULL);
	tcase_add_test(cases, test_group_keys_stored);
	tcase_add_test(cases, test_group_bad_names_refused);
	tcase_add_test(cases, test_group_twice_refused);
	tcase_add_test(cases, test_group_one_too_many_refused);
	tcase_add_test(cases, test_group_bad_values_refused);
	tcase_add_test(cases, test_group_unknown_key_guessed);
	tcase_add_test(cases, test_thresholds_have_a_row_for_each_counter);
	tcase_add_test(cases, test_thresholds_defaults_as_documented);
	tcase_add_test(cases, test_thresholds_of_scopes_stored);
	tcase_add_test(cases, test_thresholds_mistakes_located);
	tcase_add_test(cases, test_port_section_has_groups_and_scopes);
	tcase_add_test(cases, test_port_section_of_unknown_group_refused);
	tcase_add_test(cases, test_set_groups_and_scopes);
	tcase_add_test(cases, test_set_mistakes_change_nothing);
	tcase_add_test(cases, test_set_value_too_long_refused);
	tcase_add_test(cases, test_texts_checked);
	tcase_add_test(cases, test_paths_may_be_empty_where_a_row_allows_it);
	tcase_add_test(cases, test_tls_needs_certificate_and_key);
	tcase_add_test(cases, test_web_for_other_hosts_needs_tls_and_token);
	tcase_add_test(cases, test_needs_of_both_listeners_are_reported_at_once);
	tcase_add_test(cases, test_web_names_are_names);
	tcase_add_test(cases, test_next_visits_groups_and_what_is_not_inherited);
	tcase_add_test(cases, test_next_visits_all_that_are_there_once);
	return run_cases(cases);
}
