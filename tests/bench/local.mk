# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Built by 'make', run by hand; 'make check' only sees that they run.
noinst_PROGRAMS += \
	tests/bench/engine \
	tests/bench/export \
	tests/bench/flood \
	tests/bench/metrics \
	tests/bench/profile

tests_bench_flood_SOURCES = tests/bench/flood.c plugin/umad.c plugin/umad.h
tests_bench_flood_LDADD = libtriad.la $(UMAD_LIBS)
