/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes OpenSM do what the election decided: a master that waits for a hand-over, and a
 * standby that replaces a dead master.  OpenSM's structures are real, its functions are
 * substitutes. */
#include "plugin/opensm.h"

#include "plugin/election/fabric_ask.h"
#include "plugin/election/sm_control.h"
#include "service/umad.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

#define OWN UINT64_C(0x100001)
#define OTHER UINT64_C(0x100004)
/* How long tests wait for an event that must happen, and for one that must not: several
 * periods in which sm_control.c checks OpenSM. */
#define MUST_US (20 * TRIAD_US_PER_S)
#define MUST_NOT_US (TRIAD_US_PER_S / 2)

static struct osm_opensm osm;
static osm_remote_sm_t remote;
static struct triad_sm_control *control;
static atomic_uint n_sweeps, n_discoveries;
static atomic_bool is_other_ignored; /* ignore_other_sm in the last discovery */
static struct triad_fabric_dead dead;
static uint64_t master_over_fabric;
static atomic_uint verdict; /* on the other SM, as its port answers */
static atomic_uint n_traps;
static struct osm_subn_opt file_opts;

/* OpenSM's threads write it without a lock. */
static void set_sm_state(uint8_t state)
{
	__atomic_store_n(&osm.subn.sm_state, state, __ATOMIC_RELEASE);
}

/* --- substitutes for OpenSM --- */

volatile unsigned int osm_exit_flag;

cl_map_item_t *cl_qmap_get(const cl_qmap_t *map, uint64_t key)
{
	bool is_there = map == &osm.subn.sm_guid_tbl && key == remote.smi.guid;

	return is_there ? &remote.map_item : (cl_map_item_t *)cl_qmap_end(map);
}

struct osm_port *osm_get_port_by_guid(osm_subn_t const *subn, ib_net64_t guid)
{
	return NULL;
}

int osm_send_trap144(struct osm_sm *sm, ib_net16_t local_changes)
{
	atomic_fetch_add(&n_traps, 1);
	return 0;
}

ib_api_status_t osm_sm_state_mgr_process(struct osm_sm *sm, osm_sm_signal_t signal)
{
	set_sm_state(IB_SMINFO_STATE_DISCOVERING);
	atomic_store(&is_other_ignored, osm.subn.opt.ignore_other_sm);
	atomic_fetch_add(&n_discoveries, 1);
	return IB_SUCCESS;
}

cl_status_t cl_event_signal(cl_event_t *const event)
{
	return CL_SUCCESS;
}

void triad_fabric_ask_dead(
	struct triad_fabric_ask *ask, struct triad_fabric_dead *found)
{
	*found = dead;
}

bool triad_fabric_ask_peer(
	struct triad_fabric_ask *ask, uint64_t id, struct triad_fabric_peer *peer)
{
	*peer = (struct triad_fabric_peer){.id = id,
		.priority = 15,
		.verdict = (enum triad_fabric_verdict)atomic_load(&verdict)};
	return peer->verdict != TRIAD_FABRIC_UNKNOWN;
}

uint64_t triad_fabric_ask_master(struct triad_fabric_ask *ask)
{
	return master_over_fabric;
}

int triad_umad_open(uint64_t port_guid, int mgmt_class, struct triad_umad **umad)
{
	return ENODEV;
}

void triad_umad_close(struct triad_umad *umad, bool in_flight)
{
}

const struct triad_mad_transport *triad_umad_transport(struct triad_umad *umad)
{
	return NULL;
}

void osm_sm_sweep(struct osm_sm *sm)
{
	atomic_fetch_add(&n_sweeps, 1);
}

/* --- cases --- */

static void set_remote(uint8_t priority, uint8_t state)
{
	remote.smi.guid = cl_hton64(OTHER);
	remote.smi.pri_state = (uint8_t)(priority << 4 | state);
}

/* Puts the only other SM into OpenSM's table of SMs. */
static void know_remote(void)
{
	cl_qmap_t *all = &osm.subn.sm_guid_tbl;
	cl_map_item_t *end = &all->nil;

	all->state = CL_INITIALIZED;
	end->pool_item.list_item.p_next = &remote.map_item.pool_item.list_item;
	remote.map_item.pool_item.list_item.p_next = &end->pool_item.list_item;
}

