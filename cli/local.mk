# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
bin_PROGRAMS += triadctl

triadctl_SOURCES = \
	cli/client.c cli/client.h \
	cli/election_check.c \
	cli/election_command.c cli/election_command.h \
	cli/find.c cli/find.h \
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
	cli/triadctl.c
triadctl_LDADD = libtriadexpected.la libtriadqos.la libtriad.la $(GLIB_LIBS) $(ZSTD_LIBS) -lm
