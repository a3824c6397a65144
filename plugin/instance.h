/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One Triad in one OpenSM: the service (service/service.h), and what the plugin adds to
 * it.
 *
 * Life: entry.c makes the instance in OpenSM's create() and opens its console and
 * control socket (access.h).  In delete() it closes these, then frees the instance.
 * The parts are created in the order of the members.
 *
 * Lock order: the locks of service.h before any part's own.  OpenSM's lock is
 * taken with none of ours held; ARCHITECTURE.md says where. */
#ifndef TRIAD_PLUGIN_INSTANCE_H
#define TRIAD_PLUGIN_INSTANCE_H

#include <stdatomic.h>

#include "plugin/events.h"
#include "plugin/osmlog.h"
#include "service/node_names.h"
#include "service/service.h"

struct osm_opensm;
struct triad_damper;
struct triad_rerouter;
struct triad_auditor;
struct triad_elector;
struct triad_extended_speeds;
struct triad_hold;
struct triad_ports;
struct triad_qos;
struct triad_sa_copies;
struct triad_shield;
struct triad_worker;
struct triad_console;

struct triad_plugin {
	struct osm_opensm *osm;
	struct triad_osmlog osmlog;
	struct triad_service_owner owner; /* the service's callbacks, implemented by
					   * this instance */
	struct triad_service service;

	/* Of the thread that reads the SA. */
	struct triad_node_names node_names;
	struct triad_events *events;
	struct triad_extended_speeds *speeds;
	struct triad_shield *shield;
	struct triad_qos *qos;
	struct triad_elector *elector;
	struct triad_sa_copies *sa_copies;
	struct triad_hold *hold;
	struct triad_ports *ports;
	struct triad_damper *damper;
	struct triad_rerouter *rerouter;
	struct triad_healer *healer;
	struct triad_worker *worker;
	struct triad_auditor *auditor;
	/* Set by access.c; NULL: off or failed.  Atomic because threads that started
	 * earlier read it. */
	_Atomic(struct triad_console *) console;
};

/* Returns NULL when this OpenSM is not the one that the plugin was built for, or memory
 * is short; OpenSM then continues without the plugin. */
struct triad_plugin *triad_plugin_new(struct osm_opensm *osm);

/* After triad_access_stop(). */
void triad_plugin_free(struct triad_plugin *plugin);

#endif
