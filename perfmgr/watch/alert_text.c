/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/alert_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "congestion/roots.h"
#include "ib/slow_links.h"
#include "ib/node_label.h"
#include "lib/text.h"
#include "perfmgr/watch/alert_findings.h"
#include "triad/clock.h"

const char *triad_alert_cause_name(unsigned cause)
{
	static const char *const others[] = {
		[TRIAD_ALERT_UNANSWERED - TRIAD_N_COUNTERS] = "unanswered",
		[TRIAD_ALERT_LINK_DOWN - TRIAD_N_COUNTERS] = "link down",
		[TRIAD_ALERT_NODE_GONE - TRIAD_N_COUNTERS] = "node gone",
		[TRIAD_ALERT_BER - TRIAD_N_COUNTERS] = "bit error rate",
		[TRIAD_ALERT_DETAIL - TRIAD_N_COUNTERS] = "detail",
		[TRIAD_ALERT_MODULE - TRIAD_N_COUNTERS] = "module",
		[TRIAD_ALERT_DEVICE - TRIAD_N_COUNTERS] = "device",
		[TRIAD_ALERT_ROUTES - TRIAD_N_COUNTERS] = "routes",
		[TRIAD_ALERT_CONGESTION - TRIAD_N_COUNTERS] = "congestion",
		[TRIAD_ALERT_SLOW_LINK - TRIAD_N_COUNTERS] = "slow link",
	};

	if (cause < TRIAD_N_COUNTERS)
		return triad_counters[cause].name;
	return cause < TRIAD_ALERT_N_CAUSES ? others[cause - TRIAD_N_COUNTERS] : "";
}

const char *triad_alert_change_name(enum triad_alert_change change)
{
	switch (change) {
	case TRIAD_ALERT_RAISED:
		return "raised";
	case TRIAD_ALERT_JOINED:
		return "joined";
	case TRIAD_ALERT_ENDED:
		return "cleared";
	case TRIAD_ALERT_SILENCED:
		return "silenced";
	case TRIAD_ALERT_RESTORED:
		return "restored";
	case TRIAD_ALERT_UNSILENCED:
	case TRIAD_ALERT_N_CHANGES:
		break;
	}
	return "unsilenced";
}

static const char *format_time(
	uint64_t at_us, int64_t wall_offset_us, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	triad_clock_format((uint64_t)((int64_t)at_us + wall_offset_us), text);
	return text;
}

/* NULL for a time that has not come. */
static const char *format_time_if_any(
	uint64_t at_us, int64_t wall_offset_us, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	return at_us ? format_time(at_us, wall_offset_us, text) : NULL;
}

static const char *unit_of(const struct triad_alert_finding *finding)
{
	switch (finding->threshold.unit) {
	case TRIAD_THRESHOLD_PER_SWEEP:
		return "/sweep";
	case TRIAD_THRESHOLD_PER_S:
		return "/s";
	case TRIAD_THRESHOLD_PERCENT:
		return "%";
	default:
		return "";
	}
}

/* --- words --- */

void triad_alert_end_format(const struct triad_alert_end *end, char *text, size_t size)
{
	snprintf(text, size, "%s %s (0x%016" PRIx64 ")",
		triad_node_type_name(end->node_type), end->node_name, end->node_guid);
	if (end->port != TRIAD_ALERT_NO_PORT)
		triad_text_append(text, size, " port %u", end->port);
}

/* Four digits that count, and of larger numbers all before the point. */
static void append_number(double number, char *text, size_t size)
{
	if (number < 1000)
		triad_text_append(text, size, "%.4g", number);
	else
		triad_text_append(text, size, "%.0f", number);
}

