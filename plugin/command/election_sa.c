/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What 'election' says of the SA's records. */
#include "plugin/command/commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "plugin/facts.h"
#include "plugin/instance.h"
#include "plugin/sa/sa_copies.h"
#include "service/command/report.h"
#include "triad/clock.h"

static const char *role_word(enum triad_sa_role role)
{
	static const char *const words[] = {
		[TRIAD_SA_RESTS] = "waits",
		[TRIAD_SA_GIVES] = "gives",
		[TRIAD_SA_TAKES] = "takes",
	};

	return words[role];
}

static void put_sa_json(
	struct triad_report *report, const struct triad_sa_copies_status *status)
{
	const struct triad_sa_copier_status *copier = &status->copier;
	struct triad_json *json = &report->json;

	triad_json_bool(json, "enabled", status->is_on);
	triad_json_string(json, "role", status->is_on ? role_word(copier->role) : NULL);
	triad_json_guid(json, "source", copier->source);
	triad_json_bool(json, "complete", copier->is_complete);
	triad_json_uint(json, "age_ms",
		copier->equal_us ? (status->now_us - copier->equal_us) / TRIAD_US_PER_MS
				 : 0);
	triad_json_bool(json, "given", status->is_given);
	triad_json_bool(json, "current", status->is_current);
	triad_json_string(json, "trouble", status->trouble);
	triad_json_string(json, "error", status->error ? status->error_text : NULL);
}

static void put_copy(
	struct triad_report *report, const struct triad_sa_copies_status *status)
{
	const struct triad_sa_copier_status *copier = &status->copier;
	char text[80], length[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format_length(status->now_us - copier->equal_us, length);
	if (copier->role == TRIAD_SA_GIVES)
		snprintf(text, sizeof(text), "has its own%s",
			copier->is_outdated ? ", but another SM became master later"
					    : "");
	else if (!copier->equal_us)
		snprintf(text, sizeof(text), "has no copy yet");
	else
		snprintf(text, sizeof(text), "has a copy, %s %s ago",
			copier->is_complete ? "complete" : "last complete", length);
	triad_report_text(report, NULL, "this SM", text);
	if (copier->role != TRIAD_SA_GIVES && copier->source)
		triad_report_guid(report, NULL, "of SM", copier->source);
	triad_report_text(report, NULL, "OpenSM restores them",
		status->is_given ? "yes, as master" : "no");
	triad_report_text(report, NULL, "trouble", status->trouble);
	if (status->error)
		triad_report_text(report, NULL, "last file", status->error_text);
}

void triad_command_report_sa_copies(
	struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_sa_copies_status status;

	triad_sa_copies_status(plugin->sa_copies, &status);
	if (!status.is_on && !report->as_json)
		return;
	triad_report_section(report, "sa", "Records of the SA");
	if (report->as_json)
		put_sa_json(report, &status);
	else
		put_copy(report, &status);
	triad_report_facts(report, triad_sa_record_facts, &status);
	triad_report_facts(report, triad_sa_copy_facts, &status);
	triad_report_section_end(report);
}
