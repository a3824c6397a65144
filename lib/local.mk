# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriad.la: everything without OpenSM, for the plugin, triadctl and the tests;
# here what knows nothing of InfiniBand.
noinst_LTLIBRARIES += libtriad.la

libtriad_la_SOURCES = \
	lib/address.c \
	lib/backoff.h \
	lib/checked_line.c lib/checked_line.h \
	lib/close_range.h \
	lib/clock.c \
	lib/csv_line.c lib/csv_line.h \
	lib/descriptors.c \
	lib/diag.c \
	lib/fair_queue.c lib/fair_queue.h \
	lib/fields.c lib/fields.h \
	lib/file.c \
	lib/file_trust.c \
	lib/folder.c \
	lib/format_version.c lib/format_version.h \
	lib/grow.c lib/grow.h \
	lib/kept_list.c lib/kept_list.h \
	lib/hash.c lib/hash.h \
	lib/inbox.c lib/inbox.h \
	lib/line_cutter.c lib/line_cutter.h \
	lib/json.c \
	lib/json_page.c lib/json_page.h \
	lib/line_file.c \
	lib/log.c \
	lib/pieces.h \
	lib/poisson.c lib/poisson.h \
	lib/quantity.c lib/quantity.h \
	lib/random_number.c lib/random_number.h \
	lib/ring.h \
	lib/search.h \
	lib/sequence_lock.h \
	lib/severity.c \
	lib/steady_clock.c lib/steady_clock.h \
	lib/syslog_line.c lib/syslog_line.h \
	lib/task.c lib/task.h \
	lib/text.c lib/text.h \
	lib/thread.c
libtriad_la_LIBADD = $(GLIB_LIBS) $(NETTLE_LIBS) -lm
