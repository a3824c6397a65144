# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What devices have, compared with what the SM wants; pure.
libtriad_la_SOURCES += \
	audit/audit.c audit/audit.h \
	audit/tree.c audit/tree.h
