/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/node_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/node_label.h"

#define GUID_SIZE 24

/* A line between two places of the text, without its newline. */
struct line {
	const char *at, *end;
};

static void skip_blanks(struct line *line)
{
	while (line->at < line->end && strchr(" \t\r", *line->at))
		line->at++;
}

static bool read_guid(struct line *line, uint64_t *guid)
{
	char digits[GUID_SIZE] = "", *end;
	size_t n = 0;

	while (line->at < line->end && !strchr(" \t\r\"", *line->at)) {
		if (n == sizeof(digits) - 1)
			return false;
		digits[n++] = *line->at++;
	}
	errno = 0;
	*guid = strtoull(digits, &end, 0);
	return n && !*end && !errno && *guid && digits[0] != '-';
}

/* The name goes up to the next quote or comment, as OpenSM reads it. */
static void read_name(struct line *line, char name[TRIAD_NODE_NAME_SIZE])
{
	char text[TRIAD_NODE_NAME_SIZE];
	size_t n = 0;

	skip_blanks(line);
	if (line->at < line->end && *line->at == '"')
		line->at++;
	while (line->at < line->end && n < sizeof(text) - 1 &&
		!strchr("\"#\r", *line->at))
		text[n++] = *line->at++;
	text[n] = '\0';
	triad_fabric_clean_name(name, text);
}

struct reader {
	struct triad_fabric *fabric;
	uint8_t *is_named; /* for each node */
	struct triad_node_map_result *result;
};

static bool read_map_line(struct reader *reader, struct line line)
{
	char name[TRIAD_NODE_NAME_SIZE];
	uint64_t guid;
	uint32_t node;

	skip_blanks(&line);
	if (line.at == line.end || *line.at == '#')
		return true;
	if (!read_guid(&line, &guid))
		return false;
	read_name(&line, name);
	if (!name[0])
		return false;
	reader->result->n_lines++;
	node = triad_fabric_find_node(reader->fabric, guid);
	if (node == TRIAD_FABRIC_NONE || reader->is_named[node])
		return true;
	reader->is_named[node] = 1;
	reader->result->n_named++;
	memcpy(reader->fabric->nodes[node].name, name, sizeof(name));
	return true;
}

int triad_node_map_apply(struct triad_fabric *fabric, const char *text, size_t size,
	struct triad_node_map_result *result)
{
	struct reader reader = {.fabric = fabric, .result = result};
	const char *end = text + size;
	unsigned number = 0;

	*result = (struct triad_node_map_result){0};
	reader.is_named = calloc(fabric->n_nodes + 1, 1);
	if (!reader.is_named)
		return ENOMEM;
	for (const char *at = text, *next; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next : end;
		number++;
		if (!read_map_line(&reader, (struct line){at, next}) &&
			!result->wrong_line)
			result->wrong_line = number;
	}
	free(reader.is_named);
	return triad_node_labels_make(fabric);
}
