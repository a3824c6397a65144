/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An Internet address of either family, with a UDP or TCP port; or the GUID of an
 * InfiniBand port.
 *
 * Thread-safety: plain data. */
#ifndef TRIAD_ADDRESS_H
#define TRIAD_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

struct triad_address {
	int family;         /* AF_INET, AF_INET6, AF_IB; 0: none */
	uint8_t octets[16]; /* in network order; an IPv4 address has the first four, a
			       GUID the first eight */
	uint16_t port;
};

#define TRIAD_ADDRESS_TEXT_SIZE 64

/* "192.0.2.1:6343", "[2001:db8::1]:6343"; without a port when it is 0.
 * "0x0002c90300000001". */
void triad_address_format(
	const struct triad_address *address, char text[TRIAD_ADDRESS_TEXT_SIZE]);

/* True for this host's own addresses: 127.0.0.0/8, ::1, or the former written as
 * IPv6. */
bool triad_address_is_loopback(const struct triad_address *address);

struct triad_address triad_address_of_guid(uint64_t guid);
/* 0 when it is no GUID. */
uint64_t triad_address_guid(const struct triad_address *address);

bool triad_address_equals(const struct triad_address *a, const struct triad_address *b);

#endif
