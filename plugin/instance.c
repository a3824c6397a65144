/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "plugin/opensm.h"

#include "plugin/instance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/audit/auditor.h"
#include "plugin/audit/other_sms.h"
#include "plugin/command/commands.h"
#include "plugin/console.h"
#include "plugin/election/elector.h"
#include "plugin/extended_speeds.h"
#include "plugin/health.h"
#include "plugin/own_metrics.h"
#include "plugin/physp.h"
#include "plugin/damp/damper.h"
#include "plugin/heal/healer.h"
#include "plugin/reroute/rerouter.h"
#include "plugin/ports/ports.h"
#include "plugin/qos/qos.h"
#include "plugin/route_sls.h"
#include "plugin/sa/sa_copies.h"
#include "plugin/sa/shield.h"
#include "plugin/sm_state.h"
#include "plugin/worker.h"
#include "service/bus_relay.h"

#define DEFAULT_CONF_PATH TRIAD_SYSCONFDIR "/triad.conf"

/* --- the service's callbacks --- */

static void put_in_force(void *context, const struct triad_conf *conf)
{
	struct triad_plugin *plugin = context;

	atomic_store(&plugin->osmlog.has_syslog, conf->log.syslog);
	triad_extended_speeds_configure(plugin->speeds, conf);
	triad_shield_configure(plugin->shield, conf);
	triad_qos_configure(plugin->qos, conf);
	triad_elector_configure(plugin->elector, conf);
	triad_sa_copies_configure(plugin->sa_copies, conf);
	triad_ports_configure(plugin->ports, conf);
	triad_damper_configure(plugin->damper, conf);
	triad_rerouter_configure(plugin->rerouter, conf);
	triad_healer_configure(plugin->healer, conf);
	triad_worker_configure(plugin->worker, conf);
	triad_auditor_configure(plugin->auditor, conf);
}

/* Receives a fabric from the SA, which is asked only while this SM is standby. */
static void receive_fabric(void *context, struct triad_fabric *fabric)
{
	struct triad_plugin *plugin = context;
	const char *map = triad_sm_node_name_map(plugin->osm);

	triad_node_names_apply(
		&plugin->node_names, map ? map : "", fabric, plugin->service.log);
	triad_speed_reader_lay_over(plugin->service.speeds, fabric);
	triad_perf_set_fabric(plugin->service.perf, fabric, TRIAD_SM_STANDBY);
	triad_speed_reader_adopt(
		plugin->service.speeds, fabric, TRIAD_SPEEDS_OF_SA_AGAIN_US);
}

static bool find_m_key(
	void *context, uint64_t node_guid, uint8_t number, uint64_t *m_key)
{
	struct triad_plugin *plugin = context;

	return !osm_exit_flag &&
		triad_physp_find_m_key(plugin->osm, node_guid, number, m_key);
}

/* The parts exist: this is called only when there is a fabric.  Of a link that flaps there is a
 * finding of its own. */
static bool took_down(
	void *context, uint64_t node_guid, uint8_t number, bool is_disabled)
{
	struct triad_plugin *plugin = context;

	return triad_ports_took_down(plugin->ports, node_guid, number, is_disabled) ||
		triad_damper_holds(plugin->damper, node_guid, number);
}

static size_t copy_held(void *context, struct triad_held_link *links, size_t room)
{
	struct triad_plugin *plugin = context;
	struct triad_damp_ends held[TRIAD_MAX_HELD_LINKS];
	size_t n = triad_damper_held(plugin->damper, held,
		room < TRIAD_MAX_HELD_LINKS ? room : TRIAD_MAX_HELD_LINKS);

	for (size_t i = 0; i < n; i++)
		links[i] = (struct triad_held_link){
			.node_guids = {held[i].guid, held[i].far_guid},
			.ports = {held[i].number, held[i].far_number}};
	return n;
}

static size_t copy_sms(void *context, uint64_t *port_guids, size_t room)
{
	struct triad_plugin *plugin = context;
	struct triad_audit_sms sms = {0};
	size_t n;

	triad_audit_sms_read(&sms, plugin->osm);
	for (n = 0; n < sms.n && n < room; n++)
		port_guids[n] = sms.of[n].port_guid;
	return n;
}

static void take_past(void *context, struct triad_fabric *fabric, uint64_t wall_us)
{
	struct triad_plugin *plugin = context;

	if (plugin->ports)
		triad_ports_set_past(plugin->ports, fabric, wall_us);
}

