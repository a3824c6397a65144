/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Simulates a disk that hangs.  Preloaded into a program, it blocks fsync() and
 * fdatasync() of some files as long as the file that TRIAD_HUNG_DISK names exists.
 * That file contains a substring of the paths for which they block.  write() blocks, too,
 * where TRIAD_HUNG_WRITES is set. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_US 5000
#define EXPORT __attribute__((visibility("default")))

static int hangs(int fd)
{
	const char *flag = getenv("TRIAD_HUNG_DISK");
	char link[64], path[4096], part[256];
	int flag_fd = flag ? open(flag, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n;

	if (flag_fd < 0)
		return 0;
	n = read(flag_fd, part, sizeof(part) - 1);
	close(flag_fd);
	part[n > 0 ? n : 0] = '\0';
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return *part && strstr(path, part) != NULL;
}

static int call(const char *name, int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);

	while (hangs(fd))
		usleep(LOOK_US);
	return real(fd);
}

EXPORT int fsync(int fd)
{
	return call("fsync", fd);
}

EXPORT int fdatasync(int fd)
{
	return call("fdatasync", fd);
}

EXPORT ssize_t write(int fd, const void *octets, size_t size)
{
	ssize_t (*real)(int, const void *, size_t) =
		(ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");

	while (getenv("TRIAD_HUNG_WRITES") && hangs(fd))
		usleep(LOOK_US);
	return real(fd, octets, size);
}
