# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadqos.la: the QoS policy and what follows from it, for the plugin, triadctl and
# the tests; no OpenSM.
noinst_LTLIBRARIES += libtriadqos.la
libtriadqos_la_SOURCES = \
	qos/policy.c qos/policy.h
libtriadqos_la_CFLAGS = $(AM_CFLAGS) $(XML_CFLAGS)
libtriadqos_la_LIBADD = $(XML_LIBS)
