/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "congestion/track.h"

#include "lib/hash.h"

/* Finds the root at a port: the one with that VL, else one whose VL is unknown.
 * Without a VL, any root at the port. */
static uint32_t find_root(const struct triad_congestion_track *track,
	uint64_t node_guid, uint8_t port, uint8_t vl)
{
	uint32_t likely = TRIAD_FABRIC_NONE;

	for (uint32_t i = 0; i < track->n; i++) {
		const struct triad_congestion_tracked *root = &track->roots[i];

		if (root->node_guid != node_guid || root->port != port)
			continue;
		if (root->vl == vl)
			return i;
		if (likely == TRIAD_FABRIC_NONE &&
			(root->vl == TRIAD_CONGESTION_NO_VL ||
				vl == TRIAD_CONGESTION_NO_VL))
			likely = i;
	}
	return likely;
}

const struct triad_congestion_tracked *triad_congestion_track_find(
	const struct triad_congestion_track *track, uint64_t node_guid, uint8_t port,
	uint8_t vl)
{
	uint32_t i = find_root(track, node_guid, port, vl);

	return i == TRIAD_FABRIC_NONE ? NULL : &track->roots[i];
}

/* --- how alike two roots are --- */

static uint64_t hash_port(const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	return triad_hash_word(
		triad_hash_word(TRIAD_HASH_START, fabric->nodes[at->node].guid),
		at->number);
}

static void add_hash(struct triad_congestion_tracked *root, uint64_t hash)
{
	unsigned i = root->n_hashes;

	if (i == TRIAD_CONGESTION_SKETCH && hash >= root->hashes[i - 1])
		return;
	i -= i == TRIAD_CONGESTION_SKETCH;
	for (; i > 0 && root->hashes[i - 1] > hash; i--)
		root->hashes[i] = root->hashes[i - 1];
	root->hashes[i] = hash;
	root->n_hashes += root->n_hashes < TRIAD_CONGESTION_SKETCH;
}

/* Whether at least half of all hosts of the two roots belong to both. */
static bool are_alike(const struct triad_congestion_tracked *one,
	const struct triad_congestion_tracked *other)
{
	unsigned i = 0, k = 0, n = 0, n_both = 0;

	for (; n < TRIAD_CONGESTION_SKETCH; n++) {
		bool has_one = i < one->n_hashes, has_other = k < other->n_hashes;
		uint64_t a = has_one ? one->hashes[i] : UINT64_MAX;
		uint64_t b = has_other ? other->hashes[k] : UINT64_MAX;

		if (!has_one && !has_other)
			break;
		n_both += has_one && has_other && a == b;
		i += has_one && a <= b;
		k += has_other && b <= a;
	}
	return n_both && 2 * n_both >= n;
}

/* --- a sweep --- */

static struct triad_congestion_tracked make_root(const struct triad_fabric *fabric,
	const struct triad_congestion_root *found, uint64_t now_us)
{
	const struct triad_fabric_port *port = &fabric->ports[found->port];
	struct triad_congestion_tracked root = {
		.node_guid = fabric->nodes[port->node].guid,
		.since_us = now_us,
		.port = port->number,
		.vl = found->vl,
		.begun_vl = found->vl,
		.since_at_least = found->may_be_older,
		.kind = found->kind,
		.n_waiting = found->n_waiting,
		.loss_bps = found->loss_bps};

	for (uint32_t i = 0; i < found->n_hosts; i++)
		add_hash(&root, hash_port(fabric, found->hosts[i].port));
	return root;
}

/* The missed root that has moved to 'root'; NONE: 'root' is new. */
static uint32_t find_moved(const struct triad_congestion_track *track, uint32_t n_known,
	const struct triad_congestion_tracked *root)
{
	for (uint32_t i = 0; i < n_known; i++)
		if (track->roots[i].n_missed && are_alike(&track->roots[i], root))
			return i;
	return TRIAD_FABRIC_NONE;
}

static void add_new(struct triad_congestion_track *track, uint32_t n_known,
	struct triad_congestion_tracked *root,
	void (*report)(void *context, enum triad_congestion_change change,
		const struct triad_congestion_tracked *root),
	void *context)
{
	uint32_t at = find_moved(track, n_known, root);

	if (at != TRIAD_FABRIC_NONE) {
		root->since_us = track->roots[at].since_us;
		root->since_at_least = track->roots[at].since_at_least;
		root->from_guid = track->roots[at].node_guid;
		root->from_port = track->roots[at].port;
		track->roots[at] = *root;
		report(context, TRIAD_CONGESTION_MOVED, root);
	} else if (track->n < TRIAD_CONGESTION_MAX_TRACKED) {
		track->roots[track->n++] = *root;
		report(context, TRIAD_CONGESTION_BEGUN, root);
	}
}

/* Updates a root that is found again. */
static void renew(struct triad_congestion_tracked *known,
	const struct triad_congestion_tracked *root)
{
	struct triad_congestion_tracked now = *root;

	now.since_us = known->since_us;
	now.since_at_least = known->since_at_least;
	now.from_guid = known->from_guid;
	now.from_port = known->from_port;
	now.begun_vl = known->begun_vl;
	if (now.vl == TRIAD_CONGESTION_NO_VL)
		now.vl = known->vl;
	*known = now;
}

void triad_congestion_track_add(struct triad_congestion_track *track,
	const struct triad_fabric *fabric, const struct triad_congestion *found,
	uint64_t now_us,
	void (*report)(void *context, enum triad_congestion_change change,
		const struct triad_congestion_tracked *root),
	void *context)
{
	uint32_t n_left = 0, n_known = track->n;

	for (uint32_t i = 0; i < n_known; i++)
		track->roots[i].n_missed++;
	/* First the roots that stayed at their port, then the others, which may have
	 * moved. */
	for (unsigned is_new = 0; is_new < 2; is_new++)
		for (uint32_t i = 0; found && i < found->n_roots; i++) {
			struct triad_congestion_tracked root =
				make_root(fabric, &found->roots[i], now_us);
			uint32_t at =
				find_root(track, root.node_guid, root.port, root.vl);

			if (at != TRIAD_FABRIC_NONE && !is_new)
				renew(&track->roots[at], &root);
			else if (at == TRIAD_FABRIC_NONE && is_new)
				add_new(track, n_known, &root, report, context);
		}
	for (uint32_t i = 0; i < track->n; i++) {
		if (found && track->roots[i].n_missed < TRIAD_CONGESTION_MISSES)
			track->roots[n_left++] = track->roots[i];
		else
			report(context, TRIAD_CONGESTION_ENDED, &track->roots[i]);
	}
	track->n = n_left;
}
