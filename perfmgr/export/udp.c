/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union socket_address {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
};

static size_t octets_of(int family)
{
	return family == AF_INET ? 4 : 16;
}

bool triad_address_equals(const struct triad_address *a, const struct triad_address *b)
{
	return a->family == b->family && a->port == b->port &&
		memcmp(a->octets, b->octets, octets_of(a->family)) == 0;
}

void triad_address_format(
	const struct triad_address *address, char text[TRIAD_ADDRESS_TEXT_SIZE])
{
	char host[INET6_ADDRSTRLEN];

	if (!inet_ntop(address->family, address->octets, host, sizeof(host)))
		snprintf(host, sizeof(host), "none");
	if (!address->port)
		snprintf(text, TRIAD_ADDRESS_TEXT_SIZE, "%s", host);
	else
		snprintf(text, TRIAD_ADDRESS_TEXT_SIZE,
			address->family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
			address->port);
}

static socklen_t to_socket_address(
	const struct triad_address *from, union socket_address *to)
{
	memset(to, 0, sizeof(*to));
	to->any.sa_family = (sa_family_t)from->family;
	if (from->family == AF_INET) {
		to->ipv4.sin_port = htons(from->port);
		memcpy(&to->ipv4.sin_addr, from->octets, 4);
		return sizeof(to->ipv4);
	}
	to->ipv6.sin6_port = htons(from->port);
	memcpy(&to->ipv6.sin6_addr, from->octets, 16);
	return sizeof(to->ipv6);
}

static void from_socket_address(
	const union socket_address *from, struct triad_address *to)
{
	*to = (struct triad_address){.family = from->any.sa_family};
	if (to->family == AF_INET)
		memcpy(to->octets, &from->ipv4.sin_addr, 4);
	else
		memcpy(to->octets, &from->ipv6.sin6_addr, 16);
}

/* A connected socket hears of receivers that refuse, and knows its own address. */
static int open_socket(void *context, const struct triad_address *to,
	struct triad_address *from, int *handle)
{
	union socket_address address;
	socklen_t size = to_socket_address(to, &address);
	int fd = socket(to->family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int error = 0;

	if (fd < 0)
		return errno;
	if (connect(fd, &address.any, size))
		error = errno;
	size = sizeof(address);
	if (!error && getsockname(fd, &address.any, &size))
		error = errno;
	if (error) {
		close(fd);
		return error;
	}
	from_socket_address(&address, from);
	*handle = fd;
	return 0;
}

static int send_datagram(void *context, int handle, const void *octets, size_t size)
{
	ssize_t sent;

	do
		sent = send(handle, octets, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? errno : 0;
}

static void close_socket(void *context, int handle)
{
	close(handle);
}

const struct triad_udp triad_udp_sockets = {
	.open = open_socket, .send = send_datagram, .close = close_socket};
