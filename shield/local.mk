# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Which requests OpenSM's SA must not get; pure.
libtriad_la_SOURCES += \
	shield/check.c shield/check.h \
	shield/rate.c shield/rate.h
