# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadcollect.la: collectors beyond one host, without descriptors or OpenSM.
noinst_LTLIBRARIES += libtriadcollect.la

libtriadcollect_la_SOURCES = \
	collect/claims.c collect/claims.h \
	collect/claims_hear.c \
	collect/claims_parts.h \
	collect/claims_say.c \
	collect/claims_table.c \
	collect/claims_wave.c \
	collect/data.c collect/data.h \
	collect/feed.c collect/feed.h \
	collect/gather.c collect/gather.h \
	collect/handout.c collect/handout.h \
	collect/incarnation.h \
	collect/member.c collect/member.h \
	collect/member_handout.c \
	collect/member_partitions.c \
	collect/member_parts.h \
	collect/member_tree.c \
	collect/merge.c collect/merge.h \
	collect/merge_agents.c collect/merge_agents.h \
	collect/message.c collect/message.h \
	collect/reach.c collect/reach.h \
	collect/roster.c collect/roster.h \
	collect/varint.h
libtriadcollect_la_LIBADD = $(ZSTD_LIBS)

# What carries it, with threads and sockets, but without OpenSM.
noinst_LTLIBRARIES += libtriadbus.la
if HAVE_NATS
libtriadbus_la_SOURCES = \
	collect/nats/bus.c collect/nats/bus.h \
	collect/nats/queue.c collect/nats/queue.h
else
libtriadbus_la_SOURCES = collect/nats/bus_absent.c collect/nats/bus.h
endif
libtriadbus_la_CFLAGS = $(AM_CFLAGS) $(NATS_CFLAGS)
libtriadbus_la_LIBADD = $(NATS_LIBS)
