/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ib/ber_target.h"
#include "ib/detail.h"
#include "perfmgr/watch/alerts.h"
#include "tests/unit/run.h"
#include "triad/threshold.h"

/* Size of the evidence at the end of a TRAP; older versions send none. */
#define EVIDENCE_SIZE 26
#define ROOM 1024u
#define HEAD TRIAD_COLLECT_HEAD_SIZE

static const struct triad_collect_head head = {
	.sender = UINT64_C(0x0102030405060708),
	.incarnation = UINT64_C(0x1112131415161718),
};
static const struct triad_collect_claim claims[] = {
	{UINT64_C(0xa1a2a3a4a5a6a7a8), 3, 5},
	{UINT64_C(0xb1b2b3b4b5b6b7b8), TRIAD_COLLECT_HOPS_GIVEN_UP, 0},
};
static const uint64_t guids[] = {UINT64_C(0xa1a2a3a4a5a6a7a8), 1, 2};

/* --- one of each kind --- */

static struct triad_collect_alive an_alive(void)
{
	return (struct triad_collect_alive){.name = "agent-7",
		.address = "2001:db8::7",
		.port = 0x2122,
		.is_draining = true,
		.n_nodes = 0x31323334,
		.n_ports = 0x41424344,
		.n_announced = 0x51525354,
		.claims = UINT64_C(0x6162636465666768),
		.master = UINT64_C(0x7172737475767778),
		.topology = UINT64_C(0x8182838485868788),
		.sweep_ms = 10000,
		.lag_ms = 2345,
		.n_data = 77,
		.n_dropped = UINT64_C(0x9192939495969798)};
}

static struct triad_collect_owner an_owner(void)
{
	return (struct triad_collect_owner){.as_of = 0x21222324,
		.is_list = true,
		.part = 2,
		.n_parts = 0x0102,
		.load = 6,
		.address = "10.0.0.1",
		.port = 0x3132,
		.n_nodes = 0x41424344,
		.n = 2};
}

static struct triad_collect_trap a_trap(void)
{
	return (struct triad_collect_trap){.wall_us = UINT64_C(0x2122232425262728),
		.node_guid = UINT64_C(0x3132333435363738),
		.port = 36,
		.cause = TRIAD_ALERT_LINK_DOWN,
		.is_raised = true,
		.value = 1.5F,
		.threshold = 0.25F,
		.threshold_unit = TRIAD_THRESHOLD_PER_S,
		.why_field = TRIAD_DETAIL_N_FIELDS,
		.why_is_only_one = true,
		.ber_kind = TRIAD_BER_EFFECTIVE,
		.ber_low = 1e-13F,
		.ber_high = 4e-13F,
		.ber_target = 1e-14F,
		.ber_in_s = 33.0F,
		.hardware_fault = TRIAD_HARDWARE_N_FAULTS - 1,
		.hardware_index = 7,
		.hardware_limit = -12.5F};
}

static struct triad_collect_clear a_clear(void)
{
	return (struct triad_collect_clear){.request = UINT64_C(0x2122232425262728),
		.node_guid = UINT64_C(0x3132333435363738),
		.port = TRIAD_ALERT_NO_PORT,
		.totals = true,
		.hardware = true};
}

static size_t put(enum triad_collect_kind kind, uint8_t *to, size_t size)
{
	const struct triad_collect_alive alive = an_alive();
	const struct triad_collect_owner owner = an_owner();
	const struct triad_collect_who_owns who = {.n = 3};
	const struct triad_collect_trap trap = a_trap();
	const struct triad_collect_again again = {.from = 0x21222324};
	const struct triad_collect_clear clear = a_clear();

	switch (kind) {
	case TRIAD_COLLECT_ALIVE:
		return triad_collect_put_alive(&head, &alive, to, size);
	case TRIAD_COLLECT_OWNER:
		return triad_collect_put_owner(&head, &owner, claims, to, size);
	case TRIAD_COLLECT_WHO_OWNS:
		return triad_collect_put_who_owns(&head, &who, guids, to, size);
	case TRIAD_COLLECT_TRAP:
		return triad_collect_put_trap(&head, &trap, to, size);
	case TRIAD_COLLECT_AGAIN:
		return triad_collect_put_again(&head, &again, to, size);
	case TRIAD_COLLECT_CLEAR:
		return triad_collect_put_clear(&head, &clear, to, size);
	default:
		return 0;
	}
}

