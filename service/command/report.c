/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "service/command/format.h"

#define LABEL_WIDTH 22

void triad_report_begin(struct triad_report *report)
{
	triad_json_init(&report->json, report->output);
	if (report->as_json)
		triad_json_object_begin(&report->json, NULL);
}

void triad_report_end(struct triad_report *report)
{
	if (!report->as_json)
		return;
	triad_json_object_end(&report->json);
	triad_json_end(&report->json);
}

void triad_report_array(struct triad_report *report, const char *name)
{
	if (!report->as_json)
		return;
	if (!name)
		triad_json_init(&report->json, report->output);
	triad_json_array_begin(&report->json, name);
}

void triad_report_array_end(struct triad_report *report)
{
	if (!report->as_json)
		return;
	triad_json_array_end(&report->json);
	if (!report->json.depth)
		triad_json_end(&report->json);
}

void triad_report_section(
	struct triad_report *report, const char *name, const char *title)
{
	if (report->as_json)
		triad_json_object_begin(&report->json, name);
	else
		triad_output_printf(report->output, "%s%s%s\n",
			report->output->color ? "\033[1m" : "", title,
			report->output->color ? "\033[0m" : "");
}

void triad_report_section_end(struct triad_report *report)
{
	if (report->as_json)
		triad_json_object_end(&report->json);
}

void triad_report_uint(struct triad_report *report, const char *name, const char *label,
	uint64_t value, const char *unit)
{
	if (report->as_json)
		triad_json_uint(&report->json, name, value);
	else
		triad_output_printf(report->output, "  %-*s %" PRIu64 "%s%s\n",
			LABEL_WIDTH, label, value, unit[0] ? " " : "", unit);
}

/* Writes a line, and breaks long sentences. */
static void put_labelled_line(
	struct triad_output *output, const char *label, const char *value)
{
	int width = triad_command_width(label);
	unsigned column = 2 + (unsigned)(width > LABEL_WIDTH ? width : LABEL_WIDTH) + 1;

	triad_output_printf(output, "  %-*s ", LABEL_WIDTH, label);
	triad_command_put_wrapped(output, value, column, 2 + LABEL_WIDTH + 1);
}

void triad_report_text(struct triad_report *report, const char *name, const char *label,
	const char *value)
{
	if (report->as_json)
		triad_json_string(&report->json, name, value);
	else
		put_labelled_line(report->output, label, value ? value : "-");
}

void triad_report_octets(struct triad_report *report, const char *name,
	const char *label, uint64_t octets)
{
	if (report->as_json)
		triad_json_uint(&report->json, name, octets);
	else
		triad_output_printf(report->output, "  %-*s %.1f MB\n", LABEL_WIDTH,
			label, (double)octets / 1e6);
}

void triad_report_guid(
	struct triad_report *report, const char *name, const char *label, uint64_t guid)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	triad_report_text(report, name, label, text);
}

static const char *unit_of(const struct triad_fact *fact)
{
	static const char *const units[] = {
		[TRIAD_FACT_US] = "us",
		[TRIAD_FACT_MS] = "ms",
		[TRIAD_FACT_NS] = "ns",
	};

	if (fact->unit)
		return fact->unit;
	return fact->member.kind <= TRIAD_FACT_NS && units[fact->member.kind]
		? units[fact->member.kind]
		: "";
}

static void report_fact(
	struct triad_report *report, const struct triad_fact *fact, const void *status)
{
	char text[TRIAD_CLOCK_TEXT_SIZE];

	if (fact->is_trouble && !report->as_json && !triad_fact_uint(fact, status))
		return;
	switch (fact->member.kind) {
	case TRIAD_FACT_TEXT:
	case TRIAD_FACT_ERROR:
	case TRIAD_FACT_WHEN:
		triad_report_text(report, fact->name, fact->label,
			triad_fact_text(fact, status, text));
		break;
	case TRIAD_FACT_OCTETS:
		triad_report_octets(
			report, fact->name, fact->label, triad_fact_uint(fact, status));
		break;
	default:
		triad_report_uint(report, fact->name, fact->label,
			triad_fact_uint(fact, status), unit_of(fact));
	}
}

void triad_report_facts(
	struct triad_report *report, const struct triad_fact *facts, const void *status)
{
	for (; facts->member.kind != TRIAD_FACT_END; facts++)
		if (facts->name)
			report_fact(report, facts, status);
}
