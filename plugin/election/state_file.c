/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/election/state_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "portmgr/election/stored.h"
#include "triad/file.h"

#define MAX_SIZE TRIAD_ELECTION_STORED_SIZE

int triad_state_file_name(const char *dir, uint64_t id, char *path, size_t size)
{
	int length =
		snprintf(path, size, "%s/election-0x%016" PRIx64 ".state", dir, id);

	return length > 0 && (size_t)length < size ? 0 : ENAMETOOLONG;
}

/* --- reading --- */

int triad_state_file_read(const char *path, struct triad_election_stored *stored,
	char why[TRIAD_FORMAT_REFUSAL_SIZE])
{
	char text[MAX_SIZE];
	size_t size = 0;
	int error = triad_file_read(path, text, MAX_SIZE, &size);

	memset(stored, 0, sizeof(*stored));
	if (!error)
		error = triad_election_stored_parse(text, size, stored);
	if (error == EPROTONOSUPPORT)
		triad_format_refusal(why, triad_election_stored_version(text, size),
			TRIAD_ELECTION_STORED_VERSION);
	return error;
}

/* --- writing --- */

int triad_state_file_write(const char *path, const struct triad_election_stored *stored,
	char why[TRIAD_FORMAT_REFUSAL_SIZE])
{
	struct triad_election_stored there;
	char text[MAX_SIZE];
	size_t size = triad_election_stored_format(stored, text);

	/* Don't overwrite the promises that a later version of Triad stored. */
	if (triad_state_file_read(path, &there, why) == EPROTONOSUPPORT)
		return EPROTONOSUPPORT;
	return triad_file_replace(path, text, size, 0600);
}
