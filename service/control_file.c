/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/control_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ADVICE "; there is no control socket, set control.socket to another path"

/* Returns 0, EADDRINUSE (another process has it) or another errno. */
static int lock_file(struct triad_control_file *file)
{
	char path[sizeof(file->path) + 8];

	snprintf(path, sizeof(path), "%s.lock", file->path);
	file->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file->lock_fd < 0)
		return errno;
	if (flock(file->lock_fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? EADDRINUSE : errno;
	return 0;
}

/* Removes a socket: as this process has the lock, no other serves it.  Leaves any other
 * kind of file. */
static int remove_dead_socket(const char *path)
{
	struct stat status;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : errno;
	if (!S_ISSOCK(status.st_mode))
		return S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
	return unlink(path) ? errno : 0;
}

/* Sets the mode of the socket itself, not of a file that somebody puts in its place. */
static int set_mode(const char *path, mode_t mode)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), error = 0;
	struct stat status;
	char name[32];

	if (fd < 0)
		return errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (fstat(fd, &status))
		error = errno;
	else if (!S_ISSOCK(status.st_mode))
		error = EEXIST;
	else if (chmod(name, mode))
		error = errno;
	close(fd);
	return error;
}

static int listen_at(struct triad_control_file *file)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int error;

	memcpy(address.sun_path, file->path, sizeof(file->path));
	file->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (file->fd < 0)
		return errno;
	/* bind() gives the file the descriptor's mode: so at no moment can other users
	 * connect. */
	if (fchmod(file->fd, 0600) ||
		bind(file->fd, (struct sockaddr *)&address, sizeof(address)))
		return errno;
	error = set_mode(file->path, 0600);
	if (!error && listen(file->fd, 32))
		error = errno;
	if (error)
		unlink(file->path);
	return error;
}

static const char *why(int error)
{
	switch (error) {
	case EADDRINUSE:
		return "another process serves it (two OpenSMs on a host need %g in "
		       "the path)";
	case EISDIR:
		return "it is a directory";
	case EEXIST:
		return "there is a file which is not a socket";
	default:
		return strerror(error);
	}
}

int triad_control_file_open(
	struct triad_control_file *file, const char *path, struct triad_log *log)
{
	char copy[108];
	int error;

	*file = (struct triad_control_file){.fd = -1, .lock_fd = -1};
	snprintf(file->path, sizeof(file->path), "%s", path);
	/* Ignore an error: without the folder, lock_file() fails and returns why. */
	snprintf(copy, sizeof(copy), "%s", path);
	(void)mkdir(dirname(copy), 0755);
	error = lock_file(file);
	if (!error)
		error = remove_dead_socket(path);
	if (!error)
		error = listen_at(file);
	if (!error)
		return 0;
	triad_log_write(
		log, TRIAD_LOG_ERROR, "control socket %s: %s" ADVICE, path, why(error));
	if (file->fd >= 0)
		close(file->fd);
	if (file->lock_fd >= 0)
		close(file->lock_fd);
	return error;
}

int triad_control_file_share(struct triad_control_file *file, bool is_shared)
{
	return set_mode(file->path, is_shared ? 0666 : 0600);
}

void triad_control_file_close(struct triad_control_file *file)
{
	/* The lock last: until then no other process makes a socket at that path. */
	unlink(file->path);
	close(file->fd);
	close(file->lock_fd);
}