static void append_counter(
	const struct triad_alert_finding *finding, char *text, size_t size)
{
	char threshold[64];

	triad_threshold_format(&finding->threshold, threshold, sizeof(threshold));
	triad_text_append(text, size, "%s %s", triad_alert_cause_name(finding->cause),
		finding->at_least ? "at least " : "");
	append_number((double)finding->worst, text, size);
	triad_text_append(text, size, "%s (threshold %s)", unit_of(finding), threshold);
	if (finding->why.field)
		triad_text_append(text, size, ", %s of them %s",
			finding->why.is_only_one ? "all" : "most",
			triad_alert_why_name(finding->why));
}

static void append_ber(
	const struct triad_alert_finding *finding, char *text, size_t size)
{
	if (finding->value <= 0) {
		triad_text_append(text, size, "bit error rate over its target");
		return;
	}
	triad_text_append(text, size,
		"%s bit error rate %.2g (%.2g to %.2g; target %.2g), by %.0f s",
		triad_ber_kind_name(finding->ber.kind), (double)finding->value,
		(double)finding->ber.low, (double)finding->ber.high,
		(double)finding->ber.target, (double)finding->ber.in_s);
}

static void append_detail(
	const struct triad_alert_finding *finding, char *text, size_t size)
{
	const struct triad_detail_field *field;
	char name[64], threshold[64];

	if (!finding->why.field) {
		triad_text_append(text, size, "a detail over its threshold");
		return;
	}
	field = &triad_detail_fields[finding->why.field - 1];
	triad_detail_format_name(
		field, field->slot + finding->why.element, name, sizeof(name));
	triad_threshold_format(&finding->threshold, threshold, sizeof(threshold));
	triad_text_append(
		text, size, "%s %s", name, finding->at_least ? "at least " : "");
	append_number((double)finding->worst, text, size);
	triad_text_append(text, size, "/s (threshold %s)", threshold);
}

static bool is_of_hardware(unsigned cause)
{
	return cause == TRIAD_ALERT_MODULE || cause == TRIAD_ALERT_DEVICE;
}

static void append_hardware(
	const struct triad_alert_finding *finding, char *text, size_t size)
{
	const struct triad_hardware_finding found = {
		.fault = finding->hardware.fault,
		.index = finding->hardware.index,
		.value = (double)finding->value,
		.limit = (double)finding->hardware.limit,
	};
	char what[128];

	triad_hardware_finding_format(&found, what, sizeof(what));
	triad_text_append(text, size, "%s", what);
}

/* As 'routes check' names them. */
static const char *routes_name(unsigned routes)
{
	static const char *const names[TRIAD_ALERT_N_ROUTES] = {
		[TRIAD_ALERT_CREDIT_LOOPS] = "credit_loops",
		[TRIAD_ALERT_MULTICAST_LOOPS] = "multicast_loops",
		[TRIAD_ALERT_FORWARDING_LOOPS] = "forwarding_loops",
		[TRIAD_ALERT_UNREACHABLE_PAIRS] = "unreachable_pairs",
		[TRIAD_ALERT_DEAD_PORTS] = "dead_port_entries",
		[TRIAD_ALERT_UNREACHABLE_SWITCHES] = "unreachable_switches",
		[TRIAD_ALERT_TURNS] = "down_up_turns",
		[TRIAD_ALERT_DEVICE_TABLES] = "device_tables",
		[TRIAD_ALERT_REQUESTS] = "harmful_requests",
		[TRIAD_ALERT_HELD_LINKS] = "held_links",
		[TRIAD_ALERT_STAYS_OUT] = "links_that_stay_out",
	};

	return routes < TRIAD_ALERT_N_ROUTES ? names[routes] : NULL;
}

