/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plugin, as if built for another version of OpenSM. */
#include "plugin/opensm.h"

#undef OSM_VERSION
#define OSM_VERSION "OpenSM 3.2.1"

#include "plugin/entry.c"
