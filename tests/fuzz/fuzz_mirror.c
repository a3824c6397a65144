/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of SMs about images, unchanged and with a corrected header, to an SM that
 * has some images.  An accepted message must be encoded as it was decoded, except for
 * the reserved octet, the flag, 8 octets of a list, and octets at the end.  Messages
 * sent in answer must be valid.  Images kept must be within the limit.
 *
 * Input: payloads, each after its length (2 octets, big-endian; the highest bits are
 * the time that passes before). */
#include <errno.h>
#include <string.h>

#include "history/mirror/message.h"
#include "tests/fuzz/fuzz.h"

#define HERE 5u
#define THERE 3u
#define NOW_US UINT64_C(1700000000000000)
#define MAX_OCTETS 100000u

static struct triad_history_ring ring, copies[TRIAD_HISTORY_MAX_OTHERS];
static struct triad_history_rings rings;

static void check_round_trip(const uint8_t *octets, size_t size)
{
	struct triad_mirror_message message;
	uint8_t again[TRIAD_MIRROR_PAYLOAD_SIZE], same[TRIAD_MIRROR_PAYLOAD_SIZE];
	size_t again_size;

	if (triad_mirror_message_decode(&message, octets, size))
		return;
	again_size = triad_mirror_message_encode(&message, again);
	require(again_size && again_size <= size, "its size");
	memcpy(same, octets, size);
	same[7] = 0;
	if (message.kind == TRIAD_MIRROR_STATE)
		same[6] = again[6];
	if (message.kind == TRIAD_MIRROR_LIST)
		memcpy(same + 24, again + 24, 8);
	require(!memcmp(same, again, again_size), "the same octets");
}

static int read_image(void *context, const struct triad_mirror_image *image,
	uint32_t at, void *octets, uint32_t size)
{
	(void)context;
	require(image->owner == HERE && at + size <= image->size, "what is there");
	memset(octets, 7, size);
	return 0;
}

static void prune(void)
{
	struct triad_history_surplus surplus;

	while (triad_history_rings_surplus(&rings, NOW_US, 0, &surplus))
		triad_history_ring_remove(
			rings.rings[surplus.owner], surplus.tier, surplus.segment);
}

static int add_image(
	void *context, const struct triad_mirror_image *image, const uint8_t *octets)
{
	struct triad_history_ring *to = triad_history_rings_find(&rings, image->owner);
	struct triad_history_segment *segment;
	const struct triad_history_entry entry = {.time_us = NOW_US,
		.offset = image->offset,
		.size = image->size,
		.is_key = true};

	(void)context;
	require(image->size && image->size <= TRIAD_MIRROR_MAX_IMAGE, "its size");
	if (octets[0] == 1)
		return EPROTO;
	if (!to && rings.n < TRIAD_HISTORY_MAX_OWNERS) {
		rings.port_guids[rings.n] = image->owner;
		to = rings.rings[rings.n] = &copies[rings.n - 1];
		rings.n++;
	}
	if (!to)
		return ENOBUFS;
	segment = triad_history_ring_insert(to, image->tier, image->begun_us);
	require(segment && segment->octets == image->offset, "behind what is there");
	(void)triad_history_ring_add(to, image->tier, segment, &entry);
	prune();
	return 0;
}

static void check_out(struct triad_mirror *mirror, uint64_t now_us)
{
	struct triad_mirror_message message;
	uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE];
	unsigned n = 0;
	size_t size;

	triad_mirror_run(mirror, now_us, NOW_US);
	while ((size = triad_mirror_take_payload(mirror, payload))) {
		require(!triad_mirror_message_decode(&message, payload, size),
			"the messages sent are valid");
		require(++n < 100, "not too much at a time");
	}
	require(triad_mirror_next_us(mirror) > now_us, "a time to come");
	require(triad_history_rings_octets(&rings) <= MAX_OCTETS, "what has room");
}

static void receive_from(struct triad_mirror *mirror, const uint8_t *octets,
	size_t size, uint64_t now_us)
{
	triad_mirror_payload(mirror, size % 2 ? THERE : 9, octets, size);
	check_out(mirror, now_us);
}

/* Corrects magic and version, so that the code after their checks is reached. */
static void receive_corrected(struct triad_mirror *mirror, const uint8_t *octets,
	size_t size, uint64_t now_us)
{
	uint8_t corrected[2048];

	if (size < 8 || size > sizeof(corrected))
		return;
	memcpy(corrected, octets, size);
	memcpy(corrected, TRIAD_MIRROR_MAGIC "\1", 5);
	receive_from(mirror, corrected, size, now_us);
}

static struct triad_mirror *make_mirror(void)
{
	const struct triad_mirror_conf conf = {HERE, 100000};
	const struct triad_mirror_store store = {NULL, &rings, read_image, add_image};
	const struct triad_history_limits limits = {
		.max_octets = MAX_OCTETS, .keep_us = UINT64_C(3600000000)};
	const uint64_t members[] = {THERE, HERE, 9};
	struct triad_history_entry entry = {.time_us = NOW_US, .size = 3000};
	struct triad_mirror *mirror = triad_mirror_new(&conf, &store);
	struct triad_history_segment *segment;

	if (!mirror)
		return NULL;
	memset(&rings, 0, sizeof(rings));
	rings.n = 1;
	rings.port_guids[0] = HERE;
	rings.rings[0] = &ring;
	triad_history_rings_limit(&rings, &limits);
	segment = triad_history_ring_begin(&ring, TRIAD_HISTORY_SWEEPS, NOW_US);
	for (; segment && entry.offset < 9000; entry.offset += entry.size)
		(void)triad_history_ring_add(
			&ring, TRIAD_HISTORY_SWEEPS, segment, &entry);
	triad_mirror_view(mirror, members, 3);
	return mirror;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_mirror *mirror = make_mirror();
	uint64_t now_us = 1000000;

	while (mirror && size >= 2) {
		size_t length = ((size_t)data[0] << 8 | data[1]) & 0x7ff;

		now_us += (uint64_t)(data[0] >> 3) * 20000 + 1;
		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		check_round_trip(data, length);
		receive_from(mirror, data, length, now_us);
		now_us += 20000;
		receive_corrected(mirror, data, length, now_us);
		data += length;
		size -= length;
	}
	triad_mirror_free(mirror);
	triad_history_ring_clear(&ring);
	for (unsigned i = 0; i < TRIAD_HISTORY_MAX_OTHERS; i++)
		triad_history_ring_clear(&copies[i]);
	return 0;
}