static void append_routes(
	const struct triad_alert_finding *finding, char *text, size_t size)
{
	/* Of one, and of several. */
	static const char *const what[TRIAD_ALERT_N_ROUTES][2] = {
		[TRIAD_ALERT_CREDIT_LOOPS] = {"credit loop, here",
			"credit loops, one of them here"},
		[TRIAD_ALERT_MULTICAST_LOOPS] = {"multicast tree that loops, here",
			"multicast trees that loop, one of them here"},
		[TRIAD_ALERT_FORWARDING_LOOPS] = {"forwarding loop, here",
			"forwarding loops, one of them here"},
		[TRIAD_ALERT_UNREACHABLE_PAIRS] =
			{"pair of hosts that don't reach each other, from here",
				"pairs of hosts that don't reach each other, one from "
				"here"},
		[TRIAD_ALERT_DEAD_PORTS] = {"LID that is sent to this dead port",
			"LIDs that are sent to dead ports, one of them to this"},
		[TRIAD_ALERT_UNREACHABLE_SWITCHES] =
			{"way between the SM's port and a switch that leads nowhere",
				"ways between the SM's port and a switch that lead "
				"nowhere"},
		[TRIAD_ALERT_TURNS] = {"turn from down to up in a tree, here",
			"turns from down to up in a tree, one of them here"},
		[TRIAD_ALERT_DEVICE_TABLES] =
			{"setting or entry that this device has otherwise than the SM wants",
				"settings and entries that devices have otherwise than the "
				"SM wants, one of them here"},
		[TRIAD_ALERT_REQUESTS] =
			{"request from here that can stall or end OpenSM",
				"requests from here that can stall or end OpenSM"},
		[TRIAD_ALERT_HELD_LINKS] = {"link is held out of routing, this",
			"links are held out of routing, the worst here"},
		[TRIAD_ALERT_STAYS_OUT] = {"link stays out of routing, this",
			"links stay out of routing, one of them here"},
	};
	bool are_several = finding->value != 1;

	triad_text_append(text, size, "%s: %.0f %s",
		finding->routes == TRIAD_ALERT_REQUESTS ? "SA" : "routes",
		(double)finding->value,
		finding->routes < TRIAD_ALERT_N_ROUTES
			? what[finding->routes][are_several]
			: "?");
}

static void append_congestion(
	const struct triad_alert_finding *finding, char *text, size_t size)
{
	char vl[16] = "";

	if (finding->congestion.vl != TRIAD_CONGESTION_NO_VL)
		snprintf(vl, sizeof(vl), " on VL%u", finding->congestion.vl);
	triad_text_append(text, size,
		"congestion: %s%s, %.0f port%s wait%s, %.1f Gb/s lost",
		triad_congestion_kind_name(finding->congestion.kind), vl,
		(double)finding->value, finding->value == 1 ? "" : "s",
		finding->value == 1 ? "s" : "",
		(double)finding->congestion.loss_bps / 1e9);
}

static void append_slow_link(
	const struct triad_alert_finding *finding, char *text, size_t size)
{
	if (finding->slow.rate.width)
		triad_slow_link_append(finding->slow.rate, finding->slow.expected,
			finding->slow.kind, finding->value, text, size);
	else
		triad_text_append(text, size, "slow link");
}

/* What is known of the port that a lost link or node was at. */
static void append_condition(const struct triad_alert *alert, char *text, size_t size)
{
	enum triad_port_condition condition = triad_alert_condition(alert);
	const char *words = triad_port_condition_text(condition);

	if (!words)
		return;
	triad_text_append(text, size, ": %s", words);
	for (unsigned i = 0; i < alert->n_ends && alert->n_ends == 2; i++)
		if (condition == TRIAD_CONDITION_DISABLED &&
			alert->ends[i].condition == condition) {
			char place[TRIAD_ALERT_PLACE_SIZE];

			triad_alert_place_format(alert, i, place, sizeof(place));
			triad_text_append(text, size, " (%s)", place);
		}
}

/* How often it was lost since the alert began. */
static void append_times(
	const struct triad_alert_finding *finding, char *text, size_t size)
{
	if (finding->value > 1)
		triad_text_append(text, size, " %.0f times", (double)finding->value);
}

