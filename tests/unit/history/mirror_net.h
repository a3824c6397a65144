/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Members copy each other's images.  The network loses, repeats and delays packets; it
 * is partitioned and heals.  Members are killed, and lose data not yet on disk, or
 * their whole disk.  Disks are full for a while; clocks differ. */
#ifndef TRIAD_TESTS_UNIT_HISTORY_MIRROR_NET_H
#define TRIAD_TESTS_UNIT_HISTORY_MIRROR_NET_H

#include "history/mirror/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/hash.h"
#include "tests/random.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

#define MAX_MEMBERS 5u
#define MAX_PACKETS 20000u
#define TICK_US (5 * TRIAD_US_PER_MS)
#define START_US (UINT64_C(1700000000) * TRIAD_US_PER_S)
#define RATE 200000u

/* Of members that start. */
static uint32_t mirror_rate = RATE;
#define MAX_SIZE 6000u
#define HEAD_SIZE 40u

struct packet {
	uint64_t due_us;
	unsigned from, to;
	size_t size;
	uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE];
};

struct member {
	bool is_up, is_disk_full;
	unsigned side; /* in a partition of the network */
	int64_t ahead_us;
	struct triad_history_ring rings[TRIAD_HISTORY_MAX_OWNERS];
	struct triad_history_rings all;
	bool is_open[TRIAD_HISTORY_N_TIERS]; /* it is writing a segment of its own */
	struct triad_mirror *mirror;
	uint64_t n_octets;
	unsigned n_sent[6];
};

static struct {
	uint64_t state, now_us;
	unsigned n;
	unsigned lost, doubled, late; /* percent; percent; maximal delay in ms */
	unsigned damaged;             /* percent of images that are damaged when read */
	struct triad_history_limits limits;
	struct member members[MAX_MEMBERS];
	struct packet packets[MAX_PACKETS];
	unsigned n_packets;
	unsigned writer;
	/* If set, member 0 lies: it sends what this sends, regularly and when it is
	 * asked. */
	void (*lie)(const struct triad_mirror_message *asked);
	uint64_t lied_us;
} net;

static inline unsigned pick(unsigned n)
{
	return random_below(&net.state, n);
}

static inline uint64_t id_of(unsigned i)
{
	return 100 + 7 * i;
}

static inline uint64_t wall_of(const struct member *member)
{
	return START_US + net.now_us + (uint64_t)member->ahead_us;
}

/* --- images: their octets follow from their position --- */

static inline void fill_image(const struct triad_mirror_image *image, uint64_t time_us,
	uint8_t octets[MAX_SIZE])
{
	uint64_t head[] = {
		image->owner, image->tier, image->begun_us, image->offset, time_us};
	uint64_t seed = triad_hash_words(TRIAD_HASH_START, head, 5);

	memcpy(octets, head, sizeof(head));
	for (uint32_t i = HEAD_SIZE; i < image->size; i++)
		octets[i] = (uint8_t)random_next(&seed);
}

static inline const struct triad_history_entry *entry_of(
	const struct member *member, const struct triad_mirror_image *image)
{
	const struct triad_history_ring *ring =
		triad_history_rings_find(&member->all, image->owner);
	const struct triad_history_segment *segment = ring
		? triad_history_ring_segment(ring, image->tier, image->begun_us)
		: NULL;

	for (uint32_t i = 0; segment && i < segment->n; i++)
		if (segment->entries[i].offset == image->offset)
			return &segment->entries[i];
	return NULL;
}

static inline void prune(struct member *member, uint64_t more)
{
	struct triad_history_surplus surplus;

	while (triad_history_rings_surplus(
		&member->all, wall_of(member), more, &surplus)) {
		struct triad_history_ring *ring = &member->rings[surplus.owner];

		if (!surplus.owner &&
			triad_history_ring_is_written(
				ring, surplus.tier, surplus.segment))
			member->is_open[surplus.tier] = false;
		triad_history_ring_remove(ring, surplus.tier, surplus.segment);
	}
}

static inline int store_read(void *context, const struct triad_mirror_image *image,
	uint32_t at, void *octets, uint32_t size)
{
	const struct triad_history_entry *entry = entry_of(context, image);
	uint8_t whole[MAX_SIZE];

	if (!entry || entry->size != image->size || at + size > image->size)
		return ENOENT;
	fill_image(image, entry->time_us, whole);
	memcpy(octets, whole + at, size);
	if (pick(100) < net.damaged)
		((uint8_t *)octets)[size - 1] ^= 1;
	return 0;
}

static inline struct triad_history_ring *ring_for(struct member *member, uint64_t owner)
{
	struct triad_history_ring *ring = triad_history_rings_find(&member->all, owner);

	if (ring || member->all.n == TRIAD_HISTORY_MAX_OWNERS)
		return ring;
	member->all.port_guids[member->all.n] = owner;
	member->all.rings[member->all.n] = &member->rings[member->all.n];
	return member->all.rings[member->all.n++];
}

