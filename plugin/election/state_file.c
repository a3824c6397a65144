/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/election/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "triad/file.h"

/* A line for each id of the blacklist and some more, with room to spare. */
#define MAX_SIZE 8192
#define FIRST_LINE "# Triad's election; written by itself\n"

int triad_state_file_name(const char *dir, uint64_t id, char *path, size_t size)
{
	int length =
		snprintf(path, size, "%s/election-0x%016" PRIx64 ".state", dir, id);

	return length > 0 && (size_t)length < size ? 0 : ENAMETOOLONG;
}

static size_t print(const struct triad_election_stored *stored, char text[MAX_SIZE])
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

/* --- reading --- */

static int read_line(const char *line, struct triad_election_stored *stored)
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

static int read_all(const char *path, char text[MAX_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	ssize_t size;
	int error;

	if (fd < 0)
		return errno;
	size = read(fd, text, MAX_SIZE - 1);
	error = size < 0 ? errno : 0;
	close(fd);
	text[size < 0 ? 0 : size] = '\0';
	return error;
}

/* A file that was cut off or changed is not what would be written now. */
static int parse(char *text, struct triad_election_stored *stored)
{
	char again[MAX_SIZE], whole[MAX_SIZE], *save = NULL;
	int error = 0;

	snprintf(whole, sizeof(whole), "%s", text);
	for (char *line = strtok_r(text, "\n", &save); line && !error;
		line = strtok_r(NULL, "\n", &save))
		error = read_line(line, stored);
	if (error || stored->voted_term > stored->term)
		return EINVAL;
	print(stored, again);
	return strcmp(whole, again) ? EINVAL : 0;
}

int triad_state_file_read(const char *path, struct triad_election_stored *stored)
{
	char text[MAX_SIZE];
	int error = read_all(path, text);

	memset(stored, 0, sizeof(*stored));
	if (!error)
		error = parse(text, stored);
	if (error)
		memset(stored, 0, sizeof(*stored));
	return error;
}

/* --- writing --- */

int triad_state_file_write(const char *path, const struct triad_election_stored *stored)
{
	char text[MAX_SIZE];

	return triad_file_replace(path, text, print(stored, text), 0600);
}
