/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cabling/plan_csv.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include <glib.h>

#include "ib/link.h"
#include "lib/text.h"
#include "triad/fabric.h"

#define MAX_LENGTH_M 6000.0 /* of a cable, so that it fits */
#define NAME_SIZE 32        /* of a column */

enum column {
	START_DEVICE,
	START_PORT,
	END_DEVICE,
	END_PORT,
	LINK_TYPE,
	SPEED,
	LENGTH,
	DOMAIN,
	N_COLUMNS
};

struct reader {
	struct triad_diags *diags;
	struct triad_cabling_plan *plan;
	int columns[N_COLUMNS]; /* their places; -1: the file lacks it */
	bool has_names;         /* the places are known */
	struct triad_csv_line line;
};

/* --- columns of NDT ---------------------------------------------------- */

/* "#Fields:StartDevice" and "Start device" are "startdevice". */
static void clean_name(const char *field, char name[NAME_SIZE])
{
	const char *colon = strchr(field, ':');
	size_t n = 0;

	for (field = colon ? colon + 1 : field; *field && n < NAME_SIZE - 1; field++)
		if (*field != ' ' && *field != '#' && *field != '_')
			name[n++] = g_ascii_tolower(*field);
	name[n] = '\0';
}

static void find_columns(const struct triad_csv_line *line, int columns[N_COLUMNS])
{
	static const char *const names[N_COLUMNS] = {"startdevice", "startport",
		"enddevice", "endport", "linktype", "speed", "cablelength", "domain"};
	char name[NAME_SIZE];

	for (unsigned i = 0; i < N_COLUMNS; i++)
		columns[i] = -1;
	for (unsigned field = line->n_fields; field-- > 0;) {
		clean_name(line->fields[field], name);
		for (unsigned i = 0; i < N_COLUMNS; i++)
			if (!strcmp(name, names[i]))
				columns[i] = (int)field;
	}
}

bool triad_cabling_is_ndt(const struct triad_csv_line *line)
{
	int columns[N_COLUMNS];

	find_columns(line, columns);
	return columns[START_DEVICE] >= 0 && columns[START_PORT] >= 0 &&
		columns[END_DEVICE] >= 0 && columns[END_PORT] >= 0;
}

static const char *field_of(const struct reader *reader, enum column column)
{
	return reader->columns[column] < 0
		? ""
		: reader->line.fields[reader->columns[column]];
}

static unsigned place_of(const struct reader *reader, enum column column)
{
	return reader->columns[column] < 0
		? 0
		: reader->line.columns[reader->columns[column]];
}

static bool complain_of_field(struct reader *reader, enum column column,
	const char *what, const char *allowed)
{
	triad_diags_add(reader->diags, reader->line.number, place_of(reader, column),
		"the %s '%.40s': allowed are %s", what, field_of(reader, column),
		allowed);
	return false;
}

/* --- values ------------------------------------------------------------ */

/* A port that is named by a label of its front, or by an interface, gets the number 0. */
static bool read_csv_port(const char *text, uint8_t *port)
{
	unsigned number = 0;

	if (!strncasecmp(text, "Port ", 5))
		text += 5;
	if (!strchr(text, '/') && strncmp(text, "ibp", 3) != 0 &&
		strncmp(text, "mlx", 3) != 0 &&
		(!triad_text_number(text, &number) || !number ||
			number > TRIAD_FABRIC_MAX_PORT_NUMBER))
		return false;
	*port = (uint8_t)number;
	return true;
}

/* With or without 0x. */
static bool read_csv_guid(const char *text, uint64_t *guid)
{
	char with_prefix[24];

	g_snprintf(with_prefix, sizeof(with_prefix), "%s%s",
		strncasecmp(text, "0x", 2) ? "0x" : "", text);
	return triad_text_guid(with_prefix, guid);
}

static bool read_csv_node(
	struct reader *reader, enum column column, struct triad_cabling_end *end)
{
	const char *text = field_of(reader, column);

	if (reader->plan->format == TRIAD_CABLING_TOPOCONFIG)
		return read_csv_guid(text, &end->guid) ||
			complain_of_field(reader, column, "GUID",
				"1 to 16 hexadecimal digits, not all 0");
	if (!*text || strlen(text) >= TRIAD_NODE_NAME_SIZE)
		return complain_of_field(reader, column, "device", "1 to 64 octets");
	end->name = triad_cabling_plan_keep(reader->plan, text);
	return true;
}

static bool read_csv_end(struct reader *reader, enum column node, enum column port,
	struct triad_cabling_end *end)
{
	bool is_good = read_csv_node(reader, node, end);

	return (read_csv_port(field_of(reader, port), &end->port) ||
		       complain_of_field(
			       reader, port, "port", "'Port N' and N, 1 to 254")) &&
		is_good;
}