static void set_up(void)
{
	memset(&osm, 0, sizeof(osm));
	memset(&file_opts, 0, sizeof(file_opts));
	dead = (struct triad_fabric_dead){.n = 1, .ids = {OTHER}, .master = OTHER};
	atomic_store(&n_sweeps, 0);
	atomic_store(&n_discoveries, 0);
	atomic_store(&n_traps, 0);
	master_over_fabric = 0;
	atomic_store(&verdict, TRIAD_FABRIC_UNKNOWN);
	know_remote();
	cl_plock_init(&osm.lock);
	osm.sm.p_subn = &osm.subn;
	osm.sm.p_lock = &osm.lock;
	osm.subn.sm_port_guid = cl_hton64(OWN);
	osm.subn.sm_state = IB_SMINFO_STATE_MASTER;
	osm.subn.opt.sm_priority = 15;
	set_remote(15, IB_SMINFO_STATE_MASTER);
	control = triad_sm_control_new(&osm, NULL, NULL);
	ck_assert_ptr_nonnull(control);
}

static void tear_down(void)
{
	triad_sm_control_free(control);
	cl_plock_destroy(&osm.lock);
}

static ib_net64_t waits_for(void)
{
	ib_net64_t guid;

	cl_plock_acquire(&osm.lock);
	guid = osm.sm.polling_sm_guid;
	cl_plock_release(&osm.lock);
	return guid;
}

static void begin_to_wait(void)
{
	cl_plock_excl_acquire(&osm.lock);
	__atomic_store_n(&osm.sm.polling_sm_guid, cl_hton64(OTHER), __ATOMIC_RELEASE);
	cl_plock_release(&osm.lock);
}

static bool stops_waiting(uint64_t within_us)
{
	uint64_t end_us = triad_clock_now_us() + within_us;

	while (waits_for() && triad_clock_now_us() < end_us)
		usleep(1000);
	return !waits_for();
}

static void set_target(uint8_t priority, bool is_master)
{
	struct triad_sm_target target = {.is_set = true,
		.priority = priority,
		.is_master = is_master,
		.is_quorate = true,
		.other_master = is_master ? 0 : OTHER};

	triad_sm_control_set(control, &target);
}

START_TEST(test_lowered_while_it_waits_waits_no_more_and_sweeps)
{
	begin_to_wait();
	set_target(6, false);
	ck_assert(stops_waiting(MUST_US));
	for (uint64_t end_us = triad_clock_now_us() + MUST_US;
		!n_sweeps && triad_clock_now_us() < end_us; usleep(1000))
		continue;
	ck_assert_uint_ge(n_sweeps, 1);
}
END_TEST

/* A sweep in progress makes OpenSM wait only after the priority has changed. */
START_TEST(test_begins_to_wait_when_lowered_waits_no_more)
{
	set_target(6, false);
	usleep(MUST_NOT_US);
	begin_to_wait();
	ck_assert(stops_waiting(MUST_US));
}
END_TEST

START_TEST(test_higher_one_waits_on)
{
	begin_to_wait();
	set_target(15, true);
	ck_assert(!stops_waiting(MUST_NOT_US));
}
END_TEST

START_TEST(test_other_one_raised_waits_no_more)
{
	set_remote(6, IB_SMINFO_STATE_MASTER);
	begin_to_wait();
	set_target(14, true);
	ck_assert(!stops_waiting(MUST_NOT_US));
	cl_plock_excl_acquire(&osm.lock);
	set_remote(15, IB_SMINFO_STATE_MASTER);
	cl_plock_release(&osm.lock);
	ck_assert(stops_waiting(MUST_US));
}
END_TEST

/* How often the SM sweeps while its vain wait comes back each time. */
static unsigned sweeps_of_waits_that_come_back(void)
{
	uint64_t end_us = triad_clock_now_us() + 3 * TRIAD_US_PER_S;

	for (; triad_clock_now_us() < end_us; usleep(10000))
		begin_to_wait();
	return atomic_load(&n_sweeps);
}

