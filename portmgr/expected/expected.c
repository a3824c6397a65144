/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/expected/expected.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/hash.h"
#include "lib/text.h"
#include "portmgr/expected/expected_parts.h"

static const char generation_rule[] =
	"a generation is a whole number from 1 to 9223372036854775808, alone in its line "
	"behind 'generation'; a node of that name stands in quotes";

/* --- memory ------------------------------------------------------------ */

static int keep_row(
	struct triad_expected_reader *reader, const struct triad_expected_port *row)
{
	struct triad_expected *expected = reader->expected;
	int error = expected->n_ports == TRIAD_EXPECTED_MAX_PORTS
		? E2BIG
		: triad_grow(&expected->ports, &reader->ports_room,
			  expected->n_ports + 1, sizeof(*row),
			  TRIAD_EXPECTED_FIRST_ROOM);

	if (error)
		return error;
	/* Store the row first, because the index reads it.  It counts when both
	 * worked. */
	expected->ports[expected->n_ports] = *row;
	error = triad_expected_index_add(reader, expected->n_ports);
	if (!error)
		expected->n_ports++;
	return error;
}

void triad_expected_free(struct triad_expected *expected)
{
	if (!expected)
		return;
	free(expected->ports);
	free(expected->text);
	free(expected);
}

static struct triad_expected *new_expected(struct triad_expected_reader *reader)
{
	struct triad_expected *expected = calloc(1, sizeof(*expected));

	if (!expected)
		return NULL;
	expected->text = calloc(TRIAD_EXPECTED_FIRST_ROOM, 1);
	if (!expected->text) {
		free(expected);
		return NULL;
	}
	expected->text_size = 1; /* place 0 is the empty text */
	reader->text_room = TRIAD_EXPECTED_FIRST_ROOM;
	return expected;
}

/* --- lines ------------------------------------------------------------- */

/* Whether the line is "generation", followed by one of the characters that may
 * follow. */
static bool is_generation(const char *octets, size_t size)
{
	const size_t n = strlen("generation");

	return size >= n && !memcmp(octets, "generation", n) &&
		(size == n || (octets[n] && strchr(" \t=,", octets[n])));
}

/* Returns 0 if the number is invalid.  Allows commas at the end, as of spreadsheets. */
static uint64_t parse_generation(const char *octets, size_t size)
{
	size_t at = strlen("generation");
	uint64_t value = 0;

	while (at < size && octets[at] && strchr(" \t=,", octets[at]))
		at++;
	for (; at < size && g_ascii_isdigit(octets[at]); at++) {
		/* Check before the multiplication, which could wrap to a small
		 * number. */
		if (value > TRIAD_EXPECTED_MAX_GENERATION / 10)
			return 0;
		value = value * 10 + (uint64_t)g_ascii_digit_value(octets[at]);
	}
	while (at < size && (triad_text_is_blank(octets[at]) || octets[at] == ','))
		at++;
	if ((at < size && octets[at] != '#') || value > TRIAD_EXPECTED_MAX_GENERATION)
		return 0;
	return value;
}

static void read_generation(struct triad_expected_reader *reader, uint32_t number,
	const char *octets, size_t size)
{
	uint64_t generation = parse_generation(octets, size);

	if (!generation)
		triad_diags_add(reader->diags, number, 0, "%s", generation_rule);
	if (reader->generation_line) {
		triad_diags_add(reader->diags, number, 0,
			"a second generation; the first is in line %" PRIu32,
			reader->generation_line);
		return;
	}
	if (reader->expected->n_ports)
		triad_diags_add(reader->diags, number, 0,
			"the generation must come before the first port, which is in "
			"line %" PRIu32,
			reader->expected->ports[0].line);
	reader->generation_line = number;
	reader->expected->generation = generation;
}

/* Whether the line has the columns' names: no port is called 'port'. */
static bool is_names(const struct triad_csv_line *line)
{
	return !strcmp(line->fields[TRIAD_COLUMN_NODE], "node") &&
		!strcmp(line->fields[TRIAD_COLUMN_PORT], "port");
}

static void read_names(
	struct triad_expected_reader *reader, const struct triad_csv_line *line)
{
	static const char *const names[TRIAD_N_COLUMNS] = {"node", "port", "state",
		"remote", "width", "speed", "check", "comment"};

	for (unsigned i = 0; i < line->n_fields; i++)
		if (strcmp(line->fields[i], names[i]) != 0)
			triad_diags_add(reader->diags, line->number, line->columns[i],
				"this column is '%s', and can't have another name or "
				"place",
				names[i]);
	if (reader->names_line)
		triad_diags_add(reader->diags, line->number, 0,
			"the names of the columns once more; they are in line %" PRIu32,
			reader->names_line);
	else if (reader->expected->n_ports)
		triad_diags_add(reader->diags, line->number, 0,
			"the names of the columns must come before the first port, "
			"which is in line %" PRIu32,
			reader->expected->ports[0].line);
	else
		reader->names_line = line->number;
}

static void read_row(
	struct triad_expected_reader *reader, const struct triad_csv_line *line)
{
	const struct triad_expected *expected = reader->expected;
	struct triad_expected_port row;
	uint32_t other;

