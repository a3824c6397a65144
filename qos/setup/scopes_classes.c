/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the groups of a port.  Ports with the same groups are one class. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

#include "qos/setup/setup_parts.h"

#define NO_SLOT UINT32_MAX
#define MIN_SLOTS 64
#define MIN_RECORDS 16

/* --- records --- */

static uint64_t *record_at(const struct triad_scopes *scopes, uint32_t class)
{
	return scopes->records + (size_t) class * scopes->setup->record_words;
}

static const uint64_t *groups_of(const struct triad_scopes *scopes, uint32_t class)
{
	return record_at(scopes, class) + scopes->setup->groups_word;
}

static bool are_equal(const uint64_t *a, const uint64_t *b, uint32_t n_words)
{
	for (uint32_t i = 0; i < n_words; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* The slot of the class with these groups, or the free one for it. */
static uint32_t find_class_slot(
	const struct triad_scopes *scopes, const uint64_t *groups)
{
	uint32_t n_words = scopes->setup->group_words, mask = scopes->n_slots - 1;
	uint32_t i = (uint32_t)triad_hash_words(0, groups, n_words) & mask;

	while (scopes->slots[i] != NO_SLOT &&
		!are_equal(groups_of(scopes, scopes->slots[i]), groups, n_words))
		i = (i + 1) & mask;
	return i;
}

static void fill_slots(struct triad_scopes *scopes)
{
	for (uint32_t i = 0; i < scopes->n_slots; i++)
		scopes->slots[i] = NO_SLOT;
	for (uint32_t i = 0; i < scopes->n_classes; i++)
		scopes->slots[find_class_slot(scopes, groups_of(scopes, i))] = i;
}

/* Leaves half of the slots free at least. */
static int reserve_slot(struct triad_scopes *scopes)
{
	uint32_t n = scopes->n_slots ? scopes->n_slots * 2 : MIN_SLOTS;
	uint32_t *slots;

	if (scopes->n_classes * 2 < scopes->n_slots)
		return 0;
	slots = malloc(n * sizeof(*slots));
	if (!slots)
		return ENOMEM;
	free(scopes->slots);
	scopes->slots = slots;
	scopes->n_slots = n;
	fill_slots(scopes);
	return 0;
}

static int reserve_record(struct triad_scopes *scopes)
{
	size_t octets = scopes->setup->record_words * sizeof(*scopes->records);
	size_t max = TRIAD_SCOPES_MAX_OCTETS / octets;
	size_t n = scopes->n_allocated ? (size_t)scopes->n_allocated * 2 : MIN_RECORDS;
	uint64_t *grown;

	if (max > TRIAD_SCOPES_MAX_CLASSES)
		max = TRIAD_SCOPES_MAX_CLASSES;
	if (scopes->n_classes < scopes->n_allocated)
		return 0;
	if (scopes->n_classes >= max)
		return EOVERFLOW;
	if (n > max)
		n = max;
	grown = realloc(scopes->records, n * octets);
	if (!grown)
		return ENOMEM;
	scopes->records = grown;
	scopes->n_allocated = (uint32_t)n;
	return 0;
}

static void fill_record(const struct triad_scopes *scopes, uint64_t *record)
{
	const struct triad_setup *setup = scopes->setup;
	const uint64_t *groups = scopes->groups;

	memset(record, 0, setup->record_words * sizeof(*record));
	memcpy(record + setup->groups_word, groups,
		setup->group_words * sizeof(*groups));
	/* Each group sets the bits of the scopes that name it. */
	for (uint32_t i = 0; i < setup->group_words; i++)
		for (uint64_t left = groups[i]; left; left &= left - 1) {
			uint32_t group = i * 64 + (unsigned)__builtin_ctzll(left);

			for (uint32_t j = setup->uses_at[group];
				j < setup->uses_at[group + 1]; j++)
				triad_setup_set_bit(record, setup->uses[j]);
		}
}

/* Adds the class of 'scopes->groups'. */
static uint32_t add_class(struct triad_scopes *scopes)
{
	int error = reserve_record(scopes);

	if (!error)
		error = reserve_slot(scopes);
	/* Callers ask for one port at a time amid other work.  Keep the first error,
	 * which they check at the end. */
	if (error) {
		if (!scopes->error)
			scopes->error = error;
		return TRIAD_SCOPES_NO_CLASS;
	}
	fill_record(scopes, record_at(scopes, scopes->n_classes));
	scopes->slots[find_class_slot(scopes, scopes->groups)] = scopes->n_classes;
	return scopes->n_classes++;
}

/* --- the groups of a port --- */

static void join_groups(const struct triad_scopes *scopes, const uint64_t *groups)
{
	for (uint32_t i = 0; i < scopes->setup->group_words; i++)
		scopes->groups[i] |= groups[i];
}

static void find_pkeys(struct triad_scopes *scopes, const uint16_t *pkeys, uint32_t n)
{
	uint64_t *groups = scopes->last_pkeys.groups;

	memset(groups, 0, scopes->setup->group_words * sizeof(*groups));
	for (uint32_t i = 0; i < n; i++)
		if (pkeys[i] & 0x7fff)
			triad_segments_add(&scopes->pkeys,
				triad_segments_find(&scopes->pkeys, pkeys[i] & 0x7fff),
				groups);
	scopes->last_pkeys.n = n;
	scopes->last_pkeys.is_known = n <= TRIAD_SCOPES_KEPT_PKEYS;
	if (n && scopes->last_pkeys.is_known)
		memcpy(scopes->last_pkeys.pkeys, pkeys, n * sizeof(*pkeys));
}

static void join_pkeys(
	struct triad_scopes *scopes, const struct triad_scopes_port *port)
{
	uint32_t n = port->n_pkeys;

	/* One segment means that no group names P_Keys. */
	if (!n || scopes->pkeys.n == 1)
		return;
	if (!scopes->last_pkeys.is_known || scopes->last_pkeys.n != n ||
		memcmp(scopes->last_pkeys.pkeys, port->pkeys,
			n * sizeof(*port->pkeys)) != 0)
		find_pkeys(scopes, port->pkeys, n);
	join_groups(scopes, scopes->last_pkeys.groups);
}

static void find_name(struct triad_scopes *scopes, const char *name)
{
	scopes->last_name.key = triad_node_key_of(name, false);
	for (unsigned words = 0; words < 2; words++) {
		const struct triad_setup_names *names = &scopes->setup->names[words];
		struct triad_node_key key;

		if (!names->n)
			continue;
		key = triad_node_key_of(name, words);
		scopes->last_name.names[words] = triad_setup_names_find(
			names, &key, &scopes->last_name.n[words]);
	}
}

/* Makes 'last_name' hold the setup's port names for a node of that name. */
static void look_up_name(struct triad_scopes *scopes, const char *name)
{
	if (strcmp(scopes->last_name.key.text, name) != 0)
		find_name(scopes, name);
}

static void join_names(
	struct triad_scopes *scopes, const struct triad_scopes_port *port)
{
	bool is_switch = port->node_type == TRIAD_NODE_SWITCH;

	if (!scopes->setup->names[false].n && !scopes->setup->names[true].n)
		return;
	look_up_name(scopes, port->node_name);
	/* Number 0 of a switch names all of its ports. */
	for (unsigned words = 0; words < 2; words++)
		for (uint32_t i = 0; i < scopes->last_name.n[words]; i++) {
			const struct triad_setup_name *name =
				&scopes->last_name.names[words][i];

			if (name->number == port->number ||
				(is_switch && !name->number))
				triad_setup_set_bit(scopes->groups, name->group);
		}
}

uint32_t triad_scopes_class(
	struct triad_scopes *scopes, const struct triad_scopes_port *port)
{
	const struct triad_setup *setup = scopes->setup;
	uint32_t slot;

	/* Collect the groups from all sources, then find the class with exactly
	 * these. */
	memcpy(scopes->groups, triad_setup_of_type(setup, port->node_type),
		setup->group_words * sizeof(*scopes->groups));
	if (port->is_self)
		join_groups(scopes, triad_setup_of_self(setup));
	triad_segments_add(&setup->guids,
		triad_segments_find(&setup->guids, port->guid), scopes->groups);
	join_pkeys(scopes, port);
	join_names(scopes, port);
	slot = find_class_slot(scopes, scopes->groups);
	return scopes->slots[slot] != NO_SLOT ? scopes->slots[slot] : add_class(scopes);
}

static bool has_links(const struct triad_policy_scope *scope)
{
	return scope->across.n || scope->across_from.n || scope->across_to.n;
}

struct triad_scopes_needs triad_scopes_needs(const struct triad_scopes *scopes)
{
	const struct triad_policy *policy = scopes->setup->policy;
	struct triad_scopes_needs needs = {
		.names = scopes->setup->names[false].n || scopes->setup->names[true].n,
		.pkeys = scopes->pkeys.n > 1,
		.vlarb = policy->n_vlarb,
	};

	for (uint32_t i = 0; i < policy->n_sl2vl && !needs.links; i++)
		needs.links = has_links(&policy->sl2vl[i].scope);
	for (uint32_t i = 0; i < policy->n_vlarb && !needs.links; i++)
		needs.links = has_links(&policy->vlarb[i].scope);
	return needs;
}

bool triad_scopes_ports_differ(struct triad_scopes *scopes, const char *node_name)
{
	look_up_name(scopes, node_name);
	for (unsigned words = 0; words < 2; words++)
		for (uint32_t i = 0; i < scopes->last_name.n[words]; i++)
			if (scopes->last_name.names[words][i].number)
				return true;
	return false;
}

/* --- life --- */

int triad_scopes_make_classes(struct triad_scopes *scopes)
{
	uint32_t n_words = scopes->setup->group_words;

	scopes->groups = calloc(n_words, sizeof(*scopes->groups));
	scopes->last_pkeys.groups = calloc(n_words, sizeof(*scopes->groups));
	if (!scopes->groups || !scopes->last_pkeys.groups)
		return ENOMEM;
	/* 'last_name' must be valid before it is compared with. */
	find_name(scopes, "");
	/* No group is set yet, so this is TRIAD_SCOPES_NO_CLASS. */
	add_class(scopes);
	return scopes->error;
}

void triad_scopes_forget_classes(struct triad_scopes *scopes)
{
	scopes->n_classes = TRIAD_SCOPES_NO_CLASS + 1;
	fill_slots(scopes);
}

void triad_scopes_clear_classes(struct triad_scopes *scopes)
{
	free(scopes->records);
	free(scopes->slots);
	free(scopes->groups);
	free(scopes->last_pkeys.groups);
}
