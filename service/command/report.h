/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes facts in sections, as a table or as JSON.
 *
 * Each fact has a name for JSON and a label for people.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_SERVICE_COMMAND_REPORT_H
#define TRIAD_SERVICE_COMMAND_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "service/fact.h"
#include "triad/json.h"
#include "triad/output.h"

struct triad_report {
	struct triad_output *output;
	struct triad_json json;
	bool as_json;
};

/* The document, an object in JSON; no text for people. */
void triad_report_begin(struct triad_report *report);
void triad_report_end(struct triad_report *report);

/* An array, or the document when 'name' is NULL; no text for people. */
void triad_report_array(struct triad_report *report, const char *name);
void triad_report_array_end(struct triad_report *report);

void triad_report_section(
	struct triad_report *report, const char *name, const char *title);
void triad_report_section_end(struct triad_report *report);

void triad_report_uint(struct triad_report *report, const char *name, const char *label,
	uint64_t value, const char *unit);

/* NULL: null in JSON, "-" in text. */
void triad_report_text(struct triad_report *report, const char *name, const char *label,
	const char *value);

/* In MB for people. */
void triad_report_octets(struct triad_report *report, const char *name,
	const char *label, uint64_t octets);

/* The facts of a table that have a name (service/fact.h), in its order. */
void triad_report_facts(struct triad_report *report, const struct triad_fact *facts,
	const void *status);

void triad_report_guid(struct triad_report *report, const char *name, const char *label,
	uint64_t guid);

#endif
