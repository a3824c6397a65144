/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The watch of other SMs over the fabric: which port it queries when, and what it
 * concludes from the answers. */
#include "portmgr/election/fabric_watch.h"

#include <string.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

#define MS TRIAD_US_PER_MS
#define S TRIAD_US_PER_S
#define STATUS_MS 100u
#define MASTER 0x10u
#define OTHER 0x20u
#define MASTER_LID 3u
#define OTHER_LID 7u
#define STEP_US (10 * MS)

/* How a port and its SM behave. */
struct port {
	uint64_t id;
	uint16_t lid;
	bool answers, has_sm, sm_answers;
	uint8_t state;
};

static struct triad_fabric_watch watch;
static uint64_t now_us;
static struct port ports[2];
static uint16_t table[2];       /* the ports' LIDs in OpenSM's tables */
static uint64_t received_us[2]; /* when the election last got a message */
static bool are_received[2];
static unsigned n_sm_info[2], n_node_info[2];

static void set_up(void)
{
	now_us = 1000 * S;
	memset(&watch, 0, sizeof(watch));
	triad_fabric_watch_init(&watch, 100, STATUS_MS);
	ports[0] = (struct port){
		MASTER, MASTER_LID, true, true, true, TRIAD_SM_STATE_MASTER};
	ports[1] = (struct port){
		OTHER, OTHER_LID, true, true, true, TRIAD_SM_STATE_STANDBY};
	table[0] = MASTER_LID;
	table[1] = OTHER_LID;
	are_received[0] = are_received[1] = true;
	memset(n_sm_info, 0, sizeof(n_sm_info));
	memset(n_node_info, 0, sizeof(n_node_info));
}

static void look(void)
{
	for (unsigned i = 0; i < 2; i++)
		triad_fabric_watch_address(&watch, ports[i].id, table[i], 0, now_us);
	triad_fabric_watch_master_lid(&watch, MASTER_LID, 0, now_us);
}

static void elect(void)
{
	struct triad_fabric_member members[2];

	for (unsigned i = 0; i < 2; i++) {
		if (are_received[i])
			received_us[i] = now_us;
		members[i] = (struct triad_fabric_member){
			.id = ports[i].id, .received_us = received_us[i]};
	}
	triad_fabric_watch_members(&watch, members, 2, MASTER);
}

/* Delivers a query to the port that has its LID, and the answer to the watch. */
static void deliver(const struct triad_fabric_question *question)
{
	struct triad_fabric_answer answer = {.tid = question->tid};
	bool is_sm = question->attribute == TRIAD_SMP_SM_INFO;

	for (unsigned i = 0; i < 2; i++) {
		const struct port *port = &ports[i];

		if (port->lid != question->lid)
			continue;
		n_sm_info[i] += is_sm;
		n_node_info[i] += !is_sm;
		answer.guid = port->id;
		answer.state = port->state;
		answer.is_refused = is_sm && !port->has_sm;
		if (port->answers && (!is_sm || port->sm_answers || !port->has_sm))
			triad_fabric_watch_answer(&watch, &answer, now_us);
	}
}

static void run(uint64_t us)
{
	struct triad_fabric_question question;

	for (uint64_t end_us = now_us + us; now_us < end_us; now_us += STEP_US) {
		elect();
		look();
		triad_fabric_watch_run(&watch, now_us);
		while (triad_fabric_watch_next(&watch, now_us, &question))
			deliver(&question);
	}
	triad_fabric_watch_run(&watch, now_us);
}

static enum triad_fabric_verdict verdict_of(uint64_t id)
{
	for (uint32_t i = 0; i < watch.n_peers; i++)
		if (watch.peers[i].id == id)
			return watch.peers[i].verdict;
	return TRIAD_FABRIC_N_VERDICTS;
}

static struct triad_fabric_dead dead(void)
{
	struct triad_fabric_dead found;

	triad_fabric_watch_dead(&watch, now_us, &found);
	return found;
}

/* --- no faults --- */

START_TEST(test_master_is_asked_each_period_and_others_each_second)
{
	run(10 * S);
	ck_assert_uint_eq(n_sm_info[0], 100);
	ck_assert_uint_eq(n_sm_info[1], 10);
	ck_assert_uint_eq(n_node_info[0] + n_node_info[1], 0);
	ck_assert_int_eq(verdict_of(MASTER), TRIAD_FABRIC_MASTER);
	ck_assert_int_eq(verdict_of(OTHER), TRIAD_FABRIC_STANDBY);
	ck_assert_uint_eq(dead().n, 0);
	ck_assert_uint_eq(watch.n_missed, 0);
}
END_TEST

