/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/text.h"
#include "portmgr/expected/expected_parts.h"
#include "triad/fabric.h"

#define MAX_NAME (TRIAD_NODE_NAME_SIZE - 1)
#define MAX_VENDOR_ID 0xffffff /* [IBA 14.2.5.3: 24 bits] */
#define KEY_SIZE 16
/* Limits the memory of texts: all are from the file, and each needs a 0 at its end,
 * where the file has a comma or a line's end. */
#define MAX_TEXT (2 * TRIAD_EXPECTED_MAX_OCTETS)
#define GUID_RULE "a GUID is 0x and 1 to 16 hexadecimal digits, not all 0"

uint32_t triad_expected_keep(struct triad_expected_reader *reader, const char *text)
{
	struct triad_expected *expected = reader->expected;
	size_t at = expected->text_size, size = strlen(text) + 1;

	if (!*text || reader->error)
		return 0;
	reader->error = at + size > MAX_TEXT
		? E2BIG
		: triad_grow(&expected->text, &reader->text_room, at + size, 1,
			  TRIAD_EXPECTED_FIRST_ROOM);
	if (reader->error)
		return 0;
	memcpy(expected->text + at, text, size);
	expected->text_size += size;
	return (uint32_t)at;
}

/* A field, and its place for messages. */
struct field {
	struct triad_expected_reader *reader;
	const struct triad_csv_line *line;
	unsigned column;
	const char *text;
};

