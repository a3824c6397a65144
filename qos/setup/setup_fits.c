/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <string.h>

#include "qos/setup/setup_plan_parts.h"

bool triad_setup_has_tables(
	const struct triad_desired *desired, uint32_t port, bool is_vlarb)
{
	const struct triad_desired_port *is = &desired->ports[port];

	return is->is_looked_at &&
		(is_vlarb ? is->has_vlarb : is->first_row != TRIAD_FABRIC_NONE);
}

static const struct triad_setup_kind *table_kind_of(
	const struct triad_desired *desired, bool is_vlarb)
{
	return is_vlarb ? &desired->setup->vlarb : &desired->setup->sl2vl;
}

static const uint64_t *record_of_remote(
	const struct triad_desired *desired, uint32_t port)
{
	uint32_t remote = desired->fabric->ports[port].remote;

	return triad_scopes_record(desired->scopes,
		remote == TRIAD_FABRIC_NONE ? TRIAD_SCOPES_NO_CLASS
					    : desired->classes[remote]);
}

/* Adds the scopes that the port fits as out-port, except those in 'but' (may be NULL),
 * which have no effect on it. */
static void fit_out(const struct triad_desired *desired, uint32_t port,
	const struct triad_setup_kind *kind, const struct triad_scope_set *but,
	struct triad_setup_fits *fits)
{
	const uint64_t *own =
		triad_scopes_record(desired->scopes, desired->classes[port]);
	const uint64_t *far = record_of_remote(desired, port);
	const uint64_t *to =
		kind->to + (size_t)desired->fabric->ports[port].number * kind->n_words;

	for (uint32_t i = 0; i < kind->n_words; i++) {
		uint64_t aside =
			kind->any_out[i] | own[kind->own + i] | far[kind->linked + i];

		if (but)
			aside &= ~but->words[i];
		fits->out_aside.words[i] |= aside;
		fits->out.words[i] |= aside & to[i];
	}
}

static void fit_in(unsigned number, const uint64_t *far,
	const struct triad_setup_kind *kind, struct triad_setup_fits *fits)
{
	const uint64_t *from = kind->from + (size_t)number * kind->n_words;

	for (uint32_t i = 0; i < kind->n_words; i++) {
		uint64_t aside = kind->any_in[i] | far[kind->linked_from + i];

		fits->in_aside.words[i] |= aside;
		fits->in.words[i] |= aside & from[i];
	}
}

/* In-ports that the fabric lacks count as unlinked.  Adding an unlinked end even for a
 * port that is there is correct: scopes that fit it fit the number whatever its
 * link. */
static void fit_ins(const struct triad_desired *desired, uint32_t node,
	const struct triad_setup_kind *kind, struct triad_setup_fits *fits)
{
	const struct triad_fabric_node *at = &desired->fabric->nodes[node];
	const uint64_t *none =
		triad_scopes_record(desired->scopes, TRIAD_SCOPES_NO_CLASS);

	for (unsigned i = 0; i < desired->nodes[node].n_numbers; i++)
		fit_in(i, none, kind, fits);
	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++)
		fit_in(desired->fabric->ports[i].number, record_of_remote(desired, i),
			kind, fits);
}

static void fit_outs(const struct triad_desired *desired, uint32_t node, bool is_vlarb,
	const struct triad_scope_set *only_limit, struct triad_setup_fits *fits)
{
	const struct triad_fabric_node *at = &desired->fabric->nodes[node];
	const struct triad_setup_kind *kind = table_kind_of(desired, is_vlarb);

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++) {
		bool has_limit = !is_vlarb || triad_desired_has_high_limit(desired, i);

		if (triad_setup_has_tables(desired, i, is_vlarb))
			fit_out(desired, i, kind, has_limit ? NULL : only_limit, fits);
	}
}

void triad_setup_fit_node(const struct triad_desired *desired, uint32_t node,
	bool is_vlarb, const struct triad_scope_set *only_limit,
	struct triad_setup_fits *fits)
{
	const struct triad_fabric_node *at = &desired->fabric->nodes[node];
	const struct triad_setup_kind *kind = table_kind_of(desired, is_vlarb);
	size_t size = kind->n_words * sizeof(uint64_t);

	triad_scope_set_clear(&fits->out_aside, kind->n_words);
	triad_scope_set_clear(&fits->out, kind->n_words);
	triad_scope_set_clear(&fits->in_aside, kind->n_words);
	triad_scope_set_clear(&fits->in, kind->n_words);
	fit_outs(desired, node, is_vlarb, only_limit, fits);
	if (is_vlarb || at->type != TRIAD_NODE_SWITCH) {
		/* No in-port: only 'across-from' can't hold. */
		memcpy(fits->in.words, kind->any_in, size);
		memcpy(fits->in_aside.words, kind->any_in, size);
	} else {
		fit_ins(desired, node, kind, fits);
	}
}

bool triad_scope_set_next(
	const struct triad_scope_set *set, uint32_t n_words, uint32_t *scope)
{
	uint32_t at = *scope / 64;
	uint64_t word;

	/* The caller's position may be behind the last one. */
	if (at >= n_words)
		return false;
	word = set->words[at] & ~UINT64_C(0) << *scope % 64;
	while (!word && ++at < n_words)
		word = set->words[at];
	if (!word)
		return false;
	*scope = at * 64 + (uint32_t)__builtin_ctzll(word);
	return true;
}
