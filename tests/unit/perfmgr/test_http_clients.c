/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perfmgr/export/http_clients.h"
#include "tests/unit/run.h"

#define MAX 8
#define S UINT64_C(1000000)

static struct triad_http_clients clients;
static uint64_t now_us;

static void setup(void)
{
	const struct triad_http_times times = {10 * S, 30 * S, 300 * S};

	clients = (struct triad_http_clients){0};
	now_us = 1000 * S;
	ck_assert(triad_http_clients_init(&clients, MAX, &times));
}

static void teardown(void)
{
	triad_http_clients_clear(&clients);
}

static struct sockaddr_in6 address_of(const char *text)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6};

	ck_assert_int_eq(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
	return address;
}

/* Simulates a connection from that address; returns the result of wait(). */
static int come(const char *from)
{
	struct sockaddr_in6 address = address_of(from);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int surplus = triad_http_clients_wait(
		&clients, fd, (struct sockaddr *)&address, sizeof(address), now_us);

	if (surplus >= 0)
		close(surplus);
	return surplus;
}

/* Accepts all waiting connections that are allowed.  As libmicrohttpd does, closes at
 * once those that were cut off. */
static unsigned let_in(void)
{
	struct triad_http_waiting next;
	unsigned n = 0;

	for (; triad_http_clients_next(&clients, now_us, &next); n++) {
		ck_assert(triad_http_clients_add(
			&clients, (struct sockaddr *)&next.address, next.fd, now_us));
		close(next.fd);
		for (unsigned i = 0; i < MAX + TRIAD_HTTP_CUT_ROOM; i++)
			if (clients.clients[i].used && clients.clients[i].cut)
				triad_http_clients_remove(
					&clients, &clients.clients[i]);
	}
	return n;
}

static unsigned come_in(const char *from)
{
	come(from);
	return let_in();
}

/* The number of connections from addresses with the same first 'n' octets. */
static unsigned count(const char *from, size_t n)
{
	struct sockaddr_in6 address = address_of(from);
	unsigned sum = 0;

	for (unsigned i = 0; i < MAX + TRIAD_HTTP_CUT_ROOM; i++)
		sum += clients.clients[i].used && !clients.clients[i].cut &&
			!memcmp(clients.clients[i].network, address.sin6_addr.s6_addr,
				n);
	return sum;
}

START_TEST(test_one_prefix_many_addresses_half_of_the_connections)
{
	char from[64];

	for (unsigned i = 0; i < 20; i++) {
		snprintf(from, sizeof(from), "2001:db8:1:2::%x", i + 1);
		come_in(from);
	}
	ck_assert_uint_eq(clients.n, MAX / 2);
	ck_assert_uint_eq(come_in("2001:db8:1:3::1"), 1);
}
END_TEST

START_TEST(test_ipv4_each_address_is_one)
{
	for (unsigned i = 0; i < 20; i++)
		come_in("::ffff:10.0.0.1");
	ck_assert_uint_eq(clients.n, MAX / 2);
	ck_assert_uint_eq(come_in("::ffff:10.0.0.2"), 1);
}
END_TEST

START_TEST(test_two_that_idle_third_comes_in)
{
	for (unsigned i = 0; i < 20; i++) {
		come_in("::ffff:10.0.0.1");
		come_in("::ffff:10.0.0.2");
	}
	ck_assert_uint_eq(clients.n, MAX);
	ck_assert_uint_eq(come_in("::ffff:10.0.0.3"), 0);
	now_us += S;
	/* Waiting connections of the other clients only replace their own. */
	ck_assert_uint_gt(let_in(), 0);
	ck_assert_uint_eq(count("::ffff:10.0.0.3", 16), 1);
	ck_assert_uint_le(clients.n, MAX);
}
END_TEST

START_TEST(test_those_that_take_answers_are_not_cut)
{
	for (unsigned i = 0; i < MAX / 2; i++) {
		come_in("::ffff:10.0.0.1");
		come_in("::ffff:10.0.0.2");
	}
	now_us += 5 * S;
	for (unsigned i = 0; i < MAX; i++)
		clients.clients[i].asked_us = clients.clients[i].piece_us = now_us;
	ck_assert_uint_eq(come_in("::ffff:10.0.0.3"), 0);
	now_us += S / 2;
	ck_assert_uint_eq(let_in(), 0);
	/* One client stops reading its answer. */
	clients.clients[3].piece_us -= S;
	ck_assert_uint_eq(let_in(), 1);
	ck_assert_uint_eq(count("::ffff:10.0.0.3", 16), 1);
}
END_TEST

START_TEST(test_the_oldest_idle_goes_first)
{
	for (unsigned i = 0; i < MAX / 2; i++) {
		come_in("::ffff:10.0.0.1");
		now_us += S / 10;
	}
	now_us += 2 * S;
	clients.clients[0].asked_us = clients.clients[0].piece_us = now_us;
	come("::ffff:10.0.0.1");
	struct triad_http_waiting next;
	ck_assert(triad_http_clients_next(&clients, now_us, &next));
	close(next.fd);
	ck_assert(clients.clients[1].cut);
	ck_assert_uint_eq(clients.n, MAX / 2 - 1);
}
END_TEST

