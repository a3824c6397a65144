/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_PORT "7070"

const char *lab_variable_or(const char *variable, const char *otherwise)
{
	const char *value = getenv(variable);

	return value && *value ? value : otherwise;
}

socklen_t lab_address_local(
	union lab_address *address, const char *kind, uint32_t number, bool has_number)
{
	char *name = address->local.sun_path;
	size_t room = sizeof(address->local.sun_path);
	int length;

	memset(address, 0, sizeof(*address));
	address->local.sun_family = AF_UNIX;
	length = has_number
		? snprintf(name + 1, room - 1, "%s:%s%u",
			  lab_variable_or("IBSIM_SOCKNAME", "sim"), kind, number)
		: snprintf(name + 1, room - 1, "%s:%s",
			  lab_variable_or("IBSIM_SOCKNAME", "sim"), kind);
	/* ibsim's names end with a 0 that counts. */
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length + 2);
}

int lab_address_remote(union lab_address *address, unsigned port_offset)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
	struct addrinfo *found;

	if (getaddrinfo(getenv("IBSIM_SERVER_NAME"), NULL, &hints, &found))
		return EHOSTUNREACH;
	memcpy(&address->inet, found->ai_addr, sizeof(address->inet));
	freeaddrinfo(found);
	address->inet.sin_port = htons(
		(uint16_t)(atoi(lab_variable_or("IBSIM_SERVER_PORT", SERVER_PORT)) +
			(int)port_offset));
	return 0;
}
