# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
libtriad_la_SOURCES += \
	perfmgr/export/sflow_sender.c perfmgr/export/sflow_sender.h \
	perfmgr/export/udp.c perfmgr/export/udp.h
