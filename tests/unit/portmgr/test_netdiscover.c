/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/expected/netdiscover.h"

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "portmgr/expected/placed.h"
#include "portmgr/expected/remote.h"
#include "portmgr/expected/write.h"
#include "tests/unit/mentions.h"

/* Output of ibnetdiscover 5.x; the second switch as printed with -g, the links of the
 * first as with -f. */
static const char output[] =
	"#\n"
	"# Topology file: generated on Thu Jan  1 00:00:00 2026\n"
	"#\n"
	"# Initiated from node 0200000100000010 port 0200000100000011\n"
	"\n"
	"Non-Chassis Nodes\n"
	"\n"
	"vendid=0x2c9\n"
	"devid=0xd2f0\n"
	"sysimgguid=0x200000200000020\n"
	"switchguid=0x200000200000020(200000200000021)\n"
	"Switch\t3 \"S-0200000200000020\"\t\t# \"say \"x\" 01\" enhanced port 0 lid 3 "
	"lmc 1\n"
	"[1](1/1/1)\t\"S-0200000200000010\"[3]\t\t# \"leaf-01\" lid 2 12xHDR s=4 w=2 "
	"v=4\n"
	"[3]\t\"H-0200000100000010\"[1](200000100000011) \t\t# \"host-0001 HCA-1\" lid "
	"1 1xFDR10 s=4 w=2 v=4\n"
	"\n"
	"Chassis 1 (guid 0x200000200000099)\n"
	"vendid=0x2c8\n"
	"switchguid=0x200000200000010(200000200000010)\t# \n"
	"Switch\t4 \"S-0200000200000010\"\t\t# \"leaf-01\" base port 0 lid 2 lmc 0\n"
	"[3][ext 9]\t\"S-0200000200000020\"[1][ext 2]\t\t# \"say \"x\" 01\" lid 3 "
	"12xHDR\n"
	"\n"
	"caguid=0x200000100000010\n"
	"Ca\t2 \"H-0200000100000010\"\t\t# \"host-0001 HCA-1\"\n"
	"[1](200000100000011) \t\"S-0200000200000020\"[3]\t\t# lid 1 lmc 2 \"say "
	"\"x\" 01\" lid 3 1xFDR10\n";

static struct triad_diags diags;
static struct triad_fabric *fabric;

static int parse(const char *text)
{
	triad_diags_init(&diags, "net");
	return triad_netdiscover_parse(text, strlen(text), &diags, &fabric);
}

static char *all_diags(void)
{
	static char text[TRIAD_DIAG_MAX * TRIAD_DIAG_TEXT_SIZE * 2];
	char line[TRIAD_DIAG_TEXT_SIZE * 2];

	text[0] = '\0';
	for (size_t i = 0; i < diags.n; i++) {
		triad_diags_format(&diags, i, line, sizeof(line));
		g_strlcat(text, line + strlen("net:"), sizeof(text));
		g_strlcat(text, "\n", sizeof(text));
	}
	return text;
}

static const struct triad_fabric_port *port_at(uint64_t guid, unsigned number)
{
	uint32_t node = triad_fabric_find_node(fabric, guid), port;

	ck_assert_uint_ne(node, TRIAD_FABRIC_NONE);
	port = triad_fabric_find_port(fabric, node, number);
	return port == TRIAD_FABRIC_NONE ? NULL : &fabric->ports[port];
}

#define SPINE UINT64_C(0x200000200000020)
#define LEAF UINT64_C(0x200000200000010)
#define HOST UINT64_C(0x200000100000010)

