/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The switch that a 'port ...' command names. */
#ifndef TRIAD_PLUGIN_COMMAND_PORT_NODE_H
#define TRIAD_PLUGIN_COMMAND_PORT_NODE_H

#include <stdint.h>

#include "triad/output.h"

struct triad_plugin;

/* Sets '*guid', to 0 for an empty name.  Returns 0, or TRIAD_CONTROL_FAILED with the
 * reason in 'output'.  'what' is the command's second word. */
int triad_command_find_switch(struct triad_plugin *plugin, const char *what,
	const char *node, uint64_t *guid, struct triad_output *output);

#endif
