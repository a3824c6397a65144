# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# A unit test is one program; its source is the .c file of its name, its libraries are
# those of tests/local.mk.
unit_tests = \
	tests/unit/cabling/test_compare \
	tests/unit/cabling/test_describe \
	tests/unit/cabling/test_plan_read \
	tests/unit/cabling/test_progress \
	tests/unit/cli/test_find \
	tests/unit/cli/test_anonym \
	tests/unit/cli/test_json_rows \
	tests/unit/cli/test_local_time \
	tests/unit/cli/test_profile_stats \
	tests/unit/cli/test_secrets \
	tests/unit/cli/test_slurm_job \
	tests/unit/cli/test_table_fit \
	tests/unit/collect/test_claims \
	tests/unit/collect/test_claims_received \
	tests/unit/collect/test_message \
	tests/unit/compat/test_releases \
	tests/unit/command/test_command \
	tests/unit/conf/test_conf \
	tests/unit/conf/test_conf_files \
	tests/unit/conf/test_conf_groups \
	tests/unit/conf/test_conf_origin \
	tests/unit/conf/test_conf_refs \
	tests/unit/command/test_control \
	tests/unit/command/test_resource \
	tests/unit/history/test_extra \
	tests/unit/history/test_mirror \
	tests/unit/history/test_mirror_lies \
	tests/unit/history/test_record \
	tests/unit/history/test_rings \
	tests/unit/history/test_unpack \
	tests/unit/lib/test_backoff \
	tests/unit/lib/test_clock \
	tests/unit/lib/test_diag \
	tests/unit/ib/test_cable \
	tests/unit/ib/test_device_info \
	tests/unit/ib/test_fabric \
	tests/unit/ib/test_link \
	tests/unit/ib/test_port_condition \
	tests/unit/ib/test_slow_links \
	tests/unit/ib/test_node_choice \
	tests/unit/ib/test_node_label \
	tests/unit/ib/test_node_map \
	tests/unit/lib/test_fair_queue \
	tests/unit/lib/test_fields \
	tests/unit/lib/test_file \
	tests/unit/lib/test_folder \
	tests/unit/lib/test_format_version \
	tests/unit/lib/test_grow \
	tests/unit/lib/test_hash \
	tests/unit/lib/test_descriptors \
	tests/unit/lib/test_inbox \
	tests/unit/lib/test_json \
	tests/unit/lib/test_json_page \
	tests/unit/conf/test_lists \
	tests/unit/lib/test_line_file \
	tests/unit/lib/test_log \
	tests/unit/lib/test_mentions \
	tests/unit/lib/test_quantity \
	tests/unit/ib/test_recent \
	tests/unit/lib/test_poisson \
	tests/unit/lib/test_ring \
	tests/unit/lib/test_search \
	tests/unit/lib/test_steady_clock \
	tests/unit/lib/test_syslog_line \
	tests/unit/lib/test_task \
	tests/unit/lib/test_text \
	tests/unit/conf/test_threshold \
	tests/unit/collect/test_data \
	tests/unit/collect/test_detail_message \
	tests/unit/perfmgr/test_details_told \
	tests/unit/perfmgr/test_detail_limits \
	tests/unit/collect/test_gather \
	tests/unit/collect/test_kept \
	tests/unit/collect/test_repack \
	tests/unit/collect/test_topology_message \
	tests/unit/collect/test_member \
	tests/unit/collect/test_aggregator \
	tests/unit/collect/test_peers \
	tests/unit/perfmgr/test_change_filter \
	tests/unit/perfmgr/test_alert_hard_cases \
	tests/unit/perfmgr/test_alert_congestion \
	tests/unit/perfmgr/test_alert_routes \
	tests/unit/perfmgr/test_alertmanager \
	tests/unit/perfmgr/test_alerts \
	tests/unit/perfmgr/test_alerts_restored \
	tests/unit/perfmgr/test_ber \
	tests/unit/perfmgr/test_bers \
	tests/unit/perfmgr/test_collector \
	tests/unit/perfmgr/test_details \
	tests/unit/perfmgr/test_devices \
	tests/unit/perfmgr/test_engine \
	tests/unit/perfmgr/test_hard_cases \
	tests/unit/perfmgr/test_hardware_alerts \
	tests/unit/perfmgr/test_histogram \
	tests/unit/perfmgr/test_histograms \
	tests/unit/perfmgr/test_http_clients \
	tests/unit/perfmgr/test_http_request \
	tests/unit/perfmgr/test_changes \
	tests/unit/perfmgr/test_links \
	tests/unit/perfmgr/test_rounds \
	tests/unit/perfmgr/test_losses \
	tests/unit/perfmgr/test_metrics \
	tests/unit/perfmgr/test_modes \
	tests/unit/perfmgr/test_wide_errors \
	tests/unit/perfmgr/test_silences \
	tests/unit/perfmgr/test_alert_outbox \
	tests/unit/perfmgr/test_timeline \
	tests/unit/ib/test_mad_requests \
	tests/unit/ib/test_partitions \
	tests/unit/ib/test_pma \
	tests/unit/perfmgr/test_profile \
	tests/unit/perfmgr/test_resets \
	tests/unit/ib/test_sa_topology \
	tests/unit/perfmgr/test_sampler \
	tests/unit/perfmgr/test_sflow \
	tests/unit/perfmgr/test_slow_alerts \
	tests/unit/perfmgr/test_sflow_schedule \
	tests/unit/perfmgr/test_sflow_sender \
	tests/unit/perfmgr/test_speeds \
	tests/unit/perfmgr/test_zstd_frame \
	tests/unit/plugin/test_console_lines \
	tests/unit/plugin/test_console_session \
	tests/unit/plugin/test_events \
	tests/unit/plugin/test_health_watch \
	tests/unit/plugin/test_read_back \
	tests/unit/service/test_state_probe \
	tests/unit/plugin/test_sm_control \
	tests/unit/plugin/test_log_tail \
	tests/unit/plugin/test_sm_errors \
	tests/unit/plugin/test_smp \
	tests/unit/plugin/test_sm_watch \
	tests/unit/plugin/test_state_file \
	tests/unit/plugin/test_trap_mad \
	tests/unit/plugin/test_trees \
	tests/unit/plugin/test_withheld \
	tests/unit/portmgr/test_agenda \
	tests/unit/portmgr/test_alone \
	tests/unit/portmgr/test_blacklist \
	tests/unit/portmgr/test_election \
	tests/unit/portmgr/test_election_lease \
	tests/unit/portmgr/test_election_message \
	tests/unit/portmgr/test_election_scripts \
	tests/unit/portmgr/test_expected \
	tests/unit/portmgr/test_expected_placed \
	tests/unit/portmgr/test_expected_remote \
	tests/unit/portmgr/test_divided \
	tests/unit/portmgr/test_fabric_watch \
	tests/unit/portmgr/test_group \
	tests/unit/portmgr/test_guard \
	tests/unit/portmgr/test_port_health \
	tests/unit/portmgr/test_netdiscover \
	tests/unit/portmgr/test_journal \
	tests/unit/portmgr/test_fragments \
	tests/unit/portmgr/test_history \
	tests/unit/portmgr/test_port_row \
	tests/unit/portmgr/test_peers \
	tests/unit/portmgr/test_permission \
	tests/unit/portmgr/test_overrides \
	tests/unit/portmgr/test_missing \
	tests/unit/portmgr/test_plan \
	tests/unit/portmgr/test_port_test \
	tests/unit/portmgr/test_priority \
	tests/unit/portmgr/test_seen_sms \
	tests/unit/portmgr/test_record \
	tests/unit/ib/test_route \
	tests/unit/portmgr/test_sa_copier \
	tests/unit/portmgr/test_sa_role \
	tests/unit/portmgr/test_sa_file \
	tests/unit/portmgr/test_sa_set \
	tests/unit/portmgr/test_seal \
	tests/unit/portmgr/test_seal_random \
	tests/unit/portmgr/test_replica \
	tests/unit/congestion/test_matrix \
	tests/unit/congestion/test_memory \
	tests/unit/congestion/test_roots \
	tests/unit/congestion/test_track \
	tests/unit/heal/test_calm \
	tests/unit/heal/test_data_test \
	tests/unit/heal/test_evidence \
	tests/unit/heal/test_past \
	tests/unit/heal/test_plan \
	tests/unit/damp/test_copy \
	tests/unit/damp/test_links \
	tests/unit/damp/test_ports \
	tests/unit/damp/test_traps \
	tests/unit/heal/test_course \
	tests/unit/shield/test_check \
	tests/unit/shield/test_rate \
	tests/unit/audit/test_audit \
	tests/unit/audit/test_tree \
	tests/unit/routes/test_crossing \
	tests/unit/routes/test_check \
	tests/unit/jobs/test_hostlist \
	tests/unit/jobs/test_slurm_topology \
	tests/unit/routes/test_lanes \
	tests/unit/routes/test_memory \
	tests/unit/routes/test_multicast \
	tests/unit/routes/test_repair \
	tests/unit/routes/test_repair_multicast \
	tests/unit/routes/test_without \
	tests/unit/qos/test_answer \
	tests/unit/qos/test_classifier \
	tests/unit/qos/test_clients \
	tests/unit/qos/test_decide \
	tests/unit/qos/test_explain \
	tests/unit/qos/test_kept_tables \
	tests/unit/qos/test_latency \
	tests/unit/qos/test_paths \
	tests/unit/qos/test_policy_file \
	tests/unit/qos/test_policy_text \
	tests/unit/ib/test_rates \
	tests/unit/qos/test_request \
	tests/unit/qos/test_restrict \
	tests/unit/qos/test_work_queue \
	tests/unit/service/test_absent_parts \
	tests/unit/service/test_bus_relay \
	tests/unit/service/test_collect \
	tests/unit/service/test_alert_log \
	tests/unit/service/test_control_file \
	tests/unit/service/test_facts \
	tests/unit/service/test_served \
	tests/unit/service/test_stream \
	tests/unit/service/test_health \
	tests/unit/service/test_history_copies \
	tests/unit/service/test_image_bus \
	tests/unit/service/test_history_lists \
	tests/unit/service/test_history_reader \
	tests/unit/service/test_history_store \
	tests/unit/service/test_format \
	tests/unit/service/test_list \
	tests/unit/service/test_local_port \
	tests/unit/service/test_peer \
	tests/unit/service/test_perf \
	tests/unit/service/test_recorder \
	tests/unit/service/test_repair_plan \
	tests/unit/service/test_route_checker \
	tests/unit/service/test_sa_pace \
	tests/unit/service/test_sflow \
	tests/unit/service/test_topology_files \
	tests/unit/service/test_umad