static inline int store_add(
	void *context, const struct triad_mirror_image *image, const uint8_t *octets)
{
	struct member *member = context;
	struct triad_history_entry entry = {
		.offset = image->offset, .size = image->size, .is_key = true};
	struct triad_history_ring *ring;
	uint8_t should[MAX_SIZE];

	memcpy(&entry.time_us, octets + 32, 8);
	fill_image(image, entry.time_us, should);
	if (memcmp(octets, should, image->size) != 0)
		return EPROTO;
	if (member->is_disk_full)
		return ENOSPC;
	ring = ring_for(member, image->owner);
	if (ring == &member->rings[0] && member->is_open[image->tier] &&
		triad_history_ring_last(ring, image->tier)->begun_us == image->begun_us)
		return EBUSY;
	ck_assert_int_eq(
		triad_history_ring_add(ring, image->tier,
			triad_history_ring_insert(ring, image->tier, image->begun_us),
			&entry),
		0);
	prune(member, 0);
	return 0;
}

static inline void write_tier(struct member *member, enum triad_history_tier tier)
{
	struct triad_history_ring *ring = &member->rings[0];
	struct triad_history_segment *last;
	uint64_t time_us = wall_of(member) / 1000 * 1000;
	struct triad_history_entry entry = {.time_us = time_us,
		.size = HEAD_SIZE + pick(pick(3) ? 900 : MAX_SIZE - HEAD_SIZE),
		.is_key = true};

	prune(member, entry.size);
	if (member->is_disk_full)
		return;
	last = triad_history_ring_last(ring, tier);
	if (!member->is_open[tier] ||
		triad_history_ring_is_full(ring, tier, &net.limits, time_us)) {
		uint64_t begun_us = time_us;

		while (triad_history_ring_segment(ring, tier, begun_us))
			begun_us += 1000;
		last = triad_history_ring_begin(ring, tier, begun_us);
		member->is_open[tier] = true;
	}
	entry.offset = last->octets;
	ck_assert_int_eq(triad_history_ring_add(ring, tier, last, &entry), 0);
}

/* Writes to the coarse tiers at random: real intervals of minutes would take too
 * long. */
static inline void write_image(unsigned i)
{
	write_tier(&net.members[i], TRIAD_HISTORY_SWEEPS);
	if (!pick(4))
		write_tier(&net.members[i], TRIAD_HISTORY_MINUTES);
	if (!pick(16))
		write_tier(&net.members[i], TRIAD_HISTORY_HOURS);
}

/* --- the network --- */

static inline bool is_together(unsigned a, unsigned b)
{
	return net.members[a].is_up && net.members[b].is_up &&
		net.members[a].side == net.members[b].side;
}

static inline void send_all(unsigned from, const uint8_t *payload, size_t size)
{
	net.members[from].n_sent[payload[5]]++;
	net.members[from].n_octets += size;
	for (unsigned to = 0; to < net.n; to++)
		for (unsigned n = pick(100) >= net.lost; n;
			n = pick(100) < net.doubled) {
			struct packet *packet = &net.packets[net.n_packets];

			ck_assert_uint_lt(net.n_packets, MAX_PACKETS);
			*packet =
				(struct packet){net.now_us + 1 + pick(net.late * 1000),
					from, to, size, {0}};
			memcpy(packet->payload, payload, size);
			net.n_packets++;
		}
}

static inline void lie_about(const struct packet *packet)
{
	struct triad_mirror_message asked;

	if (!triad_mirror_message_decode(&asked, packet->payload, packet->size) &&
		(asked.kind == TRIAD_MIRROR_ASK_LIST ||
			asked.kind == TRIAD_MIRROR_ASK) &&
		asked.to == id_of(0))
		net.lie(&asked);
}

static inline void deliver(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < net.n_packets; i++) {
		struct packet *packet = &net.packets[i];

		if (packet->due_us > net.now_us) {
			net.packets[n++] = *packet;
			continue;
		}
		if (net.lie && !packet->to)
			lie_about(packet);
		else if (is_together(packet->from, packet->to))
			triad_mirror_payload(net.members[packet->to].mirror,
				id_of(packet->from), packet->payload, packet->size);
	}
	net.n_packets = n;
}

static inline void run_member(unsigned i)
{
	struct member *member = &net.members[i];
	uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE];
	size_t size;

	if (net.lie && !i) {
		net.lie(NULL);
		return;
	}
	triad_mirror_run(member->mirror, net.now_us, wall_of(member));
	while ((size = triad_mirror_take_payload(member->mirror, payload)))
		send_all(i, payload, size);
	ck_assert_uint_gt(triad_mirror_next_us(member->mirror), net.now_us);
}

static inline void tick(void)
{
	net.now_us += TICK_US;
	deliver();
	for (unsigned i = 0; i < net.n; i++)
		if (net.members[i].is_up) {
			run_member(i);
			if (net.now_us % (100 * TRIAD_US_PER_MS) == 0)
				prune(&net.members[i], 0);
		}
}

static inline void deliver_views(void)
{
	for (unsigned i = 0; i < net.n; i++) {
		uint64_t ids[MAX_MEMBERS];
		uint32_t n = 0;

		for (unsigned j = 0; j < net.n; j++)
			if (is_together(i, j))
				ids[n++] = id_of(j);
		if (net.members[i].is_up)
			triad_mirror_view(net.members[i].mirror, ids, n);
	}
}

