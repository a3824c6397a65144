# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libtriadcabling.la: a cabling plan, and what differs from it; pure.
noinst_LTLIBRARIES += libtriadcabling.la
libtriadcabling_la_SOURCES = \
	cabling/compare.c cabling/compare.h \
	cabling/compare_parts.h \
	cabling/describe.c cabling/describe.h \
	cabling/paths.c \
	cabling/plan.c cabling/plan.h \
	cabling/plan_csv.c cabling/plan_csv.h \
	cabling/plan_read.c cabling/plan_read.h \
	cabling/progress.c cabling/progress.h \
	cabling/resolve.c
