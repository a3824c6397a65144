/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Multicast forwarding tables.
 *
 * Order: all groups' first step, then all groups' second.  A packet has one group's LID and
 * meets that group's entries alone, so what is safe for each group (routes/repair_multicast.h)
 * is safe for all of them at the same time, and a block that several share is written once in
 * each step.  Blocks of the lowest LIDs are the first of a step: IPoIB's broadcast group. */
#include "plugin/reroute/reroute_parts.h"

#include <opensm/osm_mcast_tbl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/sm_recover.h"
#include "triad/clock.h"

/* How long osm->lock is held for a look. */
#define HOLD_US (2 * TRIAD_US_PER_MS)
/* From the trap on OpenSM takes milliseconds to begin; more, while it waits for answers. */
#define MAX_WAIT_US (TRIAD_US_PER_S / 2)
#define FIRST_MLID IB_LID_MCAST_START_HO

/* Groups of the plan, and why each is not repaired; NULL: it is. */
struct groups {
	struct reroute_loss *loss;
	const struct triad_routes_repair_multicast *plan;
	const char **why;
	uint32_t *of_change;          /* the group of each change */
	struct reroute_raise *raises; /* of each switch of the layout */
};

/* An entry that has a block written as OpenSM has it. */
#define NO_CHANGE UINT32_MAX

/* --- OpenSM's copy --- */

static unsigned block_of(uint32_t number)
{
	return number & IB_MCAST_BLOCK_ID_MASK_HO;
}

static unsigned position_of(uint32_t number)
{
	return number >> IB_MCAST_POSITION_SHIFT;
}

static unsigned block_of_mlid(unsigned mlid)
{
	return (mlid - FIRST_MLID) / IB_MCAST_BLOCK_SIZE;
}

/* A row's octets in OpenSM's copy of a block; NULL: it has no such block. */
static ib_net16_t *find_row(const osm_switch_t *sw, uint32_t number, unsigned row)
{
	const osm_mcast_tbl_t *table = &sw->mcast_tbl;
	unsigned first = block_of(number) * IB_MCAST_BLOCK_SIZE;

	if (!table->p_mask_tbl || first >= table->num_entries ||
		first + IB_MCAST_BLOCK_SIZE > table->mft_depth ||
		position_of(number) > table->max_position)
		return NULL;
	return &(*table->p_mask_tbl)[first + row][position_of(number)];
}

static bool read_mft(const osm_switch_t *sw, uint32_t number, uint8_t *octets)
{
	for (unsigned i = 0; i < IB_MCAST_BLOCK_SIZE; i++) {
		const ib_net16_t *row = find_row(sw, number, i);

		if (!row)
			return false;
		memcpy(octets + i * sizeof(*row), row, sizeof(*row));
	}
	return true;
}

/* OpenSM writes the blocks up to the last one that it has used, each time. */
static void make_mft_void(osm_switch_t *sw, uint32_t number)
{
	osm_mcast_tbl_t *table = &sw->mcast_tbl;

	if (find_row(sw, number, 0) && (int)block_of(number) > table->max_block_in_use)
		table->max_block_in_use = (int16_t)block_of(number);
}

static void put_mft(osm_switch_t *sw, uint32_t number, const uint8_t *octets)
{
	for (unsigned i = 0; i < IB_MCAST_BLOCK_SIZE; i++) {
		ib_net16_t *row = find_row(sw, number, i);

		if (row)
			memcpy(row, octets + i * sizeof(*row), sizeof(*row));
	}
	make_mft_void(sw, number);
}

static bool change_mft(const void *plan, const osm_switch_t *sw,
	const struct reroute_entry *entry, uint8_t *octets)
{
	const struct triad_routes_repair_multicast *repair = plan;
	const struct triad_routes_multicast_change *change;
	unsigned position = position_of(entry->at.number), row;
	ib_net16_t ports;

	(void)sw;
	if (entry->change == NO_CHANGE)
		return true;
	change = &repair->changes[entry->change];
	row = (change->mlid - FIRST_MLID) % IB_MCAST_BLOCK_SIZE;
	memcpy(&ports, octets + row * sizeof(ports), sizeof(ports));
	if (cl_ntoh16(ports) != change->before[position])
		return false;
	ports = cl_hton16(change->after[position]);
	memcpy(octets + row * sizeof(ports), &ports, sizeof(ports));
	return true;
}

