/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* References to a configuration, and shortages of memory. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/unit/conf/conf_fixture.h"
#include "tests/unit/scarce_memory.h"

#define N_THREADS 4u
#define N_ROUNDS 100000u

void __real_free(void *memory);
void __wrap_free(void *memory);

static const void *watched;
static atomic_uint n_freed; /* how often 'watched' was freed */

void __wrap_free(void *memory)
{
	n_freed += watched && memory == watched;
	__real_free(memory);
}

static void watch(const void *memory)
{
	n_freed = 0;
	watched = memory;
}

START_TEST(test_conf_last_reference_frees)
{
	const struct triad_conf *made = triad_conf_new(GUID);

	watch(made);
	ck_assert_ptr_eq(triad_conf_ref(made), made);
	triad_conf_unref(made);
	ck_assert_uint_eq(n_freed, 0);
	triad_conf_unref(made);
	ck_assert_uint_eq(n_freed, 1);
	triad_conf_unref(NULL);
}
END_TEST

static void *ref_and_unref(void *context)
{
	for (unsigned i = 0; i < N_ROUNDS; i++)
		triad_conf_unref(triad_conf_ref(context));
	return NULL;
}

START_TEST(test_conf_references_of_many_threads_counted)
{
	struct triad_conf *made = triad_conf_new(GUID);
	pthread_t threads[N_THREADS];

	watch(made);
	for (unsigned i = 0; i < N_THREADS; i++)
		ck_assert(!pthread_create(&threads[i], NULL, ref_and_unref, made));
	for (unsigned i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(n_freed, 0);
	triad_conf_unref(made);
	ck_assert_uint_eq(n_freed, 1);
}
END_TEST

START_TEST(test_set_key_makes_another)
{
	struct triad_conf *changed = NULL;

	ck_assert_int_eq(triad_conf_set(conf, "perfmgr.window", "9", GUID, "OpenSM",
				 &diags, &changed),
		0);
	ck_assert_uint_eq(changed->perfmgr.window, 9);
	ck_assert_mem_eq(conf, defaults, sizeof(*conf));
	watch(changed);
	triad_conf_unref(changed);
	ck_assert_uint_eq(n_freed, 1);
}
END_TEST

START_TEST(test_set_refused_leaves_nothing)
{
	struct triad_conf *changed = NULL;

	ck_assert_int_eq(triad_conf_set(conf, "perfmgr.window", "x", GUID, "OpenSM",
				 &diags, &changed),
		EINVAL);
	ck_assert_ptr_null(changed);
	ck_assert_mem_eq(conf, defaults, sizeof(*conf));
}
END_TEST

static void assert_memory_short(void)
{
	ck_assert(refused());
	ck_assert_uint_eq(diags.n, 1);
	ck_assert_ptr_nonnull(strstr(diags.entries[0].text, "not enough memory"));
	ck_assert_mem_eq(conf, defaults, sizeof(*conf));
}

START_TEST(test_memory_short_no_new_configuration)
{
	refuse(1);
	ck_assert_ptr_null(triad_conf_new(GUID));
	ck_assert(refused());
}
END_TEST

START_TEST(test_memory_short_set_changes_nothing)
{
	struct triad_conf *changed = NULL;

	refuse(1);
	ck_assert_int_eq(triad_conf_set(conf, "perfmgr.window", "9", GUID, "OpenSM",
				 &diags, &changed),
		ENOMEM);
	assert_memory_short();
	ck_assert_ptr_null(changed);
}
END_TEST

START_TEST(test_memory_short_parse_leaves_defaults)
{
	static const char text[] = "[perfmgr]\nwindow = 9\n";

	refuse(1);
	ck_assert_int_eq(
		triad_conf_parse(text, strlen(text), GUID, conf, &diags), ENOMEM);
	assert_memory_short();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("conf_refs");

	tcase_add_checked_fixture(cases, begin, NULL);
	tcase_add_test(cases, test_conf_last_reference_frees);
	tcase_add_test(cases, test_conf_references_of_many_threads_counted);
	tcase_add_test(cases, test_set_key_makes_another);
	tcase_add_test(cases, test_set_refused_leaves_nothing);
	tcase_add_test(cases, test_memory_short_no_new_configuration);
	tcase_add_test(cases, test_memory_short_set_changes_nothing);
	tcase_add_test(cases, test_memory_short_parse_leaves_defaults);
	return run_cases(cases);
}
