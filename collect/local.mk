# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadcollect.la: collectors beyond one host, without descriptors or OpenSM.
noinst_LTLIBRARIES += libtriadcollect.la

libtriadcollect_la_SOURCES = \
	collect/claims.h \
	collect/message.h
libtriadcollect_la_LIBADD = libtriad.la
