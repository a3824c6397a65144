/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/served.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/unit/run.h"

START_TEST(test_report_says_what_was_so)
{
	const struct triad_served served = {.version = "1.2.3",
		.start = 5,
		.configured = UINT64_MAX,
		.prometheus = {.listening = true,
			.has_tls = true,
			.listen = {.family = AF_INET,
				.octets = {127, 0, 0, 1},
				.port = 9315},
			.n_answers = 7},
		.web = {.http = {.reason = "can't listen\nthere"},
			.n_streams = 3,
			.pool = {.n_busy = 9, .trouble = "no room"}},
		.metrics_trouble = "none there",
		.profile = {.is_on = true, .n_skipped = 4, .reason = "a full\ndisk"}};
	char text[TRIAD_SERVED_TEXT_SIZE];
	struct triad_served taken;

	triad_served_put(&served, text, sizeof(text));
	triad_served_take(text, &taken);
	ck_assert(taken.is_known);
	ck_assert_str_eq(taken.version, "1.2.3");
	ck_assert_uint_eq(taken.start, 5);
	ck_assert_uint_eq(taken.configured, UINT64_MAX);
	ck_assert(taken.prometheus.listening && taken.prometheus.has_tls);
	ck_assert_mem_eq(&taken.prometheus.listen, &served.prometheus.listen,
		sizeof(served.prometheus.listen));
	ck_assert_uint_eq(taken.prometheus.n_answers, 7);
	ck_assert(!taken.web.http.listening);
	ck_assert_str_eq(taken.web.http.reason, "can't listen there");
	ck_assert_uint_eq(taken.web.n_streams, 3);
	ck_assert_uint_eq(taken.web.pool.n_busy, 9);
	ck_assert_str_eq(taken.web.pool.trouble, "no room");
	ck_assert_str_eq(taken.metrics_trouble, "none there");
	ck_assert(taken.profile.is_on);
	ck_assert_uint_eq(taken.profile.n_skipped, 4);
	ck_assert_str_eq(taken.profile.reason, "a full disk");
}
END_TEST

/* Whoever may report may send anything. */
START_TEST(test_what_is_not_known_is_skipped)
{
	static const char text[] =
		"\n=\nversion\nnew.thing=5\nweb.streams=-1\nprometheus.listen=x:y\n"
		"prometheus.reason=a\033[31mb\nweb.answers=12";
	char long_line[2000];
	struct triad_served taken;

	triad_served_take(text, &taken);
	ck_assert_str_eq(taken.version, "");
	ck_assert_uint_eq(taken.web.http.n_answers, 12);
	ck_assert_uint_eq(taken.prometheus.listen.port, 0);
	ck_assert_ptr_null(strchr(taken.prometheus.reason, '\033'));
	memset(long_line, 'a', sizeof(long_line));
	memcpy(long_line, "version=", 8);
	long_line[sizeof(long_line) - 1] = '\0';
	triad_served_take(long_line, &taken);
	ck_assert_uint_eq(strlen(taken.version), sizeof(taken.version) - 1);
}
END_TEST

/* All numbers at their largest fit. */
START_TEST(test_longest_report_fits)
{
	struct triad_served served, taken;
	char text[TRIAD_SERVED_TEXT_SIZE];

	memset(&served, 0x7f, sizeof(served));
	served.version[sizeof(served.version) - 1] = '\0';
	served.prometheus.reason[sizeof(served.prometheus.reason) - 1] = '\0';
	served.web.http.reason[sizeof(served.web.http.reason) - 1] = '\0';
	served.profile.reason[sizeof(served.profile.reason) - 1] = '\0';
	served.images.reason[sizeof(served.images.reason) - 1] = '\0';
	served.copies.trouble[sizeof(served.copies.trouble) - 1] = '\0';
	served.metrics_trouble[sizeof(served.metrics_trouble) - 1] = '\0';
	served.web.pool.trouble[sizeof(served.web.pool.trouble) - 1] = '\0';
	served.profile.is_on = served.images.is_on = served.images.is_read =
		served.copies.is_on = true;
	served.prometheus.listening = served.prometheus.has_tls =
		served.prometheus.has_token = served.prometheus.has_client_ca = true;
	served.web.http.listening = served.web.http.has_tls =
		served.web.http.has_token = served.web.http.has_client_ca = true;
	served.prometheus.listen.family = served.web.http.listen.family = AF_INET6;
	triad_served_put(&served, text, sizeof(text));
	triad_served_take(text, &taken);
	ck_assert_uint_eq(taken.web.pool.n_lost, served.web.pool.n_lost);
	ck_assert_uint_eq(
		taken.copies.mirror.behind_of, served.copies.mirror.behind_of);
	ck_assert_uint_eq(
		strlen(taken.profile.reason), sizeof(served.profile.reason) - 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("served");

	tcase_add_test(cases, test_report_says_what_was_so);
	tcase_add_test(cases, test_what_is_not_known_is_skipped);
	tcase_add_test(cases, test_longest_report_fits);
	return run_cases(cases);
}
