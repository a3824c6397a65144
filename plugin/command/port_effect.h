/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a plan of the port manager does to routes (routes/without.h), for 'port plan'.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PLUGIN_COMMAND_PORT_EFFECT_H
#define TRIAD_PLUGIN_COMMAND_PORT_EFFECT_H

#include "service/command/report.h"

struct triad_plugin;

/* Adds to the report, after the plan: links that will carry many more pairs of hosts,
 * and hosts that lose their last path.  Adds nothing if the plan takes no link down, or
 * routes are not checked. */
void triad_port_effect_put(struct triad_plugin *plugin, struct triad_report *report);

#endif
