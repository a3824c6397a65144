/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/audit/trees.h"

#include <opensm/osm_multicast.h>
#include <opensm/osm_switch.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "audit/tree.h"
#include "lib/grow.h"
#include "triad/clock.h"

#define HOLD_US (2 * TRIAD_US_PER_MS)
#define N_MLIDS (IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO + 1)
#define N_POSITIONS (IB_MCAST_POSITION_MAX + 1)
/* OpenSM's own way ends at 64; a torus has at most some hundred hops. */
#define MAX_DEPTH 512u

/* Where a copy is not as the tree: ports to switches alone. */
struct differing {
	uint64_t switch_key; /* in OpenSM's map of switches */
	uint16_t mlid;       /* from 0 on */
	uint16_t position, copy, tree;
};

struct triad_trees {
	struct differing *rows; /* sorted */
	size_t n, room;
	uint32_t n_not_kept;
	uint64_t unknown[N_MLIDS / 64 + 1]; /* a bit for each LID */
};

/* A switch, and the tree's ports of it. */
struct reached {
	uint64_t key;
	uint16_t ports[N_POSITIONS];
};

/* Ports at both ends of a link that is in an inferred tree. */
struct ends {
	uint8_t near, far;
};

struct look {
	struct osm_opensm *osm;
	struct triad_trees *trees;
	struct reached *switches; /* sorted */
	size_t n_switches;
	/* To infer a tree: the same switches, and links with their ends. */
	struct triad_tree_switch *judged;
	struct triad_tree_link *links;
	struct ends *ends;
	size_t n_links;
};

/* --- what OpenSM has --- */

enum keeping { KEEPS_TREES, KEEPS_TREES_OF_TORUS, KEEPS_NONE };

static enum keeping engine_keeping(const struct osm_opensm *osm)
{
	const struct osm_routing_engine *engine = osm->routing_engine_used;

	if (!engine || !engine->mcast_build_stree)
		return KEEPS_TREES;
	return engine->type == OSM_ROUTING_ENGINE_TYPE_TORUS_2QOS ? KEEPS_TREES_OF_TORUS
								  : KEEPS_NONE;
}

/* Of a group in a list: its members' ports, by GUID. */
static cl_qmap_t *members_of(cl_list_item_t *item)
{
	osm_mgrp_t *group = cl_item_obj(item, group, list_item);

	return &group->mcm_port_tbl;
}

static bool has_two_members(osm_mgrp_box_t *box)
{
	ib_net64_t first = 0;

	for (cl_list_item_t *item = cl_qlist_head(&box->mgrp_list);
		item != cl_qlist_end(&box->mgrp_list); item = cl_qlist_next(item)) {
		cl_qmap_t *members = members_of(item);
		ib_net64_t guid;

		if (!cl_qmap_count(members))
			continue;
		guid = cl_qmap_key(cl_qmap_head(members));
		if (cl_qmap_count(members) > 1 || (first && first != guid))
			return true;
		first = guid;
	}
	return false;
}

static bool has_member(osm_mgrp_box_t *box, ib_net64_t port_guid)
{
	for (cl_list_item_t *item = cl_qlist_head(&box->mgrp_list);
		item != cl_qlist_end(&box->mgrp_list); item = cl_qlist_next(item)) {
		cl_qmap_t *members = members_of(item);

		if (cl_qmap_get(members, port_guid) != cl_qmap_end(members))
			return true;
	}
	return false;
}

/* OpenSM's own entry; 0 in blocks that it has never used. */
static uint16_t copied_ports(osm_switch_t *sw, unsigned mlid, unsigned position)
{
	const osm_mcast_tbl_t *table = &sw->mcast_tbl;

	if (!table->p_mask_tbl || mlid >= table->mft_depth ||
		(int)(mlid / IB_MCAST_BLOCK_SIZE) > table->max_block_in_use ||
		position > table->max_position)
		return 0;
	return cl_ntoh16((*table->p_mask_tbl)[mlid][position]);
}

enum lead { TO_NOWHERE, TO_ITSELF, TO_HOST, TO_SWITCH, TO_SWITCH_WITHOUT_MULTICAST };

/* Where the switch's port leads, and to which port. */
static enum lead port_lead(osm_node_t *node, unsigned number, osm_physp_t **far)
{
	*far = number < osm_node_get_num_physp(node)
		? osm_node_get_physp_ptr(node, number)
		: NULL;
	if (!*far)
		return TO_NOWHERE;
	if (!number)
		return TO_ITSELF;
	*far = osm_physp_get_remote(*far);
	if (!*far || !osm_physp_is_valid(*far) || !(*far)->p_node)
		return TO_NOWHERE;
	if (osm_node_get_type((*far)->p_node) != IB_NODE_TYPE_SWITCH)
		return TO_HOST;
	return (*far)->p_node->sw && osm_switch_supports_mcast((*far)->p_node->sw)
		? TO_SWITCH
		: TO_SWITCH_WITHOUT_MULTICAST;
}

