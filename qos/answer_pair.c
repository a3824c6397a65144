/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/answer_parts.h"

#define LINK_LOCAL UINT64_C(0xfe80000000000000)
#define LINK_LOCAL_MASK UINT64_C(0xffc0000000000000)

/* Preferences of paths between two ends, as in OpenSM: paths that share no LID with
 * each other, and all others. */
#define PREFERENCE_APART 0
#define PREFERENCE_OTHER 2

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
	/* A partition may have a level.  For a request without a P_Key, use the
	 * partition that both ends would use. */
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

/* Whether the SM has not given the port a LID yet, so that no path leads there.  OpenSM
 * still answers a MultiPathRecord then: leaves such a request to it. */
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
	/* Two causes are possible: this thread can't ask the engine, or the sweep has
	 * changed the path.  Count the first one if the engine chooses SLs. */
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

	/* First the diagonal, the i-th LID of one end with the i-th of the other: these
	 * paths share no LID with each other. */
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

bool triad_answering_is_local(
	const struct triad_answering *answering, const struct triad_gid *gid)
{
	return (gid->prefix & LINK_LOCAL_MASK) == LINK_LOCAL ||
		gid->prefix == paths_of(answering)->fabric->sa.subnet_prefix;
}
