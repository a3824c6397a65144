# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
lib_LTLIBRARIES += libosmtriad.la

libosmtriad_la_SOURCES = \
	plugin/access.c plugin/access.h \
	plugin/audit/auditor.c plugin/audit/auditor.h \
	plugin/audit/other_sms.c plugin/audit/other_sms.h \
	plugin/audit/repair.c plugin/audit/repair.h \
	plugin/audit/trees.c plugin/audit/trees.h \
	plugin/audit/wishes.c plugin/audit/wishes.h \
	plugin/bind_hook.c plugin/bind_hook.h \
	plugin/command/election.c \
	plugin/command/election_sa.c \
	plugin/command/port.c \
	plugin/command/port_by_hand.c \
	plugin/command/port_effect.c plugin/command/port_effect.h \
	plugin/command/port_history.c \
	plugin/command/port_node.h \
	plugin/command/port_plan.c \
	plugin/command/qos.c \
	plugin/command/qos_explain.c \
	plugin/command/qos_nodes.c \
	plugin/command/qos_plan.c \
	plugin/command/qos_setup.c plugin/command/qos_setup.h \
	plugin/command/qos_tables.c \
	plugin/command/damp.c \
	plugin/command/repair.c \
	plugin/trap_mad.c plugin/trap_mad.h \
	plugin/reroute/rerouter.c plugin/reroute/rerouter.h \
	plugin/reroute/reroute_find.c \
	plugin/reroute/reroute_lft.c \
	plugin/reroute/reroute_lead.c plugin/reroute/reroute_lead.h \
	plugin/reroute/reroute_mft.c \
	plugin/reroute/reroute_report.c \
	plugin/reroute/reroute_write.c \
	plugin/reroute/reroute_top.c \
	plugin/reroute/reroute_parts.h \
	plugin/command/shield.c \
	plugin/damp/damper.c plugin/damp/damper.h \
	plugin/damp/damper_hold.c \
	plugin/damp/damper_look.c \
	plugin/damp/damper_parts.h \
	plugin/command/status.c \
	plugin/command/audit.c \
	plugin/command/commands.c plugin/command/commands.h \
	plugin/console.c plugin/console.h \
	plugin/console_lines.c plugin/console_lines.h \
	plugin/console_session.c plugin/console_session.h \
	plugin/election/elector.c plugin/election/elector.h \
	plugin/election/elector_act.c \
	plugin/election/elector_ask.c \
	plugin/election/elector_status.c \
	plugin/election/elector_conf.c \
	plugin/election/elector_parts.h \
	plugin/election/elector_sink.c \
	plugin/election/fabric_ask.c plugin/election/fabric_ask.h \
	plugin/election/fabric_carrier.c plugin/election/fabric_carrier.h \
	plugin/election/health_watch.c plugin/election/health_watch.h \
	plugin/election/local_health.c plugin/election/local_health.h \
	plugin/election/sm_control.c plugin/election/sm_control.h \
	plugin/election/sm_places.c plugin/election/sm_places.h \
	plugin/election/state_file.c plugin/election/state_file.h \
	plugin/entry.c \
	plugin/events.c plugin/events.h \
	plugin/extended_speeds.c plugin/extended_speeds.h \
	plugin/facts.c plugin/facts.h \
	plugin/health.c plugin/health.h \
	plugin/instance.c plugin/instance.h \
	plugin/layout/debug.c \
	plugin/layout/debug_no_perfmgr.c \
	plugin/layout/layout.c plugin/layout/layout.h \
	plugin/layout/measured.h \
	plugin/layout/no_perfmgr.c \
	plugin/layout/stock.c \
	plugin/log_tail.c plugin/log_tail.h \
	plugin/opensm.h \
	plugin/osmlog.c plugin/osmlog.h \
	plugin/own_metrics.c plugin/own_metrics.h \
	plugin/physp.c plugin/physp.h \
	plugin/ports/hold.c plugin/ports/hold.h \
	plugin/ports/ports.c plugin/ports/ports.h \
	plugin/ports/ports_act.c \
	plugin/ports/ports_ask.c \
	plugin/ports/ports_commit.c plugin/ports/ports_term.c \
	plugin/ports/ports_inbox.c \
	plugin/ports/ports_look.c \
	plugin/ports/ports_seen.c plugin/ports/ports_sms.c \
	plugin/ports/ports_mads.c \
	plugin/ports/ports_parts.h \
	plugin/ports/ports_heal.c plugin/ports/ports_heal_parts.h \
	plugin/ports/ports_heal_act.c plugin/ports/ports_heal_data.c \
	plugin/ports/ports_heal_hand.c \
	plugin/ports/ports_heal_term.c \
	plugin/heal/healer.c plugin/heal/healer.h \
	plugin/command/heal.c \
	plugin/command/heal_report.c \
	plugin/ports/ports_test.c \
	plugin/ports/smp.c plugin/ports/smp.h \
	plugin/ports/source.c plugin/ports/source.h \
	plugin/read_back.c plugin/read_back.h \
	plugin/qos/unmatched.c plugin/qos/unmatched.h \
	plugin/qos/qos_snapshot.c plugin/qos/qos_snapshot.h \
	plugin/qos/class_port_info.c plugin/qos/class_port_info.h \
	plugin/qos/broadcast.c plugin/qos/broadcast.h \
	plugin/qos/work_queue.c plugin/qos/work_queue.h \
	plugin/qos/osm_lookup.c plugin/qos/osm_lookup.h \
	plugin/qos/partitions.c plugin/qos/partitions.h \
	plugin/qos/policy_source.c plugin/qos/policy_source.h \
	plugin/qos/qos.c plugin/qos/qos.h \
	plugin/qos/qos_build.c plugin/qos/qos_parts.h \
	plugin/qos/sample.c plugin/qos/sample.h \
	plugin/qos/server.c plugin/qos/server.h plugin/qos/server_parts.h \
	plugin/qos/server_request.c \
	plugin/qos/server_state.c \
	plugin/qos/tables/guard.c plugin/qos/tables/guard.h \
	plugin/qos/tables/hooks.c plugin/qos/tables/hooks.h \
	plugin/qos/tables/osm_defaults.c plugin/qos/tables/osm_defaults.h \
	plugin/qos/tables/pass.c plugin/qos/tables/pass.h \
	plugin/qos/tables/pass_parts.h \
	plugin/qos/tables/pass_ports.c \
	plugin/qos/tables/pass_switch.c \
	plugin/qos/tables/review.c \
	plugin/qos/tables/tables.c plugin/qos/tables/tables.h \
	plugin/qos/tables/tables_parts.h \
	plugin/qos/tables/report.c plugin/qos/tables/report.h \
	plugin/sa/reports.c plugin/sa/reports.h \
	plugin/sa/sa_copies.c plugin/sa/sa_copies.h \
	plugin/sa/sa_copies_file.c \
	plugin/sa/sa_copies_parts.h \
	plugin/takers.c plugin/takers.h \
	plugin/sa/sa_restore.c plugin/sa/sa_restore.h \
	plugin/sa/sa_snapshot.c plugin/sa/sa_snapshot.h \
	plugin/sa/shield.c plugin/sa/shield.h \
	plugin/sm_errors.c plugin/sm_errors.h \
	plugin/sm_recover.c plugin/sm_recover.h \
	plugin/sm_state.c plugin/sm_state.h \
	plugin/sm_watch.c plugin/sm_watch.h \
	plugin/route_sls.c plugin/route_sls.h \
	plugin/snapshot.c plugin/snapshot.h \
	plugin/withheld.c plugin/withheld.h \
	plugin/worker.c plugin/worker.h
libosmtriad_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
libosmtriad_la_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
libosmtriad_la_LIBADD = libtriadservice.la libtriadrelay.la libtriadcollect.la libtriadportmgr.la libtriadelection.la libtriadexpected.la libtriadcluster.la libtriadqos.la libtriadexport.la libtriad.la $(GLIB_LIBS) $(UMAD_LIBS)
# OpenSM opens "libosmtriad.so"; what it gives us is found in the opensm program
# itself.  The object stays mapped after dlclose(): GLib, once loaded, can't go.
libosmtriad_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-Wl,--version-script=$(top_srcdir)/plugin/exports.map -Wl,-z,nodelete
libosmtriad_la_DEPENDENCIES = libtriadservice.la libtriadrelay.la libtriadcollect.la libtriadportmgr.la libtriadelection.la libtriadexpected.la libtriadcluster.la libtriadqos.la libtriadexport.la libtriad.la plugin/exports.map
EXTRA_DIST += plugin/exports.map
