/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reading the state of local ports may take long, or hang; no caller waits for that. */
#include "plugin/election/health_watch.h"

#include <pthread.h>
#include <sched.h>

#include "tests/unit/run.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool hangs; /* true: reading hangs */
static unsigned n_hanging;
static struct triad_health_watch *watch;

/* --- substitute for sysfs: all ports are up; reports the first GUID as absent --- */

struct triad_local_health triad_local_health_read(
	struct triad_local_port *ports, size_t n)
{
	pthread_mutex_lock(&lock);
	n_hanging++;
	pthread_cond_broadcast(&changed);
	while (hangs)
		pthread_cond_wait(&changed, &lock);
	n_hanging--;
	pthread_mutex_unlock(&lock);
	return (struct triad_local_health){
		.n_ports = (uint32_t)n, .n_good = (uint32_t)n, .absent = ports[0].guid};
}

static void set_hangs(bool value)
{
	pthread_mutex_lock(&lock);
	hangs = value;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_for_hanging_look(void)
{
	pthread_mutex_lock(&lock);
	while (!n_hanging)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static struct triad_local_health wait_for_one(void)
{
	struct triad_local_health seen;

	while (!triad_health_watch_take(watch, &seen))
		sched_yield();
	return seen;
}

static void set_up(void)
{
	watch = triad_health_watch_new();
	ck_assert_ptr_nonnull(watch);
}

static void tear_down(void)
{
	ck_assert(triad_health_watch_free(watch));
}

/* --- cases --- */

START_TEST(test_watch_given_ports_looks_again_and_again)
{
	const uint64_t guids[] = {7, 8};
	struct triad_local_health seen;

	ck_assert(!triad_health_watch_take(watch, &seen));
	triad_health_watch_set(watch, guids, 2);
	for (unsigned i = 0; i < 2; i++) {
		seen = wait_for_one();
		ck_assert_uint_eq(seen.n_ports, 2);
		ck_assert_uint_eq(seen.absent, 7);
	}
}
END_TEST

START_TEST(test_watch_given_other_ports_during_a_look_drops_it)
{
	const uint64_t before = 7, after = 8;
	struct triad_local_health seen;

	set_hangs(true);
	triad_health_watch_set(watch, &before, 1);
	wait_for_hanging_look();
	ck_assert(!triad_health_watch_take(watch, &seen));
	triad_health_watch_set(watch, &after, 1);
	set_hangs(false);
	ck_assert_uint_eq(wait_for_one().absent, 8);
}
END_TEST

START_TEST(test_watch_given_none_has_nothing)
{
	const uint64_t guid = 7;
	struct triad_local_health seen;

	triad_health_watch_set(watch, &guid, 1);
	wait_for_one();
	set_hangs(true);
	wait_for_hanging_look();
	triad_health_watch_set(watch, NULL, 0);
	set_hangs(false);
	ck_assert(!triad_health_watch_take(watch, &seen));
}
END_TEST

START_TEST(test_watch_freed_during_a_look_that_hangs_leaves_it)
{
	struct triad_health_watch *left = triad_health_watch_new();
	const uint64_t guid = 7;

	ck_assert_ptr_nonnull(left);
	set_hangs(true);
	triad_health_watch_set(left, &guid, 1);
	wait_for_hanging_look();
	ck_assert(!triad_health_watch_free(left));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("health_watch");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_watch_given_ports_looks_again_and_again);
	tcase_add_test(cases, test_watch_given_other_ports_during_a_look_drops_it);
	tcase_add_test(cases, test_watch_given_none_has_nothing);
	tcase_add_test(cases, test_watch_freed_during_a_look_that_hangs_leaves_it);
	return run_cases(cases);
}
