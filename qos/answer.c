/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/answer.h"

#include "qos/answer_parts.h"

const char *triad_fallback_name(enum triad_fallback fallback)
{
	static const char *const names[TRIAD_N_FALLBACKS] = {
		[TRIAD_FALLBACK_NOT] = "none",
		[TRIAD_FALLBACK_ENDS] = "ends",
		[TRIAD_FALLBACK_MULTICAST] = "multicast",
		[TRIAD_FALLBACK_UNKNOWN] = "unknown",
		[TRIAD_FALLBACK_RAW] = "raw",
		[TRIAD_FALLBACK_REQUESTER] = "requester",
		[TRIAD_FALLBACK_CHANGED] = "changed",
		[TRIAD_FALLBACK_ENGINE] = "engine",
		[TRIAD_FALLBACK_TOO_MANY] = "too-many",
	};

	return fallback < TRIAD_N_FALLBACKS ? names[fallback] : "unknown";
}

/* --- PathRecord --- */

static void answer_pair(struct triad_answering *answering,
	const struct triad_answer_end *source,
	const struct triad_answer_end *destination)
{
	const struct triad_path_request *request = answering->request;
	struct triad_lid_range sources, destinations;
	uint32_t max = UINT32_MAX;

	if (!triad_answering_set_pair(answering, source, destination) ||
		!triad_answering_may_see(answering))
		return;
	sources = triad_answering_lids(answering, source->port);
	destinations = triad_answering_lids(answering, destination->port);
	if (request->has & TRIAD_HAS_SLID)
		sources.first = sources.last = request->slid;
	if (request->has & TRIAD_HAS_DLID)
		destinations.first = destinations.last = request->dlid;
	if (request->one)
		max = 1;
	else if (request->has & TRIAD_HAS_N_PATHS)
		max = request->n_paths;
	/* A port without a LID can't be reached yet: answer without records, and no
	 * error. */
	if (sources.first && destinations.first)
		(void)triad_answering_add_paths(answering, sources, destinations, max);
}

/* One end, as a request may name it. */
struct named {
	bool has_gid, has_lid;
	struct triad_gid gid;
	uint16_t lid;
	uint32_t by_gid, by_lid; /* ports; TRIAD_FABRIC_NONE */
};

/* Looks up the ports of the end.  False when no port has the LID: the answer has no
 * records then; or the GUID: OpenSM must answer then. */
static bool look_up_end(struct triad_answering *answering, struct named *named)
{
	const struct triad_paths *paths = paths_of(answering);

	named->by_gid = named->by_lid = TRIAD_FABRIC_NONE;
	if (named->has_gid) {
		named->by_gid = triad_fabric_find_alias(paths->fabric, named->gid.guid);
		if (named->by_gid == TRIAD_FABRIC_NONE) {
			triad_answering_fall_back(answering, TRIAD_FALLBACK_UNKNOWN);
			return false;
		}
	}
	if (named->has_lid && named->lid < TRIAD_PATH_N_LIDS)
		named->by_lid = paths->port_of_lid[named->lid];
	return !named->has_lid || named->by_lid != TRIAD_FABRIC_NONE;
}

/* Whether the GID and the LID of an end belong to different ports. */
static bool disagrees(const struct named *named)
{
	return named->has_gid && named->has_lid && named->by_gid != named->by_lid;
}

/* How many names the end gets in the answer: see name_end(). */
static uint32_t n_names(
	const struct triad_answering *answering, const struct named *end)
{
	return end->has_gid ? 1 : paths_of(answering)->ends[end->by_lid].n_aliases;
}

/* The i-th name of this end: the GID of the request, or else each GID of the port. */
static struct triad_answer_end name_end(const struct triad_answering *answering,
	const struct named *named, uint32_t i, bool is_source)
{
	const struct triad_paths *paths = paths_of(answering);
	struct triad_answer_end end = {
		.port = named->has_gid ? named->by_gid : named->by_lid};

	end.gid = (struct triad_gid){
		.prefix = paths->fabric->sa.subnet_prefix, .guid = named->gid.guid};
	if (!named->has_gid)
		end.gid.guid = paths->aliases[paths->ends[end.port].first_alias + i];
	else if (is_source)
		end.gid = named->gid; /* returned as in the request */
	return end;
}

/* The port that an end of a request names, if that is known.  A request that is passed
 * on gets its level by it. */
