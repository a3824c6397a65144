# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Links that go down and up again and again, and traps that come too often; pure.
libtriad_la_SOURCES += \
	damp/copy.c damp/copy.h \
	damp/links.c damp/links.h \
	damp/ports.c damp/ports.h \
	damp/traps.c damp/traps.h
