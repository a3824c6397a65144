/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/http_tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include "perfmgr/export/microhttpd.h"

int triad_http_check_authorities(
	const char *pem, const char *path, char *reason, size_t size)
{
	const gnutls_datum_t data = {
		.data = (unsigned char *)pem, .size = (unsigned)strlen(pem)};
	gnutls_x509_crt_t *certificates = NULL;
	unsigned n = 0;
	int result = gnutls_x509_crt_list_import2(
		&certificates, &n, &data, GNUTLS_X509_FMT_PEM, 0);

	for (unsigned i = 0; result >= 0 && i < n; i++)
		gnutls_x509_crt_deinit(certificates[i]);
	if (result >= 0)
		gnutls_free(certificates);
	if (result >= 0 && n)
		return 0;
	snprintf(reason, size, "%s: not certificates in PEM: %s", path,
		result < 0 ? gnutls_strerror(result) : "there is none");
	return EINVAL;
}

void triad_http_demand_certificate(struct MHD_Connection *connection)
{
	static gnutls_typed_vdata_st use = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	gnutls_session_t session = info ? info->tls_session : NULL;

	if (!session)
		return;
	gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
	gnutls_session_set_verify_cert2(session, &use, 1, 0);
}
