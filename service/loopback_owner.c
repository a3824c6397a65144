/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks the kernel for the owner of one end of a TCP connection (sock_diag(7)). */
#include "service/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* The kernel answers at once. */
#define ANSWER_S 1

struct question {
	struct nlmsghdr header;
	struct inet_diag_req_v2 request;
};

static int send_question(
	int fd, struct triad_loopback_end theirs, struct triad_loopback_end ours)
{
	struct question question = {
		.header = {.nlmsg_len = sizeof(question),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST},
		.request = {.sdiag_family = AF_INET,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = ~0u,
			.id = {.idiag_sport = htons((uint16_t)theirs.port),
				.idiag_dport = htons((uint16_t)ours.port),
				.idiag_src = {htonl(theirs.address)},
				.idiag_dst = {htonl(ours.address)},
				.idiag_cookie = {INET_DIAG_NOCOOKIE,
					INET_DIAG_NOCOOKIE}}},
	};
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	return sendto(fd, &question, sizeof(question), 0, (struct sockaddr *)&kernel,
		       sizeof(kernel)) < 0
		? errno
		: 0;
}

/* Whether an address is 'wanted', also as IPv4 in an IPv6 socket. */
static bool is_address(
	const struct inet_diag_msg *found, const __be32 address[4], unsigned wanted)
{
	if (found->idiag_family == AF_INET)
		return address[0] == htonl(wanted);
	return found->idiag_family == AF_INET6 && !address[0] && !address[1] &&
		address[2] == htonl(0xffff) && address[3] == htonl(wanted);
}

static bool is_connected(const struct inet_diag_msg *found)
{
	switch (found->idiag_state) {
	case TCP_ESTABLISHED:
	case TCP_FIN_WAIT1:
	case TCP_FIN_WAIT2: /* it has ended its input, as 'nc -N' does */
		return true;
	default:
		return false;
	}
}

/* The kernel reads the user first, then the inode.  A closed socket has no inode, and
 * root as its user: so without an inode the user does not count. */
static int judge_socket(const struct inet_diag_msg *found,
	struct triad_loopback_end theirs, struct triad_loopback_end ours, uid_t *uid)
{
	if (!is_connected(found) || !found->idiag_inode ||
		found->id.idiag_sport != htons((uint16_t)theirs.port) ||
		found->id.idiag_dport != htons((uint16_t)ours.port) ||
		!is_address(found, found->id.idiag_src, theirs.address) ||
		!is_address(found, found->id.idiag_dst, ours.address))
		return ESTALE;
	*uid = found->idiag_uid;
	return 0;
}

static int receive_answer(int fd, struct triad_loopback_end theirs,
	struct triad_loopback_end ours, uid_t *uid)
{
	union {
		struct nlmsghdr header;
		char octets[8192];
	} answer;
	struct sockaddr_nl from = {.nl_family = AF_NETLINK};
	socklen_t from_size = sizeof(from);
	ssize_t n = recvfrom(
		fd, &answer, sizeof(answer), 0, (struct sockaddr *)&from, &from_size);
	const struct nlmsgerr *error = NLMSG_DATA(&answer.header);
	const struct inet_diag_msg *found = NLMSG_DATA(&answer.header);

	if (n < 0)
		return errno;
	if (from.nl_pid || !NLMSG_OK(&answer.header, (size_t)n))
		return EPROTO;
	if (answer.header.nlmsg_type == NLMSG_ERROR)
		return answer.header.nlmsg_len >= NLMSG_LENGTH(sizeof(*error)) &&
				error->error < 0
			? -error->error
			: EPROTO;
	if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
		answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
		return EPROTO;
	return judge_socket(found, theirs, ours, uid);
}

int triad_loopback_owner(
	struct triad_loopback_end theirs, struct triad_loopback_end ours, uid_t *uid)
{
	struct timeval patience = {.tv_sec = ANSWER_S};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	int error = 0;

	if (fd < 0)
		return errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		error = errno;
	if (!error)
		error = send_question(fd, theirs, ours);
	if (!error)
		error = receive_answer(fd, theirs, ours, uid);
	close(fd);
	return error;
}
