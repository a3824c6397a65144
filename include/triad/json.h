/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes JSON to an output as it goes: nothing is kept, so a document of a million
 * rows takes no memory, and 64-bit counters keep all their digits (json-glib has
 * signed integers and builds the whole document first).
 *
 * 'name' is NULL inside an array and at the top.  Nesting is at most 16 deep.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_JSON_H
#define TRIAD_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/output.h"

#define TRIAD_JSON_MAX_DEPTH 16

struct triad_json {
	struct triad_output *output;
	unsigned depth;
	bool some[TRIAD_JSON_MAX_DEPTH]; /* something was written at that depth */
};

void triad_json_init(struct triad_json *json, struct triad_output *output);

void triad_json_object_begin(struct triad_json *json, const char *name);
void triad_json_object_end(struct triad_json *json);
void triad_json_array_begin(struct triad_json *json, const char *name);
void triad_json_array_end(struct triad_json *json);

/* 'value' is UTF-8; NULL gives null. */
void triad_json_string(struct triad_json *json, const char *name, const char *value);
void triad_json_uint(struct triad_json *json, const char *name, uint64_t value);
void triad_json_double(struct triad_json *json, const char *name, double value);
void triad_json_bool(struct triad_json *json, const char *name, bool value);

/* As "0x0123456789abcdef"; 0 gives null. */
void triad_json_guid(struct triad_json *json, const char *name, uint64_t guid);

/* Writes the newline after the document. */
void triad_json_end(struct triad_json *json);

#endif