/* --- reading --- */

static bool get_owner(struct triad_wire *body)
{
	struct triad_collect_owner owner;
	struct triad_collect_claim claim;
	bool is_valid = triad_collect_get_owner(body, &owner);

	for (uint32_t i = 0; is_valid && i < owner.n; i++)
		is_valid = triad_collect_get_claim(body, &claim);
	return is_valid;
}

static bool get_body(enum triad_collect_kind kind, struct triad_wire *body)
{
	struct triad_collect_alive alive;
	struct triad_collect_who_owns who;
	struct triad_collect_trap trap;
	struct triad_collect_again again;
	struct triad_collect_clear clear;

	switch (kind) {
	case TRIAD_COLLECT_ALIVE:
		return triad_collect_get_alive(body, &alive);
	case TRIAD_COLLECT_OWNER:
		return get_owner(body);
	case TRIAD_COLLECT_WHO_OWNS:
		return triad_collect_get_who_owns(body, &who);
	case TRIAD_COLLECT_TRAP:
		return triad_collect_get_trap(body, &trap);
	case TRIAD_COLLECT_AGAIN:
		return triad_collect_get_again(body, &again);
	case TRIAD_COLLECT_CLEAR:
		return triad_collect_get_clear(body, &clear);
	default:
		return false;
	}
}

/* Whether the octets are a valid message.  It reads a heap copy of exactly that size,
 * so that a sanitizer reports any read past the end. */
static bool is_valid(const uint8_t *octets, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);
	struct triad_collect_head got;
	struct triad_wire body;
	bool is_valid;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, octets, size);
	is_valid = triad_collect_get_head(exact, size, &got, &body) ==
			TRIAD_COLLECT_HEAD_GOOD &&
		get_body(got.kind, &body);
	free(exact);
	return is_valid;
}

static struct triad_wire body_of(uint8_t *octets, size_t size)
{
	struct triad_collect_head got;
	struct triad_wire body;

	ck_assert_int_eq(triad_collect_get_head(octets, size, &got, &body),
		TRIAD_COLLECT_HEAD_GOOD);
	ck_assert_uint_eq(got.sender, head.sender);
	ck_assert_uint_eq(got.incarnation, head.incarnation);
	return body;
}

/* --- written and read again --- */

START_TEST(test_alive_round_trip_is_the_same)
{
	struct triad_collect_alive got, alive = an_alive();
	uint8_t octets[ROOM];
	size_t size = put(TRIAD_COLLECT_ALIVE, octets, ROOM);
	struct triad_wire body = body_of(octets, size);

	ck_assert(triad_collect_get_alive(&body, &got));
	ck_assert_str_eq(got.name, alive.name);
	ck_assert_str_eq(got.address, alive.address);
	ck_assert_uint_eq(got.port, alive.port);
	ck_assert(!got.is_manager);
	ck_assert(got.is_draining);
	ck_assert_uint_eq(got.n_nodes, alive.n_nodes);
	ck_assert_uint_eq(got.n_ports, alive.n_ports);
	ck_assert_uint_eq(got.n_announced, alive.n_announced);
	ck_assert_uint_eq(got.claims, alive.claims);
	ck_assert_uint_eq(got.master, alive.master);
	ck_assert_uint_eq(got.topology, alive.topology);
	ck_assert_uint_eq(got.sweep_ms, alive.sweep_ms);
	ck_assert_uint_eq(got.lag_ms, alive.lag_ms);
	ck_assert_uint_eq(got.n_data, alive.n_data);
	ck_assert_uint_eq(got.n_dropped, alive.n_dropped);
	ck_assert_uint_eq(body.at, body.size);
}
END_TEST

