/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* SMs that copy each other's images, on a network that loses, repeats and holds back, that
 * falls apart and heals; they are killed, lose what their disk had not got yet, or all of
 * it; disks are full for a while; clocks differ.  However that went, all have the same
 * images in the end. */
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
	unsigned side; /* of a partition */
	int64_t ahead_us;
	struct triad_history_ring rings[TRIAD_HISTORY_MAX_OWNERS];
	struct triad_history_rings all;
	bool is_open[TRIAD_HISTORY_N_TIERS]; /* a segment of its own is written */
	struct triad_mirror *mirror;
	uint64_t n_octets;
	unsigned n_sent[6];
};

static struct {
	uint64_t state, now_us;
	unsigned n;
	unsigned lost, doubled, late; /* percent; ms at most */
	unsigned bad;                 /* percent of images that are damaged when read */
	struct triad_history_limits limits;
	struct member members[MAX_MEMBERS];
	struct packet packets[MAX_PACKETS];
	unsigned n_packets;
	unsigned writer;
	/* Member 0 is one that says what it wants, when time passes and when it is asked;
	 * NULL: it is none. */
	void (*lie)(const struct triad_mirror_message *asked);
	uint64_t lied_us;
} net;

static unsigned pick(unsigned n)
{
	return random_below(&net.state, n);
}

static uint64_t id_of(unsigned i)
{
	return 100 + 7 * i;
}

static uint64_t wall_of(const struct member *member)
{
	return START_US + net.now_us + (uint64_t)member->ahead_us;
}

/* --- images: their octets follow from where they are --- */

static void fill_image(const struct triad_mirror_image *image, uint64_t time_us,
	uint8_t octets[MAX_SIZE])
{
	uint64_t head[] = {
		image->owner, image->tier, image->begun_us, image->offset, time_us};
	uint64_t seed = triad_hash_words(TRIAD_HASH_START, head, 5);

	memcpy(octets, head, sizeof(head));
	for (uint32_t i = HEAD_SIZE; i < image->size; i++)
		octets[i] = (uint8_t)random_next(&seed);
}

static const struct triad_history_entry *entry_of(
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

static void prune(struct member *member, uint64_t more)
{
	struct triad_history_surplus surplus;

	while (triad_history_rings_surplus(
		&member->all, wall_of(member), more, &surplus)) {
		struct triad_history_ring *ring = &member->rings[surplus.owner];

		if (!surplus.owner && ring->tiers[surplus.tier].n == 1)
			member->is_open[surplus.tier] = false;
		triad_history_ring_remove(ring, surplus.tier, surplus.segment);
	}
}

static int store_read(void *context, const struct triad_mirror_image *image,
	uint32_t at, void *octets, uint32_t size)
{
	const struct triad_history_entry *entry = entry_of(context, image);
	uint8_t whole[MAX_SIZE];

	if (!entry || entry->size != image->size || at + size > image->size)
		return ENOENT;
	fill_image(image, entry->time_us, whole);
	memcpy(octets, whole + at, size);
	if (pick(100) < net.bad)
		((uint8_t *)octets)[size - 1] ^= 1;
	return 0;
}

static struct triad_history_ring *ring_for(struct member *member, uint64_t owner)
{
	struct triad_history_ring *ring = triad_history_rings_find(&member->all, owner);

	if (ring || member->all.n == TRIAD_HISTORY_MAX_OWNERS)
		return ring;
	member->all.port_guids[member->all.n] = owner;
	member->all.rings[member->all.n] = &member->rings[member->all.n];
	return member->all.rings[member->all.n++];
}

static int store_add(
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

static void write_tier(struct member *member, enum triad_history_tier tier)
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
		uint64_t begun_us = last && time_us <= last->begun_us
			? last->begun_us + 1000
			: time_us;

		last = triad_history_ring_begin(ring, tier, begun_us);
		member->is_open[tier] = true;
	}
	entry.offset = last->octets;
	ck_assert_int_eq(triad_history_ring_add(ring, tier, last, &entry), 0);
}

