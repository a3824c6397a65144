# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadexport.la: what sends counters elsewhere, with threads and sockets but without
# OpenSM, for the plugin and the tests.
noinst_LTLIBRARIES += libtriadexport.la
libtriadexport_la_SOURCES = \
	perfmgr/export/sampler.c perfmgr/export/sampler.h \
	perfmgr/export/sflow_sender.c perfmgr/export/sflow_sender.h \
	perfmgr/export/udp.c perfmgr/export/udp.h

# libtriadprofile.la: profile files, for triadd, triadctl and the tests.
AM_CPPFLAGS += $(ZSTD_CFLAGS)
noinst_LTLIBRARIES += libtriadprofile.la
libtriadprofile_la_LIBADD = $(ZSTD_LIBS)
libtriadprofile_la_SOURCES = \
	perfmgr/export/frame_reader.c perfmgr/export/frame_reader.h \
	perfmgr/export/frame_writer.c perfmgr/export/frame_writer.h \
	perfmgr/export/profile_file.c perfmgr/export/profile_file.h \
	perfmgr/export/profile_old.c perfmgr/export/profile_old.h \
	perfmgr/export/zstd_frame.c perfmgr/export/zstd_frame.h
