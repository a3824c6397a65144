# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
libtriad_la_SOURCES += \
	perfmgr/agents.c perfmgr/agents.h \
	perfmgr/answers.c perfmgr/answers.h \
	perfmgr/collector.c perfmgr/collector.h \
	perfmgr/counter.c perfmgr/counter.h \
	perfmgr/engine.c perfmgr/engine.h \
	perfmgr/plan.c perfmgr/plan.h \
	perfmgr/pma.c perfmgr/pma.h \
	perfmgr/rows.c perfmgr/rows.h \
	perfmgr/sweep.c perfmgr/sweep.h \
	perfmgr/view.c perfmgr/view.h \
	perfmgr/window.h
