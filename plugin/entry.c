/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plugin's entry point for OpenSM: the only symbol that the shared object
 * exports. */
#include "plugin/opensm.h"

#include <stdatomic.h>
#include <stdio.h>

#include "lib/syslog_line.h"
#include "plugin/access.h"
#include "plugin/audit/auditor.h"
#include "plugin/damp/damper.h"
#include "plugin/reroute/rerouter.h"
#include "plugin/election/elector.h"
#include "plugin/extended_speeds.h"
#include "plugin/instance.h"
#include "plugin/layout/measured.h"
#include "plugin/ports/ports.h"
#include "plugin/qos/qos.h"
#include "plugin/sa/sa_copies.h"
#include "plugin/worker.h"
#include "triad/clock.h"

#if OSM_EVENT_PLUGIN_INTERFACE_VER != 2
#error "Triad needs version 2 of OpenSM's plugin interface"
#endif

#define TRAP_GID_OUT_OF_SERVICE 65

#define MENDS_LAYOUT                                                                   \
	"Triad stays off, OpenSM goes on without it; build Triad with the headers "    \
	"of this opensm, configure --with-opensm=PREFIX"

/* 'found' is the layout of this opensm; NULL: unknown, so OpenSM's log can't be
 * found. */
static void report_layout(struct osm_opensm *osm, const struct triad_layout *built_for,
	const struct triad_layout *found)
{
	static const char unknown[] =
		"error: this opensm has another layout than the " OSM_VERSION
		" that libosmtriad.so was built for, one that Triad does not "
		"know: " MENDS_LAYOUT;
	struct triad_syslog syslog = {
		.path = TRIAD_SYSLOG_PATH, .tag = TRIAD_OSMLOG_TAG};
	struct triad_osmlog osmlog;

	if (!found) {
		fprintf(stderr, "triad: %s\n", unknown);
		(void)triad_syslog_send(&syslog, TRIAD_LOG_ERROR, "triad: %s", unknown);
		return;
	}
	triad_osmlog_init(&osmlog, triad_layout_log(found, osm));
	triad_log_write(&osmlog.log, TRIAD_LOG_ERROR,
		"this opensm was configured %s, but libosmtriad.so was built for one "
		"that was configured %s, and their structures differ: " MENDS_LAYOUT,
		found->options, built_for->options);
}

/* OpenSM makes plugins in one thread and reports to them in others, and orders nothing
 * between them. */
static atomic_uint n_created;

static void *create(struct osm_opensm *osm)
{
	const struct triad_layout *built_for =
		triad_layout_of(MEASURED_DEBUG, MEASURED_PERFMGR);
	const struct triad_layout *found = triad_layout_find(osm);
	struct triad_plugin *plugin;

	if (found != built_for) {
		report_layout(osm, built_for, found);
		return NULL;
	}
	plugin = triad_plugin_new(osm);
	if (plugin)
		triad_access_start(plugin);
	atomic_fetch_add_explicit(&n_created, 1, memory_order_release);
	return plugin;
}

static void delete (void *context)
{
	struct triad_plugin *plugin = context;

	triad_access_stop(plugin);
	triad_plugin_free(plugin);
}

/* Where the trap came from: the LID and port in 'notice', for the kinds that we
 * know. */
static struct triad_trap read_trap(const ib_mad_notice_attr_t *notice)
{
	struct triad_trap trap = {.at_us = triad_clock_now_us()};

	if (!notice || !ib_notice_is_generic(notice))
		return trap;
	trap.number = cl_ntoh16(notice->g_or_v.generic.trap_num);
	switch (trap.number) {
	case 128: /* the state of a link changed */
		trap.lid = cl_ntoh16(notice->data_details.ntc_128.sw_lid);
		break;
	case 129: /* LocalLinkIntegrity */
	case 130: /* ExcessiveBufferOverrun */
	case 131: /* FlowControlUpdate */
		trap.lid = cl_ntoh16(notice->data_details.ntc_129_131.lid);
		trap.port = notice->data_details.ntc_129_131.port_num;
		break;
	case 144: /* capabilities, or local changes */
		trap.lid = cl_ntoh16(notice->data_details.ntc_144.lid);
		break;
	}
	return trap;
}

/* Notes forwarding tables that change in mid-sweep, and ports that vanish: paths over
 * them are uncertain until the next snapshot. */
