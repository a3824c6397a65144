/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Replaces the web listener in a build without libmicrohttpd or with --disable-web. */
#include <stdio.h>
#include <stdlib.h>

#include "service/web/web.h"

#define REASON                                                                         \
	"Triad was built without it (--disable-web, or libmicrohttpd was missing)"

struct triad_web {
	struct triad_log *log;
	bool is_wanted;
};

struct triad_web *triad_web_new(
	const struct triad_web_source *source, struct triad_log *log)
{
	struct triad_web *web = calloc(1, sizeof(*web));

	if (web)
		web->log = log;
	return web;
}

void triad_web_configure(struct triad_web *web, const struct triad_conf *conf)
{
	bool was_wanted = web->is_wanted;

	web->is_wanted = conf->web.http.listen[0];
	if (web->is_wanted && !was_wanted)
		triad_log_write(web->log, TRIAD_LOG_ERROR,
			"web: " REASON ", so web.listen is not in force");
}

void triad_web_stop(struct triad_web *web)
{
}

void triad_web_free(struct triad_web *web)
{
	free(web);
}

struct triad_web_status triad_web_status(struct triad_web *web)
{
	struct triad_web_status status = {.is_absent = true};

	if (web->is_wanted)
		snprintf(status.http.reason, sizeof(status.http.reason), REASON);
	return status;
}
