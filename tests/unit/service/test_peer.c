/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The user at the other end of a connection, and that user's role. */
#include "service/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/run.h"

static int listener, client, server;
static struct sockaddr_in address;
static struct triad_peer peer;

static void set_up(void)
{
	socklen_t size = sizeof(address);

	address = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	listener = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(client, (struct sockaddr *)&address, size), 0);
	server = accept(listener, NULL, NULL);
	ck_assert_int_ge(server, 0);
}

static void tear_down(void)
{
	triad_peer_clear(&peer);
	close(listener);
	close(client);
	close(server);
}

START_TEST(test_loopback_open_connection_owner_known)
{
	char name[TRIAD_PEER_NAME_SIZE], expected[TRIAD_PEER_NAME_SIZE];

	triad_peer_of_loopback(server, &peer);
	ck_assert_int_eq(peer.error, 0);
	ck_assert_uint_eq(peer.uid, geteuid());
	ck_assert_int_eq(triad_peer_role(&peer, "", ""), TRIAD_ROLE_ADMIN);
	triad_peer_name(&peer, name);
	snprintf(expected, sizeof(expected), geteuid() ? "user %u" : "root",
		(unsigned)geteuid());
	ck_assert_str_eq(name, expected);
}
END_TEST

START_TEST(test_loopback_half_closed_owner_known)
{
	ck_assert_int_eq(shutdown(client, SHUT_WR), 0);
	triad_peer_of_loopback(server, &peer);
	ck_assert_int_eq(peer.error, 0);
	ck_assert_uint_eq(peer.uid, geteuid());
}
END_TEST

/* The kernel reports user 0 for a closed connection. */
START_TEST(test_loopback_closed_user_unknown)
{
	char name[TRIAD_PEER_NAME_SIZE];

	close(client);
	client = -1;
	triad_peer_of_loopback(server, &peer);
	ck_assert_int_ne(peer.error, 0);
	ck_assert(!triad_peer_is_own(&peer));
	ck_assert_int_eq(triad_peer_role(&peer, "0", "0"), TRIAD_ROLE_NONE);
	triad_peer_name(&peer, name);
	ck_assert_ptr_nonnull(strstr(name, "a user who isn't known ("));
}
END_TEST

/* If there is no such connection, the kernel finds the process that listens at the
 * port. */
START_TEST(test_loopback_listener_of_same_port_is_not_it)
{
	struct triad_loopback_end theirs = {INADDR_LOOPBACK, ntohs(address.sin_port)};
	struct triad_loopback_end ours = {INADDR_LOOPBACK, 1};
	uid_t uid = 77;

	ck_assert_int_eq(triad_loopback_owner(theirs, ours, &uid), ESTALE);
	ck_assert_uint_eq(uid, 77);
}
END_TEST

START_TEST(test_loopback_no_such_connection_reported)
{
	struct triad_loopback_end unused = {INADDR_LOOPBACK, 1};
	uid_t uid;

	ck_assert_int_eq(triad_loopback_owner(unused, unused, &uid), ENOENT);
}
END_TEST

START_TEST(test_loopback_unix_socket_refused)
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	triad_peer_of_loopback(ends[0], &peer);
	ck_assert_int_eq(peer.error, EAFNOSUPPORT);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(test_unix_own_user_is_admin)
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	triad_peer_of_unix(ends[0], &peer);
	ck_assert_int_eq(peer.error, 0);
	ck_assert_int_eq(triad_peer_role(&peer, "", ""), TRIAD_ROLE_ADMIN);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(test_role_groups_decide)
{
	gid_t groups[] = {4000, 4001};
	const struct triad_peer other = {
		.uid = geteuid() + 1000, .groups = groups, .n_groups = 2};

	ck_assert_int_eq(triad_peer_role(&other, "", ""), TRIAD_ROLE_NONE);
	ck_assert_int_eq(triad_peer_role(&other, "4002", "4003"), TRIAD_ROLE_NONE);
	ck_assert_int_eq(triad_peer_role(&other, "4001", "4003"), TRIAD_ROLE_READER);
	ck_assert_int_eq(triad_peer_role(&other, "", "4000"), TRIAD_ROLE_ADMIN);
	ck_assert_int_eq(triad_peer_role(&other, "4001", "4001"), TRIAD_ROLE_ADMIN);
	ck_assert_int_eq(
		triad_peer_role(&other, "no-such-group", "-1"), TRIAD_ROLE_NONE);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("peer");

	if (is_skipped_under_emulation("NETLINK_SOCK_DIAG"))
		return 0;
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_loopback_open_connection_owner_known);
	tcase_add_test(cases, test_loopback_half_closed_owner_known);
	tcase_add_test(cases, test_loopback_closed_user_unknown);
	tcase_add_test(cases, test_loopback_listener_of_same_port_is_not_it);
	tcase_add_test(cases, test_loopback_no_such_connection_reported);
	tcase_add_test(cases, test_loopback_unix_socket_refused);
	tcase_add_test(cases, test_unix_own_user_is_admin);
	tcase_add_test(cases, test_role_groups_decide);
	return run_cases(cases);
}
