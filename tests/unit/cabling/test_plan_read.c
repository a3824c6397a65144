/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cabling/plan_read.h"

#include <errno.h>
#include <string.h>

#include "ib/link.h"
#include "tests/unit/mentions.h"
#include "tests/unit/scarce_memory.h"

static struct triad_diags diags;
static struct triad_cabling_plan *plan;

static void set_up(void)
{
	plan = NULL;
}

static void tear_down(void)
{
	triad_cabling_plan_free(plan);
}

static int read_plan(const char *text)
{
	triad_diags_init(&diags, "plan");
	triad_cabling_plan_free(plan);
	plan = NULL;
	return triad_cabling_plan_read(text, strlen(text), &diags, &plan);
}

static const char *name_of(uint32_t link, unsigned end)
{
	return triad_cabling_plan_text(plan, plan->links[link].ends[end].name);
}

static void expect_link(uint32_t link, const char *a, unsigned port_a, const char *b,
	unsigned port_b, uint32_t line)
{
	ck_assert_uint_lt(link, plan->n_links);
	ck_assert_str_eq(name_of(link, 0), a);
	ck_assert_uint_eq(plan->links[link].ends[0].port, port_a);
	ck_assert_str_eq(name_of(link, 1), b);
	ck_assert_uint_eq(plan->links[link].ends[1].port, port_b);
	ck_assert_uint_eq(plan->links[link].line, line);
}

static void expect_port(uint32_t i, unsigned port, bool is_free)
{
	ck_assert_uint_lt(i, plan->n_ports);
	ck_assert_uint_eq(plan->ports[i].end.port, port);
	ck_assert_int_eq(plan->ports[i].is_free, is_free);
}

/* --- forms ------------------------------------------------------------- */

START_TEST(test_format_is_told_by_content)
{
	static const struct {
		const char *text, *name;
	} texts[] = {
		{"", "unknown"},
		{"# nothing\n\n", "unknown"},
		{"hello\n", "unknown"},
		{"# a comment\n\ngeneration 3\n", "expected"},
		{"node,port,state\n", "expected"},
		{"leaf-01,1,enabled,name=x;port=1\n", "expected"},
		{"\xef\xbb\xbfgeneration,3,,,\n", "expected"},
		{"#\n# Topology file\n#\nvendid=0x2c9\n", "netdiscover"},
		{"Switch\t36 \"S-01\"\n", "netdiscover"},
		{"rack #,U height,#Fields:StartDevice,StartPort,x,EndDevice,EndPort\n",
			"ndt"},
		{"#StartDevice,StartPort,EndDevice,EndPort,State,Domain\n", "ndt"},
		{"Start Device,Start Port,End Device,End Port,Link Type\n", "ndt"},
		{"0x248a070300,1,0x248a070301,7,Any,Active\n", "topoconfig"},
		{"0x248a070300,1,-,-,Any,Disabled\n", "topoconfig"},
		{"SwitchName=s1 Nodes=n[1-3]\n", "slurm"},
	};

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_str_eq(triad_cabling_format_name(triad_cabling_format_find(
					 texts[i].text, strlen(texts[i].text))),
			texts[i].name);
}
END_TEST

START_TEST(test_plan_without_ports_is_refused)
{
	ck_assert_int_eq(read_plan("SwitchName=s1 Nodes=n[1-3]\n"), EINVAL);
	assert_mentions(diags.entries[0].text, "Slurm ports");
	ck_assert_int_eq(read_plan(""), EINVAL);
	ck_assert_uint_eq(diags.n, 1);
}
END_TEST

/* --- NDT --------------------------------------------------------------- */

START_TEST(test_ndt_rows_become_links)
{
	ck_assert_int_eq(
		read_plan("rack #,#Fields:StartDevice,StartPort,EndDevice,EndPort,"
			  "LinkType,Speed,Cable Length,State,Domain\r\n"
			  "r1,leaf-01,Port 26,host-1 mlx5_0,Port 1,Data,HDR,0.5 m,,\r\n"
			  "r1,leaf-01,27,spine,1,data,200G,3m,Active,In-Scope\r\n"
			  "\r\n"
			  "r1,leaf-01,Port 40,pdu,Port 1,Mgmt,,,,\r\n"
			  "# a comment\r\n"
			  "r1,leaf-01,Port 28,,,,,,Disabled,Disconnected\r\n"
			  "r1,leaf-01,Port 29,,,,,,No-discover,Boundary\r\n"),
		0);
	ck_assert_uint_eq(plan->n_links, 2);
	expect_link(0, "leaf-01", 26, "host-1 mlx5_0", 1, 2);
	ck_assert_uint_eq(plan->links[0].speed, TRIAD_SPEED_HDR);
	ck_assert_uint_eq(plan->links[0].length_dm, 5);
	expect_link(1, "leaf-01", 27, "spine", 1, 3);
	ck_assert_uint_eq(plan->links[1].speed, TRIAD_SPEED_ANY);
	ck_assert_uint_eq(plan->links[1].length_dm, 30);
	ck_assert_uint_eq(plan->n_ports, 2);
	expect_port(0, 28, true);
	expect_port(1, 29, false);
	ck_assert(plan->judges_all);
	ck_assert_uint_eq(plan->n_open, 0);
}
END_TEST

