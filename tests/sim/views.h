/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fabrics with all kinds of nodes, and views of them with counters, for tests of what
 * uses a view.  The same seed gives the same fabric. */
#ifndef TRIAD_TESTS_SIM_VIEWS_H
#define TRIAD_TESTS_SIM_VIEWS_H

#include <stdint.h>

#include "perfmgr/view.h"

/* 'n_switches' with 'n_hosts' each, and 'n_spare' ports without a link: HCAs and a few
 * routers, of one or two ports; odd names, links of every width and speed. */
struct triad_fabric *fabric_mixed(
	unsigned n_switches, unsigned n_hosts, unsigned n_spare, uint64_t seed);

/* The ports of 'fabric' in 'engine', read or not, of agents with more or fewer
 * counters; one reference.  Nodes whose names begin with "skip-" are in a group that is
 * left out. */
struct triad_view *view_mixed(
	struct triad_engine *engine, struct triad_fabric *fabric, uint64_t seed);

/* Adds to all counters of all ports that have been read. */
void view_count(struct triad_engine *engine, const struct triad_view *view,
	uint64_t more, uint64_t now_us);

#endif
