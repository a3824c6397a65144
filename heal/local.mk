# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Bad links: which are to be taken out of routing, and how they come back; pure.
libtriad_la_SOURCES += \
	heal/course.c heal/course.h
