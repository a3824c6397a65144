/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/decide.h"

#include <glib.h>

#include "ib/rates.h"

#define MTU_1024 3

const char *triad_refusal_text(enum triad_refusal refusal)
{
	static const char *const texts[TRIAD_N_REFUSALS] = {
		[TRIAD_REFUSAL_NONE] = "there is a path",
		[TRIAD_REFUSAL_UNSURE] = ("the way is not known for certain at this "
					  "moment: OpenSM answers"),
		[TRIAD_REFUSAL_VL15] = "no SL has a VL on every hop",
		[TRIAD_REFUSAL_TOO_LONG] = "the way is longer than 64 switches",
		[TRIAD_REFUSAL_LEVEL_SL] = "the level's SL comes to VL15 on the way",
		[TRIAD_REFUSAL_MTU] = "no MTU is left that was asked for",
		[TRIAD_REFUSAL_RATE] = "no rate is left that was asked for",
		[TRIAD_REFUSAL_LIFE] = "no packet lifetime is left that was asked for",
		[TRIAD_REFUSAL_PKEY_NOT_SHARED] =
			"the ports do not share the P_Key that was asked for",
		[TRIAD_REFUSAL_PKEY_NOT_OF_LEVEL] =
			"the P_Key that was asked for is none of the level's",
		[TRIAD_REFUSAL_NO_PKEY] = "the ports share no P_Key",
		[TRIAD_REFUSAL_NO_PKEY_OF_LEVEL] =
			"the ports share none of the level's P_Keys",
		[TRIAD_REFUSAL_SL_NOT_OF_LEVEL] =
			"the SL that was asked for is not the level's",
		[TRIAD_REFUSAL_SL_VL15] = "the SL comes to VL15 on the way",
		[TRIAD_REFUSAL_SL_NOT_OF_ENGINE] =
			"the routing engine wants another SL than was asked for",
		[TRIAD_REFUSAL_NOT_REVERSIBLE] =
			"there is no such path back, and it was asked for",
	};

	return refusal < TRIAD_N_REFUSALS ? texts[refusal] : "unknown";
}

static bool asks(const struct triad_path_ask *ask, unsigned what)
{
	return ask->request->has & what;
}

/* --- limits of the links --- */

static enum triad_refusal refusal_of(enum triad_walk_end end)
{
	switch (end) {
	case TRIAD_WALK_ARRIVED:
		return TRIAD_REFUSAL_NONE;
	case TRIAD_WALK_NO_SL:
		return TRIAD_REFUSAL_VL15;
	case TRIAD_WALK_TOO_LONG:
		return TRIAD_REFUSAL_TOO_LONG;
	/* OpenSM may have newer tables than this copy, so a table that leads nowhere
	 * does not prove that there is no path. */
	case TRIAD_WALK_NO_ROUTE:
	case TRIAD_WALK_MARKED:
		break;
	}
	return TRIAD_REFUSAL_UNSURE;
}

/* A Tavor is faster with packets of 1,024 octets.  It gets them unless the request asks
 * for larger ones. */
static bool prefers_1024(const struct triad_path_ask *ask)
{
	const struct triad_path_end *ends = ask->paths->ends;

	if (!ask->paths->fabric->sa.quirks ||
		(!ends[ask->from].is_tavor && !ends[ask->to].is_tavor))
		return false;
	if (!asks(ask, TRIAD_HAS_MTU))
		return true;
	switch (ask->request->mtu_selector) {
	case TRIAD_SELECT_GREATER:
	case TRIAD_SELECT_EXACTLY:
		return ask->request->mtu <= MTU_1024;
	case TRIAD_SELECT_BEST:
		return false;
	default:
		return true;
	}
}

/* --- selectors of the request --- */

/* Applies a selector to an MTU or a lifetime, whose codes are in the order of the
 * values, from 'least' on.  False when no value is left. */
static bool select_value(uint8_t selector, uint8_t wanted, uint8_t *value)
{
	switch (selector) {
	case TRIAD_SELECT_GREATER:
		return *value > wanted;
	case TRIAD_SELECT_LESS:
		if (*value < wanted)
			return true;
		/* OpenSM finds nothing below 1. */
		if (wanted <= 1)
			return false;
		*value = wanted - 1;
		return true;
	case TRIAD_SELECT_EXACTLY:
		if (*value < wanted)
			return false;
		*value = wanted;
		return true;
	default:
		return true;
	}
}