# Any allocation can be made to fail there.
tests_unit_collect_test_claims_received_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_cabling_test_compare_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_cabling_test_progress_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_cabling_test_plan_read_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_conf_test_conf_refs_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=free \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_lib_test_grow_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_perfmgr_test_histograms_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_portmgr_test_agenda_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_portmgr_test_missing_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_portmgr_test_plan_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_congestion_test_matrix_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_congestion_test_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_routes_test_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_portmgr_test_sa_set_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_qos_test_scopes_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_qos_test_setup_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

# Only the agent needs libibnetdisc; its functions are the test's own, but for fields.
tests_unit_agent_test_discover_SOURCES = \
	tests/unit/agent/test_discover.c agent/discover.c agent/discovery.c \
	agent/discovery_asker.c
tests_unit_agent_test_discover_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) $(IBNETDISC_CFLAGS)
tests_unit_agent_test_discover_LDADD = $(LDADD) $(IBNETDISC_LIBS)
tests_unit_ib_test_detail_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) $(IBNETDISC_CFLAGS)
tests_unit_ib_test_detail_LDADD = $(LDADD) $(IBNETDISC_LIBS)
tests_unit_agent_test_discovery_process_SOURCES = \
	tests/unit/agent/test_discovery_process.c \
	agent/discovery_process.c agent/discovery_reply.c

