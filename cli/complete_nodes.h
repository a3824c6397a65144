/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks the running plugin, for completion: nodes, and the keys in force.
 *
 * Thread-safety: one thread.  Memory: a few KiB, however many nodes there are. */
#ifndef TRIAD_CLI_COMPLETE_NODES_H
#define TRIAD_CLI_COMPLETE_NODES_H

#include <stdbool.h>

/* Asks the plugin or agent at 'path' for its nodes, and calls 'found' with each name,
 * or with 'guids' each GUID; not at all without an answer within a second. */
void triad_complete_nodes(const char *path, bool guids,
	void (*found)(void *context, const char *value), void *context);

/* The same for the keys of the configuration in force, from 'get'. */
void triad_complete_keys(const char *path,
	void (*found)(void *context, const char *value), void *context);

#endif
