/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/format.h"
#include "service/command/health.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "service/command/ports.h"
#include "service/health.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/control.h"
#include "triad/json.h"

/* Width of a line's title for people; the severity's word follows. */
#define TITLE_WIDTH 14
/* So long the verdict says which losses are not known. */
#define UNKNOWN_FOR_US (24 * 3600 * TRIAD_US_PER_S)

static const char *color_of(
	const struct triad_output *output, enum triad_severity severity)
{
	static const char *const colors[TRIAD_N_SEVERITIES] = {
		[TRIAD_OK] = "\033[32m",
		[TRIAD_WARNING] = "\033[33m",
		[TRIAD_CRITICAL] = "\033[1;31m",
		[TRIAD_UNKNOWN] = "\033[35m",
	};

	return output->color ? colors[severity] : "";
}

static const char *color_end(const struct triad_output *output)
{
	return output->color ? "\033[0m" : "";
}

/* --- text --- */

static void put_lines(struct triad_output *output, const struct triad_health *health)
{
	static const char *const words[TRIAD_N_SEVERITIES] = {
		"ok", "WARN", "CRIT", "?"};

	for (uint32_t i = 0; i < health->n_lines; i++) {
		const struct triad_health_line *line = &health->lines[i];

		triad_output_printf(output, "%-*s %s%-4s%s ", TITLE_WIDTH, line->title,
			line->is_off ? "" : color_of(output, line->severity),
			line->is_off ? "-" : words[line->severity], color_end(output));
		triad_command_put_wrapped(
			output, line->text, TITLE_WIDTH + 6, TITLE_WIDTH + 6);
	}
}

static void put_finding(
	struct triad_output *output, const struct triad_health_finding *finding)
{
	char since[TRIAD_CLOCK_TEXT_SIZE], length[TRIAD_CLOCK_TEXT_SIZE], text[640];

	triad_output_printf(output, "%s%s%s  ", color_of(output, finding->severity),
		triad_severity_name(finding->severity), color_end(output));
	snprintf(text, sizeof(text), "%s%s%s", finding->at,
		finding->far_end[0] ? " - " : "", finding->far_end);
	triad_command_put_wrapped(output, text, 10, 10);
	snprintf(text, sizeof(text), "%s", finding->what);
	if (triad_command_format_time(finding->since_us, since)) {
		triad_clock_format_length(
			triad_clock_now_us() - finding->since_us, length);
		snprintf(text, sizeof(text), "%s, since %.19sZ (%s)", finding->what,
			since, length);
	}
	triad_output_printf(output, "    ");
	triad_command_put_wrapped(output, text, 4, 4);
	if (!finding->advice[0])
		return;
	if (finding->alert)
		snprintf(text, sizeof(text), "%s; it is alert %" PRIu64,
			finding->advice, finding->alert);
	else
		snprintf(text, sizeof(text), "%s", finding->advice);
	triad_output_printf(output, "    ");
	triad_command_put_wrapped(output, text, 4, 4);
}

static uint32_t count_findings(const struct triad_health *health)
{
	return health->n_of[TRIAD_WARNING] + health->n_of[TRIAD_CRITICAL] +
		health->n_of[TRIAD_UNKNOWN];
}

/* "" if all losses are known, or nobody asks any more. */
static void describe_unknown(
	const struct triad_health *health, char text[], size_t size)
{
	char since[TRIAD_CLOCK_TEXT_SIZE];
	uint64_t age_us = triad_clock_now_us() - health->knows_since_us;

	*text = '\0';
	if (health->knows_since_us && age_us < UNKNOWN_FOR_US)
		snprintf(text, size, "losses before %.19sZ are not known",
			triad_command_format_time(health->knows_since_us, since));
}

static void put_verdict(struct triad_output *output, const struct triad_health *health)
{
	uint32_t n = count_findings(health);
	char unknown[96];

	triad_output_printf(output, "%s%s%s", color_of(output, health->verdict),
		triad_severity_name(health->verdict), color_end(output));
	if (!n)
		triad_output_printf(output, "  nothing is wrong");
	else
		triad_output_printf(output,
			"  %" PRIu32 " finding%s: %" PRIu32 " critical, %" PRIu32
			" warning%s, %" PRIu32 " not known",
			n, n == 1 ? "" : "s", health->n_of[TRIAD_CRITICAL],
			health->n_of[TRIAD_WARNING],
			health->n_of[TRIAD_WARNING] == 1 ? "" : "s",
			health->n_of[TRIAD_UNKNOWN]);
	if (health->n_silenced)
		triad_output_printf(
			output, "; %" PRIu32 " silenced", health->n_silenced);
	describe_unknown(health, unknown, sizeof(unknown));
	if (*unknown)
		triad_output_printf(output, "\n    %s", unknown);
	triad_output_put(output, "\n", 1);
}

static void put_health_text(
	struct triad_output *output, const struct triad_health *health)
{
	uint32_t n_more = count_findings(health) - health->n_findings;

	put_verdict(output, health);
	for (uint32_t i = 0; i < health->n_findings; i++)
		put_finding(output, &health->findings[i]);
	if (n_more)
		triad_output_printf(output,
			"and %" PRIu32
			" more: 'triadctl alerts' and 'triadctl links --down' list "
			"them\n",
			n_more);
	triad_output_put(output, "\n", 1);
	put_lines(output, health);
}

