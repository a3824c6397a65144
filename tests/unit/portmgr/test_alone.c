/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>

#include "tests/unit/portmgr/cluster_bed.h"

#define ID UINT64_C(0x0002c90300001234)

static struct bed bed;

static void start(void)
{
	const struct triad_cluster_sink sink = bed_sink(&bed);

	bed.cluster = triad_cluster_alone_new(ID, &sink);
	ck_assert_ptr_nonnull(bed.cluster);
	bed_wait(bed_view(&bed).number);
}

START_TEST(test_view_alone_is_this_member_and_a_majority)
{
	start();
	ck_assert_str_eq(bed.cluster->ops->name, "none");
	ck_assert(bed.view.is_connected && bed.view.is_quorate);
	ck_assert_uint_eq(bed.view.n_members, 1);
	ck_assert_uint_eq(bed.view.members[0], ID);
	ck_assert_uint_eq(bed.view.n_votes_needed, 1);
	bed_end(&bed);
	ck_assert_uint_eq(bed.n_views, 1);
}
END_TEST

START_TEST(test_payloads_sent_come_back_once_in_order)
{
	const unsigned n = 1000;
	char text[16];

	start();
	for (unsigned i = 0; i < n;) {
		snprintf(text, sizeof(text), "%u", i);
		i += bed_send(&bed, text) == 0;
	}
	bed_wait(bed_n_messages(&bed) == n);
	for (unsigned i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%u", i);
		ck_assert_str_eq(bed.messages[i].text, text);
		ck_assert_uint_eq(bed.messages[i].sender, ID);
		ck_assert_uint_eq(bed.messages[i].n_views, 1);
	}
	ck_assert_uint_eq(bed_status(&bed).n_sent, n);
	ck_assert_uint_eq(bed_status(&bed).n_received, n);
	bed_end(&bed);
	ck_assert_uint_eq(bed.n_messages, n);
}
END_TEST

START_TEST(test_payload_sizes_at_the_bound)
{
	static const uint8_t large[TRIAD_CLUSTER_PAYLOAD_SIZE + 1];
	struct triad_cluster *cluster;

	start();
	cluster = bed.cluster;
	ck_assert_int_eq(cluster->ops->send(cluster, large, sizeof(large)), EMSGSIZE);
	ck_assert_int_eq(cluster->ops->send(cluster, large, sizeof(large) - 1), 0);
	ck_assert_int_eq(cluster->ops->send(cluster, NULL, 0), 0);
	bed_wait(bed_n_messages(&bed) == 2);
	ck_assert_uint_eq(bed_status(&bed).n_send_failed, 1);
	bed_end(&bed);
}
END_TEST

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void take_when_let(
	void *context, uint64_t sender, const void *payload, size_t size)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	bed_take_message(context, sender, payload, size);
}

START_TEST(test_queue_full_refused_and_what_hangs_is_left)
{
	struct triad_cluster_sink sink = bed_sink(&bed);
	unsigned n = 0;

	sink.message = take_when_let;
	bed.cluster = triad_cluster_alone_new(ID, &sink);
	bed_wait(bed_view(&bed).number);
	pthread_mutex_lock(&held);
	ck_assert_int_eq(bed_send(&bed, "x"), 0);
	bed_wait(bed_status(&bed).n_received == 1); /* where it hangs */
	while (bed_send(&bed, "x") != ENOBUFS)
		n++;
	ck_assert_uint_eq(n, 64);
	ck_assert_uint_eq(bed_status(&bed).n_send_failed, 1);
	ck_assert(!bed.cluster->ops->free(bed.cluster));
	pthread_mutex_unlock(&held);
	/* What it was in is all that comes. */
	bed_wait(bed_n_messages(&bed) == 1);
	usleep(20000);
	ck_assert_uint_eq(bed_n_messages(&bed), 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("alone");

	tcase_add_test(cases, test_view_alone_is_this_member_and_a_majority);
	tcase_add_test(cases, test_payloads_sent_come_back_once_in_order);
	tcase_add_test(cases, test_payload_sizes_at_the_bound);
	tcase_add_test(cases, test_queue_full_refused_and_what_hangs_is_left);
	return run_cases(cases);
}
