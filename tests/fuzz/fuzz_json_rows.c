/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lists in JSON that a plugin answers with: any octets.  What is found must have room, and
 * be the same however the octets are cut into pieces.
 *
 * Input: a flag that is ignored, the size of pieces (1 octet, 0: all at once), then JSON. */
#include "cli/json_rows.h"
#include "tests/fuzz/fuzz.h"

#define MOST ((size_t)64 << 10)

struct copy {
	size_t size;
	char octets[2 * MOST];
};

static void add(struct copy *copy, const char *text)
{
	size_t size = strlen(text) + 1;

	require(size <= TRIAD_JSON_ROWS_SIZE, "no longer than allowed");
	require(size < sizeof(copy->octets) - copy->size, "no more than came");
	memcpy(copy->octets + copy->size, text, size);
	copy->size += size;
}

static void add_member(void *context, const char *name, const char *value)
{
	add(context, name);
	add(context, value ? value : "0");
}

static void add_end(void *context)
{
	add(context, "");
}

static void read_all(const char *json, size_t size, size_t piece, struct copy *copy)
{
	struct triad_json_rows rows = {
		.member = add_member, .end = add_end, .context = copy};

	copy->size = 0;
	for (size_t at = 0; at < size; at += piece)
		triad_json_rows_take(
			&rows, json + at, size - at < piece ? size - at : piece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct copy whole, pieces;
	const char *json = (const char *)data + 2;

	if (size < 3 || size > MOST)
		return 0;
	read_all(json, size - 2, size, &whole);
	read_all(json, size - 2, data[1] ? data[1] : size, &pieces);
	require(whole.size == pieces.size &&
			!memcmp(whole.octets, pieces.octets, whole.size),
		"the same in pieces");
	return 0;
}