/* The coarse tiers are taken by chance: minutes would take too long. */
static void write_image(unsigned i)
{
	write_tier(&net.members[i], TRIAD_HISTORY_SWEEPS);
	if (!pick(4))
		write_tier(&net.members[i], TRIAD_HISTORY_MINUTES);
	if (!pick(16))
		write_tier(&net.members[i], TRIAD_HISTORY_HOURS);
}

/* --- the network --- */

static bool is_together(unsigned a, unsigned b)
{
	return net.members[a].is_up && net.members[b].is_up &&
		net.members[a].side == net.members[b].side;
}

static void send_all(unsigned from, const uint8_t *payload, size_t size)
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

static void lie_about(const struct packet *packet)
{
	struct triad_mirror_message asked;

	if (!triad_mirror_message_decode(&asked, packet->payload, packet->size) &&
		(asked.kind == TRIAD_MIRROR_ASK_LIST ||
			asked.kind == TRIAD_MIRROR_ASK) &&
		asked.to == id_of(0))
		net.lie(&asked);
}

static void deliver(void)
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

static void run_member(unsigned i)
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

static void tick(void)
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

static void deliver_views(void)
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

static void start(unsigned i)
{
	struct member *member = &net.members[i];
	const struct triad_mirror_conf conf = {id_of(i), RATE};
	const struct triad_mirror_store store = {
		member, &member->all, store_read, store_add};

	if (!member->all.n)
		ring_for(member, id_of(i));
	memset(member->all.floor_us, 0, sizeof(member->all.floor_us));
	memset(member->all.told_floor_us, 0, sizeof(member->all.told_floor_us));
	memset(member->is_open, 0, sizeof(member->is_open));
	triad_history_rings_limit(&member->all, &net.limits);
	member->is_up = true;
	member->mirror = triad_mirror_new(&conf, &store);
	ck_assert_ptr_nonnull(member->mirror);
}

static void stop(unsigned i)
{
	net.members[i].is_up = false;
	triad_mirror_free(net.members[i].mirror);
}

static void build(unsigned n, uint64_t seed, const struct triad_history_limits *limits)
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

static void wipe(unsigned i)
{
	for (unsigned ring = 0; ring < TRIAD_HISTORY_MAX_OWNERS; ring++)
		triad_history_ring_clear(&net.members[i].rings[ring]);
}

static void tear_down(void)
{
	for (unsigned i = 0; i < net.n; i++) {
		if (net.members[i].is_up)
			stop(i);
		wipe(i);
	}
}

/* What its disk had not got yet: the last image of a segment. */
static void lose_last(unsigned i)
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

/* --- what there is --- */

static uint64_t digest_of(unsigned i)
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

static bool are_equal(void)
{
	for (unsigned i = 1; i < net.n; i++)
		if (digest_of(i) != digest_of(0))
			return false;
	return true;
}

