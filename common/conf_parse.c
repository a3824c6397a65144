/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file is read line by line, here rather than by GKeyFile: that stops at the
 * first wrong line, knows no line numbers and aborts when memory is short. */
#include "triad/conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "common/conf_keys.h"
#include "common/conf_value.h"
#include "common/text.h"

#define MAX_SECTIONS 256
#define NAME_SIZE 64

enum section_kind {
	SECTION_NONE,    /* before the first one */
	SECTION_UNKNOWN, /* reported; its keys are passed over */
	SECTION_PLAIN,
	SECTION_PORT,
};

struct section {
	enum section_kind kind;
	const char *name; /* SECTION_PLAIN, else NULL */
	uint64_t guid;    /* SECTION_PORT, else 0 */
	unsigned line;
};

struct parser {
	uint64_t port_guid;
	struct triad_conf *conf;           /* what plain sections say */
	struct triad_conf own;             /* what this port's section says, */
	bool own_has[TRIAD_CONF_MAX_KEYS]; /* for these keys */
	struct triad_conf others;          /* what is checked and then forgotten */
	struct triad_diags *diags;
	unsigned line;
	struct section sections[MAX_SECTIONS]; /* all so far, the present one last */
	unsigned n_sections;
	unsigned key_lines[TRIAD_CONF_MAX_KEYS]; /* in the present section, or 0 */
};

/* --- sections ---------------------------------------------------------- */

static struct section *present_section(struct parser *parser)
{
	return &parser->sections[parser->n_sections - 1];
}

static bool is_same_section(const struct section *a, const struct section *b)
{
	return a->kind == b->kind && a->guid == b->guid && a->name == b->name;
}

static void report_repeated_section(struct parser *parser)
{
	const struct section *section = present_section(parser);
	unsigned i;

	if (section->kind == SECTION_UNKNOWN)
		return;
	for (i = 0; i < parser->n_sections - 1; i++) {
		if (is_same_section(&parser->sections[i], section)) {
			triad_diags_add(parser->diags, parser->line, 0,
				"this section stands on line %u already; put its keys "
				"together",
				parser->sections[i].line);
			return;
		}
	}
}

/* Recognises "[port 0x...]"; false when 'name' begins otherwise. */
static bool parse_port_section(
	struct parser *parser, struct section *section, const char *name)
{
	const char *guid = name + strlen("port");

	if (strncmp(name, "port", strlen("port")) || (*guid && !strchr(" \t", *guid)))
		return false;
	guid += strspn(guid, " \t");
	if (triad_text_guid(guid, &section->guid))
		section->kind = SECTION_PORT;
	else
		triad_diags_add(parser->diags, parser->line, 0,
			"'%s' isn't a port GUID; write [port 0x0002c90300001234]",
			guid);
	return true;
}

/* 'name' is NULL when it can't be told. */
static void begin_section(struct parser *parser, const char *name)
{
	struct section *section;
	char message[TRIAD_DIAG_TEXT_SIZE];

	if (parser->n_sections == MAX_SECTIONS) {
		triad_diags_add(parser->diags, parser->line, 0, "more than %d sections",
			MAX_SECTIONS - 1);
		parser->n_sections--;
	}
	section = &parser->sections[parser->n_sections++];
	*section = (struct section){.kind = SECTION_UNKNOWN, .line = parser->line};
	memset(parser->key_lines, 0, sizeof(parser->key_lines));
	if (!name || parse_port_section(parser, section, name))
		return;
	section->name = triad_conf_section_find(name);
	if (section->name) {
		section->kind = SECTION_PLAIN;
		return;
	}
	triad_conf_section_explain(name, message, sizeof(message));
	triad_diags_add(parser->diags, parser->line, 0, "%s", message);
}

/* --- lines ------------------------------------------------------------- */

struct span {
	const char *text;
	size_t length;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span trim(const char *text, size_t length)
{
	while (length && is_blank(text[length - 1]))
		length--;
	while (length && is_blank(*text)) {
		text++;
		length--;
	}
	return (struct span){text, length};
}

/* A name that is too long is none that is known, and shown with its end cut. */
static void copy_name(char *name, struct span span)
{
	bool fits = span.length < NAME_SIZE;

	snprintf(name, NAME_SIZE, "%.*s%s", fits ? (int)span.length : NAME_SIZE - 4,
		span.text, fits ? "" : "...");
}

static void parse_section_line(struct parser *parser, struct span line)
{
	const char *end = memchr(line.text, ']', line.length);
	char name[NAME_SIZE];

	if (!end || end + 1 < line.text + line.length) {
		triad_diags_add(parser->diags, parser->line, 0, "%s",
			end ? "nothing may follow the ']' of a section"
			    : "a section has no ']' at its end");
		begin_section(parser, NULL);
		return;
	}
	copy_name(name, trim(line.text + 1, (size_t)(end - line.text - 1)));
	begin_section(parser, name);
	report_repeated_section(parser);
}

/* Stores a value where the present section wants it. */
static bool store_value(struct parser *parser, const struct triad_conf_key *key,
	const char *value, char *reason, size_t size)
{
	const struct section *section = present_section(parser);
	bool is_own =
		section->kind == SECTION_PORT && section->guid == parser->port_guid;
	struct triad_conf *conf = section->kind == SECTION_PLAIN ? parser->conf
		: is_own                                         ? &parser->own
								 : &parser->others;

	if (!triad_conf_value_set(conf, key, value, parser->port_guid, reason, size))
		return false;
	if (is_own)
		parser->own_has[triad_conf_key_index(key)] = true;
	return true;
}

static void take_value(
	struct parser *parser, const struct triad_conf_key *key, struct span span)
{
	unsigned *first_line = &parser->key_lines[triad_conf_key_index(key)];
	char value[TRIAD_CONF_VALUE_SIZE], reason[TRIAD_DIAG_TEXT_SIZE];

