/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/views.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"

#define S UINT64_C(1000000)

/* --- fabrics --- */

static void make_name(
	char name[64], const char *what, unsigned i, unsigned j, uint64_t *seed)
{
	switch (random_below(seed, 8)) {
	case 1:
		snprintf(name, 64, "skip-%s-%u-%u", what, i, j);
		break;
	case 2:
		snprintf(name, 64, " %s \"%u\" \\ %u  ", what, i, j);
		break;
	case 3:
		snprintf(name, 64, "\xc3\xa9\xe2\x82\xac %s %u/%u", what, i, j);
		break;
	case 4:
		snprintf(name, 64, "%s {%u=%u}", what, i, j);
		break;
	default:
		snprintf(name, 64, "%s-%u-%u", what, i, j);
		break;
	}
}

static struct triad_fabric_port make_port(
	uint64_t guid, unsigned number, unsigned lid, uint64_t *seed)
{
	return (struct triad_fabric_port){.guid = guid,
		.lid = (uint16_t)lid,
		.number = (uint8_t)number,
		.state = TRIAD_PORT_ACTIVE,
		.width = (uint8_t)(1u << random_below(seed, 5)),
		.speed = (uint8_t)(1u << random_below(seed, 3)),
		.speed_ext =
			(uint8_t)(random_below(seed, 3) ? 1u << random_below(seed, 5)
							: 0),
		.width_supported = (uint8_t)random_below(seed, 32),
		.speed_supported = 7,
		.speed_ext_supported = (uint8_t)random_below(seed, 16),
		.has_pma = true};
}

static uint64_t host_guid(unsigned i, unsigned j)
{
	return UINT64_C(0x2c9030000100000) + i * 4096 + j * 16;
}

static void add_switch(struct triad_fabric_builder *builder, unsigned i,
	unsigned n_switches, unsigned n_hosts, unsigned n_spare, uint64_t *seed)
{
	struct triad_fabric_node node = {.guid = 0x200 + i, .type = TRIAD_NODE_SWITCH};
	char name[64];

	make_name(name, "switch", i, n_hosts, seed);
	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	for (unsigned p = 0; p <= n_hosts + 2 + n_spare; p++) {
		struct triad_fabric_port port = make_port(node.guid, p, 1 + i, seed);
		uint64_t far_guid = 0;
		unsigned far_number = 1;

		port.has_pma = p > 0;
		if (p >= 1 && p <= n_hosts)
			far_guid = host_guid(i, p);
		if (p == n_hosts + 1 && i + 1 < n_switches) {
			far_guid = node.guid + 1;
			far_number = n_hosts + 2;
		}
		if (p == n_hosts + 2 && i > 0) {
			far_guid = node.guid - 1;
			far_number = n_hosts + 1;
		}
		triad_fabric_builder_add_port(
			builder, &port, far_guid, (uint8_t)far_number);
	}
}

static void add_host(
	struct triad_fabric_builder *builder, unsigned i, unsigned j, uint64_t *seed)
{
	struct triad_fabric_node node = {.guid = host_guid(i, j),
		.type = random_below(seed, 16) ? TRIAD_NODE_CA : TRIAD_NODE_ROUTER};
	unsigned n_ports = 1 + random_below(seed, 8) / 7;
	char name[64];

	make_name(name, "host", i, j, seed);
	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	for (unsigned p = 1; p <= n_ports; p++) {
		struct triad_fabric_port port =
			make_port(node.guid + p, p, 1000 + i * 64 + j, seed);

		triad_fabric_builder_add_port(
			builder, &port, p == 1 ? 0x200 + i : 0, (uint8_t)j);
	}
}

struct triad_fabric *fabric_mixed(
	unsigned n_switches, unsigned n_hosts, unsigned n_spare, uint64_t seed)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric = NULL;

	for (unsigned i = 0; i < n_switches; i++)
		add_switch(builder, i, n_switches, n_hosts, n_spare, &seed);
	for (unsigned i = 0; i < n_switches; i++)
		for (unsigned j = 1; j <= n_hosts; j++)
			add_host(builder, i, j, &seed);
	if (triad_fabric_build(builder, host_guid(0, 1) + 1, &fabric))
		abort();
	triad_fabric_builder_free(builder);
	return fabric;
}

/* --- views --- */

static uint64_t make_value(unsigned counter, uint64_t *seed)
{
	uint64_t value = random_below(seed, 4) ? random_below(seed, 1000000000) : 0;

	if (counter < TRIAD_FIRST_WIDE_COUNTER)
		return value % (triad_counter_max(counter) + 1);
	if (!random_below(seed, 8))
		value *= UINT64_C(0x123456789);
	return random_below(seed, 64) ? value : UINT64_MAX - value;
}

static void read_port(struct triad_engine *engine, uint32_t row, uint64_t *seed)
{
	struct triad_pma_reading narrow = {0}, wide = {0};
	unsigned agent = random_below(seed, 8);

	if (!agent)
		return;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		struct triad_pma_reading *reading =
			i < TRIAD_FIRST_WIDE_COUNTER ? &narrow : &wide;

		if (triad_counters[i].needs && agent == 1)
			continue;
		reading->has |= 1u << i;
		reading->raw[i] = make_value(i, seed);
	}
	triad_engine_update(engine, row, TRIAD_PMA_PORT_COUNTERS, &narrow, S);
	triad_engine_update(engine, row, TRIAD_PMA_PORT_COUNTERS_EXTENDED, &wide, S);
	triad_engine_mark(engine, row, agent != 2);
}

struct triad_view *view_mixed(
	struct triad_engine *engine, struct triad_fabric *fabric, uint64_t seed)
{
	struct triad_conf *conf = triad_conf_new(1);
	struct triad_groups *groups;
	struct triad_view *view;

	if (!conf)
		abort();
	conf->n_groups = 1;
	conf->groups[0] = (struct triad_conf_group){
		.name = "skipped", .nodes = "skip-*", .skip = true};
	groups = triad_groups_new(conf);
	view = triad_view_new(engine, fabric, groups);
	if (!view || triad_engine_adopt(engine, fabric, 1, view->rows))
		abort();
	triad_groups_unref(groups);
	triad_conf_unref(conf);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].has_pma)
			read_port(engine, view->rows[i], &seed);
	return view;
}

void view_count(struct triad_engine *engine, const struct triad_view *view,
	uint64_t more, uint64_t now_us)
{
	struct triad_engine_row row;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		struct triad_pma_reading wide = {0};

		if (!triad_view_read(view, i, &row) || !row.has)
			continue;
		wide.has = row.has & ~TRIAD_NARROW_COUNTERS;
		for (unsigned c = TRIAD_FIRST_WIDE_COUNTER; c < TRIAD_N_COUNTERS; c++)
			wide.raw[c] = row.total[c] + more;
		triad_engine_update(engine, view->rows[i],
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, &wide, now_us);
	}
}
