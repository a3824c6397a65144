/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds out whether a policy's SL2VL tables would close a credit loop
 * (routes/credit.h).
 *
 * Model: the paths follow from the fabric's forwarding tables, the VLs from the desired
 * tables (desired.h).  The SLs are those of partitions, of answers of the SM and of the
 * policy's levels; or, if the routing engine decides, the SLs that it chose.  A policy
 * closes a loop if there is one with its tables and none with OpenSM's defaults.  If
 * the defaults have one, too, the routing is the cause.
 *
 * If the routing engine replaces the tables, the result is unknown.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_QOS_SETUP_CREDIT_H
#define TRIAD_QOS_SETUP_CREDIT_H

#include "qos/setup/setup.h"
#include "routes/credit.h"

enum triad_setup_credit_state {
	TRIAD_SETUP_CREDIT_CLEAN,
	TRIAD_SETUP_CREDIT_CLOSES, /* a loop that the defaults don't have */
	TRIAD_SETUP_CREDIT_LOOPS,  /* there is one with the defaults, too */
	TRIAD_SETUP_CREDIT_UNKNOWN,
};

/* Asks the routing engine for the SLs that it chose: fills 'sls' (struct
 * triad_routes_sls.of), returns 0 or an errno. */
struct triad_setup_credit_engine {
	int (*ask)(
		void *context, const struct triad_routes_layout *layout, uint16_t *sls);
	void *context;
};

/* 'engine' may be NULL: it can't be asked.  'credit' has the loops with the policy's
 * tables.  Returns 0, ENOMEM or EOVERFLOW. */
int triad_setup_credit_find(struct triad_setup *setup, struct triad_fabric *fabric,
	const struct triad_setup_credit_engine *engine,
	enum triad_setup_credit_state *state, struct triad_routes_credit *credit);

/* Why the result is unknown, from the results of triad_setup_credit_find(); NULL: it is
 * known. */
const char *triad_setup_credit_why_unknown(int error,
	enum triad_setup_credit_state state, const struct triad_routes_credit *credit);

#endif
