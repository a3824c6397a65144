/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where ibsim is, and what its clients call themselves.
 *
 * Thread-safety: as getenv(). */
#ifndef LAB_UMAD_ADDRESS_H
#define LAB_UMAD_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

union lab_address {
	struct sockaddr any;
	struct sockaddr_un local;
	struct sockaddr_in inet;
};

/* The value of an environment variable that is set and not empty. */
const char *lab_variable_or(const char *variable, const char *otherwise);

/* The UNIX address, without a path, of a socket of that kind; returns its size. */
socklen_t lab_address_local(
	union lab_address *address, const char *kind, uint32_t number, bool has_number);

/* The server's address by UDP; each client has a port of its own there.  Returns 0 or
 * EHOSTUNREACH. */
int lab_address_remote(union lab_address *address, unsigned port_offset);

/* Opens a datagram socket, in the network namespace that the file TRIAD_LAB_NETNS
 * stands for if that is set.  Returns -1 with errno, having said on standard error what
 * is wrong with the namespace. */
int lab_address_socket(int family);

#endif