static uint32_t named_port(const struct triad_answering *answering, unsigned has_gid,
	const struct triad_gid *gid, unsigned has_lid, uint16_t lid)
{
	const struct triad_paths *paths = paths_of(answering);
	unsigned has = answering->request->has;

	if (has & has_gid)
		return triad_answering_is_local(answering, gid)
			? triad_fabric_find_alias(paths->fabric, gid->guid)
			: TRIAD_FABRIC_NONE;
	return has & has_lid && lid < TRIAD_PATH_N_LIDS ? paths->port_of_lid[lid]
							: TRIAD_FABRIC_NONE;
}

static void answer_names(struct triad_answering *answering, const struct named *from,
	const struct named *to)
{
	for (uint32_t i = 0; i < n_names(answering, from); i++)
		for (uint32_t j = 0; j < n_names(answering, to); j++) {
			struct triad_answer_end source =
				name_end(answering, from, i, true);
			struct triad_answer_end destination =
				name_end(answering, to, j, false);

			answer_pair(answering, &source, &destination);
			/* If OpenSM must answer, drop the records found so far. */
			if (!is_open(answering) ||
				(answering->request->one && answering->answer->n))
				return;
		}
}

static void answer_one(struct triad_answering *answering)
{
	const struct triad_path_request *request = answering->request;
	struct named from = {.has_gid = request->has & TRIAD_HAS_SGID,
		.has_lid = request->has & TRIAD_HAS_SLID,
		.gid = request->gids[0],
		.lid = request->slid};
	struct named to = {.has_gid = request->has & TRIAD_HAS_DGID,
		.has_lid = request->has & TRIAD_HAS_DLID,
		.gid = request->gids[1],
		.lid = request->dlid};

	if (to.has_gid && to.gid.prefix >> 56 == 0xff) {
		triad_answering_fall_back(answering, TRIAD_FALLBACK_MULTICAST);
		return;
	}
	if ((!from.has_gid && !from.has_lid) || (!to.has_gid && !to.has_lid) ||
		(to.has_gid && !triad_answering_is_local(answering, &to.gid))) {
		triad_answering_fall_back(answering, TRIAD_FALLBACK_ENDS);
		return;
	}
	/* A destination in another subnet is reached through a router, which OpenSM
	 * finds.  From a source in another subnet no path begins here. */
	if (from.has_gid && !triad_answering_is_local(answering, &from.gid))
		return;
	if (!look_up_end(answering, &from) || !look_up_end(answering, &to))
		return;
	if (disagrees(&from) || disagrees(&to)) {
		triad_answering_fail(answering, TRIAD_SA_REQUEST_INVALID);
		return;
	}
	answer_names(answering, &from, &to);
}

/* --- the whole --- */

void triad_answer_path(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, uint16_t requester,
	struct triad_answer *answer)
{
	const struct triad_paths *paths = snapshot->paths;
	struct triad_answering answering = {
		.snapshot = snapshot,
		.request = request,
		.answer = answer,
		.requester = requester < TRIAD_PATH_N_LIDS
			? paths->port_of_lid[requester]
			: TRIAD_FABRIC_NONE,
	};

	answer->kind = TRIAD_ANSWER_RECORDS;
	answer->fallback = TRIAD_FALLBACK_NOT;
	answer->status = TRIAD_SA_OK;
	answer->n = 0;
	answer->source = answer->destination = TRIAD_FABRIC_NONE;
	answer->level = answer->rule = TRIAD_POLICY_NONE;
	/* Note the ends first: the caller needs them to restrict a request that it
	 * passes on. */
	if (!request->multi) {
		answer->source = named_port(&answering, TRIAD_HAS_SGID,
			&request->gids[0], TRIAD_HAS_SLID, request->slid);
		answer->destination = named_port(&answering, TRIAD_HAS_DGID,
			&request->gids[1], TRIAD_HAS_DLID, request->dlid);
	}
	if (answering.requester == TRIAD_FABRIC_NONE)
		triad_answering_fall_back(&answering, TRIAD_FALLBACK_REQUESTER);
	else if (triad_paths_port_is_marked(snapshot->paths, answering.requester))
		triad_answering_fall_back(&answering, TRIAD_FALLBACK_CHANGED);
	else if (request->has & TRIAD_HAS_RAW && request->raw)
		triad_answering_fall_back(&answering, TRIAD_FALLBACK_RAW);
	else if (request->multi)
		triad_answering_multi(&answering);
	else
		answer_one(&answering);
}
