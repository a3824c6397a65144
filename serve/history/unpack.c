/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/unpack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/nats/repack.h"
#include "history/record.h"

#define TOPOLOGY "# triad-topology "
#define OCTETS "# triad-octets "
#define MAGIC_DIGITS 8u

static bool begins_with(const char *line, size_t length, const char *name)
{
	return length >= strlen(name) && !memcmp(line, name, strlen(name));
}

/* Gives the line that is held back. */
static bool give_head(struct triad_history_unpack *unpack)
{
	bool is_wanted = !unpack->head[0] ||
		unpack->give(unpack->context, unpack->head, strlen(unpack->head));

	unpack->head[0] = '\0';
	return is_wanted;
}

static bool give_octets(
	struct triad_history_unpack *unpack, const struct triad_topology_octets *octets)
{
	char line[sizeof(OCTETS) + TRIAD_HISTORY_DIGITS] = OCTETS;
	bool is_wanted;

	snprintf(unpack->head, sizeof(unpack->head),
		TOPOLOGY "0x%016" PRIx64 " %" PRIu32 " %" PRIu32, octets->hash,
		octets->size, octets->n_octets);
	is_wanted = give_head(unpack);
	for (uint32_t at = 0, n; at < octets->n_octets && is_wanted; at += n) {
		n = octets->n_octets - at;
		if (n > TRIAD_HISTORY_DIGITS / 2)
			n = TRIAD_HISTORY_DIGITS / 2;
		is_wanted = unpack->give(unpack->context, line,
			strlen(OCTETS) +
				triad_history_put_hex(
					line + strlen(OCTETS), octets->octets + at, n));
	}
	return is_wanted;
}

/* Gives the fabric: unpacked, or as it was if it can't be. */
static bool give_fabric(struct triad_history_unpack *unpack)
{
	struct triad_topology_octets plain;
	bool is_wanted;

	if (unpack->n == unpack->packed.n_octets &&
		!triad_topology_unpack(&unpack->packed, &plain)) {
		is_wanted = give_octets(unpack, &plain);
		triad_topology_octets_free(&plain);
	} else {
		unpack->packed.n_octets = unpack->n;
		is_wanted = give_octets(unpack, &unpack->packed);
	}
	triad_topology_octets_free(&unpack->packed);
	unpack->head[0] = '\0';
	return is_wanted;
}

/* Holds back the line that begins a fabric. */
static bool hold_head(
	struct triad_history_unpack *unpack, const char *line, size_t length)
{
	bool is_wanted = triad_history_unpack_end(unpack);

	if (length >= sizeof(unpack->head))
		return is_wanted && unpack->give(unpack->context, line, length);
	memcpy(unpack->head, line, length);
	unpack->head[length] = '\0';
	return is_wanted;
}

/* Begins to read a fabric, if its first octets show that it is packed. */
static bool begin_octets(
	struct triad_history_unpack *unpack, const char *digits, size_t n)
{
	struct triad_topology_octets *packed = &unpack->packed;
	uint8_t magic[MAGIC_DIGITS / 2];

	if (n < MAGIC_DIGITS || !triad_history_get_hex(digits, MAGIC_DIGITS, magic) ||
		!triad_topology_is_packed(magic, sizeof(magic)) ||
		sscanf(unpack->head, TOPOLOGY "0x%16" SCNx64 " %" SCNu32 " %" SCNu32,
			&packed->hash, &packed->size, &packed->n_octets) != 3 ||
		!packed->n_octets || packed->n_octets > TRIAD_TOPOLOGY_MAX_SIZE)
		return false;
	packed->octets = malloc(packed->n_octets);
	unpack->n = 0;
	return packed->octets;
}

/* Adds octets.  False: they are malformed. */
static bool add_octets(
	struct triad_history_unpack *unpack, const char *digits, size_t n)
{
	struct triad_topology_octets *packed = &unpack->packed;

	if (n / 2 > packed->n_octets - unpack->n ||
		!triad_history_get_hex(digits, n, packed->octets + unpack->n))
		return false;
	unpack->n += (uint32_t)(n / 2);
	return true;
}

bool triad_history_unpack_line(void *context, const char *line, size_t length)
{
	struct triad_history_unpack *unpack = context;
	const char *digits = line + strlen(OCTETS);

	if (begins_with(line, length, TOPOLOGY))
		return hold_head(unpack, line, length);
	if (begins_with(line, length, OCTETS)) {
		size_t n = length - strlen(OCTETS);

		if (unpack->head[0] && !unpack->packed.octets &&
			!begin_octets(unpack, digits, n))
			return give_head(unpack) &&
				unpack->give(unpack->context, line, length);
		if (unpack->packed.octets && add_octets(unpack, digits, n))
			return unpack->n < unpack->packed.n_octets ||
				give_fabric(unpack);
	}
	return triad_history_unpack_end(unpack) &&
		unpack->give(unpack->context, line, length);
}

bool triad_history_unpack_end(struct triad_history_unpack *unpack)
{
	return unpack->packed.octets ? give_fabric(unpack) : give_head(unpack);
}
