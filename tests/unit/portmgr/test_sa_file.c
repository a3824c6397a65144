/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/sa/sa_file.h"

#include <errno.h>
#include <stdio.h>

#include "tests/unit/portmgr/sa_records.h"

#define NOW_S UINT64_C(1700000000)

struct text {
	char *octets;
	size_t size;
	int error; /* to return from write_text() */
	bool has_room;
};

static struct triad_sa_set *set;
static struct list list;
static struct text text;
static uint32_t n_left_out;

static void set_up(void)
{
	set = triad_sa_set_new();
	ck_assert_ptr_nonnull(set);
	text.has_room = true;
}

static void tear_down(void)
{
	triad_sa_set_free(set);
	clear(&list);
	free(text.octets);
	memset(&text, 0, sizeof(text));
}

static void put(struct triad_sa_record record)
{
	add(&list, &record);
}

static int write_text(void *context, const char *octets, size_t size)
{
	struct text *to = context;

	to->octets = realloc(to->octets, to->size + size + 1);
	ck_assert_ptr_nonnull(to->octets);
	memcpy(to->octets + to->size, octets, size);
	to->size += size;
	to->octets[to->size] = '\0';
	return to->error;
}

static bool has_room(void *context, const struct triad_sa_guids *guids)
{
	(void)guids;
	return ((struct text *)context)->has_room;
}

static int write_all(int64_t ahead_us)
{
	const struct triad_sa_file_conf conf = {.now_s = NOW_S,
		.ahead_us = ahead_us,
		.context = &text,
		.has_room = has_room,
		.write = write_text};
	uint64_t changed[TRIAD_SA_SET_N_GROUPS];

	text.size = 0;
	ck_assert_int_eq(triad_sa_set_take(set, list.octets, list.size, changed), 0);
	return triad_sa_file_write(set, &conf, &n_left_out);
}

/* The text after the first line, which is a comment. */
static const char *body(void)
{
	const char *end = strchr(text.octets, '\n');

	ck_assert_int_eq(text.octets[0], '#');
	return end + 1;
}

/* The file has the lines of OpenSM's own dump, without its empty lines. */
START_TEST(test_file_has_the_lines_of_opensm)
{
	put(some_guids(0x10, 1));
	put(a_group(5));
	put(a_member(5, 0x22));
	put(a_subscription(0x33, 66));
	put(a_service(8, "storage"));
	ck_assert_int_eq(write_all(0), 0);
	ck_assert_uint_eq(n_left_out, 0);
	ck_assert_str_eq(body(),
		"GUIDInfo Record: base_guid=0x0000000000000010 lid=0x0009 block_num=0x1"
		" guid0=0x0000000000000010 guid1=0x00000000000000a1"
		" guid2=0x0000000000000000 guid3=0x00000000000000a3"
		" guid4=0x0000000000000000 guid5=0x0000000000000000"
		" guid6=0x0000000000000000 guid7=0x0000000000000000\n"
		"MC Group 0xc005 : mgid=0xff12601bffff0000:0x0000000000000005"
		" port_gid=0xfe80000000000000:0x0000000000000001"
		" qkey=0x00000b1b mlid=0xc005 mtu=0x84 tclass=0x03 pkey=0xffff"
		" rate=0x83 pkt_life=0x92 sl_flow_hop=0x10000200 scope_state=0x21"
		" proxy_join=0x0\n"
		"mcm_port: port_gid=0xfe80000000000000:0x0000000000000022"
		" scope_state=0x21 proxy_join=0x0\n"
		"InformInfo Record: subscriber_gid=0xfe80000000000000:0x0000000000000033"
		" subscriber_enum=0x0 InformInfo:"
		" gid=0x0000000000000000:0x0000000000000000 lid_range_begin=0xffff"
		" lid_range_end=0x0 is_generic=0x1 subscribe=0x1 trap_type=0xffff"
		" trap_num=0x42 qpn_resp_time_val=0x112 node_type=0x000004 rep_addr:"
		" lid=0x0033 path_bits=0x00 static_rate=0x00 remote_qp=0x00000001"
		" remote_qkey=0x80010000 pkey_ix=0x0000 sl=0x00\n"
		"Service Record: id=0x0000000000000008"
		" gid=0xfe80000000000000:0x0000000000000007 pkey=0xffff lease=0xffffffff"
		" key=0xf0f1f2f3f4f5f6f7:0xf8f9fafbfcfdfeff name='storage'"
		" data8=0x0001020304050607:0x08090a0b0c0d0e0f"
		" data16=0x1011121314151617:0x18191a1b1c1d1e1f"
		" data32=0x2021222324252627:0x28292a2b2c2d2e2f"
		" data64=0x3031323334353637:0x38393a3b3c3d3e3f"
		" modified_time=0x6553f100 lease_period=0xffffffff\n");
}
END_TEST

static size_t position(const char *part)
{
	const char *at = strstr(body(), part);

	ck_assert_msg(at, "%s in\n%s", part, text.octets);
	return (size_t)(at - text.octets);
}