START_TEST(test_off_nobody_is_asked)
{
	triad_fabric_watch_init(&watch, 0, STATUS_MS);
	run(S);
	ck_assert_uint_eq(watch.n_asked, 0);
	ck_assert_uint_eq(triad_fabric_watch_next_us(&watch, now_us), UINT64_MAX);
}
END_TEST

START_TEST(test_next_is_when_something_is_due)
{
	run(S);
	for (unsigned i = 0; i < 200; i++) {
		struct triad_fabric_question question;
		uint64_t next_us;

		are_received[0] = i < 50;
		elect();
		next_us = triad_fabric_watch_next_us(&watch, now_us);
		ck_assert_uint_ge(next_us, now_us);
		ck_assert(next_us == now_us ||
			!triad_fabric_watch_next(&watch, now_us, &question));
		now_us = next_us;
		triad_fabric_watch_run(&watch, now_us);
		while (triad_fabric_watch_next(&watch, now_us, &question))
			deliver(&question);
	}
}
END_TEST

/* --- an SM that hangs --- */

/* Row: N12 */
START_TEST(test_hung_master_is_dead_soon)
{
	uint64_t stopped_us;

	run(S);
	stopped_us = now_us;
	ports[0].sm_answers = are_received[0] = false;
	while (!dead().n && now_us < stopped_us + S)
		run(STEP_US);
	ck_assert_uint_le(now_us - stopped_us, 380 * MS);
	ck_assert_uint_ge(now_us - stopped_us, 250 * MS);
	ck_assert_uint_eq(dead().master, MASTER);
	ck_assert_int_eq(verdict_of(MASTER), TRIAD_FABRIC_SM_SILENT);
	ck_assert_int_eq(verdict_of(OTHER), TRIAD_FABRIC_STANDBY);
}
END_TEST

START_TEST(test_silent_sm_that_the_election_receives_from_is_not_dead)
{
	run(S);
	ports[0].sm_answers = false;
	run(2 * S);
	ck_assert_int_eq(verdict_of(MASTER), TRIAD_FABRIC_SM_SILENT);
	ck_assert_uint_eq(dead().n, 0);
}
END_TEST

/* Each message that the election receives restarts the count. */
START_TEST(test_silent_sm_that_the_election_receives_from_at_times_is_not_dead)
{
	run(S);
	ports[0].sm_answers = false;
	for (unsigned i = 0; i < 10; i++) {
		are_received[0] = false;
		run(200 * MS);
		ck_assert_uint_eq(dead().n, 0);
		are_received[0] = true;
		run(STEP_US);
	}
}
END_TEST

START_TEST(test_who_goes_silent_is_asked_every_40_ms)
{
	unsigned n;

	run(S);
	are_received[1] = false;
	run(S);
	n = n_sm_info[1];
	run(S);
	ck_assert_uint_eq(n_sm_info[1] - n, 25);
}
END_TEST

/* The master's SM stops answering; runs until the watch is certain that it is dead. */
static void hang_master(void)
{
	run(S);
	ports[0].sm_answers = are_received[0] = false;
	run(S);
	ck_assert_uint_eq(dead().n, 1);
}

START_TEST(test_hung_sm_whose_port_goes_silent_is_not_dead)
{
	hang_master();
	ports[0].answers = false;
	run(150 * MS);
	ck_assert_uint_eq(dead().n, 0);
}
END_TEST

START_TEST(test_hung_sm_that_goes_on_is_alive_at_once)
{
	hang_master();
	ports[0].sm_answers = true;
	run(50 * MS);
	ck_assert_int_eq(verdict_of(MASTER), TRIAD_FABRIC_MASTER);
	ck_assert_uint_eq(dead().n, 0);
}
END_TEST

/* The watch forgets a death if it wasn't run for a while: perhaps its own thread was
 * stopped, not the SM. */
START_TEST(test_death_is_over_when_it_is_old)
{
	hang_master();
	now_us += 400 * MS;
	ck_assert_uint_eq(dead().n, 0);
}
END_TEST

/* The watch queries an SM that is dead for long only once a second.  That is too seldom
 * to be certain of its death. */
