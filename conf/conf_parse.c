/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parses triad.conf line by line.  Not by GKeyFile: that stops at the first wrong line,
 * has no line numbers and aborts when memory is short. */
#include "triad/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "conf/conf_keys.h"
#include "conf/conf_value.h"
#include "lib/text.h"
#include "triad/lists.h"

#define MAX_SECTIONS 256
#define NAME_SIZE TRIAD_CONF_NAME_SIZE

enum section_kind {
	SECTION_NONE,    /* before the first one */
	SECTION_UNKNOWN, /* reported; its keys are ignored */
	SECTION_PLAIN,
	SECTION_PORT,
};

struct section {
	enum section_kind kind;
	struct triad_conf_section where; /* SECTION_PLAIN, else zeros */
	uint64_t guid;                   /* SECTION_PORT, else 0 */
	unsigned line;
};

struct parser {
	uint64_t port_guid;
	struct triad_conf *conf;               /* from plain sections */
	struct triad_conf own;                 /* from this port's section, */
	uint32_t own_has[TRIAD_CONF_MAX_KEYS]; /* for these: a bit an element */
	struct triad_conf others; /* other ports' sections: checked, then dropped */
	/* Line of each value in 'conf', or 0. */
	unsigned value_lines[TRIAD_CONF_MAX_KEYS];
	struct triad_diags *diags;
	unsigned line;
	struct section sections[MAX_SECTIONS]; /* all so far, the present one last */
	unsigned n_sections;
	/* Line of each key in the present section, or 0. */
	unsigned key_lines[TRIAD_CONF_MAX_KEYS][TRIAD_CONF_MAX_SCOPES];
};

_Static_assert(TRIAD_CONF_MAX_SCOPES <= 32, "own_has has a bit for each");

/* --- sections ---------------------------------------------------------- */

static struct section *present_section(struct parser *parser)
{
	return &parser->sections[parser->n_sections - 1];
}

