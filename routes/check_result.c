/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Uses results of a check, and decides whether a new check is needed. */
#include "routes/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

void triad_routes_check_free(struct triad_routes_check *check)
{
	if (!check)
		return;
	triad_routes_layout_free(check->layout);
	triad_routes_deps_clear(&check->deps);
	free(check->pairs);
	free(check);
}

int triad_routes_check_move(const struct triad_routes_check *check,
	struct triad_fabric *fabric, struct triad_routes_check **moved)
{
	struct triad_routes_check *made = malloc(sizeof(*made));
	size_t size = fabric->n_ports * sizeof(*made->pairs);

	if (!made)
		return ENOMEM;
	*made = *check;
	made->layout = NULL;
	made->deps = (struct triad_routes_deps){0};
	made->pairs = malloc(size ? size : 1);
	if (!made->pairs || triad_routes_layout_make(fabric, &made->layout) ||
		triad_routes_deps_copy(&made->deps, &check->deps, made->layout)) {
		triad_routes_check_free(made);
		return ENOMEM;
	}
	memcpy(made->pairs, check->pairs, size);
	*moved = made;
	return 0;
}

bool triad_routes_does_harm(
	const struct triad_routes_check *check, enum triad_routes_problem problem)
{
	if (!check->problems[problem].n || problem == TRIAD_ROUTES_LONGER)
		return false;
	return problem != TRIAD_ROUTES_TURNS ||
		check->problems[TRIAD_ROUTES_LONGER].n ||
		check->credit.state != TRIAD_ROUTES_CREDIT_CLEAN;
}

bool triad_routes_check_is_clean(const struct triad_routes_check *check)
{
	for (unsigned i = 0; i < TRIAD_ROUTES_N_PROBLEMS; i++)
		if (triad_routes_does_harm(check, i))
			return false;
	return check->credit.state != TRIAD_ROUTES_CREDIT_LOOPS &&
		!check->multicast.n_looping;
}

double triad_routes_tier_imbalance(const struct triad_routes_tier *tier)
{
	return tier->n_pairs
		? (double)tier->most * tier->n_links / (double)tier->n_pairs
		: 1;
}

const char *triad_routes_problem_name(enum triad_routes_problem problem)
{
	static const char *const names[] = {
		[TRIAD_ROUTES_UNREACHABLE] = "unreachable_pairs",
		[TRIAD_ROUTES_LOOPS] = "forwarding_loops",
		[TRIAD_ROUTES_DEAD_ENTRIES] = "dead_port_entries",
		[TRIAD_ROUTES_SWITCHES] = "unreachable_switches",
		[TRIAD_ROUTES_LONGER] = "longer_paths",
		[TRIAD_ROUTES_TURNS] = "down_up_turns"};

	return problem < TRIAD_ROUTES_N_PROBLEMS ? names[problem] : "?";
}

/* --- hash --- */

static uint64_t hash_octets(uint64_t hash, const uint8_t *octets, size_t n)
{
	uint64_t word;

	for (; n >= sizeof(word); octets += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, octets, sizeof(word));
		hash = triad_hash_word(hash, word);
	}
	word = 0;
	memcpy(&word, octets, n);
	return triad_hash_word(hash, word);
}

uint64_t triad_routes_hash(const struct triad_fabric *fabric)
{
	uint64_t hash = triad_hash_word(TRIAD_HASH_START,
		(uint64_t)fabric->sa.qos << 1 | fabric->sa.engine_has_sl);

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];

		hash = triad_hash_word(hash, node->guid << 2 ^ node->type);
		hash = hash_octets(hash, fabric->lft + node->lft.at, node->lft.n);
		if (node->mft.n)
			hash = hash_octets(hash,
				(const uint8_t *)(fabric->mft + node->mft.at),
				node->mft.n * sizeof(*fabric->mft));
	}
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		bool is_down = !triad_fabric_port_passes_data(port);

		hash = triad_hash_word(hash, port->guid);
		hash = triad_hash_word(hash,
			(uint64_t)port->remote << 32 | (uint32_t)port->lid << 16 |
				port->number << 8 | is_down << 7 | port->lmc);
		hash = triad_hash_word(
			hash, (uint64_t)port->phys_state << 8 | port->sm_sl);
		if (port->sl2vl.n)
			hash = hash_octets(hash,
				(const uint8_t *)(fabric->sl2vl + port->sl2vl.at),
				port->sl2vl.n * sizeof(*fabric->sl2vl));
	}
	for (uint32_t i = 0; i < fabric->n_partitions; i++)
		hash = triad_hash_word(hash, fabric->partitions[i].sl);
	return hash;
}
