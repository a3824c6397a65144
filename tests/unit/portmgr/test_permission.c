/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/permission.h"

#include <string.h>

#include "tests/unit/run.h"

#define DEADLINE_US 5000000u
#define TERM 42u

static const struct triad_permission_facts permitting = {
	.is_on = true,
	.is_connected = true,
	.is_quorate = true,
	.check = TRIAD_CHECK_YES,
	.has_good_port = true,
	.is_holder = true,
	.is_confirmed = true,
	.deadline_us = DEADLINE_US,
	.is_sm_master = true,
	.is_subnet_up = true,
	.term = TERM,
};

static void spoil(struct triad_permission_facts *facts, unsigned reason)
{
	switch (1u << reason) {
	case TRIAD_PERMISSION_OFF:
		facts->is_on = false;
		break;
	case TRIAD_PERMISSION_WITNESS:
		facts->is_witness = true;
		break;
	case TRIAD_PERMISSION_CUT_OFF:
		facts->is_connected = false;
		break;
	case TRIAD_PERMISSION_NO_QUORUM:
		facts->is_quorate = false;
		break;
	case TRIAD_PERMISSION_BLACKLISTED:
		facts->is_blacklisted = true;
		break;
	case TRIAD_PERMISSION_CHECK_NO:
		facts->check = TRIAD_CHECK_NO;
		break;
	case TRIAD_PERMISSION_CHECK_MISSING:
		facts->check = TRIAD_CHECK_MISSING;
		break;
	case TRIAD_PERMISSION_OLD_CONFIG:
		facts->has_old_config = true;
		break;
	case TRIAD_PERMISSION_OTHER_CONFIG:
		facts->has_other_config = true;
		break;
	case TRIAD_PERMISSION_PORTS_DOWN:
		facts->has_good_port = false;
		break;
	case TRIAD_PERMISSION_NOT_ELECTED:
		facts->is_holder = false;
		break;
	case TRIAD_PERMISSION_UNCONFIRMED:
		facts->is_confirmed = false;
		break;
	case TRIAD_PERMISSION_EXPIRED:
		facts->deadline_us = 0;
		break;
	case TRIAD_PERMISSION_NOT_MASTER:
		facts->is_sm_master = false;
		break;
	case TRIAD_PERMISSION_NOT_UP:
		facts->is_subnet_up = false;
		break;
	default:
		ck_abort_msg("a reason that the test does not know");
	}
}

/* Row: E6, E7 */
START_TEST(test_permission_with_one_fact_against_has_that_reason_alone)
{
	struct triad_permission_facts facts = permitting;
	struct triad_permission permission;

	spoil(&facts, (unsigned)_i);
	permission = triad_permission_judge(&facts, 0);
	ck_assert(!permission.is_given);
	ck_assert_uint_eq(permission.reasons, 1u << _i);
	ck_assert_uint_eq(permission.term, 0);
	permission = triad_permission_judge_term(&facts, TERM, 0);
	ck_assert_uint_eq(permission.reasons, 1u << _i);
}
END_TEST

START_TEST(test_permission_with_two_facts_against_has_both)
{
	struct triad_permission_facts facts = permitting;

	spoil(&facts, 4);
	spoil(&facts, 13);
	ck_assert_uint_eq(triad_permission_judge(&facts, 0).reasons,
		TRIAD_PERMISSION_BLACKLISTED | TRIAD_PERMISSION_NOT_MASTER);
}
END_TEST

START_TEST(test_permission_with_all_for_is_given_to_the_microsecond)
{
	struct triad_permission permission =
		triad_permission_judge(&permitting, DEADLINE_US - 1);
	struct triad_permission_facts unchecked = permitting;

	ck_assert(permission.is_given);
	ck_assert_uint_eq(permission.reasons, 0);
	ck_assert_uint_eq(permission.term, TERM);
	ck_assert_uint_eq(permission.deadline_us, DEADLINE_US);
	permission = triad_permission_judge(&permitting, DEADLINE_US);
	ck_assert(!permission.is_given);
	ck_assert_uint_eq(permission.reasons, TRIAD_PERMISSION_EXPIRED);
	unchecked.check = TRIAD_CHECK_OFF;
	ck_assert(triad_permission_judge(&unchecked, 0).is_given);
}
END_TEST

