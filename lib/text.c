/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#define MAX_GUESS_LENGTH 64

/* Controls (some terminals obey U+0080 to U+009F, too); format characters, which
 * reorder text or hide in it; and line separators. */
static bool is_unprintable(gunichar c)
{
	switch (g_unichar_type(c)) {
	case G_UNICODE_CONTROL:
	case G_UNICODE_FORMAT:
	case G_UNICODE_LINE_SEPARATOR:
	case G_UNICODE_PARAGRAPH_SEPARATOR:
		return true;
	default:
		return false;
	}
}

size_t triad_text_character(const char *text, size_t size)
{
	gunichar c;

	if (!size || !*text)
		return 0;
	if ((unsigned char)*text < 0x80)
		return !g_ascii_iscntrl(*text);
	c = g_utf8_get_char_validated(text, (gssize)size);
	if (c == (gunichar)-1 || c == (gunichar)-2 || is_unprintable(c))
		return 0;
	return (size_t)g_unichar_to_utf8(c, NULL);
}

size_t triad_text_check(const char *text, size_t size)
{
	size_t at = 0, n;

	while (at < size &&
		(n = text[at] == '\t' ? 1 : triad_text_character(text + at, size - at)))
		at += n;
	return at;
}

void triad_text_clean(char *text)
{
	size_t size = strlen(text), at = 0;

	while ((at += triad_text_check(text + at, size - at)) < size)
		text[at] = '?';
}

void triad_text_vappend(char *text, size_t size, const char *format, va_list args)
{
	size_t used = strnlen(text, size);

	vsnprintf(text + used, size - used, format, args);
}

void triad_text_append(char *text, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	triad_text_vappend(text, size, format, args);
	va_end(args);
}

void triad_text_add(struct triad_text_buffer *buffer, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	triad_text_vappend(buffer->text, buffer->size, format, args);
	va_end(args);
}

bool triad_text_number(const char *text, unsigned *value)
{
	uint64_t sum = 0;
	const char *p;

	for (p = text; g_ascii_isdigit(*p); p++) {
		sum = sum * 10 + (uint64_t)g_ascii_digit_value(*p);
		if (sum > UINT_MAX)
			return false;
	}
	if (p == text || *p)
		return false;
	*value = (unsigned)sum;
	return true;
}

bool triad_text_guid(const char *text, uint64_t *guid)
{
	const char *digits = text + 2;
	uint64_t value = 0;
	size_t i;

	if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
		return false;
	for (i = 0; g_ascii_isxdigit(digits[i]) && i < 16; i++)
		value = value << 4 | (uint64_t)g_ascii_xdigit_value(digits[i]);
	if (digits[i] || !value)
		return false;
	*guid = value;
	return true;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	return MIN(MIN(a, b), c);
}

static bool is_same_letter(char a, char b)
{
	return g_ascii_tolower(a) == g_ascii_tolower(b);
}

struct distances {
	unsigned at[MAX_GUESS_LENGTH + 2];
};

/* Row 'i', from the two above it; returns its least. */
static unsigned fill_row(struct distances rows[3], size_t i, const char *a,
	const char *b, size_t n_b, unsigned near)
{
	unsigned *row = rows[i % 3].at, least = near + 1;
	const unsigned *above = rows[(i + 2) % 3].at, *above2 = rows[(i + 1) % 3].at;
	size_t first = i > near ? i - near : 1, last = MIN(n_b, i + near);

	row[first - 1] = first == 1 ? (unsigned)i : near + 1;
	for (size_t j = first; j <= last; j++) {
		bool same = is_same_letter(a[i - 1], b[j - 1]);

		row[j] = min3(row[j - 1] + 1, above[j] + 1, above[j - 1] + !same);
		if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) &&
			is_same_letter(a[i - 2], b[j - 1]))
			row[j] = MIN(row[j], above2[j - 2] + 1);
		least = MIN(least, row[j]);
	}
	row[last + 1] = near + 1;
	return least;
}

/* Counts insertions, omissions, replacements and swaps of neighbours between two words;
 * returns more than 'near' when there are more.  Three rows of the usual table are
 * enough for swaps, and of each row the part within 'near' of the diagonal. */
