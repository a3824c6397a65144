/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/udp.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "triad/socket_address.h"

/* Connects the socket, so that it reports receivers that refuse, and knows its own
 * address. */
static int open_socket(void *context, const struct triad_address *to,
	struct triad_address *from, int *handle)
{
	union triad_socket_address address;
	socklen_t size = triad_address_to_socket(to, &address);
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
	triad_address_from_socket(&address, from);
	from->port = 0; /* the kernel picked it: it means nothing */
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