START_TEST(test_ndt_labels_are_counted_and_not_guessed)
{
	ck_assert_int_eq(read_plan("StartDevice,StartPort,EndDevice,EndPort\n"
				   "tor,Port 1,director,Blade 2_Port 1/1\n"
				   "tor,Port 2,host-1,ibp12s0\n"
				   "tor,1/3/1,spine,Port 4\n"),
		0);
	ck_assert_uint_eq(plan->n_links, 0);
	ck_assert_uint_eq(plan->n_open, 3);
	ck_assert_uint_eq(plan->first_open_line, 2);
	/* The ends that are known must not be called extra. */
	ck_assert_uint_eq(plan->n_ports, 3);
	expect_port(0, 1, false);
	expect_port(2, 4, false);
}
END_TEST

START_TEST(test_ndt_mistakes_are_all_reported)
{
	ck_assert_int_eq(read_plan("StartDevice,StartPort,EndDevice,EndPort\n"
				   "leaf,Port 0,spine,1\n"
				   "leaf,Port 1,,Port 2\n"
				   ",Port 1,spine,Port 255\n"
				   "leaf,Port one,spine,2\n"
				   "\"leaf,2,spine,3\n"),
		EINVAL);
	ck_assert_uint_eq(diags.entries[0].line, 2);
	ck_assert_uint_eq(diags.entries[0].column, 6);
	assert_mentions(diags.entries[0].text, "'Port 0' 254");
	ck_assert_uint_eq(diags.entries[1].line, 3);
	assert_mentions(diags.entries[1].text, "device octets");
	ck_assert_uint_eq(diags.entries[2].line, 4);
	ck_assert_uint_eq(diags.entries[3].line, 4);
	ck_assert_uint_eq(diags.entries[4].line, 5);
	ck_assert_uint_eq(diags.entries[5].line, 6);
	ck_assert_ptr_null(plan);
}
END_TEST

START_TEST(test_ndt_long_lines_and_names_are_refused)
{
	char text[6000] = "StartDevice,StartPort,EndDevice,EndPort\n";
	size_t at = strlen(text);

	memset(text + at, 'x', 100);
	strcpy(text + at + 100, ",1,spine,1\n");
	ck_assert_int_eq(read_plan(text), EINVAL);
	ck_assert_uint_eq(diags.n, 1);
	assert_mentions(diags.entries[0].text, "64 octets");
	memset(text + at, 'x', 5000);
	strcpy(text + at + 5000, ",1,spine,1\n");
	ck_assert_int_eq(read_plan(text), EINVAL);
	ck_assert_uint_eq(diags.n, 1);
	assert_mentions(diags.entries[0].text, "4096 octets");
}
END_TEST

/* --- topoconfig -------------------------------------------------------- */

START_TEST(test_topoconfig_rows_become_links)
{
	ck_assert_int_eq(read_plan("0x248a07030000a0,1,0x248A07030000b0,17,Any,Active\n"
				   "248a07030000a0,2,-,-,Any,Disabled\n"),
		0);
	ck_assert_uint_eq(plan->n_links, 1);
	ck_assert_uint_eq(plan->links[0].ends[0].guid, UINT64_C(0x248a07030000a0));
	ck_assert_uint_eq(plan->links[0].ends[1].guid, UINT64_C(0x248a07030000b0));
	expect_link(0, "", 1, "", 17, 1);
	ck_assert_uint_eq(plan->n_ports, 1);
	expect_port(0, 2, false);
	ck_assert_uint_eq(plan->ports[0].end.guid, UINT64_C(0x248a07030000a0));
}
END_TEST

START_TEST(test_topoconfig_mistakes_are_all_reported)
{
	ck_assert_int_eq(read_plan("0x1,1,0x2,1,Any,Active\n"
				   "0x0,1,0x2,999,Any,Active\n"
				   "0x1,1\n"
				   "leaf,1,-,-,Any,Active\n"
				   "0x1,2,0x2,2,Any,Active,more\n"),
		EINVAL);
	ck_assert_uint_eq(diags.n, 4);
	ck_assert_uint_eq(diags.entries[0].line, 2);
	ck_assert_uint_eq(diags.entries[1].line, 2);
	ck_assert_uint_eq(diags.entries[2].line, 4);
	ck_assert_uint_eq(diags.entries[3].line, 5);
}
END_TEST

