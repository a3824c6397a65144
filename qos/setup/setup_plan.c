/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/setup_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/hash.h"
#include "qos/setup/setup_plan_parts.h"

#define VLARB_BLOCK 32 /* entries that go in one SMP [IBA 14.2.5.9] */

/* The last arbitration table that was computed: neighbours mostly have the same one. */
struct last_vlarb {
	bool is_valid;
	uint16_t scope, scope_of_entries;
	uint8_t op_vls, kind;
	unsigned n;
	struct triad_vlarb_entry entries[TRIAD_VLARB_MAX];
};

struct comparison {
	const struct triad_desired *desired;
	const struct triad_fabric *fabric;
	struct triad_setup_plan *plan;
	size_t room; /* for changes */
	struct last_vlarb last[2];
	int error;
};

/* --- the list --- */

static void hash_word(struct comparison *comparison, uint64_t word)
{
	comparison->plan->hash = triad_hash_word(comparison->plan->hash, word);
}

static void hash_octets(struct comparison *comparison, const void *octets, size_t n)
{
	const uint8_t *at = octets;

	for (; n; at += sizeof(uint64_t)) {
		size_t some = n < sizeof(uint64_t) ? n : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, at, some);
		hash_word(comparison, word);
		n -= some;
	}
}

/* Hashes where the change is and which scope makes it; 'more' is what else belongs to
 * it. */
static void hash_change(struct comparison *comparison, enum triad_setup_table table,
	uint32_t port, uint16_t scope, unsigned more)
{
	const struct triad_fabric_port *at = &comparison->fabric->ports[port];

	hash_word(comparison, comparison->fabric->nodes[at->node].guid);
	hash_word(comparison,
		(uint64_t)table << 56 | (uint64_t)at->number << 48 |
			(uint64_t)scope << 32 | more);
}

/* Room for one more; NULL when the list is full, or on error. */
static struct triad_setup_change *add_change(struct comparison *comparison)
{
	struct triad_setup_plan *plan = comparison->plan;

	/* The total also counts changes that the list has no room for. */
	plan->n_changes_total++;
	if (comparison->error || plan->n_changes == TRIAD_SETUP_MAX_CHANGES)
		return NULL;
	comparison->error = triad_grow(&plan->changes, &comparison->room,
		plan->n_changes + 1, sizeof(*plan->changes), 64);
	return comparison->error ? NULL : &plan->changes[plan->n_changes++];
}

/* --- SL2VL --- */

/* Tables of in-ports in a row that change alike. */
struct run {
	bool is_open;
	uint32_t port;
	unsigned first, last;
	uint16_t scope;
	uint64_t from, to;
};

/* The result for the tables of one out-port. */
struct outcome {
	unsigned n, n_changed;
	bool is_alike;  /* 'value' is desired for all */
	uint64_t value; /* desired for the last one */
};

static uint64_t word_of(const struct triad_sl2vl *table)
{
	uint64_t word;

	memcpy(&word, table->vl, sizeof(word));
	return word;
}

static void end_run(struct comparison *comparison, struct run *run)
{
	struct triad_setup_change *change;

	if (!run->is_open)
		return;
	run->is_open = false;
	hash_change(comparison, TRIAD_SETUP_SL2VL, run->port, run->scope,
		run->first << 8 | run->last);
	hash_word(comparison, run->from);
	hash_word(comparison, run->to);
	change = add_change(comparison);
	if (!change)
		return;
	*change = (struct triad_setup_change){.table = TRIAD_SETUP_SL2VL,
		.port = run->port,
		.in_first = (uint8_t)run->first,
		.in_last = (uint8_t)run->last,
		.scope = run->scope};
	memcpy(change->from.sl2vl.vl, &run->from, sizeof(run->from));
	memcpy(change->to.sl2vl.vl, &run->to, sizeof(run->to));
}

static void extend_run(struct comparison *comparison, struct run *run, unsigned in,
	uint16_t scope, uint64_t from, uint64_t to)
{
	if (run->is_open && run->last + 1 == in && run->scope == scope &&
		run->from == from && run->to == to) {
		run->last = in;
		return;
	}
	end_run(comparison, run);
	*run = (struct run){.is_open = true,
		.port = run->port,
		.first = in,
		.last = in,
		.scope = scope,
		.from = from,
		.to = to};
}

static struct outcome compare_sl2vl(struct comparison *comparison, uint32_t port)
{
	const struct triad_desired *desired = comparison->desired;
	const struct triad_fabric_port *at = &comparison->fabric->ports[port];
	const struct triad_desired_node *node = &desired->nodes[at->node];
	const struct triad_desired_row *row =
		&desired->rows[desired->ports[port].first_row];
	struct run run = {.port = port};
	uint64_t rows[TRIAD_SCOPES_MAX_PORTS + 1];
	struct outcome outcome = {.is_alike = true};

