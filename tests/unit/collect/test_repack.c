/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/nats/repack.h"

#include <errno.h>
#include <string.h>

#include "tests/sim/fabrics.h"
#include "tests/sim/fat_tree.h"
#include "tests/unit/run.h"

#define MAX_MESSAGES 16u

static const struct triad_collect_head head = {
	.kind = TRIAD_COLLECT_TOPOLOGY, .sender = 5, .incarnation = 6};
static uint8_t octets[TRIAD_COLLECT_MAX_SIZE];

/* Messages that were given out. */
static struct {
	size_t size;
	uint8_t octets[TRIAD_COLLECT_MAX_SIZE];
} messages[MAX_MESSAGES];
static unsigned n_messages;

static struct triad_topology_octets encode(struct triad_fabric *fabric)
{
	struct triad_topology_octets encoded;

	ck_assert_int_eq(triad_topology_encode(fabric, &encoded), 0);
	triad_fabric_unref(fabric);
	return encoded;
}

static bool put_piece(struct triad_repack *repack, uint64_t sender,
	const struct triad_topology_octets *whole, unsigned piece)
{
	size_t size =
		triad_topology_write_piece(whole, piece, &head, octets, sizeof(octets));

	return triad_repack_put(repack, sender, octets, size);
}

static void take_messages(struct triad_repack *repack)
{
	n_messages = 0;
	while ((messages[n_messages].size =
			triad_repack_next(repack, messages[n_messages].octets)))
		ck_assert_uint_lt(++n_messages, MAX_MESSAGES);
}

static void put_all(struct triad_repack *repack,
	const struct triad_topology_octets *whole, uint64_t sender)
{
	for (unsigned i = triad_topology_n_pieces(whole); i-- > 0;)
		ck_assert(put_piece(repack, sender, whole, i));
	take_messages(repack);
}

/* What the messages that were taken say together. */
static struct triad_topology_octets join_messages(void)
{
	struct triad_topology_pieces *pieces = triad_topology_pieces_new();
	struct triad_topology_octets whole = {0};
	struct triad_collect_head found;
	struct triad_wire body;

	ck_assert_uint_gt(n_messages, 0);
	for (unsigned i = 0; i < n_messages; i++) {
		ck_assert_int_eq(triad_collect_get_head(messages[i].octets,
					 messages[i].size, &found, &body),
			TRIAD_COLLECT_HEAD_GOOD);
		ck_assert_uint_eq(found.sender, head.sender);
		ck_assert_uint_eq(found.incarnation, head.incarnation);
		ck_assert_int_eq(triad_topology_pieces_add(pieces, &body, 0, &whole),
			i + 1 < n_messages ? EAGAIN : 0);
	}
	triad_topology_pieces_free(pieces);
	return whole;
}

static void check_equal(
	const struct triad_topology_octets *a, const struct triad_topology_octets *b)
{
	ck_assert_uint_eq(a->hash, b->hash);
	ck_assert_uint_eq(a->size, b->size);
	ck_assert_uint_eq(a->n_octets, b->n_octets);
	ck_assert_mem_eq(a->octets, b->octets, a->n_octets);
}

START_TEST(test_fabric_is_packed_for_the_broker_and_unpacked_behind_it)
{
	struct triad_repack packing = {.packs = true}, unpacking = {0};
	struct triad_topology_octets plain = encode(fat_tree(24)), packed, again;

	ck_assert_uint_gt(triad_topology_n_pieces(&plain), 1);
	put_all(&packing, &plain, 0);
	packed = join_messages();
	ck_assert(triad_topology_is_packed(packed.octets, packed.n_octets));
	ck_assert_uint_lt(packed.n_octets, plain.n_octets / 2);
	ck_assert_uint_eq(packed.hash, plain.hash);
	put_all(&unpacking, &packed, 5);
	again = join_messages();
	check_equal(&plain, &again);
	/* What has the form already passes. */
	triad_topology_octets_free(&again);
	put_all(&packing, &packed, 0);
	again = join_messages();
	check_equal(&packed, &again);
	triad_topology_octets_free(&again);
	put_all(&unpacking, &plain, 5);
	again = join_messages();
	check_equal(&plain, &again);
	ck_assert_uint_eq(packing.n_lost + unpacking.n_lost, 0);
	triad_topology_octets_free(&plain);
	triad_topology_octets_free(&packed);
	triad_topology_octets_free(&again);
	triad_repack_clear(&packing);
	triad_repack_clear(&unpacking);
}
END_TEST

