/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qos/setup/setup_parts.h"
#include "triad/lists.h"

#define DROP_VL 15

bool triad_setup_has_scopes(const struct triad_policy *policy)
{
	return policy->n_sl2vl || policy->n_vlarb;
}

/* --- kinds of scopes --- */

/* Allocates all sets of a kind together; the allocation begins at 'any_out'. */
static int allocate_sets(struct triad_setup_kind *kind)
{
	size_t n_words = kind->n_words, n_by_number = n_words * TRIAD_SETUP_N_NUMBERS;
	uint64_t *sets = calloc(2 * (n_words + n_by_number) + 1, sizeof(*sets));

	if (!sets)
		return ENOMEM;
	kind->any_out = sets;
	kind->any_in = kind->any_out + n_words;
	kind->to = kind->any_in + n_words;
	kind->from = kind->to + n_by_number;
	return 0;
}

static void add_scope(struct triad_setup_kind *kind,
	const struct triad_policy_scope *scope, uint32_t bit)
{
	if (!scope->groups.n && !scope->across.n && !scope->across_to.n)
		triad_setup_set_bit(kind->any_out, bit);
	if (!scope->across_from.n)
		triad_setup_set_bit(kind->any_in, bit);
	for (unsigned number = 0; number < TRIAD_SETUP_N_NUMBERS; number++) {
		size_t at = (size_t)number * kind->n_words * 64 + bit;

		if (scope->to_any || triad_ports_has(scope->to, (uint8_t)number))
			triad_setup_set_bit(kind->to, at);
		if (scope->from_any || triad_ports_has(scope->from, (uint8_t)number))
			triad_setup_set_bit(kind->from, at);
	}
}

static int make_kind(struct triad_setup *setup, bool is_vlarb)
{
	const struct triad_policy *policy = setup->policy;
	struct triad_setup_kind *kind = is_vlarb ? &setup->vlarb : &setup->sl2vl;
	int error;

	kind->n = is_vlarb ? policy->n_vlarb : policy->n_sl2vl;
	if (kind->n > TRIAD_POLICY_MAX_SCOPES)
		return EOVERFLOW;
	kind->n_words = (kind->n + 63) / 64;
	error = allocate_sets(kind);
	for (uint32_t i = 0; !error && i < kind->n; i++)
		add_scope(kind,
			is_vlarb ? &policy->vlarb[i].scope : &policy->sl2vl[i].scope,
			i);
	return error;
}

/* --- tables --- */

static struct triad_sl2vl cut_table(const uint8_t *vl, unsigned n_vls)
{
	struct triad_sl2vl table = {{0}};

	for (unsigned sl = 0; sl < TRIAD_POLICY_N_VLS; sl++) {
		unsigned to = vl[sl] < n_vls ? vl[sl] : DROP_VL;

		table.vl[sl / 2] |= (uint8_t)(sl % 2 ? to : to << 4);
	}
	return table;
}

static int make_tables(struct triad_setup *setup)
{
	/* Make each scope's table once for each number of VLs; these are few. */
	setup->tables = calloc(setup->sl2vl.n + 1, sizeof(*setup->tables));
	if (!setup->tables)
		return ENOMEM;
	for (uint32_t i = 0; i < setup->sl2vl.n; i++)
		for (unsigned code = 0; code < TRIAD_SETUP_N_VL_CODES; code++)
			setup->tables[i][code] = cut_table(
				setup->policy->sl2vl[i].vl, triad_vls_n((uint8_t)code));
	return 0;
}

const struct triad_sl2vl *triad_setup_sl2vl(
	const struct triad_setup *setup, uint16_t scope, uint8_t op_vls)
{
	if (scope >= setup->sl2vl.n)
		return NULL;
	/* Treat an invalid code as 0: one VL. */
	return &setup->tables[scope][op_vls < TRIAD_SETUP_N_VL_CODES ? op_vls : 0];
}

bool triad_setup_vlarb(const struct triad_setup *setup, uint16_t scope, bool high,
	uint8_t op_vls, uint8_t cap, struct triad_vlarb_entry *entries)
{
	const struct triad_policy_vlarb *given;
	const struct triad_vlarb_entry *from;
	unsigned n, n_vls = triad_vls_n(op_vls);

	if (scope >= setup->vlarb.n)
		return false;
	given = &setup->policy->vlarb[scope];
	from = high ? given->high : given->low;
	n = high ? given->n_high : given->n_low;
	if (!(high ? given->has_high : given->has_low) || n > cap)
		return false;
	for (unsigned i = 0; i < cap; i++) {
		/* OpenSM would cut a VL that the port lacks to another one. */
		if (i < n && from[i].vl < n_vls)
			entries[i] = from[i];
		else
			entries[i] = (struct triad_vlarb_entry){0, 0};
	}
	return true;
}

bool triad_setup_high_limit(
	const struct triad_setup *setup, uint16_t scope, uint8_t *limit)
{
	if (scope >= setup->vlarb.n || !setup->policy->vlarb[scope].has_high_limit)
		return false;
	*limit = setup->policy->vlarb[scope].high_limit;
	return true;
}

/* --- life --- */

int triad_setup_compile(struct triad_policy *policy, struct triad_setup **setup)
{
	struct triad_setup *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return ENOMEM;
	atomic_init(&made->refs, 1);
	made->policy = triad_policy_ref(policy);
	/* Kinds first: groups are compiled to bits of their scopes. */
	error = make_kind(made, false);
	if (!error)
		error = make_kind(made, true);
	if (!error)
		error = make_tables(made);
	if (!error)
		error = triad_setup_compile_groups(made);
	if (error)
		triad_setup_unref(made);
	else
		*setup = made;
	return error;
}

struct triad_setup *triad_setup_ref(struct triad_setup *setup)
{
	atomic_fetch_add_explicit(&setup->refs, 1, memory_order_relaxed);
	return setup;
}

void triad_setup_unref(struct triad_setup *setup)
{
	if (!setup || atomic_fetch_sub(&setup->refs, 1) != 1)
		return;
	triad_policy_unref(setup->policy);
	free(setup->sl2vl.any_out);
	free(setup->vlarb.any_out);
	free(setup->tables);
	free(setup->groups);
	free(setup->uses_at);
	free(setup->uses);
	free(setup->by_type);
	triad_segments_clear(&setup->guids);
	free(setup->names[false].items);
	free(setup->names[true].items);
	free(setup);
}

const struct triad_policy *triad_setup_policy(const struct triad_setup *setup)
{
	return setup->policy;
}