static unsigned distance(
	const char *a, size_t n_a, const char *b, size_t n_b, unsigned near)
{
	struct distances rows[3];
	unsigned least = 0;

	for (size_t j = 0; j <= n_b; j++)
		rows[0].at[j] = (unsigned)j;
	for (size_t i = 1; i <= n_a; i++) {
		unsigned least_above = least;

		least = fill_row(rows, i, a, b, n_b, near);
		if (least > near && least_above > near)
			return near + 1;
	}
	return rows[n_a % 3].at[n_b];
}

/* The set of a word's letters: a bit for each value of the lowest five bits, which
 * capitals and small letters share. */
static uint32_t letters(const char *word)
{
	uint32_t set = 0;

	for (; *word; word++)
		set |= UINT32_C(1) << (*word & 31);
	return set;
}

/* Each letter that one word has and the other has not takes a change. */
static bool may_be_near(const char *a, const char *b, unsigned near)
{
	uint32_t in_a = letters(a), in_b = letters(b);

	return (unsigned)__builtin_popcount(in_a & ~in_b) <= near &&
		(unsigned)__builtin_popcount(in_b & ~in_a) <= near;
}

/* The number of slips between the words; UINT_MAX when there are too many for a
 * guess. */
static unsigned slips(const char *word, const char *name)
{
	size_t n_word = strlen(word), n_name = strlen(name);
	unsigned n, near = n_word > 5 ? TRIAD_TEXT_GUESS_NEAR : 1;

	if (!n_word || n_word > MAX_GUESS_LENGTH || n_name > MAX_GUESS_LENGTH ||
		n_name > n_word + near || n_word > n_name + near ||
		!may_be_near(word, name, near))
		return UINT_MAX;
	n = distance(word, n_word, name, n_name, near);
	return n > near ? UINT_MAX : n;
}

bool triad_text_guess_try(struct triad_text_guess *guess, const char *name)
{
	unsigned n = slips(guess->word, name);

	if (n == UINT_MAX || (guess->limit && n >= guess->limit - 1))
		return false;
	guess->limit = n + 1;
	return true;
}

/* A word of one letter is in nearly every name. */
#define MIN_PART 2

/* Like slips(); a name that contains the word counts as farther than any similar
 * spelling. */
static unsigned how_far(const char *word, const char *name)
{
	unsigned n = slips(word, name);
	size_t n_word = strlen(word);

	if (n != UINT_MAX || n_word < MIN_PART)
		return n;
	if (!g_ascii_strncasecmp(name, word, n_word))
		return TRIAD_TEXT_GUESS_NEAR + 1;
	for (; *name; name++)
		if (!g_ascii_strncasecmp(name, word, n_word))
			return TRIAD_TEXT_GUESS_NEAR + 2;
	return UINT_MAX;
}

void triad_text_nearest_try(struct triad_text_nearest *nearest, const char *name)
{
	unsigned far = how_far(nearest->word, name), at = nearest->n;

	/* Skip an empty name: nobody can type it. */
	if (!*name)
		return;
	while (at && nearest->far[at - 1] > far)
		at--;
	if (far == UINT_MAX || at == TRIAD_TEXT_NEAREST)
		return;
	/* The same name would be just before this place, as it is as far. */
	for (unsigned i = 0; i < at; i++)
		if (!strcmp(nearest->names[i], name))
			return;
	if (nearest->n < TRIAD_TEXT_NEAREST)
		nearest->n++;
	for (unsigned i = nearest->n - 1; i > at; i--) {
		nearest->far[i] = nearest->far[i - 1];
		memcpy(nearest->names[i], nearest->names[i - 1],
			sizeof(nearest->names[i]));
	}
	nearest->far[at] = far;
	snprintf(nearest->names[at], sizeof(nearest->names[at]), "%s", name);
}

void triad_text_nearest_append(
	const struct triad_text_nearest *nearest, char *text, size_t size)
{
	for (unsigned i = 0; i < nearest->n; i++)
		triad_text_append(text, size, "%s'%s'",
			!i                            ? ""
				: i == nearest->n - 1 ? " or "
						      : ", ",
			nearest->names[i]);
}

/* --- lines --- */

size_t triad_text_fit_words(const char *text, unsigned columns)
{
	unsigned column = 0, depth = 0;
	size_t end = 0;

	for (size_t at = 0; text[at]; at++) {
		if (text[at] == '[')
			depth++;
		else if (text[at] == ']' && depth)
			depth--;
		else if (text[at] == ' ' && !depth)
			end = at;
		column += (text[at] & 0xc0) != 0x80;
		if (column > columns && end)
			return end;
	}
	return strlen(text);
}
