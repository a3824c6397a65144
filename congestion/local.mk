# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Congestion explained: roots, what waits because of them, and whose packets; pure.
libtriad_la_SOURCES += \
	congestion/estimate.c congestion/estimate.h \
	congestion/hosts.c \
	congestion/kinds.c \
	congestion/matrix.c congestion/matrix.h \
	congestion/planes.c congestion/planes.h \
	congestion/roots.c congestion/roots.h \
	congestion/roots_parts.h \
	congestion/track.c congestion/track.h \
	congestion/turns.c congestion/turns.h
