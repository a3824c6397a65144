# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Libraries that tests preload into opensm.
check_LTLIBRARIES += tests/lab/librecord.la
tests_lab_librecord_la_SOURCES = tests/lab/record.c
# Programs without a sanitizer's library must be able to load it, too.
tests_lab_librecord_la_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -fno-sanitize=all
# A library for preloading must be shared; libtool makes a shared one because of -rpath.
tests_lab_librecord_la_LDFLAGS = -Wc,-fno-sanitize=all -module -avoid-version -shared -rpath /nowhere

check_LTLIBRARIES += tests/lab/libscarce.la
tests_lab_libscarce_la_SOURCES = tests/lab/scarce.c
tests_lab_libscarce_la_CFLAGS = $(AM_CFLAGS) -fno-builtin
tests_lab_libscarce_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# The simulated port of programs in a lab.  'make' builds it because scripts/lab needs it.
noinst_LTLIBRARIES += tests/lab/liblabumad.la
tests_lab_liblabumad_la_SOURCES = \
	tests/lab/umad_address.c \
	tests/lab/umad_address.h \
	tests/lab/umad_agents.c \
	tests/lab/umad_agents.h \
	tests/lab/umad_calls.c \
	tests/lab/umad_calls.h \
	tests/lab/umad_faults.c \
	tests/lab/umad_faults.h \
	tests/lab/umad_planes.c \
	tests/lab/umad_planes.h \
	tests/lab/umad_files.c \
	tests/lab/umad_files.h \
	tests/lab/umad_guardian.c \
	tests/lab/umad_guardian.h \
	tests/lab/umad_mad.h \
	tests/lab/umad_port.c \
	tests/lab/umad_port.h \
	tests/lab/umad_preload.c \
	tests/lab/umad_process.c \
	tests/lab/umad_process.h \
	tests/lab/umad_rmpp.h \
	tests/lab/umad_rmpp_receive.c \
	tests/lab/umad_rmpp_send.c \
	tests/lab/umad_rules.c \
	tests/lab/umad_sends.c \
	tests/lab/umad_sends.h \
	tests/lab/umad_sysfs.c \
	tests/lab/umad_sysfs.h \
	tests/lab/umad_timers.c \
	tests/lab/umad_timers.h \
	tests/lab/umad_wire.c \
	tests/lab/umad_wire.h
# Programs without a sanitizer's library must be able to load it, too.
tests_lab_liblabumad_la_CFLAGS = $(AM_CFLAGS) -O2 -fno-sanitize=all
tests_lab_liblabumad_la_LDFLAGS = -Wc,-fno-sanitize=all $(AX_PTHREAD_FLAGS) -module \
	-avoid-version -shared -rpath /nowhere
tests_lab_liblabumad_la_LIBADD = -ldl

# The library that a lab preloads into ibsim.
noinst_LTLIBRARIES += tests/lab/liblabsim.la
tests_lab_liblabsim_la_SOURCES = \
	ib/counter.c \
	ib/detail.c \
	ib/link.c \
	ib/pma.c \
	tests/lab/sim_details.c \
	tests/lab/sim_details.h \
	tests/lab/sim_hardware.c \
	tests/lab/sim_hardware.h \
	tests/lab/sim_preload.c \
	tests/lab/sim_quirks.c \
	tests/lab/sim_quirks.h \
	tests/lab/sim_speeds.c \
	tests/lab/sim_speeds.h
tests_lab_liblabsim_la_CFLAGS = $(AM_CFLAGS) -O2 -fno-sanitize=all
tests_lab_liblabsim_la_LDFLAGS = -Wc,-fno-sanitize=all -module -avoid-version -shared \
	-rpath /nowhere
tests_lab_liblabsim_la_LIBADD = -ldl

# The program with which tests check a lab's port.
check_PROGRAMS += tests/lab/probe
tests_lab_probe_SOURCES = tests/lab/probe.c
tests_lab_probe_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -fno-sanitize=all
tests_lab_probe_LDFLAGS = -Wc,-fno-sanitize=all
tests_lab_probe_LDADD = $(UMAD_LIBS)