static bool complain_of_field(const struct field *field, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool complain_of_field(const struct field *field, const char *format, ...)
{
	char text[TRIAD_DIAG_TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	triad_diags_add(
		field->reader->diags, field->line->number, field->column, "%s", text);
	return false;
}

/* --- values ------------------------------------------------------------ */

/* Also checks for tabs; clean() of the line has reported other control characters and
 * invalid UTF-8. */
static bool check_name(const struct field *field, const char *what, const char *name)
{
	if (strlen(name) > MAX_NAME)
		return complain_of_field(field, "%s %.40s... is longer than %d octets",
			what, name, MAX_NAME);
	if (strchr(name, '\t'))
		return complain_of_field(field, "%s %s has a tab in it", what, name);
	return true;
}

static bool read_guid(
	const struct field *field, const char *what, const char *text, uint64_t *guid)
{
	return triad_text_guid(text, guid) ||
		complain_of_field(field, "%s %.40s: " GUID_RULE, what, text);
}

static bool read_port(
	const struct field *field, const char *what, const char *text, uint8_t *port)
{
	unsigned number;

	if (!triad_text_number(text, &number) || !number ||
		number > TRIAD_FABRIC_MAX_PORT_NUMBER)
		return complain_of_field(field, "%s %.40s: allowed are 1 to %d", what,
			text, TRIAD_FABRIC_MAX_PORT_NUMBER);
	*port = (uint8_t)number;
	return true;
}

static bool read_vendor(const struct field *field, const char *text, uint32_t *vendor)
{
	uint64_t value;

	if (!triad_text_guid(text, &value) || value > MAX_VENDOR_ID)
		return complain_of_field(field,
			"vendor=%.40s: a vendor id is 0x and 1 to 6 hexadecimal "
			"digits, not all 0",
			text);
	*vendor = (uint32_t)value;
	return true;
}

static bool read_pattern(const struct field *field, const char *text, uint32_t *pattern)
{
	if (!*text)
		return complain_of_field(field, "name= has no name behind it");
	if (!check_name(field, "the pattern", text))
		return false;
	*pattern = triad_expected_keep(field->reader, text);
	return true;
}

/* --- lists of KEY=VALUE between ';' ------------------------------------ */

struct key {
	const char *name;
	bool has_value;
};

enum { REMOTE_PORT_GUID, REMOTE_NODE_GUID, REMOTE_NAME, REMOTE_VENDOR, REMOTE_PORT };

static const struct key remote_keys[] = {
	[REMOTE_PORT_GUID] = {"port_guid", true},
	[REMOTE_NODE_GUID] = {"node_guid", true},
	[REMOTE_NAME] = {"name", true},
	[REMOTE_VENDOR] = {"vendor", true},
	[REMOTE_PORT] = {"port", true},
};

enum { CHECK_NAME, CHECK_PING };

static const struct key check_keys[] = {
	[CHECK_NAME] = {"name", true},
	[CHECK_PING] = {"ping", false},
};

#define N_KEYS(keys) (sizeof(keys) / sizeof((keys)[0]))

struct list {
	const char *name;
	const struct key *keys;
	size_t n_keys;
	bool (*take)(const struct field *field, struct triad_expected_port *row,
		size_t key, const char *value);
};

static bool parse_remote(const struct field *field, struct triad_expected_port *row,
	size_t key, const char *value)
{
	struct triad_expected_remote *remote = &row->remote;

	switch (key) {
	case REMOTE_PORT_GUID:
		return read_guid(field, "port_guid", value, &remote->port_guid);
	case REMOTE_NODE_GUID:
		return read_guid(field, "node_guid", value, &remote->node_guid);
	case REMOTE_NAME:
		return read_pattern(field, value, &remote->name);
	case REMOTE_VENDOR:
		return read_vendor(field, value, &remote->vendor_id);
	default:
		return read_port(field, "the remote port", value, &remote->port);
	}
}

static bool parse_check(const struct field *field, struct triad_expected_port *row,
	size_t key, const char *value)
{
	if (key == CHECK_NAME)
		return read_pattern(field, value, &row->check_name);
	row->check_ping = true;
	return true;
}

static const struct list remote_list = {
	"remote", remote_keys, N_KEYS(remote_keys), parse_remote};
static const struct list check_list = {
	"check", check_keys, N_KEYS(check_keys), parse_check};

static bool complain_key(
	const struct field *field, const struct list *list, const char *key)
{
	char known[80] = "";

	for (size_t i = 0; i < list->n_keys; i++)
		triad_text_append(known, sizeof(known), "%s%s%s", i ? ", " : "",
			list->keys[i].name, list->keys[i].has_value ? "=" : "");
	return complain_of_field(
		field, "%s: no key '%.40s'; allowed are %s", list->name, key, known);
}

static char *trim_text(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && triad_text_is_blank(end[-1]))
		*--end = '\0';
	return text;
}

/* Cuts 'item' in its key and its value. */
static bool read_item(const struct field *field, const struct list *list, char *item,
	struct triad_expected_port *row, unsigned *seen)
{
	char *equals = strchr(item, '='), *key;
	size_t i;

	if (equals)
		*equals = '\0';
	key = trim_text(item);
	for (i = 0; i < list->n_keys && strcmp(key, list->keys[i].name); i++)
		;
	if (i == list->n_keys)
		return complain_key(field, list, key);
	if (*seen & 1u << i)
		return complain_of_field(
			field, "%s: '%s' is there twice", list->name, key);
	*seen |= 1u << i;
	if (list->keys[i].has_value != !!equals)
		return complain_of_field(field, "%s: '%s' %s", list->name, key,
			equals ? "has no value" : "needs '=' and a value");
	return list->take(field, row, i, equals ? trim_text(equals + 1) : "");
}

static void read_list(const struct field *field, const struct list *list,
	struct triad_expected_port *row)
{
	char copy[TRIAD_EXPECTED_MAX_LINE + 1], *at = copy, *item;
	unsigned seen = 0;

	/* Cut a copy: messages quote the text. */
	snprintf(copy, sizeof(copy), "%s", field->text);
	while ((item = strsep(&at, ";"))) {
		item = trim_text(item);
		if (*item)
			read_item(field, list, item, row, &seen);
	}
}

/* --- columns ----------------------------------------------------------- */

static bool read_node_field(const struct field *field, struct triad_expected_port *row)
{
	if (!*field->text)
		return complain_of_field(
			field, "the node is missing: its GUID, or its name");
	if (!strncmp(field->text, "0x", 2) || !strncmp(field->text, "0X", 2))
		return read_guid(field, "the node", field->text, &row->node_guid);
	if (!check_name(field, "the node's name", field->text))
		return false;
	row->node_name = triad_expected_keep(field->reader, field->text);
	return true;
}

static void read_state(const struct field *field, struct triad_expected_port *row)
{
	for (uint8_t i = 0; i <= TRIAD_EXPECTED_TEST; i++)
		if (!strcmp(field->text, triad_expected_state_name(i))) {
			row->state = i;
			return;
		}
	row->state = TRIAD_EXPECTED_BROKEN;
	complain_of_field(field,
		"the state '%.40s': allowed are enabled, disabled, test", field->text);
}

static void read_width(const struct field *field, struct triad_expected_port *row)
{
	row->width = triad_link_width_find(field->text);
	if (*field->text && !row->width)
		complain_of_field(field,
			"the width '%.40s': allowed are 1x, 2x, 4x, 8x, 12x",
			field->text);
}

static void read_speed(const struct field *field, struct triad_expected_port *row)
{
	row->speed = (uint8_t)triad_link_speed_find(field->text);
	if (*field->text && !row->speed)
		complain_of_field(field,
			"the speed '%.40s': allowed are SDR, DDR, QDR, FDR, EDR, HDR, "
			"NDR, XDR",
			field->text);
}

static void read_check(const struct field *field, struct triad_expected_port *row)
{
	read_list(field, &check_list, row);
	if (*field->text && row->state != TRIAD_EXPECTED_TEST &&
		row->state != TRIAD_EXPECTED_BROKEN)
		complain_of_field(field,
			"a check is for ports under test; this one is %s",
			triad_expected_state_name(row->state));
}

static bool read_port_of_node(
	const struct field *field, struct triad_expected_port *row)
{
	if (!*field->text)
		return complain_of_field(field, "the port is missing, 1 to %d",
			TRIAD_FABRIC_MAX_PORT_NUMBER);
	return read_port(field, "the port", field->text, &row->port);
}

bool triad_expected_row_read(struct triad_expected_reader *reader,
	const struct triad_csv_line *line, struct triad_expected_port *row)
{
	const size_t n_before = reader->diags->n_total;
	struct field fields[TRIAD_N_COLUMNS];
	bool is_known;

	for (unsigned i = 0; i < TRIAD_N_COLUMNS; i++)
		fields[i] =
			(struct field){reader, line, line->columns[i], line->fields[i]};
	*row = (struct triad_expected_port){.line = line->number};
	is_known = read_node_field(&fields[TRIAD_COLUMN_NODE], row);
	is_known = read_port_of_node(&fields[TRIAD_COLUMN_PORT], row) && is_known;
	read_state(&fields[TRIAD_COLUMN_STATE], row);
	read_list(&fields[TRIAD_COLUMN_REMOTE], &remote_list, row);
	read_width(&fields[TRIAD_COLUMN_WIDTH], row);
	read_speed(&fields[TRIAD_COLUMN_SPEED], row);
	read_check(&fields[TRIAD_COLUMN_CHECK], row);
	row->comment = triad_expected_keep(reader, line->fields[TRIAD_COLUMN_COMMENT]);
	/* All columns are read, to report all mistakes.  Keep a broken row if its port
	 * is known, so that a second row about that port is found. */
	if (reader->diags->n_total != n_before)
		row->state = TRIAD_EXPECTED_BROKEN;
	return is_known;
}

const char *triad_expected_state_name(unsigned state)
{
	static const char *const names[] = {
		[TRIAD_EXPECTED_ENABLED] = "enabled",
		[TRIAD_EXPECTED_DISABLED] = "disabled",
		[TRIAD_EXPECTED_TEST] = "test",
	};

	return state <= TRIAD_EXPECTED_TEST ? names[state] : "";
}
