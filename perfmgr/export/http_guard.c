/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/http_guard.h"

#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

#include "perfmgr/export/microhttpd.h"

struct guard {
	jmp_buf back;
	char *reason;
	size_t size;
};

/* Per thread, because libmicrohttpd's hook does not get to know its call. */
static __thread struct guard *guarded;

static void give_up(void *context, const char *file, unsigned line, const char *reason)
{
	struct guard *guard = guarded;

	(void)context;
	/* No guarded call to go back to, and a return would end OpenSM: block. */
	while (!guard)
		pause();
	snprintf(guard->reason, guard->size, "%.100s (%.60s:%u)",
		reason ? reason : "no reason given", file ? file : "?", line);
	longjmp(guard->back, 1);
}

bool triad_http_guard(
	void (*function)(void *), void *argument, char *reason, size_t size)
{
	struct guard guard = {.reason = reason, .size = size};

	MHD_set_panic_func(give_up, NULL);
	/* libmicrohttpd gave up: its daemon must not be used again. */
	if (setjmp(guard.back)) {
		guarded = NULL;
		return false;
	}
	guarded = &guard;
	function(argument);
	guarded = NULL;
	return true;
}
