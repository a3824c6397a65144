/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/permission.h"

/* In the order of the bits. */
static const struct {
	const char *word, *text;
} reasons[TRIAD_PERMISSION_N_REASONS] = {
	{"off", "elections are off: set election.enabled to true"},
	{"witness", "this SM is a witness, which only votes (election.witness)"},
	{"cut_off", "the cluster can't be reached from here: see 'trouble'"},
	{"no_quorum",
		"no majority of the cluster is on this side: bring the missing members "
		"back, or say 'triadctl port confirm' once it is certain that they are down"},
	{"blacklisted",
		"this SM is on the blacklist: 'triadctl port blacklist remove GUID' takes it "
		"off"},
	{"check_no",
		"the external check says no: see what the command says that 'triadctl "
		"election check' runs"},
	{"check_missing",
		"the external check has not answered lately: start 'triadctl election "
		"check', or set election.check_required to false"},
	{"old_config",
		"a newer generation of the expected configuration is known in the cluster: "
		"load it here"},
	{"other_config",
		"another member has the same generation of the expected configuration with "
		"other contents: load the same file everywhere, with a higher generation"},
	{"ports_down",
		"no local port of this SM is up, or not for long enough: look at its links"},
	{"not_elected",
		"this SM does not have the lease: another one has it, or nobody yet"},
	{"unconfirmed",
		"somebody came or went, and a majority has not confirmed since"},
	{"expired",
		"no majority has answered in time: the lease has run out; if that was for a "
		"moment, look in all members' logs for an election that ran late"},
	{"not_master", "OpenSM here is not the master of the fabric"},
	{"not_up", "OpenSM here has not brought the subnet up yet"},
};

/* The reasons that keep this SM from holding the lease at all. */
static uint32_t own_reasons(const struct triad_permission_facts *facts)
{
	uint32_t found = 0;

	if (!facts->is_on)
		found |= TRIAD_PERMISSION_OFF;
	if (facts->is_witness)
		found |= TRIAD_PERMISSION_WITNESS;
	if (facts->is_blacklisted)
		found |= TRIAD_PERMISSION_BLACKLISTED;
	if (facts->check == TRIAD_CHECK_NO)
		found |= TRIAD_PERMISSION_CHECK_NO;
	if (facts->check == TRIAD_CHECK_MISSING)
		found |= TRIAD_PERMISSION_CHECK_MISSING;
	if (facts->has_old_config)
		found |= TRIAD_PERMISSION_OLD_CONFIG;
	if (facts->has_other_config)
		found |= TRIAD_PERMISSION_OTHER_CONFIG;
	if (!facts->has_good_port)
		found |= TRIAD_PERMISSION_PORTS_DOWN;
	return found;
}

static uint32_t lease_reasons(
	const struct triad_permission_facts *facts, uint64_t now_us)
{
	uint32_t found = 0;

	if (!facts->is_connected)
		found |= TRIAD_PERMISSION_CUT_OFF;
	if (!facts->is_quorate)
		found |= TRIAD_PERMISSION_NO_QUORUM;
	if (!facts->is_holder && facts->has_run_out)
		found |= TRIAD_PERMISSION_EXPIRED;
	if (!facts->is_holder)
		return found | TRIAD_PERMISSION_NOT_ELECTED;
	if (!facts->is_confirmed)
		found |= TRIAD_PERMISSION_UNCONFIRMED;
	/* End permission by the clock: the facts are as old as the election's last
	 * step, and its thread may hang. */
	if (now_us >= facts->deadline_us)
		found |= TRIAD_PERMISSION_EXPIRED;
	return found;
}

bool triad_permission_is_able(const struct triad_permission_facts *facts)
{
	return !own_reasons(facts);
}

struct triad_permission triad_permission_judge(
	const struct triad_permission_facts *facts, uint64_t now_us)
{
	uint32_t found = own_reasons(facts) | lease_reasons(facts, now_us);

	if (!facts->is_sm_master)
		found |= TRIAD_PERMISSION_NOT_MASTER;
	else if (!facts->is_subnet_up)
		found |= TRIAD_PERMISSION_NOT_UP;
	return (struct triad_permission){.is_given = !found,
		.reasons = found,
		.term = found ? 0 : facts->term,
		.deadline_us = found ? 0 : facts->deadline_us,
		.by_hand_view = facts->by_hand_view,
		.n_votes_by_hand = facts->n_votes_by_hand};
}

struct triad_permission triad_permission_judge_term(
	const struct triad_permission_facts *facts, uint64_t term, uint64_t now_us)
{
	struct triad_permission permission = triad_permission_judge(facts, now_us);

	/* A lease of another term is another permission: it does not cover actions that
	 * were recorded under the old one. */
	if (permission.is_given && permission.term != term)
		return (struct triad_permission){
			.reasons = TRIAD_PERMISSION_NOT_ELECTED};
	return permission;
}

const char *triad_permission_word(unsigned reason_bit)
{
	return reason_bit < TRIAD_PERMISSION_N_REASONS ? reasons[reason_bit].word : "";
}

const char *triad_permission_text(unsigned reason_bit)
{
	return reason_bit < TRIAD_PERMISSION_N_REASONS ? reasons[reason_bit].text : "";
}
