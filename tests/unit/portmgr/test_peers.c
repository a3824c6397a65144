/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Several transports in one process, with real sockets on loopback.  Each process of
 * these tests derives its own addresses 127.A.B.C from its process id. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "portmgr/cluster/carrier.h"
#include "portmgr/cluster/seal.h"
#include "tests/unit/portmgr/cluster_fixture.h"
#include "triad/lists.h"
#include "triad/socket_address.h"

#define N 3
#define PORT 17923
#define SILENCE_MS 600
#define ID(i) (UINT64_C(0x0002c90300000000) + (i) + 1)

static struct fixture fixtures[N];
static char folder[TEST_FOLDER_SIZE], key_file[80];
static const char key[] = "sixteen octets or more";

static void write_key(const char *text, mode_t mode)
{
	int fd = open(key_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void set_up(void)
{
	make_test_folder(folder);
	snprintf(key_file, sizeof(key_file), "%s/key", folder);
	write_key(key, 0600);
}

static void tear_down(void)
{
	unlink(key_file);
	rmdir(folder);
}

static void format_own(unsigned i, char text[64])
{
	unsigned pid = (unsigned)getpid();

	snprintf(text, 64, "127.%u.%u.%u:%u", 1 + (pid >> 16) % 200, pid >> 8 & 0xff,
		(pid & 0x3f) * 4 + i, PORT + (pid >> 6 & 3));
}

static void start_over(unsigned i, uint64_t id, const char *peers,
	struct triad_carrier *carrier, uint32_t silence_ms)
{
	const struct triad_cluster_sink sink = fixture_sink(&fixtures[i]);
	char listen[64];
	const struct triad_cluster_peers_conf conf = {.id = id,
		.own = listen,
		.peers = peers,
		.key_file = key_file,
		.keepalive_ms = 50,
		.silence_ms = silence_ms};

	format_own(i, listen);
	fixtures[i].cluster = triad_cluster_peers_new(&conf, carrier, &sink, NULL);
	ck_assert_ptr_nonnull(fixtures[i].cluster);
}

static void start_as(unsigned i, uint64_t id, const char *peers)
{
	start_over(i, id, peers, triad_udp_carrier_new(), SILENCE_MS);
}

static const char *list_of(unsigned n)
{
	static char text[256];
	char own[64];

	*text = '\0';
	for (unsigned i = 0; i < n; i++) {
		format_own(i, own);
		strcat(strcat(text, own), "; ");
	}
	return text;
}

static void start(unsigned i)
{
	start_as(i, ID(i), list_of(N));
}

static void start_all(void)
{
	for (unsigned i = 0; i < N; i++)
		start(i);
	for (unsigned i = 0; i < N; i++)
		fixture_wait(fixture_view(&fixtures[i]).n_members == N);
}

static void end_all(void)
{
	for (unsigned i = 0; i < N; i++)
		fixture_end(&fixtures[i]);
}

/* Opens a socket with the address of peer 'i'; with that of no peer if 'i' isn't in the
 * list. */
static int open_as(unsigned i)
{
	struct triad_address address;
	union triad_socket_address socket_address;
	char own[64], reason[128];
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t size;

	format_own(i, own);
	ck_assert(triad_address_parse(own, 0, &address, reason, sizeof(reason)));
	size = triad_address_to_socket(&address, &socket_address);
	ck_assert_int_eq(bind(fd, &socket_address.any, size), 0);
	return fd;
}

static void send_raw(int fd, unsigned to, const void *octets, size_t n)
{
	struct triad_address address;
	union triad_socket_address socket_address;
	char own[64], reason[128];
	socklen_t size;

	format_own(to, own);
	ck_assert(triad_address_parse(own, 0, &address, reason, sizeof(reason)));
	size = triad_address_to_socket(&address, &socket_address);
	ck_assert_int_eq(
		sendto(fd, octets, n, 0, &socket_address.any, size), (ssize_t)n);
}

static bool has_trouble(struct fixture *fixture, const char *part)
{
	return strstr(fixture_status(fixture).trouble, part) != NULL;
}

/* --- --- */

START_TEST(test_three_peers_see_each_other_and_get_all_in_order)
{
	const unsigned n = 200;
	char text[32];

	start_all();
	for (unsigned i = 0; i < N; i++) {
		struct triad_cluster_view view = fixture_view(&fixtures[i]);

		ck_assert(view.is_connected && view.is_quorate);
		ck_assert_uint_eq(view.n_votes_needed, 2);
		for (unsigned j = 0; j < N; j++)
			ck_assert_uint_eq(view.members[j], ID(j));
		ck_assert_str_eq(fixture_status(&fixtures[i]).trouble, "");
	}
	for (unsigned i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%u", i);
		ck_assert_int_eq(fixture_send(&fixtures[1], text), 0);
		fixture_wait(fixture_n_messages(&fixtures[1]) > i);
	}
	for (unsigned i = 0; i < N; i++) {
		fixture_wait(fixture_n_messages(&fixtures[i]) == n);
		for (unsigned j = 0; j < n; j++) {
			snprintf(text, sizeof(text), "%u", j);
			ck_assert_str_eq(fixtures[i].messages[j].text, text);
			ck_assert_uint_eq(fixtures[i].messages[j].sender, ID(1));
		}
	}
	end_all();
}
END_TEST

START_TEST(test_peer_that_ends_leaves_the_view_and_comes_back)
{
	start_all();
	fixture_end(&fixtures[2]);
	fixture_wait(fixture_view(&fixtures[0]).n_members == 2);
	ck_assert(fixture_view(&fixtures[0]).is_quorate);
	fixture_wait(fixture_view(&fixtures[1]).n_members == 2);
	fixture_end(&fixtures[1]);
	fixture_wait(fixture_view(&fixtures[0]).n_members == 1);
	ck_assert(!fixture_view(&fixtures[0]).is_quorate);
	ck_assert(fixture_view(&fixtures[0]).is_connected);
	start(1);
	start(2);
	for (unsigned i = 0; i < N; i++)
		fixture_wait(fixture_view(&fixtures[i]).n_members == N);
	ck_assert_int_eq(fixture_send(&fixtures[2], "again"), 0);
	for (unsigned i = 0; i < N; i++)
		fixture_wait(fixture_n_messages(&fixtures[i]) == 1);
	end_all();
}
END_TEST

static uint64_t draw(void *context)
{
	uint64_t value;

	ck_assert_int_eq(getrandom(&value, sizeof(value), 0), sizeof(value));
	return value;
}

static void play_peer(struct triad_seal *seal, struct triad_seal_peer *peer,
	unsigned from, unsigned to)
{
	struct triad_address address;
	char own[64], reason[128];

	format_own(from, own);
	triad_address_parse(own, 0, &address, reason, sizeof(reason));
	triad_seal_init(seal, ID(from), &address, key, strlen(key), draw, NULL);
	format_own(to, own);
	triad_address_parse(own, 0, &address, reason, sizeof(reason));
	triad_seal_peer_init(seal, peer, &address);
}

static size_t make_hello(
	uint8_t octets[TRIAD_SEAL_MAX_SIZE], unsigned from, unsigned to)
{
	struct triad_seal seal;
	struct triad_seal_peer peer;

	play_peer(&seal, &peer, from, to);
	return triad_seal_make(&seal, &peer, TRIAD_SEAL_KEEPALIVE, NULL, 0, octets);
}

START_TEST(test_invalid_datagrams_are_counted_and_harm_no_peer)
{
	uint8_t octets[TRIAD_SEAL_MAX_SIZE], large[2000] = "TrCl";
	size_t size;
	int fd;

	start(0);
	start(1);
	fixture_wait(fixture_view(&fixtures[0]).n_members == 2);
	fd = open_as(2);
	size = make_hello(octets, 2, 0);
	send_raw(fd, 0, octets, size - 1);
	send_raw(fd, 0, octets, 40);
	send_raw(fd, 0, octets, 0);
	send_raw(fd, 0, large, sizeof(large));
	fixture_wait(fixture_status(&fixtures[0]).n_malformed == 4);
	octets[50] ^= 1;
	send_raw(fd, 0, octets, size);
	fixture_wait(fixture_status(&fixtures[0]).n_forged == 1);
	ck_assert(has_trouble(&fixtures[0], "isn't authentic"));
	close(fd);
	fd = open_as(3);
	octets[50] ^= 1;
	send_raw(fd, 0, octets, size);
	fixture_wait(fixture_status(&fixtures[0]).n_unknown_senders == 1);
	close(fd);
	ck_assert_uint_eq(fixture_view(&fixtures[0]).n_members, 2);
	fixture_end(&fixtures[0]);
	fixture_end(&fixtures[1]);
}
END_TEST

static atomic_uint n_noted;

static void note(struct triad_carrier *carrier, const struct triad_address *from)
{
	(void)carrier;
	(void)from;
	n_noted++;
}

/* A UDP carrier that counts the transport's reports of authentic datagrams. */
static struct triad_carrier *noting_carrier(void)
{
	static struct triad_carrier_ops ops;
	struct triad_carrier *carrier = triad_udp_carrier_new();

	ops = *carrier->ops;
	ops.note_authentic = note;
	carrier->ops = &ops;
	return carrier;
}

/* Plays peer 'i' until peer 0 delivers its payload: then it is a member there. */
static void become_member(int fd, unsigned i)
{
	const unsigned n_before = fixture_n_messages(&fixtures[0]);
	uint8_t octets[TRIAD_SEAL_MAX_SIZE];
	struct triad_seal_opened opened;
	struct triad_seal_peer peer;
	struct triad_seal seal;

	play_peer(&seal, &peer, i, 0);
	while (fixture_n_messages(&fixtures[0]) == n_before) {
		ssize_t size = recv(fd, octets, sizeof(octets), 0);

		ck_assert_int_gt(size, 0);
		triad_seal_open(&seal, &peer, octets, (size_t)size, 0, &opened);
		size = (ssize_t)triad_seal_make(
			&seal, &peer, TRIAD_SEAL_PAYLOAD, "x", 1, octets);
		send_raw(fd, 0, octets, (size_t)size);
	}
}

/* An SM that starts, or changes its settings, would be a master by a view without the
 * master. */
START_TEST(test_view_waits_for_the_first_datagrams_of_all_peers)
{
	int first = open_as(1), second = open_as(2);

	start_over(0, ID(0), list_of(N), triad_udp_carrier_new(), UINT32_MAX);
	become_member(first, 1);
	ck_assert(!fixture_view(&fixtures[0]).is_connected);
	become_member(second, 2);
	ck_assert(fixture_view(&fixtures[0]).is_connected);
	ck_assert_uint_eq(fixture_view(&fixtures[0]).n_members, N);
	close(first);
	close(second);
	fixture_end(&fixtures[0]);
}
END_TEST

/* One of the three is down. */
START_TEST(test_view_waits_no_longer_than_a_silence)
{
	start(0);
	start(1);
	fixture_wait(fixture_view(&fixtures[0]).n_members == 2);
	ck_assert(fixture_view(&fixtures[0]).is_connected);
	ck_assert(fixture_view(&fixtures[0]).is_quorate);
	fixture_end(&fixtures[0]);
	fixture_end(&fixtures[1]);
}
END_TEST

static uint64_t never_up(struct triad_carrier *carrier)
{
	(void)carrier;
	return 0;
}

/* As a port without a LID: but a peer's datagram came. */
START_TEST(test_view_waits_for_a_silence_after_the_first_datagram)
{
	static struct triad_carrier_ops ops;
	struct triad_carrier *carrier = triad_udp_carrier_new();

	ops = *carrier->ops;
	ops.up_us = never_up;
	carrier->ops = &ops;
	start_over(0, ID(0), list_of(N), carrier, SILENCE_MS);
	start(1);
	fixture_wait(fixture_view(&fixtures[0]).n_members == 2);
	ck_assert(fixture_view(&fixtures[0]).is_connected);
	fixture_end(&fixtures[0]);
	fixture_end(&fixtures[1]);
}
END_TEST

START_TEST(test_hello_of_a_member_does_not_lead_its_datagrams_away)
{
	uint8_t hello[TRIAD_SEAL_MAX_SIZE];
	size_t size = make_hello(hello, 1, 0);
	int fd = open_as(1);
	unsigned n_before;

	start_over(0, ID(0), list_of(2), noting_carrier(), UINT32_MAX);
	become_member(fd, 1);
	/* Datagrams arrive in order: when a malformed one is counted, the peer has
	 * processed all before it. */
	send_raw(fd, 0, hello, 40);
	fixture_wait(fixture_status(&fixtures[0]).n_malformed == 1);
	n_before = n_noted;
	ck_assert_uint_gt(n_before, 0);
	send_raw(fd, 0, hello, size);
	send_raw(fd, 0, hello, 40);
	fixture_wait(fixture_status(&fixtures[0]).n_malformed == 2);
	ck_assert_uint_eq(n_noted, n_before);
	close(fd);
	fixture_end(&fixtures[0]);
}
END_TEST

START_TEST(test_future_version_is_counted_and_reported)
{
	uint8_t octets[TRIAD_SEAL_MAX_SIZE];
	struct hmac_sha256_ctx mac;
	int fd;

	start(0);
	fixture_wait(fixture_view(&fixtures[0]).is_connected);
	fd = open_as(2);
	make_hello(octets, 2, 0);
	octets[4] = 2;
	hmac_sha256_set_key(&mac, strlen(key), (const uint8_t *)key);
	hmac_sha256_update(&mac, 48, octets);
	for (unsigned i = 0; i < 2; i++) {
		struct triad_address address;
		char own[64], reason[128];
		uint8_t ends[19] = {4};

		format_own(i ? 0 : 2, own);
		triad_address_parse(own, 0, &address, reason, sizeof(reason));
		memcpy(ends + 1, address.octets, 4);
		ends[17] = (uint8_t)(address.port >> 8);
		ends[18] = (uint8_t)address.port;
		hmac_sha256_update(&mac, sizeof(ends), ends);
	}
	hmac_sha256_digest(&mac, 32, octets + 48);
	send_raw(fd, 0, octets, 80);
	fixture_wait(fixture_status(&fixtures[0]).n_versions == 1);
	fixture_wait(has_trouble(&fixtures[0], "another version"));
	close(fd);
	fixture_end(&fixtures[0]);
}
END_TEST

static void connect_to(int fd, unsigned to)
{
	struct triad_address address;
	union triad_socket_address socket_address;
	char own[64], reason[128];
	socklen_t size;

	format_own(to, own);
	ck_assert(triad_address_parse(own, 0, &address, reason, sizeof(reason)));
	size = triad_address_to_socket(&address, &socket_address);
	ck_assert_int_eq(connect(fd, &socket_address.any, size), 0);
}

static atomic_bool flood_ends;

/* Sends faster than the peer's thread can receive: on a connected socket, many
 * datagrams per system call. */
static void *flood(void *argument)
{
	uint8_t octets[TRIAD_SEAL_MAX_SIZE] = "TrCl";
	struct iovec part = {.iov_base = octets, .iov_len = sizeof(octets)};
	struct mmsghdr messages[64];

	for (unsigned i = 0; i < 64; i++)
		messages[i] = (struct mmsghdr){
			.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
	while (!flood_ends)
		(void)sendmmsg(*(int *)argument, messages, 64, 0);
	return NULL;
}

START_TEST(test_flood_does_not_keep_peers_from_each_other)
{
	pthread_t threads[2];
	int fd = open_as(2);

	connect_to(fd, 0);
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, flood, &fd);
	start(0);
	fixture_wait(fixture_status(&fixtures[0]).n_forged > 1000);
	fixture_wait(fixture_view(&fixtures[0]).is_connected);
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_int_eq(fixture_send(&fixtures[0], "own"), 0);
		fixture_wait(fixture_n_messages(&fixtures[0]) > i);
	}
	flood_ends = true;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	start(1);
	fixture_wait(fixture_view(&fixtures[0]).n_members == 2);
	close(fd);
	fixture_end(&fixtures[0]);
	fixture_end(&fixtures[1]);
}
END_TEST

/* --- faults that the status reports with a remedy --- */

START_TEST(test_key_that_others_can_read_is_refused_until_its_mode_is_changed)
{
	static const mode_t modes[] = {0640, 0620, 0604, 0602};

	for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		write_key(key, modes[i]);
		start(0);
		fixture_wait(has_trouble(&fixtures[0], "chmod 600"));
		ck_assert(has_trouble(&fixtures[0], key_file));
		ck_assert(!fixture_view(&fixtures[0]).is_connected);
		ck_assert(!fixture_view(&fixtures[0]).is_quorate);
		ck_assert_uint_eq(fixture_view(&fixtures[0]).n_members, 1);
		ck_assert_int_eq(fixture_send(&fixtures[0], "x"), ENOTCONN);
		write_key(key, 0600);
		fixture_wait(fixture_view(&fixtures[0]).is_connected);
		fixture_wait(!*fixture_status(&fixtures[0]).trouble);
		fixture_end(&fixtures[0]);
	}
}
END_TEST