static void print_all(void)
{
	for (unsigned i = 0; i < net.n; i++) {
		const struct member *member = &net.members[i];

		printf("# member %u: %" PRIu64 " octets, floors", i,
			triad_history_rings_octets(&member->all));
		for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
			printf(" %" PRIu64 "/%" PRIu64, member->all.floor_us[tier],
				member->all.told_floor_us[tier]);
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

static bool run_until_equal(unsigned max_s)
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

static void run_for(uint64_t us)
{
	uint64_t until_us = net.now_us + us;

	while (net.now_us < until_us)
		tick();
}

/* Not by its size: it is what counts, and no more. */
static void check_room(void)
{
	for (unsigned i = 0; i < net.n; i++)
		ck_assert_uint_le(triad_history_rings_octets(&net.members[i].all),
			net.limits.max_octets + MAX_SIZE * 3);
}

static const struct triad_history_limits roomy = {
	.max_octets = 100u << 20, .keep_us = 3600 * TRIAD_US_PER_S};

/* --- cases --- */

START_TEST(test_mirror_of_one_writer_is_copied)
{
	build(3, 1, &roomy);
	for (unsigned n = 0; n < 100; n++) {
		write_image(0);
		run_for(200 * TRIAD_US_PER_MS);
	}
	ck_assert(run_until_equal(5));
	ck_assert_uint_gt(triad_history_ring_octets(&net.members[0].rings[0]), 50000);
	/* Who has the newest asks nobody, and nobody else is asked for it. */
	ck_assert_uint_eq(net.members[0].n_sent[TRIAD_MIRROR_ASK_LIST], 0);
	ck_assert_uint_eq(net.members[1].n_sent[TRIAD_MIRROR_PIECE] +
			net.members[2].n_sent[TRIAD_MIRROR_PIECE],
		0);
	for (unsigned n = 0; n < 8; n++) {
		run_for(5 * TRIAD_US_PER_S + n * 300 * TRIAD_US_PER_MS);
		write_image(0);
		ck_assert(run_until_equal(1));
	}
	tear_down();
}
END_TEST

/* What is written now does not wait for what is old. */
START_TEST(test_mirror_copies_newest_first)
{
	struct triad_mirror_status status;
	uint64_t behind_us = 0;

	build(2, 2, &roomy);
	stop(1);
	for (unsigned n = 0; n < 3000; n++) {
		net.now_us += 10 * TRIAD_US_PER_S / 16;
		write_image(0);
	}
	net.limits.keep_us = 3600 * TRIAD_US_PER_S;
	start(1);
	deliver_views();
	run_for(3 * TRIAD_US_PER_S);
	for (unsigned n = 0; n < 8; n++) {
		write_image(0);
		run_for(500 * TRIAD_US_PER_MS);
		triad_mirror_status(net.members[1].mirror, &status);
		ck_assert_uint_gt(status.lacking_octets, 0);
		if (status.behind_us > behind_us)
			behind_us = status.behind_us;
	}
	ck_assert_uint_le(behind_us, TRIAD_US_PER_S);
	ck_assert(run_until_equal(60));
	triad_mirror_status(net.members[1].mirror, &status);
	ck_assert_uint_eq(status.behind_us, 0);
	tear_down();
}
END_TEST

/* Nor for what somebody else wrote, who is dead. */
START_TEST(test_mirror_copies_the_living_before_the_dead)
{
	struct triad_mirror_status status;

	build(3, 12, &roomy);
	for (unsigned n = 0; n < 1500; n++)
		write_image(2);
	net.n = 3;
	run_for(30 * TRIAD_US_PER_S);
	stop(1);
	wipe(1);
	stop(2);
	start(1);
	deliver_views();
	run_for(2 * TRIAD_US_PER_S);
	for (unsigned n = 0; n < 4; n++) {
		write_image(0);
		run_for(700 * TRIAD_US_PER_MS);
		triad_mirror_status(net.members[1].mirror, &status);
		ck_assert_uint_gt(status.lacking_octets, 0);
		ck_assert_uint_eq(status.behind_us, 0);
	}
	tear_down();
}
END_TEST

/* Nothing is said but what each has, when all have the same. */
START_TEST(test_mirror_at_rest_says_little)
{
	unsigned n[6] = {0};

	build(3, 3, &roomy);
	for (unsigned i = 0; i < 20; i++)
		write_image(i % 3);
	ck_assert(run_until_equal(20));
	run_for(5 * TRIAD_US_PER_S);
	for (unsigned i = 0; i < 3; i++)
		memset(net.members[i].n_sent, 0, sizeof(n));
	run_for(60 * TRIAD_US_PER_S);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned kind = 0; kind < 6; kind++)
			n[kind] += net.members[i].n_sent[kind];
	ck_assert_uint_le(n[TRIAD_MIRROR_STATE], 3 * 31);
	ck_assert_uint_eq(n[TRIAD_MIRROR_ASK_LIST] + n[TRIAD_MIRROR_LIST] +
			n[TRIAD_MIRROR_ASK] + n[TRIAD_MIRROR_PIECE],
		0);
	tear_down();
}
END_TEST

/* No more is said than is allowed. */
START_TEST(test_mirror_keeps_its_rate)
{
	const uint32_t rate = 20000;

	build(3, 4, &roomy);
	for (unsigned i = 0; i < 3; i++)
		triad_mirror_set_rate(net.members[i].mirror, rate);
	for (unsigned i = 0; i < 3000; i++) {
		net.now_us += TRIAD_US_PER_MS;
		write_image(0);
	}
	run_for(TRIAD_US_PER_S);
	for (unsigned s = 0; s < 10; s++) {
		uint64_t before = net.members[0].n_octets;

		run_for(TRIAD_US_PER_S);
		ck_assert_uint_le(net.members[0].n_octets - before, rate + rate / 10);
	}
	ck_assert_uint_gt(net.members[0].n_octets, rate * 5);
	tear_down();
}
END_TEST

/* One that has less room looks once what it could copy, and not again before there is
 * something new. */
START_TEST(test_mirror_of_less_room_asks_once)
{
	const struct triad_history_limits less = {
		.max_octets = 20000, .keep_us = 3600 * TRIAD_US_PER_S};
	unsigned n_before, n_after;

	build(2, 13, &roomy);
	net.members[1].all.limits = less;
	for (unsigned i = 0; i < 100; i++) {
		write_image(0);
		run_for(20 * TRIAD_US_PER_MS);
	}
	run_for(60 * TRIAD_US_PER_S);
	ck_assert_uint_gt(triad_history_rings_octets(&net.members[0].all), 40000);
	ck_assert_uint_le(triad_history_rings_octets(&net.members[1].all), 20000);
	n_before = net.members[1].n_sent[TRIAD_MIRROR_ASK_LIST];
	run_for(60 * TRIAD_US_PER_S);
	n_after = net.members[1].n_sent[TRIAD_MIRROR_ASK_LIST];
	ck_assert_uint_eq(n_after, n_before);
	tear_down();
}
END_TEST

START_TEST(test_mirror_of_what_is_too_old_is_not_copied)
{
	struct triad_mirror_status status;

	build(2, 14, &roomy);
	stop(1);
	for (unsigned i = 0; i < 20; i++)
		write_image(0);
	run_for(30 * TRIAD_US_PER_S);
	start(1);
	net.members[1].all.limits.keep_us = 10 * TRIAD_US_PER_S;
	deliver_views();
	run_for(10 * TRIAD_US_PER_S);
	triad_mirror_status(net.members[1].mirror, &status);
	ck_assert_uint_eq(status.n_copied, 0);
	ck_assert_uint_gt(status.lacking_octets, 0);
	tear_down();
}
END_TEST

/* One that died is copied from those that have its images, from one of them. */
START_TEST(test_mirror_of_dead_writer_comes_from_others)
{
	build(4, 5, &roomy);
	stop(3);
	for (unsigned n = 0; n < 40; n++)
		write_image(0);
	net.n = 3;
	ck_assert(run_until_equal(20));
	net.n = 4;
	stop(0);
	start(3);
	deliver_views();
	for (unsigned i = 1; i < 3; i++)
		memset(net.members[i].n_sent, 0, sizeof(net.members[i].n_sent));
	run_for(10 * TRIAD_US_PER_S);
	ck_assert_uint_eq(digest_of(1), digest_of(3));
	ck_assert_uint_gt(triad_history_rings_octets(&net.members[3].all), 5000);
	ck_assert_uint_eq(net.members[2].n_sent[TRIAD_MIRROR_PIECE], 0);
	tear_down();
}
END_TEST

/* One that lost its disk has all of it again, what it wrote itself, too. */
START_TEST(test_mirror_of_lost_disk_comes_back)
{
	uint64_t octets;

	build(2, 6, &roomy);
	for (unsigned n = 0; n < 40; n++)
		write_image(n % 2);
	ck_assert(run_until_equal(20));
	octets = triad_history_rings_octets(&net.members[0].all);
	stop(0);
	wipe(0);
	start(0);
	deliver_views();
	write_image(0);
	ck_assert(run_until_equal(20));
	ck_assert_uint_gt(triad_history_rings_octets(&net.members[0].all), octets);
	tear_down();
}
END_TEST

/* A damaged image is counted and not kept; then it is asked for again. */
START_TEST(test_mirror_of_damaged_image_is_refused)
{
	struct triad_mirror_status status;

	build(2, 7, &roomy);
	net.bad = 100;
	write_image(0);
	run_for(5 * TRIAD_US_PER_S);
	triad_mirror_status(net.members[1].mirror, &status);
	ck_assert_uint_eq(status.n_bad, 1);
	ck_assert_uint_eq(triad_history_rings_octets(&net.members[1].all), 0);
	ck_assert_uint_gt(status.behind_for_us, 3 * TRIAD_US_PER_S);
	ck_assert_uint_eq(status.behind_of, id_of(0));
	net.bad = 0;
	ck_assert(run_until_equal(120));
	tear_down();
}
END_TEST

/* A full disk costs what can't be written, and little traffic. */
START_TEST(test_mirror_of_full_disk_waits)
{
	struct triad_mirror_status status;

	build(2, 8, &roomy);
	net.members[1].is_disk_full = true;
	for (unsigned n = 0; n < 20; n++)
		write_image(0);
	run_for(60 * TRIAD_US_PER_S);
	triad_mirror_status(net.members[1].mirror, &status);
	ck_assert_int_eq(status.error, ENOSPC);
	ck_assert_uint_le(status.n_failed, 6);
	net.members[1].is_disk_full = false;
	ck_assert(run_until_equal(90));
	triad_mirror_status(net.members[1].mirror, &status);
	ck_assert_int_eq(status.error, 0);
	tear_down();
}
END_TEST

/* All have the same room, and so the same images, though each reaches its limit at
 * another one. */
START_TEST(test_mirror_of_more_than_has_room_is_the_same)
{
	const struct triad_history_limits tight = {
		.max_octets = 60000, .keep_us = 3600 * TRIAD_US_PER_S};

	for (uint64_t seed = 1; seed <= 10; seed++) {
		build(3, seed, &tight);
		for (unsigned n = 0; n < 200; n++) {
			write_image(n / 50 % 2);
			run_for((10 + pick(400)) * TRIAD_US_PER_MS);
			check_room();
		}
		ck_assert_msg(run_until_equal(120), "seed %" PRIu64, seed);
		ck_assert_uint_gt(
			triad_history_rings_octets(&net.members[2].all), 20000);
		run_for(20 * TRIAD_US_PER_S);
		ck_assert_msg(are_equal(), "seed %" PRIu64, seed);
		tear_down();
	}
}
END_TEST

static void do_harm(void)
{
	unsigned i = pick(net.n);
	struct member *member = &net.members[i];

	switch (pick(8)) {
	case 0:
		for (unsigned j = 0; j < net.n; j++)
			net.members[j].side = pick(2);
		break;
	case 1:
	case 2:
		for (unsigned j = 0; j < net.n; j++)
			net.members[j].side = 0;
		break;
	case 3:
	case 4:
		if (!member->is_up) {
			start(i);
		} else {
			stop(i);
			if (pick(2))
				lose_last(i);
			else if (!pick(3))
				wipe(i);
		}
		break;
	case 5:
		member->is_disk_full = !member->is_disk_full;
		break;
	case 6:
		net.writer = i;
		break;
	default:
		net.lost = pick(2) ? pick(30) : 0;
		net.doubled = pick(20);
		net.late = 1 + pick(30);
		break;
	}
	deliver_views();
}

static void heal(void)
{
	net.lost = pick(2) ? 10 : 0;
	for (unsigned i = 0; i < net.n; i++) {
		if (!net.members[i].is_up)
			start(i);
		net.members[i].side = 0;
		net.members[i].is_disk_full = false;
	}
	deliver_views();
}

/* Row: N10 */
START_TEST(test_mirror_in_storms_becomes_the_same)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		const struct triad_history_limits limits = {
			.max_octets = seed % 3 ? 10u << 20 : 80000,
			.keep_us = 3600 * TRIAD_US_PER_S};

		build(2 + seed % 4, seed, &limits);
		for (unsigned i = 0; i < net.n; i++)
			net.members[i].ahead_us = (int64_t)pick(6000000) - 3000000;
		for (unsigned n = 0; n < 60; n++) {
			if (!pick(4))
				do_harm();
			/* Both sides of a partition may have one that writes. */
			if (net.members[net.writer].is_up)
				write_image(net.writer);
			if (!pick(3) && net.members[0].is_up)
				write_image(0);
			run_for((50 + pick(400)) * TRIAD_US_PER_MS);
			check_room();
		}
		heal();
		ck_assert_msg(run_until_equal(200), "seed %" PRIu64, seed);
		tear_down();
	}
}
END_TEST