tests_unit_cli_test_find_SOURCES = tests/unit/cli/test_find.c cli/find.c
tests_unit_cli_test_anonym_SOURCES = tests/unit/cli/test_anonym.c cli/anonym.c
tests_unit_cli_test_secrets_SOURCES = tests/unit/cli/test_secrets.c cli/secrets.c
tests_unit_cli_test_slurm_job_SOURCES = tests/unit/cli/test_slurm_job.c \
	cli/child.c cli/slurm_job.c
tests_unit_cli_test_json_rows_SOURCES = tests/unit/cli/test_json_rows.c cli/json_rows.c
tests_unit_cli_test_local_time_SOURCES = tests/unit/cli/test_local_time.c \
	cli/local_time.c
tests_unit_cli_test_table_fit_SOURCES = tests/unit/cli/test_table_fit.c \
	cli/table_fit.c
tests_unit_cli_test_profile_stats_SOURCES = tests/unit/cli/test_profile_stats.c \
	cli/profile_links.c cli/profile_stats.c

tests_unit_perfmgr_test_http_clients_SOURCES = \
	tests/unit/perfmgr/test_http_clients.c perfmgr/export/http_clients.c

tests_unit_plugin_test_events_SOURCES = \
	tests/unit/plugin/test_events.c plugin/events.c
