/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/secrets.h"

#include <string.h>

#include "tests/unit/run.h"

static void expect(const char *line, bool is_conf, const char *expected)
{
	g_autoptr(GString) to = g_string_new(NULL);

	triad_secrets_remove(line, strlen(line), is_conf, to);
	ck_assert_str_eq(to->str, expected);
}

START_TEST(test_value_of_a_secret_is_removed)
{
	expect("m_key 0x1122334455667788\n", true, "m_key <removed>\n");
	expect("\tsm_key\t0x1\n", true, "\tsm_key\t<removed>\n");
	expect("sa_key = abc def # g\n", true, "sa_key = <removed>\n");
	expect("# m_key 0x12\n", true, "# m_key <removed>\n");
	expect("password=geheim\n", true, "password=<removed>\n");
	expect("#m_key 1234567\n", true, "#m_key <removed>\n");
	expect("# password x\n", true, "# password <removed>\n");
	expect("key_mgr_seed 0x12\n", true, "key_mgr_seed <removed>\n");
	expect("opt --token x --more\n", true, "opt --token <removed> --more\n");
}
END_TEST

START_TEST(test_what_is_no_secret_stays)
{
	static const char *const lines[] = {"m_key_lease_period 0\n", "m_key\n",
		"key_file = /etc/triad/key\n", "pkey 0x8001\n",
		"qos_policy_file (null)\n", "# The M_Key lease period of ports\n",
		"ipoib, key of it\n", "", "[election]\n"};

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		expect(lines[i], true, lines[i]);
	expect("the key is lost\n", false, "the key is lost\n");
}
END_TEST

START_TEST(test_url_loses_user_and_password)
{
	expect("servers = nats://triad:a/b@sm-1:4222; tls://token@sm-2\n", true,
		"servers = nats://<removed>@sm-1:4222; tls://<removed>@sm-2\n");
	expect("https://user:p@ss@host/path\"\n", false,
		"https://<removed>@host/path\"\n");
	expect("nats://ge>heim:pw@sm-1\n", true, "nats://<removed>@sm-1\n");
	expect("webhook = https://hooks.example/services/T0/B1/a8Zk3bQx9LpR2sVd\n",
		true, "webhook = https://hooks.example/<removed>\n");
	expect("POST https://h/x?sig=1 failed\n", false,
		"POST https://h/<removed> failed\n");
	expect("http://host:9093/api/v2/alerts\n", true,
		"http://host:9093/api/v2/alerts\n");
	expect("http://host/path mail@host\n", false, "http://host/path mail@host\n");
}
END_TEST

START_TEST(test_log_loses_the_value_alone)
{
	expect("bad M_Key: 0x1122 from lid 3, token=abc, x\n", false,
		"bad M_Key: <removed> from lid 3, token=<removed>, x\n");
	expect("m_key...................0x1122334455667788\n", false,
		"m_key...................<removed>\n");
	expect("Authorization: Bearer abc.def\n", false,
		"Authorization: Bearer <removed>\n");
	expect("SM_Key 0x0000000000000001 of 0x2\n", false,
		"SM_Key <removed> of 0x2\n");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("secrets");

	tcase_add_test(cases, test_value_of_a_secret_is_removed);
	tcase_add_test(cases, test_what_is_no_secret_stays);
	tcase_add_test(cases, test_url_loses_user_and_password);
	tcase_add_test(cases, test_log_loses_the_value_alone);
	return run_cases(cases);
}
