/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which SM becomes master of its part of a divided fabric, while the election goes on. */
#include "portmgr/election/divided.h"

#include "portmgr/election/priority.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

#define S TRIAD_US_PER_S
#define MS TRIAD_US_PER_MS
/* If the priorities are equal, the lower id wins. */
#define MASTER 1u
#define BETTER 3u
#define HERE 5u
#define WORSE 9u
#define STRANGER 7u /* does not elect */
#define GOOD (TRIAD_PRIORITY_PORTS_OK | 8u << 14 | 2u << 8)

static struct triad_divided divided;
static struct triad_election_status election;
static struct triad_fabric_peer peers[4];
static uint32_t n_peers;
static uint64_t now_us;

static void add_member(uint64_t id)
{
	election.members[election.n_members++] = (struct triad_election_member){
		.id = id, .priority = GOOD, .is_self = id == HERE};
}

static void set_verdict(uint64_t id, enum triad_fabric_verdict verdict)
{
	uint32_t i = 0;

	while (i < n_peers && peers[i].id != id)
		i++;
	if (i == n_peers)
		n_peers++;
	peers[i] = (struct triad_fabric_peer){.id = id, .verdict = verdict};
}

static void set_up(void)
{
	divided = (struct triad_divided){.leads = false};
	election = (struct triad_election_status){
		.state = TRIAD_ELECTION_STANDBY, .master = MASTER};
	n_peers = 0;
	now_us = 100 * S;
	add_member(HERE);
	add_member(MASTER);
	add_member(BETTER);
	add_member(WORSE);
	set_verdict(MASTER, TRIAD_FABRIC_MASTER);
	set_verdict(BETTER, TRIAD_FABRIC_PORT_SILENT);
	set_verdict(WORSE, TRIAD_FABRIC_STANDBY);
}

static void tear_down(void)
{
}

static bool leads(void)
{
	bool did = divided.leads;
	bool changed = triad_divided_look(&divided, &election, peers, n_peers, now_us);

	ck_assert_int_eq(changed, divided.leads != did);
	return divided.leads;
}

static void divide(void)
{
	set_verdict(MASTER, TRIAD_FABRIC_PORT_SILENT);
	ck_assert(leads());
}

START_TEST(test_whole_fabric_only_the_elected_master_leads)
{
	static const enum triad_fabric_verdict others[] = {TRIAD_FABRIC_MASTER,
		TRIAD_FABRIC_STANDBY, TRIAD_FABRIC_UNKNOWN, TRIAD_FABRIC_NO_SM,
		TRIAD_FABRIC_SM_SILENT};

	/* A port without an SM is no cut: the election, or OpenSM, sees to it. */
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		set_verdict(MASTER, others[i]);
		ck_assert(!leads());
	}
}
END_TEST

START_TEST(test_port_of_the_master_silent_best_one_here_leads_at_once)
{
	divide();
	/* Its OpenSM forgets the port, so that nobody asks there. */
	set_verdict(MASTER, TRIAD_FABRIC_UNKNOWN);
	now_us += 100 * S;
	ck_assert(leads());
	set_verdict(MASTER, TRIAD_FABRIC_MASTER);
	ck_assert(!leads());
}
END_TEST

START_TEST(test_better_one_here_has_time_to_lead)
{
	set_verdict(MASTER, TRIAD_FABRIC_PORT_SILENT);
	set_verdict(BETTER, TRIAD_FABRIC_STANDBY);
	ck_assert(!leads());
	now_us += S;
	ck_assert(!leads());
	set_verdict(BETTER, TRIAD_FABRIC_MASTER);
	now_us += 100 * S;
	ck_assert(!leads());
}
END_TEST

START_TEST(test_better_one_here_that_does_not_lead_is_not_waited_for)
{
	set_verdict(MASTER, TRIAD_FABRIC_PORT_SILENT);
	set_verdict(BETTER, TRIAD_FABRIC_STANDBY);
	ck_assert(!leads());
	now_us += 2 * S;
	ck_assert(leads());
	/* Two lead: the better one goes on. */
	set_verdict(BETTER, TRIAD_FABRIC_MASTER);
	ck_assert(!leads());
}
END_TEST

START_TEST(test_worse_one_that_leads_too_changes_nothing)
{
	divide();
	set_verdict(WORSE, TRIAD_FABRIC_MASTER);
	ck_assert(leads());
}
END_TEST

START_TEST(test_master_here_without_election_is_enough)
{
	set_verdict(MASTER, TRIAD_FABRIC_PORT_SILENT);
	set_verdict(STRANGER, TRIAD_FABRIC_MASTER);
	ck_assert(!leads());
	set_verdict(STRANGER, TRIAD_FABRIC_STANDBY);
	ck_assert(leads());
}
END_TEST

START_TEST(test_election_goes_on_meanwhile)
{
	divide();
	/* Who is master is open; the part keeps its own. */
	election.state = TRIAD_ELECTION_ELECTING;
	election.master = 0;
	ck_assert(leads());
	/* Another one at the far side. */
	election.state = TRIAD_ELECTION_STANDBY;
	election.master = BETTER;
	ck_assert(leads());
	/* One on this side. */
	election.master = WORSE;
	ck_assert(!leads());
}
END_TEST

START_TEST(test_elected_one_leads_by_its_election)
{
	divide();
	election.state = TRIAD_ELECTION_MASTER;
	election.master = HERE;
	ck_assert(!leads());
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("divided");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_whole_fabric_only_the_elected_master_leads);
	tcase_add_test(
		cases, test_port_of_the_master_silent_best_one_here_leads_at_once);
	tcase_add_test(cases, test_better_one_here_has_time_to_lead);
	tcase_add_test(
		cases, test_better_one_here_that_does_not_lead_is_not_waited_for);
	tcase_add_test(cases, test_worse_one_that_leads_too_changes_nothing);
	tcase_add_test(cases, test_master_here_without_election_is_enough);
	tcase_add_test(cases, test_election_goes_on_meanwhile);
	tcase_add_test(cases, test_elected_one_leads_by_its_election);
	return run_cases(cases);
}
