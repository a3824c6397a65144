# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
libtriad_la_SOURCES += \
	perfmgr/collector.c perfmgr/collector.h \
	perfmgr/counter.c perfmgr/counter.h \
	perfmgr/engine.c perfmgr/engine.h \
	perfmgr/pma.c perfmgr/pma.h \
	perfmgr/sweep.c perfmgr/sweep.h