/* OpenSM has one copy of a multicast table, in which a Set on its way can't be told from one
 * that was answered.  Its thread that computes trees and writes them waits for all answers
 * before it begins a sweep; and while it discovers, joins wait in a queue. */
const char *reroute_forbids_mft(const struct reroute_loss *loss)
{
	const char *why = reroute_forbids(loss);

	if (!why && !atomic_load(&loss->rerouter->is_discovering))
		why = "OpenSM, which may write trees meanwhile, has not begun its sweep";
	if (!why && atomic_load(&loss->rerouter->has_failed))
		why = "OpenSM could not write all that it wanted before";
	return why;
}

static const struct reroute_table mft = {
	.attribute = TRIAD_SMP_MULTICAST_FORWARDING_TABLE,
	.forbids = reroute_forbids_mft,
	.read = read_mft,
	.put = put_mft,
	.make_void = make_mft_void,
	.change = change_mft,
};

/* Returns why nothing may be written. */
static const char *await_discovery(const struct reroute_loss *loss)
{
	uint64_t until_us = triad_clock_now_us() + MAX_WAIT_US;

	while (!atomic_load(&loss->rerouter->is_discovering) &&
		!reroute_forbids(loss) && triad_clock_now_us() < until_us)
		usleep(TRIAD_US_PER_MS);
	return reroute_forbids_mft(loss);
}

/* --- which groups --- */

static void leave(struct groups *groups, uint32_t group, const char *why)
{
	if (!groups->why[group])
		groups->why[group] = why;
}

static void leave_all(struct groups *groups, const char *why)
{
	for (uint32_t i = 0; i < groups->plan->n_groups; i++)
		leave(groups, i, why);
}

/* The group's ports are those of the checked tables. */
static bool is_row_as_planned(const struct reroute_loss *loss, uint32_t sw,
	const osm_switch_t *of, uint16_t mlid)
{
	unsigned offset = mlid - FIRST_MLID;

	for (uint32_t k = 0; k <= of->mcast_tbl.max_position; k++) {
		const ib_net16_t *row = find_row(of,
			offset / IB_MCAST_BLOCK_SIZE | k << IB_MCAST_POSITION_SHIFT,
			offset % IB_MCAST_BLOCK_SIZE);

		if ((row ? cl_ntoh16(*row) : 0) !=
			triad_routes_multicast_ports(loss->check->layout, sw, mlid, k))
			return false;
	}
	return true;
}

/* Also at switches that nothing is written to: a group that somebody has joined or left since
 * has another tree. */
static void look_at_switch(struct groups *groups, uint32_t sw)
{
	const osm_switch_t *of = reroute_switch(groups->loss, sw);

	if (!of)
		leave_all(groups, REROUTE_DIFFERS);
	for (uint32_t i = 0; of && i < groups->plan->n_groups; i++)
		if (!is_row_as_planned(
			    groups->loss, sw, of, groups->plan->groups[i].mlid))
			leave(groups, i,
				"its tree has changed since routes were checked");
}

static bool do_new_ports_carry(
	const osm_switch_t *sw, const struct triad_routes_multicast_change *change)
{
	for (unsigned port = 0; port < 16 * TRIAD_ROUTES_MULTICAST_POSITIONS; port++) {
		unsigned added =
			change->after[port / 16] & ~(unsigned)change->before[port / 16];

		if (added >> port % 16 & 1 && !reroute_carries(sw, port))
			return false;
	}
	return true;
}

static void look_at_change(struct groups *groups, uint32_t i)
{
	const struct triad_routes_multicast_change *change = &groups->plan->changes[i];
	const osm_switch_t *sw = reroute_switch(groups->loss, change->sw);

	if (!sw || !do_new_ports_carry(sw, change))
		leave(groups, groups->of_change[i], REROUTE_DIFFERS);
	else if (change->mlid >= FIRST_MLID + sw->mcast_tbl.num_entries)
		leave(groups, groups->of_change[i],
			"a switch's table has no room for its LID (MulticastFDBCap)");
	else
		reroute_raise_for(&groups->raises[change->sw], sw, change->mlid);
}

/* Calls 'look' for each of 'n', with OpenSM's lock, shared. */
static void look_at_all(struct groups *groups, uint32_t n,
	void (*look)(struct groups *groups, uint32_t i))
{
	cl_plock_t *lock = &groups->loss->rerouter->osm->lock;
	uint32_t i = 0;

	while (i < n) {
		uint64_t begun_us;

		cl_plock_acquire(lock);
		begun_us = triad_clock_now_us();
		while (i < n && triad_clock_now_us() - begun_us < HOLD_US)
			look(groups, i++);
		cl_plock_release(lock);
		sched_yield();
	}
}