/* Whether engines that keep no trees connect the end: they leave out routers, and links that are
 * not healthy. */
static bool has_way(const osm_physp_t *end)
{
	return osm_node_get_type(end->p_node) == IB_NODE_TYPE_CA && end->healthy &&
		osm_physp_get_remote(end) && osm_physp_get_remote(end)->healthy;
}

/* Of 16 ports those that lead to a switch of a tree. */
static uint16_t ports_to_switches(osm_node_t *node, uint16_t ports, unsigned position)
{
	osm_physp_t *far;
	uint16_t kept = 0;

	for (unsigned i = 0; i < 16; i++)
		if (ports >> i & 1 &&
			port_lead(node, position * 16 + i, &far) == TO_SWITCH)
			kept |= (uint16_t)(1u << i);
	return kept;
}

/* --- a look --- */

static int reached_order(const void *key, const void *reached)
{
	uint64_t of = ((const struct reached *)reached)->key;

	return (*(const uint64_t *)key > of) - (*(const uint64_t *)key < of);
}

/* NULL: a switch that OpenSM has not had when the look began. */
static struct reached *find_reached(const struct look *look, osm_switch_t *sw)
{
	uint64_t key = cl_qmap_key(&sw->map_item);

	return bsearch(&key, look->switches, look->n_switches, sizeof(*look->switches),
		reached_order);
}

static void reach_by(struct reached *reached, unsigned number)
{
	reached->ports[number / 16] |= (uint16_t)(1u << number % 16);
}

/* Goes through the branch whose node is of the switch 'sw', which was reached by its port 'up';
 * 0: its root.  False: the links are not those of the tree. */
static bool walk_branch(struct look *look, const osm_mtree_node_t *branch,
	osm_switch_t *sw, unsigned up, unsigned depth)
{
	struct reached *reached = find_reached(look, sw);
	bool is_there = reached && depth < MAX_DEPTH;

	if (is_there && up)
		reach_by(reached, up);
	for (unsigned i = 1; is_there && i < branch->max_children; i++) {
		const osm_mtree_node_t *child = branch->child_array[i];
		osm_physp_t *far;

		if (!child || child == OSM_MTREE_LEAF)
			continue;
		is_there = port_lead(sw->p_node, i, &far) == TO_SWITCH &&
			far->p_node->sw == child->p_sw;
		if (!is_there)
			break;
		reach_by(reached, i);
		is_there = walk_branch(look, child, far->p_node->sw,
			osm_physp_get_port_num(far), depth + 1);
	}
	return is_there;
}

static osm_switch_t *find_root(const struct look *look, const osm_mtree_node_t *root)
{
	cl_qmap_t *all = &look->osm->subn.sw_guid_tbl;
	cl_map_item_t *item = cl_qmap_head(all);

	while (item != cl_qmap_end(all) && (osm_switch_t *)item != root->p_sw)
		item = cl_qmap_next(item);
	return item == cl_qmap_end(all) ? NULL : (osm_switch_t *)item;
}

static bool walk_tree(struct look *look, const osm_mtree_node_t *root)
{
	osm_switch_t *sw = root ? find_root(look, root) : NULL;

	return !root || (sw && walk_branch(look, root, sw, 0, 0));
}

/* --- a tree inferred from copies --- */

/* The switch that a member's packets come from, if the engines connect the member. */
static osm_switch_t *switch_of_member(const osm_port_t *port)
{
	const osm_physp_t *far = osm_physp_get_remote(port->p_physp);

	if (port->p_node->sw)
		return port->p_node->sw;
	return far && far->p_node && has_way(port->p_physp) ? far->p_node->sw : NULL;
}

static void mark_members(struct look *look, osm_mgrp_box_t *box)
{
	for (size_t i = 0; i < look->n_switches; i++)
		look->judged[i].has_members = false;
	for (cl_list_item_t *group = cl_qlist_head(&box->mgrp_list);
		group != cl_qlist_end(&box->mgrp_list); group = cl_qlist_next(group)) {
		cl_qmap_t *members = members_of(group);

		for (cl_map_item_t *item = cl_qmap_head(members);
			item != cl_qmap_end(members); item = cl_qmap_next(item)) {
			osm_mcm_port_t *member = cl_item_obj(item, member, map_item);
			osm_switch_t *sw = switch_of_member(member->port);
			struct reached *reached = sw && osm_switch_supports_mcast(sw)
				? find_reached(look, sw)
				: NULL;

			if (reached)
				look->judged[reached - look->switches].has_members =
					true;
		}
	}
}