START_TEST(test_file_has_groups_in_the_order_that_opensm_needs)
{
	struct triad_sa_record broadcast = a_group(0xffffffff);
	struct triad_sa_record member = a_member(2, 0xa), of_ipoib = a_group(3);

	put(a_group(2));
	member.member.is_alias = true;
	put(member);
	put(a_member(2, 0xb));
	put(a_group(1));
	put(a_member(1, 0xc));
	broadcast.group.mgid.prefix = UINT64_C(0xff12401b80010000);
	broadcast.group.is_well_known = true;
	of_ipoib.group.mgid.prefix = broadcast.group.mgid.prefix;
	put(of_ipoib);
	put(broadcast);
	ck_assert_int_eq(write_all(0), 0);
	ck_assert_uint_eq(n_left_out, 0);
	ck_assert_uint_lt(position("(well known): mgid=0xff12401b80010000"),
		position("MC Group 0xc003 : mgid=0xff12401b80010000"));
	ck_assert_uint_lt(position("MC Group 0xc001"), position(":0x000000000000000c"));
	ck_assert_uint_lt(position(":0x000000000000000c"), position("MC Group 0xc002"));
	/* A port's own GUID comes before its alias GUID, although the alias is
	 * lower. */
	ck_assert_uint_lt(position("MC Group 0xc002"), position(":0x000000000000000b"));
	ck_assert_uint_lt(
		position(":0x000000000000000b"), position(":0x000000000000000a"));
}
END_TEST

START_TEST(test_file_has_no_member_without_its_group)
{
	put(a_member(1, 2));
	put(a_group(2));
	put(a_member(3, 4));
	ck_assert_int_eq(write_all(0), 0);
	ck_assert_uint_eq(n_left_out, 2);
	ck_assert_ptr_null(strstr(body(), "mcm_port"));
}
END_TEST

/* A service name must neither begin another line nor end its own field early. */
START_TEST(test_file_quotes_names_or_leaves_them_out)
{
	static const char *const unsafe[] = {"two\nMC Group 0xc001 : mgid=0x1:0x2",
		"both ' and \"", "a\rb",
		"0123456789012345678901234567890123456789012345678901234567890123"};

	put(a_service(1, "it's"));
	put(a_service(2, "a \"b\" data8=0x0:0x0"));
	put(a_service(3, ""));
	for (unsigned i = 0; i < 4; i++)
		put(a_service(10 + i, unsafe[i]));
	ck_assert_int_eq(write_all(0), 0);
	ck_assert_uint_eq(n_left_out, 4);
	(void)position(" name=\"it's\" data8=");
	(void)position(" name='a \"b\" data8=0x0:0x0' data8=0x00");
	(void)position(" name='' data8=");
	for (const char *line = body(); *line; line = strchr(line, '\n') + 1)
		ck_assert_mem_eq(line, "Service Record: ", 16);
}
END_TEST

/* The master's clock is 100 s ahead: a lease that ends at its NOW + 130 ends in 30 s
 * here. */
START_TEST(test_file_has_leases_by_the_clock_here)
{
	struct triad_sa_record service = a_service(1, "lease");

	service.service.lease_s = 600;
	service.service.ends_s = NOW_S + 130;
	put(service);
	service.service.id = 2;
	service.service.ends_s = NOW_S + 100;
	put(service);
	ck_assert_int_eq(write_all(100 * 1000000), 0);
	(void)position("lease=0x258");
	(void)position("modified_time=0x6553f100 lease_period=0x1e\n");
	ck_assert_ptr_null(strstr(body(), "id=0x0000000000000002"));
	ck_assert_uint_eq(n_left_out, 0);
	ck_assert_int_eq(write_all(-100 * 1000000), 0);
	(void)position("lease_period=0xe6\n");
}
END_TEST

START_TEST(test_file_has_no_aliases_that_have_no_room)
{
	put(some_guids(3, 0));
	text.has_room = false;
	ck_assert_int_eq(write_all(0), 0);
	ck_assert_uint_eq(n_left_out, 1);
	ck_assert_str_eq(body(), "");
}
END_TEST

START_TEST(test_file_larger_than_its_buffer_is_whole)
{
	size_t n = 0;

	for (uint64_t group = 0; group < 50; group++)
		put(a_group(group));
	for (uint64_t i = 0; i < 32400; i++)
		put(a_member(i % 50, i));
	ck_assert_int_eq(write_all(0), 0);
	for (const char *line = body(), *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		/* OpenSM reads a line of 1,022 octets at most. */
		ck_assert_uint_lt((size_t)(end - line), 1000);
		n++;
	}
	ck_assert_uint_eq(n, 50 + 32400);
	text.error = ENOSPC;
	ck_assert_int_eq(write_all(0), ENOSPC);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sa_file");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_file_has_the_lines_of_opensm);
	tcase_add_test(cases, test_file_has_groups_in_the_order_that_opensm_needs);
	tcase_add_test(cases, test_file_has_no_member_without_its_group);
	tcase_add_test(cases, test_file_quotes_names_or_leaves_them_out);
	tcase_add_test(cases, test_file_has_leases_by_the_clock_here);
	tcase_add_test(cases, test_file_has_no_aliases_that_have_no_room);
	tcase_add_test(cases, test_file_larger_than_its_buffer_is_whole);
	return run_cases(cases);
}