/* Row: M10 */
START_TEST(test_owner_round_trip_is_the_same)
{
	struct triad_collect_owner got, owner = an_owner();
	struct triad_collect_claim claim;
	uint8_t octets[ROOM];
	size_t size = put(TRIAD_COLLECT_OWNER, octets, ROOM);
	struct triad_wire body = body_of(octets, size);

	ck_assert(triad_collect_get_owner(&body, &got));
	ck_assert_uint_eq(got.number, 0);
	ck_assert_uint_eq(got.as_of, owner.as_of);
	ck_assert(got.is_list);
	ck_assert(!got.is_draining);
	ck_assert_uint_eq(got.part, owner.part);
	ck_assert_uint_eq(got.n_parts, owner.n_parts);
	ck_assert_uint_eq(got.load, owner.load);
	ck_assert_str_eq(got.address, owner.address);
	ck_assert_uint_eq(got.port, owner.port);
	ck_assert_uint_eq(got.n_nodes, owner.n_nodes);
	ck_assert_uint_eq(got.n, 2);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(triad_collect_get_claim(&body, &claim));
		ck_assert_uint_eq(claim.node_guid, claims[i].node_guid);
		ck_assert_uint_eq(claim.hops, claims[i].hops);
		ck_assert_uint_eq(claim.load, claims[i].load);
	}
	ck_assert_uint_eq(body.at, body.size);
	ck_assert(!triad_collect_get_claim(&body, &claim));
}
END_TEST

