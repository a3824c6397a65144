/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The addresses of ibsim and of its clients. */
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

/* The value of an environment variable; 'otherwise' if it is unset or empty. */
const char *lab_variable_or(const char *variable, const char *otherwise);

/* Sets the abstract UNIX address of a socket of that kind; returns its size. */
socklen_t lab_address_local(
	union lab_address *address, const char *kind, uint32_t number, bool has_number);

/* Sets the server's UDP address; each client has its own port there.  Returns 0 or
 * EHOSTUNREACH. */
int lab_address_remote(union lab_address *address, unsigned port_offset);

/* Opens a datagram socket, in the network namespace of the file that TRIAD_LAB_NETNS
 * names if it is set.  Returns -1 with errno; prints an error of the namespace on
 * standard error. */
int lab_address_socket(int family);

#endif
