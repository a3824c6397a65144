/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/priority.h"

#include "tests/unit/run.h"

static uint32_t make(struct triad_priority_parts parts)
{
	return triad_priority_make(&parts);
}

/* Strongest first [election-patent, "computes subnet manager priority"]: each beats the
 * next, whatever the weaker bits are. */
/* Row: E2 */
START_TEST(test_priority_of_stronger_bit_is_higher)
{
	uint32_t manager = make(
		(struct triad_priority_parts){.is_conf_manager = true, .n_ports = 2});
	uint32_t ports_ok =
		make((struct triad_priority_parts){.n_ports = 1, .n_good = 1});
	uint32_t master = make((struct triad_priority_parts){
		.is_master = true, .n_ports = 64, .n_good = 14, .preference = 15});
	uint32_t more_good =
		make((struct triad_priority_parts){.n_ports = 64, .n_good = 15});
	uint32_t master_none =
		make((struct triad_priority_parts){.is_master = true, .n_ports = 2});
	uint32_t preferred =
		make((struct triad_priority_parts){.n_ports = 2, .preference = 15});
	uint32_t best_but_manager = make((struct triad_priority_parts){
		.is_master = true, .n_ports = 99, .n_good = 99, .preference = 15});

	ck_assert_uint_gt(manager, best_but_manager);
	ck_assert_uint_gt(best_but_manager, ports_ok);
	ck_assert_uint_gt(ports_ok, more_good);
	ck_assert_uint_gt(more_good, master);
	ck_assert_uint_gt(master, master_none);
	ck_assert_uint_gt(master_none, preferred);
}
END_TEST

/* Row: E8 */
START_TEST(test_priority_with_all_ports_good_master_stays_before_more_ports)
{
	uint32_t master = make((struct triad_priority_parts){
		.is_master = true, .n_ports = 1, .n_good = 1});
	uint32_t more = make((struct triad_priority_parts){
		.n_ports = 4, .n_good = 4, .preference = 15});

	ck_assert_uint_gt(master, more);
}
END_TEST

/* Row: E2 */
START_TEST(test_priority_of_equal_preference_more_good_ports_wins)
{
	uint32_t two = make((struct triad_priority_parts){.n_ports = 2, .n_good = 2});
	uint32_t one = make((struct triad_priority_parts){.n_ports = 1, .n_good = 1});

	ck_assert_uint_gt(two, one);
	ck_assert_uint_gt(make((struct triad_priority_parts){
				  .n_ports = 1, .n_good = 1, .preference = 1}),
		two);
}
END_TEST

/* Row: E2 */
START_TEST(test_priority_without_ports_is_not_ports_ok)
{
	uint32_t none = make((struct triad_priority_parts){.n_ports = 0});

	ck_assert(!triad_priority_ports_ok(none));
	ck_assert(triad_priority_ports_ok(
		make((struct triad_priority_parts){.n_ports = 1, .n_good = 1})));
	ck_assert(!triad_priority_ports_ok(
		make((struct triad_priority_parts){.n_ports = 2, .n_good = 1})));
}
END_TEST

START_TEST(test_priority_of_large_numbers_fields_keep_apart)
{
	uint32_t huge = make((struct triad_priority_parts){
		.n_ports = UINT32_MAX, .n_good = UINT32_MAX - 1, .preference = 255});

	ck_assert_uint_eq(huge, UINT32_C(15) << 19 | UINT32_C(15) << 14 | 63u << 8);
	ck_assert_uint_eq(triad_priority_preference(huge), 15);
	for (uint8_t i = 0; i <= 15; i++)
		ck_assert_uint_eq(
			triad_priority_preference(make(
				(struct triad_priority_parts){.is_conf_manager = true,
					.is_master = true,
					.n_ports = 70,
					.n_good = 70,
					.preference = i})),
			i);
}
END_TEST

/* All members decide alike: of equal priorities the lower id wins [IBA 14.4.1]. */
/* Row: E4 */
START_TEST(test_priority_when_equal_lower_id_is_better)
{
	ck_assert(triad_priority_is_better(7, 1, 7, 2));
	ck_assert(!triad_priority_is_better(7, 2, 7, 1));
	ck_assert(triad_priority_is_better(8, 2, 7, 1));
	ck_assert(!triad_priority_is_better(7, 1, 8, 2));
}
END_TEST

static const struct {
	struct triad_priority_sm sm;
	uint8_t priority;
} of_sm[] = {
	/* conf manager, master, quorate, ports ok, connected */
	{{true, true, true, true, true}, 15},
	{{true, false, true, false, true}, 15},
	{{false, true, true, false, true}, 14},
	{{false, true, false, true, true}, 13},
	{{false, false, true, true, true}, 6},
	{{false, false, true, false, true}, 3},
	{{false, false, false, false, false}, 1},
	{{true, true, true, true, false}, 1},
};

/* Row: E8 */
START_TEST(test_priority_of_sm_is_as_in_the_manual)
{
	ck_assert_uint_eq(triad_priority_of_sm(&of_sm[_i].sm), of_sm[_i].priority);
}
END_TEST

START_TEST(test_priority_text_names_what_is_set)
{
	char text[100];

	triad_priority_text(make((struct triad_priority_parts){.is_conf_manager = true,
				    .is_master = true,
				    .n_ports = 2,
				    .n_good = 2,
				    .was_holder_last = true,
				    .preference = 8}),
		text, sizeof(text));
	ck_assert_str_eq(text,
		"IS_CONF_MANAGER PORTS_OK IS_MASTER WAS_HOLDER_LAST preference 8, "
		"2 good port(s)");
	triad_priority_text(
		make((struct triad_priority_parts){.n_ports = 2}), text, sizeof(text));
	ck_assert_str_eq(text, "preference 0, 0 good port(s)");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("priority");

	tcase_add_test(cases, test_priority_of_stronger_bit_is_higher);
	tcase_add_test(cases,
		test_priority_with_all_ports_good_master_stays_before_more_ports);
	tcase_add_test(cases, test_priority_of_equal_preference_more_good_ports_wins);
	tcase_add_test(cases, test_priority_without_ports_is_not_ports_ok);
	tcase_add_test(cases, test_priority_of_large_numbers_fields_keep_apart);
	tcase_add_test(cases, test_priority_when_equal_lower_id_is_better);
	tcase_add_loop_test(cases, test_priority_of_sm_is_as_in_the_manual, 0,
		sizeof(of_sm) / sizeof(*of_sm));
	tcase_add_test(cases, test_priority_text_names_what_is_set);
	return run_cases(cases);
}
