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

static void look_at_lines(FILE *file, GChecksum *sum, uint64_t *generation)
{
	char line[MAX_LINE];
	uint64_t found;

	while (fgets(line, sizeof(line), file)) {
		g_checksum_update(sum, (const guchar *)line, (gssize)strlen(line));
		if (!*generation &&
			sscanf(line, " generation%*[ =,]%" SCNu64, &found) == 1)
			*generation = found;
	}
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
	look_at_lines(file, sum, generation);
	*hash = first_octets(sum);
	g_checksum_free(sum);
	error = ferror(file) ? EIO : *generation ? 0 : EINVAL;
	fclose(file);
	if (error)
		*generation = *hash = 0;
	if (error)
		snprintf(reason, size, "%s: %s", path,
			error == EIO ? "can't be read"
				     : "no line 'generation N', with N from 1");
	return error;
}
