/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cabling/describe.h"

#include "ib/link.h"
#include "tests/unit/mentions.h"

#define LEAF 0x10
#define SPINE 0x20
#define HOST 0x30

static struct triad_cabling_plan *plan;
static struct triad_fabric *fabric;
static struct triad_cabling_port steps[3];
static struct triad_cabling_result result = {.steps = steps};
static struct triad_cabling_item item;
static char text[TRIAD_CABLING_TEXT_SIZE];

static void add_node(struct triad_fabric_builder *builder, uint64_t guid,
	const char *name, unsigned n_ports)
{
	struct triad_fabric_node node = {.guid = guid, .type = TRIAD_NODE_SWITCH};

	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	for (unsigned i = 1; i <= n_ports; i++)
		triad_fabric_builder_add_port(builder,
			&(struct triad_fabric_port){.number = (uint8_t)i,
				.state = TRIAD_PORT_DOWN,
				.phys_state = TRIAD_PHYS_DISABLED,
				.width = 2,
				.speed_ext = 2},
			0, 0);
}

static void set_up(void)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_cabling_link link = {.line = 7,
		.width = triad_link_width_find("4x"),
		.speed = TRIAD_SPEED_HDR,
		.length_dm = 15};

	add_node(builder, LEAF, "leaf", 8);
	add_node(builder, SPINE, "spine", 8);
	add_node(builder, HOST, "host", 1);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
	plan = triad_cabling_plan_new();
	triad_cabling_plan_add_link(plan, &link);
	item = (struct triad_cabling_item){.n = 1};
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
	triad_cabling_plan_free(plan);
}

static const struct triad_cabling_view *view(void)
{
	static struct triad_cabling_view made;

	made = (struct triad_cabling_view){plan, fabric, &result};
	return &made;
}

/* The item about leaf:1, spine:2, host:1 and leaf:4. */
static void expect(enum triad_cabling_kind kind, unsigned n_ports, const char *words)
{
	static const struct triad_cabling_port ports[4] = {
		{0, 1}, {1, 2}, {2, 1}, {0, 4}};

	item.kind = kind;
	item.n_ports = n_ports;
	for (unsigned i = 0; i < n_ports; i++)
		item.ports[i] = ports[i];
	triad_cabling_describe(view(), &item, 0, text, sizeof(text));
	assert_mentions(text, words);
}

START_TEST(test_describe_instructions_name_ports)
{
	expect(TRIAD_CABLING_MOVE, 3, "move leaf:1 to spine:2 host:1");
	expect(TRIAD_CABLING_SWAP, 4, "swap leaf:1 and spine:2 host:1 and leaf:4");
	expect(TRIAD_CABLING_PUT, 2, "put between leaf:1 and spine:2");
	expect(TRIAD_CABLING_TAKE_OUT, 2, "take out leaf:1 and spine:2");
	item.what = TRIAD_CABLING_PLUG_0;
	expect(TRIAD_CABLING_PUT, 2, "put leaf:1 spine:2 plug in leaf:1");
	item.what = TRIAD_CABLING_PLUG_1;
	expect(TRIAD_CABLING_PUT, 2, "put leaf:1 spine:2 plug in spine:2");
	item.what = TRIAD_CABLING_PLUG_0 | TRIAD_CABLING_PLUG_1;
	expect(TRIAD_CABLING_PUT, 2,
		"put leaf:1 spine:2 plug in leaf:1 plug in spine:2");
}
END_TEST

START_TEST(test_describe_replacement_says_what_is_and_what_is_planned)
{
	item.what = TRIAD_CABLING_RATE;
	expect(TRIAD_CABLING_REPLACE, 2,
		"replace leaf:1 spine:2 4x EDR planned 4x HDR");
	item.what |= TRIAD_CABLING_LENGTH;
	item.length_dm = 30;
	expect(TRIAD_CABLING_REPLACE, 2,
		"replace leaf:1 spine:2 4x EDR planned 4x HDR 3 m planned 1.5 m");
}
END_TEST

START_TEST(test_describe_ring_has_a_line_for_each_step)
{
	static const char *const words[] = {"take out leaf:1 hold",
		"move leaf:2 to leaf:1", "move leaf:3 to leaf:2", "held leaf:3"};

	for (unsigned i = 0; i < 3; i++)
		steps[i] = (struct triad_cabling_port){0, (uint8_t)(i + 1)};
	item.n_steps = item.n = 3;
	expect(TRIAD_CABLING_RING, 1, "3 ring leaf:1");
	for (uint32_t i = 0; i <= 3; i++) {
		triad_cabling_describe(view(), &item, i + 1, text, sizeof(text));
		assert_mentions(text, words[i]);
	}
}
END_TEST

START_TEST(test_describe_what_is_not_known_says_why)
{
	item.end.name = triad_cabling_plan_keep(plan, "gone");
	item.end.guid = 0xabc;
	item.n = 5;
	expect(TRIAD_CABLING_NODE_ABSENT, 1,
		"no gone 0x0000000000000abc 5 leaf:1 line 7");
	expect(TRIAD_CABLING_NAME_SHARED, 1, "gone 5 GUID line 7");
	expect(TRIAD_CABLING_PORT_ABSENT, 2, "no port leaf:1 line 7");
	expect(TRIAD_CABLING_PORT_UNKNOWN, 2, "leaf:1 spine:2 leaf:1 disabled");
	expect(TRIAD_CABLING_RATE_UNKNOWN, 2, "speed not 5 leaf:1 spine:2");
	expect(TRIAD_CABLING_LENGTH_UNKNOWN, 2, "length not 5 leaf:1 spine:2");
	plan->first_open_line = 12;
	expect(TRIAD_CABLING_ROWS_OPEN, 0, "5 line 12");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("describe");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_describe_instructions_name_ports);
	tcase_add_test(
		cases, test_describe_replacement_says_what_is_and_what_is_planned);
	tcase_add_test(cases, test_describe_ring_has_a_line_for_each_step);
	tcase_add_test(cases, test_describe_what_is_not_known_says_why);
	return run_cases(cases);
}
