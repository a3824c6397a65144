/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports the health of the parts that the plugin adds to the service: the SM, QoS, the
 * election, the port manager.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_PLUGIN_HEALTH_H
#define TRIAD_PLUGIN_HEALTH_H

struct triad_health;

/* The 'add_health' of struct triad_service_owner; 'context' is the plugin. */
void triad_plugin_add_health(void *context, struct triad_health *health);

#endif
