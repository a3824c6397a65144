# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
bin_PROGRAMS += triadctl

triadctl_SOURCES = \
	cli/client.c cli/client.h \
	cli/find.c cli/find.h \
	cli/triadctl.c
triadctl_LDADD = libtriad.la