# A second plugin, which OpenSM loads by the name "locker".
check_LTLIBRARIES += tests/lab/liblocker.la
tests_lab_liblocker_la_SOURCES = tests/lab/locker.c
tests_lab_liblocker_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
tests_lab_liblocker_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# Plugins that opensm or Triad must refuse.  Only the code up to the refusal is linked; the
# code after it is never called, so it may be missing.
refused_parts = plugin/layout/debug.c plugin/layout/debug_no_perfmgr.c \
	plugin/layout/layout.c plugin/layout/no_perfmgr.c plugin/layout/stock.c plugin/osmlog.c
refused_ldflags = $(AM_LDFLAGS) -Wl,-z,lazy -module -avoid-version -shared \
	-Wl,--version-script=$(top_srcdir)/plugin/exports.map -rpath /nowhere
check_LTLIBRARIES += tests/lab/libotherlayout.la tests/lab/libotherversion.la
tests_lab_libotherlayout_la_SOURCES = tests/lab/other_layout.c $(refused_parts)
tests_lab_libotherlayout_la_CPPFLAGS = $(libosmtriad_la_CPPFLAGS)
tests_lab_libotherlayout_la_LDFLAGS = $(refused_ldflags)
tests_lab_libotherlayout_la_LIBADD = libtriad.la $(GLIB_LIBS)
tests_lab_libotherversion_la_SOURCES = tests/lab/other_version.c $(refused_parts)
tests_lab_libotherversion_la_CPPFLAGS = $(libosmtriad_la_CPPFLAGS)
tests_lab_libotherversion_la_LDFLAGS = $(refused_ldflags)
tests_lab_libotherversion_la_LIBADD = libtriad.la $(GLIB_LIBS)

# Makes pthread_create() fail for the plugin, in an opensm that it is preloaded into.
check_LTLIBRARIES += tests/lab/libnothreads.la
tests_lab_libnothreads_la_SOURCES = tests/lab/no_threads.c
tests_lab_libnothreads_la_CFLAGS = $(AM_CFLAGS) -fno-sanitize=all
tests_lab_libnothreads_la_LDFLAGS = -Wc,-fno-sanitize=all -module -avoid-version -shared \
	-rpath /nowhere
tests_lab_libnothreads_la_LIBADD = -ldl

# The HTTP server, and the web listener, without the plugin.
if HAVE_TRIADD
check_PROGRAMS += tests/lab/http_server tests/lab/web_server
endif
tests_lab_http_server_SOURCES = tests/lab/http_server.c tests/lab/http_connection_info.c
tests_lab_http_server_CFLAGS = $(AM_CFLAGS) $(TRIADD_CFLAGS)
tests_lab_http_server_LDADD = libtriadweb.la $(LDADD)
tests_lab_http_server_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=MHD_get_connection_info
tests_lab_web_server_SOURCES = tests/lab/web_server.c
tests_lab_web_server_CFLAGS = $(AM_CFLAGS) $(TRIADD_CFLAGS)
tests_lab_web_server_LDADD = libtriadweb.la $(LDADD)

# Simulates a disk that hangs, for programs that it is preloaded into.
check_LTLIBRARIES += tests/lab/libhungdisk.la
tests_lab_libhungdisk_la_SOURCES = tests/lab/hung_disk.c
tests_lab_libhungdisk_la_CFLAGS = $(AM_CFLAGS) -fno-sanitize=all
tests_lab_libhungdisk_la_LDFLAGS = -Wc,-fno-sanitize=all -module -avoid-version -shared \
	-rpath /nowhere

# Simulates a step of the wall clock, for programs that it is preloaded into.
check_LTLIBRARIES += tests/lab/libclockstep.la
tests_lab_libclockstep_la_SOURCES = tests/lab/clock_step.c
tests_lab_libclockstep_la_CFLAGS = $(AM_CFLAGS) -fno-sanitize=all
tests_lab_libclockstep_la_LDFLAGS = -Wc,-fno-sanitize=all -module -avoid-version -shared \
	-rpath /nowhere