START_TEST(test_key_missing_short_long_or_no_file_is_refused)
{
	static char text[4098];

	start(0);
	fixture_wait(fixture_view(&fixtures[0]).is_connected);
	fixture_end(&fixtures[0]);
	unlink(key_file);
	start(0);
	fixture_wait(has_trouble(&fixtures[0], "No such file"));
	write_key("fifteen octets.", 0600);
	fixture_wait(has_trouble(&fixtures[0], "fewer octets"));
	memset(text, 'x', 4097);
	write_key(text, 0600);
	fixture_wait(has_trouble(&fixtures[0], "more octets"));
	unlink(key_file);
	ck_assert_int_eq(mkfifo(key_file, 0600), 0);
	fixture_wait(has_trouble(&fixtures[0], "isn't a regular file"));
	unlink(key_file);
	text[4096] = '\0';
	write_key(text, 0600);
	fixture_wait(fixture_view(&fixtures[0]).is_connected);
	fixture_end(&fixtures[0]);
}
END_TEST

START_TEST(test_key_of_another_user_is_refused)
{
	if (geteuid())
		return;
	ck_assert_int_eq(chown(key_file, 65534, 0), 0);
	start(0);
	fixture_wait(has_trouble(&fixtures[0], "belongs to user 65534: chown root"));
	fixture_end(&fixtures[0]);
}
END_TEST

