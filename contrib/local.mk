# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# For those who run Prometheus and Grafana, on whatever host, and policies to begin with:
# installed as examples.
triadprometheusdir = $(pkgdatadir)/prometheus
dist_triadprometheus_DATA = \
	contrib/prometheus/alertmanager.example.yml \
	contrib/prometheus/triad-alerts.rules.yml \
	contrib/prometheus/triad-recording.rules.yml
triadgrafanadir = $(pkgdatadir)/grafana
dist_triadgrafana_DATA = \
	contrib/grafana/triad-host.json \
	contrib/grafana/triad-links.json \
	contrib/grafana/triad.json
EXTRA_DIST += contrib/prometheus/triad-rules.test.yml
triadqosdir = $(pkgdatadir)/qos
dist_triadqos_DATA = contrib/qos/qos-policy.conf contrib/qos/qos-policy.xml
# Units that nobody starts before an administrator says so.
dist_systemdsystemunit_DATA = contrib/systemd/triad-check.service
if HAVE_IBNETDISC
dist_systemdsystemunit_DATA += contrib/systemd/triad-agent.service
endif
# Another instance of the same for each port.
if HAVE_TRIADD
dist_systemdsystemunit_DATA += contrib/systemd/triadd.service
nodist_systemdsystemunit_DATA = contrib/systemd/triadd@.service
sysusersdir = $(prefix)/lib/sysusers.d
dist_sysusers_DATA = contrib/sysusers/triadd.conf
endif
CLEANFILES += contrib/systemd/triadd@.service
contrib/systemd/triadd@.service: contrib/systemd/triadd.service
	$(AM_V_GEN)$(MKDIR_P) contrib/systemd && sed -e '/^# Where several OpenSMs/d' \
		-e '/^Description=/s/(triadd)/(triadd, port %i)/' \
		-e 's/env triadd/& --port-guid %i/' $(srcdir)/contrib/systemd/triadd.service >$@
logrotatedir = $(sysconfdir)/logrotate.d
dist_logrotate_DATA = contrib/logrotate/osmtriad
# Where shells look for completions of their own accord.
completion_scripts = \
	contrib/completion/triadctl.bash \
	contrib/completion/triadctl.fish \
	contrib/completion/triadctl.zsh
EXTRA_DIST += $(completion_scripts)
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
# Completions have the names that the shells look for.
install-data-local:
	$(MKDIR_P) "$(DESTDIR)$(sysconfdir)/osmtriad" \
		"$(DESTDIR)$(localstatedir)/lib/osmtriad" "$(DESTDIR)$(localstatedir)/log/osmtriad"
	$(MKDIR_P) "$(DESTDIR)$(bashcompletiondir)" "$(DESTDIR)$(zshcompletiondir)" \
		"$(DESTDIR)$(fishcompletiondir)"
	$(INSTALL_DATA) $(srcdir)/contrib/completion/triadctl.bash \
		"$(DESTDIR)$(bashcompletiondir)/triadctl"
	$(INSTALL_DATA) $(srcdir)/contrib/completion/triadctl.zsh \
		"$(DESTDIR)$(zshcompletiondir)/_triadctl"
	$(INSTALL_DATA) $(srcdir)/contrib/completion/triadctl.fish \
		"$(DESTDIR)$(fishcompletiondir)/triadctl.fish"
uninstall-local:
	rm -f "$(DESTDIR)$(bashcompletiondir)/triadctl" \
		"$(DESTDIR)$(zshcompletiondir)/_triadctl" \
		"$(DESTDIR)$(fishcompletiondir)/triadctl.fish"
