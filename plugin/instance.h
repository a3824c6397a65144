/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One Triad in one OpenSM: the service (service/service.h), and what the plugin adds to
 * it.
 *
 * Life: entry.c makes it in OpenSM's create(), opens the ways to ask it (access.h), and
 * ends them and then it in delete().  The parts are made in the order of the members.
 *
 * Lock order: the locks of service.h before any part's own.  OpenSM's lock is
 * taken with none of ours held; ARCHITECTURE.md says where. */
#ifndef TRIAD_PLUGIN_INSTANCE_H
#define TRIAD_PLUGIN_INSTANCE_H

#include <stdatomic.h>

#include "plugin/events.h"
#include "plugin/osmlog.h"
#include "service/service.h"

struct osm_opensm;
struct triad_elector;
struct triad_hold;
struct triad_ports;
struct triad_qos;
struct triad_sa_copies;
struct triad_worker;
struct triad_console;

struct triad_plugin {
	struct osm_opensm *osm;
	struct triad_osmlog osmlog;
	struct triad_service_owner owner; /* of the service: this */
	struct triad_service service;

	struct triad_events *events;
	struct triad_qos *qos;
	struct triad_elector *elector;
	struct triad_sa_copies *sa_copies;
	struct triad_hold *hold;
	struct triad_ports *ports;
	struct triad_worker *worker;
	/* Of access.c; NULL: off or failed.  Threads that were there before look. */
	_Atomic(struct triad_console *) console;
};

/* Returns NULL when OpenSM is not what the plugin was built for, or memory is short;
 * OpenSM then goes on without the plugin. */
struct triad_plugin *triad_plugin_new(struct osm_opensm *osm);

/* After triad_access_stop(). */
void triad_plugin_free(struct triad_plugin *plugin);

#endif