START_TEST(test_long_dead_is_asked_seldom)
{
	unsigned n;

	run(S);
	ports[1].sm_answers = are_received[1] = false;
	run(10 * S);
	n = n_sm_info[1];
	run(10 * S);
	ck_assert_uint_eq(n_sm_info[1] - n, 10);
	ck_assert_int_eq(verdict_of(OTHER), TRIAD_FABRIC_SM_SILENT);
}
END_TEST

/* When another SM dies, the SM that may take over must know the state of all. */
START_TEST(test_long_dead_is_asked_often_when_another_one_dies)
{
	run(S);
	ports[1].sm_answers = are_received[1] = false;
	run(10 * S);
	ports[0].sm_answers = are_received[0] = false;
	run(400 * MS);
	ck_assert_uint_eq(dead().n, 2);
	ck_assert_uint_eq(dead().master, MASTER);
}
END_TEST

START_TEST(test_hung_sm_elsewhere_than_the_master_of_our_port_is_no_dead_master)
{
	run(S);
	ports[0].sm_answers = are_received[0] = false;
	run(400 * MS);
	triad_fabric_watch_master_lid(&watch, OTHER_LID + 1, 0, now_us);
	ck_assert_uint_eq(dead().n, 1);
	ck_assert_uint_eq(dead().master, 0);
}
END_TEST

/* --- a port without an SM, and none at all --- */

START_TEST(test_killed_sm_is_dead_when_its_port_refuses)
{
	run(S);
	ports[0].has_sm = are_received[0] = false;
	run(150 * MS);
	ck_assert_uint_eq(dead().n, 0);
	run(200 * MS);
	ck_assert_uint_eq(dead().master, MASTER);
	ck_assert_int_eq(verdict_of(MASTER), TRIAD_FABRIC_NO_SM);
}
END_TEST

START_TEST(test_silent_port_proves_nothing)
{
	run(S);
	ports[0].answers = are_received[0] = false;
	run(2 * S);
	ck_assert_int_eq(verdict_of(MASTER), TRIAD_FABRIC_PORT_SILENT);
	ck_assert_uint_eq(dead().n, 0);
}
END_TEST

START_TEST(test_cut_off_master_that_answers_is_master)
{
	run(S);
	are_received[0] = false;
	run(2 * S);
	ck_assert_int_eq(verdict_of(MASTER), TRIAD_FABRIC_MASTER);
	ck_assert_uint_eq(dead().n, 0);
}
END_TEST

START_TEST(test_what_could_not_be_sent_is_not_missed)
{
	struct triad_fabric_question question;

	run(S);
	are_received[0] = false;
	for (unsigned i = 0; i < 100; i++) {
		now_us += STEP_US;
		elect();
		triad_fabric_watch_run(&watch, now_us);
		while (triad_fabric_watch_next(&watch, now_us, &question))
			triad_fabric_watch_unsent(&watch, question.tid);
	}
	ck_assert_uint_eq(watch.n_missed, 0);
	ck_assert_uint_eq(dead().n, 0);
}
END_TEST

/* --- LIDs --- */

/* Another port answers at the LID in OpenSM's table; the master answers at the SM LID
 * in our own port's PortInfo. */
START_TEST(test_old_lid_is_given_up_for_the_one_that_answers)
{
	table[0] = OTHER_LID;
	run(2 * S);
	ck_assert_int_eq(verdict_of(MASTER), TRIAD_FABRIC_MASTER);
	ck_assert_int_eq(verdict_of(OTHER), TRIAD_FABRIC_STANDBY);
	ck_assert_uint_le(n_sm_info[1], 3);
}
END_TEST

START_TEST(test_silence_at_an_old_lid_is_forgotten)
{
	hang_master();
	/* The port gets another LID, and its old LID goes to another port. */
	ports[0].lid = 9;
	ports[1].lid = MASTER_LID;
	run(200 * MS);
	ck_assert_uint_eq(dead().n, 0);
}
END_TEST

START_TEST(test_unknown_lid_is_not_asked)
{
	ports[0].lid = ports[1].lid = 0;
	elect();
	ck_assert_uint_eq(triad_fabric_watch_next_us(&watch, now_us), UINT64_MAX);
	ck_assert_int_eq(verdict_of(MASTER), TRIAD_FABRIC_UNKNOWN);
}
END_TEST

START_TEST(test_answer_to_nothing_changes_nothing)
{
	const struct triad_fabric_answer stray = {.tid = 12345, .guid = MASTER};

	run(S);
	ports[0].sm_answers = are_received[0] = false;
	run(400 * MS);
	triad_fabric_watch_answer(&watch, &stray, now_us);
	ck_assert_uint_eq(dead().n, 1);
}
END_TEST

