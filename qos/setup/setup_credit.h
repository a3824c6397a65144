/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a policy's SL2VL tables would close a credit loop (routes/credit.h).
 *
 * Model: the paths are those of the fabric's forwarding tables, the VLs those of the
 * tables as they should be (desired.h).  The SLs are those in use: of partitions, of
 * what is asked of the SM and of the policy's levels; or, where the routing engine
 * decides, those that it said.  A policy closes a loop when there is one with its tables
 * and none with OpenSM's defaults; where the defaults have one as well, the routing is
 * to blame.
 *
 * Where the routing engine replaces the tables, nothing is known.
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

/* What is known of SLs where the routing engine decides: fills 'sls' (struct
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

/* Why it is not known, after what the function before said; NULL: it is known. */
const char *triad_setup_credit_why_unknown(int error,
	enum triad_setup_credit_state state, const struct triad_routes_credit *credit);

#endif
