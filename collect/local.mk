# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadcollect.la: collectors beyond one host, without descriptors or OpenSM.
noinst_LTLIBRARIES += libtriadcollect.la

libtriadcollect_la_SOURCES = \
	collect/gather.c collect/gather.h \
	collect/head.c \
	collect/member.c collect/member.h \
	collect/member_parts.h \
	collect/member_handout.c \
	collect/member_tree.c \
	collect/roster.c collect/roster.h \
	collect/reach.c collect/reach.h \
	collect/handout.c collect/handout.h \
	collect/data.c collect/data.h \
	collect/feed.c collect/feed.h \
	collect/merge.c collect/merge.h \
	collect/varint.h \
	collect/claims.h \
	collect/message.h
libtriadcollect_la_LIBADD = libtriad.la $(ZSTD_LIBS)

# What carries it, with threads and sockets, but without OpenSM.
if HAVE_NATS
noinst_LTLIBRARIES += libtriadbus.la

libtriadbus_la_SOURCES = \
	collect/nats/bus.c collect/nats/bus.h \
	collect/nats/queue.c collect/nats/queue.h
libtriadbus_la_CFLAGS = $(AM_CFLAGS) $(NATS_CFLAGS)
libtriadbus_la_LIBADD = libtriadcollect.la $(NATS_LIBS)
endif