/* Octets of anybody: nothing is taken that is none. */
START_TEST(test_mirror_of_noise_stays_as_it_is)
{
	uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE];

	build(2, 11, &roomy);
	write_image(0);
	ck_assert(run_until_equal(10));
	for (unsigned n = 0; n < 100000; n++) {
		size_t size = pick(sizeof(payload) + 1);

		for (size_t i = 0; i < size; i++)
			payload[i] = (uint8_t)random_next(&net.state);
		memcpy(payload, "TrHi\1", 5);
		payload[5] = (uint8_t)(1 + pick(6));
		payload[6] = (uint8_t)pick(4);
		triad_mirror_payload(net.members[1].mirror, id_of(0), payload, size);
		if (n % 100 == 0)
			tick();
	}
	check_room();
	ck_assert_uint_le(net.members[1].all.n, 2);
	tear_down();
}
END_TEST

/* --- a member that lies --- */

static void say(const struct triad_mirror_message *message)
{
	uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE];

	send_all(0, payload, triad_mirror_message_encode(message, payload));
}

/* Each second it has something else. */
static void claim(uint64_t floor_us)
{
	struct triad_mirror_message message = {.kind = TRIAD_MIRROR_STATE,
		.state = {.max_octets = net.limits.max_octets,
			.n = 1,
			.owned[0] = {.port_guid = id_of(0),
				.octets = 1000000,
				.newest_us = START_US + net.now_us,
				.digests = {net.now_us, net.now_us, net.now_us}}}};

	if (net.now_us < net.lied_us + TRIAD_US_PER_S)
		return;
	net.lied_us = net.now_us;
	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
		message.state.floor_us[tier] = floor_us;
	say(&message);
}

