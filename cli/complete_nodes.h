/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the running plugin knows, for completion: nodes, and keys that there are.
 *
 * Thread-safety: one thread.  Memory: a few KiB, however many nodes there are. */
#ifndef TRIAD_CLI_COMPLETE_NODES_H
#define TRIAD_CLI_COMPLETE_NODES_H

#include <stdbool.h>
#include <stddef.h>

#define TRIAD_NODES_STRING_SIZE 256

/* Reads JSON as it comes, and finds in it the values of certain members, at any depth;
 * what is no JSON has no such values, or wrong ones.  To begin with all is 0, but for
 * what is marked as given. */
struct triad_nodes_scan {
	const char *members[2]; /* given: their names; the second may be NULL */
	void (*found)(void *context, const char *value); /* given */
	void *context;
	bool is_in_string, is_escaped,
		is_member; /* the next string is a value we want */
	unsigned n_hex;    /* digits to come of \uXXXX */
	unsigned code;
	bool has_string; /* one has just ended */
	size_t size;     /* more than fits is left out, and so is the string */
	char string[TRIAD_NODES_STRING_SIZE];
};

void triad_nodes_scan(struct triad_nodes_scan *scan, const char *json, size_t size);

/* Asks the plugin or agent at 'path' for its nodes, and hands over each name, or with
 * 'guids' each GUID; for none when nobody answers within a second. */
void triad_complete_nodes(const char *path, bool guids,
	void (*found)(void *context, const char *value), void *context);

/* The same for the keys of the configuration in force, as 'get' has them. */
void triad_complete_keys(const char *path,
	void (*found)(void *context, const char *value), void *context);

#endif
