/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* OpenSM made to do what the election decided: a master that waits for a hand-over.
 * OpenSM's structures are real, its functions are in their place here. */
#include "plugin/opensm.h"

#include "plugin/election/sm_control.h"

#include <string.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

#define OWN UINT64_C(0x100001)
#define OTHER UINT64_C(0x100004)
/* How long it is waited for something that must happen, and for what must not: a few of
 * the looks that sm_control.c takes at OpenSM. */
#define MUST_US (20 * TRIAD_US_PER_S)
#define MUST_NOT_US (TRIAD_US_PER_S / 2)

static struct osm_opensm osm;
static osm_remote_sm_t remote;
static struct triad_sm_control *control;
static atomic_uint n_sweeps;

/* --- in the place of OpenSM --- */

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
	return 0;
}

ib_api_status_t osm_sm_state_mgr_process(struct osm_sm *sm, osm_sm_signal_t signal)
{
	return IB_SUCCESS;
}

cl_status_t cl_event_signal(cl_event_t *const event)
{
	return CL_SUCCESS;
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

static void set_up(void)
{
	memset(&osm, 0, sizeof(osm));
	atomic_store(&n_sweeps, 0);
	cl_plock_init(&osm.lock);
	osm.sm.p_subn = &osm.subn;
	osm.sm.p_lock = &osm.lock;
	osm.subn.sm_port_guid = cl_hton64(OWN);
	osm.subn.sm_state = IB_SMINFO_STATE_MASTER;
	osm.subn.opt.sm_priority = 15;
	set_remote(15, IB_SMINFO_STATE_MASTER);
	control = triad_sm_control_new(&osm, NULL);
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
	osm.sm.polling_sm_guid = cl_hton64(OTHER);
	cl_plock_release(&osm.lock);
}

static bool stops_waiting(uint64_t within_us)
{
	uint64_t end_us = triad_clock_now_us() + within_us;

	while (waits_for() && triad_clock_now_us() < end_us)
		usleep(1000);
	return !waits_for();
}

static void wish(uint8_t priority, bool is_master)
{
	struct triad_sm_wish wish = {.is_set = true,
		.priority = priority,
		.is_master = is_master,
		.master = is_master ? 0 : OTHER};

	triad_sm_control_wish(control, &wish);
}

START_TEST(test_lowered_while_it_waits_waits_no_more_and_sweeps)
{
	begin_to_wait();
	wish(6, false);
	ck_assert(stops_waiting(MUST_US));
	for (uint64_t end_us = triad_clock_now_us() + MUST_US;
		!n_sweeps && triad_clock_now_us() < end_us; usleep(1000))
		continue;
	ck_assert_uint_ge(n_sweeps, 1);
}
END_TEST

/* A sweep that was under way sets it after the priority has changed. */
START_TEST(test_begins_to_wait_when_lowered_waits_no_more)
{
	wish(6, false);
	usleep(MUST_NOT_US);
	begin_to_wait();
	ck_assert(stops_waiting(MUST_US));
}
END_TEST

START_TEST(test_higher_one_waits_on)
{
	begin_to_wait();
	wish(15, true);
	ck_assert(!stops_waiting(MUST_NOT_US));
}
END_TEST

START_TEST(test_other_one_raised_waits_no_more)
{
	set_remote(6, IB_SMINFO_STATE_MASTER);
	begin_to_wait();
	wish(14, true);
	ck_assert(!stops_waiting(MUST_NOT_US));
	cl_plock_excl_acquire(&osm.lock);
	set_remote(15, IB_SMINFO_STATE_MASTER);
	cl_plock_release(&osm.lock);
	ck_assert(stops_waiting(MUST_US));
}
END_TEST

START_TEST(test_no_elections_opensm_left_alone)
{
	osm.subn.opt.sm_priority = 6;
	begin_to_wait();
	ck_assert(!stops_waiting(MUST_NOT_US));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sm_control");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_lowered_while_it_waits_waits_no_more_and_sweeps);
	tcase_add_test(cases, test_begins_to_wait_when_lowered_waits_no_more);
	tcase_add_test(cases, test_higher_one_waits_on);
	tcase_add_test(cases, test_other_one_raised_waits_no_more);
	tcase_add_test(cases, test_no_elections_opensm_left_alone);
	return run_cases(cases);
}
