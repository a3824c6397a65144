/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random groups and scopes for tests, in a policy's XML.
 *
 * 'state' is that of the random numbers (tests/random.h): the same gives the same. */
#ifndef TRIAD_TESTS_SIM_SETUPS_H
#define TRIAD_TESTS_SIM_SETUPS_H

#include "triad/fabric.h"

/* A node's name of one to three words, of which there are few. */
void setup_random_name(char *name, size_t size, uint64_t *state);

/* Port groups "g0" and so on, of all sorts: nodes of 'fabric', names as above, some of
 * the 'partitions' (up to NULL).  The caller frees it. */
char *setup_random_groups(const struct triad_fabric *fabric, unsigned n,
	const char *const *partitions, uint64_t *state);

/* 'n' scopes about such groups.  The caller frees them. */
char *setup_random_sl2vl(unsigned n_groups, unsigned n, uint64_t *state);
char *setup_random_vlarb(unsigned n_groups, unsigned n, uint64_t *state);

#endif
