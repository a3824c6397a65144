/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/console_lines.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"

/* The words of a line, with '|' between them; or why there are none. */
static const char *split(const char *text)
{
	static char line[TRIAD_CONSOLE_LINE_SIZE], shown[TRIAD_CONSOLE_LINE_SIZE];
	const char *words[4], *why = NULL;
	int n;

	snprintf(line, sizeof(line), "%s", text);
	n = triad_console_split(line, words, 4, &why);
	if (n < 0)
		return why;
	shown[0] = '\0';
	for (int i = 0; i < n; i++) {
		if (i)
			strcat(shown, "|");
		strcat(shown, words[i]);
	}
	return shown;
}

START_TEST(test_words_are_split_as_by_a_shell)
{
	static const struct {
		const char *line, *words;
	} cases[] = {
		{"triad perf  show ", "triad|perf|show"},
		{" \ttriad\tstatus", "triad|status"},
		{"triad nodes --node \"a b\"", "triad|nodes|--node|a b"},
		{"triad 'a \"b\\' c", "triad|a \"b\\|c"},
		{"triad a\\ b \"c\\\"d\\\\e\\f\"", "triad|a b|c\"d\\e\\f"},
		{"triad ''", "triad|"},
		{"triad x\"y\"'z'", "triad|xyz"},
		{"triad a\\", "triad|a\\"},
		{"", ""},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(split(cases[i].line), cases[i].words);
}
END_TEST

START_TEST(test_line_that_cannot_be_split_says_why)
{
	ck_assert_ptr_nonnull(strstr(split("triad \"a b"), "quote"));
	ck_assert_ptr_nonnull(strstr(split("triad 'a b\""), "quote"));
	ck_assert_ptr_nonnull(strstr(split("triad 1 2 3 4"), "many"));
	ck_assert_str_eq(split("triad 1 2 3"), "triad|1|2|3");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("console_lines");

	tcase_add_test(cases, test_words_are_split_as_by_a_shell);
	tcase_add_test(cases, test_line_that_cannot_be_split_says_why);
	return run_cases(cases);
}
