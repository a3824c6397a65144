/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fixture of tests of policies: parsing, the mistakes as text, and files of the
 * source tree. */
#ifndef TRIAD_TESTS_UNIT_QOS_POLICY_FIXTURE_H
#define TRIAD_TESTS_UNIT_QOS_POLICY_FIXTURE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "qos/policy/policy.h"
#include "tests/unit/mentions.h"

static struct triad_diags diags;
static struct triad_policy *policy;

static inline int parse_with(const char *text, const char *default_level)
{
	triad_policy_unref(policy);
	policy = NULL;
	return triad_policy_parse(
		text, strlen(text), "p", default_level, &policy, &diags);
}

/* All mistakes, one per line. */
static inline const char *mistakes(void)
{
	static char all[TRIAD_DIAG_MAX * 2 * TRIAD_DIAG_TEXT_SIZE];
	char text[2 * TRIAD_DIAG_TEXT_SIZE];
	size_t n = 0;

	all[0] = '\0';
	for (size_t i = 0; i < diags.n; i++) {
		triad_diags_format(&diags, i, text, sizeof(text));
		n += (size_t)snprintf(
			all + n, sizeof(all) - n, "%s%s", i ? "\n" : "", text);
	}
	return all;
}

static inline void accept(const char *text)
{
	int error = parse_with(text, NULL);

	ck_assert_msg(!error, "%s", mistakes());
	ck_assert_ptr_nonnull(policy);
}

/* Checks that the parser refuses 'text', with one mistake for each line of 'words',
 * which it mentions. */
static inline void refuse(const char *text, const char *words)
{
	ck_assert_int_eq(parse_with(text, NULL), EINVAL);
	assert_mentions(mistakes(), words);
}

/* Checks that the parser refuses 'text', and that one mistake mentions these words. */
static inline void refuse_with(const char *text, const char *words)
{
	ck_assert_int_eq(parse_with(text, NULL), EINVAL);
	assert_line_with(mistakes(), words);
}

static inline void forget_policy(void)
{
	triad_policy_unref(policy);
	policy = NULL;
}

static inline void check_ranges(const struct triad_ranges *ranges, const char *expected)
{
	char text[512] = "";

	for (uint32_t i = 0; i < ranges->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			"%s%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x",
			i ? "," : "", ranges->items[i].first, ranges->items[i].last);
	ck_assert_str_eq(text, expected);
}

/* Reads a file of the source tree; the caller frees the text. */
static inline char *read_source(const char *name)
{
	char *path = g_build_filename(source_folder(), name, NULL), *text = NULL;

	ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "%s", path);
	g_free(path);
	return text;
}

#endif