/* "5", "5m", "0.5 m"; 0 for anything else. */
static uint16_t read_length_dm(const char *text)
{
	char *end;
	double length_m = g_ascii_strtod(text, &end);

	if (end == text || !(length_m > 0) || length_m > MAX_LENGTH_M)
		return 0;
	end += strspn(end, " ");
	return !*end || !strcasecmp(end, "m") ? (uint16_t)lround(10 * length_m) : 0;
}

/* --- rows -------------------------------------------------------------- */

static void add_lone_port(
	struct reader *reader, struct triad_cabling_end end, bool is_free)
{
	const struct triad_cabling_port_plan port = {end, is_free};

	if (end.port)
		triad_cabling_plan_add_port(reader->plan, &port);
}

static void add_csv_row(struct reader *reader, const struct triad_cabling_link *link)
{
	struct triad_cabling_plan *plan = reader->plan;

	if (link->ends[0].port && link->ends[1].port) {
		triad_cabling_plan_add_link(plan, link);
		return;
	}
	if (!plan->n_open++)
		plan->first_open_line = link->line;
	add_lone_port(reader, link->ends[0], false);
	add_lone_port(reader, link->ends[1], false);
}

static bool has_value(const struct reader *reader, enum column column)
{
	const char *text = field_of(reader, column);

	return *text && strcmp(text, "-") != 0;
}

static void read_csv_row(struct reader *reader)
{
	const char *type = field_of(reader, LINK_TYPE);
	struct triad_cabling_link link = {.line = reader->line.number,
		.speed = (uint8_t)triad_link_speed_find(field_of(reader, SPEED)),
		.length_dm = read_length_dm(field_of(reader, LENGTH))};
	bool is_good;

	if (*type && strcasecmp(type, "Data") != 0)
		return;
	is_good = read_csv_end(reader, START_DEVICE, START_PORT, &link.ends[0]);
	if (has_value(reader, END_DEVICE) || has_value(reader, END_PORT)) {
		is_good = read_csv_end(reader, END_DEVICE, END_PORT, &link.ends[1]) &&
			is_good;
		if (is_good)
			add_csv_row(reader, &link);
	} else if (is_good) {
		add_lone_port(reader, link.ends[0],
			!strcasecmp(field_of(reader, DOMAIN), "Disconnected"));
	}
}

bool triad_cabling_is_topoconfig(const struct triad_csv_line *line)
{
	uint64_t guid;
	uint8_t port;

	return line->n_fields >= 4 && line->n_fields <= 6 &&
		read_csv_guid(line->fields[0], &guid) &&
		read_csv_port(line->fields[1], &port) &&
		(!strcmp(line->fields[2], "-") ||
			read_csv_guid(line->fields[2], &guid));
}

/* --- lines ------------------------------------------------------------- */

static void read_csv_line(struct reader *reader, const char *octets, size_t size)
{
	struct triad_csv_line *line = &reader->line;
	bool is_topoconfig = reader->plan->format == TRIAD_CABLING_TOPOCONFIG;
	size_t start = 0;

	while (start < size && triad_text_is_blank(octets[start]))
		start++;
	if (start == size)
		return;
	if (size > TRIAD_CSV_MAX_LINE) {
		triad_diags_add(reader->diags, line->number, 0,
			"the line is longer than %u octets", TRIAD_CSV_MAX_LINE);
		return;
	}
	/* The names of the columns may be in a comment. */
	if (octets[start] == '#' && reader->has_names)
		return;
	triad_csv_line_cut(line, octets, size, is_topoconfig ? 6 : TRIAD_CSV_MAX_FIELDS,
		reader->diags);
	if (reader->has_names) {
		read_csv_row(reader);
	} else if (triad_cabling_is_ndt(line)) {
		find_columns(line, reader->columns);
		reader->has_names = true;
	}
}

void triad_cabling_csv_read(const char *octets, size_t size, struct triad_diags *diags,
	struct triad_cabling_plan *plan)
{
	/* The columns of a topoconfig file; those of others have names. */
	struct reader reader = {.diags = diags,
		.plan = plan,
		.columns = {0, 1, 2, 3, -1, -1, -1, -1},
		.has_names = plan->format == TRIAD_CABLING_TOPOCONFIG};
	const char *end = octets + size, *next;

	for (; octets < end && !plan->error; octets = next) {
		const char *newline = memchr(octets, '\n', (size_t)(end - octets));
		size_t n = (size_t)((newline ? newline : end) - octets);

		next = newline ? newline + 1 : end;
		if (n && octets[n - 1] == '\r')
			n--;
		reader.line.number++;
		read_csv_line(&reader, octets, n);
	}
}
