/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>

#include "tests/unit/portmgr/cluster_fixture.h"

#define ID UINT64_C(0x0002c90300001234)

static struct fixture fixture;

static void start(void)
{
	const struct triad_cluster_sink sink = fixture_sink(&fixture);

	fixture.cluster = triad_cluster_alone_new(ID, &sink);
	ck_assert_ptr_nonnull(fixture.cluster);
	fixture_wait(fixture_view(&fixture).number);
}

START_TEST(test_view_alone_is_this_member_and_a_majority)
{
	start();
	ck_assert_str_eq(fixture.cluster->ops->name, "none");
	ck_assert(fixture.view.is_connected && fixture.view.is_quorate);
	ck_assert_uint_eq(fixture.view.n_members, 1);
	ck_assert_uint_eq(fixture.view.members[0], ID);
	ck_assert_uint_eq(fixture.view.n_votes_needed, 1);
	fixture_end(&fixture);
	ck_assert_uint_eq(fixture.n_views, 1);
}
END_TEST

START_TEST(test_payloads_sent_come_back_once_in_order)
{
	const unsigned n = 1000;
	char text[16];

	start();
	for (unsigned i = 0; i < n;) {
		snprintf(text, sizeof(text), "%u", i);
		i += fixture_send(&fixture, text) == 0;
	}
	fixture_wait(fixture_n_messages(&fixture) == n);
	for (unsigned i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%u", i);
		ck_assert_str_eq(fixture.messages[i].text, text);
		ck_assert_uint_eq(fixture.messages[i].sender, ID);
		ck_assert_uint_eq(fixture.messages[i].n_views, 1);
	}
	ck_assert_uint_eq(fixture_status(&fixture).n_sent, n);
	ck_assert_uint_eq(fixture_status(&fixture).n_received, n);
	fixture_end(&fixture);
	ck_assert_uint_eq(fixture.n_messages, n);
}
END_TEST

START_TEST(test_payload_sizes_at_the_bound)
{
	static const uint8_t large[TRIAD_CLUSTER_PAYLOAD_SIZE + 1];
	struct triad_cluster *cluster;

	start();
	cluster = fixture.cluster;
	ck_assert_int_eq(cluster->ops->send(cluster, large, sizeof(large)), EMSGSIZE);
	ck_assert_int_eq(cluster->ops->send(cluster, large, sizeof(large) - 1), 0);
	ck_assert_int_eq(cluster->ops->send(cluster, NULL, 0), 0);
	fixture_wait(fixture_n_messages(&fixture) == 2);
	ck_assert_uint_eq(fixture_status(&fixture).n_send_failed, 1);
	fixture_end(&fixture);
}
END_TEST

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void take_when_let(
	void *context, uint64_t sender, const void *payload, size_t size)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	fixture_take_message(context, sender, payload, size);
}

START_TEST(test_queue_full_refused_and_what_hangs_is_left)
{
	struct triad_cluster_sink sink = fixture_sink(&fixture);
	unsigned n = 0;

	sink.message = take_when_let;
	fixture.cluster = triad_cluster_alone_new(ID, &sink);
	fixture_wait(fixture_view(&fixture).number);
	pthread_mutex_lock(&held);
	ck_assert_int_eq(fixture_send(&fixture, "x"), 0);
	/* The transport's thread hangs in the first message. */
	fixture_wait(fixture_status(&fixture).n_received == 1);
	while (fixture_send(&fixture, "x") != ENOBUFS)
		n++;
	ck_assert_uint_eq(n, 64);
	ck_assert_uint_eq(fixture_status(&fixture).n_send_failed, 1);
	ck_assert(!fixture.cluster->ops->free(fixture.cluster));
	pthread_mutex_unlock(&held);
	/* The thread delivers the message in which it hung, and no other. */
	fixture_wait(fixture_n_messages(&fixture) == 1);
	usleep(20000);
	ck_assert_uint_eq(fixture_n_messages(&fixture), 1);
}
END_TEST

/* The transport accepts a spare payload only when no other waits.  A refused one
 * doesn't count as a failure. */
START_TEST(test_payload_that_can_wait_is_behind_all_others)
{
	struct triad_cluster_sink sink = fixture_sink(&fixture);
	struct triad_cluster *cluster;

	sink.message = take_when_let;
	cluster = fixture.cluster = triad_cluster_alone_new(ID, &sink);
	fixture_wait(fixture_view(&fixture).number);
	pthread_mutex_lock(&held);
	ck_assert_int_eq(cluster->ops->send_spare(cluster, "a", 1), 0);
	fixture_wait(fixture_status(&fixture).n_received == 1);
	ck_assert_int_eq(fixture_send(&fixture, "b"), 0);
	ck_assert_int_eq(cluster->ops->send_spare(cluster, "c", 1), EAGAIN);
	ck_assert_int_eq(fixture_send(&fixture, "d"), 0);
	ck_assert_uint_eq(fixture_status(&fixture).n_send_failed, 0);
	pthread_mutex_unlock(&held);
	fixture_wait(fixture_n_messages(&fixture) == 3);
	ck_assert_int_eq(cluster->ops->send_spare(cluster, "e", 1), 0);
	fixture_wait(fixture_n_messages(&fixture) == 4);
	fixture_end(&fixture);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("alone");

	tcase_add_test(cases, test_view_alone_is_this_member_and_a_majority);
	tcase_add_test(cases, test_payloads_sent_come_back_once_in_order);
	tcase_add_test(cases, test_payload_sizes_at_the_bound);
	tcase_add_test(cases, test_payload_that_can_wait_is_behind_all_others);
	tcase_add_test(cases, test_queue_full_refused_and_what_hangs_is_left);
	return run_cases(cases);
}
