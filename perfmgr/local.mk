# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
libtriad_la_SOURCES += \
	perfmgr/collector.c perfmgr/collector.h perfmgr/collector_parts.h \
	perfmgr/collector_readings.c perfmgr/collector_sweep.c \
	perfmgr/details.c perfmgr/details.h \
	perfmgr/devices/devices.c perfmgr/devices/devices.h \
	perfmgr/devices/fault.c perfmgr/devices/fault.h \
	perfmgr/devices/known.c perfmgr/devices/known.h \
	perfmgr/devices/speeds.c perfmgr/devices/speeds.h \
	perfmgr/engine.c perfmgr/engine.h \
	perfmgr/engine_plausible.c \
	perfmgr/reset_log.c perfmgr/reset_log.h \
	perfmgr/formats/alertmanager.c perfmgr/formats/alertmanager.h \
	perfmgr/formats/change_filter.c perfmgr/formats/change_filter.h \
	perfmgr/formats/exposition.c perfmgr/formats/exposition.h \
	perfmgr/formats/http_request.c perfmgr/formats/http_request.h \
	perfmgr/formats/lost_links.c perfmgr/formats/lost_links.h \
	perfmgr/formats/metrics.c perfmgr/formats/metrics.h \
	perfmgr/formats/metrics_details.c \
	perfmgr/formats/metrics_devices.c \
	perfmgr/formats/metrics_families.c perfmgr/formats/metrics_families.h \
	perfmgr/formats/metrics_lines.c \
	perfmgr/formats/metrics_parts.h \
	perfmgr/formats/profile.c perfmgr/formats/profile.h \
	perfmgr/formats/profile_section.c perfmgr/formats/profile_section.h \
	perfmgr/formats/silence_file.c perfmgr/formats/silence_file.h \
	perfmgr/formats/sampled_request.c perfmgr/formats/sampled_request.h \
	perfmgr/formats/sflow.c perfmgr/formats/sflow.h \
	perfmgr/formats/sflow_schedule.c perfmgr/formats/sflow_schedule.h \
	perfmgr/formats/alert_outbox.c perfmgr/formats/alert_outbox.h \
	perfmgr/groups.c perfmgr/groups.h \
	perfmgr/rows.c perfmgr/rows.h \
	perfmgr/sweep/sweep_agents.c perfmgr/sweep/sweep_agents.h \
	perfmgr/sweep/answers.c perfmgr/sweep/answers.h \
	perfmgr/sweep/plan.c perfmgr/sweep/plan.h \
	perfmgr/sweep/rounds.c perfmgr/sweep/rounds.h \
	perfmgr/sweep/sweep.c perfmgr/sweep/sweep.h \
	perfmgr/sweep/waits.c perfmgr/sweep/waits.h \
	perfmgr/sweep/window.h \
	perfmgr/timeline/event.c perfmgr/timeline/event.h \
	perfmgr/timeline/reader.c perfmgr/timeline/reader.h \
	perfmgr/timeline/timeline.c perfmgr/timeline/timeline.h \
	perfmgr/view.c perfmgr/view.h \
	perfmgr/watch/alert_findings.c perfmgr/watch/alert_findings.h \
	perfmgr/watch/alert_store.c perfmgr/watch/alert_store.h \
	perfmgr/watch/alert_kind.c perfmgr/watch/alert_kind.h \
	perfmgr/watch/alert_text.c perfmgr/watch/alert_text.h \
	perfmgr/watch/alert_why.c perfmgr/watch/alert_why.h \
	perfmgr/watch/alerts.c perfmgr/watch/alerts.h \
	perfmgr/watch/alerts_adopt.c \
	perfmgr/watch/alerts_places.c \
	perfmgr/watch/alerts_explain.c \
	perfmgr/watch/alerts_restore.c \
	perfmgr/watch/alerts_parts.h \
	perfmgr/watch/alerts_take.c \
	perfmgr/watch/ber.c perfmgr/watch/ber.h \
	perfmgr/watch/detail_histogram.c perfmgr/watch/detail_histogram.h \
	perfmgr/watch/detail_limits.c perfmgr/watch/detail_limits.h \
	perfmgr/watch/bers.c perfmgr/watch/bers.h \
	perfmgr/watch/changes.c perfmgr/watch/changes.h \
	perfmgr/watch/histogram.c perfmgr/watch/histogram.h \
	perfmgr/watch/histograms.c perfmgr/watch/histograms.h \
	perfmgr/watch/limits.c perfmgr/watch/limits.h \
	perfmgr/watch/links.c perfmgr/watch/links.h \
	perfmgr/watch/losses.c perfmgr/watch/losses.h \
	perfmgr/watch/finders.c perfmgr/watch/finders.h \
	perfmgr/watch/silences.c perfmgr/watch/silences.h \
	perfmgr/watch/slow_finder.c perfmgr/watch/slow_finder.h \
	perfmgr/watch/sm_notes.c perfmgr/watch/sm_notes.h \
	perfmgr/watch/watch.c perfmgr/watch/watch.h
