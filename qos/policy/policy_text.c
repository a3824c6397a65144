/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads OpenSM's qos-policy.conf.
 *
 * A line begins with the keyword of a block or of its end, or with a key and a ':'.
 * '#' begins a comment, except between quotes on one line.  A list continues on the
 * next line if the ',' is at the end of this line or at the beginning of the next,
 * because OpenSM's lexer treats line ends as blanks. */
#include <string.h>

#include "lib/text.h"
#include "qos/policy/policy_build.h"

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || c == '-' || c == '_';
}

static size_t skip_blanks_from(const struct triad_policy_builder *builder, size_t at)
{
	while (triad_text_is_blank(builder->text[at]))
		at++;
	return at;
}

static size_t end_of_line(const struct triad_policy_builder *builder, size_t at)
{
	const char *newline = memchr(builder->text + at, '\n', builder->size - at);

	return newline ? (size_t)(newline - builder->text) : builder->size;
}

/* --- comments ---------------------------------------------------------- */

/* Overwrites comments with blanks, so that the rest keeps its line and column. */
static void drop_comments(struct triad_policy_builder *builder)
{
	size_t at, end;

	for (at = 0; at < builder->size; at = end + 1) {
		end = end_of_line(builder, at);
		for (; at < end && builder->text[at] != '#'; at++) {
			const char *other;

			if (builder->text[at] != '"')
				continue;
			/* Skip quoted text.  A quote without another one in its line
			 * is a character like any other. */
			other = memchr(builder->text + at + 1, '"', end - at - 1);
			if (other)
				at = (size_t)(other - builder->text);
		}
		if (at < end)
			memset(builder->text + at, ' ', end - at);
	}
}

/* --- keywords ---------------------------------------------------------- */

struct word {
	size_t at, length;
	bool is_end; /* it is preceded by "end-", which isn't part of it */
	enum triad_policy_block_kind kind;
};

static struct word read_word(const struct triad_policy_builder *builder, size_t at)
{
	struct word word = {.at = at};

	while (is_word(builder->text[at + word.length]))
		word.length++;
	word.is_end = word.length > 4 &&
		(!strncmp(builder->text + at, "end-", 4) ||
			!strncmp(builder->text + at, "end_", 4));
	if (word.is_end) {
		word.at += 4;
		word.length -= 4;
	}
	word.kind = triad_policy_block_find(builder->text + word.at, word.length);
	/* The policy as a whole has an element in XML only. */
	if (word.kind == TRIAD_BLOCK_POLICY)
		word.kind = TRIAD_N_BLOCKS;
	/* "end-" before another word is not special. */
	if (word.kind == TRIAD_N_BLOCKS && word.is_end)
		word = (struct word){at, word.length + 4, false, TRIAD_N_BLOCKS};
	return word;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether the line at 'at' begins with a block's keyword or a key with ':', so that a
 * list can't continue there. */
static bool is_keyword(const struct triad_policy_builder *builder, size_t at)
{
	struct word word = read_word(builder, at);

	return word.kind != TRIAD_N_BLOCKS ||
		(word.length && !is_digit(builder->text[at]) &&
			builder->text[skip_blanks_from(
				builder, word.at + word.length)] == ':');
}

/* --- lines ------------------------------------------------------------- */

/* The end of a value from 'at' to 'end', including the following lines that continue
 * it. */
static size_t find_end(
	const struct triad_policy_builder *builder, size_t at, size_t end)
{
	for (;;) {
		size_t last = end, next = end;
		char before, after;

		while (last > at && triad_text_is_blank(builder->text[last - 1]))
			last--;
		while (triad_text_is_blank(builder->text[next]) ||
			builder->text[next] == '\n')
			next++;
		if (next >= builder->size)
			return end;
		/* It continues with a ',' on either side of the line's end, or if the
		 * ':' was last and a value follows. */
		before = last > at ? builder->text[last - 1] : '\0';
		after = builder->text[next];
		if (after != ',' && (before != ',' || is_keyword(builder, next)) &&
			(before != ':' || !(is_digit(after) || after == '*')))
			return end;
		end = end_of_line(builder, next);
	}
}

/* 'colon' stands behind the word. */
static size_t read_key(
	struct triad_policy_builder *builder, const struct word *word, size_t colon)
{
	struct triad_source_location location =
		triad_policy_location(builder, word->at);
	const struct triad_policy_key *key = triad_policy_key(
		builder, builder->text + word->at, word->length, location);
	size_t end = end_of_line(builder, colon);
	struct triad_policy_value value;

	if (!key)
		return end;
	/* Free text never continues: it may end with a comma. */
	if (key->kind != TRIAD_VALUE_USE && key->kind != TRIAD_VALUE_SERIAL)
		end = find_end(builder, colon, end);
	value = (struct triad_policy_value){
		.text = builder->text + colon + 1,
		.size = end - colon - 1,
		.location = triad_policy_location(builder, colon + 1),
		.is_verbatim = true,
	};
	triad_policy_set(builder, key, location, &value);
	return end;
}

static size_t read_unknown(
	struct triad_policy_builder *builder, const struct word *word, size_t at)
{
	struct triad_source_location location = triad_policy_location(builder, at);
	enum triad_policy_block_kind present = triad_policy_present(builder);
	const char *text = builder->text + word->at;

	if (!word->length)
		triad_policy_report(builder, location, "a line begins with a keyword");
	else if (triad_policy_key_find(present, text, word->length))
		triad_policy_report(builder, location, "a ':' is missing behind '%.*s'",
			(int)word->length, text);
	else
		triad_policy_key(builder, text, word->length, location);
	return end_of_line(builder, at);
}

/* Returns where to continue. */
static size_t read_policy_line(struct triad_policy_builder *builder, size_t at)
{
	struct word word = read_word(builder, at);
	size_t behind = word.at + word.length;
	size_t mark = skip_blanks_from(builder, behind), end;

	if (word.kind != TRIAD_N_BLOCKS) {
		struct triad_source_location location =
			triad_policy_location(builder, at);

		if (word.is_end)
			triad_policy_end(builder, word.kind, location);
		else
			triad_policy_begin(builder, word.kind, location);
		return behind;
	}
	if (triad_policy_present(builder) == TRIAD_BLOCK_ULPS) {
		end = find_end(builder, at, end_of_line(builder, at));
		triad_policy_ulp_read(builder, at, end);
		return end;
	}
	if (word.length && builder->text[mark] == ':')
		return read_key(builder, &word, mark);
	return read_unknown(builder, &word, at);
}

void triad_policy_text_read(struct triad_policy_builder *builder)
{
	size_t at = 0;

	drop_comments(builder);
	/* Nothing in the text opens the policy, so it is open from the beginning. */
	builder->open[builder->depth++] = (struct triad_policy_open){
		.kind = TRIAD_BLOCK_POLICY, .location = {1, 1}, .implied = true};
	while (!builder->stopped) {
		while (triad_text_is_blank(builder->text[at]) ||
			builder->text[at] == '\n')
			at++;
		if (at >= builder->size)
			break;
		at = read_policy_line(builder, at);
	}
}
