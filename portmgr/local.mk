# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadelection.la: who is master, who may enforce; pure.
noinst_LTLIBRARIES += libtriadelection.la
libtriadelection_la_SOURCES = \
	portmgr/election/blacklist.c portmgr/election/blacklist.h \
	portmgr/election/divided.c portmgr/election/divided.h \
	portmgr/election/election.c portmgr/election/election.h \
	portmgr/election/election_lease.c \
	portmgr/election/election_members.c \
	portmgr/election/election_parts.h \
	portmgr/election/election_states.c \
	portmgr/election/fabric_watch.c portmgr/election/fabric_watch.h \
	portmgr/election/port_health.c portmgr/election/port_health.h \
	portmgr/election/message.c portmgr/election/message.h \
	portmgr/election/permission.c portmgr/election/permission.h \
	portmgr/election/priority.c portmgr/election/priority.h \
	portmgr/election/stored.c portmgr/election/stored.h

# libtriadexpected.la: how the fabric should be, and what differs; pure.
noinst_LTLIBRARIES += libtriadexpected.la
libtriadexpected_la_SOURCES = \
	portmgr/expected/expected.c portmgr/expected/expected.h \
	portmgr/expected/expected_index.c \
	portmgr/expected/expected_pairs.c \
	portmgr/expected/expected_parts.h \
	portmgr/expected/expected_row.c \
	portmgr/expected/netdiscover.c portmgr/expected/netdiscover.h \
	portmgr/expected/netdiscover_line.c portmgr/expected/netdiscover_line.h \
	portmgr/expected/placed.c portmgr/expected/placed.h \
	portmgr/expected/remote.c portmgr/expected/remote.h \
	portmgr/expected/write.c portmgr/expected/write.h

# libtriadcluster.la: how those that elect reach each other, with threads and sockets but
# without OpenSM.
noinst_LTLIBRARIES += libtriadcluster.la
libtriadcluster_la_CFLAGS = $(AM_CFLAGS) $(NETTLE_CFLAGS) $(COROSYNC_CFLAGS)
libtriadcluster_la_LIBADD = $(NETTLE_LIBS) $(COROSYNC_LIBS)
libtriadcluster_la_SOURCES = \
	portmgr/cluster/alone.c \
	portmgr/cluster/carrier.h \
	portmgr/cluster/cluster.h \
	portmgr/cluster/fragments.c portmgr/cluster/fragments.h \
	portmgr/cluster/group.c portmgr/cluster/group.h \
	portmgr/cluster/key_file.c portmgr/cluster/key_file.h \
	portmgr/cluster/peers.c \
	portmgr/cluster/seal.c portmgr/cluster/seal.h \
	portmgr/cluster/transport.c portmgr/cluster/transport.h \
	portmgr/cluster/udp.c

# Without Corosync it says so.
if HAVE_COROSYNC
libtriadcluster_la_SOURCES += portmgr/cluster/corosync.c
else
libtriadcluster_la_SOURCES += portmgr/cluster/corosync_stub.c
endif

# What must stay reachable is asked by others, too.
libtriad_la_SOURCES += \
	portmgr/plan/guard.c portmgr/plan/guard.h \
	portmgr/plan/guard_parts.h \
	portmgr/plan/guard_walk.c

# libtriadportmgr.la: what is done to ports, and why; what the members know of it in
# common.
noinst_LTLIBRARIES += libtriadportmgr.la
libtriadportmgr_la_SOURCES = \
	portmgr/history/journal.c portmgr/history/journal.h \
	portmgr/history/journal_reader.c portmgr/history/journal_reader.h \
	portmgr/history/history.c portmgr/history/history.h \
	portmgr/history/record.c portmgr/history/record.h \
	portmgr/plan/agenda.c portmgr/plan/agenda.h \
	portmgr/plan/overrides.c portmgr/plan/overrides.h \
	portmgr/plan/last_act.h \
	portmgr/plan/missing.c portmgr/plan/missing.h \
	portmgr/plan/plan.c portmgr/plan/plan.h \
	portmgr/plan/plan_parts.h \
	portmgr/plan/plan_text.c \
	portmgr/plan/plan_desired.c \
	portmgr/plan/port_row.c portmgr/plan/port_row.h \
	portmgr/plan/seen_sms.c portmgr/plan/seen_sms.h \
	portmgr/replica/replica.c portmgr/replica/replica.h \
	portmgr/replica/replica_config.c \
	portmgr/replica/replica_message.c portmgr/replica/replica_message.h \
	portmgr/replica/replica_parts.h \
	portmgr/sa/sa_copier.c portmgr/sa/sa_copier.h \
	portmgr/sa/sa_file.c portmgr/sa/sa_file.h \
	portmgr/sa/sa_message.c portmgr/sa/sa_message.h \
	portmgr/sa/sa_record.c portmgr/sa/sa_record.h \
	portmgr/sa/sa_role.c portmgr/sa/sa_role.h \
	portmgr/sa/sa_set.c portmgr/sa/sa_set.h \
	portmgr/test/port_test.c portmgr/test/port_test.h