static void list_without_end(const struct triad_mirror_message *asked)
{
	struct triad_mirror_message message = {.kind = TRIAD_MIRROR_LIST};

	claim(0);
	if (!asked || asked->kind != TRIAD_MIRROR_ASK_LIST)
		return;
	message.tier = asked->tier;
	message.owner = asked->owner;
	message.before_us = asked->before_us;
	/* Of the far future: there are many of these. */
	for (uint32_t i = 0; i < TRIAD_MIRROR_LIST_ROOM; i++)
		message.list.listed[message.list.n++] = (struct triad_mirror_listed){
			.begun_us = asked->before_us - 1 - i,
			.octets = UINT64_MAX,
			.last_us = UINT64_MAX};
	say(&message);
}

static void list_nothing(const struct triad_mirror_message *asked)
{
	struct triad_mirror_message message = {.kind = TRIAD_MIRROR_LIST};

	claim(0);
	if (!asked || asked->kind != TRIAD_MIRROR_ASK_LIST)
		return;
	message.tier = asked->tier;
	message.owner = asked->owner;
	message.before_us = asked->before_us;
	message.list.is_last = true;
	say(&message);
}

static void answer_nothing(const struct triad_mirror_message *asked)
{
	(void)asked;
	claim(0);
}

/* A piece now and then of the largest image that there may be. */
static void give_a_huge_image(const struct triad_mirror_message *asked)
{
	static struct triad_mirror_message piece;
	static uint8_t octets[TRIAD_MIRROR_PIECE_SIZE];
	static uint64_t said_us;
	struct triad_mirror_message message = {.kind = TRIAD_MIRROR_LIST};

	claim(0);
	if (asked && asked->kind == TRIAD_MIRROR_ASK_LIST) {
		message.tier = asked->tier;
		message.owner = asked->owner;
		message.before_us = asked->before_us;
		message.list.n = 1;
		message.list.is_last = true;
		message.list.listed[0].begun_us = START_US + net.now_us;
		message.list.listed[0].octets = UINT64_MAX;
		message.list.listed[0].last_us = START_US + net.now_us;
		say(&message);
	} else if (asked) {
		piece = *asked;
		piece.kind = TRIAD_MIRROR_PIECE;
		piece.image.size = TRIAD_MIRROR_MAX_IMAGE;
		piece.octets = octets;
		piece.n_octets = sizeof(octets);
	} else if (piece.kind && net.now_us > said_us + 900 * TRIAD_US_PER_MS) {
		said_us = net.now_us;
		say(&piece);
		piece.piece++;
	}
}

