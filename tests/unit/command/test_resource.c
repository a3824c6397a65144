/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "command/resource.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/mentions.h"

static struct triad_resource resource;
static char message[512];

/* The words with blanks between them; or the error message. */
static const char *read_target(const char *target)
{
	static char joined[TRIAD_RESOURCE_SIZE];

	message[0] = joined[0] = '\0';
	if (triad_resource_read(target, &resource, message, sizeof(message)))
		return message;
	for (int i = 0; i < resource.n_words; i++) {
		strcat(joined, i ? " " : "");
		strcat(joined, resource.words[i]);
	}
	return joined;
}

/* Row: N11 */
START_TEST(test_target_good_becomes_words)
{
	ck_assert_str_eq(read_target("/api/v1/status"), "status --json");
	ck_assert_str_eq(read_target("/api/v1/perf/top?by=PortXmitData&limit=20&at=2h"),
		"perf top --json --by=PortXmitData --at=2h -n21");
	ck_assert_str_eq(read_target("/api/v1/links?down&slow=true&errors=false"),
		"links --json --down --slow");
	ck_assert_str_eq(read_target("/api/v1/perf/history/a%2Fb:3/PortXmitData"),
		"perf history --json -- a/b:3 PortXmitData");
	ck_assert_str_eq(read_target("/api/v1/agents/owner/--json"),
		"agents owner --json -- --json");
	ck_assert_str_eq(read_target("/api/v1/nodes?node=host+1%2B&limit=5&offset=10"),
		"nodes --json --node=host 1+ -n16");
	ck_assert(!resource.waits);
	ck_assert_uint_eq(resource.offset, 10);
	ck_assert_uint_eq(resource.limit, 5);
	ck_assert_uint_eq(resource.n_asked, 16);
	ck_assert_str_eq(
		read_target("/api/v1/job?slurm=4711"), "job --json --slurm=4711");
	ck_assert_msg(resource.waits, "Slurm may take long");
}
END_TEST

START_TEST(test_target_unknown_not_found)
{
	static const char *const targets[] = {"/", "/api/v1/", "/api/v1/none",
		"/api/v1/status/", "/api/v1//status", "/api/v1/reload",
		"/api/v1/perf/sweep", "/api/v1/port/confirm", "/api/v1/port/blacklist",
		"/api/v1/help", "/api/v1/perf%20top", "/api/v1/status%00",
		"/api/v1/qos/plan/%2Fetc%2Fshadow", "/api/v1/agents/owner",
		"/api/v1/a/b/c/d/e/f", "/api/v1/%zz", "/api/v1/%ff"};

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		ck_assert_msg(triad_resource_read(targets[i], &resource, message,
				      sizeof(message)) == ENOENT,
			"%s: %s", targets[i], message);
}
END_TEST

START_TEST(test_query_bad_reported)
{
	static const struct {
		const char *target, *words;
	} cases[] = {
		{"/api/v1/version?watch", "'version' 'watch' limit offset"},
		{"/api/v1/perf/top?json", "parameter 'json'"},
		{"/api/v1/perf/top?n=3", "parameter 'n'"},
		{"/api/v1/links?down=maybe", "true false"},
		{"/api/v1/links?port=1&port=2", "port twice"},
		{"/api/v1/links?limit=0", "1 10000"},
		{"/api/v1/links?limit=+1", "1 10000"},
		{"/api/v1/links?offset=3", "offset needs limit"},
		{"/api/v1/alerts?limit=10000&offset=60000", "65535 rows"},
		{"/api/v1/links?node=%1b", "control characters"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(triad_resource_read(cases[i].target, &resource,
					 message, sizeof(message)),
			EINVAL);
		assert_mentions(message, cases[i].words);
	}
}
END_TEST

/* Whatever commands are added: one that a reader may not use is no resource. */
START_TEST(test_verbs_that_change_are_none)
{
	unsigned n = 0;

	for (size_t i = 0; i < TRIAD_N_COMMANDS; i++) {
		const struct triad_verb *verb = &triad_verbs[i];

		n += triad_resource_has(verb);
		if (verb->access != TRIAD_VERB_READS)
			ck_assert_msg(!triad_resource_has(verb), "%s", verb->name);
		if (verb->arguments_change)
			ck_assert_int_eq(triad_resource_n_arguments(verb), 0);
	}
	ck_assert_uint_gt(n, 30);
}
END_TEST

START_TEST(test_past_of_either_kind_waits_for_the_disk)
{
	static const char *const waiting[] = {"/api/v1/nodes?at=1h",
		"/api/v1/health?at=1h", "/api/v1/port/plan?at=1h",
		"/api/v1/cables?at=1h"};

	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		read_target(waiting[i]);
		ck_assert_msg(resource.waits, "%s", waiting[i]);
	}
	read_target("/api/v1/health");
	ck_assert(!resource.waits);
}
END_TEST

START_TEST(test_page_is_turned_and_the_rest_stays)
{
	char text[256];

	ck_assert(triad_resource_turn_page(
		"/api/v1/nodes?node=a%20b+&li%6dit=5&type=ca&offset=5", 5, 10, text,
		sizeof(text)));
	ck_assert_str_eq(text, "/api/v1/nodes?node=a%20b+&type=ca&limit=5&offset=10");
	ck_assert(triad_resource_turn_page(
		"/api/v1/nodes?node=<\">\xc3\xa4", 1, 1, text, sizeof(text)));
	ck_assert_str_eq(text, "/api/v1/nodes?node=%3C%22%3E%C3%A4&limit=1&offset=1");
	ck_assert(!triad_resource_turn_page(
		"/api/v1/nodes?limit=1", 1, 1, text, sizeof("/api/v1/nodes?limit=1")));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("resource");

	tcase_add_test(cases, test_target_good_becomes_words);
	tcase_add_test(cases, test_target_unknown_not_found);
	tcase_add_test(cases, test_page_is_turned_and_the_rest_stays);
	tcase_add_test(cases, test_past_of_either_kind_waits_for_the_disk);
	tcase_add_test(cases, test_query_bad_reported);
	tcase_add_test(cases, test_verbs_that_change_are_none);
	return run_cases(cases);
}
