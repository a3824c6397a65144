/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/restrict.h"

#include "ib/rates.h"

/* From the flow label on, both attributes have the same layout and the same bits. */
#define PATH_AT 44
#define PATH_BIT 6
#define AT_PKEY 6
#define AT_QOS_CLASS_SL 8
#define AT_MTU 10
#define AT_RATE 11
#define AT_LIFE 12
#define BIT_PKEY 7
#define BIT_SL 9
#define BIT_MTU 10
#define BIT_RATE 12
#define BIT_LIFE 14

struct restricting {
	const struct triad_path_request *request;
	uint8_t *at; /* of the flow label */
	uint64_t *mask;
	unsigned first_bit;
};

static void set_bit(struct restricting *restricting, unsigned bit)
{
	*restricting->mask |= UINT64_C(1) << (restricting->first_bit + bit);
}

/* Sets 'selector' and 'value' at an octet whose component bits begin at 'bit'. */
static void restrict_octet(struct restricting *restricting, unsigned octet,
	unsigned bit, enum triad_selector selector, uint8_t value)
{
	restricting->at[octet] = (uint8_t)(selector << 6 | value);
	set_bit(restricting, bit);
	set_bit(restricting, bit + 1);
}

static bool has_component(const struct restricting *restricting, unsigned what)
{
	return restricting->request->has & what;
}

static bool restrict_sl(struct restricting *restricting, uint8_t sl)
{
	if (has_component(restricting, TRIAD_HAS_SL))
		return restricting->request->sl == sl;
	/* The octet's upper half belongs to the QoS class. */
	restricting->at[AT_QOS_CLASS_SL + 1] =
		(uint8_t)((restricting->at[AT_QOS_CLASS_SL + 1] & 0xf0) | sl);
	set_bit(restricting, BIT_SL);
	return true;
}

static bool restrict_mtu(struct restricting *restricting, uint8_t limit)
{
	const struct triad_path_request *request = restricting->request;
	uint8_t selector = has_component(restricting, TRIAD_HAS_MTU)
		? request->mtu_selector
		: TRIAD_SELECT_BEST;

	if (selector == TRIAD_SELECT_EXACTLY)
		return request->mtu <= limit;
	/* One selector can't express "more than this, at most the limit".  Ask for the
	 * limit, the one value that surely meets both. */
	if (selector == TRIAD_SELECT_GREATER) {
		restrict_octet(
			restricting, AT_MTU, BIT_MTU, TRIAD_SELECT_EXACTLY, limit);
		return request->mtu < limit;
	}
	if (selector == TRIAD_SELECT_LESS && request->mtu <= limit)
		return true;
	/* There is no "at most": ask for less than the value after the limit.  Nothing
	 * follows the largest MTU, so it limits nothing. */
	if (limit < TRIAD_MTU_MAX)
		restrict_octet(
			restricting, AT_MTU, BIT_MTU, TRIAD_SELECT_LESS, limit + 1);
	return true;
}

static bool restrict_rate(struct restricting *restricting, uint8_t limit)
{
	const struct triad_path_request *request = restricting->request;
	uint8_t selector = has_component(restricting, TRIAD_HAS_RATE)
		? request->rate_selector
		: TRIAD_SELECT_BEST;
	uint8_t highest = triad_rate_rank(limit),
		next = triad_rate_of_rank(highest + 1);
	uint8_t wanted = triad_rate_rank(request->rate);

	/* As for the MTU, but rates are in the order of their ranks. */
	if (selector == TRIAD_SELECT_EXACTLY)
		return wanted <= highest;
	if (selector == TRIAD_SELECT_GREATER) {
		restrict_octet(
			restricting, AT_RATE, BIT_RATE, TRIAD_SELECT_EXACTLY, limit);
		return wanted < highest;
	}
	if (selector == TRIAD_SELECT_LESS && wanted <= highest)
		return true;
	/* Nothing follows the highest rate that the SM supports, so it limits
	 * nothing. */
	if (next && next <= request->max_rate)
		restrict_octet(restricting, AT_RATE, BIT_RATE, TRIAD_SELECT_LESS, next);
	return true;
}

/* A level's lifetime is no limit: it replaces the subnet's.  So checks this one value
 * against the request, and asks OpenSM for it or for the nearest one. */
static bool restrict_life(struct restricting *restricting, uint8_t life)
{
	const struct triad_path_request *request = restricting->request;
	uint8_t selector = has_component(restricting, TRIAD_HAS_LIFE)
		? request->life_selector
		: TRIAD_SELECT_BEST;

	if (selector == TRIAD_SELECT_EXACTLY)
		return request->life <= life;
	if (selector == TRIAD_SELECT_LESS && request->life <= life)
		return true;
	if (selector == TRIAD_SELECT_GREATER && request->life >= life)
		return false;
	/* OpenSM finds nothing below 1. */
	if (!life)
		restrict_octet(restricting, AT_LIFE, BIT_LIFE, TRIAD_SELECT_EXACTLY, 0);
	else if (selector == TRIAD_SELECT_GREATER)
		restrict_octet(
			restricting, AT_LIFE, BIT_LIFE, TRIAD_SELECT_EXACTLY, life);
	else if (life < 63)
		restrict_octet(
			restricting, AT_LIFE, BIT_LIFE, TRIAD_SELECT_LESS, life + 1);
	return true;
}

static bool restrict_pkey(struct restricting *restricting,
	const struct triad_ranges *pkeys, uint16_t pkey)
{
	if (has_component(restricting, TRIAD_HAS_PKEY))
		return triad_ranges_has(pkeys, restricting->request->pkey & 0x7fff);
	/* As far as is known, the ends share none of the level's P_Keys.  If OpenSM has
	 * newer facts, its paths must be in one of them. */
	if (!pkey || !triad_ranges_has(pkeys, pkey & 0x7fff))
		pkey = (uint16_t)pkeys->items[0].first;
	restricting->at[AT_PKEY] = (uint8_t)(pkey >> 8);
	restricting->at[AT_PKEY + 1] = (uint8_t)pkey;
	set_bit(restricting, BIT_PKEY);
	return true;
}

bool triad_request_restrict(const struct triad_policy_level *level,
	const struct triad_path_request *request, uint16_t pkey, uint8_t *record,
	uint64_t *mask)
{
	struct restricting restricting = {
		.request = request,
		.at = record + (request->multi ? 0 : PATH_AT),
		.mask = mask,
		.first_bit = request->multi ? 0 : PATH_BIT,
	};

	return (!level->has_sl || restrict_sl(&restricting, level->sl)) &&
		(!level->has_mtu_limit ||
			restrict_mtu(&restricting, level->mtu_limit)) &&
		(!level->has_rate_limit ||
			restrict_rate(&restricting, level->rate_limit)) &&
		(!level->has_packet_life ||
			restrict_life(&restricting, level->packet_life)) &&
		(!level->pkeys.n || restrict_pkey(&restricting, &level->pkeys, pkey));
}
