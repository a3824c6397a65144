/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/sa/sa_role.h"

static bool keeps_own(const struct triad_sa_past *past,
	const struct triad_sa_facts *facts, uint64_t now_us)
{
	if (!past->was_master ||
		(!facts->has_lease && now_us - past->lease_us >= TRIAD_SA_LEASE_US))
		return false;
	return facts->sm == TRIAD_SA_SM_MASTER ||
		now_us - past->master_us < TRIAD_SA_KEEP_US;
}

enum triad_sa_role triad_sa_role(const struct triad_sa_past *past,
	const struct triad_sa_facts *facts, uint64_t now_us)
{
	bool follows = facts->sm == TRIAD_SA_SM_STANDBY ||
		(facts->sm == TRIAD_SA_SM_MASTER && facts->other);

	if (follows && !keeps_own(past, facts, now_us))
		return TRIAD_SA_TAKES;
	return facts->sm == TRIAD_SA_SM_MASTER && facts->is_up ? TRIAD_SA_GIVES
							       : TRIAD_SA_RESTS;
}

void triad_sa_past_note(
	struct triad_sa_past *past, const struct triad_sa_facts *facts, uint64_t now_us)
{
	if (facts->has_lease)
		past->lease_us = now_us;
	if (triad_sa_role(past, facts, now_us) == TRIAD_SA_TAKES) {
		past->was_master = false;
		return;
	}
	if (facts->sm == TRIAD_SA_SM_MASTER) {
		past->was_master = true;
		past->master_us = now_us;
	}
}
