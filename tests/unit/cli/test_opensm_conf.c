/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/opensm_conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/random.h"
#include "tests/unit/run.h"

static struct triad_opensm_conf_edit edit;

static void add(const char *text, const char *path, const char *expected)
{
	triad_opensm_conf_edit_clear(&edit);
	ck_assert_int_eq(triad_opensm_conf_add(text, strlen(text), path, &edit), 0);
	ck_assert_str_eq(edit.octets, expected);
	ck_assert_uint_eq(edit.size, strlen(expected));
	ck_assert_int_eq(edit.n_changes > 0, strcmp(text, expected) != 0);
}

/* Removes the plugin from 'text', without a copy of the original file. */
static void take_out(const char *text, const char *expected)
{
	triad_opensm_conf_edit_clear(&edit);
	ck_assert_int_eq(
		triad_opensm_conf_remove(text, strlen(text), NULL, 0, &edit), 0);
	ck_assert_str_eq(edit.octets, expected);
}

START_TEST(test_add_none_there_is_set_and_rest_stays)
{
	add("# names\nevent_plugin_name (null)\n\tsweep_interval 10 # s\n", NULL,
		"# names\nevent_plugin_name osmtriad\n\tsweep_interval 10 # s\n");
	ck_assert_uint_eq(edit.n_changes, 1);
	ck_assert_uint_eq(edit.changes[0].line, 2);
	ck_assert_str_eq(edit.changes[0].before, "event_plugin_name (null)");
	ck_assert_str_eq(edit.changes[0].after, "event_plugin_name osmtriad");
	add("event_plugin_name\n", NULL, "event_plugin_name osmtriad\n");
	add(" event_plugin_name\t # none\n", NULL,
		" event_plugin_name osmtriad\t # none\n");
	add("event_plugin_name \"\"\n", NULL, "event_plugin_name \"osmtriad\"\n");
}
END_TEST

START_TEST(test_add_no_line_there_is_appended)
{
	add("", NULL, "event_plugin_name osmtriad\n");
	ck_assert_str_eq(edit.changes[0].before, "");
	add("qos TRUE\n", NULL, "qos TRUE\nevent_plugin_name osmtriad\n");
	ck_assert_uint_eq(edit.changes[0].line, 2);
	add("qos TRUE", NULL, "qos TRUE\nevent_plugin_name osmtriad\n");
	add("qos TRUE\r\n", NULL, "qos TRUE\r\nevent_plugin_name osmtriad\r\n");
	add("#event_plugin_name osmtriad\n", NULL,
		"#event_plugin_name osmtriad\nevent_plugin_name osmtriad\n");
}
END_TEST

START_TEST(test_add_other_plugin_there_stays)
{
	add("event_plugin_name other\n", NULL, "event_plugin_name other,osmtriad\n");
	add("event_plugin_name \"a b\" # two\n", NULL,
		"event_plugin_name \"a b,osmtriad\" # two\n");
	add("event_plugin_name osmtriad2\n", NULL,
		"event_plugin_name osmtriad2,osmtriad\n");
}
END_TEST

START_TEST(test_add_there_already_changes_nothing)
{
	add("event_plugin_name osmtriad", NULL, "event_plugin_name osmtriad");
	add("event_plugin_name a,osmtriad b\r\n", NULL,
		"event_plugin_name a,osmtriad b\r\n");
	add("event_plugin_name 'osmtriad'\n", NULL, "event_plugin_name 'osmtriad'\n");
}
END_TEST

START_TEST(test_add_key_twice_changes_the_last)
{
	add("event_plugin_name osmtriad\nevent_plugin_name (null)\n", NULL,
		"event_plugin_name osmtriad\nevent_plugin_name osmtriad\n");
	ck_assert_uint_eq(edit.changes[0].line, 2);
}
END_TEST

START_TEST(test_add_carriage_returns_stay)
{
	add("event_plugin_name (null)\r\nqos TRUE\r\n", NULL,
		"event_plugin_name osmtriad\r\nqos TRUE\r\n");
	ck_assert_str_eq(edit.changes[0].after, "event_plugin_name osmtriad");
}
END_TEST

START_TEST(test_add_configuration_set_before_other_options)
{
	add("event_plugin_name osmtriad\nevent_plugin_options (null)\n", "/etc/t.conf",
		"event_plugin_name osmtriad\nevent_plugin_options conf=/etc/t.conf\n");
	add("event_plugin_name osmtriad\nevent_plugin_options x=1\n", "/etc/t.conf",
		"event_plugin_name osmtriad\n"
		"event_plugin_options conf=/etc/t.conf x=1\n");
	add("event_plugin_name osmtriad\nevent_plugin_options x,conf=/old;y\n",
		"/etc/t.conf",
		"event_plugin_name osmtriad\n"
		"event_plugin_options x,conf=/etc/t.conf;y\n");
	/* The plugin uses only the first "conf=". */
	add("event_plugin_name osmtriad\nevent_plugin_options myconf=1 conf=/old\n",
		"/new",
		"event_plugin_name osmtriad\n"
		"event_plugin_options conf=/new myconf=1 conf=/old\n");
	ck_assert_uint_eq(edit.n_changes, 1);
}
END_TEST

