/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Calls of libmicrohttpd that must not end the process.
 *
 * Model: when libmicrohttpd finds itself broken it calls a function that must not
 * return; the usual one is abort().  Ours leaves the call that was guarded, with
 * longjmp().  The daemon it was about must not be touched afterwards: its locks may be
 * held, its memory is given up.
 *
 * The hook is one for the process, and its argument too; which call is guarded is known
 * for each thread.  Outside of a guarded call the hook holds the thread for ever,
 * because that still is better than to end the SM; Triad has no such calls.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_GUARD_H
#define TRIAD_PERFMGR_EXPORT_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Calls function(argument).  Returns false when libmicrohttpd gave up in it; then
 * 'reason' says where. */
bool triad_http_guard(
	void (*function)(void *), void *argument, char *reason, size_t size);

#endif