/* Now, after one second, after two more: nothing sends or sweeps on each tick. */
START_TEST(test_vain_wait_that_comes_back_sweeps_less_and_less_often)
{
	set_target(6, true);
	ck_assert_uint_le(sweeps_of_waits_that_come_back(), 3);
	ck_assert_uint_ge(atomic_load(&n_sweeps), 2);
}
END_TEST

/* It was a standby of the election from the start, and OpenSM made it master. */
START_TEST(test_master_that_is_to_yield_sweeps_less_and_less_often)
{
	struct triad_sm_target target = {
		.is_set = true, .priority = 6, .n_members = 1, .members = {OTHER}};

	triad_sm_control_set(control, &target);
	usleep(3500000);
	ck_assert_uint_ge(atomic_load(&n_sweeps), 1);
	ck_assert_uint_le(atomic_load(&n_sweeps), 3);
}
END_TEST

/* With a majority it does not. */
START_TEST(test_master_without_a_majority_sweeps_less_and_less_often)
{
	struct triad_sm_target target = {
		.is_set = true, .priority = 6, .is_master = true, .is_quorate = _i};

	triad_sm_control_set(control, &target);
	usleep(3800000);
	ck_assert_uint_ge(atomic_load(&n_sweeps), _i ? 0 : 2);
	ck_assert_uint_le(atomic_load(&n_sweeps), _i ? 0 : 3);
}
END_TEST

START_TEST(test_no_elections_opensm_left_alone)
{
	osm.subn.opt.sm_priority = 6;
	begin_to_wait();
	ck_assert(!stops_waiting(MUST_NOT_US));
}
END_TEST

/* --- taking over from a dead master --- */

static bool wait_for_within(const atomic_uint *n, uint64_t us)
{
	uint64_t end_us = triad_clock_now_us() + us;

	while (!atomic_load(n) && triad_clock_now_us() < end_us)
		usleep(1000);
	return atomic_load(n);
}

static bool wait_for(const atomic_uint *n)
{
	return wait_for_within(n, MUST_US);
}

static bool is_ignoring(void)
{
	bool is;

	cl_plock_acquire(&osm.lock);
	is = osm.subn.opt.ignore_other_sm;
	cl_plock_release(&osm.lock);
	return is;
}

static bool stops_ignoring(void)
{
	uint64_t end_us = triad_clock_now_us() + MUST_US;

	while (is_ignoring() && triad_clock_now_us() < end_us)
		usleep(1000);
	return !is_ignoring();
}

/* Requests a take-over; returns whether its discovery ignores other SMs. */
static bool take_over_beside(bool is_quorate, uint64_t member, bool is_standby)
{
	struct triad_sm_target target = {.is_set = true,
		.priority = 15,
		.is_master = true,
		.is_quorate = is_quorate,
		.n_members = member ? 1 : 0,
		.members = {member},
		.n_standby = is_standby,
		.standby = {is_standby ? member : 0}};

	set_sm_state(IB_SMINFO_STATE_STANDBY);
	triad_sm_control_set(control, &target);
	ck_assert(wait_for(&n_discoveries));
	return atomic_load(&is_other_ignored);
}

static bool take_over(bool is_quorate, uint64_t standby)
{
	return take_over_beside(is_quorate, standby, standby != 0);
}

/* A standby's discovery found a higher master that does not elect, as OpenSM's table
 * has it from then on. */
static void find_higher_master(enum triad_fabric_verdict is)
{
	const struct triad_sm_target target = {
		.is_set = true, .priority = 14, .is_master = true};

	osm.sm.master_sm_guid = cl_hton64(OTHER);
	atomic_store(&verdict, is);
	set_sm_state(IB_SMINFO_STATE_STANDBY);
	triad_sm_control_set(control, &target);
	ck_assert(wait_for(&n_discoveries));
	set_sm_state(IB_SMINFO_STATE_STANDBY);
}

START_TEST(test_higher_master_outside_the_election_is_left_alone_while_it_is_one)
{
	find_higher_master(TRIAD_FABRIC_MASTER);
	usleep(MUST_NOT_US);
	ck_assert_uint_eq(atomic_load(&n_discoveries), 1);
	ck_assert_uint_eq(atomic_load(&n_traps), 0);
	/* It answers otherwise long before OpenSM's table is renewed. */
	atomic_store(&n_discoveries, 0);
	atomic_store(&verdict, TRIAD_FABRIC_STANDBY);
	ck_assert(wait_for_within(&n_discoveries, 2 * TRIAD_US_PER_S));
}
END_TEST

