# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadqos.la: the QoS policy and what follows from it, for the plugin, triadctl and
# the tests; no OpenSM.
noinst_LTLIBRARIES += libtriadqos.la
libtriadqos_la_CFLAGS = $(AM_CFLAGS) $(XML_CFLAGS)
libtriadqos_la_LIBADD = $(XML_LIBS)
libtriadqos_la_SOURCES =

# The policy as its file says it.
libtriadqos_la_SOURCES += \
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

# Which rule of it a request matches.
libtriadqos_la_SOURCES += \
	qos/classifier.c qos/classifier.h \
	qos/classifier_compile.c \
	qos/classifier_parts.h \
	qos/classifier_sets.c \
	qos/membership.c qos/membership.h \
	qos/node_names.c qos/node_names.h \
	qos/partition_names.c \
	qos/rule_sets.c qos/rule_sets.h