tests_unit_plugin_test_health_watch_SOURCES = \
	tests/unit/plugin/test_health_watch.c plugin/election/health_watch.c
tests_unit_plugin_test_read_back_SOURCES = \
	tests/unit/plugin/test_read_back.c plugin/read_back.c
tests_unit_service_test_state_probe_SOURCES = \
	tests/unit/service/test_state_probe.c service/state_probe.c
tests_unit_service_test_state_probe_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=triad_file_replace,--wrap=triad_clock_now_us
tests_unit_plugin_test_sm_control_SOURCES = \
	tests/unit/plugin/test_sm_control.c plugin/election/sm_control.c plugin/sm_recover.c
tests_unit_plugin_test_sm_control_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
tests_unit_qos_test_work_queue_SOURCES = \
	tests/unit/qos/test_work_queue.c plugin/qos/work_queue.c
tests_unit_plugin_test_console_lines_SOURCES = \
	tests/unit/plugin/test_console_lines.c plugin/console_lines.c
tests_unit_plugin_test_console_session_SOURCES = \
	tests/unit/plugin/test_console_session.c plugin/console_session.c \
	plugin/console_lines.c
tests_unit_plugin_test_console_session_LDADD = libtriadservice.la libtriadbus.la $(LDADD)
tests_unit_plugin_test_console_session_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=triad_clock_now_us
tests_unit_plugin_test_log_tail_SOURCES = \
	tests/unit/plugin/test_log_tail.c plugin/log_tail.c
tests_unit_plugin_test_sm_errors_SOURCES = \
	tests/unit/plugin/test_sm_errors.c plugin/sm_errors.c
tests_unit_plugin_test_sm_watch_SOURCES = \
	tests/unit/plugin/test_sm_watch.c plugin/sm_watch.c
tests_unit_plugin_test_state_file_SOURCES = \
	tests/unit/plugin/test_state_file.c plugin/election/state_file.c
