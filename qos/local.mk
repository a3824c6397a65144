# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadqos.la: the QoS policy and what follows from it, for the plugin, triadctl and
# the tests; no OpenSM.
noinst_LTLIBRARIES += libtriadqos.la
libtriadqos_la_CFLAGS = $(AM_CFLAGS) $(XML_CFLAGS)
libtriadqos_la_LIBADD = $(XML_LIBS)
libtriadqos_la_SOURCES =

# The policy as its file says it.
libtriadqos_la_SOURCES += \
	qos/policy/arena.c qos/policy/arena.h \
	qos/policy/policy.c qos/policy/policy.h \
	qos/policy/policy_build.c qos/policy/policy_build.h \
	qos/policy/policy_elements.c qos/policy/policy_report.c \
	qos/policy/policy_check.c \
	qos/policy/policy_file.c \
	qos/policy/policy_items.c qos/policy/policy_items.h \
	qos/policy/policy_parse.c \
	qos/policy/policy_table.c qos/policy/policy_table.h \
	qos/policy/policy_text.c \
	qos/policy/policy_ulps.c \
	qos/policy/policy_value.c
if HAVE_XML
libtriadqos_la_SOURCES += qos/policy/policy_xml.c
else
libtriadqos_la_SOURCES += qos/policy/policy_xml_absent.c
endif

# Which rule of it a request matches.
libtriadqos_la_SOURCES += \
	qos/rules/classifier.c qos/rules/classifier.h \
	qos/rules/classifier_compile.c \
	qos/rules/classifier_parts.h \
	qos/rules/classifier_sets.c \
	qos/rules/membership.c qos/rules/membership.h \
	qos/rules/node_names.c qos/rules/node_names.h \
	qos/rules/partition_names.c \
	qos/rules/rule_sets.c qos/rules/rule_sets.h

# The tables that its scopes make.
libtriadqos_la_SOURCES += \
	qos/setup/scopes.c \
	qos/setup/scopes_classes.c \
	qos/setup/scopes_pkeys.c \
	qos/setup/segments.c qos/setup/segments.h \
	qos/setup/setup.c qos/setup/setup.h \
	qos/setup/setup_groups.c \
	qos/setup/setup_parts.h

# What they would change in a fabric.
libtriadqos_la_SOURCES += \
	qos/setup/setup_findings.c \
	qos/setup/setup_fits.c \
	qos/setup/setup_paths.c \
	qos/setup/setup_credit.c qos/setup/setup_credit.h \
	qos/setup/setup_plan.c qos/setup/setup_plan.h \
	qos/setup/setup_plan_parts.h \
	qos/setup/setup_text.c \
	qos/setup/desired.c qos/setup/desired.h \
	qos/setup/kept_tables.c qos/setup/kept_tables.h \
	qos/setup/port_tables.c qos/setup/port_tables.h \
	qos/setup/routes.c qos/setup/routes.h

# Paths through the fabric, and answers to requests for them.
libtriadqos_la_SOURCES += \
	qos/answer.c qos/answer.h \
	qos/answer_multi.c \
	qos/answer_pair.c \
	qos/answer_parts.h \
	qos/clients.c qos/clients.h \
	qos/decide.c qos/decide.h \
	qos/explain.c qos/explain.h \
	qos/latency.c qos/latency.h \
	qos/paths.c qos/paths.h \
	qos/pkey_sets.c qos/pkey_sets.h \
	qos/request.c qos/request.h \
	qos/restrict.c qos/restrict.h
