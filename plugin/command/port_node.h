/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the switch and port that a 'port ...' command names. */
#ifndef TRIAD_PLUGIN_COMMAND_PORT_NODE_H
#define TRIAD_PLUGIN_COMMAND_PORT_NODE_H

#include <stdint.h>

#include "ib/node_label.h"
#include "triad/command.h"
#include "triad/fabric.h"
#include "triad/output.h"

struct triad_plugin;

struct triad_command_switch {
	uint64_t guid;                    /* 0: every switch */
	int port;                         /* -1: every port */
	char name[TRIAD_NODE_LABEL_SIZE]; /* in the fabric; else as it was typed */
};

/* Finds the switch.  Accepts a GUID that no switch has: the history may know a switch
 * that is gone.  Returns 0, or TRIAD_CONTROL_FAILED with the reason in 'output'.
 * 'verb' is the command. */
int triad_command_find_switch(struct triad_plugin *plugin, const char *verb,
	const struct triad_command *command, struct triad_command_switch *found,
	struct triad_output *output);

/* As triad_command_find_switch(), but requires a port that can be disabled: not port
 * 0. */
int triad_command_find_switch_port(struct triad_plugin *plugin, const char *verb,
	const struct triad_command *command, struct triad_command_switch *found,
	struct triad_output *output);

/* The same in a fabric; NULL: there is none. */
int triad_command_find_switch_in(struct triad_fabric *fabric, const char *verb,
	const struct triad_command *command, struct triad_command_switch *found,
	struct triad_output *output);

/* Writes why 'port WHAT' did not work; returns TRIAD_CONTROL_FAILED. */
int triad_command_fail_port(
	struct triad_output *output, const char *what, const char *why);

#endif
