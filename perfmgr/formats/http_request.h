/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parses requests for metrics by HTTP: headers and arguments.
 *
 *     /metrics?switch=spine-*&counter=PortXmitData&counter=PortRcvData
 *
 *     node=      GUID of a node or of its port, or a shell pattern of its name
 *     switch=    the same, for switches
 *     type=      ca, switch, router
 *     counter=   IBA name of a counter, case ignored: only these counters
 *
 * Each may be repeated; a match with any value is enough.
 *
 * libmicrohttpd parses HTTP; only values come here.  They are from anybody who can
 * reach the port, so no value may do harm.
 *
 * Thread-safety: functions without state.
 * Memory: no allocation.
 * Source: RFC 9110 12.5 (Accept, Accept-Encoding), 7.2 (Host), 13.1.2, 11.4; RFC 6750
 * 2.1 (Bearer). */
#ifndef TRIAD_PERFMGR_HTTP_REQUEST_H
#define TRIAD_PERFMGR_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "perfmgr/formats/metrics.h"

/* Adds one argument.  Returns false for one that is not understood, with a sentence in
 * 'reason' (printable characters only). */
bool triad_http_argument(struct triad_metrics_filter *filter, const char *name,
	const char *value, char *reason, size_t size);

/* The format that 'accept' (a header's value, or NULL) prefers; OpenMetrics only if it
 * is named, in version 1.0.0 or none. */
enum triad_exposition_format triad_http_format(const char *accept);

/* True when 'accept_encoding' (or NULL) accepts gzip. */
bool triad_http_takes_gzip(const char *accept_encoding);

/* The path of a request's target, which may come with scheme and host [RFC 9112, 3.2.2];
 * in 'target' itself, or "/". */
const char *triad_http_path_of(const char *target);

/* Whether a target is 'path', with a query or without. */
bool triad_http_is_path(const char *target, const char *path);

/* The host of such a target, in 'room' and cut at its size; or else 'header', which may be
 * NULL. */
const char *triad_http_host_of(
	const char *target, const char *header, char *room, size_t size);

/* Whether 'host' (a header's value, or NULL) names this server: an address,
 * "localhost", or one of 'names', a list as of triad_host_names_check(); each with any
 * port.  This keeps out a foreign page whose name leads here (DNS rebinding): its
 * requests carry its own name. */
bool triad_http_is_our_host(const char *host, const char *names);

/* Whether 'if_none_match' (or NULL) has 'etag', a strong one with its quotes. */
bool triad_http_has_etag(const char *if_none_match, const char *etag);

/* True when 'authorization' (or NULL) is "Bearer TOKEN".  The time it takes reveals
 * nothing of 'token'. */
bool triad_http_has_token(const char *authorization, const char *token);

#endif
