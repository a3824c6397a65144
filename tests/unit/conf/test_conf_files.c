/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* triad.conf as a file; compares the example and the manual page with the table of
 * keys. */
#include "config.h"

#include "triad/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "tests/unit/mentions.h"
#include "tests/unit/conf/conf_fixture.h"

static const char *first_diag(void)
{
	static char text[2 * TRIAD_DIAG_TEXT_SIZE];

	ck_assert_uint_eq(diags.n, 1);
	triad_diags_format(&diags, 0, text, sizeof(text));
	return text;
}

/* Comparing octets is enough: padding is zero in both. */
static bool is_equal(const struct triad_conf *a, const struct triad_conf *b)
{
	return !memcmp(a, b, offsetof(struct triad_conf, in_file));
}

/* --- files ------------------------------------------------------------- */

static char folder[TEST_FOLDER_SIZE];

static char *in_folder(const char *name)
{
	static char path[80];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void make_folder(void)
{
	make_test_folder(folder);
}

static void remove_folder(void)
{
	unlink(in_folder("file"));
	rmdir(folder);
}

static int load(const char *path)
{
	renew(&conf);
	return triad_conf_load(path, GUID, conf, &diags);
}

START_TEST(test_load_file_read)
{
	ck_assert(g_file_set_contents(
		in_folder("file"), "[perfmgr]\nwindow = 5\n", -1, NULL));
	ck_assert_int_eq(load(in_folder("file")), 0);
	ck_assert_uint_eq(conf->perfmgr.window, 5);
	ck_assert_uint_eq(diags.n, 0);
}
END_TEST

START_TEST(test_load_mistake_named_by_file_and_line)
{
	char expected[256];

	ck_assert(g_file_set_contents(in_folder("file"), "\nx\n", -1, NULL));
	ck_assert_int_eq(load(in_folder("file")), EINVAL);
	snprintf(expected, sizeof(expected), "%s:2: 'x'", in_folder("file"));
	assert_mentions(first_diag(), expected);
}
END_TEST

START_TEST(test_load_line_without_its_sign_keeps_its_password)
{
	ck_assert(g_file_set_contents(in_folder("file"),
		"[collect]\nservers nats://user:secret@broker:4222\n", -1, NULL));
	ck_assert_int_eq(load(in_folder("file")), EINVAL);
	ck_assert_ptr_null(strstr(first_diag(), "secret"));
	ck_assert_ptr_nonnull(strstr(first_diag(), "broker"));
}
END_TEST

START_TEST(test_load_no_file_reported)
{
	ck_assert_int_eq(load("/nowhere/triad.conf"), ENOENT);
	assert_mentions(first_diag(), "/nowhere/triad.conf No such file");
	ck_assert(is_equal(conf, defaults));
}
END_TEST

START_TEST(test_load_folder_reported)
{
	ck_assert_int_eq(load(folder), EISDIR);
	ck_assert_ptr_nonnull(strstr(first_diag(), "Is a directory"));
}
END_TEST

START_TEST(test_load_fifo_refused_at_once)
{
	ck_assert(!mkfifo(in_folder("file"), 0600));
	ck_assert_int_eq(load(in_folder("file")), EINVAL);
	ck_assert_ptr_nonnull(strstr(first_diag(), "Not a regular file"));
}
END_TEST

START_TEST(test_load_file_too_large_refused)
{
	FILE *file = fopen(in_folder("file"), "w");

	ck_assert_ptr_nonnull(file);
	fclose(file);
	ck_assert(!truncate(in_folder("file"), 10 * TRIAD_CONF_FILE_MAX_SIZE));
	ck_assert_int_eq(load(in_folder("file")), EFBIG);
	ck_assert_uint_eq(diags.n, 1);
}
END_TEST

/* --- the manual -------------------------------------------------------- */

static char *read_source(const char *name)
{
	char *path = g_build_filename(source_folder(), name, NULL), *text;

	ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "no %s", path);
	g_free(path);
	return text;
}

START_TEST(test_example_has_no_mistake_and_changes_nothing)
{
	char *text = read_source("docs/triad.conf.example");

	ck_assert_msg(!parse(text), "%s", diags.entries[0].text);
	ck_assert(is_equal(conf, defaults));
	g_free(text);
}
END_TEST

START_TEST(test_example_of_an_agent_has_no_mistake)
{
	char *text = read_source("docs/agent.conf.example");

	ck_assert_msg(!parse(text), "%s", diags.entries[0].text);
	g_free(text);
}
END_TEST

/* Checks that a key's section of the example has its comment and its line "key =
 * default". */
