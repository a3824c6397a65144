# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
libtriad_la_SOURCES += \
	perfmgr/agents.c perfmgr/agents.h \
	perfmgr/alert_store.c perfmgr/alert_store.h \
	perfmgr/alert_text.c perfmgr/alert_text.h \
	perfmgr/alerts.c perfmgr/alerts.h \
	perfmgr/answers.c perfmgr/answers.h \
	perfmgr/collector.c perfmgr/collector.h \
	perfmgr/counter.c perfmgr/counter.h \
	perfmgr/engine.c perfmgr/engine.h \
	perfmgr/exposition.c perfmgr/exposition.h \
	perfmgr/groups.c perfmgr/groups.h \
	perfmgr/histogram.c perfmgr/histogram.h \
	perfmgr/histograms.c perfmgr/histograms.h \
	perfmgr/http_request.c perfmgr/http_request.h \
	perfmgr/limits.c perfmgr/limits.h \
	perfmgr/losses.c perfmgr/losses.h \
	perfmgr/metrics.c perfmgr/metrics.h \
	perfmgr/plan.c perfmgr/plan.h \
	perfmgr/pma.c perfmgr/pma.h \
	perfmgr/rows.c perfmgr/rows.h \
	perfmgr/sa_topology.c perfmgr/sa_topology.h \
	perfmgr/sflow.c perfmgr/sflow.h \
	perfmgr/sflow_schedule.c perfmgr/sflow_schedule.h \
	perfmgr/sweep.c perfmgr/sweep.h \
	perfmgr/view.c perfmgr/view.h \
	perfmgr/watch.c perfmgr/watch.h \
	perfmgr/window.h