START_TEST(test_peers_list_that_is_wrong_is_reported)
{
	char list[512];

	start_as(2, ID(2), list_of(2));
	fixture_wait(has_trouble(&fixtures[2], "lack this host's own address"));
	ck_assert(!fixture_view(&fixtures[2]).is_connected);
	fixture_end(&fixtures[2]);
	snprintf(list, sizeof(list), "%s; 127.0.0.1:7; 127.0.0.1:7", list_of(2));
	start_as(0, ID(0), list);
	fixture_wait(has_trouble(&fixtures[0], "twice"));
	fixture_end(&fixtures[0]);
	start_as(0, ID(0), "somebody:7");
	fixture_wait(has_trouble(&fixtures[0], "somebody:7"));
	fixture_end(&fixtures[0]);
}
END_TEST

START_TEST(test_port_in_use_is_tried_again)
{
	int fd = open_as(0);

	start(0);
	fixture_wait(has_trouble(&fixtures[0], "Address already in use"));
	ck_assert(!fixture_view(&fixtures[0]).is_connected);
	close(fd);
	fixture_wait(fixture_view(&fixtures[0]).is_connected);
	fixture_wait(!*fixture_status(&fixtures[0]).trouble);
	ck_assert_uint_ge(fixture_status(&fixtures[0]).n_reconnects, 1);
	fixture_end(&fixtures[0]);
}
END_TEST