START_TEST(test_nodes_read_with_names_ids_and_lids)
{
	const struct triad_fabric_node *spine, *leaf, *host;

	ck_assert_int_eq(parse(output), 0);
	ck_assert_uint_eq(fabric->n_nodes, 3);
	spine = &fabric->nodes[triad_fabric_find_node(fabric, SPINE)];
	leaf = &fabric->nodes[triad_fabric_find_node(fabric, LEAF)];
	host = &fabric->nodes[triad_fabric_find_node(fabric, HOST)];
	ck_assert_str_eq(spine->name, "say \"x\" 01");
	ck_assert_uint_eq(spine->type, TRIAD_NODE_SWITCH);
	ck_assert_uint_eq(spine->vendor_id, 0x2c9);
	ck_assert_uint_eq(spine->device_id, 0xd2f0);
	ck_assert(spine->enhanced_port0 && !leaf->enhanced_port0);
	ck_assert_uint_eq(spine->n_ports, 4);
	ck_assert_uint_eq(leaf->vendor_id, 0x2c8);
	ck_assert_uint_eq(leaf->device_id, 0);
	ck_assert_uint_eq(host->type, TRIAD_NODE_CA);
	ck_assert_uint_eq(host->vendor_id, 0);
	ck_assert_uint_eq(host->n_ports, 1);
	ck_assert_uint_eq(port_at(SPINE, 2)->lid, 3);
	ck_assert_uint_eq(port_at(SPINE, 0)->guid, SPINE + 1);
	ck_assert_uint_eq(port_at(SPINE, 0)->lmc, 1);
	ck_assert_uint_eq(port_at(HOST, 1)->guid, HOST + 1);
	ck_assert_uint_eq(port_at(HOST, 1)->lid, 1);
	ck_assert_uint_eq(port_at(HOST, 1)->lmc, 2);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_links_read_with_width_and_speed)
{
	const struct triad_fabric_port *port;

	ck_assert_int_eq(parse(output), 0);
	port = port_at(SPINE, 1);
	ck_assert_ptr_eq(&fabric->ports[port->remote], port_at(LEAF, 3));
	ck_assert_uint_eq(port->width, 8);
	ck_assert_uint_eq(port->speed_ext, 4);
	ck_assert_uint_eq(port->state, TRIAD_PORT_ACTIVE);
	ck_assert_uint_eq(port->phys_state, 5);
	port = port_at(HOST, 1);
	ck_assert_ptr_eq(&fabric->ports[port->remote], port_at(SPINE, 3));
	ck_assert_uint_eq(port->width, 1);
	ck_assert_int_eq(
		triad_link_speed(port->speed, port->speed_ext), TRIAD_SPEED_QDR);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_switch_port_without_line_down)
{
	const struct triad_fabric_port *port;

	ck_assert_int_eq(parse(output), 0);
	port = port_at(SPINE, 2);
	ck_assert_uint_eq(port->state, TRIAD_PORT_DOWN);
	ck_assert_uint_eq(port->phys_state, 2);
	ck_assert_uint_eq(port->remote, TRIAD_FABRIC_NONE);
	ck_assert_uint_eq(port->width + port->speed + port->speed_ext, 0);
	ck_assert_ptr_null(port_at(SPINE, 4));
	ck_assert_ptr_null(port_at(HOST, 2));
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_mistakes_all_reported)
{
	ck_assert_int_eq(parse("[1]\t\"S-1\"[1]\n"
			       "nonsense\n"
			       "Switch\tx \"S-1\"\n"
			       "[1]\t\"S-2\"[1]\n"
			       "Switch\t2 \"S-1\"\t# \"a\" base port 0\n"
			       "[1]\t\"S-0\"[1]\n"
			       "[2]\t\"S-3\"[1]\n"
			       "[2]\t\"S-3\"[2]\n"
			       "[3]\t\"S-3\"[3]\n"
			       "[255]\t\"S-3\"[3]\n"
			       "[1](x)\t\"S-3\"[3]\n"
			       "[1][ext 2\t\"S-3\"[3]\n"
			       "vendid=7\n"
			       "Ca\t1 \"H-9\"\n"
			       "[1]\t\"S-1\"[1]\n"
			       "Switch\t2 \"S-1\"\n"),
		EINVAL);
	ck_assert_str_eq(all_diags(),
		"1: a link without a node: 'Switch', 'Ca' or 'Rt' comes before\n"
		"2:1: ibnetdiscover prints no such line\n"
		"3:8: the number of ports, 1 to 254, is missing\n"
		"6:5: a node, as \"S-0002c90000000001\", is missing\n"
		"8: port 2 of this node is in line 7 already\n"
		"9: port 3 of a node that has 2 (line 5)\n"
		"10:4: a port, [1] to [254], is missing\n"
		"11:5: a GUID and ')' are missing\n"
		"12:11: ']' is missing\n"
		"13:8: 0x and 1 to 16 hexadecimal digits are missing\n"
		"15: the port's GUID is missing behind [1]\n"
		"16: the same node as in line 5\n");
}
END_TEST

START_TEST(test_output_cut_refused)
{
	char *text = g_strdup(output);

	*strstr(text, "caguid") = '\0';
	ck_assert_int_eq(parse(text), EINVAL);
	assert_mentions(all_diags(), "14: far end link\n");
	g_free(text);
	ck_assert_int_eq(parse(""), EINVAL);
	assert_mentions(all_diags(), "node ibnetdiscover\n");
}
END_TEST

/* --- written and read again -------------------------------------------- */

static void put(void *context, const char *line)
{
	ck_assert(g_str_has_suffix(line, "\n"));
	g_string_append(context, line);
}

static char *written(void)
{
	GString *text = g_string_new(NULL);

	triad_expected_write(fabric, 7, put, text);
	return g_string_free(text, FALSE);
}

