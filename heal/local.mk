# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Bad links: what it costs to be without them, what to do about each, how they come back; pure.
libtriad_la_SOURCES += \
	heal/calm.c heal/calm.h \
	heal/capacity.c heal/capacity.h \
	heal/course.c heal/course.h \
	heal/data_test.c heal/data_test.h \
	heal/evidence.c heal/evidence.h \
	heal/finding.h \
	heal/past.c heal/past.h \
	heal/plan.c heal/plan.h \
	heal/words.c