START_TEST(test_higher_master_that_does_not_answer_is_left_to_opensm)
{
	find_higher_master(TRIAD_FABRIC_UNKNOWN);
	usleep(MUST_NOT_US);
	ck_assert_uint_eq(atomic_load(&n_discoveries), 1);
	ck_assert_uint_eq(atomic_load(&n_traps), 0);
}
END_TEST

/* Row: N12 */
START_TEST(test_dead_master_is_not_asked_until_this_one_is_master)
{
	ck_assert(take_over(true, 0));
	usleep(100000);
	ck_assert(is_ignoring());
	set_sm_state(IB_SMINFO_STATE_MASTER);
	ck_assert(stops_ignoring());
	ck_assert_uint_eq(triad_sm_control_status(control).n_unasked, 1);
}
END_TEST

START_TEST(test_discovery_that_takes_long_asks_again)
{
	uint64_t begin_us = triad_clock_now_us();

	ck_assert(take_over(true, 0));
	ck_assert(stops_ignoring());
	ck_assert_int_eq(
		triad_osm_peek(&osm.subn.sm_state), IB_SMINFO_STATE_DISCOVERING);
	ck_assert_uint_ge(triad_clock_now_us() - begin_us, 2 * TRIAD_US_PER_S);
}
END_TEST

START_TEST(test_elections_off_in_discovery_asks_again)
{
	const struct triad_sm_target off = {.is_set = false};

	ck_assert(take_over(true, 0));
	triad_sm_control_set(control, &off);
	ck_assert(stops_ignoring());
}
END_TEST

/* The plugin ends while OpenSM ignores other SMs. */
START_TEST(test_end_in_discovery_gives_the_option_back)
{
	ck_assert(take_over(true, 0));
	triad_sm_control_free(control);
	control = NULL;
	ck_assert(!osm.subn.opt.ignore_other_sm);
}
END_TEST

START_TEST(test_what_opensm_conf_has_meanwhile_stays)
{
	osm.subn.opt.file_opts = &file_opts;
	ck_assert(take_over(true, 0));
	cl_plock_excl_acquire(&osm.lock);
	file_opts.ignore_other_sm = TRUE;
	cl_plock_release(&osm.lock);
	set_sm_state(IB_SMINFO_STATE_MASTER);
	usleep(MUST_NOT_US);
	ck_assert(is_ignoring());
}
END_TEST

START_TEST(test_administrators_own_value_stays)
{
	osm.subn.opt.ignore_other_sm = TRUE;
	ck_assert(take_over(true, 0));
	set_sm_state(IB_SMINFO_STATE_MASTER);
	usleep(MUST_NOT_US);
	ck_assert(is_ignoring());
	ck_assert_uint_eq(triad_sm_control_status(control).n_unasked, 0);
}
END_TEST

START_TEST(test_no_majority_all_are_asked)
{
	ck_assert(!take_over(false, 0));
}
END_TEST

START_TEST(test_no_sm_dead_all_are_asked)
{
	memset(&dead, 0, sizeof(dead));
	ck_assert(!take_over(true, OTHER));
}
END_TEST

/* The dead SM isn't the master of our port. */
START_TEST(test_dead_one_is_not_the_master_all_are_asked)
{
	dead.master = 0;
	ck_assert(!take_over(true, 0));
}
END_TEST

START_TEST(test_stranger_in_opensms_table_all_are_asked)
{
	remote.smi.guid = cl_hton64(OTHER + 1);
	ck_assert(!take_over(true, 0));
}
END_TEST

START_TEST(test_other_in_opensms_table_that_is_standby_none_is_asked)
{
	remote.smi.guid = cl_hton64(OTHER + 1);
	ck_assert(take_over(true, OTHER + 1));
}
END_TEST

/* Two SMs may both consider themselves elected while they receive nothing from each
 * other. */
START_TEST(test_silent_member_is_waited_for_and_asked)
{
	uint64_t begin_us = triad_clock_now_us();

	remote.smi.guid = cl_hton64(OTHER + 1);
	ck_assert(!take_over_beside(true, OTHER + 1, false));
	ck_assert_uint_ge(triad_clock_now_us() - begin_us, 400 * TRIAD_US_PER_MS);
}
END_TEST