	outcome.n = desired->ports[port].kind == TRIAD_QOS_PORT_SWITCH0 ||
			desired->ports[port].kind == TRIAD_QOS_PORT_SWITCH
		? node->n_numbers
		: 1;
	/* Many in-ports share a row: compute its contents once. */
	for (unsigned i = 0; i < triad_desired_n_rows(desired, port); i++)
		rows[i] = word_of(triad_desired_sl2vl(desired, port, i));
	for (unsigned in = 0; in < outcome.n; in++) {
		unsigned kind = triad_desired_row_at(desired, port, in);
		uint64_t to = rows[kind], from = 0;

		/* A table that was never read counts as zeros. */
		if (in < at->sl2vl.n)
			from = word_of(&comparison->fabric->sl2vl[at->sl2vl.at + in]);
		outcome.is_alike = outcome.is_alike && (!in || to == outcome.value);
		outcome.value = to;
		if (from == to)
			continue;
		outcome.n_changed++;
		extend_run(comparison, &run, in, row[kind].scope, from, to);
	}
	end_run(comparison, &run);
	return outcome;
}

/* --- arbitration --- */

static const struct last_vlarb *desired_vlarb(
	struct comparison *comparison, uint32_t port, bool high, unsigned n)
{
	const struct triad_desired_port *desired = &comparison->desired->ports[port];
	struct last_vlarb *last = &comparison->last[high];

	if (last->is_valid && last->scope == desired->vlarb &&
		last->op_vls == desired->op_vls && last->kind == desired->kind &&
		last->n == n)
		return last;
	*last = (struct last_vlarb){.is_valid = true,
		.scope = desired->vlarb,
		.op_vls = desired->op_vls,
		.kind = desired->kind,
		.n = n};
	last->scope_of_entries =
		triad_desired_vlarb(comparison->desired, port, high, last->entries, n);
	return last;
}

/* Reads the fabric's table; entries that it lacks are zeros. */
static void read_vlarb(const struct triad_fabric *fabric, uint32_t port, bool high,
	unsigned n, struct triad_vlarb_entry *entries)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	unsigned first = high ? at->vlarb_low_cap : 0;
	unsigned there = at->vlarb.n > first ? at->vlarb.n - first : 0;

	memset(entries, 0, n * sizeof(*entries));
	if (there)
		memcpy(entries, &fabric->vlarb[at->vlarb.at + first],
			(there < n ? there : n) * sizeof(*entries));
}

static unsigned count_blocks(const struct triad_vlarb_entry *from,
	const struct triad_vlarb_entry *to, unsigned n)
{
	unsigned n_blocks = 0;

	for (unsigned at = 0; at < n; at += VLARB_BLOCK) {
		unsigned some = n - at < VLARB_BLOCK ? n - at : VLARB_BLOCK;

		n_blocks += memcmp(from + at, to + at, some * sizeof(*from)) != 0;
	}
	return n_blocks;
}

/* Returns whether the table must be changed. */
static bool compare_vlarb(struct comparison *comparison, uint32_t port, bool high)
{
	unsigned n = triad_desired_n_vlarb(comparison->desired, port, high), n_blocks;
	enum triad_setup_table table =
		high ? TRIAD_SETUP_VLARB_HIGH : TRIAD_SETUP_VLARB_LOW;
	struct triad_vlarb_entry from[TRIAD_VLARB_MAX];
	const struct last_vlarb *to;
	struct triad_setup_change *change;

	if (!n)
		return false;
	comparison->plan->n_tables++;
	to = desired_vlarb(comparison, port, high, n);
	read_vlarb(comparison->fabric, port, high, n, from);
	n_blocks = count_blocks(from, to->entries, n);
	if (!n_blocks)
		return false;
	comparison->plan->n_changed[table]++;
	comparison->plan->n_smps += n_blocks;
	/* The hash covers every change, also those that the list has no room for. */
	hash_change(comparison, table, port, to->scope_of_entries, n);
	hash_octets(comparison, from, n * sizeof(*from));
	hash_octets(comparison, to->entries, n * sizeof(*from));
	change = add_change(comparison);
	if (!change)
		return true;
	*change = (struct triad_setup_change){.table = table,
		.port = port,
		.scope = to->scope_of_entries,
		.n = (uint8_t)n};
	memcpy(change->from.vlarb, from, n * sizeof(*from));
	memcpy(change->to.vlarb, to->entries, n * sizeof(*from));
	return true;
}