static struct triad_service_owner make_owner(struct triad_plugin *plugin)
{
	return (struct triad_service_owner){
		.context = plugin,
		.program = "OpenSM",
		.sm = OSM_VERSION,
		.may_manage = true,
		.no_fabric = "OpenSM has not brought up the subnet yet: see its log",
		.no_conf = "the plugin was started without a configuration file: give "
			   "it one in opensm.conf, event_plugin_options conf=PATH, or "
			   "as " DEFAULT_CONF_PATH " and restart OpenSM",
		.conf_path = DEFAULT_CONF_PATH,
		.put_in_force = put_in_force,
		.add_metrics = triad_plugin_add_metrics,
		.add_health = triad_plugin_add_health,
		.run = triad_commands_run,
		.run_bus = triad_bus_relay_run,
		.fill_lists = triad_commands_fill_lists,
		.copy_held = copy_held,
		.copy_sms = copy_sms,
		.took_down = took_down,
		.take_past = take_past,
		.routes = {.context = plugin,
			.more_sls = triad_route_sls_of_policy,
			.ask_sls = triad_route_sls_ask,
			.sls_between = triad_route_sls_between},
		.m_keys = {.context = plugin, .find = find_m_key},
		.source = {.context = plugin, .take = receive_fabric},
	};
}

/* --- images that SMs copy from each other, by the election's transport --- */

_Static_assert(TRIAD_MIRROR_PAYLOAD_SIZE <= TRIAD_CLUSTER_PAYLOAD_SIZE &&
		TRIAD_MIRROR_MAX_MEMBERS >= TRIAD_CLUSTER_MAX_MEMBERS,
	"what is said about images has room in the election's transport");

static int send_image(void *context, const void *payload, size_t size)
{
	return triad_elector_send_spare(context, payload, size);
}

static void receive_view(void *context, const struct triad_cluster_view *view)
{
	triad_image_bus_leave_view(context, view->members, view->n_members);
}

static void receive_image(
	void *context, uint64_t sender, const void *payload, size_t size)
{
	triad_image_bus_leave_payload(context, sender, payload, size);
}

static void join_images(struct triad_plugin *plugin)
{
	const struct triad_image_carrier carrier = {
		.context = plugin->elector, .send = send_image};
	const struct triad_cluster_sink sink = {.context = plugin->service.image_bus,
		.view = receive_view,
		.message = receive_image};

	triad_image_bus_set_carrier(plugin->service.image_bus, &carrier);
	triad_elector_set_listener(plugin->elector, TRIAD_ELECTOR_IMAGES, &sink);
}

/* --- configuration --- */

/* 'conf=PATH' among event_plugin_options; false when there is none. */
static bool find_conf_option(const struct osm_opensm *osm, char *path, size_t size)
{
	const char *options = osm->subn.opt.event_plugin_options;
	const char *at = options ? strstr(options, "conf=") : NULL;

	if (!at || (at != options && !strchr(" \t,;", at[-1])))
		return false;
	at += strlen("conf=");
	snprintf(path, size, "%.*s", (int)strcspn(at, " \t,;"), at);
	return true;
}

static void init_service(struct triad_plugin *plugin)
{
	struct triad_service *service = &plugin->service;
	char path[sizeof(service->conf_path)];
	bool has_option = find_conf_option(plugin->osm, path, sizeof(path));

	plugin->owner = make_owner(plugin);
	triad_service_init(service, &plugin->owner,
		cl_ntoh64(plugin->osm->subn.sm_port_guid), has_option ? path : NULL,
		&plugin->osmlog.log);
	if (service->conf_state == TRIAD_CONF_BROKEN)
		triad_log_write(service->log, TRIAD_LOG_ERROR,
			"%s: %zu mistake(s): Triad stays idle, OpenSM goes on without "
			"it; mend the file and type 'triadctl reload'",
			service->conf_path, service->conf_diags.n_total);
}

/* --- life --- */

