# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
bin_PROGRAMS += triadctl

triadctl_SOURCES = \
	cli/anonym.c cli/anonym.h \
	cli/ask.c cli/ask.h \
	cli/bundle.c \
	cli/bundle_check.c \
	cli/bundle_command.c cli/bundle_command.h \
	cli/bundle_files.c \
	cli/bundle_gather.c cli/bundle_gather.h \
	cli/bundle_names.c cli/bundle_names.h \
	cli/bundle_spool.c cli/bundle_spool.h \
	cli/cabling_check.c \
	cli/cabling_command.c cli/cabling_command.h \
	cli/cabling_html.c \
	cli/cabling_live.c \
	cli/cabling_parts.h \
	cli/cabling_watch.c \
	cli/child.c cli/child.h \
	cli/client.c cli/client.h \
	cli/complete.c cli/complete.h \
	cli/complete_nodes.c cli/complete_nodes.h \
	cli/config_check.c cli/config_check.h \
	cli/election_check.c \
	cli/election_command.c cli/election_command.h \
	cli/find.c cli/find.h \
	cli/json_rows.c cli/json_rows.h \
	cli/local_time.c cli/local_time.h \
	cli/other_version.c cli/other_version.h \
	cli/port_check.c \
	cli/port_command.c cli/port_command.h \
	cli/port_files.c \
	cli/port_snapshot.c \
	cli/profile_command.c cli/profile_command.h \
	cli/profile_inputs.c cli/profile_inputs.h \
	cli/profile_links.c cli/profile_links.h \
	cli/profile_merge.c \
	cli/profile_progress.c cli/profile_progress.h \
	cli/profile_report.c cli/profile_report.h \
	cli/profile_report_svg.c \
	cli/profile_report_text.c \
	cli/profile_stats.c cli/profile_stats.h \
	cli/qos_check.c \
	cli/qos_command.c cli/qos_command.h \
	cli/reply.c cli/reply.h \
	cli/screen.c cli/screen.h \
	cli/script.c cli/script.h \
	cli/secrets.c cli/secrets.h \
	cli/setup_command.c cli/setup_command.h \
	cli/slurm_job.c cli/slurm_job.h \
	cli/table.c cli/table.h \
	cli/table_fit.c cli/table_fit.h \
	cli/table_order.c cli/table_parts.h cli/table_write.c \
	cli/triadctl.c \
	cli/what_if_command.c cli/what_if_command.h
nodist_triadctl_SOURCES = cli/completion_scripts.h
triadctl_LDADD = libtriadcabling.la libtriadportmgr.la libtriadexpected.la libtriadqos.la libtriadprofile.la libtriad.la $(GLIB_LIBS) $(ZSTD_LIBS) $(SMARTCOLS_LIBS) $(ARCHIVE_LIBS)

# What 'triadctl setup' runs.
dist_pkglibexec_SCRIPTS = cli/opensm_conf.awk cli/setup

# The scripts that 'triadctl completion' prints (contrib/local.mk), as strings in C.
cli/completion_scripts.h: \
		contrib/completion/triadctl.bash contrib/completion/triadctl.fish \
		contrib/completion/triadctl.zsh
	$(AM_V_GEN)$(MKDIR_P) cli && for shell in bash fish zsh; do \
		echo "static const char $${shell}_script[] ="; \
		$(SED) -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' \
			$(srcdir)/contrib/completion/triadctl.$$shell; \
		echo ";"; \
	done >$@.new && mv $@.new $@
cli/complete.$(OBJEXT): cli/completion_scripts.h
CLEANFILES += cli/completion_scripts.h