START_TEST(test_full_queue_turns_away_those_of_whom_there_are_most)
{
	for (unsigned i = 0; i < MAX / 2 + TRIAD_HTTP_WAITING_MAX; i++)
		come_in("::ffff:10.0.0.1");
	ck_assert_uint_eq(clients.n_waiting, TRIAD_HTTP_WAITING_MAX);
	ck_assert_int_ge(come("::ffff:10.0.0.2"), 0);
	ck_assert_uint_eq(clients.n_waiting, TRIAD_HTTP_WAITING_MAX);
	ck_assert_uint_eq(let_in(), 1);
	ck_assert_uint_eq(count("::ffff:10.0.0.2", 16), 1);
}
END_TEST

START_TEST(test_loopback_is_one_network)
{
	char from[64];

	for (unsigned i = 1; i < 20; i++) {
		snprintf(from, sizeof(from), "::ffff:127.0.%u.%u", i, i);
		come_in(from);
	}
	come_in("::1");
	ck_assert_uint_eq(clients.n, MAX / 2);
	ck_assert_uint_eq(come_in("::ffff:10.0.0.2"), 1);
}
END_TEST

/* One client of each of many networks, more than wait. */
static void come_from_many(unsigned first)
{
	char from[64];

	for (unsigned i = 0; i < MAX + TRIAD_HTTP_WAITING_MAX; i++) {
		snprintf(from, sizeof(from), "2001:db8:%x::1", first + i);
		come_in(from);
	}
}

static bool is_waiting(const char *from)
{
	struct sockaddr_in6 address = address_of(from);

	for (unsigned i = 0; i < clients.n_waiting; i++)
		if (!memcmp(clients.waiting[i].network, &address.sin6_addr, 8))
			return true;
	return false;
}

START_TEST(test_many_networks_the_newest_is_not_always_turned_away)
{
	come_from_many(1);
	ck_assert_int_ge(come("2001:db8:aaaa::1"), 0);
	ck_assert_int_ge(come("2001:db8:bbbb::1"), 0);
	ck_assert(is_waiting("2001:db8:aaaa::1"));
	ck_assert(is_waiting("2001:db8:bbbb::1"));
}
END_TEST

START_TEST(test_many_networks_the_known_one_comes_in_first)
{
	static const char known[] = "2001:db8:aaaa::1";

	come_in(known);
	triad_http_clients_note_served(&clients, &clients.clients[0], now_us);
	triad_http_clients_remove(&clients, &clients.clients[0]);
	come_from_many(1);
	come(known);
	come_from_many(0x1000);
	ck_assert(is_waiting(known));
	now_us += S;
	ck_assert_uint_gt(let_in(), 0);
	ck_assert_uint_eq(count(known, 8), 1);
	/* Nor is it cut while another one idles. */
	now_us += 5 * S;
	come_from_many(0x2000);
	ck_assert_uint_eq(count(known, 8), 1);
}
END_TEST

START_TEST(test_those_that_are_known_stay_until_they_come_no_more)
{
	struct triad_http_client client = {.used = true};

	for (unsigned i = 0; i < 2 * TRIAD_HTTP_KNOWN; i++) {
		client.network[0] = (uint8_t)(i + 1);
		triad_http_clients_note_served(&clients, &client, now_us);
	}
	ck_assert_uint_eq(clients.known[0].network[0], 1);
	ck_assert_uint_eq(
		clients.known[TRIAD_HTTP_KNOWN - 1].network[0], TRIAD_HTTP_KNOWN);
	now_us += TRIAD_HTTP_KNOWN_US + 1;
	triad_http_clients_note_served(&clients, &client, now_us);
	ck_assert_uint_eq(clients.known[0].network[0], 2 * TRIAD_HTTP_KNOWN);
}
END_TEST

START_TEST(test_queue_is_left_in_time)
{
	int fd;

	for (unsigned i = 0; i < MAX / 2 + 1; i++)
		come_in("::ffff:10.0.0.1");
	ck_assert_uint_eq(clients.n_waiting, 1);
	now_us += 10 * S;
	ck_assert_int_eq(triad_http_clients_expired(&clients, now_us), -1);
	now_us++;
	fd = triad_http_clients_expired(&clients, now_us);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_uint_eq(clients.n_waiting, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("http_clients");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, test_one_prefix_many_addresses_half_of_the_connections);
	tcase_add_test(cases, test_ipv4_each_address_is_one);
	tcase_add_test(cases, test_two_that_idle_third_comes_in);
	tcase_add_test(cases, test_those_that_take_answers_are_not_cut);
	tcase_add_test(cases, test_the_oldest_idle_goes_first);
	tcase_add_test(cases, test_full_queue_turns_away_those_of_whom_there_are_most);
	tcase_add_test(cases, test_loopback_is_one_network);
	tcase_add_test(cases, test_many_networks_the_newest_is_not_always_turned_away);
	tcase_add_test(cases, test_many_networks_the_known_one_comes_in_first);
	tcase_add_test(cases, test_those_that_are_known_stay_until_they_come_no_more);
	tcase_add_test(cases, test_queue_is_left_in_time);
	return run_cases(cases);
}
