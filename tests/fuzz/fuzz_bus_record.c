/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A stream of records between the plugin and triadd, in pieces: what is accepted is within its
 * caps, the same however the stream is cut, and fields are written again as they were read, but for
 * flags that are not known and characters that are replaced.
 *
 * Input: an octet, the size of the pieces less 1; then the stream. */
#include <string.h>

#include "collect/nats/record.h"
#include "tests/fuzz/fuzz.h"

static struct triad_bus_reader whole, pieces;
static uint64_t n_whole, n_pieces;

static void check_text(const char *text, size_t size)
{
	require(memchr(text, '\0', size), "a text ends");
	for (; *text; text++)
		require(*text == '\t' ||
				((unsigned char)*text >= 0x20 && *text != 0x7f),
			"no control");
}

static void check_state(const struct triad_bus_record *record)
{
	struct triad_bus_status status, again;
	uint8_t octets[TRIAD_BUS_FIELDS_SIZE], twice[TRIAD_BUS_FIELDS_SIZE];
	struct triad_bus_record same = {.octets = octets};

	if (!triad_bus_record_get_state(record, &status))
		return;
	check_text(status.server, sizeof(status.server));
	check_text(status.reason, sizeof(status.reason));
	same.size = (uint32_t)triad_bus_record_put_state(&status, octets);
	require(same.size == record->size, "its size");
	require(triad_bus_record_get_state(&same, &again), "it is read again");
	require(triad_bus_record_put_state(&again, twice) == same.size &&
			!memcmp(octets, twice, same.size),
		"the same state");
}

static void check_params(const struct triad_bus_record *record)
{
	struct triad_bus_params params, again;
	uint8_t octets[TRIAD_BUS_FIELDS_SIZE], twice[TRIAD_BUS_FIELDS_SIZE];
	struct triad_bus_record same = {.octets = octets};

	if (!triad_bus_record_get_params(record, &params))
		return;
	same.size = (uint32_t)triad_bus_record_put_params(&params, octets);
	require(same.size == record->size, "its size");
	require(triad_bus_record_get_params(&same, &again), "it is read again");
	require(triad_bus_record_put_params(&again, twice) == same.size &&
			!memcmp(octets, twice, same.size),
		"the same parameters");
}

static void take(void *context, const struct triad_bus_record *record)
{
	uint64_t *n = context;

	++*n;
	require(record->size, "its size");
	require(!record->octets[2 - (int)TRIAD_BUS_HEADER_SIZE], "what is reserved");
	if (record->kind == TRIAD_BUS_STATE)
		check_state(record);
	else if (record->kind == TRIAD_BUS_PARAMS)
		check_params(record);
	else
		require(record->kind == TRIAD_BUS_MESSAGE, "its kind");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int error_whole, error_pieces = 0;
	size_t length;

	if (!size)
		return 0;
	length = data[0] + 1u;
	data++;
	size--;
	whole.take = pieces.take = take;
	whole.context = &n_whole;
	pieces.context = &n_pieces;
	whole.used = pieces.used = n_whole = n_pieces = 0;
	error_whole = triad_bus_reader_put(&whole, data, size);
	for (size_t at = 0; at < size && !error_pieces; at += length)
		error_pieces = triad_bus_reader_put(
			&pieces, data + at, size - at < length ? size - at : length);
	require(error_whole || whole.used < TRIAD_BUS_HEADER_SIZE ||
			whole.record.size <= TRIAD_COLLECT_MAX_SIZE,
		"the size of what is being read");
	require(error_whole == error_pieces && n_whole == n_pieces,
		"the same in pieces");
	return 0;
}