static bool compare_high_limit(struct comparison *comparison, uint32_t port)
{
	uint8_t from = comparison->fabric->ports[port].high_limit, to;
	struct triad_setup_change *change;
	uint16_t scope;

	if (!triad_desired_has_high_limit(comparison->desired, port))
		return false;
	scope = triad_desired_high_limit(comparison->desired, port, &to);
	if (from == to)
		return false;
	comparison->plan->n_changed[TRIAD_SETUP_HIGH_LIMIT]++;
	comparison->plan->n_smps++;
	hash_change(comparison, TRIAD_SETUP_HIGH_LIMIT, port, scope,
		(unsigned)from << 8 | to);
	change = add_change(comparison);
	if (change)
		*change = (struct triad_setup_change){.table = TRIAD_SETUP_HIGH_LIMIT,
			.port = port,
			.scope = scope,
			.from.high_limit = from,
			.to.high_limit = to};
	return true;
}

/* --- nodes --- */

/* How the SL2VL tables of a node can be sent. */
struct tally {
	bool is_optimized;
	unsigned n_all;          /* SMPs of a table for all in-ports */
	bool is_begun, is_whole; /* 'value' is desired for the whole switch */
	uint64_t value;
	uint64_t n_smps; /* without one SMP for the whole switch */
};

static void count_smps(struct tally *tally, const struct outcome *outcome)
{
	if (!tally->is_begun) {
		tally->is_begun = true;
		tally->is_whole = true;
		tally->value = outcome->value;
	}
	tally->is_whole =
		tally->is_whole && outcome->is_alike && tally->value == outcome->value;
	tally->n_smps += tally->is_optimized && outcome->is_alike && outcome->n_changed
		? tally->n_all
		: outcome->n_changed;
}

static void compare_port(
	struct comparison *comparison, uint32_t port, struct tally *tally)
{
	struct triad_setup_plan *plan = comparison->plan;
	bool is_changed = false;

	plan->n_ports++;
	if (comparison->desired->ports[port].first_row != TRIAD_FABRIC_NONE) {
		struct outcome outcome = compare_sl2vl(comparison, port);

		plan->n_tables += outcome.n;
		plan->n_changed[TRIAD_SETUP_SL2VL] += outcome.n_changed;
		is_changed = outcome.n_changed > 0;
		count_smps(tally, &outcome);
	}
	is_changed |= compare_vlarb(comparison, port, false);
	is_changed |= compare_vlarb(comparison, port, true);
	is_changed |= compare_high_limit(comparison, port);
	plan->n_changed_ports += is_changed;
}

static void compare_node(struct comparison *comparison, uint32_t node)
{
	const struct triad_fabric_node *at = &comparison->fabric->nodes[node];
	const struct triad_fabric_qos *qos = &comparison->fabric->qos;
	struct tally tally = {.is_optimized = at->type == TRIAD_NODE_SWITCH &&
			at->optimized_sl2vl && qos->optimized &&
			!qos->engine_has_tables,
		.n_all = at->enhanced_port0 ? 1 : 2};

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++)
		if (comparison->desired->ports[i].is_looked_at)
			compare_port(comparison, i, &tally);
	/* The desired tables of the switch are all alike: one SMP sets all of them. */
	if (tally.is_optimized && tally.is_whole && tally.n_smps)
		tally.n_smps = tally.n_all;
	comparison->plan->n_smps += tally.n_smps;
}

/* --- the whole --- */

int triad_setup_plan_make(struct triad_setup *setup, const struct triad_fabric *fabric,
	struct triad_setup_plan **plan)
{
	struct triad_setup_plan *made = calloc(1, sizeof(*made));
	struct triad_desired desired;
	struct comparison comparison = {
		.desired = &desired, .fabric = fabric, .plan = made};
	int error;

	if (!made)
		return ENOMEM;
	made->hash = TRIAD_HASH_START;
	error = triad_desired_resolve(&desired, setup, fabric);
	if (error) {
		free(made);
		return error;
	}
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		compare_node(&comparison, i);
	error = comparison.error;
	if (!error)
		error = triad_setup_find(&desired, made);
	if (!error)
		error = triad_setup_follow_paths(&desired, made);
	triad_desired_clear(&desired);
	if (error)
		triad_setup_plan_free(made);
	else
		*plan = made;
	return error;
}

void triad_setup_plan_free(struct triad_setup_plan *plan)
{
	if (!plan)
		return;
	free(plan->changes);
	free(plan->findings);
	free(plan->paths);
	free(plan);
}