static enum triad_refusal choose_mtu(
	const struct triad_path_ask *ask, const struct triad_walk *walk, uint8_t *mtu)
{
	const struct triad_path_request *request = ask->request;

	/* Apply the limits first, then the request: its selector chooses among what is
	 * allowed. */
	*mtu = walk->mtu;
	if (prefers_1024(ask))
		*mtu = MIN(*mtu, MTU_1024);
	if (ask->level && ask->level->has_mtu_limit)
		*mtu = MIN(*mtu, ask->level->mtu_limit);
	if (asks(ask, TRIAD_HAS_MTU) &&
		!select_value(request->mtu_selector, request->mtu, mtu))
		return TRIAD_REFUSAL_MTU;
	return TRIAD_REFUSAL_NONE;
}

static enum triad_refusal choose_rate(
	const struct triad_path_ask *ask, const struct triad_walk *walk, uint8_t *rate)
{
	const struct triad_path_request *request = ask->request;
	uint8_t rank = walk->rank;

	/* Use ranks: the codes of rates are not in the order of the rates. */
	if (ask->level && ask->level->has_rate_limit)
		rank = MIN(rank, triad_rate_rank(ask->level->rate_limit));
	if (asks(ask, TRIAD_HAS_RATE)) {
		uint8_t wanted = triad_rate_rank(request->rate);

		/* "Exactly" refuses another rate, even a slower one. */
		if (request->rate_selector == TRIAD_SELECT_EXACTLY && rank != wanted)
			return TRIAD_REFUSAL_RATE;
		if (!select_value(request->rate_selector, wanted, &rank))
			return TRIAD_REFUSAL_RATE;
	}
	*rate = triad_rate_of_rank(rank);
	return TRIAD_REFUSAL_NONE;
}

/* Packets to oneself take no time [IBA table 205]. */
static enum triad_refusal choose_life(const struct triad_path_ask *ask, uint8_t *life)
{
	const struct triad_path_request *request = ask->request;

	/* A level's lifetime is no limit: it replaces the subnet's. */
	if (ask->from == ask->to)
		*life = 0;
	else if (ask->level && ask->level->has_packet_life)
		*life = ask->level->packet_life;
	else
		*life = ask->paths->fabric->sa.subnet_timeout;
	if (asks(ask, TRIAD_HAS_LIFE) &&
		!select_value(request->life_selector, request->life, life))
		return TRIAD_REFUSAL_LIFE;
	return TRIAD_REFUSAL_NONE;
}

/* --- P_Key and SL --- */

uint16_t triad_path_level_pkey(const struct triad_paths *paths,
	const struct triad_policy_level *level, uint32_t from, uint32_t to)
{
	const struct triad_pkey_set *set =
		&paths->pkey_sets[paths->ends[from].pkey_set];
	uint16_t best = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		uint16_t base = paths->pkeys[set->at + i] & 0x7fff;

		/* Check all: the set is in OpenSM's order, not by value. */
		if ((!best || base < best) && triad_ranges_has(&level->pkeys, base) &&
			triad_paths_share_this_pkey(paths, from, to, base))
			best = base;
	}
	return best;
}

static enum triad_refusal choose_pkey(const struct triad_path_ask *ask, uint16_t *pkey)
{
	bool has_list = ask->level && ask->level->pkeys.n;

	if (asks(ask, TRIAD_HAS_PKEY)) {
		*pkey = ask->request->pkey;
		if (!triad_paths_share_this_pkey(ask->paths, ask->from, ask->to, *pkey))
			return TRIAD_REFUSAL_PKEY_NOT_SHARED;
		if (has_list && !triad_ranges_has(&ask->level->pkeys, *pkey & 0x7fff))
			return TRIAD_REFUSAL_PKEY_NOT_OF_LEVEL;
		return TRIAD_REFUSAL_NONE;
	}
	if (has_list) {
		*pkey = triad_path_level_pkey(
			ask->paths, ask->level, ask->from, ask->to);
		return *pkey ? TRIAD_REFUSAL_NONE : TRIAD_REFUSAL_NO_PKEY_OF_LEVEL;
	}
	*pkey = triad_paths_common_pkey(ask->paths, ask->from, ask->to);
	return *pkey ? TRIAD_REFUSAL_NONE : TRIAD_REFUSAL_NO_PKEY;
}

/* Refuses an SL that a hop of the path drops.  If the SM programs no tables, no SL is
 * known to be dropped. */
static enum triad_refusal choose_sl(const struct triad_path_ask *ask,
	const struct triad_walk *walk, uint16_t pkey, uint8_t *sl)
{
	bool has_sl = ask->level && ask->level->has_sl;

	/* If a hop drops the level's SL, no request of this level gets a path: report
	 * this before reasons that concern only this request. */
	if (has_sl && !(walk->sls >> ask->level->sl & 1))
		return TRIAD_REFUSAL_LEVEL_SL;
	if (asks(ask, TRIAD_HAS_SL) && has_sl && ask->level->sl != ask->request->sl)
		return TRIAD_REFUSAL_SL_NOT_OF_LEVEL;
	if (asks(ask, TRIAD_HAS_SL))
		*sl = ask->request->sl;
	else if (has_sl)
		*sl = ask->level->sl;
	else
		*sl = triad_paths_partition_sl(ask->paths, pkey);
	return walk->sls >> *sl & 1 ? TRIAD_REFUSAL_NONE : TRIAD_REFUSAL_SL_VL15;
}

