/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers of a plugin to the request for nodes by the completion: any octets.  The
 * values found must be printable on any terminal, and the same however the octets are
 * cut into pieces.
 *
 * Input: flags (1: GUIDs), the size of pieces (1 octet, 0: all at once), then JSON. */
#include "cli/client.h"
#include "cli/complete_nodes.h"
#include "lib/text.h"
#include "tests/fuzz/fuzz.h"

#define MOST ((size_t)64 << 10)

struct copy {
	size_t size;
	char octets[MOST];
};

/* The target sends no requests. */
int triad_client_ask(
	const struct triad_client *client, const char *request, size_t request_size)
{
	return TRIAD_CONTROL_FAILED;
}

static void copy_value(void *context, const char *value)
{
	struct copy *copy = context;
	size_t size = strlen(value);

	require(size && size < TRIAD_NODES_STRING_SIZE, "no longer than allowed");
	require(triad_text_check(value, size) == size && !strchr(value, '\t'),
		"it may be shown");
	require(size < MOST - copy->size, "no more than came");
	memcpy(copy->octets + copy->size, value, size + 1);
	copy->size += size + 1;
}

static void scan_all(
	const char *json, size_t size, size_t piece, bool guids, struct copy *copy)
{
	struct triad_nodes_scan scan = {
		.members = {guids ? "guid" : "name", guids ? "node_guid" : "node_name"},
		.found = copy_value,
		.context = copy};

	copy->size = 0;
	for (size_t at = 0; at < size; at += piece)
		triad_nodes_scan(
			&scan, json + at, size - at < piece ? size - at : piece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct copy whole, pieces;
	const char *json = (const char *)data + 2;

	if (size < 3 || size > MOST)
		return 0;
	scan_all(json, size - 2, size, data[0] & 1, &whole);
	scan_all(json, size - 2, data[1] ? data[1] : size, data[0] & 1, &pieces);
	require(whole.size == pieces.size &&
			!memcmp(whole.octets, pieces.octets, whole.size),
		"the same in pieces");
	return 0;
}
