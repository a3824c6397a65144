# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Tests on stock opensm and ibsim, as root; pytest runs them (scripts/check, pytest.ini).
EXTRA_DIST += pytest.ini tests/conftest.py tests/integration

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
tests_integration_profile_driver_SOURCES = tests/integration/profile_driver.c \
	serve/profile_writer.c serve/profile_writer.h
# Asks the SA for paths at random.  Libraries of the lab are loaded before it, and a
# sanitizer wants to be first.
check_PROGRAMS += tests/integration/path_ask
tests_integration_path_ask_SOURCES = tests/integration/path_ask.c \
	lib/clock.c qos/latency.c
tests_integration_path_ask_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -fno-sanitize=all
tests_integration_path_ask_LDFLAGS = -Wc,-fno-sanitize=all
tests_integration_path_ask_LDADD = $(UMAD_LIBS)
# Asks the SA anything, the same way.
check_PROGRAMS += tests/integration/sa_ask
tests_integration_sa_ask_SOURCES = tests/integration/sa_ask.c lib/clock.c
tests_integration_sa_ask_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -fno-sanitize=all
tests_integration_sa_ask_LDFLAGS = -Wc,-fno-sanitize=all
tests_integration_sa_ask_LDADD = $(UMAD_LIBS)
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
	tests/integration/sa_ask \
	tests/integration/profile_driver \
	tests/integration/report_say \
	tests/integration/sflow_say \
	tests/integration/smp_ask \
	tests/lab/libclockstep.la \
	tests/lab/libhungdisk.la \
	tests/lab/liblocker.la \
	tests/lab/libnothreads.la \
	tests/lab/libotherlayout.la \
	tests/lab/libotherversion.la \
	tests/lab/librecord.la \
	tests/lab/libscarce.la \
	tests/lab/probe \
	tests/sim/flows_run \
	tests/sim/model_replay \
	$(benchmarks)
if HAVE_TRIADD
lab_programs += tests/lab/http_server tests/lab/web_server
endif
.PHONY: lab-programs
lab-programs: all-am $(lab_programs)
