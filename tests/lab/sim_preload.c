/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Preloaded into ibsim: a client that does not read loses MADs, as on a fabric.
 *
 * ibsim alone would spin until the client reads, and serve nobody else meanwhile: a few
 * hundred MADs to a stopped SM would stop the whole fabric.  Here each client has room
 * for as many as the kernel lets wait (net.unix.max_dgram_qlen).  When that is full, it
 * is waited for once; from then on, until it reads again, what comes for it is lost.
 *
 * Thread-safety: none; ibsim has one thread. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_FDS 1024
#define SOCKET_BUFFER_SIZE (8 << 20)

/* Longer than a busy machine leaves a client that lives without a CPU. */
#define PATIENCE_MS 2000

static bool is_wide[MAX_FDS], is_deaf[MAX_FDS];

static long really_write(int fd, const void *data, size_t size)
{
	return syscall(SYS_write, fd, data, size);
}

/* Room for more, the first time; as root, beyond the system's limit. */
static bool widen(int fd)
{
	int size = SOCKET_BUFFER_SIZE;

	if (is_wide[fd])
		return false;
	is_wide[fd] = true;
	return setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) == 0 ||
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) == 0;
}

static bool has_room_soon(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLOUT};

	return !is_deaf[fd] && poll(&polled, 1, PATIENCE_MS) > 0;
}

EXPORT ssize_t write(int fd, const void *data, size_t size)
{
	long result = really_write(fd, data, size);

	if (fd < 0 || fd >= MAX_FDS)
		return result;
	while (result < 0 && errno == EAGAIN && (widen(fd) || has_room_soon(fd)))
		result = really_write(fd, data, size);
	is_deaf[fd] = result < 0 && errno == EAGAIN;
	return is_deaf[fd] ? (ssize_t)size : result;
}
