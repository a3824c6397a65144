/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/election/expected.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "portmgr/election/message.h"

#define MAX_LINE 4096

static FILE *open_file(const char *path)
{
	/* A FIFO must not keep us waiting. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	FILE *file;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		close(fd);
		errno = EINVAL;
		return NULL;
	}
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

static void add_octets(FILE *file, GChecksum *sum)
{
	guchar octets[MAX_LINE];
	size_t size;

	while ((size = fread(octets, 1, sizeof(octets), file)) > 0)
		g_checksum_update(sum, octets, (gssize)size);
	if (!ferror(file))
		rewind(file);
}

/* "generation N", with nothing behind it but space or a comment; else 0. */
static uint64_t generation_of(const char *line)
{
	const char *word = line + strspn(line, " \t"), *digits;
	uint64_t generation;
	char *end;

	if (strncmp(word, "generation", strlen("generation")) != 0)
		return 0;
	word += strlen("generation");
	digits = word + strspn(word, " \t=,");
	if (digits == word || *digits < '0' || *digits > '9')
		return 0;
	errno = 0;
	generation = strtoull(digits, &end, 10);
	return errno || !strchr(" \t\r\n#", *end) ? 0 : generation;
}

/* A line may be longer than what is read of it at a time. */
static uint64_t find_generation(FILE *file)
{
	bool is_start = true;
	uint64_t generation = 0;
	char line[MAX_LINE];

	while (!generation && fgets(line, sizeof(line), file)) {
		if (is_start)
			generation = generation_of(line);
		is_start = strchr(line, '\n');
	}
	return generation;
}

static uint64_t first_octets(GChecksum *sum)
{
	guint8 digest[32];
	gsize size = sizeof(digest);
	uint64_t value = 0;

	g_checksum_get_digest(sum, digest, &size);
	for (unsigned i = 0; i < 8; i++)
		value = value << 8 | digest[i];
	return value;
}

int triad_expected_identify(const char *path, uint64_t *generation, uint64_t *hash,
	char *reason, size_t size)
{
	FILE *file = open_file(path);
	GChecksum *sum;
	int error;

	*generation = *hash = 0;
	if (!file) {
		error = errno;
		snprintf(reason, size, "%s: %s", path, strerror(error));
		return error;
	}
	sum = g_checksum_new(G_CHECKSUM_SHA256);
	add_octets(file, sum);
	if (!ferror(file))
		*generation = find_generation(file);
	*hash = first_octets(sum);
	g_checksum_free(sum);
	if (*generation > TRIAD_ELECTION_MAX_GENERATION)
		*generation = 0;
	error = ferror(file) ? EIO : *generation ? 0 : EINVAL;
	fclose(file);
	if (error)
		*generation = *hash = 0;
	if (error)
		snprintf(reason, size, "%s: %s", path,
			error == EIO ? "can't be read"
				     : "no line 'generation N', with N from 1 to "
				       "9223372036854775808");
	return error;
}
