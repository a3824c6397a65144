/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/path_message.h"

#include "lib/fields.h"
#include "triad/fabric.h"

#define MAX_LMC 7u
#define MAX_SL 15u
#define MAX_CODE 63u /* of MTUs and rates: 6 bits [IBA 15.2.5.16] */

static struct triad_wire begin(uint8_t *to, size_t size,
	const struct triad_collect_head *head, enum triad_path_what what)
{
	struct triad_wire wire =
		triad_collect_begin(to, size, head, TRIAD_COLLECT_PATHS);

	triad_wire_put(&wire, 1, what);
	return wire;
}

bool triad_path_get_what(struct triad_wire *body, enum triad_path_what *what)
{
	uint8_t octet = triad_wire_get8(body);

	*what = (enum triad_path_what)octet;
	return !body->failed && octet >= TRIAD_PATH_BEAT && octet <= TRIAD_PATH_PIECE;
}

/* --- BEAT --- */

#define BEAT(member) TRIAD_FIELD(struct triad_path_beat, member, 8)

static const struct triad_field beat_fields[] = {
	TRIAD_FLAG(struct triad_path_beat, has_paths, 0x1),
	BEAT(time_us),
	BEAT(generation),
	BEAT(echo),
};

size_t triad_path_put_beat(const struct triad_collect_head *head,
	const struct triad_path_beat *beat, uint8_t *to, size_t size)
{
	struct triad_wire wire = begin(to, size, head, TRIAD_PATH_BEAT);

	TRIAD_FIELDS_PUT(&wire, beat_fields, beat);
	return triad_collect_end(&wire);
}

bool triad_path_get_beat(struct triad_wire *body, struct triad_path_beat *beat)
{
	TRIAD_FIELDS_GET(body, beat_fields, beat);
	return !body->failed;
}

/* --- WANT --- */

static const struct triad_field want_fields[] = {
	TRIAD_FLAG(struct triad_path_want, wants_table, 0x1),
	TRIAD_FIELD(struct triad_path_want, echo, 8),
	TRIAD_FIELD(struct triad_path_want, generation, 8),
};

size_t triad_path_put_want(const struct triad_collect_head *head,
	const struct triad_path_want *want, uint8_t *to, size_t size)
{
	struct triad_wire wire = begin(to, size, head, TRIAD_PATH_WANT);

	TRIAD_FIELDS_PUT(&wire, want_fields, want);
	return triad_collect_end(&wire);
}

bool triad_path_get_want(struct triad_wire *body, struct triad_path_want *want)
{
	TRIAD_FIELDS_GET(body, want_fields, want);
	return !body->failed && want->echo;
}

/* --- PIECE --- */

static const struct triad_field piece_fields[] = {
	TRIAD_FIELD(struct triad_path_piece, lmc, 1),
	TRIAD_FIELD(struct triad_path_piece, lid, 2),
	TRIAD_FIELD(struct triad_path_piece, generation, 8),
	TRIAD_FIELD(struct triad_path_piece, n_rows, 4),
	TRIAD_FIELD(struct triad_path_piece, first, 4),
	TRIAD_FIELD(struct triad_path_piece, row_size, 1),
};

static const struct triad_field row_fields[] = {
	TRIAD_FIELD(struct triad_path_row, guid, 8),
	TRIAD_FIELD(struct triad_path_row, lid, 2),
	TRIAD_FIELD(struct triad_path_row, type, 1),
	TRIAD_FIELD(struct triad_path_row, number, 1),
	TRIAD_FIELD(struct triad_path_row, lmc, 1),
	TRIAD_FLAG(struct triad_path_row, has_path, 0x1),
	TRIAD_FIELD(struct triad_path_row, pkey, 2),
	TRIAD_FIELD(struct triad_path_row, sl, 1),
	TRIAD_FIELD(struct triad_path_row, mtu, 1),
	TRIAD_FIELD(struct triad_path_row, rate, 1),
};

size_t triad_path_put_piece(const struct triad_collect_head *head,
	const struct triad_path_table *table, uint32_t first, uint32_t *n, uint8_t *to,
	size_t size)
{
	const struct triad_path_piece piece = {
		.lmc = table->lmc,
		.lid = table->lid,
		.generation = table->generation,
		.n_rows = table->n,
		.first = first,
		.row_size = TRIAD_PATH_ROW_SIZE,
	};
	struct triad_wire wire = begin(to, size, head, TRIAD_PATH_PIECE);
	uint32_t left = table->n - first;

	*n = left < TRIAD_PATH_PIECE_ROWS ? left : TRIAD_PATH_PIECE_ROWS;
	TRIAD_FIELDS_PUT(&wire, piece_fields, &piece);
	for (uint32_t i = 0; i < *n; i++)
		TRIAD_FIELDS_PUT(&wire, row_fields, &table->rows[first + i]);
	return triad_collect_end(&wire);
}

bool triad_path_get_piece(struct triad_wire *body, struct triad_path_piece *piece)
{
	size_t rest;

	TRIAD_FIELDS_GET(body, piece_fields, piece);
	if (body->failed || piece->row_size < TRIAD_PATH_ROW_SIZE)
		return false;
	rest = body->size - body->at;
	piece->n = (uint32_t)(rest / piece->row_size);
	return rest % piece->row_size == 0 &&
		piece->n_rows <= TRIAD_PATH_TABLE_MAX_ROWS &&
		piece->n <= TRIAD_PATH_PIECE_ROWS && piece->first <= piece->n_rows &&
		piece->n <= piece->n_rows - piece->first && piece->lmc <= MAX_LMC &&
		piece->lid && piece->lid <= TRIAD_PATH_TABLE_MAX_ROWS;
}

static bool is_possible(const struct triad_path_row *row)
{
	return row->guid && row->lid && row->lid <= TRIAD_PATH_TABLE_MAX_ROWS &&
		row->lmc <= MAX_LMC && row->sl <= MAX_SL && row->mtu <= MAX_CODE &&
		row->rate <= MAX_CODE;
}

bool triad_path_get_row(struct triad_wire *body, const struct triad_path_piece *piece,
	struct triad_path_row *row)
{
	TRIAD_FIELDS_GET(body, row_fields, row);
	(void)triad_wire_take(body, piece->row_size - TRIAD_PATH_ROW_SIZE);
	return !body->failed && is_possible(row);
}
