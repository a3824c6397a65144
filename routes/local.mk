# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Routes proven: what the forwarding tables do, for all pairs; pure.
libtriad_la_SOURCES += \
	routes/added.c routes/added.h \
	routes/crossing.c routes/crossing.h \
	routes/check.c routes/check.h \
	routes/check_result.c \
	routes/credit.c routes/credit.h \
	routes/graph.c routes/graph.h \
	routes/lanes.c routes/lanes.h \
	routes/layout.c routes/layout.h \
	routes/multicast.c routes/multicast.h \
	routes/tree.c routes/tree.h \
	routes/path.c routes/path.h \
	routes/repair.c routes/repair.h \
	routes/repair_multicast.c routes/repair_multicast.h \
	routes/without.c routes/without.h
