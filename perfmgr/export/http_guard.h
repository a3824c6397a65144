/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Guards calls of libmicrohttpd, which must not end the process.
 *
 * Model: when libmicrohttpd finds itself broken, it calls a hook that must not return;
 * the default is abort().  Our hook leaves the guarded call with longjmp().  The daemon
 * concerned must not be touched afterwards: its locks may be held, and its memory is
 * lost.
 *
 * The hook and its argument are one for the process; which call is guarded is known for
 * each thread.  Outside of a guarded call the hook blocks the thread for ever, which is
 * better than ending the SM; Triad has no such calls.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_GUARD_H
#define TRIAD_PERFMGR_EXPORT_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Calls function(argument).  Returns false when libmicrohttpd gave up in it, with the
 * place in 'reason'. */
bool triad_http_guard(
	void (*function)(void *), void *argument, char *reason, size_t size);

#endif