/* --- SMs that do not elect --- */

/* Only OpenSM knows the second SM. */
static void run_with_stranger(uint64_t us)
{
	const struct triad_fabric_member master = {.id = MASTER, .received_us = now_us};
	struct triad_fabric_question question;

	for (uint64_t end_us = now_us + us; now_us < end_us; now_us += STEP_US) {
		triad_fabric_watch_members(&watch, &master, 1, MASTER);
		triad_fabric_watch_listed(&watch, OTHER, now_us);
		look();
		triad_fabric_watch_run(&watch, now_us);
		while (triad_fabric_watch_next(&watch, now_us, &question))
			deliver(&question);
	}
}

START_TEST(test_sm_that_only_opensm_knows_is_watched_too)
{
	run_with_stranger(2 * S);
	ck_assert_int_eq(verdict_of(OTHER), TRIAD_FABRIC_STANDBY);
	ports[1].state = TRIAD_SM_STATE_MASTER;
	run_with_stranger(2 * S);
	ck_assert_int_eq(verdict_of(OTHER), TRIAD_FABRIC_MASTER);
	ck_assert(!triad_fabric_peer_elects(&watch.peers[1]));
	ck_assert(triad_fabric_peer_elects(&watch.peers[0]));
}
END_TEST

/* Too little is known of it to take over without asking it. */
START_TEST(test_sm_that_only_opensm_knows_is_never_dead)
{
	run_with_stranger(2 * S);
	ports[1].sm_answers = false;
	run_with_stranger(5 * S);
	ck_assert_int_eq(verdict_of(OTHER), TRIAD_FABRIC_SM_SILENT);
	ck_assert_uint_eq(dead().n, 0);
}
END_TEST

START_TEST(test_sm_that_opensm_forgot_is_watched_while_it_answers)
{
	struct triad_fabric_question question;

	run_with_stranger(2 * S);
	for (unsigned i = 0; i < 20; i++, now_us += S) {
		ports[1].answers = i < 10;
		triad_fabric_watch_run(&watch, now_us);
		while (triad_fabric_watch_next(&watch, now_us, &question))
			deliver(&question);
		if (i == 9)
			ck_assert_int_eq(verdict_of(OTHER), TRIAD_FABRIC_STANDBY);
	}
	ck_assert_int_eq(verdict_of(OTHER), TRIAD_FABRIC_N_VERDICTS);
}
END_TEST

/* --- members that come and go --- */

START_TEST(test_lost_member_is_kept_while_it_answers)
{
	const struct triad_fabric_member other = {.id = OTHER, .received_us = now_us};
	struct triad_fabric_question question;

	run(S);
	for (unsigned i = 0; i < 1200; i++) {
		triad_fabric_watch_members(&watch, &other, 1, OTHER);
		triad_fabric_watch_run(&watch, now_us);
		while (triad_fabric_watch_next(&watch, now_us, &question))
			deliver(&question);
		now_us += S;
	}
	ck_assert_int_eq(verdict_of(MASTER), TRIAD_FABRIC_MASTER);
	ports[0].answers = false;
	for (unsigned i = 0; i < 5; i++) {
		triad_fabric_watch_run(&watch, now_us);
		while (triad_fabric_watch_next(&watch, now_us, &question))
			deliver(&question);
		now_us += S;
	}
	ck_assert_uint_eq(watch.n_peers, 1);
}
END_TEST

START_TEST(test_more_members_than_there_is_room_for)
{
	struct triad_fabric_member members[TRIAD_FABRIC_MAX_PEERS];

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < TRIAD_FABRIC_MAX_PEERS; i++)
			members[i] = (struct triad_fabric_member){
				.id = 1000 * round + i + 1, .received_us = now_us};
		triad_fabric_watch_members(&watch, members, TRIAD_FABRIC_MAX_PEERS, 0);
		ck_assert_uint_eq(watch.n_peers, TRIAD_FABRIC_MAX_PEERS);
		for (unsigned i = 0; i < TRIAD_FABRIC_MAX_PEERS; i++)
			ck_assert_int_ne(
				verdict_of(members[i].id), TRIAD_FABRIC_N_VERDICTS);
	}
}
END_TEST

/* --- on the wire --- */

