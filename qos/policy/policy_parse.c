/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The common steps of triad_policy_parse() for both syntaxes.  Before parsing, turns
 * all octets into printable UTF-8, so that later code need not handle others.
 * Afterwards looks up names and sorts mistakes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/text.h"
#include "qos/policy/arena.h"
#include "qos/policy/policy_build.h"

#define MAX_DECLARATION 256

static const char mark_utf8[] = "\xef\xbb\xbf";

/* --- octets ------------------------------------------------------------ */

static bool is_xml(const char *text, size_t size)
{
	size_t i = 0;

	while (i < size && (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r')))
		i++;
	return i < size && text[i] == '<';
}

/* The encoding that an XML declaration names; "" when it names none. */
static void find_encoding(const char *text, size_t size, char encoding[64])
{
	char declaration[MAX_DECLARATION];
	const char *at, *end;

	snprintf(declaration, sizeof(declaration), "%.*s",
		(int)(size < sizeof(declaration) ? size : sizeof(declaration) - 1),
		text);
	encoding[0] = '\0';
	end = strstr(declaration, "?>");
	at = strstr(declaration, "encoding");
	if (strncmp(declaration, "<?xml", 5) != 0 || !end || !at || at > end)
		return;
	at += strcspn(at, "\"'");
	if (*at)
		snprintf(encoding, 64, "%.*s", (int)strcspn(at + 1, "\"'"), at + 1);
}

static bool is_latin1(const char *encoding)
{
	return !strcasecmp(encoding, "ISO-8859-1") || !strcasecmp(encoding, "latin1");
}

static bool is_utf8(const char *encoding)
{
	return !*encoding || !strcasecmp(encoding, "UTF-8") ||
		!strcasecmp(encoding, "US-ASCII") || !strcasecmp(encoding, "ASCII");
}

static size_t copy_latin1(char *to, const char *text, size_t size)
{
	size_t n = 0;

	/* An octet of Latin-1 is a code point, which takes two octets of UTF-8 from
	 * 0x80 on. */
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x80)
			to[n++] = (char)(0xc0 | c >> 6);
		to[n++] = c >= 0x80 ? (char)(0x80 | (c & 0x3f)) : (char)c;
	}
	return n;
}

/* True for control characters other than tabs and line ends.  Those of Latin-1, 0x80
 * to 0x9f, have the octet 0xc2 before them in UTF-8. */
static bool is_stray(const unsigned char *at, const unsigned char *end)
{
	if (*at < 0x20)
		return *at != '\t' && *at != '\n' && *at != '\r';
	return *at == 0x7f ||
		(*at == 0xc2 && at + 1 < end && at[1] >= 0x80 && at[1] < 0xa0);
}

/* Replaces octets that can't be shown, and reports the first of them. */
static void clean(struct triad_policy_builder *builder)
{
	unsigned char *text = (unsigned char *)builder->text;
	size_t n = 0, first = 0, at = 0, end;
	unsigned octet = 0;

	/* First check the whole text for control characters, then each line for invalid
	 * UTF-8.  Report the first of both. */
	for (size_t i = 0; i < builder->size; i++) {
		if (is_stray(text + i, text + builder->size)) {
			if (!n++) {
				first = i;
				octet = text[i];
			}
			text[i] = '?';
		} else if (text[i] == '\r') {
			text[i] = ' ';
		}
	}
	/* Newlines are control characters to triad_text_check(). */
	for (; at < builder->size; at = end + 1) {
		const char *newline =
			memchr(builder->text + at, '\n', builder->size - at);

		end = newline ? (size_t)(newline - builder->text) : builder->size;
		while ((at += triad_text_check(builder->text + at, end - at)) < end) {
			if (!n++ || at < first) {
				first = at;
				octet = text[at];
			}
			text[at++] = '?';
		}
	}
	if (n)
		triad_policy_report(builder, triad_policy_location(builder, first),
			"octet 0x%02x is no text in UTF-8 (%zu such octets in all)",
			octet, n);
}

/* Passes the text to the builder, which owns it then. */
static void adopt_text(
	struct triad_policy_builder *builder, const char *text, size_t size)
{
	char encoding[64] = "";