START_TEST(test_peer_with_this_ones_id_is_no_member)
{
	start(0);
	start_as(1, ID(0), list_of(N));
	fixture_wait(has_trouble(&fixtures[0], "port GUID"));
	fixture_wait(has_trouble(&fixtures[1], "port GUID"));
	ck_assert_uint_gt(fixture_status(&fixtures[0]).n_unknown_senders, 0);
	start(2);
	/* Peer 2 accepts only the peer from which it received first. */
	fixture_wait(fixture_view(&fixtures[2]).n_members == 2);
	fixture_wait(fixture_status(&fixtures[2]).n_unknown_senders > 0);
	ck_assert_uint_eq(fixture_view(&fixtures[0]).members[0], ID(0));
	end_all();
}
END_TEST

START_TEST(test_list_of_one_is_a_majority_of_its_own)
{
	start_as(0, ID(0), list_of(1));
	fixture_wait(fixture_view(&fixtures[0]).is_quorate);
	ck_assert_uint_eq(fixture_view(&fixtures[0]).n_votes_needed, 1);
	ck_assert_int_eq(fixture_send(&fixtures[0], "x"), 0);
	fixture_wait(fixture_n_messages(&fixtures[0]) == 1);
	fixture_end(&fixtures[0]);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("peers");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_three_peers_see_each_other_and_get_all_in_order);
	tcase_add_test(cases, test_peer_that_ends_leaves_the_view_and_comes_back);
	tcase_add_test(cases, test_invalid_datagrams_are_counted_and_harm_no_peer);
	tcase_add_test(cases, test_view_waits_for_the_first_datagrams_of_all_peers);
	tcase_add_test(cases, test_view_waits_no_longer_than_a_silence);
	tcase_add_test(cases, test_view_waits_for_a_silence_after_the_first_datagram);
	tcase_add_test(cases, test_hello_of_a_member_does_not_lead_its_datagrams_away);
	tcase_add_test(cases, test_future_version_is_counted_and_reported);
	tcase_add_test(cases, test_flood_does_not_keep_peers_from_each_other);
	tcase_add_test(cases,
		test_key_that_others_can_read_is_refused_until_its_mode_is_changed);
	tcase_add_test(cases, test_key_missing_short_long_or_no_file_is_refused);
	tcase_add_test(cases, test_key_of_another_user_is_refused);
	tcase_add_test(cases, test_peers_list_that_is_wrong_is_reported);
	tcase_add_test(cases, test_port_in_use_is_tried_again);
	tcase_add_test(cases, test_peer_with_this_ones_id_is_no_member);
	tcase_add_test(cases, test_list_of_one_is_a_majority_of_its_own);
	return run_cases(cases);
}