START_TEST(test_smps_by_lid_are_as_the_specification_has_them)
{
	uint8_t mad[TRIAD_MAD_SIZE], data[TRIAD_SMP_DATA_SIZE] = {0};
	struct triad_sm_info info;

	triad_smp_encode_get_by_lid(mad, TRIAD_SMP_SM_INFO, 0, 0x0102030405060708, 77);
	ck_assert_mem_eq(mad, "\x01\x01\x01\x01\x00\x00\x00\x00", 8);
	ck_assert_mem_eq(mad + 8, "\x00\x00\x00\x00\x00\x00\x00\x4d\x00\x20", 10);
	ck_assert_mem_eq(mad + 24, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
	memcpy(data, "\x00\x00\x00\x00\x00\x10\x00\x01", 8);
	data[20] = 0xe3;
	info = triad_sm_info_decode(data);
	ck_assert_uint_eq(info.guid, 0x100001);
	ck_assert_uint_eq(info.priority, 14);
	ck_assert_uint_eq(info.state, TRIAD_SM_STATE_MASTER);
	memset(data, 0, sizeof(data));
	data[27] = 5;
	ck_assert_uint_eq(triad_node_info_port_guid(data), 5);
}
END_TEST

START_TEST(test_trap_of_priority_is_as_the_specification_has_it)
{
	const struct triad_sm_trap trap = {
		.lid = 0x1234, .node_type = 1, .capabilities = 0x02590a6a};
	uint8_t mad[TRIAD_MAD_SIZE];

	triad_smp_encode_priority_trap(mad, &trap, 9);
	ck_assert_mem_eq(mad, "\x01\x01\x01\x05\x00\x00\x00\x00", 8);
	ck_assert_mem_eq(mad + 16, "\x00\x02\x00\x00\x00\x00\x00\x00", 8);
	ck_assert_mem_eq(mad + 64, "\x84\x00\x00\x01\x00\x90\x12\x34\x00\x00", 10);
	ck_assert_mem_eq(mad + 74,
		"\x00\x00\x12\x34\x00\x01\x02\x59\x0a\x6a\x00\x08\x00\x00", 14);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("fabric_watch");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_master_is_asked_each_period_and_others_each_second);
	tcase_add_test(cases, test_off_nobody_is_asked);
	tcase_add_test(cases, test_next_is_when_something_is_due);
	tcase_add_test(cases, test_hung_master_is_dead_soon);
	tcase_add_test(
		cases, test_silent_sm_that_the_election_receives_from_is_not_dead);
	tcase_add_test(cases,
		test_silent_sm_that_the_election_receives_from_at_times_is_not_dead);
	tcase_add_test(cases, test_who_goes_silent_is_asked_every_40_ms);
	tcase_add_test(cases, test_hung_sm_whose_port_goes_silent_is_not_dead);
	tcase_add_test(cases, test_hung_sm_that_goes_on_is_alive_at_once);
	tcase_add_test(cases, test_death_is_over_when_it_is_old);
	tcase_add_test(cases, test_long_dead_is_asked_seldom);
	tcase_add_test(cases, test_long_dead_is_asked_often_when_another_one_dies);
	tcase_add_test(cases,
		test_hung_sm_elsewhere_than_the_master_of_our_port_is_no_dead_master);
	tcase_add_test(cases, test_killed_sm_is_dead_when_its_port_refuses);
	tcase_add_test(cases, test_silent_port_proves_nothing);
	tcase_add_test(cases, test_cut_off_master_that_answers_is_master);
	tcase_add_test(cases, test_what_could_not_be_sent_is_not_missed);
	tcase_add_test(cases, test_old_lid_is_given_up_for_the_one_that_answers);
	tcase_add_test(cases, test_silence_at_an_old_lid_is_forgotten);
	tcase_add_test(cases, test_unknown_lid_is_not_asked);
	tcase_add_test(cases, test_answer_to_nothing_changes_nothing);
	tcase_add_test(cases, test_sm_that_only_opensm_knows_is_watched_too);
	tcase_add_test(cases, test_sm_that_only_opensm_knows_is_never_dead);
	tcase_add_test(cases, test_sm_that_opensm_forgot_is_watched_while_it_answers);
	tcase_add_test(cases, test_lost_member_is_kept_while_it_answers);
	tcase_add_test(cases, test_more_members_than_there_is_room_for);
	tcase_add_test(cases, test_smps_by_lid_are_as_the_specification_has_them);
	tcase_add_test(cases, test_trap_of_priority_is_as_the_specification_has_it);
	return run_cases(cases);
}