/* Asks the routing engine for the SL: some engines avoid deadlocks by SLs. */
static enum triad_refusal ask_engine(
	const struct triad_path_ask *ask, uint16_t slid, uint16_t dlid, uint8_t *sl)
{
	uint8_t hint = *sl;

	/* Like OpenSM, don't ask for a MultiPathRecord. */
	if (!ask->paths->fabric->sa.engine_has_sl || ask->request->multi)
		return TRIAD_REFUSAL_NONE;
	if (!ask->engine.sl)
		return TRIAD_REFUSAL_UNSURE;
	/* The engine gets our SL as a hint, which it may follow. */
	*sl = ask->engine.sl(ask->engine.context, hint, slid, dlid) & 0xf;
	return asks(ask, TRIAD_HAS_SL) && *sl != hint ? TRIAD_REFUSAL_SL_NOT_OF_ENGINE
						      : TRIAD_REFUSAL_NONE;
}

/* --- the whole --- */

void triad_path_decide_links(const struct triad_path_ask *ask, uint16_t slid,
	uint16_t dlid, struct triad_path_decision *decision)
{
	struct triad_walk walk;
	enum triad_refusal refusal;

	triad_paths_walk(ask->paths, ask->from, ask->to, dlid, false, &walk);
	decision->links = (uint8_t)walk.links;
	/* Stop at the first refusal.  Choose the P_Key before the SL, because the
	 * partition may give the SL. */
	refusal = refusal_of(walk.end);
	if (!refusal)
		refusal = choose_mtu(ask, &walk, &decision->mtu);
	if (!refusal)
		refusal = choose_rate(ask, &walk, &decision->rate);
	if (!refusal)
		refusal = choose_life(ask, &decision->life);
	if (!refusal)
		refusal = choose_pkey(ask, &decision->pkey);
	if (!refusal)
		refusal = choose_sl(ask, &walk, decision->pkey, &decision->sl);
	if (!refusal)
		refusal = ask_engine(ask, slid, dlid, &decision->sl);
	decision->refusal = refusal;
}

void triad_path_decide(const struct triad_path_ask *ask, uint16_t slid, uint16_t dlid,
	struct triad_path_decision *decision)
{
	struct triad_path_ask back = *ask;
	struct triad_path_decision way_back;

	triad_path_decide_links(ask, slid, dlid, decision);
	if (decision->refusal)
		return;
	/* Decide the path back with the same level and the same request. */
	back.from = ask->to;
	back.to = ask->from;
	triad_path_decide_links(&back, dlid, slid, &way_back);
	decision->reversible = !way_back.refusal;
	/* The answer states whether the path is reversible: if the reverse path is
	 * uncertain, this path is, too. */
	if (way_back.refusal == TRIAD_REFUSAL_UNSURE)
		decision->refusal = TRIAD_REFUSAL_UNSURE;
	else if (!decision->reversible && asks(ask, TRIAD_HAS_REVERSIBLE) &&
		ask->request->reversible)
		decision->refusal = TRIAD_REFUSAL_NOT_REVERSIBLE;
}

bool triad_path_bits_allow(const struct triad_policy_level *level,
	const struct triad_path_end *to, uint16_t dlid)
{
	unsigned n_lids = 1u << to->lmc, bits = (dlid - to->lid) & (n_lids - 1);

	if (!level || !level->path_bits.n)
		return true;
	/* A port uses only as many low path bits as it has LIDs: check all values that
	 * lead to the same LID. */
	for (unsigned i = bits; i < 128; i += n_lids)
		if (triad_ranges_has(&level->path_bits, i))
			return true;
	return false;
}

uint8_t triad_path_reported_rate(
	const struct triad_path_ask *ask, const struct triad_path_decision *decision)
{
	const struct triad_fabric_sa *sa = &ask->paths->fabric->sa;
	const struct triad_path_end *ends = ask->paths->ends;
	uint8_t rate = decision->rate;

	if (sa->rate_limit)
		return triad_rate_limited(rate, sa->rate_limit);
	if (sa->original_rates)
		return triad_rate_original(rate);
	if (rate < 19) /* every client knows it */
		return rate;
	/* Give a later rate only to ports that announce support for it.  Both ends use
	 * a reversible path, so both must support it. */
	rate = triad_rate_for(rate, ends[ask->from].rate_caps);
	return decision->reversible ? triad_rate_for(rate, ends[ask->to].rate_caps)
				    : rate;
}
