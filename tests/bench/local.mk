# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Built by 'make', run by hand; 'make check' only sees that they run.
noinst_PROGRAMS += \
	tests/bench/classify \
	tests/bench/engine \
	tests/bench/export \
	tests/bench/flood \
	tests/bench/profile

tests_bench_export_SOURCES = \
	tests/bench/export.c tests/bench/export.h \
	tests/bench/export_metrics.c \
	tests/bench/export_sflow.c
tests_bench_flood_SOURCES = tests/bench/flood.c \
	plugin/local_port.c plugin/local_port.h plugin/umad.c plugin/umad.h
tests_bench_flood_LDADD = libtriad.la $(UMAD_LIBS)
noinst_HEADERS += tests/bench/bench.h
