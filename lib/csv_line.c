/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/csv_line.h"

#include <stdbool.h>
#include <string.h>

#include "lib/text.h"

/* Removes quotes and blanks from fields in place: the write position never passes the
 * read position. */
struct cutter {
	struct triad_csv_line *line;
	struct triad_diags *diags;
	char *text; /* ends with a 0 and contains no other one */
	size_t read, written;
	unsigned max_fields;
	bool has_too_many;
};

static void skip_blanks(struct cutter *cutter)
{
	cutter->read += strspn(cutter->text + cutter->read, " \t");
}

static void complain_of_column(struct cutter *cutter, size_t at, const char *what)
{
	triad_diags_add(
		cutter->diags, cutter->line->number, (unsigned)at + 1, "%s", what);
}

static void read_quoted(struct cutter *cutter)
{
	size_t start = cutter->read++;
	char *text = cutter->text;

	/* A quote that is doubled stands for one: skip the first of the two. */
	while (text[cutter->read] &&
		!(text[cutter->read] == '"' && text[cutter->read + 1] != '"')) {
		cutter->read += text[cutter->read] == '"';
		text[cutter->written++] = text[cutter->read++];
	}
	if (!text[cutter->read]) {
		complain_of_column(
			cutter, start, "the quote isn't closed in this line");
		return;
	}
	cutter->read++;
	skip_blanks(cutter);
	if (text[cutter->read] && text[cutter->read] != ',')
		complain_of_column(cutter, cutter->read,
			"behind a closing quote there must be a comma or the line's "
			"end; a quote within quotes is written twice");
	cutter->read += strcspn(text + cutter->read, ",");
}

static void read_plain(struct cutter *cutter)
{
	size_t n = strcspn(cutter->text + cutter->read, ",");
	const char *from = cutter->text + cutter->read;
	const char *quote = memchr(from, '"', n);

	if (quote)
		complain_of_column(cutter, (size_t)(quote - cutter->text),
			"a quote in the midst of a field; such a field stands in "
			"quotes as a whole, with each of its own written twice");
	cutter->read += n;
	while (n && triad_text_is_blank(from[n - 1]))
		n--;
	memmove(cutter->text + cutter->written, from, n);
	cutter->written += n;
}

/* Reads a field and the comma behind it, then writes the field's 0, which may overwrite
 * the comma. */
static void read_field(struct cutter *cutter)
{
	struct triad_csv_line *line = cutter->line;
	size_t start, at = cutter->written;

	skip_blanks(cutter);
	start = cutter->read;
	if (cutter->text[start] == '"')
		read_quoted(cutter);
	else
		read_plain(cutter);
	if (cutter->text[cutter->read])
		cutter->read++;
	else
		cutter->read = SIZE_MAX;
	cutter->text[cutter->written++] = '\0';
	if (line->n_fields < cutter->max_fields) {
		line->columns[line->n_fields] = (unsigned)start + 1;
		line->fields[line->n_fields++] = cutter->text + at;
	} else if (!cutter->has_too_many) {
		cutter->has_too_many = true;
		triad_diags_add(cutter->diags, line->number, (unsigned)start + 1,
			"more than %u fields; a field with a comma in it stands in "
			"quotes",
			cutter->max_fields);
	}
}

/* Reports the first octet that is no text, and makes the line one without a 0 before
 * its end. */
static void clean(struct triad_csv_line *line, size_t size, struct triad_diags *diags)
{
	size_t at = triad_text_check(line->text, size);

	if (at == size)
		return;
	if (line->text[at])
		triad_diags_add(diags, line->number, (unsigned)at + 1,
			"the octet 0x%02x is part of a control character or isn't "
			"UTF-8",
			(unsigned char)line->text[at]);
	else
		triad_diags_add(diags, line->number, (unsigned)at + 1,
			"an octet that is 0: this isn't text");
	for (size_t i = at; i < size; i++)
		if (!line->text[i])
			line->text[i] = '?';
	triad_text_clean(line->text);
}

void triad_csv_line_cut(struct triad_csv_line *line, const char *octets, size_t size,
	unsigned max_fields, struct triad_diags *diags)
{
	struct cutter cutter = {.line = line,
		.diags = diags,
		.text = line->text,
		.max_fields = max_fields};

	memcpy(line->text, octets, size);
	line->text[size] = '\0';
	clean(line, size, diags);
	line->n_fields = 0;
	while (cutter.read != SIZE_MAX)
		read_field(&cutter);
	for (unsigned i = line->n_fields; i < TRIAD_CSV_MAX_FIELDS; i++) {
		line->fields[i] = "";
		line->columns[i] = 0;
	}
}
