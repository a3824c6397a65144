/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The QoS tables that a policy's scopes give a fabric, computed literally as setup.h
 * and setup_plan.h specify: one scope after the other, one table after the other.  For
 * tests; it shares no code with what they test. */
#ifndef TRIAD_TESTS_SIM_NAIVE_SETUP_H
#define TRIAD_TESTS_SIM_NAIVE_SETUP_H

#include "qos/policy/policy.h"
#include "triad/fabric.h"

#define NAIVE_NO_SCOPE UINT16_MAX

struct naive {
	const struct triad_policy *policy; /* NULL: no scopes */
	const struct triad_fabric *fabric;
};

/* A port of a switch by number, which need not be there; an end port has in-port 0. */
bool naive_out_fits(const struct naive *naive, const struct triad_policy_scope *scope,
	uint32_t out, bool aside);
bool naive_in_fits(const struct naive *naive, const struct triad_policy_scope *scope,
	uint32_t out, unsigned in, bool aside);

bool naive_is_looked_at(const struct naive *naive, uint32_t port);

/* How many SL2VL tables the out-port has; 0 when it isn't looked at. */
unsigned naive_n_sl2vl(const struct naive *naive, uint32_t port);

/* Entries of an arbitration table; -1: the port has no arbitration. */
int naive_n_vlarb(const struct naive *naive, uint32_t port, bool high);
bool naive_has_limit(const struct naive *naive, uint32_t port);

/* The scope that applies. */
uint16_t naive_sl2vl_scope(const struct naive *naive, uint32_t out, unsigned in);
uint16_t naive_vlarb_scope(const struct naive *naive, uint32_t out);

/* The desired value; the scope that specifies it. */
uint16_t naive_sl2vl(const struct naive *naive, uint32_t out, unsigned in,
	struct triad_sl2vl *table);
uint16_t naive_vlarb(const struct naive *naive, uint32_t out, bool high,
	struct triad_vlarb_entry *entries);
uint16_t naive_high_limit(const struct naive *naive, uint32_t out, uint8_t *limit);

/* SLs, a bit for each, that have no VL out of 'out', or one without a weight in either
 * of its arbitration tables.  'by_scope': none where no scope applies to its tables. */
uint16_t naive_dead(
	const struct naive *naive, uint32_t out, unsigned in, bool by_scope);

/* Coded: the data VLs that the port uses. */
uint8_t naive_op_vls(const struct naive *naive, uint32_t out);

/* The fabric's value. */
struct triad_sl2vl naive_sl2vl_now(
	const struct naive *naive, uint32_t out, unsigned in);
void naive_vlarb_now(const struct naive *naive, uint32_t out, bool high,
	struct triad_vlarb_entry *entries);

uint8_t naive_vl(const struct triad_sl2vl *table, unsigned sl);

#endif
