/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Small helpers for text that comes from a file, a client or the network.
 *
 * Thread-safety: functions without state.  Memory: no allocation, so none of them
 * can abort, whatever they are given. */
#ifndef TRIAD_LIB_TEXT_H
#define TRIAD_LIB_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length in octets of the character at the beginning of 'text' ('size'
 * octets).  Returns 0 when it can't be shown as it is: a control character, one that
 * changes the direction of text, has no width or ends a line [Unicode general
 * categories Cc, Cf, Zl, Zp], or invalid UTF-8. */
size_t triad_text_character(const char *text, size_t size);

/* A space or a tab. */
static inline bool triad_text_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns the offset of the first character that can't be shown (a tab is allowed), or
 * 'size'. */
size_t triad_text_check(const char *text, size_t size);

/* Replaces such octets by '?', up to the first 0: a node's name must not forge a log
 * line or control a terminal. */
void triad_text_clean(char *text);

/* Appends to 'text', which has room for 'size' octets in all; cuts what does not
 * fit. */
void triad_text_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void triad_text_vappend(char *text, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/* A text that grows in a buffer, and begins as "". */
struct triad_text_buffer {
	char *text;
	size_t size;
};
void triad_text_add(struct triad_text_buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Reads a decimal number: only digits, no sign.  False, and '*value' untouched, for
 * anything else and for a number that is over UINT_MAX. */
bool triad_text_number(const char *text, unsigned *value);

/* Reads a GUID: "0x", then 1 to 16 hexadecimal digits, not all 0.  False, and
 * '*guid' untouched, for anything else. */
bool triad_text_guid(const char *text, uint64_t *guid);

/* The most typing mistakes that a guess allows. */
#define TRIAD_TEXT_GUESS_NEAR 2

/* "Did you mean": the nearest of several names to a word that is none of them.
 *
 *     struct triad_text_guess guess = {.word = word};
 *     for each name
 *             if (triad_text_guess_try(&guess, name))
 *                     best = name; */
struct triad_text_guess {
	const char *word;
	unsigned limit; /* the best name so far differs by less; 0: none yet */
};

/* True when 'name' is near to the word (one slip of the keyboard, two in a word
 * longer than five letters; case ignored) and nearer than those tried before. */
bool triad_text_guess_try(struct triad_text_guess *guess, const char *name);

/* The number of octets of the words at the beginning of 'text' that fit into so many
 * columns; at least one word.  Words end at blanks, but text in [ ] is not split. */
size_t triad_text_fit_words(const char *text, unsigned columns);

#define TRIAD_TEXT_NEAREST 3
#define TRIAD_TEXT_NEAREST_SIZE 96

/* The same for a word that may also be a part of a name: the three nearest names.
 * Similar spellings come first, then names that begin with the word, then names that
 * contain it; of equally near names the first tried. */
struct triad_text_nearest {
	const char *word;
	unsigned n;
	unsigned far[TRIAD_TEXT_NEAREST]; /* how far each is */
	char names[TRIAD_TEXT_NEAREST][TRIAD_TEXT_NEAREST_SIZE];
};

/* Keeps a copy of 'name' when it is one of the nearest so far and not there already. */
void triad_text_nearest_try(struct triad_text_nearest *nearest, const char *name);

/* Appends "'a', 'b' or 'c'"; nothing when there is none. */
void triad_text_nearest_append(
	const struct triad_text_nearest *nearest, char *text, size_t size);

#endif
