/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

static void set_limit(rlim_t limit)
{
	struct rlimit now;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &now), 0);
	now.rlim_cur = limit;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &now), 0);
}

/* Whoever takes all descriptors that may stay leaves a quarter for others. */
START_TEST(test_descriptors_a_quarter_is_left)
{
	uint64_t begun_us = triad_clock_now_us();
	unsigned n_left = 0;
	int first, fd;

	set_limit(64);
	first = open("/dev/null", O_RDONLY);
	while ((fd = open("/dev/null", O_RDONLY)) >= 0 && triad_descriptor_may_stay(fd))
		;
	ck_assert_int_eq(fd, 48);
	close(fd);
	while (open("/dev/null", O_RDONLY) >= 0)
		n_left++;
	ck_assert_uint_eq(n_left, 16);
	/* Sanitizers need some at the end. */
	for (fd = first; fd < 64; fd++)
		close(fd);
	ck_assert_uint_eq(triad_descriptors_status().limit, 64);
	ck_assert_uint_eq(triad_descriptors_status().kept, 16);
	ck_assert_uint_eq(triad_descriptors_status().n_refused, 1);
	ck_assert_uint_ge(triad_descriptors_status().refused_us, begun_us);
}
END_TEST

START_TEST(test_descriptors_the_limit_of_now_counts)
{
	set_limit(1024);
	ck_assert(triad_descriptor_may_stay(767));
	ck_assert(!triad_descriptor_may_stay(768));
	set_limit(512);
	ck_assert(triad_descriptor_may_stay(383));
	ck_assert(!triad_descriptor_may_stay(384));
	ck_assert_uint_eq(triad_descriptors_status().n_refused, 2);
}
END_TEST

START_TEST(test_descriptors_none_was_refused)
{
	ck_assert(triad_descriptor_may_stay(3));
	ck_assert_uint_eq(triad_descriptors_status().n_refused, 0);
	ck_assert_uint_eq(triad_descriptors_status().refused_us, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("descriptors");

	tcase_add_test(cases, test_descriptors_a_quarter_is_left);
	tcase_add_test(cases, test_descriptors_the_limit_of_now_counts);
	tcase_add_test(cases, test_descriptors_none_was_refused);
	return run_cases(cases);
}