	if (!triad_expected_row_read(reader, line, &row) || reader->error)
		return;
	other = triad_expected_index_find(reader, row.node_guid,
		triad_expected_text(expected, row.node_name), row.port);
	if (other != UINT32_MAX)
		triad_diags_add(reader->diags, line->number, 0,
			"the same port as in line %" PRIu32,
			expected->ports[other].line);
	else
		reader->error = keep_row(reader, &row);
	if (reader->error == E2BIG)
		triad_diags_add(reader->diags, line->number, 0,
			"more than %u ports; what follows wasn't read",
			TRIAD_EXPECTED_MAX_PORTS);
}

/* 'size' without the line's end. */
static void read_expected_line(struct triad_expected_reader *reader, uint32_t number,
	const char *octets, size_t size)
{
	struct triad_csv_line line;
	size_t start = 0;

	while (start < size && triad_text_is_blank(octets[start]))
		start++;
	if (start == size || octets[start] == '#')
		return;
	if (size > TRIAD_EXPECTED_MAX_LINE) {
		triad_diags_add(reader->diags, number, 0,
			"the line is longer than %u octets", TRIAD_EXPECTED_MAX_LINE);
		return;
	}
	if (is_generation(octets + start, size - start)) {
		read_generation(reader, number, octets + start, size - start);
		return;
	}
	line.number = number;
	triad_csv_line_cut(&line, octets, size, TRIAD_N_COLUMNS, reader->diags);
	if (is_names(&line))
		read_names(reader, &line);
	else
		read_row(reader, &line);
}

static void read_lines(
	struct triad_expected_reader *reader, const char *octets, size_t size)
{
	static const char mark[] = "\xef\xbb\xbf"; /* the byte order mark of UTF-8 */
	const char *end = octets + size, *next;
	uint32_t number = 1;

	if (size >= strlen(mark) && !memcmp(octets, mark, strlen(mark)))
		octets += strlen(mark);
	for (; octets < end && !reader->error; octets = next, number++) {
		const char *newline = memchr(octets, '\n', (size_t)(end - octets));
		size_t n = (size_t)((newline ? newline : end) - octets);

		next = newline ? newline + 1 : end;
		if (number > TRIAD_EXPECTED_MAX_LINES)
			return;
		if (n && octets[n - 1] == '\r')
			n--;
		read_expected_line(reader, number, octets, n);
	}
}

/* --- the file ---------------------------------------------------------- */

static size_t count_lines(const char *octets, size_t size)
{
	const char *end = octets + size;
	size_t n = 0;

	while (octets < end) {
		const char *newline = memchr(octets, '\n', (size_t)(end - octets));

		octets = newline ? newline + 1 : end;
		n++;
	}
	return n;
}

/* Checks the limits of a file.  Called first, so that other mistakes leave room for
 * this one.  Returns the octets to read. */
static size_t check_caps(struct triad_expected_reader *reader, const char *octets,
	size_t size, bool *is_big)
{
	*is_big = false;
	if (size > TRIAD_EXPECTED_MAX_OCTETS) {
		triad_diags_add(reader->diags, 0, 0,
			"it is larger than %zu MiB; what follows those wasn't read",
			TRIAD_EXPECTED_MAX_OCTETS >> 20);
		*is_big = true;
		/* Read whole lines only: a cut line would look like a mistake in the
		 * file. */
		size = TRIAD_EXPECTED_MAX_OCTETS;
		while (size && octets[size - 1] != '\n')
			size--;
	}
	if (count_lines(octets, size) > TRIAD_EXPECTED_MAX_LINES) {
		triad_diags_add(reader->diags, 0, 0,
			"it has more than %u lines; what follows those wasn't read",
			TRIAD_EXPECTED_MAX_LINES);
		*is_big = true;
	}
	return size;
}

static int read_expected(
	struct triad_expected_reader *reader, const char *octets, size_t size)
{
	const size_t n_before = reader->diags->n_total;
	size_t n;
	bool is_big;

	n = check_caps(reader, octets, size, &is_big);
	read_lines(reader, octets, n);
	if (reader->error == ENOMEM)
		return ENOMEM;
	if (!reader->generation_line)
		triad_diags_add(reader->diags, 0, 0,
			"there is no line 'generation N', with N from 1 to "
			"9223372036854775808");
	/* Check the rows even if the file is too large, to report all mistakes. */
	triad_expected_pairs_check(reader);
	if (is_big || reader->error)
		return E2BIG;
	if (reader->diags->n_total != n_before)
		return EINVAL;
	reader->expected->hash = triad_hash_sha256(octets, size);
	return 0;
}

int triad_expected_parse(const char *octets, size_t size, struct triad_diags *diags,
	struct triad_expected **expected)
{
	struct triad_expected_reader reader = {.diags = diags};
	int error;

	reader.expected = new_expected(&reader);
	if (!reader.expected)
		return ENOMEM;
	error = read_expected(&reader, octets, size);
	free(reader.slots);
	if (error)
		triad_expected_free(reader.expected);
	else
		*expected = reader.expected;
	return error;
}