/* Returns false when memory or threads are short. */
static bool make_parts(struct triad_plugin *plugin)
{
	struct triad_service *service = &plugin->service;
	struct osm_opensm *osm = plugin->osm;

	/* Keep the order: parts need those that are made before them. */
	plugin->events = triad_events_new();
	plugin->hold = triad_hold_new();
	plugin->speeds = triad_extended_speeds_new(osm, service->log);
	plugin->shield = triad_shield_new(osm, service->log);
	if (!triad_service_start(service) || !plugin->events || !plugin->hold ||
		!plugin->speeds || !plugin->shield)
		return false;
	plugin->qos = triad_qos_new(osm, triad_exports_sampler(service->exports),
		plugin->hold, service->recorder, service->log);
	if (plugin->qos)
		plugin->elector =
			triad_elector_new(osm, service->port_guid, service->log);
	if (plugin->elector)
		join_images(plugin);
	if (plugin->elector)
		plugin->sa_copies = triad_sa_copies_new(
			osm, service->port_guid, plugin->elector, service->log);
	if (plugin->sa_copies)
		plugin->ports = triad_ports_new(osm, service->port_guid,
			plugin->elector, plugin->hold, service->recorder, service->log);
	if (plugin->ports)
		plugin->damper =
			triad_damper_new(osm, service->port_guid, plugin->ports,
				plugin->elector, service->recorder, service->log);
	if (plugin->damper)
		triad_ports_set_damper(plugin->ports, plugin->damper);
	if (plugin->damper)
		plugin->rerouter = triad_rerouter_new(osm, service->port_guid,
			plugin->damper, plugin->qos, plugin->elector, service->routes,
			service->recorder, service->log);
	if (plugin->rerouter)
		triad_ports_set_rerouter(plugin->ports, plugin->rerouter);
	if (plugin->rerouter)
		plugin->healer = triad_healer_new(plugin);
	if (plugin->healer)
		plugin->worker = triad_worker_new(osm, service->log, plugin->events,
			service->perf, service->source, plugin->qos, plugin->ports,
			service->recorder, service->routes, service->speeds);
	if (plugin->worker)
		plugin->auditor = triad_auditor_new(plugin);
	if (plugin->auditor) {
		triad_watch_add_finder(triad_perf_watch(service->perf),
			&(struct triad_finder){.read = triad_auditor_give,
				.context = plugin->auditor});
		triad_watch_add_finder(triad_perf_watch(service->perf),
			&(struct triad_finder){
				.read = triad_shield_give, .context = plugin->shield});
		triad_watch_add_finder(triad_perf_watch(service->perf),
			&(struct triad_finder){
				.read = triad_damper_give, .context = plugin->damper});
		triad_watch_add_finder(triad_perf_watch(service->perf),
			&(struct triad_finder){
				.read = triad_healer_give, .context = plugin->healer});
	}
	return plugin->auditor;
}

static void report_shortage(struct triad_log *log)
{
	triad_log_write(log, TRIAD_LOG_ERROR,
		"not enough memory or threads for Triad: it stays off, OpenSM goes on "
		"without it; raise the limits of opensm (ulimit -v and -u; MemoryMax= "
		"and TasksMax= of its systemd unit) and restart it");
}

struct triad_plugin *triad_plugin_new(struct osm_opensm *osm)
{
	struct triad_plugin *plugin = calloc(1, sizeof(*plugin));
	struct triad_service *service;
	struct triad_osmlog osmlog;

	if (!plugin) {
		triad_osmlog_init(&osmlog, &osm->log);
		report_shortage(&osmlog.log);
		return NULL;
	}
	plugin->osm = osm;
	triad_osmlog_init(&plugin->osmlog, &osm->log);
	init_service(plugin);
	service = &plugin->service;
	if (!make_parts(plugin)) {
		report_shortage(service->log);
		triad_service_close(service);
		triad_plugin_free(plugin);
		return NULL;
	}
	triad_service_put_in_force(service);
	triad_log_write(service->log, TRIAD_LOG_INFO,
		"Triad " PACKAGE_VERSION " on port 0x%016" PRIx64 ", configuration: %s",
		service->port_guid,
		service->conf_path[0] ? service->conf_path : "defaults");
	return plugin;
}

void triad_plugin_free(struct triad_plugin *plugin)
{
	bool ended, sends;

	/* It asks the service, and the port manager. */
	triad_healer_stop(plugin->healer);
	ended = triad_service_stop(&plugin->service);

	triad_extended_speeds_stop(plugin->speeds);
	triad_shield_stop(plugin->shield);
	triad_damper_stop(plugin->damper);
	triad_rerouter_stop(plugin->rerouter);
	if (plugin->elector)
		triad_elector_set_listener(plugin->elector, TRIAD_ELECTOR_IMAGES, NULL);
	if (plugin->service.image_bus)
		triad_image_bus_set_carrier(plugin->service.image_bus, NULL);
	/* It asks the worker. */
	triad_auditor_stop(plugin->auditor);
	/* End the worker first: it passes fabrics to the others. */
	triad_worker_free(plugin->worker);
	/* End these before the elector: they send by its transport. */
	sends = !triad_sa_copies_free(plugin->sa_copies);
	sends |= !triad_ports_free(plugin->ports);
	if (sends)
		ended = false;
	else
		ended &= triad_elector_free(plugin->elector);
	triad_qos_free(plugin->qos);
	if (ended)
		triad_hold_free(plugin->hold);
	triad_console_free(plugin->console);
	ended = triad_service_free(&plugin->service, ended);
	/* The watch asks these. */
	if (ended) {
		triad_auditor_free(plugin->auditor);
		triad_shield_free(plugin->shield);
		triad_damper_free(plugin->damper);
		triad_rerouter_free(plugin->rerouter);
		triad_healer_free(plugin->healer);
	}
	triad_events_free(plugin->events);
	triad_extended_speeds_free(plugin->speeds);
	triad_log_write(&plugin->osmlog.log, TRIAD_LOG_INFO, "ended");
	/* If a thread hangs in a write, leave its memory allocated: the process ends
	 * soon. Drop its log lines, because OpenSM closes the log. */
	if (ended)
		free(plugin);
	else
		atomic_store(&plugin->osmlog.log.level, -1);
}