START_TEST(test_write_as_printed)
{
	char *text;

	ck_assert_int_eq(parse(output), 0);
	text = written();
	ck_assert_str_eq(text,
		"generation 7\n"
		"node,port,state,remote,width,speed,check,comment\n"
		"0x0200000200000010,1,enabled,,,,,\"leaf-01\"\n"
		"0x0200000200000010,2,enabled,,,,,\"leaf-01\"\n"
		"0x0200000200000010,3,enabled,node_guid=0x0200000200000020;port=1,12x,"
		"HDR,,\"leaf-01 to say \"\"x\"\" 01\"\n"
		"0x0200000200000010,4,enabled,,,,,\"leaf-01\"\n"
		"0x0200000200000020,1,enabled,node_guid=0x0200000200000010;port=3,12x,"
		"HDR,,\"say \"\"x\"\" 01 to leaf-01\"\n"
		"0x0200000200000020,2,enabled,,,,,\"say \"\"x\"\" 01\"\n"
		"0x0200000200000020,3,enabled,node_guid=0x0200000100000010;port=1,1x,"
		"QDR,,\"say \"\"x\"\" 01 to host-0001 HCA-1\"\n");
	g_free(text);
	triad_fabric_unref(fabric);
}
END_TEST

/* Checks that each row is about a port, and that the port matches the row. */
static void check_round_trip(void)
{
	struct triad_expected *expected;
	struct triad_placed *placed;
	char *text = written();

	triad_diags_init(&diags, "net");
	ck_assert_int_eq(
		triad_expected_parse(text, strlen(text), &diags, &expected), 0);
	ck_assert_int_eq(
		triad_placed_build(expected, fabric, &diags, &diags, &placed), 0);
	ck_assert_str_eq(all_diags(), "");
	for (uint32_t i = 0; i < expected->n_ports; i++) {
		const struct triad_expected_port *row = &expected->ports[i];
		uint32_t at = placed->port_of[i];
		const struct triad_fabric_port *port;

		ck_assert_uint_ne(at, TRIAD_PLACED_NONE);
		port = &fabric->ports[at];
		ck_assert_uint_eq(placed->row_of[at], i);
		ck_assert_int_eq(triad_remote_compare(
					 fabric, at, expected, &row->remote, NULL, 0),
			TRIAD_REMOTE_FITS);
		ck_assert_int_eq(
			row->remote.node_guid != 0, port->remote != TRIAD_FABRIC_NONE);
		ck_assert_int_eq(
			row->state == TRIAD_EXPECTED_DISABLED, port->phys_state == 3);
	}
	triad_placed_free(placed);
	triad_expected_free(expected);
	g_free(text);
}

START_TEST(test_written_read_and_placed_fits)
{
	ck_assert_int_eq(parse(output), 0);
	check_round_trip();
	triad_fabric_unref(fabric);
}
END_TEST

/* A loopback plug connects the port to itself. */
START_TEST(test_written_with_port_linked_to_itself_fits)
{
	ck_assert_int_eq(parse("Switch\t1 \"S-1\"\n[1]\t\"S-1\"[1]\n"), 0);
	check_round_trip();
	triad_fabric_unref(fabric);
}
END_TEST

/* One end of a link is disabled; the SM hasn't noticed that at the other end yet. */
START_TEST(test_written_with_disabled_port_fits)
{
	struct triad_fabric_port *port;
	char *text;

	ck_assert_int_eq(parse(output), 0);
	port = &fabric->ports[triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, LEAF), 3)];
	port->phys_state = 3;
	text = written();
	ck_assert_ptr_nonnull(
		strstr(text, "0x0200000200000010,3,disabled,,,,,\"leaf-01\"\n"));
	ck_assert_ptr_nonnull(strstr(
		text, "0x0200000200000020,1,enabled,,,,,\"say \"\"x\"\" 01\"\n"));
	fabric->ports[port->remote].remote = TRIAD_FABRIC_NONE;
	port->remote = TRIAD_FABRIC_NONE;
	check_round_trip();
	g_free(text);
	triad_fabric_unref(fabric);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("netdiscover");

	tcase_add_test(cases, test_nodes_read_with_names_ids_and_lids);
	tcase_add_test(cases, test_links_read_with_width_and_speed);
	tcase_add_test(cases, test_switch_port_without_line_down);
	tcase_add_test(cases, test_mistakes_all_reported);
	tcase_add_test(cases, test_output_cut_refused);
	tcase_add_test(cases, test_write_as_printed);
	tcase_add_test(cases, test_written_read_and_placed_fits);
	tcase_add_test(cases, test_written_with_port_linked_to_itself_fits);
	tcase_add_test(cases, test_written_with_disabled_port_fits);
	return run_cases(cases);
}