static void append_unanswered(const struct triad_alert *alert,
	const struct triad_alert_finding *finding, char *text, size_t size)
{
	triad_text_append(
		text, size, "%.0f port(s) unanswered", (double)finding->worst);
	switch (finding->trouble) {
	case TRIAD_PMA_BUSY:
		triad_text_append(text, size, ": busy");
		break;
	case TRIAD_PMA_WRONG:
		triad_text_append(text, size, ": wrong replies");
		break;
	case TRIAD_PMA_ELSEWHERE:
		triad_text_append(text, size, ": replies from LID %u, not %u",
			finding->replies_from, alert->ends[finding->end].lid);
		break;
	case TRIAD_PMA_REFUSES:
		triad_text_append(text, size, ": refused");
		break;
	default:
		break;
	}
}

void triad_alert_finding_format(const struct triad_alert *alert,
	const struct triad_alert_finding *finding, char *text, size_t size)
{
	text[0] = '\0';
	switch (finding->cause) {
	case TRIAD_ALERT_UNANSWERED:
		append_unanswered(alert, finding, text, size);
		break;
	case TRIAD_ALERT_LINK_DOWN:
		triad_text_append(text, size, "link down");
		append_times(finding, text, size);
		append_condition(alert, text, size);
		break;
	case TRIAD_ALERT_NODE_GONE:
		triad_text_append(text, size, "left the fabric");
		append_times(finding, text, size);
		if (alert->n_nodes > 1)
			triad_text_append(text, size, ", with %" PRIu32 " more nodes",
				alert->n_nodes - 1);
		if (alert->n_links > 1)
			triad_text_append(
				text, size, ", %" PRIu32 " links", alert->n_links);
		append_condition(alert, text, size);
		break;
	case TRIAD_ALERT_BER:
		append_ber(finding, text, size);
		break;
	case TRIAD_ALERT_DETAIL:
		append_detail(finding, text, size);
		break;
	case TRIAD_ALERT_MODULE:
	case TRIAD_ALERT_DEVICE:
		append_hardware(finding, text, size);
		break;
	case TRIAD_ALERT_ROUTES:
		append_routes(finding, text, size);
		break;
	case TRIAD_ALERT_CONGESTION:
		append_congestion(finding, text, size);
		break;
	case TRIAD_ALERT_SLOW_LINK:
		append_slow_link(finding, text, size);
		break;
	default:
		append_counter(finding, text, size);
		break;
	}
}

void triad_alert_sm_format(const struct triad_alert *alert, int64_t wall_offset_us,
	char *text, size_t size)
{
	char at[TRIAD_CLOCK_TEXT_SIZE];

	text[0] = '\0';
	if (alert->sm.kind == TRIAD_ALERT_SM_TRAP)
		triad_text_append(text, size, "trap %u at %s", alert->sm.trap,
			format_time(alert->sm.at_us, wall_offset_us, at));
	else if (alert->sm.kind == TRIAD_ALERT_SM_SWEEP)
		triad_text_append(text, size, "heavy sweep at %s",
			format_time(alert->sm.at_us, wall_offset_us, at));
}

void triad_alert_location_format(
	const struct triad_alert *alert, char *text, size_t size)
{
	bool is_gone = alert->findings[0].cause == TRIAD_ALERT_NODE_GONE;
	struct triad_alert_end first = alert->ends[0];
	char end[160];

	/* The node is gone as a whole: its port is of no interest. */
	if (is_gone)
		first.port = TRIAD_ALERT_NO_PORT;
	triad_alert_end_format(&first, text, size);
	if (alert->n_ends < 2)
		return;
	triad_alert_end_format(&alert->ends[1], end, sizeof(end));
	triad_text_append(text, size, "%s%s", is_gone ? ", behind " : " - ", end);
}

void triad_alert_label(struct triad_alert *alert, const struct triad_fabric *fabric)
{
	for (unsigned i = 0; i < alert->n_ends; i++)
		alert->ends[i].label_digits = triad_node_label_digits(
			fabric, alert->ends[i].node_guid, alert->ends[i].node_name);
}

