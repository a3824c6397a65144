/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Simulates a host without free threads.  Preloaded into opensm, it lets Triad create
 * as many threads as TRIAD_THREADS_LEFT specifies; after that, pthread_create() fails
 * for Triad. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int create_function(
	pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static bool is_triad(void *address)
{
	Dl_info info;

	return dladdr(address, &info) && strstr(info.dli_fname, "libosmtriad");
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
	const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	static atomic_int n_made;
	const char *left = getenv("TRIAD_THREADS_LEFT");
	create_function *next;

	if (left && is_triad(__builtin_return_address(0)) &&
		atomic_fetch_add(&n_made, 1) >= atoi(left))
		return EAGAIN;
	next = (create_function *)(uintptr_t)dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attributes, run, argument);
}