START_TEST(test_add_line_too_long_refused)
{
	static char text[3000];

	snprintf(text, sizeof(text), "event_plugin_name %0*d\n", 1000, 1);
	ck_assert_int_eq(
		triad_opensm_conf_add(text, strlen(text), NULL, &edit), EMSGSIZE);
	ck_assert_ptr_null(edit.octets);
	/* OpenSM reads the rest of a too long line as another line. */
	snprintf(text, sizeof(text), "#%0*devent_plugin_name osmtriad\n", 1021, 0);
	ck_assert_int_eq(triad_opensm_conf_add(text, strlen(text), NULL, &edit), 0);
	ck_assert_uint_eq(edit.n_changes, 0);
	triad_opensm_conf_edit_clear(&edit);
	snprintf(text, sizeof(text), "event_plugin_name a%*s\n", 1100, "b");
	ck_assert_int_eq(
		triad_opensm_conf_add(text, strlen(text), NULL, &edit), EMSGSIZE);
	snprintf(text, sizeof(text), "/%0*d", 1010, 1);
	ck_assert_int_eq(triad_opensm_conf_add("", 0, text, &edit), EMSGSIZE);
}
END_TEST

START_TEST(test_remove_without_copy_takes_name_out)
{
	take_out("event_plugin_name osmtriad\nqos TRUE",
		"event_plugin_name (null)\nqos TRUE");
	take_out("event_plugin_name a,osmtriad\n", "event_plugin_name a\n");
	take_out("event_plugin_name osmtriad a\n", "event_plugin_name a\n");
	take_out("event_plugin_name a, osmtriad, b # c\n",
		"event_plugin_name a, b # c\n");
	take_out("event_plugin_name osmtriad,osmtriad\n", "event_plugin_name (null)\n");
	take_out("qos TRUE\n", "qos TRUE\n");
	ck_assert_uint_eq(edit.n_changes, 0);
	take_out("event_plugin_name osmtriad\nevent_plugin_options conf=/t\n",
		"event_plugin_name (null)\nevent_plugin_options (null)\n");
	take_out("event_plugin_name a osmtriad\nevent_plugin_options conf=/t\n",
		"event_plugin_name a\nevent_plugin_options conf=/t\n");
	take_out("event_plugin_name osmtriad\nevent_plugin_options conf=/t x=1\n",
		"event_plugin_name (null)\nevent_plugin_options x=1\n");
}
END_TEST

static void undo(const char *text, const char *path)
{
	struct triad_opensm_conf_edit back = {0};
	size_t size = strlen(text);

	triad_opensm_conf_edit_clear(&edit);
	ck_assert_int_eq(triad_opensm_conf_add(text, size, path, &edit), 0);
	ck_assert_int_eq(
		triad_opensm_conf_remove(edit.octets, edit.size, text, size, &back), 0);
	ck_assert_str_eq(back.octets, text);
	ck_assert_uint_eq(back.n_changes, edit.n_changes);
	ck_assert_str_eq(back.changes[0].before, edit.changes[0].after);
	ck_assert_str_eq(back.changes[0].after, edit.changes[0].before);
	triad_opensm_conf_edit_clear(&back);
}

START_TEST(test_remove_with_copy_gives_the_file_back)
{
	undo("", NULL);
	undo("qos TRUE", "/t.conf");
	undo("event_plugin_name\n", NULL);
	undo("event_plugin_name \"\"\nevent_plugin_options x", "/t.conf");
	undo("event_plugin_name a b\r\n", "/t.conf");
}
END_TEST

START_TEST(test_remove_with_copy_of_another_file_edits)
{
	static const char text[] = "qos TRUE\nevent_plugin_name osmtriad\n";
	static const char old[] = "qos FALSE\n";

	triad_opensm_conf_edit_clear(&edit);
	ck_assert_int_eq(
		triad_opensm_conf_remove(text, strlen(text), old, strlen(old), &edit),
		0);
	ck_assert_str_eq(edit.octets, "qos TRUE\nevent_plugin_name (null)\n");
}
END_TEST

START_TEST(test_refuse_what_is_no_text)
{
	static char large[TRIAD_OPENSM_CONF_MAX_SIZE + 1];

	memset(large, '#', sizeof(large));
	ck_assert_ptr_null(triad_opensm_conf_refuse("", 0));
	ck_assert_ptr_null(triad_opensm_conf_refuse(large, sizeof(large) - 1));
	ck_assert_ptr_nonnull(
		strstr(triad_opensm_conf_refuse(large, sizeof(large)), "1 MiB"));
	ck_assert_ptr_nonnull(strstr(triad_opensm_conf_refuse("a\0b", 3), "binary"));
}
END_TEST

