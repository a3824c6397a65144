/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lab/umad_calls.h"
#include "tests/lab/umad_planes.h"

#define UMAD_PATH "/dev/infiniband/umad"
#define ISSM_PATH "/dev/infiniband/issm"
#define MAX_FDS 65536

/* A process has one port, so this state is static. */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lab_port *port;
static struct lab_sysfs *sysfs;
static _Atomic(struct lab_file *) files[MAX_FDS];
static _Atomic int issm_fd = -1;

/* --- start and end of the process --- */

static void disconnect(void)
{
	if (!port || port->is_dead)
		return;
	lab_wire_disconnect(port->wire, issm_fd >= 0);
	if (sysfs)
		lab_sysfs_remove(sysfs);
	port->is_dead = true;
}

__attribute__((destructor)) static void leave(void)
{
	disconnect();
}

static void leave_by_signal(int number)
{
	disconnect();
	/* SA_RESETHAND has restored the default action. */
	raise(number);
}

/* ibsim keeps the slot of a client that doesn't disconnect, and has ten. */
static void catch_signals(void)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};
	const struct sigaction leaving = {.sa_handler = leave_by_signal,
		.sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
	struct sigaction present;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (sigaction(numbers[i], NULL, &present) == 0 &&
			!(present.sa_flags & SA_SIGINFO) &&
			present.sa_handler == SIG_DFL)
			sigaction(numbers[i], &leaving, NULL);
}

static void before_fork(void)
{
	pthread_mutex_lock(&open_lock);
	if (port)
		pthread_mutex_lock(&port->lock);
}

static void after_fork_in_parent(void)
{
	if (port)
		pthread_mutex_unlock(&port->lock);
	pthread_mutex_unlock(&open_lock);
}

/* The connection and the folder belong to the parent. */
static void after_fork_in_child(void)
{
	if (port) {
		pthread_mutex_unlock(&port->lock);
		port->is_dead = true;
		lab_wire_abandon(port->wire);
		syscall(SYS_close, port->wake_fd);
	}
	port = NULL;
	sysfs = NULL;
	issm_fd = -1;
	pthread_mutex_unlock(&open_lock);
}

static int start(void)
{
	static bool is_registered;
	int error;

	if (!is_registered)
		pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	is_registered = true;
	error = lab_port_open(&port);
	if (error)
		return error;
	catch_signals();
	return lab_sysfs_new(port, &sysfs);
}

bool lab_process_is_ready(void)
{
	static pid_t tried_by;
	int saved_errno = errno;

	pthread_mutex_lock(&open_lock);
	if (tried_by != getpid()) {
		tried_by = getpid();
		start();
	}
	pthread_mutex_unlock(&open_lock);
	errno = saved_errno;
	return sysfs != NULL;
}

/* --- devices --- */

struct lab_file *lab_process_file(int fd)
{
	if (fd < 0 || fd >= MAX_FDS)
		return NULL;
	return atomic_load_explicit(&files[fd], memory_order_relaxed);
}

static int open_umad(unsigned plane, int flags)
{
	struct lab_file *file;
	int fd = lab_file_open(port, flags, &file);

	if (fd < 0)
		return -1;
	file->n_planes = lab_planes_n();
	file->plane = plane;
	if (fd < MAX_FDS) {
		files[fd] = file;
		return fd;
	}
	syscall(SYS_close, fd);
	lab_file_close(file);
	errno = EMFILE;
	return -1;
}

static int set_issm(bool is_sm)
{
	uint32_t data[LAB_WIRE_ANSWER_SIZE / 4] = {is_sm};
	int error;

	/* The guardian is notified first: if the process is killed in between, IsSM is
	 * cleared nevertheless. */
	if (is_sm)
		lab_wire_notify_issm(port->wire, true);
	error = lab_wire_ask(port->wire, LAB_ASK_SET_ISSM, data);
	if (error || !is_sm)
		lab_wire_notify_issm(port->wire, false);
	return error;
}

/* Deviation: a second open() gets EAGAIN at once, even if it should block. */
static int open_issm(int flags)
{
	int fd, error = EAGAIN;

	if (issm_fd >= 0 || (error = set_issm(true))) {
		errno = error;
		return -1;
	}
	fd = (int)syscall(
		SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | (flags & O_CLOEXEC), 0);
	if (fd < 0)
		set_issm(false);
	issm_fd = fd;
	port->has_issm = fd >= 0;
	return fd;
}

/* The number at the end of a device's path: 0, or a plane's number; -1: it is another
 * path. */
static int device_number(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);
	int number;

	if (strncmp(path, prefix, length) != 0 || path[length] < '0' ||
		path[length] > '9' || path[length + 1])
		return -1;
	number = path[length] - '0';
	return !number || (unsigned)number <= lab_planes_n() ? number : -1;
}

bool lab_process_is_device(const char *path)
{
	return path &&
		(device_number(path, UMAD_PATH) >= 0 ||
			device_number(path, ISSM_PATH) >= 0);
}

bool lab_process_open(const char *path, int flags, int *fd)
{
	int number;

	if (!lab_process_is_device(path))
		return false;
	number = device_number(path, UMAD_PATH);
	*fd = -1;
	if (!lab_process_is_ready())
		errno = ENODEV;
	else
		*fd = number >= 0 ? open_umad((unsigned)number, flags)
				  : open_issm(flags);
	return true;
}

void lab_process_close(int fd)
{
	struct lab_file *file = lab_process_file(fd);

	if (file) {
		files[fd] = NULL;
		if (!file->port->is_dead)
			lab_file_close(file);
	} else if (fd >= 0 && fd == issm_fd) {
		issm_fd = -1;
		port->has_issm = false;
		set_issm(false);
	}
}

const char *lab_process_resolve(const char *path, char buffer[LAB_SYSFS_PATH_SIZE])
{
	if (!path || path[0] != '/' || !lab_sysfs_has(path) || !lab_process_is_ready())
		return path;
	return lab_sysfs_resolve(sysfs, path, buffer);
}
