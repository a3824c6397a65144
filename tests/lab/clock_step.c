/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Simulates a step of the wall clock.  Preloaded into a program, it adds an offset to
 * the wall clock: the file that TRIAD_CLOCK_STEP names contains the number of seconds
 * as text.  The monotonic clock does not change.
 *
 * The kernel doesn't know of the step: pthread_cond_timedwait() gets its deadline without
 * it, or it would wait as much longer.  A deadline since 1985 is one of the wall clock.
 * What waited when the step came goes on waiting.
 *
 * Deviation: programs that call the kernel directly see no step. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FILE_SIZE 32
#define YEAR_1985_S 473385600

static long offset_s(void)
{
	static const char *text;
	const char *path = getenv("TRIAD_CLOCK_STEP");
	void *memory;
	int fd;

	if (text)
		return atol(text);
	fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	memory = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (memory != MAP_FAILED)
		text = memory;
	return text ? atol(text) : 0;
}

__attribute__((visibility("default"))) int clock_gettime(
	clockid_t id, struct timespec *time)
{
	int status = (int)syscall(SYS_clock_gettime, id, time);

	if (!status && id == CLOCK_REALTIME)
		time->tv_sec += offset_s();
	return status;
}

__attribute__((visibility("default"))) int gettimeofday(
	struct timeval *restrict value, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	value->tv_sec = now.tv_sec;
	value->tv_usec = now.tv_nsec / 1000;
	return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *value)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (value)
		*value = now.tv_sec;
	return now.tv_sec;
}

typedef int timed_wait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

/* An older function of that name takes other condition variables. */
static timed_wait *find_timed_wait(void)
{
	static timed_wait *found;

	if (!found)
		*(void **)&found =
			dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
	if (!found)
		*(void **)&found = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	return found;
}

__attribute__((visibility("default"))) int pthread_cond_timedwait(
	pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
	const struct timespec *restrict deadline)
{
	struct timespec unstepped = *deadline;

	if (deadline->tv_sec > YEAR_1985_S)
		unstepped.tv_sec -= offset_s();
	return find_timed_wait()(condition, mutex, &unstepped);
}