const char *reroute_group_why(const struct triad_routes_group_repair *group)
{
	switch (group->state) {
	case TRIAD_ROUTES_GROUP_CONNECTED:
		return NULL;
	case TRIAD_ROUTES_GROUP_CUT:
		return "some members have no way to the others";
	default:
		return "its tables are no tree";
	}
}

static void look_at_plan(struct groups *groups)
{
	for (uint32_t i = 0, n = 0; i < groups->plan->n_groups; i++) {
		const struct triad_routes_group_repair *group =
			&groups->plan->groups[i];

		for (uint32_t k = 0; k < group->n_changes; k++)
			groups->of_change[n++] = i;
		/* What is left of the links may connect a part. */
		if (group->state != TRIAD_ROUTES_GROUP_CUT)
			leave(groups, i, reroute_group_why(group));
	}
}

/* --- writing --- */

static uint32_t add_change(struct reroute_writing *writing, uint32_t i)
{
	const struct triad_routes_repair_multicast *plan = writing->plan;
	const struct triad_routes_multicast_change *change = &plan->changes[i];
	uint32_t block = block_of_mlid(change->mlid), n = 0;

	for (uint32_t k = 0; k < TRIAD_ROUTES_MULTICAST_POSITIONS; k++) {
		if (change->before[k] == change->after[k])
			continue;
		if (writing->entries)
			writing->entries[writing->n_entries++] = (struct reroute_entry){
				.at = {.step = change->step,
					.rank = (uint16_t)block,
					.sw = change->sw,
					.number = block | k << IB_MCAST_POSITION_SHIFT},
				.change = i};
		n++;
	}
	return n;
}

/* Whether the change is to be written.  A switch that is lost itself need not hear that it
 * has lost links. */
static bool is_wanted(
	struct groups *groups, const struct triad_routes_out *out, uint32_t i)
{
	const struct triad_routes_multicast_change *change = &groups->plan->changes[i];
	const struct triad_routes_layout *layout = groups->loss->check->layout;
	struct triad_route route;
	bool is_reached =
		!triad_routes_out_read(out, layout->switches[change->sw].node, &route);

	if (!is_reached && change->step) {
		leave(groups, groups->of_change[i],
			"a switch can't be reached around the lost link");
		groups->raises[change->sw].last = 0;
	}
	return is_reached && !groups->why[groups->of_change[i]];
}

/* All that a switch has where it forwarded nothing until now.  Returns how many entries. */
static uint32_t add_raised(
	struct reroute_writing *writing, const struct groups *groups, uint32_t sw)
{
	const struct reroute_raise *raise = &groups->raises[sw];
	uint32_t n = 0;

	for (unsigned block = block_of_mlid(raise->top + 1u);
		raise->last && block <= block_of_mlid(raise->last); block++)
		for (unsigned k = 0; k < raise->n_positions; k++, n++)
			if (writing->entries)
				writing->entries
					[writing->n_entries++] = (struct reroute_entry){
					.at = {.step = 1,
						.rank = (uint16_t)block,
						.sw = sw,
						.number = block |
							k << IB_MCAST_POSITION_SHIFT},
					.change = NO_CHANGE};
	return n;
}

/* Returns how many entries. */
static uint32_t add_all(struct groups *groups, const struct triad_routes_out *out,
	struct reroute_writing *writing)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < groups->plan->n_changes; i++)
		n += is_wanted(groups, out, i) ? add_change(writing, i) : 0;
	for (uint32_t sw = 0; sw < groups->loss->check->layout->n_switches; sw++)
		n += add_raised(writing, groups, sw);
	return n;
}

/* Returns false: memory is short. */
static bool add_changes(struct groups *groups, const struct triad_routes_out *out,
	struct reroute_writing *writing)
{
	/* The first time groups are found that are left for a switch behind the loss. */
	uint32_t n = add_all(groups, out, writing);

	writing->entries = calloc(n + 1u, sizeof(*writing->entries));
	if (writing->entries)
		(void)add_all(groups, out, writing);
	return writing->entries;
}

