/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A member that lies, or whose clock is wrong, doesn't keep the others from copying
 * each other's images. */
#include "lib/pieces.h"
#include "tests/unit/history/mirror_net.h"

static void send_lie(const struct triad_mirror_message *message)
{
	uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE];

	send_all(0, payload, triad_mirror_message_encode(message, payload));
}

/* Claims other images each second. */
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
	send_lie(&message);
}

/* Begins the answer to a request for a list; false: it is no such request. */
static bool begin_list(
	const struct triad_mirror_message *asked, struct triad_mirror_message *message)
{
	claim(0);
	if (!asked || asked->kind != TRIAD_MIRROR_ASK_LIST)
		return false;
	*message = (struct triad_mirror_message){.kind = TRIAD_MIRROR_LIST,
		.tier = asked->tier,
		.owner = asked->owner,
		.before_us = asked->before_us};
	return true;
}

static void list_without_end(const struct triad_mirror_message *asked)
{
	struct triad_mirror_message message;

	if (!begin_list(asked, &message))
		return;
	/* The list contains many images of the far future. */
	for (uint32_t i = 0; i < TRIAD_MIRROR_LIST_ROOM; i++)
		message.list.listed[message.list.n++] = (struct triad_mirror_listed){
			.begun_us = asked->before_us - 1 - i,
			.octets = UINT64_MAX,
			.last_us = UINT64_MAX};
	send_lie(&message);
}

static void list_nothing(const struct triad_mirror_message *asked)
{
	struct triad_mirror_message message;

	if (!begin_list(asked, &message))
		return;
	message.list.is_last = true;
	send_lie(&message);
}

static void answer_nothing(const struct triad_mirror_message *asked)
{
	(void)asked;
	claim(0);
}

/* Sometimes sends a piece of an image of the maximal size. */
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
		send_lie(&message);
	} else if (asked) {
		piece = *asked;
		piece.kind = TRIAD_MIRROR_PIECE;
		piece.image.size = TRIAD_MIRROR_MAX_IMAGE;
		piece.octets = octets;
		piece.n_octets = sizeof(octets);
	} else if (piece.kind && net.now_us > said_us + 900 * TRIAD_US_PER_MS) {
		said_us = net.now_us;
		send_lie(&piece);
		piece.piece++;
	}
}

/* Checks that members copy all images of an honest writer beside a liar. */
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
	message.n_octets =
		triad_pieces_octets_of(message.image.size, TRIAD_MIRROR_PIECE_SIZE, 0);
	send_lie(&message);
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

/* Lists images whose times give the same file name. */
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
	send_lie(&message);
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

static void send_floor(const struct triad_mirror_message *asked)
{
	(void)asked;
	claim(lied_floor_us);
}

/* A clock that is wrong by years costs the others no images.  Whatever floor a member
 * claims, it makes others remove images only down to half of their limit. */
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
	net.lie = send_floor;
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
	TCase *cases = tcase_create("mirror_lies");

	tcase_add_test(cases, test_mirror_beside_one_that_lies_copies_from_others);
	tcase_add_test(cases, test_mirror_gives_up_an_image_that_does_not_come);
	tcase_add_test(cases, test_mirror_takes_pieces_of_whom_it_asked);
	tcase_add_test(cases, test_mirror_takes_no_name_twice);
	tcase_add_test(cases, test_mirror_of_floors_that_can_not_be_keeps_images);
	return run_cases(cases);
}