START_TEST(test_member_that_reports_in_time_none_is_asked)
{
	struct triad_sm_target target = {.is_set = true,
		.priority = 15,
		.is_master = true,
		.is_quorate = true,
		.n_members = 1,
		.members = {OTHER + 1}};

	remote.smi.guid = cl_hton64(OTHER + 1);
	set_sm_state(IB_SMINFO_STATE_STANDBY);
	triad_sm_control_set(control, &target);
	usleep(100000);
	ck_assert(take_over(true, OTHER + 1));
}
END_TEST

START_TEST(test_dead_master_that_reports_standby_all_are_asked)
{
	ck_assert(!take_over(true, OTHER));
}
END_TEST

START_TEST(test_master_over_the_fabric_alone_is_asked_first)
{
	memset(&dead, 0, sizeof(dead));
	master_over_fabric = OTHER;
	ck_assert(!take_over(true, 0));
	ck_assert_uint_ge(n_traps, 1);
	ck_assert_uint_eq(triad_sm_control_status(control).n_unasked, 0);
}
END_TEST

/* The view still contains the dead SM; only with it is there a majority. */
START_TEST(test_too_few_that_are_standby_all_are_asked)
{
	struct triad_sm_target target = {.is_set = true,
		.priority = 15,
		.is_master = true,
		.is_quorate = true,
		.n_standby_needed = 1};

	set_sm_state(IB_SMINFO_STATE_STANDBY);
	triad_sm_control_set(control, &target);
	ck_assert(wait_for(&n_discoveries));
	ck_assert(!is_other_ignored);
}
END_TEST

static void add_dead_masters(TCase *cases)
{
	tcase_add_test(cases,
		test_higher_master_outside_the_election_is_left_alone_while_it_is_one);
	tcase_add_test(
		cases, test_higher_master_that_does_not_answer_is_left_to_opensm);
	tcase_add_test(cases, test_dead_master_is_not_asked_until_this_one_is_master);
	tcase_add_test(cases, test_discovery_that_takes_long_asks_again);
	tcase_add_test(cases, test_elections_off_in_discovery_asks_again);
	tcase_add_test(cases, test_end_in_discovery_gives_the_option_back);
	tcase_add_test(cases, test_what_opensm_conf_has_meanwhile_stays);
	tcase_add_test(cases, test_administrators_own_value_stays);
	tcase_add_test(cases, test_no_majority_all_are_asked);
	tcase_add_test(cases, test_no_sm_dead_all_are_asked);
	tcase_add_test(cases, test_dead_one_is_not_the_master_all_are_asked);
	tcase_add_test(cases, test_stranger_in_opensms_table_all_are_asked);
	tcase_add_test(
		cases, test_other_in_opensms_table_that_is_standby_none_is_asked);
	tcase_add_test(cases, test_master_over_the_fabric_alone_is_asked_first);
	tcase_add_test(cases, test_too_few_that_are_standby_all_are_asked);
	tcase_add_test(cases, test_silent_member_is_waited_for_and_asked);
	tcase_add_test(cases, test_member_that_reports_in_time_none_is_asked);
	tcase_add_test(cases, test_dead_master_that_reports_standby_all_are_asked);
}

int main(void)
{
	TCase *cases = tcase_create("sm_control");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_lowered_while_it_waits_waits_no_more_and_sweeps);
	tcase_add_test(cases, test_begins_to_wait_when_lowered_waits_no_more);
	tcase_add_test(cases, test_higher_one_waits_on);
	tcase_add_test(cases, test_other_one_raised_waits_no_more);
	tcase_add_test(
		cases, test_vain_wait_that_comes_back_sweeps_less_and_less_often);
	tcase_add_test(cases, test_master_that_is_to_yield_sweeps_less_and_less_often);
	tcase_add_loop_test(
		cases, test_master_without_a_majority_sweeps_less_and_less_often, 0, 2);
	tcase_add_test(cases, test_no_elections_opensm_left_alone);
	add_dead_masters(cases);
	return run_cases(cases);
}
