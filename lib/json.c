/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void triad_json_init(struct triad_json *json, struct triad_output *output)
{
	*json = (struct triad_json){.output = output};
}

static void put_raw(struct triad_json *json, const char *text)
{
	triad_output_put(json->output, text, strlen(text));
}

static void put_string(struct triad_json *json, const char *text)
{
	put_raw(json, "\"");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			triad_output_printf(json->output, "\\%c", c);
		else if (c < 0x20)
			triad_output_printf(json->output, "\\u%04x", c);
		else
			triad_output_put(json->output, text, 1);
	}
	put_raw(json, "\"");
}

/* The comma and the name before a value. */
static void begin_value(struct triad_json *json, const char *name)
{
	if (json->some[json->depth])
		put_raw(json, ",");
	json->some[json->depth] = true;
	if (!name)
		return;
	put_string(json, name);
	put_raw(json, ":");
}

static void begin_bracket(
	struct triad_json *json, const char *name, const char *bracket)
{
	begin_value(json, name);
	put_raw(json, bracket);
	if (json->depth + 1 < TRIAD_JSON_MAX_DEPTH)
		json->depth++;
	json->some[json->depth] = false;
}

static void end_bracket(struct triad_json *json, const char *bracket)
{
	if (json->depth)
		json->depth--;
	put_raw(json, bracket);
}

void triad_json_object_begin(struct triad_json *json, const char *name)
{
	begin_bracket(json, name, "{");
}

void triad_json_object_end(struct triad_json *json)
{
	end_bracket(json, "}");
}

void triad_json_array_begin(struct triad_json *json, const char *name)
{
	begin_bracket(json, name, "[");
}

void triad_json_array_end(struct triad_json *json)
{
	end_bracket(json, "]");
}

void triad_json_string(struct triad_json *json, const char *name, const char *value)
{
	begin_value(json, name);
	if (value)
		put_string(json, value);
	else
		put_raw(json, "null");
}

void triad_json_uint(struct triad_json *json, const char *name, uint64_t value)
{
	begin_value(json, name);
	triad_output_printf(json->output, "%" PRIu64, value);
}

void triad_json_double(struct triad_json *json, const char *name, double value)
{
	begin_value(json, name);
	if (isfinite(value))
		triad_output_printf(json->output, "%.15g", value);
	else
		put_raw(json, "null");
}

void triad_json_bool(struct triad_json *json, const char *name, bool value)
{
	begin_value(json, name);
	put_raw(json, value ? "true" : "false");
}

void triad_json_guid(struct triad_json *json, const char *name, uint64_t guid)
{
	begin_value(json, name);
	if (guid)
		triad_output_printf(json->output, "\"0x%016" PRIx64 "\"", guid);
	else
		put_raw(json, "null");
}

void triad_json_end(struct triad_json *json)
{
	put_raw(json, "\n");
}