/* The reasons show the operator that the lease ran out, and that no other SM took
 * it. */
START_TEST(test_permission_after_a_lease_that_ran_out_has_that_reason)
{
	struct triad_permission_facts facts = permitting;

	facts.is_holder = false;
	facts.has_run_out = true;
	ck_assert_uint_eq(triad_permission_judge(&facts, 0).reasons,
		TRIAD_PERMISSION_NOT_ELECTED | TRIAD_PERMISSION_EXPIRED);
}
END_TEST

/* Row: E12 */
START_TEST(test_permission_for_an_act_of_another_term_is_not_given)
{
	ck_assert(triad_permission_judge_term(&permitting, TERM, 0).is_given);
	ck_assert(!triad_permission_judge_term(&permitting, TERM - 1, 0).is_given);
	ck_assert_uint_eq(triad_permission_judge_term(&permitting, TERM + 1, 0).reasons,
		TRIAD_PERMISSION_NOT_ELECTED);
	ck_assert(
		!triad_permission_judge_term(&permitting, TERM, DEADLINE_US).is_given);
}
END_TEST

/* An SM is able if nothing of its own keeps it from holding the lease; the state of the
 * cluster and of OpenSM doesn't matter. */
START_TEST(test_able_is_who_has_no_reason_of_its_own)
{
	const uint32_t own = TRIAD_PERMISSION_OFF | TRIAD_PERMISSION_WITNESS |
		TRIAD_PERMISSION_BLACKLISTED | TRIAD_PERMISSION_CHECK_NO |
		TRIAD_PERMISSION_CHECK_MISSING | TRIAD_PERMISSION_OLD_CONFIG |
		TRIAD_PERMISSION_OTHER_CONFIG | TRIAD_PERMISSION_PORTS_DOWN;
	struct triad_permission_facts facts = permitting;

	spoil(&facts, (unsigned)_i);
	ck_assert_int_eq(triad_permission_is_able(&facts), !(own >> _i & 1));
}
END_TEST

START_TEST(test_reasons_each_have_a_word_and_a_text_of_their_own)
{
	for (unsigned i = 0; i < TRIAD_PERMISSION_N_REASONS; i++) {
		ck_assert_str_ne(triad_permission_word(i), "");
		ck_assert_str_ne(triad_permission_text(i), "");
		for (unsigned j = 0; j < i; j++) {
			ck_assert_str_ne(
				triad_permission_word(i), triad_permission_word(j));
			ck_assert_str_ne(
				triad_permission_text(i), triad_permission_text(j));
		}
	}
	ck_assert_str_eq(triad_permission_word(3), "no_quorum");
	ck_assert_str_eq(triad_permission_word(14), "not_up");
	ck_assert_str_eq(triad_permission_word(TRIAD_PERMISSION_N_REASONS), "");
	ck_assert_str_eq(triad_permission_text(TRIAD_PERMISSION_N_REASONS), "");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("permission");

	tcase_add_loop_test(cases,
		test_permission_with_one_fact_against_has_that_reason_alone, 0,
		TRIAD_PERMISSION_N_REASONS);
	tcase_add_test(cases, test_permission_with_two_facts_against_has_both);
	tcase_add_test(cases, test_permission_with_all_for_is_given_to_the_microsecond);
	tcase_add_test(
		cases, test_permission_after_a_lease_that_ran_out_has_that_reason);
	tcase_add_test(cases, test_permission_for_an_act_of_another_term_is_not_given);
	tcase_add_loop_test(cases, test_able_is_who_has_no_reason_of_its_own, 0,
		TRIAD_PERMISSION_N_REASONS);
	tcase_add_test(cases, test_reasons_each_have_a_word_and_a_text_of_their_own);
	return run_cases(cases);
}
