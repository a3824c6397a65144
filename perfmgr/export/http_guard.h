/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Guards calls of libmicrohttpd, so that they can't end the process.
 *
 * Model: when libmicrohttpd detects an internal error, it calls a function that must not
 * return, by default abort().  Ours leaves the guarded call with longjmp().  The daemon
 * must not be used afterwards: its locks may be held, and its memory is lost.
 *
 * The hook and its argument are global for the process; each thread knows its guarded call.
 * Outside of a guarded call the hook blocks the thread for ever, which is better than
 * ending the SM; Triad has no such calls.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_GUARD_H
#define TRIAD_PERFMGR_EXPORT_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Calls function(argument).  Returns false when libmicrohttpd failed in it; then 'reason'
 * says where. */
bool triad_http_guard(
	void (*function)(void *), void *argument, char *reason, size_t size);

#endif
