/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "command/versions.h"

#include "triad/control.h"
#include "triad/json.h"

static void put_versions_json(
	const struct triad_versions *versions, struct triad_output *output)
{
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_string(
		&json, "triadctl", *versions->client ? versions->client : NULL);
	triad_json_string(&json, "program", versions->program);
	triad_json_string(
		&json, "version", versions->program ? versions->server : NULL);
	triad_json_string(&json, "sm", versions->sm);
	triad_json_uint(&json, "protocol", TRIAD_CONTROL_VERSION);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

void triad_versions_put(const struct triad_versions *versions, bool as_json,
	struct triad_output *output)
{
	if (as_json) {
		put_versions_json(versions, output);
		return;
	}
	if (*versions->client)
		triad_output_printf(output, "triadctl  %s\n", versions->client);
	if (!versions->program)
		triad_output_printf(output, "answers   nothing\n");
	else if (versions->sm)
		triad_output_printf(output, "answers   Triad %s in %s\n",
			versions->server, versions->sm);
	else
		triad_output_printf(output, "answers   %s %s\n", versions->program,
			versions->server);
	triad_output_printf(output, "protocol  %u\n", TRIAD_CONTROL_VERSION);
}
