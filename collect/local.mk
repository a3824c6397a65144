# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadcollect.la: collectors beyond one host, without descriptors or OpenSM.
noinst_LTLIBRARIES += libtriadcollect.la

libtriadcollect_la_SOURCES = \
	collect/claims.c collect/claims.h \
	collect/claims_receive.c \
	collect/claims_parts.h \
	collect/claims_send.c \
	collect/claims_fabric.c \
	collect/claims_table.c \
	collect/claims_round.c \
	collect/data.c collect/data.h \
	collect/reporter.c collect/reporter.h \
	collect/detail_message.c collect/detail_message.h \
	collect/detail_reporter.c collect/detail_reporter.h \
	collect/gather.c collect/gather.h \
	collect/kept_histograms.c collect/kept_histograms.h \
	collect/kept_owners.c collect/kept_owners.h \
	collect/topology_message.c collect/topology_message.h \
	collect/incarnation.h \
	collect/member.c collect/member.h \
	collect/member_send.c \
	collect/member_receive.c \
	collect/member_topology.c \
	collect/member_partitions.c \
	collect/member_parts.h \
	collect/member_tree.c \
	collect/aggregator.c collect/aggregator.h \
	collect/aggregator_agents.c collect/aggregator_agents.h \
	collect/message.c collect/message.h \
	collect/distance.c collect/distance.h \
	collect/peers.c collect/peers.h \
	collect/varint.h

# What carries it, with threads and sockets, but without OpenSM.
noinst_LTLIBRARIES += libtriadbus.la
libtriadbus_la_SOURCES = collect/nats/repack.c collect/nats/repack.h
if HAVE_NATS
libtriadbus_la_SOURCES += \
	collect/nats/bus.c collect/nats/bus.h \
	collect/nats/queue.c collect/nats/queue.h
else
libtriadbus_la_SOURCES += collect/nats/bus_absent.c collect/nats/bus.h
endif
libtriadbus_la_CFLAGS = $(AM_CFLAGS) $(NATS_CFLAGS)
libtriadbus_la_LIBADD = $(NATS_LIBS) $(ZSTD_LIBS)
