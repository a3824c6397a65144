# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# InfiniBand's own things: the fabric, counters, MADs.
libtriad_la_SOURCES += \
	ib/ber_target.c ib/ber_target.h \
	ib/cable.c ib/cable.h \
	ib/cable_info.c ib/cable_info.h ib/mad_get.h \
	ib/counter.c ib/counter.h \
	ib/detail.c ib/detail.h \
	ib/device_info.c ib/device_info.h \
	ib/fabric.c ib/fabric_parts.h ib/fabric_build.c \
	ib/link.c ib/link.h \
	ib/mad_requests.c ib/mad_requests.h \
	ib/node_choice.c ib/node_choice.h \
	ib/node_label.c ib/node_label.h \
	ib/node_map.c ib/node_map.h \
	ib/partitions.c ib/partitions.h \
	ib/pma.c ib/pma.h \
	ib/port_condition.c ib/port_condition.h \
	ib/rates.c ib/rates.h \
	ib/recent.c ib/recent.h \
	ib/route.c ib/route.h \
	ib/sa_mad.c ib/sa_mad.h \
	ib/sa_topology.c ib/sa_topology.h \
	ib/slow_links.c ib/slow_links.h \
	ib/smp_mad.c ib/smp_mad.h
