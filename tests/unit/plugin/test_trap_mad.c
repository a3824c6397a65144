/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Traps as they come to the SM.  OpenSM's structures are real. */
#include "plugin/trap_mad.h"

#include "damp/traps.h"
#include "tests/unit/run.h"

#define SM_LID 7
#define LID 42

volatile unsigned int osm_exit_flag;

static struct osm_opensm osm;
static ib_smp_t smp;
static osm_madw_t madw;
static struct triad_trap_mad trap;

static ib_mad_notice_attr_t *notice(void)
{
	return (ib_mad_notice_attr_t *)smp.data;
}

static void set_up(void)
{
	smp = (ib_smp_t){.mgmt_class = IB_MCLASS_SUBN_LID,
		.method = IB_MAD_METHOD_TRAP,
		.attr_id = IB_MAD_ATTR_NOTICE};
	notice()->generic_type = 0x81;
	notice()->g_or_v.generic.trap_num = cl_hton16(TRIAD_TRAP_LINK_STATE);
	madw = (osm_madw_t){.p_mad = (ib_mad_t *)&smp, .mad_size = MAD_BLOCK_SIZE};
	madw.mad_addr.addr_type.smi.source_lid = cl_hton16(LID);
	osm.subn.sm_base_lid = cl_hton16(SM_LID);
	osm.subn.sm_state = IB_SMINFO_STATE_MASTER;
	osm_exit_flag = 0;
}

START_TEST(test_sender_and_kind_are_read)
{
	ck_assert(triad_trap_read(&osm, &madw, &trap));
	ck_assert_uint_eq(trap.lid, LID);
	ck_assert_uint_eq(trap.kind, TRIAD_TRAP_LINK_STATE);
	notice()->generic_type = 0x01;
	ck_assert(triad_trap_read(&osm, &madw, &trap));
	ck_assert_uint_eq(trap.kind, TRIAD_TRAPS_OF_VENDORS);
}
END_TEST

/* The switch that the SM runs on. */
START_TEST(test_sender_without_a_lid_is_the_sms_own_node)
{
	madw.mad_addr.addr_type.smi.source_lid = 0;
	ck_assert(triad_trap_read(&osm, &madw, &trap));
	ck_assert_uint_eq(trap.lid, SM_LID);
}
END_TEST

START_TEST(test_other_mads_are_no_traps)
{
	smp.method = IB_MAD_METHOD_GET_RESP;
	ck_assert(!triad_trap_read(&osm, &madw, &trap));
	set_up();
	smp.attr_id = IB_MAD_ATTR_PORT_INFO;
	ck_assert(!triad_trap_read(&osm, &madw, &trap));
	set_up();
	smp.mgmt_class = IB_MCLASS_SUBN_ADM;
	ck_assert(!triad_trap_read(&osm, &madw, &trap));
	set_up();
	madw.mad_size = MAD_BLOCK_SIZE - 1;
	ck_assert(!triad_trap_read(&osm, &madw, &trap));
}
END_TEST

START_TEST(test_traps_are_the_masters_while_it_runs)
{
	osm.subn.sm_state = IB_SMINFO_STATE_STANDBY;
	ck_assert(!triad_trap_read(&osm, &madw, &trap));
	set_up();
	osm_exit_flag = 1;
	ck_assert(!triad_trap_read(&osm, &madw, &trap));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("trap_mad");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_sender_and_kind_are_read);
	tcase_add_test(cases, test_sender_without_a_lid_is_the_sms_own_node);
	tcase_add_test(cases, test_other_mads_are_no_traps);
	tcase_add_test(cases, test_traps_are_the_masters_while_it_runs);
	return run_cases(cases);
}