/* Whoever lies first, what others have is copied: all that one of them writes. */
static void copy_beside(
	void (*lie)(const struct triad_mirror_message *asked), unsigned max_s)
{
	build(3, 15, &roomy);
	net.lie = lie;
	run_for(3 * TRIAD_US_PER_S);
	for (unsigned n = 0; n < 100; n++) {
		write_tier(&net.members[1], TRIAD_HISTORY_SWEEPS);
		write_tier(&net.members[1], TRIAD_HISTORY_HOURS);
	}
	for (unsigned s = 0; s < max_s && digest_of(1) != digest_of(2); s++)
		run_for(TRIAD_US_PER_S);
	ck_assert_uint_eq(digest_of(1), digest_of(2));
	tear_down();
}

START_TEST(test_mirror_beside_one_that_lies_copies_from_others)
{
	copy_beside(answer_nothing, 120);
	copy_beside(list_nothing, 120);
	copy_beside(list_without_end, 120);
}
END_TEST

START_TEST(test_mirror_gives_up_an_image_that_does_not_come)
{
	copy_beside(give_a_huge_image, 1300);
}
END_TEST

static void spoil(const struct triad_mirror_message *asked)
{
	const struct triad_history_ring *ring = &net.members[1].rings[0];
	static uint8_t octets[TRIAD_MIRROR_PIECE_SIZE];
	struct triad_mirror_message message = {
		.kind = TRIAD_MIRROR_PIECE, .octets = octets};

	if (asked || !ring->tiers[0].n)
		return;
	message.owner = id_of(1);
	message.image = (struct triad_mirror_image){.owner = id_of(1),
		.begun_us = ring->tiers[0].segments[0].begun_us,
		.size = (uint32_t)ring->tiers[0].segments[0].entries[0].size};
	message.n_octets = triad_mirror_piece_size(message.image.size, 0);
	say(&message);
}

