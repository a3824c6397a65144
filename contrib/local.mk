# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# For those who run Prometheus and Grafana, on whatever host, policies to begin with,
# units; installed as examples.
triadprometheusdir = $(pkgdatadir)/prometheus
dist_triadprometheus_DATA = \
	contrib/prometheus/triad-alerts.rules.yml \
	contrib/prometheus/triad-recording.rules.yml
triadgrafanadir = $(pkgdatadir)/grafana
dist_triadgrafana_DATA = contrib/grafana/triad.json
EXTRA_DIST += contrib/prometheus/triad-rules.test.yml
triadqosdir = $(pkgdatadir)/qos
dist_triadqos_DATA = contrib/qos/qos-policy.conf contrib/qos/qos-policy.xml
triadsystemddir = $(pkgdatadir)/systemd
dist_triadsystemd_DATA = contrib/systemd/triad-agent.service contrib/systemd/triad-check.service
