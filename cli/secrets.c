/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/secrets.h"

#include <ctype.h>
#include <string.h>

#define MIN_PATH 16u /* of a piece of a path that may be a secret */

static bool is_key_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether the word names a secret, not the file or the number of one. */
static bool names_secret(const char *word, size_t size)
{
	static const char *const names[] = {"m_key", "mkey", "sm_key", "smkey",
		"sa_key", "key", "secret", "password", "passwd", "passphrase", "token",
		"cc_key", "vs_key", "n2n_key", "key_mgr_seed", "bearer"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strlen(names[i]) == size &&
			!g_ascii_strncasecmp(word, names[i], size))
			return true;
	return false;
}

/* Behind "://": how many octets user and password are, with the '@'; 0: there are none. */
static size_t length_of_user(const char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size && !strchr(" \t\r\n\";", text[i]); i++)
		if (text[i] == '@')
			n = i + 1;
	return n;
}

/* Where a word stands. */
enum place {
	IN_SENTENCE, /* its value stands behind '=' or ':', or is a number from 0x on */
	AS_OPTION,   /* behind "--", or as "Bearer": its value is the next word */
	AS_KEY,      /* of a configuration: its value is all of the line */
};

/* How many octets stand between a secret's name and its value; 0: no value follows.  OpenSM's
 * log has dots there. */
static size_t length_of_gap(const char *text, size_t size, enum place place)
{
	size_t n = 0;

	while (n < size && strchr(" \t=:\"'.[", text[n]) && text[n])
		n++;
	if (place == IN_SENTENCE && n < size && memchr(text, '=', n) == NULL &&
		memchr(text, ':', n) == NULL && strncmp(text + n, "0x", 2) != 0)
		return 0;
	return n < size && text[n] != '\n' && text[n] != '#' ? n : 0;
}

static size_t length_of_value(const char *text, size_t size, enum place place)
{
	size_t n = 0;

	while (n < size && text[n] &&
		!strchr(place == AS_KEY ? "\r\n" : " \t\r\n,;\"')]", text[n]))
		n++;
	return n;
}

/* Takes a word; of a secret's name, its value, too.  Returns how many octets. */
static size_t take_word_of_line(
	const char *text, size_t size, enum place place, GString *to)
{
	size_t n = 0, gap;

	while (n < size && is_key_character(text[n]))
		n++;
	g_string_append_len(to, text, (gssize)n);
	if (!names_secret(text, n))
		return n;
	if (place == IN_SENTENCE && n == strlen("bearer") &&
		!g_ascii_strncasecmp(text, "bearer", n))
		place = AS_OPTION;
	gap = length_of_gap(text + n, size - n, place);
	if (!gap)
		return n;
	g_string_append_len(to, text + n, (gssize)gap);
	g_string_append(to, TRIAD_SECRETS_REMOVED);
	n += gap;
	return n + length_of_value(text + n, size - n, place);
}

/* A key that was made a comment, with the value that it had: one word. */
static bool is_old_key(const char *text, size_t size)
{
	size_t n = 0, gap, value;

	while (n < size && is_key_character(text[n]))
		n++;
	gap = length_of_gap(text + n, size - n, AS_KEY);
	value = length_of_value(text + n + gap, size - n - gap, IN_SENTENCE);
	return gap && value && n + gap + value + 1 >= size;
}

/* Behind "://" of a webhook, or another URL with what services for chat have there: how many octets
 * the host has, and how many the secret path behind it. */
static size_t length_of_path(const char *text, size_t size, size_t *host)
{
	size_t n = 0, longest = 0;

	*host = 0;
	while (*host < size && !strchr("/? \t\r\n\";", text[*host]))
		++*host;
	while (*host + n < size && !strchr(" \t\r\n\";", text[*host + n])) {
		size_t piece = 0;

		while (*host + n < size && !strchr("/?= \t\r\n\";", text[*host + n])) {
			n++;
			piece++;
		}
		if (piece > longest)
			longest = piece;
		if (*host + n < size && text[*host + n] == '?')
			longest = size;
		n += *host + n < size && !strchr(" \t\r\n\";", text[*host + n]);
	}
	return longest >= MIN_PATH ? n : 0;
}

static enum place place_of_word(
	const char *line, size_t at, size_t first, bool is_conf, size_t size)
{
	if (at >= 2 && line[at - 1] == '-' && line[at - 2] == '-')
		return AS_OPTION;
	if (!is_conf || at != first)
		return IN_SENTENCE;
	return memchr(line, '#', at) && !is_old_key(line + at, size - at) ? IN_SENTENCE
									  : AS_KEY;
}

/* Takes what is secret of a URL, of which "://" was taken.  Returns how many octets. */
static size_t take_url(const char *text, size_t size, GString *to)
{
	size_t user = length_of_user(text, size), host, path;

	if (user)
		g_string_append(to, TRIAD_SECRETS_REMOVED "@");
	path = length_of_path(text + user, size - user, &host);
	if (!path)
		return user;
	g_string_append_len(to, text + user, (gssize)host);
	g_string_append(to, "/" TRIAD_SECRETS_REMOVED);
	return user + host + path;
}

void triad_secrets_remove(const char *line, size_t size, bool is_conf, GString *to)
{
	size_t first = 0;

	while (first < size && line[first] && strchr(" \t#", line[first]))
		first++;
	for (size_t at = 0, n; at < size; at += n) {
		n = 1;
		if (is_key_character(line[at]))
			n = take_word_of_line(line + at, size - at,
				place_of_word(line, at, first, is_conf, size), to);
		else
			g_string_append_c(to, line[at]);
		if (at + n >= 3 && !strncmp(line + at + n - 3, "://", 3))
			n += take_url(line + at + n, size - at - n, to);
	}
}
