/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checks the certificates of the server's clients.
 *
 * libmicrohttpd asks clients for a certificate when it is given authorities, but also
 * accepts clients without one, and checks nothing.  So this tells GnuTLS to check, for
 * each connection.  A bad client fails in the handshake, before it can send a request.
 *
 * Thread-safety: no state. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_TLS_H
#define TRIAD_PERFMGR_EXPORT_HTTP_TLS_H

#include <stddef.h>

struct MHD_Connection;

/* Returns 0 when 'pem' has certificates, else EINVAL with a reason: "PATH: why". */
int triad_http_check_authorities(
	const char *pem, const char *path, char *reason, size_t size);

/* For a new connection: only a client with a certificate of one of the authorities,
 * valid for clients, completes the handshake. */
void triad_http_demand_certificate(struct MHD_Connection *connection);

#endif