/* Row: M10 */
START_TEST(test_who_owns_round_trip_is_the_same)
{
	const struct triad_collect_who_owns list = {.wants_list = true};
	struct triad_collect_who_owns got;
	uint8_t octets[ROOM];
	size_t size = put(TRIAD_COLLECT_WHO_OWNS, octets, ROOM);
	struct triad_wire body = body_of(octets, size);

	ck_assert(triad_collect_get_who_owns(&body, &got));
	ck_assert(!got.wants_list);
	ck_assert_uint_eq(got.n, 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(triad_wire_get64(&body), guids[i]);
	size = triad_collect_put_who_owns(&head, &list, NULL, octets, ROOM);
	body = body_of(octets, size);
	ck_assert(triad_collect_get_who_owns(&body, &got));
	ck_assert(got.wants_list);
	ck_assert_uint_eq(got.n, 0);
}
END_TEST

/* Row: M11 */
START_TEST(test_trap_round_trip_is_the_same)
{
	struct triad_collect_trap got, trap = a_trap();
	uint8_t octets[ROOM];
	size_t size = put(TRIAD_COLLECT_TRAP, octets, ROOM);
	struct triad_wire body = body_of(octets, size);

	ck_assert(triad_collect_get_trap(&body, &got));
	ck_assert_uint_eq(got.wall_us, trap.wall_us);
	ck_assert_uint_eq(got.node_guid, trap.node_guid);
	ck_assert_uint_eq(got.port, trap.port);
	ck_assert_uint_eq(got.cause, trap.cause);
	ck_assert(got.is_raised);
	ck_assert(!got.is_at_least);
	ck_assert(got.value == trap.value);
	ck_assert(got.threshold == trap.threshold);
	ck_assert_uint_eq(got.threshold_unit, trap.threshold_unit);
	ck_assert_uint_eq(got.why_field, trap.why_field);
	ck_assert(got.why_is_only_one);
	ck_assert_uint_eq(got.ber_kind, trap.ber_kind);
	ck_assert(got.ber_low == trap.ber_low && got.ber_high == trap.ber_high);
	ck_assert(got.ber_target == trap.ber_target);
	ck_assert(got.ber_in_s == trap.ber_in_s);
	ck_assert_uint_eq(got.hardware_fault, trap.hardware_fault);
	ck_assert_uint_eq(got.hardware_index, trap.hardware_index);
	ck_assert(got.hardware_limit == trap.hardware_limit);
}
END_TEST

/* A TRAP of an older version without evidence, and one with longer tables. */
START_TEST(test_trap_without_evidence_that_is_known_has_none)
{
	struct triad_collect_trap got, trap = a_trap();
	uint8_t octets[ROOM];
	size_t size = put(TRIAD_COLLECT_TRAP, octets, ROOM) - EVIDENCE_SIZE;
	struct triad_wire body = body_of(octets, size);

	ck_assert(triad_collect_get_trap(&body, &got));
	ck_assert_uint_eq(got.threshold_unit, trap.threshold_unit);
	ck_assert_uint_eq(got.why_field, 0);
	ck_assert(!got.why_is_only_one);
	trap.why_field = TRIAD_DETAIL_N_FIELDS + 1;
	trap.ber_kind = TRIAD_BER_N_KINDS;
	trap.hardware_fault = TRIAD_HARDWARE_N_FAULTS;
	body = body_of(
		octets, triad_collect_put_trap(&head, &trap, octets, sizeof(octets)));
	ck_assert(triad_collect_get_trap(&body, &got));
	ck_assert_uint_eq(got.why_field, 0);
	ck_assert_uint_eq(got.ber_kind, 0);
	ck_assert(got.ber_target <= 0);
	ck_assert_uint_eq(got.hardware_fault, 0);
	trap.ber_kind = 0;
	trap.why_field = (uint8_t)triad_detail_field_find("PortVLXmitWait") + 1;
	trap.why_element = 16;
	body = body_of(
		octets, triad_collect_put_trap(&head, &trap, octets, sizeof(octets)));
	ck_assert(triad_collect_get_trap(&body, &got));
	ck_assert_uint_eq(got.why_field, 0);
	trap.why_element = 15;
	body = body_of(
		octets, triad_collect_put_trap(&head, &trap, octets, sizeof(octets)));
	ck_assert(triad_collect_get_trap(&body, &got));
	ck_assert_uint_eq(got.why_element, 15);
}
END_TEST

/* Row: M14 */
START_TEST(test_clear_and_again_round_trip_are_the_same)
{
	struct triad_collect_clear got, clear = a_clear();
	struct triad_collect_again again;
	uint8_t octets[ROOM];
	size_t size = put(TRIAD_COLLECT_CLEAR, octets, ROOM);
	struct triad_wire body = body_of(octets, size);

	ck_assert(triad_collect_get_clear(&body, &got));
	ck_assert_uint_eq(got.request, clear.request);
	ck_assert_uint_eq(got.node_guid, clear.node_guid);
	ck_assert_uint_eq(got.port, clear.port);
	ck_assert(got.totals);
	ck_assert(!got.histograms);
	ck_assert(got.hardware);
	size = put(TRIAD_COLLECT_AGAIN, octets, ROOM);
	body = body_of(octets, size);
	ck_assert(triad_collect_get_again(&body, &again));
	ck_assert_uint_eq(again.from, 0x21222324);
}
END_TEST

/* The layout in message.h; other versions of Triad rely on it. */
START_TEST(test_octets_are_where_they_are_documented)
{
	uint8_t octets[ROOM];
	const uint8_t owner[] = {0, 0, 0, 0, 0x21, 0x22, 0x23, 0x24, 1, 0, 2, 1, 2, 6,
		8, '1', '0', '.', '0', '.', '0', '.', '1', 0x31, 0x32, 0x41, 0x42, 0x43,
		0x44, 0, 0, 0, 2, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 3, 5};

	ck_assert_uint_eq(
		put(TRIAD_COLLECT_OWNER, octets, ROOM), HEAD + sizeof(owner) + 10);
	ck_assert_mem_eq(octets, "TC\1\2\1\2\3\4\5\6\7\10\x11\x12\x13\x14", 16);
	ck_assert_mem_eq(octets + HEAD, owner, sizeof(owner));
	put(TRIAD_COLLECT_ALIVE, octets, ROOM);
	ck_assert_mem_eq(octets + HEAD,
		"\7agent-7\13"
		"2001:db8::7\x21\x22\2\x31",
		24);
}
END_TEST

/* --- messages that are too short or too long --- */

START_TEST(test_message_cut_anywhere_is_none)
{
	uint8_t octets[ROOM] = {0};
	size_t size = put((enum triad_collect_kind)_i, octets, ROOM);

	if (!size)
		return;
	ck_assert(is_valid(octets, size));
	for (size_t shorter = 0; shorter < size; shorter++) {
		/* Older versions send TRAPs without evidence. */
		bool is_older =
			_i == TRIAD_COLLECT_TRAP && shorter == size - EVIDENCE_SIZE;

		ck_assert_msg(
			is_valid(octets, shorter) == is_older, "%zu octets", shorter);
		ck_assert_uint_eq(put((enum triad_collect_kind)_i, octets, shorter), 0);
		put((enum triad_collect_kind)_i, octets, ROOM);
	}
}
END_TEST

/* Later versions may append to a body, but a list ends with the message. */
START_TEST(test_message_with_octets_after_it_is_valid_except_lists)
{
	uint8_t octets[ROOM + 1] = {0};
	size_t size = put((enum triad_collect_kind)_i, octets, ROOM);
	bool is_list = _i == TRIAD_COLLECT_OWNER || _i == TRIAD_COLLECT_WHO_OWNS;

	if (size)
		ck_assert(is_valid(octets, size + 1) == !is_list);
}
END_TEST

START_TEST(test_message_that_does_not_fit_is_not_written)
{
	const struct triad_collect_owner owner = {.n = 30000};
	struct triad_collect_claim *many = calloc(owner.n, sizeof(*many));
	uint8_t *octets = malloc(2 * TRIAD_COLLECT_MAX_SIZE);

	ck_assert_ptr_nonnull(many);
	ck_assert_ptr_nonnull(octets);
	ck_assert_uint_eq(triad_collect_put_owner(&head, &owner, many, octets,
				  2 * (size_t)TRIAD_COLLECT_MAX_SIZE),
		0);
	free(many);
	free(octets);
}
END_TEST

START_TEST(test_list_of_the_maximal_length_is_valid_and_a_longer_one_is_not)
{
	struct triad_collect_owner owner = {
		.n = TRIAD_COLLECT_MAX_NODES + (uint32_t)_i};
	struct triad_collect_claim *many = calloc(owner.n, sizeof(*many));
	uint8_t *octets = malloc(TRIAD_COLLECT_MAX_SIZE);
	size_t size;

	ck_assert_ptr_nonnull(many);
	ck_assert_ptr_nonnull(octets);
	for (uint32_t i = 0; i < owner.n; i++)
		many[i].node_guid = i + 1;
	size = triad_collect_put_owner(
		&head, &owner, many, octets, TRIAD_COLLECT_MAX_SIZE);
	ck_assert_uint_gt(size, 10 * owner.n);
	ck_assert(is_valid(octets, size) == !_i);
	free(many);
	free(octets);
}
END_TEST

/* --- passing on --- */

START_TEST(test_message_that_is_passed_on_contains_how_often)
{
	struct triad_collect_head got;
	struct triad_wire body;
	uint8_t octets[ROOM], before[ROOM];
	size_t size = put(TRIAD_COLLECT_TRAP, octets, ROOM);

	memcpy(before, octets, size);
	for (unsigned n = 0; n <= TRIAD_COLLECT_MAX_RELAYS; n++) {
		ck_assert_int_eq(triad_collect_get_head(octets, size, &got, &body),
			TRIAD_COLLECT_HEAD_GOOD);
		ck_assert_uint_eq(got.n_relays, n);
		ck_assert_int_eq(got.kind, TRIAD_COLLECT_TRAP);
		if (n < TRIAD_COLLECT_MAX_RELAYS)
			triad_collect_count_relay(octets);
	}
	octets[3] = before[3];
	ck_assert_mem_eq(octets, before, size);
}
END_TEST

/* --- invalid messages --- */

START_TEST(test_head_of_others_is_distinguished)
{
	struct triad_collect_head got;
	struct triad_wire body;
	uint8_t octets[ROOM];
	size_t size = put(TRIAD_COLLECT_AGAIN, octets, ROOM);

	octets[2] = 2;
	ck_assert_int_eq(triad_collect_get_head(octets, size, &got, &body),
		TRIAD_COLLECT_HEAD_OTHER_VERSION);
	ck_assert_uint_eq(got.sender, head.sender);
	ck_assert_uint_eq(got.incarnation, head.incarnation);
	octets[2] = TRIAD_COLLECT_VERSION;
	octets[3] = TRIAD_COLLECT_N_KINDS;
	ck_assert_int_eq(triad_collect_get_head(octets, size, &got, &body),
		TRIAD_COLLECT_HEAD_UNKNOWN_KIND);
	octets[3] = 0;
	ck_assert_int_eq(triad_collect_get_head(octets, size, &got, &body),
		TRIAD_COLLECT_HEAD_UNKNOWN_KIND);
	octets[0] = 't';
	ck_assert_int_eq(triad_collect_get_head(octets, size, &got, &body),
		TRIAD_COLLECT_HEAD_FOREIGN);
	octets[0] = 'T';
	ck_assert_int_eq(triad_collect_get_head(octets, HEAD - 1, &got, &body),
		TRIAD_COLLECT_HEAD_FOREIGN);
	memset(octets + 4, 0, 8);
	ck_assert_int_eq(triad_collect_get_head(octets, size, &got, &body),
		TRIAD_COLLECT_HEAD_FOREIGN);
}
END_TEST

START_TEST(test_message_larger_than_may_be_is_foreign)
{
	uint8_t *octets = calloc(1, TRIAD_COLLECT_MAX_SIZE + 1);
	struct triad_collect_head got;
	struct triad_wire body;

	ck_assert_ptr_nonnull(octets);
	put(TRIAD_COLLECT_AGAIN, octets, ROOM);
	ck_assert_int_eq(
		triad_collect_get_head(octets, TRIAD_COLLECT_MAX_SIZE, &got, &body),
		TRIAD_COLLECT_HEAD_GOOD);
	ck_assert_int_eq(
		triad_collect_get_head(octets, TRIAD_COLLECT_MAX_SIZE + 1, &got, &body),
		TRIAD_COLLECT_HEAD_FOREIGN);
	free(octets);
}
END_TEST

/* Each row overwrites 'size' octets of a valid message. */
static const struct {
	enum triad_collect_kind kind;
	size_t at, size; /* in the body */
	uint8_t value;
} hostile[] = {
	{TRIAD_COLLECT_ALIVE, 0, 1, 64},      /* a name that is too long */
	{TRIAD_COLLECT_ALIVE, 8, 1, 255},     /* an address that is too long */
	{TRIAD_COLLECT_OWNER, 29, 4, 0xff},   /* more entries than there are */
	{TRIAD_COLLECT_OWNER, 32, 1, 1},      /* fewer entries than there are */
	{TRIAD_COLLECT_OWNER, 11, 2, 0},      /* part 2 of 0 */
	{TRIAD_COLLECT_OWNER, 9, 2, 1},       /* part 257 of 258: valid */
	{TRIAD_COLLECT_OWNER, 9, 2, 2},       /* part 514 of 258 */
	{TRIAD_COLLECT_OWNER, 8, 1, 0},       /* parts, but not of a list */
	{TRIAD_COLLECT_OWNER, 33, 8, 0},      /* no GUID */
	{TRIAD_COLLECT_OWNER, 14, 1, 64},     /* an address that is too long */
	{TRIAD_COLLECT_WHO_OWNS, 0, 1, 1},    /* a list and certain nodes */
	{TRIAD_COLLECT_WHO_OWNS, 4, 1, 2},    /* fewer nodes than there are */
	{TRIAD_COLLECT_WHO_OWNS, 1, 4, 0xff}, /* more nodes than there are */
	{TRIAD_COLLECT_TRAP, 8, 8, 0},        /* no node */
	{TRIAD_COLLECT_TRAP, 17, 1, TRIAD_ALERT_N_CAUSES},
	{TRIAD_COLLECT_TRAP, 19, 4, 0xff}, /* no number */
	{TRIAD_COLLECT_TRAP, 23, 1, 0xbe}, /* below 0 */
	{TRIAD_COLLECT_TRAP, 27, 1, TRIAD_THRESHOLD_PERCENT + 1},
};

START_TEST(test_message_with_hostile_field_is_none)
{
	uint8_t octets[ROOM];
	size_t size = put(hostile[_i].kind, octets, ROOM);
	bool expected = hostile[_i].at == 9 && hostile[_i].value == 1;

	memset(octets + HEAD + hostile[_i].at, hostile[_i].value, hostile[_i].size);
	ck_assert(is_valid(octets, size) == expected);
}
END_TEST

START_TEST(test_trap_that_is_no_number_is_none)
{
	const float values[] = {NAN, INFINITY, -INFINITY, -1};
	struct triad_collect_trap trap = a_trap();
	uint8_t octets[ROOM];

	for (unsigned i = 0; i < 4; i++) {
		trap.value = values[i];
		ck_assert(!is_valid(
			octets, triad_collect_put_trap(&head, &trap, octets, ROOM)));
		trap.value = 1;
		trap.threshold = values[i];
		ck_assert(!is_valid(
			octets, triad_collect_put_trap(&head, &trap, octets, ROOM)));
		trap.threshold = 1;
		ck_assert(is_valid(
			octets, triad_collect_put_trap(&head, &trap, octets, ROOM)));
	}
}
END_TEST

static const struct {
	const char *sent, *received;
} texts[] = {
	{"", ""},
	{"knoten-\xc3\xa4", "knoten-\xc3\xa4"},
	{"a\nb\x1b[2J\tc", "a?b?[2J?c"},
	{"cut \xc3", "cut ?"},
	{"\xff\xfe", "??"},
	{"012345678901234567890123456789012345678901234567890123456789012",
		"012345678901234567890123456789012345678901234567890123456789012"},
};

START_TEST(test_text_is_printable_when_it_is_read)
{
	struct triad_collect_alive got, alive = an_alive();
	uint8_t octets[ROOM];
	struct triad_wire body;
	size_t size;

	memset(alive.name, 0, sizeof(alive.name));
	memcpy(alive.name, texts[_i].sent, strlen(texts[_i].sent));
	size = triad_collect_put_alive(&head, &alive, octets, ROOM);
	body = body_of(octets, size);
	ck_assert(triad_collect_get_alive(&body, &got));
	ck_assert_str_eq(got.name, texts[_i].received);
	ck_assert_str_eq(got.address, alive.address);
}
END_TEST

/* The message is as long as its text's length requires. */
START_TEST(test_text_longer_than_may_be_makes_it_none)
{
	uint8_t octets[ROOM];

	memset(octets, ' ', sizeof(octets));
	put(TRIAD_COLLECT_ALIVE, octets, ROOM);
	memset(octets + HEAD, ' ', sizeof(octets) - HEAD);
	octets[HEAD] = TRIAD_COLLECT_NAME_SIZE - 1;
	ck_assert(is_valid(octets, ROOM));
	octets[HEAD] = TRIAD_COLLECT_NAME_SIZE;
	ck_assert(!is_valid(octets, ROOM));
	octets[HEAD] = 255;
	ck_assert(!is_valid(octets, ROOM));
}
END_TEST

START_TEST(test_text_with_a_zero_does_not_end_there)
{
	struct triad_collect_alive got;
	uint8_t octets[ROOM];
	size_t size = put(TRIAD_COLLECT_ALIVE, octets, ROOM);
	struct triad_wire body = body_of(octets, size);

	octets[HEAD + 3] = 0;
	ck_assert(triad_collect_get_alive(&body, &got));
	ck_assert_str_eq(got.name, "ag?nt-7");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("collect_message");

	tcase_add_test(cases, test_alive_round_trip_is_the_same);
	tcase_add_test(cases, test_owner_round_trip_is_the_same);
	tcase_add_test(cases, test_who_owns_round_trip_is_the_same);
	tcase_add_test(cases, test_trap_round_trip_is_the_same);
	tcase_add_test(cases, test_trap_without_evidence_that_is_known_has_none);
	tcase_add_test(cases, test_clear_and_again_round_trip_are_the_same);
	tcase_add_test(cases, test_octets_are_where_they_are_documented);
	tcase_add_loop_test(cases, test_message_cut_anywhere_is_none,
		TRIAD_COLLECT_ALIVE, TRIAD_COLLECT_N_KINDS);
	tcase_add_loop_test(cases,
		test_message_with_octets_after_it_is_valid_except_lists,
		TRIAD_COLLECT_ALIVE, TRIAD_COLLECT_N_KINDS);
	tcase_add_test(cases, test_message_that_does_not_fit_is_not_written);
	tcase_add_loop_test(cases,
		test_list_of_the_maximal_length_is_valid_and_a_longer_one_is_not, 0, 2);
	tcase_add_test(cases, test_message_that_is_passed_on_contains_how_often);
	tcase_add_test(cases, test_head_of_others_is_distinguished);
	tcase_add_test(cases, test_message_larger_than_may_be_is_foreign);
	tcase_add_loop_test(cases, test_message_with_hostile_field_is_none, 0,
		sizeof(hostile) / sizeof(*hostile));
	tcase_add_test(cases, test_trap_that_is_no_number_is_none);
	tcase_add_loop_test(cases, test_text_is_printable_when_it_is_read, 0,
		sizeof(texts) / sizeof(*texts));
	tcase_add_test(cases, test_text_longer_than_may_be_makes_it_none);
	tcase_add_test(cases, test_text_with_a_zero_does_not_end_there);
	return run_cases(cases);
}
