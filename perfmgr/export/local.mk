# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadexport.la: what sends counters elsewhere, with threads and sockets but without
# OpenSM, for the plugin and the tests.
noinst_LTLIBRARIES += libtriadexport.la
libtriadexport_la_SOURCES = \
	perfmgr/export/gzip.h \
	perfmgr/export/http.h \
	perfmgr/export/http_files.c perfmgr/export/http_files.h \
	perfmgr/export/http_handler.h \
	perfmgr/export/metrics_handler.c perfmgr/export/metrics_handler.h \
	perfmgr/export/sampler.c perfmgr/export/sampler.h \
	perfmgr/export/sflow_sender.c perfmgr/export/sflow_sender.h \
	perfmgr/export/udp.c perfmgr/export/udp.h
libtriadexport_la_CFLAGS = $(AM_CFLAGS) $(MICROHTTPD_CFLAGS) $(ZLIB_CFLAGS)
libtriadexport_la_LIBADD = $(MICROHTTPD_LIBS) $(ZLIB_LIBS)

# The HTTP server.
if HAVE_MICROHTTPD
libtriadexport_la_SOURCES += \
	perfmgr/export/http.c \
	perfmgr/export/http_answer.c \
	perfmgr/export/http_clients.c perfmgr/export/http_clients.h \
	perfmgr/export/http_exchange.c perfmgr/export/http_exchange.h \
	perfmgr/export/http_guard.c perfmgr/export/http_guard.h \
	perfmgr/export/http_server.c perfmgr/export/http_server.h \
	perfmgr/export/http_tls.c perfmgr/export/http_tls.h \
	perfmgr/export/microhttpd.h
else
libtriadexport_la_SOURCES += perfmgr/export/http_absent.c
endif

# Profile files, which triadctl reads and writes as well.
AM_CPPFLAGS += $(ZSTD_CFLAGS)
libtriad_la_LIBADD += $(ZSTD_LIBS)
libtriad_la_SOURCES += \
	perfmgr/export/frame_reader.c perfmgr/export/frame_reader.h \
	perfmgr/export/frame_writer.c perfmgr/export/frame_writer.h \
	perfmgr/export/profile_file.c perfmgr/export/profile_file.h \
	perfmgr/export/profile_old.c perfmgr/export/profile_old.h \
	perfmgr/export/profile_writer.c perfmgr/export/profile_writer.h \
	perfmgr/export/zstd_frame.c perfmgr/export/zstd_frame.h