tests_unit_plugin_test_smp_SOURCES = tests/unit/plugin/test_smp.c plugin/ports/smp.c
tests_unit_plugin_test_smp_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
tests_unit_plugin_test_trap_mad_SOURCES = \
	tests/unit/plugin/test_trap_mad.c plugin/trap_mad.c
tests_unit_plugin_test_trap_mad_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
tests_unit_plugin_test_trees_SOURCES = \
	tests/unit/plugin/test_trees.c plugin/audit/trees.c
tests_unit_plugin_test_trees_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
tests_unit_plugin_test_withheld_SOURCES = \
	tests/unit/plugin/test_withheld.c plugin/withheld.c
tests_unit_collect_test_bus_LDADD = libtriadbus.la $(LDADD)
# Whatever this build has.
tests_unit_service_test_absent_parts_SOURCES = \
	tests/unit/service/test_absent_parts.c \
	qos/policy/policy_xml_absent.c
tests_unit_service_test_bus_relay_LDADD = libtriadrelay.la $(LDADD)
tests_unit_service_test_collect_SOURCES = \
	tests/unit/service/test_collect.c service/collect.c service/collect_fabric.c \
	service/collect_run.c service/collect_status.c \
	service/collect_report.c
tests_unit_service_test_collect_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_unit_service_test_collect_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=triad_condition_wait -Wl,--wrap=triad_clock_now_us
tests_unit_service_test_alert_log_SOURCES = \
	tests/unit/service/test_alert_log.c service/alert_log.c
tests_unit_service_test_alert_log_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=triad_line_file_write -Wl,--wrap=triad_clock_now_us
tests_unit_service_test_control_file_SOURCES = \
	tests/unit/service/test_control_file.c service/control_file.c
tests_unit_service_test_control_file_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=unlink
tests_unit_service_test_pool_SOURCES = tests/unit/service/test_pool.c
tests_unit_service_test_pool_CFLAGS = $(AM_CFLAGS) $(TRIADD_CFLAGS)
tests_unit_service_test_pool_LDADD = libtriadweb.la $(LDADD)
tests_unit_service_test_served_SOURCES = tests/unit/service/test_served.c service/served.c
tests_unit_service_test_stream_SOURCES = \
	tests/unit/service/test_stream.c service/web/stream.c
tests_unit_service_test_facts_LDADD = libtriadservice.la libtriadbus.la $(LDADD)
tests_unit_service_test_health_LDADD = libtriadservice.la libtriadbus.la $(LDADD)
tests_unit_service_test_history_copies_SOURCES = \
	tests/unit/service/test_history_copies.c tests/unit/history/fixture.h \
	tests/unit/history/kept.h service/history_reader.c
tests_unit_service_test_image_bus_SOURCES = \
	tests/unit/service/test_image_bus.c service/image_bus.c
tests_unit_service_test_history_lists_SOURCES = \
	tests/unit/service/test_history_lists.c tests/unit/history/fixture.h \
	tests/unit/history/kept.h service/history_reader.c
tests_unit_service_test_history_reader_SOURCES = \
	tests/unit/service/test_history_reader.c tests/unit/history/fixture.h \
	tests/unit/history/kept.h service/history_reader.c
tests_unit_service_test_history_reader_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc
tests_unit_service_test_history_store_SOURCES = \
	tests/unit/service/test_history_store.c tests/unit/history/fixture.h \
	tests/unit/history/kept.h service/history_reader.c
tests_unit_service_test_history_store_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pread64
tests_unit_service_test_format_SOURCES = \
	tests/unit/service/test_format.c service/command/format.c
tests_unit_service_test_list_SOURCES = tests/unit/service/test_list.c
tests_unit_service_test_list_LDADD = libtriadservice.la libtriadbus.la $(LDADD)
tests_unit_service_test_local_port_SOURCES = \
	tests/unit/service/test_local_port.c service/local_port.c
tests_unit_service_test_peer_SOURCES = tests/unit/service/test_peer.c \
	service/loopback_owner.c service/peer.c
