/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/answer_parts.h"

#define MAX_PATHS 127 /* when the request does not say how many */

/* Looks up both lists, sources first.  A GID of another subnet makes the whole request
 * invalid.  If no port has a GID, OpenSM answers: the GID may be an alias that was
 * added after the snapshot. */
static bool look_up_lists(
	struct triad_answering *answering, struct triad_answer_end *ends)
{
	const struct triad_path_request *request = answering->request;
	const struct triad_fabric *fabric = answering->snapshot->paths->fabric;
	unsigned n = request->n_sources + request->n_destinations;

	for (unsigned i = 0; i < n; i++) {
		ends[i].gid = request->gids[i];
		if (!triad_answering_is_local(answering, &request->gids[i])) {
			triad_answering_fail(answering, TRIAD_SA_INVALID_GID);
			return false;
		}
		ends[i].port = triad_fabric_find_alias(fabric, request->gids[i].guid);
		if (ends[i].port == TRIAD_FABRIC_NONE) {
			triad_answering_fall_back(answering, TRIAD_FALLBACK_UNKNOWN);
			return false;
		}
		ends[i].gid.prefix = fabric->sa.subnet_prefix;
	}
	if (request->n_sources && request->n_destinations)
		return true;
	triad_answering_fail(answering, TRIAD_SA_REQUEST_INVALID);
	return false;
}

/* --- all pairs --- */

static void answer_pairs(
	struct triad_answering *answering, const struct triad_answer_end *ends)
{
	const struct triad_path_request *request = answering->request;
	const struct triad_answer_end *destinations = ends + request->n_sources;
	uint32_t left = request->has & TRIAD_HAS_N_PATHS ? request->n_paths : MAX_PATHS;

	for (unsigned i = 0; i < request->n_sources; i++)
		for (unsigned j = 0; j < request->n_destinations; j++) {
			if (!triad_answering_set_pair(
				    answering, &ends[i], &destinations[j]))
				return;
			if (triad_answering_may_see(answering))
				left -= triad_answering_add_paths(answering,
					triad_answering_lids(answering, ends[i].port),
					triad_answering_lids(
						answering, destinations[j].port),
					left);
			/* The number of paths limits the whole request, not each
			 * pair. */
			if (!left || answering->answer->kind != TRIAD_ANSWER_RECORDS)
				return;
		}
}

/* --- two sources, two destinations, two paths: automatic path migration ---
 *
 * The two paths share neither source nor destination.  They must be the same however
 * the request orders its ends.  So the ends are sorted, and the LIDs to begin with are
 * computed from the first end of each side. */

/* Compares GUIDs as OpenSM does: in wire order, read as numbers of this host. */
static void put_in_order(const struct triad_answering *answering,
	const struct triad_answer_end *from, struct triad_answer_end to[2])
{
	const struct triad_fabric_port *ports =
		answering->snapshot->paths->fabric->ports;
	uint64_t first = __builtin_bswap64(ports[from[0].port].guid);
	uint64_t second = __builtin_bswap64(ports[from[1].port].guid);

	to[0] = from[first < second ? 0 : 1];
	to[1] = from[first < second ? 1 : 0];
}

/* OpenSM uses LIDs in wire order here, too. */
static uint32_t hash_lids(uint16_t one, uint16_t other, unsigned lmc)
{
	uint32_t a = __builtin_bswap16(one), b = __builtin_bswap16(other);
	uint32_t low = a < b ? a : b, high = a < b ? b : a;

	return (low >> lmc << 4 | high >> lmc) % 103;
}

static uint32_t n_lids(struct triad_lid_range lids)
{
	return lids.last - lids.first + 1;
}

/* The next LID of the range; after the last one, the first. */
static uint32_t after(struct triad_lid_range lids, uint32_t lid)
{
	return lid == lids.last ? lids.first : lid + 1;
}

/* Finds the pair's first path, beginning at the LIDs that 'offset' chooses. */
static bool find_path(struct triad_answering *answering,
	const struct triad_answer_end *source,
	const struct triad_answer_end *destination, uint32_t offset,
	struct triad_path_record *path)
{
	struct triad_lid_range sources, destinations;
	uint32_t slid, dlid, tries;

	path->links = 0;
	if (!triad_answering_set_pair(answering, source, destination))
		return false;
	sources = triad_answering_lids(answering, source->port);
	destinations = triad_answering_lids(answering, destination->port);
	slid = sources.first + offset % n_lids(sources);
	dlid = destinations.first + offset % n_lids(destinations);
	tries = n_lids(sources) < n_lids(destinations) ? n_lids(sources)
						       : n_lids(destinations);
	for (; tries; tries--) {
		if (triad_answering_work_out(answering, slid, dlid, 0, path))
			return true;
		slid = after(sources, slid);
		dlid = after(destinations, dlid);
	}
	return false;
}

/* Two paths that share no end, and whether each exists. */
struct diagonal {
	struct triad_path_record paths[2];
	bool there[2];
};

static uint32_t shorter(const struct diagonal *diagonal)
{
	uint32_t best = 0;

	for (int i = 0; i < 2; i++)
		if (diagonal->there[i] && (!best || diagonal->paths[i].links < best))
			best = diagonal->paths[i].links;
	return best;
}

static void answer_migration(
	struct triad_answering *answering, const struct triad_answer_end *ends)
{
	const struct triad_paths *paths = answering->snapshot->paths;
	struct triad_answer *answer = answering->answer;
	struct triad_answer_end from[2], to[2];
	struct diagonal straight, crossed;
	const struct diagonal *taken;
	uint32_t offset;

	put_in_order(answering, ends, from);
	put_in_order(answering, ends + 2, to);
	offset = hash_lids(paths->ends[from[0].port].lid, paths->ends[to[0].port].lid,
		paths->fabric->sa.lmc);
	/* As in OpenSM, the second path of each diagonal begins one LID further on. */
	for (uint32_t i = 0; i < 2; i++) {
		straight.there[i] = find_path(
			answering, &from[i], &to[i], offset + i, &straight.paths[i]);
		crossed.there[i] = find_path(
			answering, &from[i], &to[1 - i], offset + i, &crossed.paths[i]);
	}
	/* A look-up may have left the request to OpenSM. */
	if (answer->kind != TRIAD_ANSWER_RECORDS)
		return;
	/* A diagonal without any path counts as the shortest, as for OpenSM. */
	taken = shorter(&straight) <= shorter(&crossed) ? &straight : &crossed;
	for (int i = 0; i < 2; i++)
		if (taken->there[i] && answer->n < answer->room)
			answer->records[answer->n++] = taken->paths[i];
}

void triad_answering_multi(struct triad_answering *answering)
{
	const struct triad_path_request *request = answering->request;
	struct triad_answer_end ends[TRIAD_MULTIPATH_MAX_GIDS];

	if (!look_up_lists(answering, ends))
		return;
	if (request->n_sources == 2 && request->n_destinations == 2 &&
		request->n_paths == 2)
		answer_migration(answering, ends);
	else
		answer_pairs(answering, ends);
}