/* Returns false when there are more than a tree has. */
static bool add_link(struct look *look, struct reached *from, unsigned number,
	const osm_physp_t *far, unsigned mlid)
{
	osm_switch_t *sw = far->p_node->sw;
	struct reached *to = find_reached(look, sw);
	unsigned far_number = osm_physp_get_port_num(far);
	bool is_mutual = copied_ports(sw, mlid, far_number / 16) >> far_number % 16 & 1;

	if (!to || look->n_links == 2 * look->n_switches)
		return false;
	if (is_mutual && (from > to || (from == to && number > far_number)))
		return true;
	look->links[look->n_links] =
		(struct triad_tree_link){(uint32_t)(from - look->switches),
			(uint32_t)(to - look->switches), is_mutual};
	look->ends[look->n_links++] =
		(struct ends){(uint8_t)number, (uint8_t)far_number};
	return true;
}

static bool add_links(struct look *look, osm_switch_t *sw, unsigned mlid)
{
	struct reached *from = find_reached(look, sw);
	bool has_room = from;

	for (unsigned number = 1; has_room && number < sw->num_ports; number++) {
		osm_physp_t *far;

		if (copied_ports(sw, mlid, number / 16) >> number % 16 & 1 &&
			port_lead(sw->p_node, number, &far) == TO_SWITCH)
			has_room = add_link(look, from, number, far, mlid);
	}
	return has_room;
}

static bool infer_tree(struct look *look, osm_mgrp_box_t *box, unsigned mlid)
{
	cl_qmap_t *all = &look->osm->subn.sw_guid_tbl;
	enum triad_tree tree;

	if (!has_two_members(box))
		return true;
	look->trees->n_not_kept++;
	look->n_links = 0;
	for (cl_map_item_t *item = cl_qmap_head(all); item != cl_qmap_end(all);
		item = cl_qmap_next(item))
		if (!add_links(look, (osm_switch_t *)item, mlid))
			return false;
	mark_members(look, box);
	tree = triad_tree_judge(
		look->links, look->n_links, look->judged, look->n_switches);
	for (size_t i = 0; tree && i < look->n_links; i++)
		if (look->links[i].is_mutual || tree == TRIAD_TREE_OF_ALL_LINKS) {
			reach_by(&look->switches[look->links[i].from],
				look->ends[i].near);
			reach_by(&look->switches[look->links[i].to], look->ends[i].far);
		}
	return tree != TRIAD_TREE_NONE;
}

/* --- comparing --- */

/* Returns false where there is no room for it. */
static bool keep_row(struct triad_trees *trees, const struct differing *row)
{
	if (trees->n == TRIAD_TREES_MAX_ROWS ||
		triad_grow(&trees->rows, &trees->room, trees->n + 1, sizeof(*row), 64))
		return false;
	trees->rows[trees->n++] = *row;
	return true;
}

/* Compares a switch's copy with the tree that was gone through. */
static bool compare_copy(struct look *look, osm_switch_t *sw, unsigned mlid)
{
	const struct reached *reached = find_reached(look, sw);
	bool is_kept = reached;

	for (unsigned position = 0; is_kept && position <= sw->mcast_tbl.max_position;
		position++) {
		uint16_t tree = reached->ports[position],
			 copy = copied_ports(sw, mlid, position);

		if (copy != tree)
			copy = ports_to_switches(sw->p_node, copy, position);
		if (copy != tree)
			is_kept = keep_row(look->trees,
				&(struct differing){reached->key, (uint16_t)mlid,
					(uint16_t)position, copy, tree});
	}
	return is_kept;
}

static void look_at_mlid(struct look *look, unsigned mlid)
{
	struct triad_trees *trees = look->trees;
	osm_mgrp_box_t *box = look->osm->subn.mboxes[mlid];
	cl_qmap_t *all = &look->osm->subn.sw_guid_tbl;
	bool is_known;

	/* triad_trees_row() sees that OpenSM is to make another. */
	if (!box || look->osm->sm.mlids_req[mlid])
		return;
	for (size_t i = 0; i < look->n_switches; i++)
		memset(look->switches[i].ports, 0, sizeof(look->switches[i].ports));
	is_known = engine_keeping(look->osm) == KEEPS_NONE ? infer_tree(look, box, mlid)
							   : walk_tree(look, box->root);
	for (cl_map_item_t *item = cl_qmap_head(all);
		is_known && item != cl_qmap_end(all); item = cl_qmap_next(item))
		is_known = compare_copy(look, (osm_switch_t *)item, mlid);
	if (!is_known)
		trees->unknown[mlid / 64] |= UINT64_C(1) << mlid % 64;
}

