/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/address.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "triad/socket_address.h"

static size_t octets_of(int family)
{
	return family == AF_INET ? 4 : 16;
}

bool triad_address_equals(const struct triad_address *a, const struct triad_address *b)
{
	return a->family == b->family && a->port == b->port &&
		memcmp(a->octets, b->octets, octets_of(a->family)) == 0;
}

bool triad_address_is_loopback(const struct triad_address *address)
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
	static const uint8_t one[16] = {[15] = 1};

	if (address->family == AF_INET)
		return address->octets[0] == 127;
	return !memcmp(address->octets, one, sizeof(one)) ||
		(!memcmp(address->octets, mapped, sizeof(mapped)) &&
			address->octets[12] == 127);
}

struct triad_address triad_address_of_guid(uint64_t guid)
{
	struct triad_address address = {.family = AF_IB};

	for (unsigned i = 0; i < 8; i++)
		address.octets[i] = (uint8_t)(guid >> (56 - 8 * i));
	return address;
}

uint64_t triad_address_guid(const struct triad_address *address)
{
	uint64_t guid = 0;

	for (unsigned i = 0; address->family == AF_IB && i < 8; i++)
		guid = guid << 8 | address->octets[i];
	return guid;
}

void triad_address_format(
	const struct triad_address *address, char text[TRIAD_ADDRESS_TEXT_SIZE])
{
	char host[INET6_ADDRSTRLEN];

	if (address->family == AF_IB) {
		snprintf(text, TRIAD_ADDRESS_TEXT_SIZE, "0x%016" PRIx64,
			triad_address_guid(address));
		return;
	}
	if (!inet_ntop(address->family, address->octets, host, sizeof(host)))
		snprintf(host, sizeof(host), "none");
	if (!address->port)
		snprintf(text, TRIAD_ADDRESS_TEXT_SIZE, "%s", host);
	else
		snprintf(text, TRIAD_ADDRESS_TEXT_SIZE,
			address->family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
			address->port);
}

socklen_t triad_address_to_socket(
	const struct triad_address *from, union triad_socket_address *to)
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

void triad_address_from_socket(
	const union triad_socket_address *from, struct triad_address *to)
{
	*to = (struct triad_address){.family = from->any.sa_family};
	if (to->family == AF_INET) {
		memcpy(to->octets, &from->ipv4.sin_addr, 4);
		to->port = ntohs(from->ipv4.sin_port);
	} else {
		memcpy(to->octets, &from->ipv6.sin6_addr, 16);
		to->port = ntohs(from->ipv6.sin6_port);
	}
}