/* --- our own ----------------------------------------------------------- */

START_TEST(test_expected_rows_become_links)
{
	ck_assert_int_eq(read_plan("generation 7\n"
				   "leaf,1,enabled,name=host-1*;port=1,4x,EDR\n"
				   "0xa0,2,test,node_guid=0xb0;port=3,,,ping\n"
				   "leaf,3,enabled,name=host-?;port=1\n"
				   "leaf,4,enabled,name=host-9\n"
				   "leaf,5,disabled\n"
				   "leaf,6,enabled\n"
				   "leaf,7,disabled,name=host-7;port=1\n"),
		0);
	ck_assert_uint_eq(plan->n_links, 2);
	expect_link(0, "leaf", 1, "host-1", 1, 2);
	ck_assert_uint_eq(plan->links[0].width, triad_link_width_find("4x"));
	ck_assert_uint_eq(plan->links[0].speed, TRIAD_SPEED_EDR);
	expect_link(1, "", 2, "", 3, 3);
	ck_assert_uint_eq(plan->links[1].ends[0].guid, 0xa0);
	ck_assert_uint_eq(plan->links[1].ends[1].guid, 0xb0);
	ck_assert_uint_eq(plan->n_ports, 5);
	expect_port(0, 3, false);
	expect_port(2, 5, true);
	expect_port(3, 6, false);
	expect_port(4, 7, false);
	ck_assert_uint_eq(plan->n_open, 2);
	ck_assert_uint_eq(plan->first_open_line, 4);
	ck_assert(!plan->judges_all);
}
END_TEST

START_TEST(test_expected_mistakes_are_reported)
{
	ck_assert_int_eq(
		read_plan("generation 7\nleaf,0,enabled\nleaf,1,maybe\n"), EINVAL);
	ck_assert_uint_eq(diags.n, 2);
}
END_TEST

/* --- ibnetdiscover ----------------------------------------------------- */

START_TEST(test_netdiscover_links_become_links)
{
	ck_assert_int_eq(
		read_plan("Switch\t3 \"S-00000000000000a0\"\t# \"leaf\" base port "
			  "0 lid 2 lmc 0\n"
			  "[2](1/2/1)\t\"H-00000000000000b0\"[1](b1)\t# \"host 1\" "
			  "lid 3 4xNDR\n"
			  "Ca\t1 \"H-00000000000000b0\"\t# \"host 1\"\n"
			  "[1](b1)\t\"S-00000000000000a0\"[2]\t# lid 3 lmc 0 "
			  "\"leaf\" lid 2 4xNDR\n"),
		0);
	ck_assert_uint_eq(plan->n_links, 1);
	expect_link(0, "leaf", 2, "host 1", 1, 0);
	ck_assert_uint_eq(plan->links[0].ends[0].guid, 0xa0);
	ck_assert_uint_eq(plan->links[0].ends[1].guid, 0xb0);
	ck_assert_uint_eq(plan->links[0].speed, TRIAD_SPEED_NDR);
}
END_TEST

/* With and without each allocation. */
START_TEST(test_plan_short_of_memory_says_so)
{
	static const char *const texts[] = {
		"StartDevice,StartPort,EndDevice,EndPort\nleaf,1,spine,1\nleaf,2,,\n",
		"generation 7\nleaf,1,enabled,name=host-1;port=1\nleaf,2,disabled\n"};

	for (unsigned i = 0; i < 2; i++) {
		unsigned n = 0;
		int error = ENOMEM;

		while (error) {
			refuse(++n);
			error = read_plan(texts[i]);
			ck_assert_int_eq(error, refused() ? ENOMEM : 0);
		}
		ck_assert_uint_gt(n, 3);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("plan_read");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_format_is_told_by_content);
	tcase_add_test(cases, test_plan_without_ports_is_refused);
	tcase_add_test(cases, test_ndt_rows_become_links);
	tcase_add_test(cases, test_ndt_labels_are_counted_and_not_guessed);
	tcase_add_test(cases, test_ndt_mistakes_are_all_reported);
	tcase_add_test(cases, test_ndt_long_lines_and_names_are_refused);
	tcase_add_test(cases, test_topoconfig_rows_become_links);
	tcase_add_test(cases, test_topoconfig_mistakes_are_all_reported);
	tcase_add_test(cases, test_expected_rows_become_links);
	tcase_add_test(cases, test_expected_mistakes_are_reported);
	tcase_add_test(cases, test_netdiscover_links_become_links);
	tcase_add_test(cases, test_plan_short_of_memory_says_so);
	return run_cases(cases);
}
