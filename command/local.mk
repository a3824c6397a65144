# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What triadctl and the plugin say to each other, and how commands are parsed.
libtriad_la_SOURCES += \
	command/command.c \
	command/command_help.c \
	command/command_table.c command/command_table.h \
	command/control.c \
	command/output.c \
	command/resource.c command/resource.h \
	command/versions.c command/versions.h \
	command/parser.c command/parser.h \
	command/table.c
