# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Libraries that tests preload into opensm.
check_LTLIBRARIES += tests/lab/librecord.la
tests_lab_librecord_la_SOURCES = tests/lab/record.c
tests_lab_librecord_la_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
# A library for preloading must be shared, which libtool makes of it for its rpath.
tests_lab_librecord_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
