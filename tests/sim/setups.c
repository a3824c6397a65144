/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/setups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"

#define N_WORDS 6

static const char *const first_words[N_WORDS] = {"n1", "n2", "n3", "n4", "n5", "n6"};

/* What is written, and by which numbers. */
struct writer {
	FILE *to;
	char *text;
	size_t size;
	uint64_t *state;
};

static unsigned dice(struct writer *writer, unsigned sides)
{
	return random_below(writer->state, sides);
}

static void begin(struct writer *writer, uint64_t *state)
{
	*writer = (struct writer){.state = state};
	writer->to = open_memstream(&writer->text, &writer->size);
	if (!writer->to)
		abort();
}

static char *finish(struct writer *writer)
{
	if (fclose(writer->to))
		abort();
	return writer->text;
}

/* --- groups --- */

void setup_random_name(char *name, size_t size, uint64_t *state)
{
	static const char *const rests[] = {
		"", " HCA-1", "  HCA-1", " HCA-1 mlx5_0", " HCA-2 mlx5_0", " HCA-1/x"};

	snprintf(name, size, "%s%s%s", random_below(state, 8) ? "" : " ",
		first_words[random_below(state, N_WORDS)],
		rests[random_below(state, 6)]);
}

static void add_guids(struct writer *writer, const struct triad_fabric *fabric)
{
	for (unsigned n = dice(writer, 3); n; n--) {
		uint64_t first = fabric->ports[dice(writer, fabric->n_ports)].guid;
		unsigned more = dice(writer, dice(writer, 2) ? 2 : 0x8000);

		fprintf(writer->to,
			"<port-guid>0x%" PRIx64 "-0x%" PRIx64 "</port-guid>", first,
			first + more);
	}
	if (!dice(writer, 20))
		fprintf(writer->to, "<port-guid>0x3001-0xffffffffffffffff</port-guid>");
}

static void add_names(struct writer *writer, const struct triad_fabric *fabric)
{
	for (unsigned n = dice(writer, 4); n; n--) {
		unsigned number = dice(writer, 5), card = 1 + dice(writer, 2);
		uint32_t node = dice(writer, fabric->n_nodes);

		if (dice(writer, 2))
			fprintf(writer->to, "<port-name>%s/P%u</port-name>",
				fabric->nodes[node].name, number);
		else
			fprintf(writer->to, "<port-name>%s/HCA-%u/P%u</port-name>",
				first_words[dice(writer, N_WORDS)], card, number);
	}
}

static void add_pkeys(struct writer *writer)
{
	unsigned first = 1 + dice(writer, 3), more = dice(writer, 0x100);

	fprintf(writer->to, "<pkey>%u-%u,0x%x</pkey>", first, first + more,
		0x100 + dice(writer, 0x101));
}

static void add_group(struct writer *writer, const struct triad_fabric *fabric,
	unsigned i, const char *const *partitions, unsigned n_partitions)
{
	static const char *const types[] = {"CA", "SWITCH", "ROUTER", "ALL", "SELF"};

	fprintf(writer->to, "<port-group><name>g%u</name>", i);
	if (dice(writer, 2))
		add_guids(writer, fabric);
	if (dice(writer, 2))
		add_names(writer, fabric);
	if (n_partitions && !dice(writer, 3))
		fprintf(writer->to, "<partition>%s</partition>",
			partitions[dice(writer, n_partitions)]);
	if (!dice(writer, 4))
		add_pkeys(writer);
	if (!dice(writer, 6))
		fprintf(writer->to, "<node-type>%s</node-type>",
			types[dice(writer, 5)]);
	fprintf(writer->to, "</port-group>\n");
}

char *setup_random_groups(const struct triad_fabric *fabric, unsigned n,
	const char *const *partitions, uint64_t *state)
{
	struct writer writer;
	unsigned n_partitions = 0;

	begin(&writer, state);
	while (partitions[n_partitions])
		n_partitions++;
	for (unsigned i = 0; i < n; i++)
		add_group(&writer, fabric, i, partitions, n_partitions);
	return finish(&writer);
}

/* --- scopes --- */

static void add_list(struct writer *writer, const char *key, unsigned n_groups)
{
	for (unsigned n = 1 + dice(writer, 2); n; n--)
		fprintf(writer->to, "<%s>g%u</%s>", key, dice(writer, n_groups), key);
}

static void add_numbers(struct writer *writer, const char *key)
{
	unsigned first = dice(writer, 12), last = first + dice(writer, 6);
	unsigned sort = dice(writer, 4);

	if (sort == 0)
		return;
	if (sort == 1)
		fprintf(writer->to, "<%s>*</%s>", key, key);
	else
		fprintf(writer->to, "<%s>%u-%u,%u</%s>", key, first, last,
			dice(writer, 255), key);
}

char *setup_random_sl2vl(unsigned n_groups, unsigned n, uint64_t *state)
{
	static const char *const keys[] = {
		"group", "across", "across-to", "across-from"};
	struct writer writer;

	begin(&writer, state);
	for (; n; n--) {
		unsigned wanted = dice(&writer, 2) ? 1u << dice(&writer, 4)
						   : 1 + dice(&writer, 15);

		fprintf(writer.to, "<sl2vl-scope>");
		for (unsigned i = 0; i < 4; i++)
			if (wanted >> i & 1)
				add_list(&writer, keys[i], n_groups);
		add_numbers(&writer, "from");
		add_numbers(&writer, "to");
		fprintf(writer.to, "<sl2vl-table>%u", dice(&writer, 16));
		for (unsigned sl = 1; sl < 16; sl++)
			fprintf(writer.to, ",%u", dice(&writer, 16));
		fprintf(writer.to, "</sl2vl-table></sl2vl-scope>\n");
	}
	return finish(&writer);
}

static void add_entries(struct writer *writer, const char *key)
{
	fprintf(writer->to, "<%s>%u:%u", key, dice(writer, 15), dice(writer, 256));
	for (unsigned n = dice(writer, 12); n; n--)
		fprintf(writer->to, ",%u:%u", dice(writer, 15), dice(writer, 256));
	fprintf(writer->to, "</%s>", key);
}

char *setup_random_vlarb(unsigned n_groups, unsigned n, uint64_t *state)
{
	struct writer writer;

	begin(&writer, state);
	for (; n; n--) {
		unsigned wanted = 1 + dice(&writer, 3), tables = 1 + dice(&writer, 7);

		fprintf(writer.to, "<vlarb-scope>");
		if (wanted & 1)
			add_list(&writer, "group", n_groups);
		if (wanted & 2)
			add_list(&writer, "across", n_groups);
		add_numbers(&writer, "to");
		if (tables & 1)
			add_entries(&writer, "vlarb-high");
		if (tables & 2)
			add_entries(&writer, "vlarb-low");
		if (tables & 4)
			fprintf(writer.to, "<vl-high-limit>%u</vl-high-limit>",
				dice(&writer, 256));
		fprintf(writer.to, "</vlarb-scope>\n");
	}
	return finish(&writer);
}
