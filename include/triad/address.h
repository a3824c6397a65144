/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An address of the Internet's, of either family, with a UDP or TCP port.
 *
 * Thread-safety: plain data. */
#ifndef TRIAD_ADDRESS_H
#define TRIAD_ADDRESS_H

#include <stdint.h>

struct triad_address {
	int family;         /* AF_INET, AF_INET6; 0: none */
	uint8_t octets[16]; /* in network order; an IPv4 address has the first four */
	uint16_t port;
};

#endif
