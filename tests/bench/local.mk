# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# 'make benchmarks' builds them; people run them.  Tests check only that they run.
benchmarks = \
	tests/bench/classify \
	tests/bench/congestion \
	tests/bench/distributed \
	tests/bench/engine \
	tests/bench/export \
	tests/bench/flood \
	tests/bench/history \
	tests/bench/portplan \
	tests/bench/profile \
	tests/bench/qosplan \
	tests/bench/repair \
	tests/bench/routes \
	tests/bench/scopes \
	tests/sim/ber_trials \
	tests/sim/congestion_trials \
	tests/sim/damp_trials \
	tests/sim/heal_trials
EXTRA_PROGRAMS += $(benchmarks)
CLEANFILES += $(benchmarks)
.PHONY: benchmarks
benchmarks: $(benchmarks)

tests_bench_export_SOURCES = \
	tests/bench/export.c tests/bench/export.h \
	tests/bench/export_metrics.c \
	tests/bench/export_sflow.c
tests_bench_flood_SOURCES = tests/bench/flood.c \
	service/local_port.c service/local_port.h service/strangers.c service/umad.c service/umad.h
tests_bench_flood_LDADD = libtriad.la $(UMAD_LIBS)
tests_bench_history_SOURCES = tests/bench/history.c service/history_reader.c
tests_bench_profile_SOURCES = tests/bench/profile.c serve/profile_writer.c \
	serve/profile_writer.h
noinst_HEADERS += tests/bench/bench.h

# A second plugin, which OpenSM loads by the name "pathbench".
check_LTLIBRARIES += tests/bench/libpathbench.la
tests_bench_libpathbench_la_SOURCES = tests/bench/pathbench.c plugin/snapshot.c \
	tests/bench/passbench.c tests/bench/passbench.h \
	tests/bench/pathstorm.c tests/bench/pathstorm.h \
	plugin/physp.c plugin/qos/tables/hooks.c plugin/qos/tables/osm_defaults.c
tests_bench_libpathbench_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
tests_bench_libpathbench_la_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_bench_libpathbench_la_LIBADD = libtriadqos.la libtriad.la $(GLIB_LIBS) -ldl
tests_bench_libpathbench_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere \
	-Wl,--version-script=$(top_srcdir)/tests/bench/pathbench.map
EXTRA_DIST += tests/bench/pathbench.map

# Requests a path from the SA all the time, from any master.  Built without a sanitizer,
# whose library would have to be loaded before the lab's port library, which is preloaded.
# 'make' builds it because scripts/demo needs it.
noinst_PROGRAMS += tests/bench/path_stream
tests_bench_path_stream_SOURCES = tests/bench/path_stream.c lib/clock.c
tests_bench_path_stream_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -fno-sanitize=all
tests_bench_path_stream_LDFLAGS = -Wc,-fno-sanitize=all
tests_bench_path_stream_LDADD = $(UMAD_LIBS)
