/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The description of the REST interface in OpenAPI 3.0.  It is made from the tables of
 * commands and options that resource.c reads, so the two agree.
 *
 * schemas.json has the schema of each command's answer.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SERVICE_WEB_OPENAPI_H
#define TRIAD_SERVICE_WEB_OPENAPI_H

#include "service/web/web.h"

/* Writes the description of the commands that 'source' has.  Returns a status of
 * triad/control.h. */
int triad_openapi_put(
	const struct triad_web_source *source, struct triad_output *output);

#endif
