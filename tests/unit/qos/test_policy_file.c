/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Policies as files. */
#include "config.h"

#include <sys/stat.h>
#include <unistd.h>

#include "qos/policy/policy_table.h"
#include "tests/unit/qos/policy_fixture.h"

static char folder[TEST_FOLDER_SIZE];
static char path[80];

static void make_folder(void)
{
	make_test_folder(folder);
	snprintf(path, sizeof(path), "%s/policy", folder);
}

static void remove_folder(void)
{
	forget_policy();
	unlink(path);
	rmdir(folder);
}

static int load(void)
{
	return triad_policy_load(path, NULL, &policy, &diags);
}

/* The reason of the mistake, without the file's name before it. */
static const char *reason(void)
{
	const char *all = mistakes();

	ck_assert_uint_eq(diags.n_total, 1);
	ck_assert(!strncmp(all, path, strlen(path)));
	return all + strlen(path);
}

START_TEST(test_load_file_read)
{
	const char *text = "qos-ulps\ndefault: 3\nend-qos-ulps\n";

	ck_assert(g_file_set_contents(path, text, -1, NULL));
	ck_assert_int_eq(load(), 0);
	ck_assert_str_eq(policy->source, path);
	ck_assert_uint_eq(policy->levels[policy->default_level].sl, 3);
}
END_TEST

START_TEST(test_load_mistake_reported_with_file)
{
	ck_assert(g_file_set_contents(
		path, "qos-ulps\ndefault: 33\nend-qos-ulps\n", -1, NULL));
	ck_assert_int_eq(load(), EINVAL);
	ck_assert_uint_eq(diags.entries[0].line, 2);
	ck_assert_uint_eq(diags.entries[0].column, 10);
	ck_assert_str_eq(diags.source, path);
}
END_TEST

START_TEST(test_load_nothing_there_reported)
{
	ck_assert_int_eq(load(), ENOENT);
	assert_mentions(reason(), "No such file");
}
END_TEST

START_TEST(test_load_no_regular_file_refused)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(load(), EINVAL);
	assert_mentions(reason(), "regular file");
	unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(load(), EISDIR);
	assert_mentions(reason(), "directory");
	rmdir(path);
}
END_TEST

START_TEST(test_load_too_large_refused)
{
	ck_assert(g_file_set_contents(path, "", -1, NULL));
	ck_assert_int_eq(truncate(path, TRIAD_POLICY_FILE_MAX_SIZE + 1), 0);
	ck_assert_int_eq(load(), EFBIG);
	assert_mentions(reason(), "16 MiB");
	ck_assert_int_eq(truncate(path, TRIAD_POLICY_FILE_MAX_SIZE), 0);
	ck_assert_int_eq(load(), EINVAL);
}
END_TEST

/* The manual's section on a block, from its title to the next title. */
static char *find_section(const char *manual, const char *block)
{
	char *title = g_strdup_printf(": %s\n", block), *section;
	char **parts = g_strsplit(manual, title, 2), *end;

	ck_assert_msg(parts[1] != NULL, "%s", block);
	section = g_strdup(parts[1]);
	end = strstr(section, "\n.S");
	if (end)
		*end = '\0';
	g_strfreev(parts);
	g_free(title);
	return section;
}

START_TEST(test_manual_has_every_key)
{
	char *manual = read_source("docs/triad-qos-policy.5");

	for (unsigned i = 0; i < TRIAD_N_BLOCKS; i++) {
		const struct triad_policy_block *block = &triad_policy_blocks[i];
		char *section;

		if (!block->n_keys)
			continue;
		section = find_section(manual, block->name);
		for (unsigned j = 0; j < block->n_keys; j++) {
			const char *name = block->keys[j].name;
			char *first = g_strdup_printf(".BI %s \"", name);
			char *second = g_strdup_printf("\\fR, \" %s \"", name);
			char *other = g_strdup_printf("\\fR, or \" %s \"", name);

			ck_assert_msg(strstr(section, first) ||
					strstr(section, second) ||
					strstr(section, other) ||
					block->keys[j].kind == TRIAD_VALUE_SERIAL,
				"%s: %s", block->name, name);
			g_free(first);
			g_free(second);
			g_free(other);
		}
		g_free(section);
	}
	g_free(manual);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("policy_file");

	tcase_add_checked_fixture(cases, make_folder, remove_folder);
	tcase_add_test(cases, test_load_file_read);
	tcase_add_test(cases, test_load_mistake_reported_with_file);
	tcase_add_test(cases, test_load_nothing_there_reported);
	tcase_add_test(cases, test_load_no_regular_file_refused);
	tcase_add_test(cases, test_load_too_large_refused);
	tcase_add_test(cases, test_manual_has_every_key);
	return run_cases(cases);
}
