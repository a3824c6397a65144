# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# triad.conf.
libtriad_la_SOURCES += \
	conf/conf.c \
	conf/conf_keys.c conf/conf_keys.h \
	conf/conf_file.c \
	conf/conf_parse.c \
	conf/conf_table.c \
	conf/conf_value.c conf/conf_value.h \
	conf/lists.c \
	conf/threshold.c
