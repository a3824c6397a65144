# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadqos.la: the QoS policy and what follows from it, for the plugin, triadctl and
# the tests; no OpenSM.
noinst_LTLIBRARIES += libtriadqos.la
libtriadqos_la_SOURCES = \
	qos/arena.c qos/arena.h \
	qos/policy.c qos/policy.h \
	qos/policy_build.c qos/policy_build.h \
	qos/policy_check.c \
	qos/policy_file.c \
	qos/policy_parse.c \
	qos/policy_table.c qos/policy_table.h \
	qos/policy_text.c \
	qos/policy_ulps.c \
	qos/policy_value.c \
	qos/policy_xml.c
libtriadqos_la_CFLAGS = $(AM_CFLAGS) $(XML_CFLAGS)
libtriadqos_la_LIBADD = $(XML_LIBS)
