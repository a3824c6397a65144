/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state that an election keeps over a restart, as text: a line for each number, and
 * one for each id of the blacklist.
 *
 * Each state has exactly one text: the reader formats what it has read, and refuses a
 * text that differs, because it was truncated or altered.  Lines of a later Triad may
 * follow, each beginning with an unknown word; they are ignored.  The first line may
 * name a version (lib/format_version.h).
 *
 * Thread-safety: no state. */
#ifndef TRIAD_PORTMGR_ELECTION_STORED_H
#define TRIAD_PORTMGR_ELECTION_STORED_H

#include "portmgr/election/election.h"

/* A line for each id of the blacklist and some more, with room to spare. */
#define TRIAD_ELECTION_STORED_SIZE 8192

/* Writes the text, with a 0 behind it, and returns its length. */
size_t triad_election_stored_format(const struct triad_election_stored *stored,
	char text[TRIAD_ELECTION_STORED_SIZE]);

#define TRIAD_ELECTION_STORED_VERSION 1u

/* Version of such a text; 0: it is none. */
unsigned triad_election_stored_version(const char *text, size_t size);

/* Returns 0; or EINVAL, or EPROTONOSUPPORT for another version, and zeroes. */
int triad_election_stored_parse(
	const char *text, size_t size, struct triad_election_stored *stored);

#endif