void triad_alert_place_format(
	const struct triad_alert *alert, unsigned end, char *text, size_t size)
{
	const struct triad_alert_end *at = &alert->ends[end];
	bool is_gone = !end && alert->findings[0].cause == TRIAD_ALERT_NODE_GONE;

	snprintf(text, size, "%s",
		triad_node_label_with_digits(
			at->node_name, at->node_guid, at->label_digits)
			.text);
	if (!is_gone && at->port != TRIAD_ALERT_NO_PORT)
		triad_text_append(text, size, ":%u", at->port);
}

/* Appends the findings of one end. */
static void append_findings(
	const struct triad_alert *alert, unsigned end, char *text, size_t size)
{
	const char *separator = end ? "; at the far end: " : "";
	char finding[256];

	for (unsigned i = 0; i < alert->n_findings; i++) {
		if (alert->findings[i].end != end)
			continue;
		triad_alert_finding_format(
			alert, &alert->findings[i], finding, sizeof(finding));
		triad_text_append(text, size, "%s%s", separator, finding);
		separator = ", ";
	}
}

void triad_alert_more_format(const struct triad_alert *alert, char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned end = 0; end < 2; end++)
		for (uint32_t left = alert->more[end]; left; left &= left - 1)
			triad_text_append(text, size, "%s%s%s", text[0] ? ", " : "",
				triad_alert_cause_name((unsigned)__builtin_ctz(left)),
				end ? " (far end)" : "");
}

void triad_alert_findings_format(
	const struct triad_alert *alert, char *text, size_t size)
{
	char more[512];

	text[0] = '\0';
	append_findings(alert, 0, text, size);
	append_findings(alert, 1, text, size);
	triad_alert_more_format(alert, more, sizeof(more));
	if (more[0])
		triad_text_append(text, size, ", besides %s", more);
}

void triad_alert_format(enum triad_alert_change change, const struct triad_alert *alert,
	int64_t wall_offset_us, char *text, size_t size)
{
	const char *advice = triad_alert_advice(alert);
	char part[512], findings[TRIAD_ALERT_TEXT_SIZE], at[TRIAD_CLOCK_TEXT_SIZE];

	snprintf(text, size, "alert %" PRIu64 " %s: ", alert->id,
		triad_alert_change_name(change));
	triad_alert_location_format(alert, part, sizeof(part));
	triad_text_append(text, size, "%s: ", part);
	triad_alert_findings_format(alert, findings, sizeof(findings));
	triad_text_append(text, size, "%s; since %s", findings,
		format_time(alert->findings[0].since_us, wall_offset_us, at));
	if (change == TRIAD_ALERT_ENDED)
		triad_text_append(text, size, ", for %" PRIu64 " s",
			(alert->cleared_us - alert->raised_us) / TRIAD_US_PER_S);
	triad_alert_sm_format(alert, wall_offset_us, part, sizeof(part));
	if (part[0])
		triad_text_append(text, size, "; the SM reported: %s", part);
	if (alert->silence && change != TRIAD_ALERT_ENDED) {
		triad_clock_format(alert->silenced_until_us, at);
		triad_text_append(text, size,
			"; silenced until %s (silence %" PRIu32 ")", at,
			alert->silence);
	}
	if (change == TRIAD_ALERT_RAISED && advice)
		triad_text_append(text, size, "; %s", advice);
	if (change == TRIAD_ALERT_ENDED && alert->forgotten)
		triad_text_append(text, size, "; taken for removed on purpose");
	if (change == TRIAD_ALERT_ENDED && alert->explained)
		triad_text_append(text, size,
			"; a root of congestion explains it, which has an alert");
}

/* --- JSON --- */

