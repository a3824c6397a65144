/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	/* The 0 at the end counts as part of the names that ibsim uses. */
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

/* --- sockets --- */

static int open_socket(int family)
{
	return socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* Calls the kernel: this library replaces open() and close(). */
static int open_namespace(const char *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

static void close_namespace(int fd)
{
	if (fd >= 0)
		syscall(SYS_close, fd);
}

/* A socket stays in the network namespace of the thread that creates it, and uses that
 * namespace's names.  Returns -1 with errno. */
static int open_socket_in(const char *space, int family)
{
	int home = open_namespace("/proc/thread-self/ns/net");
	int there = home < 0 ? -1 : open_namespace(space);
	int fd = -1, error;

	if (there >= 0 && setns(there, CLONE_NEWNET) == 0) {
		fd = open_socket(family);
		error = errno;
		/* The thread must not continue in the wrong namespace. */
		if (setns(home, CLONE_NEWNET))
			abort();
	} else {
		error = errno;
		fprintf(stderr, "lab: TRIAD_LAB_NETNS: %s: %s\n", space,
			strerror(error));
	}
	close_namespace(home);
	close_namespace(there);
	errno = error;
	return fd;
}

int lab_address_socket(int family)
{
	const char *space = lab_variable_or("TRIAD_LAB_NETNS", "");

	return *space ? open_socket_in(space, family) : open_socket(family);
}
