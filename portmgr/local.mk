# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadelection.la: who is master, who may enforce; pure.
noinst_LTLIBRARIES += libtriadelection.la
libtriadelection_la_SOURCES =

# libtriadcluster.la: how those that elect reach each other, with threads and sockets but
# without OpenSM.
noinst_LTLIBRARIES += libtriadcluster.la
libtriadcluster_la_CFLAGS = $(AM_CFLAGS) $(NETTLE_CFLAGS) $(COROSYNC_CFLAGS)
libtriadcluster_la_LIBADD = $(NETTLE_LIBS) $(COROSYNC_LIBS)
libtriadcluster_la_SOURCES = \
	portmgr/cluster/cluster.h