/* --- members --- */

static inline void start(unsigned i)
{
	struct member *member = &net.members[i];
	const struct triad_mirror_conf conf = {id_of(i), mirror_rate};
	const struct triad_mirror_store store = {
		member, &member->all, store_read, store_add};

	if (!member->all.n)
		ring_for(member, id_of(i));
	memset(member->all.floor_us, 0, sizeof(member->all.floor_us));
	memset(member->all.reported_floor_us, 0, sizeof(member->all.reported_floor_us));
	memset(member->is_open, 0, sizeof(member->is_open));
	triad_history_rings_limit(&member->all, &net.limits);
	member->is_up = true;
	member->mirror = triad_mirror_new(&conf, &store);
	ck_assert_ptr_nonnull(member->mirror);
}

static inline void stop(unsigned i)
{
	net.members[i].is_up = false;
	triad_mirror_free(net.members[i].mirror);
}

static inline void build(
	unsigned n, uint64_t seed, const struct triad_history_limits *limits)
{
	memset(&net, 0, sizeof(net));
	net.state = seed;
	net.now_us = 1000000;
	net.n = n;
	net.late = 2;
	net.limits = *limits;
	for (unsigned i = 0; i < n; i++)
		start(i);
	deliver_views();
}

static inline void wipe(unsigned i)
{
	for (unsigned ring = 0; ring < TRIAD_HISTORY_MAX_OWNERS; ring++)
		triad_history_ring_clear(&net.members[i].rings[ring]);
}

static inline void tear_down(void)
{
	for (unsigned i = 0; i < net.n; i++) {
		if (net.members[i].is_up)
			stop(i);
		wipe(i);
	}
}

/* Removes data that wasn't on disk yet: the last image of a segment. */
static inline void lose_last(unsigned i)
{
	struct triad_history_ring *ring = &net.members[i].rings[0];
	struct triad_history_segment *last =
		triad_history_ring_last(ring, TRIAD_HISTORY_SWEEPS);
	struct triad_history_entry *entry = last ? &last->entries[last->n - 1] : NULL;

	if (!last || last->n < 2)
		return;
	last->n--;
	ring->n_entries--;
	last->octets -= entry->size;
	last->whole -= entry->size;
	ring->tiers[TRIAD_HISTORY_SWEEPS].octets -= entry->size;
}

/* --- comparison of members --- */

static inline uint64_t digest_of(unsigned i)
{
	const struct member *member = &net.members[i];
	uint64_t digest = 0;

	for (unsigned owner = 0; owner < member->all.n; owner++)
		for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
			for (uint32_t s = 0; s < member->rings[owner].tiers[tier].n;
				s++) {
				const struct triad_history_segment *segment =
					&member->rings[owner].tiers[tier].segments[s];
				uint64_t words[] = {member->all.port_guids[owner], tier,
					segment->begun_us, segment->octets, segment->n};

				ck_assert_uint_eq(segment->octets, segment->whole);
				digest += triad_hash_words(TRIAD_HASH_START, words, 5);
			}
	return digest;
}

static inline bool are_equal(void)
{
	for (unsigned i = 1; i < net.n; i++)
		if (digest_of(i) != digest_of(0))
			return false;
	return true;
}

static inline void print_all(void)
{
	for (unsigned i = 0; i < net.n; i++) {
		const struct member *member = &net.members[i];

		printf("# member %u: %" PRIu64 " octets, floors", i,
			triad_history_rings_octets(&member->all));
		for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
			printf(" %" PRIu64 "/%" PRIu64, member->all.floor_us[tier],
				member->all.reported_floor_us[tier]);
		printf("\n");
		for (unsigned owner = 0; owner < member->all.n; owner++)
			for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
				for (uint32_t s = 0;
					s < member->rings[owner].tiers[tier].n; s++)
					printf("#   %" PRIu64 " %u %" PRIu64
					       ": %" PRIu64 "\n",
						member->all.port_guids[owner], tier,
						member->rings[owner]
							.tiers[tier]
							.segments[s]
							.begun_us,
						member->rings[owner]
							.tiers[tier]
							.segments[s]
							.octets);
	}
}

static inline bool run_until_equal(unsigned max_s)
{
	uint64_t until_us = net.now_us + max_s * TRIAD_US_PER_S;

	while (net.now_us < until_us) {
		tick();
		if (net.now_us % (50 * TRIAD_US_PER_MS) == 0 && are_equal())
			return true;
	}
	print_all();
	return false;
}

static inline void run_for(uint64_t us)
{
	uint64_t until_us = net.now_us + us;

	while (net.now_us < until_us)
		tick();
}

/* Checks that no member exceeds its limit. */
static inline void check_room(void)
{
	for (unsigned i = 0; i < net.n; i++)
		ck_assert_uint_le(triad_history_rings_octets(&net.members[i].all),
			net.limits.max_octets + MAX_SIZE * 3);
}

static const struct triad_history_limits roomy = {
	.max_octets = 100u << 20, .keep_us = 3600 * TRIAD_US_PER_S};

#endif
