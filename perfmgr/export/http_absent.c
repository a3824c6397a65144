/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Replaces the HTTP server in a build without libmicrohttpd. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfmgr/export/http.h"

#define REASON                                                                         \
	"Triad was built without libmicrohttpd: install libmicrohttpd-dev and "        \
	"libgnutls28-dev and build again"

struct triad_http {
	const char *section;
	struct triad_log *log;
	atomic_bool is_wanted;
};

struct triad_http *triad_http_new(
	const struct triad_http_callbacks *callbacks, struct triad_log *log)
{
	struct triad_http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	http->section = callbacks->section;
	http->log = log;
	return http;
}

int triad_http_configure(
	struct triad_http *http, const struct triad_http_params *params)
{
	bool was_wanted = atomic_exchange(&http->is_wanted, params != NULL);

	if (params && !was_wanted)
		triad_log_write(http->log, TRIAD_LOG_ERROR,
			"%s: " REASON "; until then %s.listen is not in force",
			http->section, http->section);
	return params ? ENOTSUP : 0;
}

int triad_http_configure_listener(struct triad_http *http,
	const struct triad_conf_listener *listener, unsigned max_clients,
	const char *names)
{
	const struct triad_http_params params = {.max_clients = max_clients};

	return triad_http_configure(http, *listener->listen ? &params : NULL);
}

struct triad_http_status triad_http_status(const struct triad_http *http)
{
	struct triad_http_status status = {0};

	if (atomic_load(&http->is_wanted))
		snprintf(status.reason, sizeof(status.reason), REASON);
	return status;
}

void triad_http_wake(struct triad_http *http)
{
	(void)http;
}

void triad_http_free(struct triad_http *http)
{
	free(http);
}