	/* Editors of Windows put this byte order mark before UTF-8. */
	if (size >= 3 && !memcmp(text, mark_utf8, 3)) {
		text += 3;
		size -= 3;
	}
	builder->syntax = is_xml(text, size) ? TRIAD_POLICY_XML : TRIAD_POLICY_TEXT;
	if (builder->syntax == TRIAD_POLICY_XML)
		find_encoding(text, size, encoding);
	builder->text = malloc((is_latin1(encoding) ? 2 * size : size) + 1);
	if (!builder->text) {
		triad_policy_out_of_memory(builder);
		return;
	}
	if (is_latin1(encoding)) {
		builder->size = copy_latin1(builder->text, text, size);
	} else {
		memcpy(builder->text, text, size);
		builder->size = size;
	}
	/* A final 0, because the readers look at the character after a word without
	 * checking for the end. */
	builder->text[builder->size] = '\0';
	/* UTF-16 has its own mark, in either order of octets.  Without it, its 0 octets
	 * are reported as control characters. */
	if (size >= 2 &&
		(!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2))) {
		triad_policy_report(builder, (struct triad_source_location){1, 1},
			"the file is UTF-16: write it in UTF-8");
		builder->stopped = true;
		return;
	}
	if (!is_latin1(encoding) && !is_utf8(encoding))
		triad_policy_report(builder, (struct triad_source_location){1, 1},
			"encoding %s: allowed are UTF-8 and ISO-8859-1", encoding);
	clean(builder);
}

/* --- mistakes ---------------------------------------------------------- */

static bool is_before(const struct triad_diag *a, const struct triad_diag *b)
{
	/* Mistakes without a line come last. */
	if (a->line != b->line)
		return a->line && (!b->line || a->line < b->line);
	return a->column < b->column;
}

/* Sorts the mistakes by line, because those about names are found last. */
static void sort_diags(struct triad_diags *diags)
{
	size_t n = diags->n;

	/* Keep the line with the number of omitted mistakes last. */
	if (diags->n_total > diags->n)
		n--;
	for (size_t i = 1; i < n; i++) {
		struct triad_diag diag = diags->entries[i];
		size_t j = i;

		for (; j && is_before(&diag, &diags->entries[j - 1]); j--)
			diags->entries[j] = diags->entries[j - 1];
		diags->entries[j] = diag;
	}
}

/* --- all --------------------------------------------------------------- */

static struct triad_policy *new_policy(const char *source)
{
	struct triad_policy *policy = calloc(1, sizeof(*policy));

	if (!policy)
		return NULL;
	policy->n_references = 1;
	policy->default_level = TRIAD_POLICY_NONE;
	policy->arena = triad_arena_new();
	if (policy->arena)
		policy->source =
			triad_arena_text(policy->arena, source, strlen(source));
	if (policy->source)
		return policy;
	triad_policy_unref(policy);
	return NULL;
}

static void read_policy(
	struct triad_policy_builder *builder, const char *text, size_t size)
{
	adopt_text(builder, text, size);
	if (builder->stopped)
		return;
	if (builder->syntax == TRIAD_POLICY_XML)
		triad_policy_xml_read(builder);
	else
		triad_policy_text_read(builder);
	triad_policy_end_all(builder);
	triad_policy_check(builder);
}

int triad_policy_parse(const char *text, size_t size, const char *source,
	const char *default_level, struct triad_policy **policy,
	struct triad_diags *diags)
{
	struct triad_policy_builder builder = {
		.policy = new_policy(source),
		.diags = diags,
		.default_level = default_level ? default_level : "",
		.location = {1, 1},
		.ulp_default = TRIAD_POLICY_NONE,
		.use_default = TRIAD_POLICY_NONE,
	};

	triad_diags_init(diags, source);
	for (unsigned sl = 0; sl < TRIAD_POLICY_N_SLS; sl++)
		builder.ulp_levels[sl] = TRIAD_POLICY_NONE;
	if (size > TRIAD_POLICY_FILE_MAX_SIZE) {
		triad_policy_report(&builder, (struct triad_source_location){0, 0},
			"the file is too large: %u octets are allowed",
			TRIAD_POLICY_FILE_MAX_SIZE);
		builder.error = EFBIG;
	} else if (!builder.policy) {
		triad_policy_out_of_memory(&builder);
	} else {
		read_policy(&builder, text, size);
	}
	/* The elements of the policy have been moved into it by now. */
	for (unsigned i = 0; i < TRIAD_N_BLOCKS; i++)
		free(builder.elements[i].items);
	free(builder.references.items);
	free(builder.text);
	sort_diags(diags);
	if (!diags->n_total) {
		*policy = builder.policy;
		return 0;
	}
	triad_policy_unref(builder.policy);
	return builder.error ? builder.error : EINVAL;
}
