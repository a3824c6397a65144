/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/stored.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/format_version.h"

#define MAX_SIZE TRIAD_ELECTION_STORED_SIZE
#define NAME "# Triad's election"
#define FIRST_LINE NAME "; written by itself\n"

size_t triad_election_stored_format(
	const struct triad_election_stored *stored, char text[MAX_SIZE])
{
	const struct triad_blacklist *list = &stored->blacklist;
	int size = snprintf(text, MAX_SIZE,
		FIRST_LINE "term %" PRIu64 "\nvoted %" PRIu64 " 0x%016" PRIx64
			   "\ngeneration %" PRIu64 "\nlease_ms %" PRIu32 "\n",
		stored->term, stored->voted_term, stored->voted_for, stored->generation,
		stored->lease_ms);

	for (uint32_t i = 0; i < list->n; i++)
		size += snprintf(text + size, MAX_SIZE - (size_t)size,
			"blacklist 0x%016" PRIx64 " %" PRIu32 " %u\n",
			list->entries[i].id, list->entries[i].version,
			list->entries[i].is_listed);
	return (size_t)size;
}

/* Whether a later version of Triad may have added the line: it begins with an unknown
 * word, so it is no damaged line of ours. */
static bool is_of_later(const char *line)
{
	static const char *const ours[] = {
		"term", "voted", "generation", "lease_ms", "blacklist"};
	size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz_");

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strlen(ours[i]) == length && !strncmp(line, ours[i], length))
			return false;
	return length && line[length] == ' ';
}

static int read_stored_line(const char *line, struct triad_election_stored *stored)
{
	struct triad_blacklist_entry entry;
	struct triad_blacklist *list = &stored->blacklist;
	unsigned is_listed;

	if (sscanf(line, "term %" SCNu64, &stored->term) == 1 ||
		sscanf(line, "generation %" SCNu64, &stored->generation) == 1 ||
		sscanf(line, "lease_ms %" SCNu32, &stored->lease_ms) == 1 ||
		sscanf(line, "voted %" SCNu64 " 0x%" SCNx64, &stored->voted_term,
			&stored->voted_for) == 2 ||
		line[0] == '#')
		return 0;
	if (sscanf(line, "blacklist 0x%" SCNx64 " %" SCNu32 " %u", &entry.id,
		    &entry.version, &is_listed) != 3 ||
		list->n == TRIAD_BLACKLIST_MAX || !entry.id || !entry.version)
		return EINVAL;
	entry.is_listed = is_listed;
	list->entries[list->n++] = entry;
	return 0;
}

/* Whether formatting gives the same text again.  This detects what sscanf() overlooks:
 * missing, doubled or longer lines. */
static bool is_as_written(
	const char *text, size_t size, const struct triad_election_stored *stored)
{
	char again[MAX_SIZE];
	size_t length = triad_election_stored_format(stored, again);

	return length <= size && !memcmp(again, text, length) && text[size - 1] == '\n';
}

unsigned triad_election_stored_version(const char *text, size_t size)
{
	return triad_format_version(text, size, NAME);
}

int triad_election_stored_parse(
	const char *text, size_t size, struct triad_election_stored *stored)
{
	char copy[MAX_SIZE], *save = NULL;
	bool is_behind = false;
	int error = size < sizeof(copy) && !memchr(text, 0, size) ? 0 : EINVAL;

	memset(stored, 0, sizeof(*stored));
	if (triad_election_stored_version(text, size) > TRIAD_ELECTION_STORED_VERSION)
		return EPROTONOSUPPORT;
	if (!error) {
		memcpy(copy, text, size);
		copy[size] = '\0';
		for (char *line = strtok_r(copy, "\n", &save); line && !error;
			line = strtok_r(NULL, "\n", &save)) {
			is_behind |= is_of_later(line);
			if (!is_behind)
				error = read_stored_line(line, stored);
			else if (!is_of_later(line))
				error = EINVAL;
		}
	}
	/* A member can't have voted in a term that it does not know. */
	if (stored->voted_term > stored->term)
		error = EINVAL;
	if (!error && !is_as_written(text, size, stored))
		error = EINVAL;
	if (error)
		memset(stored, 0, sizeof(*stored));
	return error;
}
