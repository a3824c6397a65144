/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What OpenSM's QoS pass takes when nothing is to be sent: with the hooks of whatever
 * plugin is before the routing engine, and without. */
#ifndef TRIAD_TESTS_BENCH_PASSBENCH_H
#define TRIAD_TESTS_BENCH_PASSBENCH_H

#include <stdio.h>

#include "plugin/opensm.h"

/* 'n' passes of each, in turns; writes JSON: the times in ns, and SMPs that were sent,
 * which should be none.  At rest: OpenSM must not sweep meanwhile. */
void triad_passbench(osm_opensm_t *osm, unsigned long n, FILE *out);

#endif
