/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/port_command.h"
#include "portmgr/expected/netdiscover.h"

#define FIRST_ROOM ((size_t)64 << 10)

static int complain_of_file(const char *path, int error)
{
	fprintf(stderr, "triadctl: %s: can't be read: %s\n", path, strerror(error));
	return error;
}

/* Reads to the end, in pieces: a pipe has no size. */
static int read_stream(FILE *stream, size_t max, char **octets, size_t *size)
{
	size_t room = 0, n = 1;

	for (*size = 0; n && *size <= max; *size += n) {
		if (*size == room) {
			size_t wanted = room ? 2 * room : FIRST_ROOM;
			char *grown;

			/* One octet more than allowed, so that the parser notices a
			 * file that is too large. */
			wanted = wanted > max + 1 ? max + 1 : wanted;
			grown = realloc(*octets, wanted);
			if (!grown)
				return ENOMEM;
			*octets = grown;
			room = wanted;
		}
		n = fread(*octets + *size, 1, room - *size, stream);
	}
	return ferror(stream) ? errno : 0;
}

int triad_port_read_file(const char *path, size_t max, char **octets, size_t *size)
{
	FILE *stream = fopen(path, "re");
	int error;

	*octets = NULL;
	if (!stream)
		return complain_of_file(path, errno);
	errno = 0;
	error = read_stream(stream, max, octets, size);
	fclose(stream);
	if (!error)
		return 0;
	free(*octets);
	return complain_of_file(path, error);
}

void triad_port_print(const struct triad_diags *diags, const char *before)
{
	char text[2 * TRIAD_DIAG_TEXT_SIZE + 32];

	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		fprintf(stderr, "%s%s\n", before, text);
	}
}

int triad_port_read_fabric(const char *path, struct triad_fabric **fabric)
{
	static struct triad_diags diags;
	char *octets;
	size_t size;
	int error;

	error = triad_port_read_file(
		path, TRIAD_NETDISCOVER_MAX_OCTETS, &octets, &size);
	if (error)
		return error;
	triad_diags_init(&diags, path);
	error = triad_netdiscover_parse(octets, size, &diags, fabric);
	free(octets);
	if (error)
		triad_port_print(&diags, "");
	if (error && !diags.n)
		complain_of_file(path, error);
	return error;
}
