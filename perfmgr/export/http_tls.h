/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Certificates of the server's clients.
 *
 * If libmicrohttpd is given authorities, it requests a certificate, but also accepts
 * clients without one, and checks nothing.  GnuTLS must do that, and this file tells it so
 * for each connection.  It refuses a client in the handshake, before the first request.
 *
 * Thread-safety: no state. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_TLS_H
#define TRIAD_PERFMGR_EXPORT_HTTP_TLS_H

#include <stddef.h>

struct MHD_Connection;

/* Returns 0 when 'pem' has certificates, else EINVAL with a reason: "PATH: why". */
int triad_http_check_authorities(
	const char *pem, const char *path, char *reason, size_t size);

/* For a new connection: makes the handshake succeed only with a certificate of one of the
 * authorities, for use as a client. */
void triad_http_demand_certificate(struct MHD_Connection *connection);

#endif
