/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/answer.h"

#include "qos/answer_parts.h"

#define LINK_LOCAL UINT64_C(0xfe80000000000000)
#define LINK_LOCAL_MASK UINT64_C(0xffc0000000000000)

/* How paths with the LIDs of two ends are preferred [OpenSM]: those that share none,
 * and all others. */
#define PREFERENCE_APART 0
#define PREFERENCE_OTHER 2

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

void triad_answering_fall_back(
	struct triad_answering *answering, enum triad_fallback why)
{
	answering->answer->kind = TRIAD_ANSWER_FALL_BACK;
	answering->answer->fallback = why;
}

void triad_answering_fail(
	struct triad_answering *answering, enum triad_sa_status status)
{
	answering->answer->kind = TRIAD_ANSWER_STATUS;
	answering->answer->status = status;
}

static bool is_open(const struct triad_answering *answering)
{
	return answering->answer->kind == TRIAD_ANSWER_RECORDS;
}

static const struct triad_paths *paths_of(const struct triad_answering *answering)
{
	return answering->snapshot->paths;
}

/* --- one pair --- */

struct triad_class_request triad_answer_class_request(
	const struct triad_path_request *request, uint32_t source, uint32_t destination)
{
	return (struct triad_class_request){
		.source = source,
		.destination = destination,
		.has_service_id = request->has & TRIAD_HAS_SERVICE_ID,
		.has_tclass = request->has & TRIAD_HAS_TCLASS,
		.has_qos_class = request->has & TRIAD_HAS_QOS_CLASS,
		.has_pkey = request->has & TRIAD_HAS_PKEY,
		.has_sl = request->has & TRIAD_HAS_SL,
		.service_id = request->service_id,
		.tclass = request->tclass,
		.qos_class = request->qos_class,
		.pkey = request->pkey,
		.sl = request->sl,
	};
}

uint32_t triad_answer_level(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, uint32_t source, uint32_t destination,
	uint32_t *rule)
{
	const struct triad_class_request asked =
		triad_answer_class_request(request, source, destination);
	uint16_t pkey = 0;

	*rule = TRIAD_POLICY_NONE;
	if (!snapshot->classifier)
		return TRIAD_POLICY_NONE;
	/* A partition may have a level.  A request without a P_Key is in the partition
	 * that both ends would use. */
	if (asked.has_pkey)
		pkey = request->pkey;
	else if (source != TRIAD_FABRIC_NONE && destination != TRIAD_FABRIC_NONE)
		pkey = triad_paths_common_pkey(snapshot->paths, source, destination);
	return triad_classifier_level(snapshot->classifier, &asked, pkey, rule);
}

static bool is_changed(const struct triad_answering *answering, uint32_t port)
{
	return triad_paths_port_is_marked(paths_of(answering), port);
}

/* A port that the SM has not given a LID yet.  No path leads there.  But OpenSM answers
 * a MultiPathRecord all the same, so such a request is left to it. */
static bool has_no_lid_yet(const struct triad_answering *answering, uint32_t port)
{
	return answering->request->multi && !paths_of(answering)->ends[port].lid;
}

bool triad_answering_set_pair(struct triad_answering *answering,
	const struct triad_answer_end *source,
	const struct triad_answer_end *destination)
{
	struct triad_answer *answer = answering->answer;
	const struct triad_policy *policy;

	answer->source = source->port;
	answer->destination = destination->port;
	if (is_changed(answering, source->port) ||
		is_changed(answering, destination->port) ||
		has_no_lid_yet(answering, source->port) ||
		has_no_lid_yet(answering, destination->port)) {
		triad_answering_fall_back(answering, TRIAD_FALLBACK_CHANGED);
		return false;
	}
	answering->source = *source;
	answering->destination = *destination;
	answering->ask = (struct triad_path_ask){
		.paths = paths_of(answering),
		.request = answering->request,
		.engine = answering->snapshot->engine,
		.from = source->port,
		.to = destination->port,
	};
	answer->level = triad_answer_level(answering->snapshot, answering->request,
		source->port, destination->port, &answer->rule);
	if (answer->level != TRIAD_POLICY_NONE) {
		policy = triad_classifier_policy(answering->snapshot->classifier);
		answering->ask.level = &policy->levels[answer->level];
	}
	return true;
}

bool triad_answering_may_see(const struct triad_answering *answering)
{
	const struct triad_paths *paths = paths_of(answering);
	uint32_t from = answering->ask.from, to = answering->ask.to;

	return triad_paths_share_pkey(paths, answering->requester, from) &&
		triad_paths_share_pkey(paths, answering->requester, to) &&
		triad_paths_share_pkey(paths, from, to);
}

/* Without a policy OpenSM answers 0 [qos-rfc 3.2.2: the level's TClass is returned]. */
static uint8_t tclass_of(const struct triad_answering *answering)
{
	const struct triad_policy_level *level = answering->ask.level;

	if (!level)
		return 0;
	if (level->has_tclass)
		return level->tclass;
	return answering->request->has & TRIAD_HAS_TCLASS ? answering->request->tclass
							  : 0;
}

