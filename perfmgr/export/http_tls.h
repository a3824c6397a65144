/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Certificates of the server's clients.
 *
 * libmicrohttpd asks clients for a certificate when it is given authorities, but takes
 * those without one, too, and checks nothing: that is GnuTLS's work, told here for each
 * connection.  A client is refused in the handshake, before it can ask for anything.
 *
 * Thread-safety: no state. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_TLS_H
#define TRIAD_PERFMGR_EXPORT_HTTP_TLS_H

#include <stddef.h>

struct MHD_Connection;

/* Returns 0 when 'pem' has certificates, else EINVAL with a reason: "PATH: why". */
int triad_http_check_authorities(
	const char *pem, const char *path, char *reason, size_t size);

/* For a connection that begins: only a client with a certificate of one of the
 * authorities, for the use as a client, gets through the handshake. */
void triad_http_demand_certificate(struct MHD_Connection *connection);

#endif
