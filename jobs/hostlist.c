/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "jobs/hostlist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/search.h"

#define FIRST_NAMES 64u
#define MAX_DIGITS 9u

/* --- names --- */

/* The number at a name's end. */
struct number {
	size_t prefix; /* octets before it */
	unsigned n_digits, value;
};

static struct number number_of(const char *name)
{
	struct number number = {.prefix = strlen(name)};

	while (number.prefix && number.n_digits < MAX_DIGITS &&
		isdigit((unsigned char)name[number.prefix - 1])) {
		number.prefix--;
		number.n_digits++;
	}
	for (unsigned i = 0; i < number.n_digits; i++)
		number.value =
			number.value * 10 + (unsigned)(name[number.prefix + i] - '0');
	return number;
}

static int compare_numbers(unsigned a, unsigned b)
{
	return a < b ? -1 : a > b;
}

int triad_hostlist_compare(const char *a, const char *b)
{
	struct number one = number_of(a), other = number_of(b);
	size_t least = one.prefix < other.prefix ? one.prefix : other.prefix;
	int order = memcmp(a, b, least);

	if (!order && one.prefix != other.prefix)
		order = one.prefix < other.prefix ? -1 : 1;
	if (!order)
		order = compare_numbers(one.n_digits, other.n_digits);
	return order ? order : compare_numbers(one.value, other.value);
}

static int compare_items(const void *a, const void *b)
{
	return triad_hostlist_compare(a, b);
}

/* --- lists --- */

void triad_hostlist_clear(struct triad_hostlist *list)
{
	free(list->names);
	*list = (struct triad_hostlist){0};
}

int triad_hostlist_add(struct triad_hostlist *list, const char *name)
{
	char *to;

	if (list->n == TRIAD_HOSTLIST_MAX)
		return E2BIG;
	if (triad_grow(&list->names, &list->room, list->n + 1, sizeof(*list->names),
		    FIRST_NAMES))
		return ENOMEM;
	to = list->names[list->n++];
	memset(to, 0, TRIAD_HOSTLIST_NAME_SIZE);
	memcpy(to, name, strnlen(name, TRIAD_HOSTLIST_NAME_SIZE - 1));
	return 0;
}

void triad_hostlist_sort(struct triad_hostlist *list)
{
	uint32_t kept = 0;

	if (list->n)
		qsort(list->names, list->n, sizeof(*list->names), compare_items);
	for (uint32_t i = 0; i < list->n; i++) {
		if (kept && !strcmp(list->names[kept - 1], list->names[i]))
			continue;
		memmove(list->names[kept++], list->names[i], sizeof(*list->names));
	}
	list->n = kept;
}

uint32_t triad_hostlist_find(const struct triad_hostlist *list, const char *name)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, list->n, triad_hostlist_compare(list->names[at], name) < 0);
	return at < list->n && !strcmp(list->names[at], name) ? at : UINT32_MAX;
}

/* --- reading --- */

struct reader {
	struct triad_hostlist *list;
	const char *text; /* the whole text, to give the column of a mistake */
	char *reason;
	size_t size;
};

static int refuse_at_column(
	const struct reader *reader, const char *at, const char *what)
{
	snprintf(reader->reason, reader->size, "column %zu: %s",
		(size_t)(at - reader->text) + 1, what);
	return EINVAL;
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_.", c));
}

/* Reads digits; returns where they end. */
static const char *read_number(const char *at, unsigned *value)
{
	for (*value = 0; isdigit((unsigned char)*at); at++)
		*value = *value * 10 + (unsigned)(*at - '0');
	return at;
}

static int read_names(struct reader *reader, const char *at, char *name, size_t used);

/* Adds the names of a range of numbers within brackets, at 'at'; 'rest' is the text
 * behind the brackets.  Sets '*end' behind the range. */
static int read_range(struct reader *reader, const char *at, const char *rest,
	const char **end, char *name, size_t used)
{
	unsigned low, high;
	const char *low_end = read_number(at, &low);
	int error = 0, width = (int)(low_end - at);

	*end = low_end;
	high = low;
	if (width && *low_end == '-')
		*end = read_number(low_end + 1, &high);
	if (!width || *end == low_end + 1)
		return refuse_at_column(reader, *end, "a number is missing");
	if (width > (int)MAX_DIGITS || *end - low_end - 1 > (int)MAX_DIGITS)
		return refuse_at_column(reader, at, "a number has more than 9 digits");
	if (high < low)
		return refuse_at_column(reader, at, "the range ends before it begins");
	if (high - low >= TRIAD_HOSTLIST_MAX)
		return E2BIG;
	for (unsigned i = low; i <= high && !error; i++) {
		int n = snprintf(
			name + used, TRIAD_HOSTLIST_NAME_SIZE - used, "%0*u", width, i);

		if (used + (size_t)n >= TRIAD_HOSTLIST_NAME_SIZE)
			return refuse_at_column(
				reader, at, "a name is longer than 63 octets");
		error = read_names(reader, rest, name, used + (size_t)n);
	}
	return error;
}