tests_unit_service_test_perf_SOURCES = \
	tests/unit/service/test_perf.c service/perf.c
tests_unit_service_test_recorder_SOURCES = \
	tests/unit/service/test_recorder.c service/recorder.c \
	service/recorder_file.c service/recorder_write.c service/state_path.c
tests_unit_service_test_repair_plan_LDADD = libtriadservice.la libtriadbus.la $(LDADD)
tests_unit_service_test_repair_plan_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=triad_routes_command_result -Wl,--wrap=triad_route_result_unref \
	-Wl,--wrap=triad_perf_view -Wl,--wrap=triad_view_unref
tests_unit_service_test_route_checker_SOURCES = \
	tests/unit/service/test_route_checker.c service/route_checker.c
tests_unit_service_test_route_checker_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=triad_routes_check_make
tests_unit_service_test_sa_pace_SOURCES = \
	tests/unit/service/test_sa_pace.c service/sa_pace.c
tests_unit_service_test_sflow_SOURCES = \
	tests/unit/service/test_sflow.c service/sflow.c
tests_unit_service_test_umad_SOURCES = \
	tests/unit/service/test_umad.c service/strangers.c service/umad.c
tests_unit_service_test_umad_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_unit_service_test_topology_files_SOURCES = \
	tests/unit/service/test_topology_files.c
tests_unit_service_test_topology_files_LDADD = libtriadservice.la libtriadbus.la $(LDADD)
tests_unit_service_test_umad_LDADD = $(LDADD) $(UMAD_LIBS)

# Disks fail there.  What takes an offset is called by its other name (-D_FILE_OFFSET_BITS=64).
tests_unit_lib_test_file_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fsync
tests_unit_portmgr_test_journal_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=fdatasync -Wl,--wrap=fsync -Wl,--wrap=ftruncate64

# They make MACs of their own.
tests_unit_portmgr_test_peers_LDADD = $(LDADD) $(NETTLE_LIBS)
tests_unit_portmgr_test_seal_LDADD = $(LDADD) $(NETTLE_LIBS)

if HAVE_IBNETDISC
unit_tests += tests/unit/agent/test_discover tests/unit/agent/test_discovery_process
# libibmad comes with what the agent needs.
unit_tests += tests/unit/ib/test_detail
endif
if HAVE_NATS
unit_tests += tests/unit/collect/test_bus
endif
# Their policies are XML.
if HAVE_XML
unit_tests += \
	tests/unit/qos/test_policy_xml \
	tests/unit/qos/test_scopes \
	tests/unit/qos/test_scopes_memory \
	tests/unit/qos/test_scopes_random \
	tests/unit/qos/test_setup \
	tests/unit/qos/test_setup_credit \
	tests/unit/qos/test_setup_findings \
	tests/unit/qos/test_setup_memory \
	tests/unit/qos/test_setup_paths \
	tests/unit/qos/test_setup_plan
endif
if HAVE_TRIADD
unit_tests += tests/unit/service/test_pool
endif
if HAVE_CHECK
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

noinst_HEADERS += \
	tests/unit/collect/claims_fixture.h \
	tests/unit/conf/conf_fixture.h \
	tests/unit/mentions.h \
	tests/unit/run.h \
	tests/unit/cabling/model.h \
	tests/unit/scarce_memory.h \
	tests/unit/history/mirror_net.h \
	tests/unit/perfmgr/alert_fixture.h \
	tests/unit/perfmgr/fixture.h \
	tests/unit/portmgr/cluster_fixture.h \
	tests/unit/portmgr/plan_fixture.h \
	tests/unit/portmgr/sa_records.h \
	tests/unit/qos/path_fixture.h \
	tests/unit/qos/policy_fixture.h \
	tests/unit/qos/setup_fixture.h \
	tests/unit/qos/plan_fixture.h