static bool list_switches(struct look *look)
{
	cl_qmap_t *all = &look->osm->subn.sw_guid_tbl;
	size_t n = cl_qmap_count(all) + 1;

	look->switches = calloc(n, sizeof(*look->switches));
	look->judged = calloc(n, sizeof(*look->judged));
	look->links = calloc(2 * n, sizeof(*look->links));
	look->ends = calloc(2 * n, sizeof(*look->ends));
	for (cl_map_item_t *item = cl_qmap_head(all);
		look->switches && item != cl_qmap_end(all); item = cl_qmap_next(item))
		look->switches[look->n_switches++].key = cl_qmap_key(item);
	return look->switches && look->judged && look->links && look->ends;
}

static bool look_at_all(struct look *look)
{
	bool goes_on = true;
	unsigned mlid = 0;

	while (goes_on && mlid < N_MLIDS) {
		uint64_t begun_us;

		cl_plock_acquire(&look->osm->lock);
		begun_us = triad_clock_now_us();
		goes_on = !osm_exit_flag && (look->switches || list_switches(look));
		while (goes_on && mlid < N_MLIDS && !osm_exit_flag &&
			triad_clock_now_us() - begun_us < HOLD_US)
			look_at_mlid(look, mlid++);
		cl_plock_release(&look->osm->lock);
		sched_yield();
	}
	return goes_on;
}

struct triad_trees *triad_trees_look(struct osm_opensm *osm)
{
	struct triad_trees *trees = calloc(1, sizeof(*trees));
	struct look look = {.osm = osm, .trees = trees};

	if (trees && !look_at_all(&look)) {
		triad_trees_free(trees);
		trees = NULL;
	}
	free(look.switches);
	free(look.judged);
	free(look.links);
	free(look.ends);
	return trees;
}

void triad_trees_free(struct triad_trees *trees)
{
	if (!trees)
		return;
	free(trees->rows);
	free(trees);
}

uint32_t triad_trees_n_not_kept(const struct triad_trees *trees)
{
	return trees->n_not_kept;
}

/* --- a row --- */

static int differing_order(const void *a, const void *b)
{
	const struct differing *left = a, *right = b;
	int order = (left->mlid > right->mlid) - (left->mlid < right->mlid);

	if (!order)
		order = (left->switch_key > right->switch_key) -
			(left->switch_key < right->switch_key);
	return order ? order : left->position - right->position;
}

/* Ports to switches of a tree, of which the copy is 'copy'. */
static uint16_t tree_ports(const struct triad_trees *trees, osm_switch_t *sw,
	unsigned mlid, unsigned position, uint16_t copy, bool *is_known)
{
	const struct differing key = {.switch_key = cl_qmap_key(&sw->map_item),
		.mlid = (uint16_t)mlid,
		.position = (uint16_t)position};
	const struct differing *row = trees->n
		? bsearch(&key, trees->rows, trees->n, sizeof(key), differing_order)
		: NULL;

	/* OpenSM has changed it since the look. */
	*is_known = !row || row->copy == copy;
	return row ? row->tree : copy;
}

/* Whether an end is to have the group's packets; 'copied': OpenSM's copy has it. */
static bool wants_end(const struct osm_opensm *osm, osm_mgrp_box_t *box,
	const osm_physp_t *end, enum lead lead, bool copied)
{
	bool is_member = has_member(box, osm_physp_get_port_guid(end));

	switch (engine_keeping(osm)) {
	case KEEPS_TREES:
		return is_member && has_two_members(box);
	case KEEPS_TREES_OF_TORUS:
		return lead == TO_ITSELF ? copied : is_member;
	default:
		if (lead == TO_HOST && is_member && !has_way(end))
			return copied;
		return is_member && has_two_members(box);
	}
}

struct triad_trees_row triad_trees_row(const struct triad_trees *trees,
	struct osm_opensm *osm, osm_node_t *node, unsigned mlid, unsigned position)
{
	unsigned at = mlid - IB_LID_MCAST_START_HO;
	osm_mgrp_box_t *box = osm->subn.mboxes[at];
	uint16_t copy = copied_ports(node->sw, at, position), to_switches = 0;
	struct triad_trees_row row = {.is_known = true, .has_no_group = !box};

	for (unsigned i = 0; box && i < 16; i++) {
		uint16_t bit = (uint16_t)(1u << i);
		osm_physp_t *end;
		enum lead lead = port_lead(node, position * 16 + i, &end);

		if (lead == TO_SWITCH)
			to_switches |= copy & bit;
		else if (lead == TO_SWITCH_WITHOUT_MULTICAST)
			row.wanted |= copy & bit;
		else if (lead != TO_NOWHERE &&
			wants_end(osm, box, end, lead, copy & bit))
			row.wanted |= bit;
	}
	if (box)
		row.wanted |= tree_ports(
			trees, node->sw, at, position, to_switches, &row.is_known);
	row.is_known &=
		!osm->sm.mlids_req[at] && !(trees->unknown[at / 64] >> at % 64 & 1);
	row.is_copy_wrong = row.wanted != copy;
	return row;
}
