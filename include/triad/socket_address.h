/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Addresses as sockets take them.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SOCKET_ADDRESS_H
#define TRIAD_SOCKET_ADDRESS_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "triad/address.h"

union triad_socket_address {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
};

/* 'from' has a family.  Returns the size. */
socklen_t triad_address_to_socket(
	const struct triad_address *from, union triad_socket_address *to);

void triad_address_from_socket(
	const union triad_socket_address *from, struct triad_address *to);

#endif