bool triad_answering_work_out(struct triad_answering *answering, uint32_t slid,
	uint32_t dlid, uint8_t preference, struct triad_path_record *path)
{
	const struct triad_path_ask *ask = &answering->ask;
	struct triad_path_decision decision;

	if (!triad_path_bits_allow(
		    ask->level, &ask->paths->ends[ask->to], (uint16_t)dlid))
		return false;
	triad_path_decide(ask, (uint16_t)slid, (uint16_t)dlid, &decision);
	/* Two causes end up here: the engine can't be asked in this thread, or the
	 * sweep has changed the way.  The counter names the first where it can be. */
	if (decision.refusal == TRIAD_REFUSAL_UNSURE)
		triad_answering_fall_back(answering,
			ask->paths->fabric->sa.engine_has_sl ? TRIAD_FALLBACK_ENGINE
							     : TRIAD_FALLBACK_CHANGED);
	if (decision.refusal)
		return false;
	*path = (struct triad_path_record){
		.dgid = answering->destination.gid,
		.sgid = answering->source.gid,
		.dlid = (uint16_t)dlid,
		.slid = (uint16_t)slid,
		.pkey = decision.pkey,
		.tclass = tclass_of(answering),
		.reversible = decision.reversible,
		.sl = decision.sl,
		.mtu = decision.mtu,
		.rate = triad_path_reported_rate(ask, &decision),
		.life = ask->from == ask->to ? 0 : decision.life,
		.preference = preference,
		.links = decision.links,
	};
	return true;
}

static bool add_path(struct triad_answering *answering, uint32_t slid, uint32_t dlid,
	uint8_t preference)
{
	struct triad_answer *answer = answering->answer;

	if (answer->n == answer->room) {
		triad_answering_fall_back(answering, TRIAD_FALLBACK_TOO_MANY);
		return false;
	}
	if (!triad_answering_work_out(
		    answering, slid, dlid, preference, &answer->records[answer->n]))
		return false;
	answer->n++;
	return true;
}

struct triad_lid_range triad_answering_lids(
	const struct triad_answering *answering, uint32_t port)
{
	const struct triad_path_end *end = &paths_of(answering)->ends[port];

	return (struct triad_lid_range){
		.first = end->lid, .last = end->lid + (1u << end->lmc) - 1};
}

uint32_t triad_answering_add_paths(struct triad_answering *answering,
	struct triad_lid_range sources, struct triad_lid_range destinations,
	uint32_t max)
{
	uint32_t n = 0, slid = sources.first, dlid = destinations.first;

	/* First the diagonal: the i-th LID of one end with the i-th of the other.
	 * These paths share no LID with each other. */
	for (; n < max && slid <= sources.last && dlid <= destinations.last &&
		is_open(answering);
		slid++, dlid++)
		n += add_path(answering, slid, dlid, PREFERENCE_APART);
	/* Then all others. */
	for (slid = sources.first; slid <= sources.last; slid++)
		for (dlid = destinations.first; dlid <= destinations.last; dlid++) {
			if (n >= max || !is_open(answering))
				return n;
			if (slid - sources.first != dlid - destinations.first)
				n += add_path(answering, slid, dlid, PREFERENCE_OTHER);
		}
	return n;
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
	/* A port without a LID can't be reached yet: no records, and no error. */
	if (sources.first && destinations.first)
		(void)triad_answering_add_paths(answering, sources, destinations, max);
}

bool triad_answering_is_local(
	const struct triad_answering *answering, const struct triad_gid *gid)
{
	return (gid->prefix & LINK_LOCAL_MASK) == LINK_LOCAL ||
		gid->prefix == paths_of(answering)->fabric->sa.subnet_prefix;
}

/* One end, as a request may name it. */
struct named {
	bool has_gid, has_lid;
	struct triad_gid gid;
	uint16_t lid;
	uint32_t by_gid, by_lid; /* ports; TRIAD_FABRIC_NONE */
};

/* False when no port has that LID: then there are no records; or that GUID: then OpenSM
 * must answer. */
static bool look_up(struct triad_answering *answering, struct named *named)
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

/* A GID and a LID were given, and belong to different ports. */
static bool disagrees(const struct named *named)
{
	return named->has_gid && named->has_lid && named->by_gid != named->by_lid;
}

/* In how many ways the end is to be named in the answer: see name_end(). */
static uint32_t n_names(
	const struct triad_answering *answering, const struct named *end)
{
	return end->has_gid ? 1 : paths_of(answering)->ends[end->by_lid].n_aliases;
}

/* The i-th way to name this end: the GID that was asked for, or each of the port's. */
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

/* The port that an end of a request names, as far as that is known, for the level of a
 * request that is passed on. */
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
			/* Records found so far are dropped when OpenSM must answer. */
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
	/* A destination elsewhere is reached through a router, which OpenSM finds.  A
	 * source elsewhere has no path that begins in this subnet. */
	if (from.has_gid && !triad_answering_is_local(answering, &from.gid))
		return;
	if (!look_up(answering, &from) || !look_up(answering, &to))
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
	/* The caller needs the ends to restrict a request that it passes on, so they
	 * are noted before anything can lead to that. */
	if (!request->multi) {
		answer->source = named_port(&answering, TRIAD_HAS_SGID,
			&request->gids[0], TRIAD_HAS_SLID, request->slid);
		answer->destination = named_port(&answering, TRIAD_HAS_DGID,
			&request->gids[1], TRIAD_HAS_DLID, request->dlid);
	}
	if (answering.requester == TRIAD_FABRIC_NONE)
		triad_answering_fall_back(&answering, TRIAD_FALLBACK_REQUESTER);
	else if (is_changed(&answering, answering.requester))
		triad_answering_fall_back(&answering, TRIAD_FALLBACK_CHANGED);
	else if (request->has & TRIAD_HAS_RAW && request->raw)
		triad_answering_fall_back(&answering, TRIAD_FALLBACK_RAW);
	else if (request->multi)
		triad_answering_multi(&answering);
	else
		answer_one(&answering);
}
