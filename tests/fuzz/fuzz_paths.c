/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages from managers about paths, to an agent.  Accepted tables must be within
 * their limits, and complete when they are valid; requests must be valid; the file of a
 * table must consist of lines that ibacm can read.
 *
 * Input: messages without their headers, each after its length (2 octets, big-endian;
 * the highest bits are the time that passes before) and an octet: 1 the other manager,
 * 2 another start of it. */
#include "collect/path_keeper.h"
#include "tests/fuzz/fuzz.h"

#define HERE 0x2040u
#define MOST 4096u

static void check_table(const struct triad_path_table *table)
{
	uint32_t n_paths = 0, n_written;
	size_t size = triad_path_table_text_size(table->n);
	char *text = malloc(size), *line;

	require(text, "memory");
	require(table->guid == HERE && table->n <= TRIAD_PATH_TABLE_MAX_ROWS, "caps");
	for (uint32_t i = 0; i < table->n; i++) {
		const struct triad_path_row *row = &table->rows[i];

		require(row->guid && row->lid && row->sl < 16 && row->lmc < 8, "a row");
		require(!i || row[-1].lid < row->lid, "LIDs ascend");
		n_paths += row->has_path;
	}
	require(n_paths == table->n_paths, "the number of paths");
	size = triad_path_table_write(table, text, size, &n_written);
	require(size == strlen(text) && n_written <= n_paths, "the file");
	for (line = text; *line; line = strchr(line, '\n') + 1)
		require(strcspn(line, "\n") < 126 && strchr(line, '\n'), "its lines");
	free(text);
}

static void look(const struct triad_path_keeper *keeper, uint64_t now_us)
{
	uint64_t until_us;

	if (triad_path_keeper_look(keeper, now_us, &until_us) != TRIAD_PATHS_VALID)
		return;
	require(until_us > now_us, "until when");
	check_table(keeper->table);
	require(triad_path_keeper_look(keeper, until_us, &until_us) !=
			TRIAD_PATHS_VALID,
		"it ends");
}

static void ask(struct triad_path_keeper *keeper, uint64_t now_us)
{
	struct triad_path_want want;
	uint64_t manager, next_us;

	if (triad_path_keeper_step(keeper, now_us, &want, &manager, &next_us))
		require(want.echo == now_us && manager, "what is asked");
	require(next_us > now_us, "time goes on");
}

static void receive_from(struct triad_path_keeper *keeper, uint8_t from,
	const uint8_t *octets, size_t size, uint64_t now_us)
{
	const struct triad_collect_head head = {.kind = TRIAD_COLLECT_PATHS,
		.sender = from & 1 ? 0x77 : 0x78,
		.incarnation = from & 2 ? 2 : 1};
	uint8_t *exact = malloc(size ? size : 1);
	enum triad_path_what what;
	struct triad_wire body;

	require(exact, "memory");
	memcpy(exact, octets, size);
	triad_wire_init(&body, exact, size);
	if (triad_path_get_what(&body, &what) && what != TRIAD_PATH_WANT)
		(void)triad_path_keeper_receive(keeper, &head, what, &body, now_us);
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_path_keeper keeper = {.self = 0};
	uint64_t now_us = 1000000;

	triad_path_keeper_init(&keeper, HERE);
	while (size >= 3) {
		size_t length = ((size_t)data[0] << 8 | data[1]) & (MOST - 1);
		uint8_t from = data[2];

		now_us += (uint64_t)(data[0] >> 4) * 100000;
		data += 3;
		size -= 3;
		if (length > size)
			length = size;
		receive_from(&keeper, from, data, length, now_us);
		look(&keeper, now_us);
		ask(&keeper, now_us);
		data += length;
		size -= length;
	}
	triad_path_keeper_clear(&keeper);
	return 0;
}