	if (*first_line) {
		triad_diags_add(parser->diags, parser->line, 0,
			"%s.%s has a value on line %u already", key->section, key->name,
			*first_line);
		return;
	}
	*first_line = parser->line;
	if (span.length >= sizeof(value)) {
		triad_diags_add(parser->diags, parser->line, 0,
			"%s.%s: the value has %zu octets; allowed are %zu",
			key->section, key->name, span.length, sizeof(value) - 1);
		return;
	}
	snprintf(value, sizeof(value), "%.*s", (int)span.length, span.text);
	if (!store_value(parser, key, value, reason, sizeof(reason)))
		triad_diags_add(parser->diags, parser->line, 0, "%s.%s: %s%s",
			key->section, key->name, reason,
			strchr(value, '#') ? " (a #comment needs a line of its own)"
					   : "");
}

static void report_unknown_key(struct parser *parser, const char *name)
{
	char message[TRIAD_DIAG_TEXT_SIZE] = "";

	/* Guessing takes its time: not when nobody would see it. */
	if (parser->diags->n < TRIAD_DIAG_MAX)
		triad_conf_key_explain(
			present_section(parser)->name, name, message, sizeof(message));
	triad_diags_add(parser->diags, parser->line, 0, "%s", message);
}

static void parse_key_line(struct parser *parser, struct span line, const char *equals)
{
	const struct section *section = present_section(parser);
	const struct triad_conf_key *key;
	char name[NAME_SIZE];

	if (section->kind == SECTION_UNKNOWN)
		return;
	copy_name(name, trim(line.text, (size_t)(equals - line.text)));
	if (section->kind == SECTION_NONE) {
		triad_diags_add(parser->diags, parser->line, 0,
			"'%s' stands before the first section, such as [perfmgr]",
			name);
		return;
	}
	key = triad_conf_key_find(section->name, name);
	if (key) {
		take_value(parser, key,
			trim(equals + 1,
				(size_t)(line.text + line.length - equals - 1)));
		return;
	}
	report_unknown_key(parser, name);
}

static void parse_line(struct parser *parser, const char *text, size_t length)
{
	const char *equals;
	struct span line;
	size_t bad;

	if (length && text[length - 1] == '\r')
		length--;
	bad = triad_text_check(text, length);
	if (bad < length) {
		triad_diags_add(parser->diags, parser->line, (unsigned)bad + 1,
			"octet 0x%02x is a control character or isn't UTF-8",
			(unsigned char)text[bad]);
		return;
	}
	line = trim(text, length);
	if (!line.length || *line.text == '#')
		return;
	equals = memchr(line.text, '=', line.length);
	if (*line.text == '[')
		parse_section_line(parser, line);
	else if (equals && equals > line.text)
		parse_key_line(parser, line, equals);
	else
		triad_diags_add(parser->diags, parser->line, 0,
			"'%.*s' is neither [section] nor key = value nor #comment",
			(int)MIN(line.length, 80), line.text);
}

/* --- the whole --------------------------------------------------------- */

static void parse_lines(struct parser *parser, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		parser->line++;
		parse_line(parser, text, (size_t)(line_end - text));
		text = line_end + 1;
	}
}

/* This port's section goes over the others, wherever it stands in the file. */
static void apply_own(struct parser *parser)
{
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (i = 0; i < n; i++)
		if (parser->own_has[i])
			triad_conf_value_copy(parser->conf, &parser->own, &keys[i]);
}

int triad_conf_parse(const char *text, size_t size, uint64_t port_guid,
	struct triad_conf *conf, struct triad_diags *diags)
{
	struct parser parser = {
		.port_guid = port_guid,
		.conf = conf,
		.diags = diags,
		.n_sections = 1, /* the place before the first one */
	};
	size_t n_before = diags->n_total;

	triad_conf_init(conf, port_guid);
	if (size > TRIAD_CONF_FILE_MAX_SIZE) {
		triad_diags_add(diags, 0, 0, "the file has more than %d octets",
			TRIAD_CONF_FILE_MAX_SIZE);
		return EFBIG;
	}
	parse_lines(&parser, text, size);
	apply_own(&parser);
	return diags->n_total > n_before ? EINVAL : 0;
}