START_TEST(test_path_in_options_is_one_word)
{
	ck_assert(triad_opensm_conf_takes_path("/etc/triad.conf"));
	ck_assert(!triad_opensm_conf_takes_path("triad.conf"));
	ck_assert(!triad_opensm_conf_takes_path("/a b"));
	ck_assert(!triad_opensm_conf_takes_path("/a,b"));
	ck_assert(!triad_opensm_conf_takes_path("/a#b"));
	ck_assert(!triad_opensm_conf_takes_path("/a\nevent_plugin_name x"));
}
END_TEST

/* --- any file --- */

static size_t make_text(uint64_t *random, char *text, size_t size)
{
	static const char *const parts[] = {"event_plugin_name", "event_plugin_options",
		" ", "\t", "\n", "\n", "\r\n", "#", "\"", "'", ",", "osmtriad",
		"(null)", "other", "conf=", "/t.conf", "qos", "\v", "\xff", "x"};
	size_t n_parts = sizeof(parts) / sizeof(parts[0]);
	unsigned n = random_below(random, 40);

	*text = '\0';
	for (unsigned i = 0; i < n; i++)
		strcat(text, parts[random_below(random, (unsigned)n_parts)]);
	ck_assert_uint_lt(strlen(text), size);
	return strlen(text);
}

/* Checks that lines without a listed change are unchanged. */
static void check_other_lines(const char *before, const char *after)
{
	for (unsigned number = 1; *before; number++) {
		size_t n = strcspn(before, "\n"), n_after = strcspn(after, "\n");
		bool is_changed = false;

		for (unsigned i = 0; i < edit.n_changes; i++)
			is_changed |= edit.changes[i].line == number;
		if (!is_changed) {
			ck_assert_uint_eq(n, n_after);
			ck_assert(!memcmp(before, after, n));
		}
		before += n + (before[n] == '\n');
		after += n_after + (after[n_after] == '\n');
	}
}

START_TEST(test_any_text_is_set_and_undone)
{
	char value[TRIAD_OPENSM_CONF_LINE_SIZE], found[TRIAD_OPENSM_CONF_LINE_SIZE];
	char text[2048];
	struct triad_opensm_conf_edit back = {0};
	uint64_t random = 20260102;
	unsigned n;

	for (int i = 0; i < 20000; i++) {
		size_t size = make_text(&random, text, sizeof(text));
		const char *path = i % 2 ? "/etc/t.conf" : NULL;

		triad_opensm_conf_edit_clear(&edit);
		ck_assert_int_eq(triad_opensm_conf_add(text, size, path, &edit), 0);
		triad_opensm_conf_get(
			edit.octets, edit.size, "event_plugin_name", value, &n);
		ck_assert_msg(triad_opensm_conf_loads(value), "%d: %s", i, text);
		check_other_lines(text, edit.octets);
		triad_opensm_conf_get(
			edit.octets, edit.size, "event_plugin_options", value, &n);
		ck_assert(!path || triad_opensm_conf_option(value, found));
		ck_assert(!path || !strcmp(found, path));
		triad_opensm_conf_edit_clear(&back);
		ck_assert_int_eq(triad_opensm_conf_remove(
					 edit.octets, edit.size, text, size, &back),
			0);
		ck_assert(!edit.n_changes || !strcmp(back.octets, text));
		triad_opensm_conf_edit_clear(&back);
		ck_assert_int_eq(triad_opensm_conf_remove(
					 edit.octets, edit.size, NULL, 0, &back),
			0);
		triad_opensm_conf_get(
			back.octets, back.size, "event_plugin_name", value, &n);
		ck_assert_msg(!triad_opensm_conf_loads(value), "%d: %s", i, text);
	}
	triad_opensm_conf_edit_clear(&back);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("opensm_conf");

	tcase_add_test(cases, test_add_none_there_is_set_and_rest_stays);
	tcase_add_test(cases, test_add_no_line_there_is_appended);
	tcase_add_test(cases, test_add_other_plugin_there_stays);
	tcase_add_test(cases, test_add_there_already_changes_nothing);
	tcase_add_test(cases, test_add_key_twice_changes_the_last);
	tcase_add_test(cases, test_add_carriage_returns_stay);
	tcase_add_test(cases, test_add_configuration_set_before_other_options);
	tcase_add_test(cases, test_add_line_too_long_refused);
	tcase_add_test(cases, test_remove_without_copy_takes_name_out);
	tcase_add_test(cases, test_remove_with_copy_gives_the_file_back);
	tcase_add_test(cases, test_remove_with_copy_of_another_file_edits);
	tcase_add_test(cases, test_refuse_what_is_no_text);
	tcase_add_test(cases, test_path_in_options_is_one_word);
	tcase_add_test(cases, test_any_text_is_set_and_undone);
	return run_cases(cases);
}
