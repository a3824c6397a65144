# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadservice.la: threads, descriptors and commands that need no OpenSM, for the
# plugin and the tests.
noinst_LTLIBRARIES += libtriadservice.la

libtriadservice_la_SOURCES = \
	service/alert_log.c service/alert_log.h \
	service/silence_keeper.c service/silence_keeper.h \
	service/collect.c service/collect.h \
	service/collect_fabric.c \
	service/collect_parts.h \
	service/collect_run.c \
	service/collect_status.c \
	service/collect_report.c \
	service/command/agents.c \
	service/command/alerts.c \
	service/command/commands.c service/command/commands.h \
	service/command/config.c \
	service/command/congestion.c \
	service/command/format.c service/command/format.h \
	service/command/hardware.c service/command/hardware.h \
	service/command/heal.c \
	service/command/health.c service/command/health.h \
	service/command/histogram.c \
	service/command/diff.c \
	service/command/diff_counters.c service/command/diff_parts.h \
	service/command/history.c \
	service/command/perf_history.c \
	service/command/perf_tiers.c \
	service/command/links.c \
	service/command/list.c service/command/list.h \
	service/command/moment.c service/command/moment.h \
	service/command/nodes.c \
	service/command/port_states.c \
	service/command/outputs.c service/command/outputs.h \
	service/command/perf.c \
	service/command/ports.c service/command/ports.h \
	service/command/report.c service/command/report.h \
	service/command/ber.c \
	service/command/cables.c \
	service/command/details.c \
	service/command/devices.c \
	service/command/resets.c \
	service/command/job.c \
	service/command/job_congestion.c service/command/job_congestion.h \
	service/command/routes.c \
	service/command/repair.c \
	service/command/routes_pairs.c service/command/routes_parts.h \
	service/command/silences.c \
	service/command/status.c service/command/status.h \
	service/command/sweep.c service/command/topology.c \
	service/command/topology_db_csv.c service/command/topology_fdbs.c \
	service/command/topology_parts.h \
	service/congestion_loads.c service/congestion_loads.h \
	service/congestion_watcher.c service/congestion_watcher.h \
	service/control.c service/control.h \
	service/control_file.c service/control_file.h \
	service/devices.c service/devices.h \
	service/exports.c service/exports.h \
	service/fact.c service/fact.h \
	service/facts.c service/facts.h \
	service/heal_view.c service/heal_view.h \
	service/health.c service/health.h \
	service/health_congestion.c service/health_congestion.h \
	service/health_links.c service/health_links.h \
	service/health_exports.c service/health_exports.h \
	service/health_parts.c \
	service/health_routes.c service/health_routes.h \
	service/history_reader.c service/history_reader.h \
	service/history_sources.c service/history_sources.h \
	service/history_status.h \
	service/image_bus.c service/image_bus.h \
	service/images.c service/images.h \
	service/local_port.c service/local_port.h \
	service/loopback_owner.c \
	service/outside.c service/outside.h \
	service/own_metrics.c service/own_metrics.h \
	service/node_names.c service/node_names.h \
	service/peer.c service/peer.h \
	service/perf.c service/perf.h \
	service/profile.c service/profile.h \
	service/recorder.c service/recorder.h \
	service/recorder_file.c service/recorder_file.h \
	service/recorder_parts.h \
	service/recorder_write.c \
	service/route_checker.c service/route_checker.h \
	service/runner.h \
	service/sa.c service/sa.h \
	service/sa_pace.c service/sa_pace.h \
	service/sa_source.c service/sa_source.h \
	service/served.c service/served.h \
	service/service.c service/service.h \
	service/sflow.c service/sflow.h \
	service/speeds.c service/speeds.h \
	service/strangers.c service/strangers.h \
	service/umad.c service/umad.h \
	service/state_path.c service/state_path.h \
	service/state_probe.c service/state_probe.h \
	service/webhook.c service/webhook.h
# libtriadrelay.la: the plugin's bus, in place of libtriadbus.la.
noinst_LTLIBRARIES += libtriadrelay.la
libtriadrelay_la_SOURCES = \
	collect/nats/queue.c collect/nats/queue.h \
	collect/nats/record.c collect/nats/record.h \
	service/bus_relay.c service/bus_relay.h
libtriadrelay_la_CFLAGS = $(AM_CFLAGS)

libtriadservice_la_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
libtriadservice_la_LIBADD = $(GLIB_LIBS) $(NETTLE_LIBS) $(UMAD_LIBS)