static void put_alert_end(
	struct triad_json *json, const char *name, const struct triad_alert_end *end)
{
	triad_json_object_begin(json, name);
	triad_json_guid(json, "node_guid", end->node_guid);
	triad_json_string(json, "node_name", end->node_name);
	triad_json_string(json, "node_type", triad_node_type_name(end->node_type));
	if (end->port != TRIAD_ALERT_NO_PORT)
		triad_json_uint(json, "port", end->port);
	else
		triad_json_string(json, "port", NULL);
	/* Of a port that a link is gone from. */
	triad_json_string(json, "port_state",
		end->condition ? triad_port_condition_name(end->condition) : NULL);
	triad_json_object_end(json);
}

/* NULL: nothing came. */
static const char *trouble_name(enum triad_pma_trouble_kind kind)
{
	static const char *const names[] = {
		[TRIAD_PMA_BUSY] = "busy",
		[TRIAD_PMA_WRONG] = "wrong_replies",
		[TRIAD_PMA_ELSEWHERE] = "other_lid",
		[TRIAD_PMA_REFUSES] = "refused",
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

static const char *why_of(const struct triad_alert_finding *finding)
{
	if (finding->cause == TRIAD_ALERT_UNANSWERED)
		return trouble_name(finding->trouble);
	if (finding->cause == TRIAD_ALERT_BER && finding->value > 0)
		return triad_ber_kind_name(finding->ber.kind);
	if (is_of_hardware(finding->cause) && finding->hardware.fault)
		return triad_hardware_fault_name(finding->hardware.fault);
	if (finding->cause == TRIAD_ALERT_ROUTES)
		return routes_name(finding->routes);
	if (finding->cause == TRIAD_ALERT_CONGESTION)
		return triad_congestion_kind_name(finding->congestion.kind);
	if (finding->cause == TRIAD_ALERT_SLOW_LINK)
		return triad_slow_link_kind_name(finding->slow.kind);
	return triad_alert_why_name(finding->why);
}

static void put_finding(struct triad_json *json, const struct triad_alert *alert,
	const struct triad_alert_finding *finding, int64_t wall_offset_us)
{
	const struct triad_alert_end *end = &alert->ends[finding->end];
	bool is_ber = finding->cause == TRIAD_ALERT_BER && finding->value > 0;
	char text[64], at[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_object_begin(json, NULL);
	triad_json_string(json, "what", triad_alert_cause_name(finding->cause));
	triad_json_guid(json, "node_guid", end->node_guid);
	if (end->port != TRIAD_ALERT_NO_PORT)
		triad_json_uint(json, "port", end->port);
	else
		triad_json_string(json, "port", NULL);
	triad_json_double(json, "value", (double)finding->value);
	triad_json_double(json, "worst", (double)finding->worst);
	triad_json_bool(json, "at_least", finding->at_least);
	triad_json_string(json, "why", why_of(finding));
	if (finding->cause == TRIAD_ALERT_DETAIL && finding->why.field &&
		triad_detail_fields[finding->why.field - 1].n > 1)
		triad_json_uint(json,
			triad_detail_part_name(
				triad_detail_fields[finding->why.field - 1].part),
			finding->why.element);
	if (is_ber) {
		triad_json_double(json, "low", (double)finding->ber.low);
		triad_json_double(json, "high", (double)finding->ber.high);
		triad_json_double(json, "target", (double)finding->ber.target);
	}
	if (is_of_hardware(finding->cause) && finding->hardware.fault) {
		triad_json_uint(json, "index", finding->hardware.index);
		triad_json_double(json, "limit", (double)finding->hardware.limit);
	}
	if (finding->cause == TRIAD_ALERT_CONGESTION) {
		triad_json_double(
			json, "loss_gbps", (double)finding->congestion.loss_bps / 1e9);
		if (finding->congestion.vl != TRIAD_CONGESTION_NO_VL)
			triad_json_uint(json, "vl", finding->congestion.vl);
		else
			triad_json_string(json, "vl", NULL);
	}
	if (finding->cause == TRIAD_ALERT_SLOW_LINK) {
		triad_link_rate_format(finding->slow.rate, text, sizeof(text));
		triad_json_string(json, "rate", text);
		triad_link_rate_format(finding->slow.expected, text, sizeof(text));
		triad_json_string(json, "expected_rate", text);
	}
	text[0] = '\0';
	if (finding->cause < TRIAD_N_COUNTERS || finding->cause == TRIAD_ALERT_DETAIL)
		triad_threshold_format(&finding->threshold, text, sizeof(text));
	triad_json_string(json, "threshold", text[0] ? text : NULL);
	triad_json_string(json, "since",
		format_time_if_any(finding->since_us, wall_offset_us, at));
	triad_json_string(json, "under_since",
		format_time_if_any(finding->under_us, wall_offset_us, at));
	triad_json_object_end(json);
}

static void put_sm(struct triad_json *json, const struct triad_alert *alert,
	int64_t wall_offset_us)
{
	char at[TRIAD_CLOCK_TEXT_SIZE];

	if (alert->sm.kind == TRIAD_ALERT_SM_NOTHING) {
		triad_json_string(json, "sm", NULL);
		return;
	}
	triad_json_object_begin(json, "sm");
	triad_json_string(json, "reported",
		alert->sm.kind == TRIAD_ALERT_SM_TRAP ? "trap" : "heavy sweep");
	if (alert->sm.kind == TRIAD_ALERT_SM_TRAP)
		triad_json_uint(json, "trap", alert->sm.trap);
	triad_json_string(json, "at", format_time(alert->sm.at_us, wall_offset_us, at));
	triad_json_object_end(json);
}

static void put_silence(struct triad_json *json, const struct triad_alert *alert)
{
	char until[TRIAD_CLOCK_TEXT_SIZE];

	if (!alert->silence) {
		triad_json_string(json, "silence", NULL);
		return;
	}
	triad_clock_format(alert->silenced_until_us, until);
	triad_json_object_begin(json, "silence");
	triad_json_uint(json, "id", alert->silence);
	triad_json_string(json, "until", until);
	triad_json_object_end(json);
}

void triad_alert_json(struct triad_json *json, const char *name, const char *event,
	const struct triad_alert *alert, int64_t wall_offset_us)
{
	bool is_active = alert->state == TRIAD_ALERT_ACTIVE;
	char at[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_object_begin(json, name);
	if (event)
		triad_json_string(json, "event", event);
	triad_json_uint(json, "id", alert->id);
	triad_json_string(json, "state", is_active ? "active" : "cleared");
	triad_json_string(
		json, "severity", triad_severity_name(triad_alert_severity(alert)));
	triad_json_string(
		json, "what", triad_alert_cause_name(alert->findings[0].cause));
	triad_json_string(json, "raised",
		format_time_if_any(alert->raised_us, wall_offset_us, at));
	triad_json_string(json, "cleared",
		format_time_if_any(alert->cleared_us, wall_offset_us, at));
	triad_json_bool(json, "forgotten", alert->forgotten);
	triad_json_bool(json, "explained", alert->explained);
	put_silence(json, alert);
	put_alert_end(json, "at", &alert->ends[0]);
	if (alert->n_ends > 1)
		put_alert_end(json, "far_end", &alert->ends[1]);
	else
		triad_json_string(json, "far_end", NULL);
	triad_json_uint(json, "nodes_gone", alert->n_nodes);
	triad_json_uint(json, "links_gone", alert->n_links);
	triad_json_array_begin(json, "findings");
	for (unsigned i = 0; i < alert->n_findings; i++)
		put_finding(json, alert, &alert->findings[i], wall_offset_us);
	triad_json_array_end(json);
	triad_json_uint(json, "more", triad_alert_n_more(alert));
	put_sm(json, alert, wall_offset_us);
	triad_json_string(json, "advice", triad_alert_advice(alert));
	triad_json_object_end(json);
}