static void check_example_entry(const char *text, const struct triad_conf_key *key)
{
	char line[256];
	const char *section, *entry, *comment;

	snprintf(line, sizeof(line), "\n[%s]\n", key->section);
	section = strstr(text, line);
	ck_assert_msg(section != NULL, "no [%s]", key->section);
	snprintf(line, sizeof(line), "\n%s =%s%s\n", key->name,
		key->default_text[0] ? " " : "", key->default_text);
	entry = strstr(section, line);
	ck_assert_msg(
		entry && !memmem(section + 1, (size_t)(entry - section), "\n[", 2),
		"[%s]%s", key->section, line);
	comment = g_strrstr_len(text, entry - text, "\n\n");
	ck_assert_msg(!key->at_run_time ==
			!!memmem(comment, (size_t)(entry - comment), "(start)", 7),
		"[%s]%s", key->section, line);
}

START_TEST(test_example_with_all_keys_uncommented_is_the_defaults)
{
	char *text = read_source("docs/triad.conf.example"), line[256];
	GRegex *pattern =
		g_regex_new("^#(?=[A-Za-z0-9_]+ =)", G_REGEX_MULTILINE, 0, NULL);
	char *active = g_regex_replace(pattern, text, -1, 0, "", 0, NULL);
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	ck_assert_msg(!parse(active), "%s", diags.entries[0].text);
	ck_assert(is_equal(conf, defaults));
	for (i = 0; i < n; i++) {
		if (keys[i].per != TRIAD_CONF_PER_GROUP) {
			check_example_entry(active, &keys[i]);
			continue;
		}
		snprintf(line, sizeof(line), "\n#    %s = ", keys[i].name);
		ck_assert_msg(strstr(active, line) != NULL, "no %s", line);
	}
	g_regex_unref(pattern);
	g_free(active);
	g_free(text);
}
END_TEST

/* Comments of the example contain sections, indented by four blanks. */
START_TEST(test_example_sections_in_comments_have_no_mistake)
{
	char *text = read_source("docs/triad.conf.example");
	GRegex *pattern = g_regex_new("^#    ", G_REGEX_MULTILINE, 0, NULL);
	char *active = g_regex_replace(pattern, text, -1, 0, "", 0, NULL);

	ck_assert_msg(!parse(active), "%s", diags.entries[0].text);
	ck_assert_uint_ge(conf->n_groups, 1);
	g_regex_unref(pattern);
	g_free(active);
	g_free(text);
}
END_TEST

/* The manual's entry on a key, up to the next one; the caller frees it. */
static char *manual_entry(const char *manual, const struct triad_conf_key *key)
{
	char *heading = g_strdup_printf("\n.BR %s.%s%s \" = ", key->section,
		key->per == TRIAD_CONF_PER_GROUP ? "NAME." : "", key->name);
	const char *entry = strstr(manual, heading), *end;

	ck_assert_msg(entry != NULL, "no '%s'", heading);
	end = strstr(entry, "\n.T");
	g_free(heading);
	return end ? g_strndup(entry, (size_t)(end - entry) + 1) : g_strdup(entry);
}

START_TEST(test_manual_has_every_key_as_in_table)
{
	char *manual = read_source("docs/triad.conf.5");
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (i = 0; i < n; i++) {
		char *entry = manual_entry(manual, &keys[i]), fact[128];

		snprintf(fact, sizeof(fact), " [%s]%s\"\n", keys[i].default_text,
			keys[i].at_run_time ? "" : ", start");
		ck_assert_msg(
			strstr(entry, fact) != NULL, "no '%s' in %s", fact, entry);
		snprintf(fact, sizeof(fact), "\" = %u to %u%s%s [", keys[i].min,
			keys[i].max, keys[i].unit[0] ? " " : "", keys[i].unit);
		if (keys[i].type == TRIAD_CONF_UINT)
			ck_assert_msg(strstr(entry, fact) != NULL, "no '%s' in %s",
				fact, entry);
		g_free(entry);
	}
	g_free(manual);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("conf_files");

	tcase_add_checked_fixture(cases, make_folder, remove_folder);
	tcase_add_checked_fixture(cases, begin, NULL);
	tcase_add_test(cases, test_load_file_read);
	tcase_add_test(cases, test_load_mistake_named_by_file_and_line);
	tcase_add_test(cases, test_load_line_without_its_sign_keeps_its_password);
	tcase_add_test(cases, test_load_no_file_reported);
	tcase_add_test(cases, test_load_folder_reported);
	tcase_add_test(cases, test_load_fifo_refused_at_once);
	tcase_add_test(cases, test_load_file_too_large_refused);
	tcase_add_test(cases, test_example_has_no_mistake_and_changes_nothing);
	tcase_add_test(cases, test_example_with_all_keys_uncommented_is_the_defaults);
	tcase_add_test(cases, test_example_of_an_agent_has_no_mistake);
	tcase_add_test(cases, test_example_sections_in_comments_have_no_mistake);
	tcase_add_test(cases, test_manual_has_every_key_as_in_table);
	return run_cases(cases);
}
