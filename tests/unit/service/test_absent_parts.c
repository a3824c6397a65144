/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A build without an optional library has a substitute for each part that needs it.
 * When a part is used, its substitute reports that it's missing, and what to do. */
#include <errno.h>
#include <string.h>

#include "perfmgr/export/http.h"
#include "service/webhook_post.h"
#include "tests/unit/qos/policy_fixture.h"
#include "triad/log.h"

static char last_line[512];
static unsigned n_lines;

static void keep_line(void *context, enum triad_log_level level, const char *line)
{
	ck_assert_int_eq(level, TRIAD_LOG_ERROR);
	snprintf(last_line, sizeof(last_line), "%s", line);
	n_lines++;
}

START_TEST(test_http_wanted_reported_once_and_in_status)
{
	const struct triad_http_callbacks callbacks = {.section = "prometheus"};
	struct triad_conf_listener here = {.listen = "127.0.0.1:9315"}, nowhere = {0};
	struct triad_log log = {.write = keep_line, .level = TRIAD_LOG_DEBUG};
	struct triad_http *http = triad_http_new(&callbacks, &log);

	ck_assert_ptr_nonnull(http);
	ck_assert_int_eq(triad_http_configure_listener(http, &nowhere, 1, NULL), 0);
	ck_assert_str_eq(triad_http_status(http).reason, "");
	ck_assert_uint_eq(n_lines, 0);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(
			triad_http_configure_listener(http, &here, 1, NULL), ENOTSUP);
	ck_assert_uint_eq(n_lines, 1);
	assert_mentions(last_line, "prometheus libmicrohttpd-dev libgnutls28-dev");
	ck_assert(!triad_http_status(http).listening);
	ck_assert_ptr_nonnull(strstr(triad_http_status(http).reason, "libmicrohttpd"));
	ck_assert_int_eq(triad_http_configure(http, NULL), 0);
	ck_assert_str_eq(triad_http_status(http).reason, "");
	triad_http_wake(http);
	triad_http_free(http);
}
END_TEST

START_TEST(test_webhook_sends_nothing_and_reports_why)
{
	const struct triad_webhook_target target = {.url = "http://127.0.0.1:9093"};
	struct triad_webhook_post *post = triad_webhook_post_new();
	struct triad_webhook_answer answer;

	ck_assert_ptr_nonnull(post);
	answer = triad_webhook_post_send(post, &target, "[]", 2);
	ck_assert_int_eq(answer.status, 0);
	ck_assert_int_ne(answer.trouble, 0);
	assert_mentions(answer.reason, "libcurl4-gnutls-dev");
	triad_webhook_post_cancel(post);
	triad_webhook_post_free(post);
}
END_TEST

START_TEST(test_policy_in_xml_refused_with_what_to_do)
{
	refuse("\n<qos-policy><qos-levels/></qos-policy>", "p:1:1: XML libxml2-dev");
	accept("qos-ulps\ndefault: 0\nend-qos-ulps\n");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("absent_parts");

	tcase_add_checked_fixture(cases, NULL, forget_policy);
	tcase_add_test(cases, test_http_wanted_reported_once_and_in_status);
	tcase_add_test(cases, test_webhook_sends_nothing_and_reports_why);
	tcase_add_test(cases, test_policy_in_xml_refused_with_what_to_do);
	return run_cases(cases);
}
