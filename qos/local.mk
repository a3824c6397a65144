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

# Paths through the fabric, and answers to requests for them.
libtriadqos_la_SOURCES += \
	qos/answer.c qos/answer.h \
	qos/answer_multi.c \
	qos/answer_parts.h \
	qos/clients.c qos/clients.h \
	qos/decide.c qos/decide.h \
	qos/explain.c qos/explain.h \
	qos/latency.c qos/latency.h \
	qos/paths.c qos/paths.h \
	qos/pkey_sets.c qos/pkey_sets.h \
	qos/rates.c qos/rates.h \
	qos/request.c qos/request.h \
	qos/restrict.c qos/restrict.h