/* --- for monitoring plugins --- */

/* Replaces each '|' in a text: plugins' performance data begins at the first one. */
static void replace_bars(char *text)
{
	for (; *text; text++)
		if (*text == '|' || *text == '\n')
			*text = '/';
}

static void put_plugin_line(
	struct triad_output *output, const struct triad_health *health)
{
	uint32_t n = count_findings(health);
	char text[640] = "nothing is wrong", unknown[96];

	if (health->n_findings)
		snprintf(text, sizeof(text), "%s%s%s: %s", health->findings[0].at,
			health->findings[0].far_end[0] ? " - " : "",
			health->findings[0].far_end, health->findings[0].what);
	replace_bars(text);
	triad_output_printf(
		output, "TRIAD %s - %s", triad_severity_name(health->verdict), text);
	if (n > 1)
		triad_output_printf(output, " (and %" PRIu32 " more)", n - 1);
	if (health->n_silenced)
		triad_output_printf(
			output, " (%" PRIu32 " silenced)", health->n_silenced);
	describe_unknown(health, unknown, sizeof(unknown));
	if (*unknown)
		triad_output_printf(output, " (%s)", unknown);
	triad_output_printf(output,
		" | ports=%" PRIu32 ";;;0 unanswered=%" PRIu32
		";;;0 links_down=%" PRIu32 ";;;0 alerts=%" PRIu32
		";;;0 critical=%" PRIu32 ";;;0 warnings=%" PRIu32
		";;;0 sweep=%.6fs;;;0\n",
		health->n_ports, health->n_unanswered, health->n_links_down,
		health->n_alerts, health->n_of[TRIAD_CRITICAL],
		health->n_of[TRIAD_WARNING], (double)health->sweep_us / 1e6);
}

/* --- JSON --- */

static const char *text_or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static void put_finding_json(
	struct triad_json *json, const struct triad_health_finding *finding)
{
	char since[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_object_begin(json, NULL);
	triad_json_string(json, "severity", triad_severity_name(finding->severity));
	triad_json_string(json, "what", finding->what);
	triad_json_string(json, "at", finding->at);
	triad_json_string(json, "far_end", text_or_null(finding->far_end));
	triad_json_string(
		json, "since", triad_command_format_time(finding->since_us, since));
	triad_json_string(json, "advice", text_or_null(finding->advice));
	if (finding->alert)
		triad_json_uint(json, "alert", finding->alert);
	else
		triad_json_string(json, "alert", NULL);
	triad_json_object_end(json);
}

static void put_health_json(
	struct triad_output *output, const struct triad_health *health)
{
	char since[TRIAD_CLOCK_TEXT_SIZE];
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_string(&json, "verdict", triad_severity_name(health->verdict));
	triad_json_uint(&json, "critical", health->n_of[TRIAD_CRITICAL]);
	triad_json_uint(&json, "warnings", health->n_of[TRIAD_WARNING]);
	triad_json_uint(&json, "unknown", health->n_of[TRIAD_UNKNOWN]);
	triad_json_string(&json, "losses_known_since",
		health->knows_since_us
			? triad_command_format_time(health->knows_since_us, since)
			: NULL);
	triad_json_array_begin(&json, "findings");
	for (uint32_t i = 0; i < health->n_findings; i++)
		put_finding_json(&json, &health->findings[i]);
	triad_json_array_end(&json);
	triad_json_uint(&json, "more", count_findings(health) - health->n_findings);
	triad_json_array_begin(&json, "parts");
	for (uint32_t i = 0; i < health->n_lines; i++) {
		const struct triad_health_line *line = &health->lines[i];

		triad_json_object_begin(&json, NULL);
		triad_json_string(&json, "part", line->name);
		triad_json_string(&json, "severity",
			line->is_off ? NULL : triad_severity_name(line->severity));
		triad_json_bool(&json, "off", line->is_off);
		triad_json_string(&json, "text", line->text);
		triad_json_object_end(&json);
	}
	triad_json_array_end(&json);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

int triad_command_run_health(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_health health;

	triad_service_health(service, &health);
	if (command->json)
		put_health_json(output, &health);
	else if (command->plugin)
		put_plugin_line(output, &health);
	else
		put_health_text(output, &health);
	return (int)health.verdict;
}

/* --- status --- */

int triad_command_status_exit(struct triad_service *service)
{
	/* Waiting for a fabric is not a failure. */
	return triad_service_conf_state(service) == TRIAD_CONF_BROKEN ||
			triad_perf_state(service->perf) == TRIAD_PERF_NO_TRANSPORT
		? TRIAD_CONTROL_FAILED
		: TRIAD_CONTROL_DONE;
}

int triad_command_put_screen(
	struct triad_service *service, const char *title, struct triad_output *output)
{
	struct triad_health health;

	triad_service_health(service, &health);
	triad_output_printf(output, "%s\n", title);
	put_verdict(output, &health);
	put_lines(output, &health);
	triad_output_printf(output,
		"'triadctl health' says what to do; 'triadctl status "
		"--all' has every number\n");
	return triad_command_status_exit(service);
}
