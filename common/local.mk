# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriad.la: everything without OpenSM, for the plugin, triadctl and the tests.
noinst_LTLIBRARIES += libtriad.la

libtriad_la_SOURCES = \
	common/address.c \
	common/clock.c \
	common/command.c \
	common/command_help.c \
	common/command_port.c \
	common/command_table.c common/command_table.h \
	common/conf.c \
	common/conf_keys.c common/conf_keys.h \
	common/conf_parse.c \
	common/conf_table.c \
	common/conf_value.c common/conf_value.h \
	common/control.c \
	common/diag.c \
	common/fabric.c \
	common/file.c \
	common/file_trust.c \
	common/line_file.c \
	common/json.c \
	common/lists.c \
	common/log.c \
	common/output.c \
	common/recent.c common/recent.h \
	common/text.c common/text.h \
	common/thread.c \
	common/threshold.c
libtriad_la_LIBADD = $(GLIB_LIBS)
