/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* After all faults of mirror_net.h, all SMs have the same images in the end. */
#include "tests/unit/history/mirror_net.h"

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
	/* The member with the newest images asks no other, and only it sends them. */
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

/* Members copy new images before old ones. */
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

/* Members copy images of a live writer before those of a dead one. */
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

/* When all have the same images, members send only their states. */
START_TEST(test_mirror_at_rest_sends_little)
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

/* Members don't exceed the allowed rate. */
START_TEST(test_mirror_keeps_its_rate)
{
	const uint32_t rate = 20000;

	mirror_rate = rate;
	build(3, 4, &roomy);
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
	mirror_rate = RATE;
}
END_TEST

/* A member with less room asks once for lists of images, and again only when there is a
 * new image. */
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

/* Images of a dead member are copied from one of the members that have them. */
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

/* A member that lost its disk gets all images back, including its own. */
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

/* A damaged image is counted, discarded, and requested again. */
START_TEST(test_mirror_of_damaged_image_is_refused)
{
	struct triad_mirror_status status;

	build(2, 7, &roomy);
	net.damaged = 100;
	write_image(0);
	run_for(5 * TRIAD_US_PER_S);
	triad_mirror_status(net.members[1].mirror, &status);
	ck_assert_uint_eq(status.n_bad, 1);
	ck_assert_uint_eq(triad_history_rings_octets(&net.members[1].all), 0);
	ck_assert_uint_gt(status.behind_for_us, 3 * TRIAD_US_PER_S);
	ck_assert_uint_eq(status.behind_of, id_of(0));
	net.damaged = 0;
	ck_assert(run_until_equal(120));
	tear_down();
}
END_TEST

/* With a full disk a member copies nothing and causes little traffic. */
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

/* Members with equal limits keep the same images, although each reaches its limit at a
 * different image. */
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
			/* Both sides of a partition may have a writer. */
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

/* Random octets from any sender never become an image. */
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

int main(void)
{
	TCase *cases = tcase_create("mirror");

	tcase_add_test(cases, test_mirror_of_one_writer_is_copied);
	tcase_add_test(cases, test_mirror_copies_newest_first);
	tcase_add_test(cases, test_mirror_copies_the_living_before_the_dead);
	tcase_add_test(cases, test_mirror_at_rest_sends_little);
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
	return run_cases(cases);
}
