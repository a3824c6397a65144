/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A lab's InfiniBand port for programs that use one: this preloaded library replaces
 * functions of the C library that libibumad (or another program that opens the files)
 * calls.  It provides /sys/class/infiniband, /sys/class/infiniband_mad,
 * /dev/infiniband/umad0 and issm0 (or more of them: umad_planes.h), which behave as the kernel's do (umad_port.h); ibsim
 * simulates the fabric (umad_wire.h).
 *
 * Environment: IBSIM_SOCKNAME, SIM_HOST, IBSIM_SERVER_NAME and _PORT as for ibsim's own
 * library; TRIAD_LAB_NETNS (umad_wire.h); TRIAD_LAB_FAULTS (umad_faults.h);
 * TRIAD_LAB_SYS (umad_sysfs.h); TRIAD_LAB_PLANES (umad_planes.h).
 *
 * Calls for all other files go to the C library. */
/* Both open() and open64() are defined here; the macro would make the first the
 * second. */
#undef _FILE_OFFSET_BITS

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lab/umad_calls.h"
#include "tests/lab/umad_process.h"

#define EXPORT __attribute__((visibility("default")))

/* The C library's function, looked up once for each place that calls it. */
#define REAL(name)                                                                     \
	({                                                                             \
		static __typeof__(&name) real;                                         \
		if (!real)                                                             \
			real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);             \
		real;                                                                  \
	})

/* --- replaced functions: paths --- */

/* Callers pass a mode only if the flags need one. */
#define DEFINE_OPEN(name)                                                              \
	EXPORT int name(const char *path, int flags, ...)                              \
	{                                                                              \
		char buffer[LAB_SYSFS_PATH_SIZE];                                      \
		mode_t mode = 0;                                                       \
		va_list arguments;                                                     \
		int fd;                                                                \
                                                                                       \
		va_start(arguments, flags);                                            \
		if (flags & (O_CREAT | O_TMPFILE))                                     \
			mode = va_arg(arguments, mode_t);                              \
		va_end(arguments);                                                     \
		if (lab_process_open(path, flags, &fd))                                \
			return fd;                                                     \
		return REAL(name)(lab_process_resolve(path, buffer), flags, mode);     \
	}

#define DEFINE_OPENAT(name)                                                            \
	EXPORT int name(int folder, const char *path, int flags, ...)                  \
	{                                                                              \
		char buffer[LAB_SYSFS_PATH_SIZE];                                      \
		mode_t mode = 0;                                                       \
		va_list arguments;                                                     \
		int fd;                                                                \
                                                                                       \
		va_start(arguments, flags);                                            \
		if (flags & (O_CREAT | O_TMPFILE))                                     \
			mode = va_arg(arguments, mode_t);                              \
		va_end(arguments);                                                     \
		if (lab_process_open(path, flags, &fd))                                \
			return fd;                                                     \
		return REAL(name)(                                                     \
			folder, lab_process_resolve(path, buffer), flags, mode);       \
	}

/* The compiler turns calls with checked arguments (_FORTIFY_SOURCE) into these. */
#define DEFINE_OPEN_2(name)                                                            \
	EXPORT int name(const char *path, int flags);                                  \
	EXPORT int name(const char *path, int flags)                                   \
	{                                                                              \
		char buffer[LAB_SYSFS_PATH_SIZE];                                      \
		int fd;                                                                \
                                                                                       \
		if (lab_process_open(path, flags, &fd))                                \
			return fd;                                                     \
		return REAL(name)(lab_process_resolve(path, buffer), flags);           \
	}

#define DEFINE_FOPEN(name)                                                             \
	EXPORT FILE *name(const char *path, const char *mode)                          \
	{                                                                              \
		char buffer[LAB_SYSFS_PATH_SIZE];                                      \
                                                                                       \
		return REAL(name)(lab_process_resolve(path, buffer), mode);            \
	}

/* A device looks like /dev/null, which can be read and written. */
#define DEFINE_STAT(name, type)                                                        \
	EXPORT int name(const char *path, struct type *result)                         \
	{                                                                              \
		char buffer[LAB_SYSFS_PATH_SIZE];                                      \
                                                                                       \
		if (lab_process_is_device(path))                                       \
			path = "/dev/null";                                            \
		return REAL(name)(lab_process_resolve(path, buffer), result);          \
	}

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)
DEFINE_OPEN_2(__open_2)
DEFINE_OPEN_2(__open64_2)
DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)
DEFINE_STAT(stat, stat)
DEFINE_STAT(stat64, stat64)
DEFINE_STAT(lstat, stat)
DEFINE_STAT(lstat64, stat64)

EXPORT int access(const char *path, int mode)
{
	char buffer[LAB_SYSFS_PATH_SIZE];

	if (lab_process_is_device(path))
		path = "/dev/null";
	return REAL(access)(lab_process_resolve(path, buffer), mode);
}

EXPORT DIR *opendir(const char *path)
{
	char buffer[LAB_SYSFS_PATH_SIZE];

	return REAL(opendir)(lab_process_resolve(path, buffer));
}

EXPORT int scandir(const char *path, struct dirent ***names,
	int (*choose)(const struct dirent *),
	int (*compare)(const struct dirent **, const struct dirent **))
{
	char buffer[LAB_SYSFS_PATH_SIZE];

	return REAL(scandir)(lab_process_resolve(path, buffer), names, choose, compare);
}

EXPORT int scandir64(const char *path, struct dirent64 ***names,
	int (*choose)(const struct dirent64 *),
	int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	char buffer[LAB_SYSFS_PATH_SIZE];

	return REAL(scandir64)(
		lab_process_resolve(path, buffer), names, choose, compare);
}

/* --- replaced functions: descriptors --- */

EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
	struct lab_file *file = lab_process_file(fd);

	return file ? lab_file_read(file, fd, buffer, size)
		    : REAL(read)(fd, buffer, size);
}

EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
	struct lab_file *file = lab_process_file(fd);

	return file ? lab_file_read(file, fd, buffer, size < room ? size : room)
		    : REAL(__read_chk)(fd, buffer, size, room);
}

EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
	struct lab_file *file = lab_process_file(fd);

	return file ? lab_file_write(file, buffer, size)
		    : REAL(write)(fd, buffer, size);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	struct lab_file *file = lab_process_file(fd);
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	return file ? lab_file_ioctl(file, request, argument)
		    : REAL(ioctl)(fd, request, argument);
}

EXPORT int close(int fd)
{
	lab_process_close(fd);
	return REAL(close)(fd);
}

/* --- for scripts --- */

EXPORT int triad_lab_check_faults(const char *path, const char *name);

/* Checks a file of rules and prints its mistakes on standard error, with 'name' as the
 * file's name.  Returns their number, or -1 when the file can't be read. */
EXPORT int triad_lab_check_faults(const char *path, const char *name)
{
	struct lab_rules *rules = NULL;
	FILE *file = REAL(fopen)(path, "re");
	unsigned n_mistakes;

	if (!file)
		return -1;
	n_mistakes = lab_rules_read(file, name, stderr, &rules);
	fclose(file);
	free(rules);
	return (int)n_mistakes;
}