static bool is_same_section(const struct section *a, const struct section *b)
{
	return a->kind == b->kind && a->guid == b->guid &&
		a->where.first == b->where.first &&
		a->where.element == b->where.element;
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

/* Parses "[port 0x...]"; false when 'name' begins otherwise, or is just "port", the
 * section of the port manager. */
static bool parse_port_section(
	struct parser *parser, struct section *section, const char *name)
{
	const char *guid = name + strlen("port");

	if (strncmp(name, "port", strlen("port")) || !*guid || !strchr(" \t", *guid))
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

/* The group's name if 'section' is a group's; else NULL. */
static const char *group_name_of(const char *section)
{
	const char *name = section + strlen("group");

	if (strncmp(section, "group", strlen("group")) || !*name ||
		!strchr(" \t", *name))
		return NULL;
	return name + strspn(name, " \t");
}

static bool parse_plain_section(
	struct parser *parser, struct section *section, const char *name)
{
	const char *group = group_name_of(name);
	char message[TRIAD_DIAG_TEXT_SIZE];

	/* collect_group() has added all groups that have room. */
	if (group && triad_conf_group_name_is_valid(group) &&
		triad_conf_group_find(parser->conf, group) == parser->conf->n_groups) {
		triad_diags_add(parser->diags, parser->line, 0, "more than %d groups",
			TRIAD_CONF_MAX_GROUPS);
		return false;
	}
	if (triad_conf_section_find(
		    parser->conf, name, &section->where, message, sizeof(message)))
		return true;
	triad_diags_add(parser->diags, parser->line, 0, "%s", message);
	return false;
}

/* 'name' is NULL for an unknown section. */
static void begin_section(struct parser *parser, const char *name)
{
	struct section *section;

	/* Beyond the limit each section replaces the last one, so that its lines are
	 * still checked. */
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
	if (parse_plain_section(parser, section, name))
		section->kind = SECTION_PLAIN;
}

/* --- lines ------------------------------------------------------------- */

struct span {
	const char *text;
	size_t length;
};

static struct span trim_span(const char *text, size_t length)
{
	while (length && triad_text_is_blank(text[length - 1]))
		length--;
	while (length && triad_text_is_blank(*text)) {
		text++;
		length--;
	}
	return (struct span){text, length};
}

/* Copies a name, cut to its room: no known name is longer. */
static void copy_name(char *name, struct span span)
{
	bool fits = span.length < NAME_SIZE;

	snprintf(name, NAME_SIZE, "%.*s%s", fits ? (int)span.length : NAME_SIZE - 4,
		span.text, fits ? "" : "...");
}

/* Copies the text between the brackets of '[section]'.  Returns NULL, or the
 * mistake. */
static const char *section_name(struct span line, char *name)
{
	const char *end = memchr(line.text, ']', line.length);

	if (!end)
		return "a section has no ']' at its end";
	if (end + 1 < line.text + line.length)
		return "nothing may follow the ']' of a section";
	copy_name(name, trim_span(line.text + 1, (size_t)(end - line.text - 1)));
	return NULL;
}

static void parse_section_line(struct parser *parser, struct span line)
{
	char name[NAME_SIZE];
	const char *wrong = section_name(line, name);

	if (wrong)
		triad_diags_add(parser->diags, parser->line, 0, "%s", wrong);
	begin_section(parser, wrong ? NULL : name);
	if (!wrong)
		report_repeated_section(parser);
}

/* Stores a value in the configuration of the present section. */
static bool store_value(struct parser *parser, struct triad_conf_key_ref ref,
	const char *value, char *reason, size_t size)
{
	const struct section *section = present_section(parser);
	bool is_own =
		section->kind == SECTION_PORT && section->guid == parser->port_guid;
	struct triad_conf *conf = section->kind == SECTION_PLAIN ? parser->conf
		: is_own                                         ? &parser->own
								 : &parser->others;
	size_t index = triad_conf_key_index(ref.key);

	if (!triad_conf_value_set(conf, ref, value, parser->port_guid, reason, size))
		return false;
	triad_conf_value_set_origin(conf, ref, TRIAD_CONF_FROM_FILE);
	if (is_own)
		parser->own_has[index] |= UINT32_C(1) << ref.element;
	if (conf != &parser->others)
		parser->value_lines[index] = parser->line;
	return true;
}

static void parse_value(
	struct parser *parser, struct triad_conf_key_ref ref, struct span span)
{
	unsigned *first_line =
		&parser->key_lines[triad_conf_key_index(ref.key)][ref.element];
	char value[TRIAD_CONF_VALUE_SIZE], reason[TRIAD_DIAG_TEXT_SIZE];
	char name[NAME_SIZE];

	triad_conf_key_ref_name(parser->conf, ref, name, sizeof(name));
	if (*first_line) {
		triad_diags_add(parser->diags, parser->line, 0,
			"%s has a value on line %u already", name, *first_line);
		return;
	}
	*first_line = parser->line;
	if (span.length >= sizeof(value)) {
		triad_diags_add(parser->diags, parser->line, 0,
			"%s: the value has %zu octets; allowed are %zu", name,
			span.length, sizeof(value) - 1);
		return;
	}
	snprintf(value, sizeof(value), "%.*s", (int)span.length, span.text);
	if (!store_value(parser, ref, value, reason, sizeof(reason)))
		triad_diags_add(parser->diags, parser->line, 0, "%s: %s%s", name,
			reason,
			strchr(value, '#') ? " (a #comment needs a line of its own)"
					   : "");
}

/* Keeps a former release's key for a line that says so, or an ellipsis for all keys that
 * find no room. */
static void note_gone(struct parser *parser, const char *name)
{
	static const char more[] = ", ...";
	char *gone = parser->conf->gone;
	const size_t size = sizeof(parser->conf->gone), n = strlen(gone);
	const char *comma = n ? ", " : "";
	size_t n_more = strlen(more);

	if (n >= n_more && !strcmp(gone + n - n_more, more))
		return;
	if (n + strlen(comma) + strlen(name) + n_more < size)
		triad_text_append(gone, size, "%s%s", comma, name);
	else
		triad_text_append(gone, size, "%s", more);
}

static void parse_key_line(struct parser *parser, struct span line, const char *equals)
{
	const struct section *section = present_section(parser);
	/* Guess only for mistakes that are kept: it takes time. */
	bool is_seen = parser->diags->n < TRIAD_DIAG_MAX;
	char name[NAME_SIZE], reason[TRIAD_DIAG_TEXT_SIZE] = "";
	const struct triad_conf_section *where =
		section->kind == SECTION_PLAIN ? &section->where : NULL;
	struct triad_conf_key_ref ref;
	const char *gone;

	/* The section itself has been reported. */
	if (section->kind == SECTION_UNKNOWN)
		return;
	copy_name(name, trim_span(line.text, (size_t)(equals - line.text)));
	if (section->kind == SECTION_NONE) {
		triad_diags_add(parser->diags, parser->line, 0,
			"'%s' stands before the first section, such as [perfmgr]",
			name);
		return;
	}
	if (triad_conf_key_ref_find(parser->conf, where, name, &ref, reason,
		    is_seen ? sizeof(reason) : 0))
		parse_value(parser, ref,
			trim_span(equals + 1,
				(size_t)(line.text + line.length - equals - 1)));
	else if ((gone = triad_conf_key_find_gone(where, name)))
		note_gone(parser, gone);
	else
		triad_diags_add(parser->diags, parser->line, 0, "%s", reason);
}

static void refuse_line(struct parser *parser, struct span line)
{
	char text[TRIAD_CONF_VALUE_SIZE], shown[TRIAD_CONF_VALUE_SIZE];

	snprintf(text, sizeof(text), "%.*s", (int)line.length, line.text);
	/* A line of servers that lacks its '=' may still have passwords. */
	triad_servers_mask(text, shown, sizeof(shown));
	triad_diags_add(parser->diags, parser->line, 0,
		"'%.80s' is neither [section] nor key = value nor #comment", shown);
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
	line = trim_span(text, length);
	if (!line.length || *line.text == '#')
		return;
	equals = memchr(line.text, '=', line.length);
	if (*line.text == '[')
		parse_section_line(parser, line);
	else if (equals && equals > line.text)
		parse_key_line(parser, line, equals);
	else
		refuse_line(parser, line);
}

/* Adds the group whose section a line begins, because earlier sections may name it.
 * parse_line() reports mistakes of the line. */
static void collect_group(struct parser *parser, const char *text, size_t length)
{
	struct triad_conf *conf = parser->conf;
	struct span line;
	char name[NAME_SIZE];
	const char *group;

	if (length && text[length - 1] == '\r')
		length--;
	line = trim_span(text, length);
	if (!line.length || *line.text != '[' || section_name(line, name))
		return;
	group = group_name_of(name);
	if (group && triad_conf_group_name_is_valid(group) &&
		conf->n_groups < TRIAD_CONF_MAX_GROUPS &&
		triad_conf_group_find(conf, group) == conf->n_groups)
		triad_conf_group_add(conf, group);
}

/* --- the whole --------------------------------------------------------- */

static void for_each_line(struct parser *parser, const char *text, size_t size,
	void (*take)(struct parser *parser, const char *text, size_t length))
{
	const char *end = text + size;

	parser->line = 0;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		parser->line++;
		take(parser, text, (size_t)(line_end - text));
		text = line_end + 1;
	}
}

/* Applies this port's section over the others, wherever it stands in the file. */
static void apply_own(struct parser *parser)
{
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (i = 0; i < n; i++)
		for (unsigned element = 0; element < TRIAD_CONF_MAX_SCOPES; element++)
			if (parser->own_has[i] >> element & 1)
				triad_conf_value_copy(parser->conf, &parser->own,
					(struct triad_conf_key_ref){&keys[i], element});
}

/* Reports keys that need a missing one, and resets them. */
static void report_needs(struct parser *parser)
{
	struct triad_conf_need need;
	char reason[TRIAD_DIAG_TEXT_SIZE];

	while (triad_conf_find_need(parser->conf, &need)) {
		struct triad_conf_key_ref ref = {.key = need.because};

		triad_diags_add(parser->diags,
			parser->value_lines[triad_conf_key_index(ref.key)], 0,
			"%s.%s needs %s.%s%s", ref.key->section, ref.key->name,
			need.missing->section, need.missing->name, need.why);
		triad_conf_value_set(parser->conf, ref, ref.key->default_text,
			parser->port_guid, reason, sizeof(reason));
		triad_conf_value_set_origin(parser->conf, ref, TRIAD_CONF_FROM_DEFAULT);
	}
}

int triad_conf_parse(const char *text, size_t size, uint64_t port_guid,
	struct triad_conf *conf, struct triad_diags *diags)
{
	size_t n_before = diags->n_total;
	struct parser *parser;

	if (size > TRIAD_CONF_FILE_MAX_SIZE) {
		triad_diags_add(diags, 0, 0, "the file has more than %d octets",
			TRIAD_CONF_FILE_MAX_SIZE);
		return EFBIG;
	}
	/* Threads have small stacks, and a parser has 64 KiB. */
	parser = calloc(1, sizeof(*parser));
	if (!parser) {
		triad_diags_add(diags, 0, 0, "not enough memory");
		return ENOMEM;
	}
	parser->port_guid = port_guid;
	parser->conf = conf;
	parser->diags = diags;
	parser->n_sections = 1; /* SECTION_NONE */
	/* Groups first: a section may name a group that comes later. */
	for_each_line(parser, text, size, collect_group);
	for_each_line(parser, text, size, parse_line);
	/* Check the needs of keys last, with the values that will be in force. */
	apply_own(parser);
	report_needs(parser);
	free(parser);
	return diags->n_total > n_before ? EINVAL : 0;
}