START_TEST(test_mirror_takes_pieces_of_whom_it_asked)
{
	struct triad_mirror_status status;

	build(3, 16, &roomy);
	net.lie = spoil;
	write_tier(&net.members[1], TRIAD_HISTORY_SWEEPS);
	run_for(5 * TRIAD_US_PER_S);
	triad_mirror_status(net.members[2].mirror, &status);
	ck_assert_uint_eq(status.n_bad, 0);
	ck_assert_uint_eq(digest_of(1), digest_of(2));
	tear_down();
}
END_TEST

static unsigned n_asked;

/* Names that are those of the same file. */
static void list_parts_of_a_millisecond(const struct triad_mirror_message *asked)
{
	struct triad_mirror_message message = {.kind = TRIAD_MIRROR_LIST};

	claim(0);
	n_asked += asked && asked->kind == TRIAD_MIRROR_ASK;
	if (!asked || asked->kind != TRIAD_MIRROR_ASK_LIST)
		return;
	message.tier = asked->tier;
	message.owner = asked->owner;
	message.before_us = asked->before_us;
	message.list.is_last = true;
	for (unsigned i = 0; i < 2; i++)
		message.list.listed[message.list.n++] =
			(struct triad_mirror_listed){.begun_us = START_US + 2 - i,
				.octets = 1000,
				.last_us = START_US + net.now_us};
	say(&message);
}

