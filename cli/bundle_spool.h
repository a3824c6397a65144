/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a bundle will have, in a file without a name beside it, since a member of a tar says its
 * size first.
 *
 * Thread-safety: none.  Memory: an entry for each file, and some pieces. */
#ifndef TRIAD_CLI_BUNDLE_SPOOL_H
#define TRIAD_CLI_BUNDLE_SPOOL_H

#include <glib.h>
#include <sys/types.h>

#include "cli/bundle_names.h"

#define TRIAD_BUNDLE_FOLDER "triad-bundle/"
#define TRIAD_BUNDLE_MANIFEST "MANIFEST.json"
/* Of the whole, before it is compressed. */
#define TRIAD_BUNDLE_MAX_OCTETS (UINT64_C(8) << 30)

enum triad_bundle_state {
	TRIAD_BUNDLE_WHOLE,
	TRIAD_BUNDLE_CUT,    /* up to its limit */
	TRIAD_BUNDLE_ABSENT, /* there is none here */
	TRIAD_BUNDLE_FAILED, /* it should be there */
};

/* "whole", "cut", "absent", "failed" */
const char *triad_bundle_state_name(enum triad_bundle_state state);

struct triad_bundle_entry {
	char *name; /* within the top folder */
	char *why;  /* NULL: nothing to say */
	enum triad_bundle_state state;
	enum triad_bundle_form form;
	int status; /* of a command that was asked; -1: none was */
	uint64_t at, size, limit;
};

struct triad_bundle_spool {
	int fd;
	int error; /* the errno of the first write that failed */
	uint64_t size;
	GPtrArray *entries; /* of struct triad_bundle_entry */
};

/* 'path' is the bundle's.  Returns 0 or an errno. */
int triad_bundle_spool_open(struct triad_bundle_spool *spool, const char *path);
void triad_bundle_spool_close(struct triad_bundle_spool *spool);
/* Forgets the entries from that one on. */
void triad_bundle_spool_rewind(struct triad_bundle_spool *spool, guint n_entries);

/* Begins an entry that can take 'limit' octets; takes the name. */
struct triad_bundle_entry *triad_bundle_spool_begin(
	struct triad_bundle_spool *spool, char *name, uint64_t limit);
/* Adds to the last entry.  False, when it is cut, or after an error. */
bool triad_bundle_spool_add(
	struct triad_bundle_spool *spool, const char *piece, size_t size);
/* Says why; takes the text. */
void triad_bundle_entry_say(
	struct triad_bundle_entry *entry, enum triad_bundle_state state, char *why);

/* Reads a piece of the entry; 0: its end. */
size_t triad_bundle_spool_read(const struct triad_bundle_spool *spool,
	const struct triad_bundle_entry *entry, uint64_t at, char *piece, size_t size);

/* Rewrites the entry. */
void triad_bundle_spool_rewrite(struct triad_bundle_spool *spool,
	struct triad_bundle_entry *entry, struct triad_anonym *anonym);

#endif
