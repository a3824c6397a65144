/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of messages for people: objects, values and key words count, sentences don't. */
#ifndef TRIAD_TESTS_UNIT_MENTIONS_H
#define TRIAD_TESTS_UNIT_MENTIONS_H

#include <ctype.h>
#include <string.h>

#include "tests/unit/run.h"

static inline bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Where the word ends that stands in the line, not as a part of another; or NULL. */
static inline const char *end_of_word(
	const char *at, const char *end, const char *word, size_t length)
{
	for (const char *begin = at; begin + length <= end; begin++) {
		const char *after = begin + length;

		if (!memcmp(begin, word, length) &&
			!(begin > at && is_of_word(*word) && is_of_word(begin[-1])) &&
			!(after < end && is_of_word(word[length - 1]) &&
				is_of_word(*after)))
			return after;
	}
	return NULL;
}

/* Whether the line that 'text' begins with has the words of the line that 'words' begins
 * with, in their order, whatever stands between. */
static inline bool line_mentions(const char *text, const char *words)
{
	const char *end = text + strcspn(text, "\n");

	while (*words && *words != '\n') {
		size_t length = strcspn(words, " \n");

		if (length)
			text = end_of_word(text, end, words, length);
		if (!text)
			return false;
		words += length + (words[length] == ' ');
	}
	return true;
}

static inline const char *next_line(const char *text)
{
	text += strcspn(text, "\n");
	return text + (*text == '\n');
}

/* Whether the text has as many lines as 'words', and each mentions those of its line. */
static inline bool mentions(const char *text, const char *words)
{
	while (*text && *words && line_mentions(text, words)) {
		text = next_line(text);
		words = next_line(words);
	}
	return !*text && !*words;
}

/* Whether one line of the text, which may have more, mentions these words. */
static inline bool has_line_with(const char *text, const char *words)
{
	while (*text && !line_mentions(text, words))
		text = next_line(text);
	return *text != 0;
}

#define assert_mentions(text, words)                                                   \
	ck_assert_msg(mentions(text, words), "'%s' does not mention '%s'", text, words)
#define assert_line_with(text, words)                                                  \
	ck_assert_msg(has_line_with(text, words), "no line mentions '%s' in '%s'",     \
		words, text)

#endif
