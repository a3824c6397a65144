/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared by the commands about QoS tables: finds their fabric and policy, and formats
 * tables as text.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PLUGIN_COMMAND_QOS_SETUP_H
#define TRIAD_PLUGIN_COMMAND_QOS_SETUP_H

#include <stdbool.h>

#include "qos/setup/setup_plan.h"
#include "service/command/list.h"
#include "triad/output.h"

struct triad_plugin;

#define TRIAD_TABLE_TEXT_SIZE 768

/* Messages: why there are no tables. */
#define TRIAD_SETUP_NO_FABRIC                                                          \
	"this SM is not the master, or has not brought up the subnet yet: see 'health'"
#define TRIAD_SETUP_NO_QOS                                                             \
	"OpenSM runs without QoS and programs no tables: 'qos TRUE' in opensm.conf "   \
	"begins it"

/* A fabric and the policy for it; holds references. */
struct triad_setup_context {
	struct triad_fabric *fabric;
	struct triad_policy *policy; /* NULL: none is loaded */
	struct triad_setup *setup;   /* NULL: no policy, or one without a setup */
};

/* The fabric that the SM has found, with a reference.  If there is none, writes why to
 * 'output', behind 'verb', and returns NULL. */
struct triad_fabric *triad_setup_find_fabric(
	struct triad_plugin *plugin, const char *verb, struct triad_output *output);

/* False when OpenSM programs no tables at all; then 'output' says so. */
bool triad_setup_sm_has_qos(const struct triad_fabric *fabric, const char *verb,
	struct triad_output *output);

/* Takes the policy in 'file', or the loaded one if that is "".  If there is no fabric,
 * or the policy can't be used, writes why to 'output' and returns false; then there is
 * nothing to drop. */
bool triad_setup_context_make(struct triad_setup_context *context,
	struct triad_plugin *plugin, const char *verb, const char *file,
	struct triad_output *output);
void triad_setup_context_drop(struct triad_setup_context *context);

/* Formats an SL2VL table as "0,1,2,...", the VL of each SL; an arbitration table of 'n'
 * entries as "0:64,1:32" without the entries of weight 0 at its end, or "-" if none is
 * left. */
const char *triad_format_setup_value(enum triad_setup_table table, unsigned n,
	const union triad_setup_value *value, char text[TRIAD_TABLE_TEXT_SIZE]);

/* Adds the columns that identify a table: its port and, for SL2VL, its in-ports. */
void triad_setup_put_table(struct triad_list *list, const struct triad_fabric *fabric,
	uint32_t port, enum triad_setup_table table, unsigned in_first,
	unsigned in_last);

#endif
