/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Datagrams of UDP. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "portmgr/cluster/carrier.h"
#include "triad/clock.h"
#include "triad/lists.h"
#include "triad/socket_address.h"

struct udp {
	struct triad_carrier base;
	int fd;
	uint64_t open_us; /* when it was bound; 0: not yet */
};

static bool parse(const char *list, struct triad_address *addresses, size_t max,
	size_t *n, char *reason, size_t size)
{
	return triad_addresses_parse(list, 0, addresses, max, n, reason, size);
}

static bool open_own(struct triad_carrier *carrier, const struct triad_address *own,
	char *reason, size_t size)
{
	struct udp *udp = (struct udp *)carrier;
	char text[TRIAD_ADDRESS_TEXT_SIZE];
	union triad_socket_address address;
	socklen_t length = triad_address_to_socket(own, &address);
	int fd = socket(own->family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0 && !bind(fd, &address.any, length)) {
		udp->fd = fd;
		udp->open_us = triad_clock_now_us();
		return true;
	}
	triad_address_format(own, text);
	snprintf(reason, size,
		"own address %s: %s: it must be one of this host's, its port free",
		text, strerror(errno));
	if (fd >= 0)
		close(fd);
	return false;
}

static int fd_of(struct triad_carrier *carrier)
{
	return ((struct udp *)carrier)->fd;
}

static uint64_t up_us(struct triad_carrier *carrier)
{
	return ((struct udp *)carrier)->open_us;
}

static bool send_one(struct triad_carrier *carrier, const struct triad_address *to,
	const void *datagram, size_t size)
{
	union triad_socket_address address;
	socklen_t length = triad_address_to_socket(to, &address);

	return sendto(fd_of(carrier), datagram, size, MSG_DONTWAIT | MSG_NOSIGNAL,
		       &address.any, length) >= 0;
}

static ssize_t receive_one(struct triad_carrier *carrier, struct triad_address *from,
	void *datagram, size_t room)
{
	union triad_socket_address address;
	socklen_t length = sizeof(address);
	ssize_t size = recvfrom(
		fd_of(carrier), datagram, room, MSG_DONTWAIT, &address.any, &length);

	if (size >= 0) {
		triad_address_from_socket(&address, from);
		return size;
	}
	/* Other errors concern a datagram that was sent before; this read cleared
	 * them. */
	return -errno;
}

static void free_udp(struct triad_carrier *carrier)
{
	if (fd_of(carrier) >= 0)
		close(fd_of(carrier));
	free(carrier);
}

static const struct triad_carrier_ops ops = {.name = "peers",
	.parse = parse,
	.open = open_own,
	.fd = fd_of,
	.up_us = up_us,
	.send = send_one,
	.receive = receive_one,
	.free = free_udp};

struct triad_carrier *triad_udp_carrier_new(void)
{
	struct udp *udp = calloc(1, sizeof(*udp));

	if (!udp)
		return NULL;
	udp->base.ops = &ops;
	udp->fd = -1;
	return &udp->base;
}
