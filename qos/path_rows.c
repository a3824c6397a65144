/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/path_rows.h"

#include <errno.h>

static uint32_t count_rows(const struct triad_paths *paths)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid < TRIAD_PATH_N_LIDS; lid++)
		n += paths->port_of_lid[lid] != TRIAD_FABRIC_NONE;
	return n;
}

static void fill_path(const struct triad_answer_snapshot *snapshot, uint16_t slid,
	struct triad_path_row *row)
{
	const struct triad_path_request request = {
		.has = TRIAD_HAS_SLID | TRIAD_HAS_DLID | TRIAD_HAS_REVERSIBLE,
		.one = true,
		.slid = slid,
		.dlid = row->lid,
		.reversible = true,
	};
	struct triad_path_record record;
	struct triad_answer answer = {.records = &record, .room = 1};

	triad_answer_path(snapshot, &request, slid, &answer);
	if (answer.kind != TRIAD_ANSWER_RECORDS || !answer.n)
		return;
	row->has_path = true;
	row->pkey = record.pkey;
	row->sl = record.sl;
	row->mtu = record.mtu;
	row->rate = record.rate;
}

static void fill_row(const struct triad_answer_snapshot *snapshot, uint16_t slid,
	uint32_t port, struct triad_path_row *row)
{
	const struct triad_fabric *fabric = snapshot->paths->fabric;
	const struct triad_fabric_port *at = &fabric->ports[port];

	row->guid = at->guid;
	row->type = fabric->nodes[at->node].type;
	row->number = at->number;
	row->lmc = snapshot->paths->ends[port].lmc;
	fill_path(snapshot, slid, row);
}

int triad_path_rows_make(const struct triad_answer_snapshot *snapshot, uint64_t guid,
	struct triad_path_table **table)
{
	const struct triad_paths *paths = snapshot->paths;
	uint32_t own = triad_fabric_find_alias(paths->fabric, guid), at = 0;
	struct triad_path_table *made;

	if (own == TRIAD_FABRIC_NONE || !paths->ends[own].lid)
		return ENOENT;
	made = triad_path_table_new(count_rows(paths));
	if (!made)
		return ENOMEM;
	made->guid = guid;
	made->lid = paths->ends[own].lid;
	made->lmc = paths->ends[own].lmc;
	for (uint32_t lid = 1; lid < TRIAD_PATH_N_LIDS; lid++) {
		if (paths->port_of_lid[lid] == TRIAD_FABRIC_NONE)
			continue;
		made->rows[at].lid = (uint16_t)lid;
		fill_row(snapshot, made->lid, paths->port_of_lid[lid], &made->rows[at]);
		made->n_paths += made->rows[at++].has_path;
	}
	*table = made;
	return 0;
}