START_TEST(test_mirror_takes_no_name_twice)
{
	build(2, 18, &roomy);
	net.lie = list_parts_of_a_millisecond;
	n_asked = 0;
	run_for(5 * TRIAD_US_PER_S);
	ck_assert_uint_gt(net.members[1].n_sent[TRIAD_MIRROR_ASK_LIST], 0);
	ck_assert_uint_eq(n_asked, 0);
	tear_down();
}
END_TEST

static uint64_t lied_floor_us;

static void tell_floor(const struct triad_mirror_message *asked)
{
	(void)asked;
	claim(lied_floor_us);
}

/* A clock that is wrong by years costs the others nothing; whatever a floor is, it leaves
 * half of what has room. */
START_TEST(test_mirror_of_floors_that_can_not_be_keeps_images)
{
	const struct triad_history_limits tight = {
		.max_octets = 60000, .keep_us = 3600 * TRIAD_US_PER_S};
	uint64_t octets;

	build(2, 17, &tight);
	while (triad_history_rings_octets(&net.members[1].all) < 50000) {
		write_tier(&net.members[1], TRIAD_HISTORY_HOURS);
		run_for(TRIAD_US_PER_S);
	}
	octets = triad_history_rings_octets(&net.members[1].all);
	net.lie = tell_floor;
	lied_floor_us = UINT64_MAX;
	run_for(5 * TRIAD_US_PER_S);
	ck_assert_uint_eq(triad_history_rings_octets(&net.members[1].all), octets);
	lied_floor_us = START_US + net.now_us;
	run_for(5 * TRIAD_US_PER_S);
	octets = triad_history_rings_octets(&net.members[1].all);
	ck_assert_uint_le(octets, tight.max_octets / 2);
	ck_assert_uint_gt(octets, tight.max_octets / 4);
	tear_down();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("mirror");

	tcase_add_test(cases, test_mirror_of_one_writer_is_copied);
	tcase_add_test(cases, test_mirror_copies_newest_first);
	tcase_add_test(cases, test_mirror_copies_the_living_before_the_dead);
	tcase_add_test(cases, test_mirror_at_rest_says_little);
	tcase_add_test(cases, test_mirror_keeps_its_rate);
	tcase_add_test(cases, test_mirror_of_less_room_asks_once);
	tcase_add_test(cases, test_mirror_of_what_is_too_old_is_not_copied);
	tcase_add_test(cases, test_mirror_of_dead_writer_comes_from_others);
	tcase_add_test(cases, test_mirror_of_lost_disk_comes_back);
	tcase_add_test(cases, test_mirror_of_damaged_image_is_refused);
	tcase_add_test(cases, test_mirror_of_full_disk_waits);
	tcase_add_test(cases, test_mirror_of_more_than_has_room_is_the_same);
	tcase_add_test(cases, test_mirror_in_storms_becomes_the_same);
	tcase_add_test(cases, test_mirror_of_noise_stays_as_it_is);
	tcase_add_test(cases, test_mirror_beside_one_that_lies_copies_from_others);
	tcase_add_test(cases, test_mirror_gives_up_an_image_that_does_not_come);
	tcase_add_test(cases, test_mirror_takes_pieces_of_whom_it_asked);
	tcase_add_test(cases, test_mirror_takes_no_name_twice);
	tcase_add_test(cases, test_mirror_of_floors_that_can_not_be_keeps_images);
	return run_cases(cases);
}
