/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks the running plugin, for completion: nodes, and the keys in force.
 *
 * Thread-safety: one thread.  Memory: a few KiB, however many nodes there are. */
#ifndef TRIAD_CLI_COMPLETE_NODES_H
#define TRIAD_CLI_COMPLETE_NODES_H

#include <stdbool.h>
#include <stddef.h>

#define TRIAD_NODES_STRING_SIZE 256

/* Scans JSON piece by piece for the values of certain members, at any depth.  Does not
 * check it: of malformed JSON it may find wrong values, or none.  The caller sets the
 * first three members; the others are 0 at first. */
struct triad_nodes_scan {
	const char *members[2]; /* their names; the second may be NULL */
	void (*found)(void *context, const char *value);
	void *context;
	bool is_in_string, is_escaped,
		is_member; /* the next string is a value we want */
	unsigned n_hex;    /* digits to come of \uXXXX */
	unsigned code;
	bool has_string; /* a string has just ended */
	size_t size;     /* beyond the room of 'string': the string is ignored */
	char string[TRIAD_NODES_STRING_SIZE];
};

void triad_nodes_scan(struct triad_nodes_scan *scan, const char *json, size_t size);

/* Asks the plugin or agent at 'path' for its nodes, and calls 'found' with each name,
 * or with 'guids' each GUID; not at all without an answer within a second. */
void triad_complete_nodes(const char *path, bool guids,
	void (*found)(void *context, const char *value), void *context);

/* The same for the keys of the configuration in force, from 'get'. */
void triad_complete_keys(const char *path,
	void (*found)(void *context, const char *value), void *context);

#endif