/* Adds the names of brackets, which begin at 'at'. */
static int read_brackets(struct reader *reader, const char *at, char *name, size_t used)
{
	const char *end = strchr(at, ']');
	int error;

	if (!end)
		return refuse_at_column(reader, at, "its ']' is missing");
	do {
		error = read_range(reader, at + 1, end + 1, &at, name, used);
	} while (!error && *at == ',');
	if (!error && *at != ']')
		error = refuse_at_column(reader, at, "no number, '-', ',' or ']'");
	return error;
}

/* Reads on in a name, of which 'name' has 'used' octets; adds the name at its end. */
static int read_names(struct reader *reader, const char *at, char *name, size_t used)
{
	while (is_of_name(*at)) {
		if (used + 1 >= TRIAD_HOSTLIST_NAME_SIZE)
			return refuse_at_column(
				reader, at, "a name is longer than 63 octets");
		name[used++] = *at++;
	}
	if (*at == '[')
		return read_brackets(reader, at, name, used);
	name[used] = '\0';
	if (*at && *at != ',')
		return refuse_at_column(
			reader, at, "a character that is in no name of a host");
	if (!used)
		return refuse_at_column(reader, at, "a name is missing");
	return triad_hostlist_add(reader->list, name);
}

/* The next comma outside brackets, or the end. */
static const char *next_item(const char *at)
{
	bool is_inside = false;

	for (; *at && (is_inside || *at != ','); at++)
		is_inside = *at == '[' || (is_inside && *at != ']');
	return at;
}

int triad_hostlist_parse(
	struct triad_hostlist *list, const char *text, char *reason, size_t size)
{
	struct reader reader = {
		.list = list, .text = text, .reason = reason, .size = size};
	char name[TRIAD_HOSTLIST_NAME_SIZE];
	const char *at = text;
	int error;

	reason[0] = '\0';
	for (;;) {
		error = read_names(&reader, at, name, 0);
		at = next_item(at);
		if (error || !*at)
			break;
		at++;
	}
	if (error == E2BIG)
		snprintf(reason, size, "more than %u hosts", TRIAD_HOSTLIST_MAX);
	triad_hostlist_sort(list);
	return error;
}

/* --- writing --- */

/* Counts names from 'first' on with the same text before their number. */
static uint32_t count_alike(const struct triad_hostlist *list, uint32_t first)
{
	struct number number = number_of(list->names[first]);
	uint32_t n = 1;

	while (number.n_digits && first + n < list->n) {
		struct number next = number_of(list->names[first + n]);

		if (!next.n_digits || next.prefix != number.prefix ||
			memcmp(list->names[first], list->names[first + n],
				number.prefix) != 0)
			break;
		n++;
	}
	return n;
}

/* Counts names from 'first' on, 'n' at most, with consecutive numbers. */
static uint32_t count_range(
	const struct triad_hostlist *list, uint32_t first, uint32_t n)
{
	struct number number = number_of(list->names[first]);
	uint32_t i = 1;

	for (; i < n; i++) {
		struct number next = number_of(list->names[first + i]);

		if (next.n_digits != number.n_digits || next.value != number.value + i)
			break;
	}
	return i;
}

void triad_hostlist_write(const struct triad_hostlist *list,
	void (*put)(void *context, const char *piece), void *context)
{
	for (uint32_t i = 0, n; i < list->n; i += n) {
		size_t prefix = number_of(list->names[i]).prefix;
		char text[TRIAD_HOSTLIST_NAME_SIZE];

		n = count_alike(list, i);
		if (i)
			put(context, ",");
		if (n == 1) {
			put(context, list->names[i]);
			continue;
		}
		snprintf(text, sizeof(text), "%.*s", (int)prefix, list->names[i]);
		put(context, text);
		put(context, "[");
		for (uint32_t k = 0, m; k < n; k += m) {
			m = count_range(list, i + k, n - k);
			if (k)
				put(context, ",");
			put(context, list->names[i + k] + prefix);
			if (m == 1)
				continue;
			put(context, "-");
			put(context, list->names[i + k + m - 1] + prefix);
		}
		put(context, "]");
	}
}
