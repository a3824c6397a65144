/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/plan.h"

#include <stddef.h>

const char *triad_heal_kind_name(unsigned kind)
{
	static const char *const names[TRIAD_HEAL_N_KINDS] = {
		[TRIAD_HEAL_BIT_ERRORS] = "bit_errors",
		[TRIAD_HEAL_ERRORS] = "errors",
		[TRIAD_HEAL_FLAPS] = "flaps",
		[TRIAD_HEAL_HOT] = "hot",
		[TRIAD_HEAL_DARK] = "dark",
		[TRIAD_HEAL_SLOW] = "slow",
		[TRIAD_HEAL_RESTARTS] = "restarts",
		[TRIAD_HEAL_SILENT] = "silent",
	};

	return kind < TRIAD_HEAL_N_KINDS ? names[kind] : "?";
}

static const struct {
	const char *name, *text;
} remedies[TRIAD_HEAL_N_REMEDIES] = {
	[TRIAD_HEAL_RETRAIN] = {"retrain", "retrain it"},
	[TRIAD_HEAL_SLOWER] = {"slower", "less speed or width"},
	[TRIAD_HEAL_OUT] = {"out", "out of routing"},
	[TRIAD_HEAL_DISABLE] = {"disable", "disable it"},
};

const char *triad_heal_remedy_name(unsigned remedy)
{
	return remedy < TRIAD_HEAL_N_REMEDIES ? remedies[remedy].name : "?";
}

const char *triad_heal_remedy_text(unsigned remedy)
{
	return remedy < TRIAD_HEAL_N_REMEDIES ? remedies[remedy].text : "?";
}

static const struct {
	const char *name, *text;
} whys[TRIAD_HEAL_N_WHYS] = {
	[TRIAD_HEAL_TAKE] = {"take", NULL},
	[TRIAD_HEAL_IS_OUT] = {"is_out", "it is out of routing already"},
	[TRIAD_HEAL_NODE] = {"node", "a node is left to people"},
	[TRIAD_HEAL_LAST_OF_HOST] = {"last_of_host", "it is the last link of its host"},
	[TRIAD_HEAL_OF_HOST] = {"of_host",
		"what is sent to that port of the host would be lost"},
	[TRIAD_HEAL_WAY_TO_SM] = {"way_to_sm", "it is the only way to an SM"},
	[TRIAD_HEAL_ONLY_WAY] = {"only_way", "it is the only way to a node"},
	[TRIAD_HEAL_NO_SM] = {"sm_unknown", "it is not known how this SM reaches it"},
	[TRIAD_HEAL_NO_ROUTES] = {"routes_unknown", "routes are not known"},
	[TRIAD_HEAL_NO_TIERS] = {"tiers_unknown",
		"the fabric is no tree, so it is not known what share of its paths each "
		"switch would keep"},
	[TRIAD_HEAL_NOT_SURE] = {"not_sure", "the evidence is not sure"},
	[TRIAD_HEAL_TIER_FULL] = {"max_out",
		"as many links of its tier are out, or would be taken, as may be "
		"(heal.max_out)"},
	[TRIAD_HEAL_CAPACITY] = {"min_capacity",
		"a switch would keep too small a share of its paths (heal.min_capacity)"},
	[TRIAD_HEAL_TOO_MANY] = {"too_many",
		"too many links are bad: its cost was not looked at"},
};

const char *triad_heal_why_name(unsigned why)
{
	return why < TRIAD_HEAL_N_WHYS ? whys[why].name : "?";
}

const char *triad_heal_why_text(unsigned why)
{
	return why < TRIAD_HEAL_N_WHYS ? whys[why].text : "?";
}