/* Groups that the switch is to forward, and did not. */
static void leave_at(struct groups *groups, uint32_t sw, const char *why)
{
	for (uint32_t i = 0; i < groups->plan->n_changes; i++)
		if (groups->plan->changes[i].sw == sw &&
			groups->plan->changes[i].mlid > groups->raises[sw].top)
			leave(groups, groups->of_change[i], why);
	groups->raises[sw].last = 0;
}

static void leave_unwritten(
	struct groups *groups, const struct reroute_writing *writing, const char *why)
{
	for (uint32_t i = 0; i < writing->n_blocks; i++) {
		const struct reroute_block *block = &writing->blocks[i];

		for (uint32_t k = 0; k < block->n && !block->is_done; k++) {
			uint32_t change = writing->entries[block->first + k].change;

			if (change == NO_CHANGE)
				leave_at(groups, block->at.sw, why);
			else
				leave(groups, groups->of_change[change], why);
		}
	}
}

static void raise_tops(struct groups *groups, const struct triad_routes_out *out)
{
	uint32_t n_switches = groups->loss->check->layout->n_switches;
	struct reroute_writing writing = {.loss = groups->loss,
		.table = &reroute_tops,
		.plan = groups->raises,
		.entries = calloc(n_switches + 1u, sizeof(*writing.entries))};
	const char *why = REROUTE_NO_MEMORY;

	for (uint32_t sw = 0; sw < n_switches && writing.entries; sw++)
		if (groups->raises[sw].last)
			writing.entries[writing.n_entries++] =
				(struct reroute_entry){.at.sw = sw, .change = sw};
	if (writing.entries)
		why = writing.n_entries ? reroute_write_blocks(&writing, out) : NULL;
	for (uint32_t i = 0; i < writing.n_blocks; i++)
		if (!writing.blocks[i].is_done && writing.has_begun)
			leave_at(groups, writing.blocks[i].at.sw,
				"a switch does not forward its LID (MulticastFDBTop)");
	for (uint32_t sw = 0; sw < n_switches && why && !writing.has_begun; sw++)
		if (groups->raises[sw].last)
			leave_at(groups, sw, why);
	reroute_writing_clear(&writing);
}

static void write_groups(struct groups *groups, struct reroute_writing *writing)
{
	struct triad_routes_out *out =
		reroute_find_routes(groups->loss, TRIAD_FABRIC_NONE, TRIAD_FABRIC_NONE);
	const char *why = REROUTE_NO_MEMORY;

	if (out && add_changes(groups, out, writing))
		why = reroute_write_blocks(writing, out);
	if (why && !writing->has_begun) {
		leave_all(groups, why);
	} else {
		leave_unwritten(groups, writing, why);
		raise_tops(groups, out);
	}
	triad_routes_out_free(out);
}

static void count_groups(const struct groups *groups)
{
	struct triad_reroute *report = groups->loss->report;

	for (uint32_t i = 0; i < groups->plan->n_groups; i++) {
		const char *why = groups->why[i];

		if (!why)
			why = reroute_group_why(&groups->plan->groups[i]);
		report->n_groups_repaired += !why;
		report->n_groups_left -= !why;
		if (!report->why_groups)
			report->why_groups = why;
	}
}

void reroute_write_multicast(
	struct reroute_loss *loss, const struct triad_routes_repair_multicast *repair)
{
	struct groups groups = {.loss = loss,
		.plan = repair,
		.why = calloc(repair->n_groups + 1u, sizeof(*groups.why)),
		.of_change = calloc(repair->n_changes + 1u, sizeof(*groups.of_change)),
		.raises = calloc(
			loss->check->layout->n_switches + 1u, sizeof(*groups.raises))};
	struct reroute_writing writing = {.loss = loss, .table = &mft, .plan = repair};
	const char *why = groups.why && groups.of_change && groups.raises
		? await_discovery(loss)
		: REROUTE_NO_MEMORY;

	loss->report->why_groups = why;
	if (!why) {
		look_at_plan(&groups);
		look_at_all(&groups, loss->check->layout->n_switches, look_at_switch);
		look_at_all(&groups, repair->n_changes, look_at_change);
		write_groups(&groups, &writing);
		count_groups(&groups);
		loss->report->n_groups_written = writing.n_written;
		loss->report->groups_ended_us = triad_clock_now_us();
	}
	reroute_writing_clear(&writing);
	free(groups.why);
	free(groups.of_change);
	free(groups.raises);
}