START_TEST(test_fabrics_of_two_managers_at_the_same_time_both_come)
{
	struct triad_repack unpacking = {0};
	struct triad_topology_octets one = encode(fat_tree(24)),
				     other = encode(fat_tree(22)), found;

	/* Of the fabric that is complete, the last piece comes last. */
	for (unsigned i = 0; i < triad_topology_n_pieces(&one); i++) {
		ck_assert(put_piece(&unpacking, 1, &one, i));
		if (i + 1 < triad_topology_n_pieces(&other))
			ck_assert(put_piece(&unpacking, 2, &other, i));
	}
	take_messages(&unpacking);
	found = join_messages();
	check_equal(&one, &found);
	triad_topology_octets_free(&found);
	ck_assert(
		put_piece(&unpacking, 2, &other, triad_topology_n_pieces(&other) - 1));
	take_messages(&unpacking);
	found = join_messages();
	check_equal(&other, &found);
	triad_topology_octets_free(&found);
	triad_topology_octets_free(&one);
	triad_topology_octets_free(&other);
	triad_repack_clear(&unpacking);
}
END_TEST

START_TEST(test_memory_is_of_the_senders_that_were_heard_last)
{
	struct triad_repack unpacking = {0};
	struct triad_topology_octets plain = encode(fat_tree(24)), found;

	/* More managers than have room, each with its first piece. */
	for (uint64_t sender = 1; sender <= 3 * TRIAD_REPACK_SENDERS; sender++)
		ck_assert(put_piece(&unpacking, sender, &plain, 0));
	for (unsigned i = 1; i < triad_topology_n_pieces(&plain); i++)
		ck_assert(put_piece(&unpacking, 3 * TRIAD_REPACK_SENDERS, &plain, i));
	take_messages(&unpacking);
	found = join_messages();
	check_equal(&plain, &found);
	triad_topology_octets_free(&found);
	triad_topology_octets_free(&plain);
	triad_repack_clear(&unpacking);
}
END_TEST

START_TEST(test_other_messages_pass_and_malformed_ones_too)
{
	const struct triad_collect_head other = {
		.kind = TRIAD_COLLECT_WANT_TOPOLOGY, .sender = 5, .incarnation = 6};
	struct triad_repack packing = {.packs = true};
	struct triad_topology_octets plain = encode(fabric_row(3, 2));
	struct triad_wire w;

	triad_wire_init(&w, octets, sizeof(octets));
	triad_collect_put_head(&w, &other);
	ck_assert(!triad_repack_put(&packing, 0, octets, w.at));
	ck_assert(!triad_repack_put(&packing, 0, octets, 3));
	plain.size = 1; /* too small for a fabric */
	ck_assert(!put_piece(&packing, 0, &plain, 0));
	take_messages(&packing);
	ck_assert_uint_eq(n_messages, 0);
	triad_topology_octets_free(&plain);
	triad_repack_clear(&packing);
}
END_TEST

START_TEST(test_fabric_that_can_not_be_unpacked_is_lost_and_counted)
{
	struct triad_repack unpacking = {0};
	struct triad_topology_octets plain = encode(fabric_row(3, 2)), packed;

	ck_assert_int_eq(triad_topology_pack(&plain, &packed), 0);
	for (unsigned i = 0; i < 3; i++) {
		struct triad_topology_octets bad = packed;

		bad.size += i == 0;
		bad.hash += i == 1;
		bad.n_octets -= i == 2;
		ck_assert(put_piece(&unpacking, 5, &bad, 0));
		take_messages(&unpacking);
		ck_assert_uint_eq(n_messages, 0);
		ck_assert_uint_eq(unpacking.n_lost, i + 1);
	}
	triad_topology_octets_free(&plain);
	triad_topology_octets_free(&packed);
	triad_repack_clear(&unpacking);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("repack");

	tcase_add_test(
		cases, test_fabric_is_packed_for_the_broker_and_unpacked_behind_it);
	tcase_add_test(cases, test_fabrics_of_two_managers_at_the_same_time_both_come);
	tcase_add_test(cases, test_memory_is_of_the_senders_that_were_heard_last);
	tcase_add_test(cases, test_other_messages_pass_and_malformed_ones_too);
	tcase_add_test(cases, test_fabric_that_can_not_be_unpacked_is_lost_and_counted);
	return run_cases(cases);
}
