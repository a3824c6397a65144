/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The time of OpenSM's QoS pass when it has nothing to send: with the hooks that a
 * plugin has set in the routing engine, and without. */
#ifndef TRIAD_TESTS_BENCH_PASSBENCH_H
#define TRIAD_TESTS_BENCH_PASSBENCH_H

#include <stdio.h>

#include "plugin/opensm.h"

/* Runs 'n' passes of each, in turn; writes JSON: the times in ns, and the number of
 * SMPs sent, which should be 0.  OpenSM must not sweep meanwhile. */
void triad_passbench(osm_opensm_t *osm, unsigned long n, FILE *out);

#endif
