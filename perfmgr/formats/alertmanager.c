/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/alertmanager.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "triad/clock.h"
#include "triad/json.h"

static const char *alert_name(enum triad_alert_kind kind)
{
	static const char *const names[TRIAD_ALERT_N_KINDS] = {
		[TRIAD_ALERT_KIND_COUNTER] = "TriadCounter",
		[TRIAD_ALERT_KIND_SLOW_LINK] = "TriadSlowLink",
		[TRIAD_ALERT_KIND_UNANSWERED] = "TriadUnanswered",
		[TRIAD_ALERT_KIND_LINK_DOWN] = "TriadLinkDown",
		[TRIAD_ALERT_KIND_NODE_GONE] = "TriadNodeGone",
		[TRIAD_ALERT_KIND_BER] = "TriadBitErrorRate",
		[TRIAD_ALERT_KIND_DETAIL] = "TriadDetail",
		[TRIAD_ALERT_KIND_HARDWARE] = "TriadHardware",
		[TRIAD_ALERT_KIND_ROUTES] = "TriadRoutes",
		[TRIAD_ALERT_KIND_CONGESTION] = "TriadCongestion",
		[TRIAD_ALERT_KIND_REQUESTS] = "TriadRequests",
	};

	return names[kind];
}

/* --- labels --- */

static void put_label(struct triad_json *json, const char *name, const char *value)
{
	if (value[0])
		triad_json_string(json, name, value);
}

static void put_port_label(
	struct triad_json *json, const char *name, const struct triad_alert_end *end)
{
	char text[8];

	if (end->port == TRIAD_ALERT_NO_PORT)
		return;
	snprintf(text, sizeof(text), "%u", end->port);
	triad_json_string(json, name, text);
}

static void put_labels(
	struct triad_json *json, const struct triad_outgoing_alert *reported)
{
	const struct triad_alert_end *end = &reported->ends[0],
				     *far_end = &reported->ends[1];

	triad_json_object_begin(json, "labels");
	put_label(json, "alertname", alert_name(reported->kind));
	put_label(json, "severity",
		reported->severity == TRIAD_CRITICAL ? "critical" : "warning");
	put_label(json, "kind", triad_alert_kind_name(reported->kind));
	put_label(json, "what", triad_alert_cause_name(reported->cause));
	put_label(json, "node", end->node_name);
	put_label(json, "node_type", triad_node_type_name(end->node_type));
	triad_json_guid(json, "guid", end->node_guid);
	put_port_label(json, "port", end);
	if (reported->n_ends > 1) {
		put_label(json, "far_end", far_end->node_name);
		triad_json_guid(json, "far_end_guid", far_end->node_guid);
		put_port_label(json, "far_end_port", far_end);
	}
	triad_json_object_end(json);
}

/* --- annotations --- */

static void put_annotations(struct triad_json *json,
	const struct triad_outgoing_alert *reported,
	const struct triad_alertmanager_sender *sender)
{
	char text[TRIAD_ALERT_TEXT_SIZE], number[24];
	const char *advice = triad_alert_advice(&reported->alert);

	triad_json_object_begin(json, "annotations");
	triad_alert_location_format(&reported->alert, text, sizeof(text));
	triad_text_append(text, sizeof(text), ": %s",
		triad_alert_cause_name(reported->alert.findings[0].cause));
	triad_json_string(json, "summary", text);
	triad_alert_findings_format(&reported->alert, text, sizeof(text));
	triad_json_string(json, "description", text);
	if (advice)
		triad_json_string(json, "advice", advice);
	snprintf(number, sizeof(number), "%" PRIu64, reported->alert.id);
	triad_json_string(json, "alert", number);
	put_label(json, "host", sender->host);
	triad_json_object_end(json);
}

static void put_time(struct triad_json *json, const char *name, uint64_t wall_us)
{
	char text[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format(wall_us, text);
	triad_json_string(json, name, text);
}

/* --- the body --- */

struct body {
	char *text;
	size_t length, size;
};

static bool append_piece(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	struct body *body = context;

	if (size > body->size - body->length)
		return false;
	memcpy(body->text + body->length, data, size);
	body->length += size;
	return true;
}

size_t triad_alertmanager_body(const struct triad_outgoing_alert *alerts, size_t n,
	const struct triad_alertmanager_sender *sender, char *text)
{
	struct body body = {
		.text = text, .size = 2 + n * TRIAD_ALERTMANAGER_ALERT_SIZE};
	struct triad_output output;
	struct triad_json json;

	triad_output_init(&output, append_piece, &body);
	triad_json_init(&json, &output);
	triad_json_array_begin(&json, NULL);
	for (size_t i = 0; i < n; i++) {
		triad_json_object_begin(&json, NULL);
		put_labels(&json, &alerts[i]);
		put_annotations(&json, &alerts[i], sender);
		put_time(&json, "startsAt", alerts[i].began_wall_us);
		if (alerts[i].ended_wall_us)
			put_time(&json, "endsAt", alerts[i].ended_wall_us);
		if (sender->url[0])
			triad_json_string(&json, "generatorURL", sender->url);
		triad_json_object_end(&json);
	}
	triad_json_array_end(&json);
	triad_output_flush(&output);
	return body.length;
}