static void note_changes(struct triad_plugin *plugin, osm_epi_event_id_t id, void *data)
{
	const osm_epi_lft_change_event_t *change = data;
	const ib_mad_notice_attr_t *notice = data;

	if (id == OSM_EVENT_ID_LFT_CHANGE && change && change->p_sw &&
		change->flags & LFT_CHANGED_BLOCK)
		triad_qos_note_route(plugin->qos,
			cl_ntoh64(osm_node_get_node_guid(change->p_sw->p_node)),
			change->block_num);
	if (id == OSM_EVENT_ID_TRAP && notice && ib_notice_is_generic(notice) &&
		notice->g_or_v.generic.trap_num == cl_hton16(TRAP_GID_OUT_OF_SERVICE))
		triad_qos_note_port(plugin->qos,
			cl_ntoh64(notice->data_details.ntc_64_67.gid.unicast
					  .interface_id));
}

/* OpenSM calls this, for some events with its own locks held: so only note the
 * event. */
static void report(void *context, osm_epi_event_id_t id, void *data)
{
	static const enum triad_event_kind kinds[] = {
		[OSM_EVENT_ID_PORT_ERRORS] = TRIAD_N_EVENTS,
		[OSM_EVENT_ID_PORT_DATA_COUNTERS] = TRIAD_N_EVENTS,
		[OSM_EVENT_ID_PORT_SELECT] = TRIAD_N_EVENTS,
		[OSM_EVENT_ID_TRAP] = TRIAD_EVENT_TRAP,
		[OSM_EVENT_ID_SUBNET_UP] = TRIAD_EVENT_SUBNET_UP,
		[OSM_EVENT_ID_HEAVY_SWEEP_START] = TRIAD_EVENT_SWEEP_START,
		[OSM_EVENT_ID_HEAVY_SWEEP_DONE] = TRIAD_EVENT_SWEEP_DONE,
		[OSM_EVENT_ID_UCAST_ROUTING_DONE] = TRIAD_EVENT_ROUTING_DONE,
		[OSM_EVENT_ID_STATE_CHANGE] = TRIAD_EVENT_STATE_CHANGE,
		[OSM_EVENT_ID_SA_DB_DUMPED] = TRIAD_N_EVENTS,
		[OSM_EVENT_ID_LFT_CHANGE] = TRIAD_N_EVENTS,
	};
	struct triad_plugin *plugin = context;
	enum triad_event_kind kind = TRIAD_N_EVENTS;
	struct triad_trap trap;

	(void)atomic_load_explicit(&n_created, memory_order_acquire);
	if ((unsigned)id < sizeof(kinds) / sizeof(kinds[0]))
		kind = kinds[id];
	/* For this event 'data' is a number, not a pointer. */
	if (id == OSM_EVENT_ID_UCAST_ROUTING_DONE &&
		(uintptr_t)data == UCAST_ROUTING_REROUTE)
		kind = TRIAD_EVENT_REROUTED;
	/* Do what must precede OpenSM's next step here; the worker does the rest. */
	note_changes(plugin, id, data);
	if (kind == TRIAD_N_EVENTS)
		return;
	if (kind == TRIAD_EVENT_SWEEP_START) {
		triad_extended_speeds_note_sweep(plugin->speeds);
		triad_worker_note_sweep(plugin->worker);
		triad_qos_note_sweep(plugin->qos);
		triad_damper_note_sweep(plugin->damper);
		triad_rerouter_note_sweep(plugin->rerouter);
		triad_auditor_note_sweep(plugin->auditor);
	}
	if (kind == TRIAD_EVENT_ROUTING_DONE || kind == TRIAD_EVENT_REROUTED)
		triad_qos_note_routed(plugin->qos);
	if (kind == TRIAD_EVENT_ROUTING_DONE)
		triad_ports_mark(plugin->ports);
	if (kind == TRIAD_EVENT_REROUTED) {
		triad_ports_note_rerouted(plugin->ports);
		triad_rerouter_note_rerouted(plugin->rerouter);
	}
	if (kind == TRIAD_EVENT_SWEEP_DONE) {
		triad_worker_note_discovered(plugin->worker);
		triad_qos_note_discovered(plugin->qos);
		triad_ports_hide(plugin->ports);
		triad_rerouter_note_discovered(plugin->rerouter);
	}
	if (kind == TRIAD_EVENT_SUBNET_UP) {
		triad_qos_note_up(plugin->qos);
		triad_elector_note_up(plugin->elector);
		triad_sa_copies_note_up(plugin->sa_copies);
		triad_damper_note_up(plugin->damper);
		triad_rerouter_note_up(plugin->rerouter);
	}
	if (kind == TRIAD_EVENT_TRAP) {
		trap = read_trap(data);
		triad_events_put_trap(plugin->events, &trap);
		return;
	}
	triad_events_put(plugin->events, kind, triad_clock_now_us());
}

__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = delete,
	.report = report,
};
