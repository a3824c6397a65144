# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Tests on stock opensm and ibsim, as root; pytest runs them (scripts/check, pytest.ini).
EXTRA_DIST += pytest.ini \
	tests/conftest.py \
	tests/integration/agentlib.py \
	tests/integration/alertlib.py \
	tests/integration/checks.py \
	tests/integration/conftest.py \
	tests/integration/compatlib.py \
	tests/integration/control.py \
	tests/integration/ctllib.py \
	tests/integration/electionlib.py \
	tests/integration/join_group.py \
	tests/integration/labs.py \
	tests/integration/natskeys.py \
	tests/integration/pathlab.py \
	tests/integration/portlib.py \
	tests/integration/tablelib.py \
	tests/integration/test_agent.py \
	tests/integration/test_agents.py \
	tests/integration/test_agents_brokers.py \
	tests/integration/test_agents_faults.py \
	tests/integration/test_alerts.py \
	tests/integration/test_ber.py \
	tests/integration/test_bench.py \
	tests/integration/test_cluster.py \
	tests/integration/test_compat.py \
	tests/integration/test_completion.py \
	tests/integration/test_conf.py \
	tests/integration/test_congestion.py \
	tests/integration/test_console.py \
	tests/integration/test_control_socket.py \
	tests/integration/test_counters.py \
	tests/integration/test_details.py \
	tests/integration/test_dashboards.py \
	tests/integration/test_demo.py \
	tests/integration/test_deps.py \
	tests/integration/test_election_check.py \
	tests/integration/test_election_commands.py \
	tests/integration/test_election_fabric.py \
	tests/integration/test_election_faults.py \
	tests/integration/test_election_over_fabric.py \
	tests/integration/test_election_pauses.py \
	tests/integration/test_examples.py \
	tests/integration/test_exports.py \
	tests/integration/test_faults.py \
	tests/integration/test_first_change.py \
	tests/integration/test_fuzz.py \
	tests/integration/test_gen_fabric.py \
	tests/integration/test_health.py \
	tests/integration/test_history.py \
	tests/integration/test_hardening.py \
	tests/integration/test_http.py \
	tests/integration/test_images.py \
	tests/integration/test_install.py \
	tests/integration/test_kernel_semantics.py \
	tests/integration/test_lab.py \
	tests/integration/test_lab_details.py \
	tests/integration/test_lab_hosts.py \
	tests/integration/test_lifecycle.py \
	tests/integration/test_opensm_matrix.py \
	tests/integration/test_packages.py \
	tests/integration/test_partitions.py \
	tests/integration/test_path_answers.py \
	tests/integration/test_path_service.py \
	tests/integration/test_picture.py \
	tests/integration/test_port_admission.py \
	tests/integration/test_port_faults.py \
	tests/integration/test_port_files.py \
	tests/integration/test_port_handover.py \
	tests/integration/test_port_plans.py \
	tests/integration/test_profile.py \
	tests/integration/test_prometheus.py \
	tests/integration/test_web.py \
	tests/integration/test_web_clients.py \
	tests/integration/test_qos_broadcast.py \
	tests/integration/test_qos_tables.py \
	tests/integration/test_qos_tables_faults.py \
	tests/integration/test_refused_load.py \
	tests/integration/test_release.py \
	tests/integration/test_roles.py \
	tests/integration/test_routes.py \
	tests/integration/test_rows.py \
	tests/integration/test_rules.py \
	tests/integration/test_rules_lab.py \
	tests/integration/test_sa_copies.py \
	tests/integration/test_setup.py \
	tests/integration/test_sflow.py \
	tests/integration/test_sflow_framing.py \
	tests/integration/test_soak.py \
	tests/integration/test_standby.py \
	tests/integration/test_sweep.py \
	tests/integration/test_tables.py \
	tests/integration/test_tour.py \
	tests/integration/test_triadctl.py \
	tests/integration/test_trusted_files.py \
	tests/integration/test_webhook.py \
	tests/integration/tlslib.py \
	tests/integration/simflows.py \
	tests/integration/triadlib.py \
	tests/integration/weblib.py \
	tests/integration/sanitizer.supp

# What says something to collectors of sFlow.
check_PROGRAMS += tests/integration/sflow_say
# A member of a group of Corosync's.
check_PROGRAMS += tests/integration/cluster_say
tests_integration_cluster_say_SOURCES = tests/integration/cluster_say.c
# A member of an election that has gone wild.
check_PROGRAMS += tests/integration/election_runaway
tests_integration_election_runaway_SOURCES = tests/integration/election_runaway.c
# Plays the PerfManager to the writer of profiles.
check_PROGRAMS += tests/integration/profile_driver
tests_integration_profile_driver_SOURCES = tests/integration/profile_driver.c
# Asks the SA for paths at random.  Libraries of the lab are loaded before it, and a
# sanitizer wants to be first.
check_PROGRAMS += tests/integration/path_ask
tests_integration_path_ask_SOURCES = tests/integration/path_ask.c \
	lib/calendar.c lib/clock.c qos/latency.c
tests_integration_path_ask_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -fno-sanitize=all
tests_integration_path_ask_LDFLAGS = -Wc,-fno-sanitize=all
tests_integration_path_ask_LDADD = $(UMAD_LIBS)
# Asks nodes for their tables, the same way.
check_PROGRAMS += tests/integration/smp_ask
tests_integration_smp_ask_SOURCES = tests/integration/smp_ask.c
tests_integration_smp_ask_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -fno-sanitize=all
tests_integration_smp_ask_LDFLAGS = -Wc,-fno-sanitize=all
tests_integration_smp_ask_LDADD = $(UMAD_LIBS)

# Plays the SA that reports, or somebody who forges that.
check_PROGRAMS += tests/integration/report_say
tests_integration_report_say_SOURCES = tests/integration/report_say.c
tests_integration_report_say_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -fno-sanitize=all
tests_integration_report_say_LDFLAGS = -Wc,-fno-sanitize=all
tests_integration_report_say_LDADD = $(UMAD_LIBS)

# Forges fragments of datagrams between SMs, the same way.
check_PROGRAMS += tests/integration/fragment_say
tests_integration_fragment_say_SOURCES = tests/integration/fragment_say.c \
	portmgr/cluster/fragments.c
tests_integration_fragment_say_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -fno-sanitize=all
tests_integration_fragment_say_LDFLAGS = -Wc,-fno-sanitize=all
tests_integration_fragment_say_LDADD = $(UMAD_LIBS)

# What the tests in Python need besides what 'make' builds.
lab_programs = \
	tests/bench/libpathbench.la \
	tests/integration/cluster_say \
	tests/integration/election_runaway \
	tests/integration/fragment_say \
	tests/integration/path_ask \
	tests/integration/profile_driver \
	tests/integration/report_say \
	tests/integration/sflow_say \
	tests/integration/smp_ask \
	tests/lab/http_server \
	tests/lab/libclockstep.la \
	tests/lab/libhungdisk.la \
	tests/lab/liblocker.la \
	tests/lab/libnothreads.la \
	tests/lab/libotherlayout.la \
	tests/lab/libotherversion.la \
	tests/lab/librecord.la \
	tests/lab/libscarce.la \
	tests/lab/probe
if HAVE_WEB
lab_programs += tests/lab/web_server
endif
.PHONY: lab-programs
# Behind 'all' and not beside it: that is a make of its own, and two would compile the same.
lab-programs: all
	@$(MAKE) $(AM_MAKEFLAGS) $(lab_programs)
