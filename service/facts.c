/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/facts.h"

#include "perfmgr/watch/watch.h"
#include "service/alert_log.h"
#include "service/collect.h"
#include "service/control.h"
#include "service/devices.h"
#include "service/exports.h"
#include "service/history_status.h"
#include "service/perf.h"
#include "service/recorder.h"
#include "service/sa_source.h"
#include "service/served.h"
#include "service/speeds.h"
#include "service/strangers.h"
#include "service/web/web.h"
#include "service/webhook.h"

/* --- the PerfManager --- */

#define STATUS struct triad_collector_status
const struct triad_fact triad_sweep_facts[] = {
	{"sweeps", "sweeps", TRIAD_FACT(UINT, n_sweeps),
		TRIAD_COUNTER("triad_sweeps", "Sweeps of all ports that ended.")},
	{"sweeps_late", "sweeps late", TRIAD_FACT(UINT, n_late),
		TRIAD_COUNTER(
			"triad_sweeps_late", "Of these, longer than the period.")},
	{"group_sweeps", "sweeps of groups", TRIAD_FACT(UINT, n_group_sweeps),
		TRIAD_COUNTER(
			"triad_group_sweeps", "Sweeps of port groups that ended.")},
	{TRIAD_FACT(US, duration_us),
		TRIAD_GAUGE("triad_sweep_duration_seconds",
			"Time that the last sweep took.")},
	{TRIAD_FACT(US, period_us),
		TRIAD_GAUGE("triad_sweep_period_seconds",
			"Time from one sweep to the next, as configured.")},
	{"period_jitter_us", "last sweep begun late by", TRIAD_FACT(US, delay_us),
		TRIAD_GAUGE("triad_sweep_delay_seconds",
			"How late the last sweep began after its time.")},
	{"period_jitter_max_us", "at most", TRIAD_FACT(US, delay_max_us)},
	{"last_sweep", "last sweep", TRIAD_FACT(WHEN, finished_us),
		TRIAD_GAUGE("triad_sweep_finished_timestamp_seconds",
			"When the last sweep ended.")},
	{"last_sweep_ms", "last sweep took", TRIAD_FACT(MS, duration_us)},
	{"ports", "ports", TRIAD_FACT(UINT, last.n_ports),
		TRIAD_GAUGE(
			"triad_ports", "Ports of the last sweep, asked or left out.")},
	{"ports_answered", "ports answered", TRIAD_FACT(UINT, last.n_answered)},
	{"ports_unanswered", "ports unanswered", TRIAD_FACT(UINT, last.n_unanswered),
		TRIAD_GAUGE("triad_ports_unanswered",
			"Of these, ports that did not answer, or were silent for long "
			"and left out.")},
	{"ports_left_out", "of these, silent for long and not asked",
		TRIAD_FACT(UINT, last.n_left_out)},
	{"ports_apart", "ports without a partition in common with this one, not asked",
		TRIAD_FACT(UINT, partitions.n_apart),
		TRIAD_GAUGE("triad_ports_without_partition",
			"Ports not asked, because they share no partition with this one.")},
	{"ports_pkeys_unknown",
		"ports whose P_Keys are not known, asked in the default partition",
		TRIAD_FACT(UINT, partitions.n_guessed)},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_mad_facts[] = {
	{"window", "queries outstanding at most", TRIAD_FACT(UINT, window)},
	{"mads_sent", "MADs sent", TRIAD_FACT(UINT, counts.sent),
		TRIAD_COUNTER("triad_mads_sent", "Questions sent to agents.")},
	{"mads_received", "MADs received", TRIAD_FACT(UINT, counts.received),
		TRIAD_COUNTER("triad_mads_received", "Answers to them.")},
	{"timeouts", "time-outs", TRIAD_FACT(UINT, counts.timeouts),
		TRIAD_COUNTER("triad_mads_timeouts",
			"Tries without a usable answer in time.")},
	{"retries", "retries", TRIAD_FACT(UINT, counts.retries),
		TRIAD_COUNTER("triad_mads_retries", "Questions asked again.")},
	{"mads_late", "MADs too late", TRIAD_FACT(UINT, counts.late),
		TRIAD_COUNTER("triad_mads_late", "Answers that came too late.")},
	{"mads_malformed", "MADs malformed", TRIAD_FACT(UINT, counts.malformed),
		TRIAD_COUNTER("triad_mads_malformed", "Answers that were malformed.")},
	{"mads_refused", "MADs refused", TRIAD_FACT(UINT, counts.refused),
		TRIAD_COUNTER("triad_mads_refused", "Answers with an error.")},
	{"redirected", "MADs redirected", TRIAD_FACT(UINT, counts.redirected)},
	{"details_octets", "memory of details", TRIAD_FACT(OCTETS, details.octets)},
	{"details_dropped", "details that found no memory",
		TRIAD_FACT(UINT, details.n_dropped),
		TRIAD_COUNTER("triad_details_dropped",
			"Readings of details that found no memory."),
		.is_trouble = true},
	{"unreachable", "redirected to where we can't send",
		TRIAD_FACT(UINT, counts.unreachable)},
	{TRIAD_FACT(UINT, n_impossible),
		TRIAD_COUNTER("triad_impossible_readings",
			"Readings by which a link carried more than it can.")},
	{"errors_disbelieved", "agents whose 64-bit errors were not believed",
		TRIAD_FACT(UINT, counts.disbelieved)},
	{"hardware_resets", "hardware resets", TRIAD_FACT(UINT, counts.resets),
		TRIAD_COUNTER("triad_hardware_resets",
			"Resets of counters that were done, one for each attribute of a "
			"port.")},
	{"hardware_resets_failed", "hardware resets failed",
		TRIAD_FACT(UINT, counts.resets_failed)},
	{"send_errors", "send errors", TRIAD_FACT(UINT, send_errors)},
	{"receive_errors", "receive errors", TRIAD_FACT(UINT, receive_errors)},
	{"impossible_readings", "impossible readings", TRIAD_FACT(UINT, n_impossible)},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- replies to nothing --- */

#define STATUS struct triad_strangers
const struct triad_fact triad_stranger_facts[] = {
	{"replies_not_asked_for", "replies to nothing that was asked",
		TRIAD_FACT(UINT, n),
		.unit = "ignored: made up, or by an agent in error", .is_trouble = true,
		TRIAD_COUNTER("triad_mads_not_asked_for",
			"Replies that answer no question, or come from another port than "
			"was asked; they are ignored.")},
	{"replies_not_asked_for_lid", "the last one came from LID",
		TRIAD_FACT(UINT, lid), .is_trouble = true},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- alerts --- */

#define STATUS struct triad_watch_status
const struct triad_fact triad_watch_facts[] = {
	{"active", "active", TRIAD_FACT(UINT, alerts.n_active),
		TRIAD_GAUGE("triad_alerts_active",
			"Alerts at present: those of triad_alerts and those that are "
			"silenced.")},
	{"silenced", "of these, silenced", TRIAD_FACT(UINT, alerts.n_silenced),
		TRIAD_GAUGE("triad_alerts_silenced",
			"Of triad_alerts_active, those that are to wake nobody.")},
	{"explained", "waits explained by congestion",
		TRIAD_FACT(UINT, alerts.n_explained),
		TRIAD_GAUGE("triad_alerts_explained",
			"Ports over their threshold of PortXmitWait that raise no "
			"alert, because one about a root of congestion explains it.")},
	{"silences", "silences", TRIAD_FACT(UINT, n_silences),
		TRIAD_GAUGE("triad_silences", "Silences that somebody ordered.")},
	{"raised", "raised", TRIAD_FACT(UINT, alerts.n_raised),
		TRIAD_COUNTER("triad_alerts_raised", "Alerts so far.")},
	{"cleared", "cleared", TRIAD_FACT(UINT, alerts.n_cleared),
		TRIAD_COUNTER("triad_alerts_cleared",
			"Of triad_alerts_raised, those that are over.")},
	{"not_kept", "not kept, too many", TRIAD_FACT(UINT, alerts.n_not_kept)},
	{"links_not_kept", "links that went down not kept, too many",
		TRIAD_FACT(UINT, links.n_not_kept)},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_look_facts[] = {
	{"look_us", "evaluating a sweep takes", TRIAD_FACT(US, walk_us)},
	{"samples_dropped", "histogram samples lost",
		TRIAD_FACT(UINT, samples_dropped)},
	TRIAD_FACTS_END,
};
#undef STATUS

#define STATUS struct triad_alert_log_status
const struct triad_fact triad_alert_log_facts[] = {
	{"summarised", "logged in a summary", TRIAD_FACT(UINT, n_summarised)},
	{"file_lines", "lines in the file", TRIAD_FACT(UINT, n_file_lines)},
	{"file_summarised", "in the file in a summary",
		TRIAD_FACT(UINT, n_file_summarised)},
	{"file_dropped", "lines not written", TRIAD_FACT(UINT, n_file_dropped)},
	{"file_error", "last attempt to write", TRIAD_FACT(ERROR, file_error)},
	{"file_hung_us", "disk has not answered for", TRIAD_FACT(US, file_hung_us),
		.is_trouble = true},
	TRIAD_FACTS_END,
};
#undef STATUS

#define STATUS struct triad_webhook_status
const struct triad_fact triad_webhook_facts[] = {
	{"waiting", "alerts to be sent", TRIAD_FACT(UINT, reported.n_waiting),
		TRIAD_GAUGE("triad_webhook_alerts_waiting",
			"Alerts that the webhook is still to be sent.")},
	{"taken", "alerts taken, each time", TRIAD_FACT(UINT, reported.n_taken),
		TRIAD_COUNTER("triad_webhook_alerts_taken",
			"Alerts that the webhook took, each time they were sent.")},
	{"refused", "alerts refused", TRIAD_FACT(UINT, reported.n_refused),
		TRIAD_COUNTER("triad_webhook_alerts_refused",
			"Alerts that the webhook did not understand.")},
	{"failures", "attempts that failed", TRIAD_FACT(UINT, reported.n_failures),
		TRIAD_COUNTER("triad_webhook_failures",
			"Attempts to send alerts to the webhook that failed.")},
	{"dropped", "alerts not kept, too many", TRIAD_FACT(UINT, reported.n_dropped),
		TRIAD_COUNTER("triad_webhook_alerts_dropped",
			"Alerts that there was no room for until they are sent.")},
	{"last_taken", "last taken", TRIAD_FACT(WHEN, taken_us)},
	TRIAD_FACTS_END,
};
#undef STATUS

#define STATUS struct triad_speeds_counts
const struct triad_fact triad_speed_facts[] = {
	{"unknown_to_sm", "ports whose speed the SM does not know",
		TRIAD_FACT(UINT, n_ports),
		TRIAD_GAUGE("triad_speeds_unknown_to_sm",
			"Ports that may have an extended speed, which the SM does not "
			"know.")},
	{"known", "of these, ports that told Triad", TRIAD_FACT(UINT, n_known),
		TRIAD_GAUGE("triad_speeds_known",
			"Of these, ports whose speed Triad knows.")},
	{"faster", "of these, faster than the SM knows", TRIAD_FACT(UINT, n_faster),
		TRIAD_GAUGE("triad_speeds_faster",
			"Of these, ports that are faster than the SM knows.")},
	{"questions", "questions", TRIAD_FACT(UINT, n_questions),
		TRIAD_COUNTER("triad_speeds_questions",
			"MADs that asked ports for their speeds.")},
	{"unanswered", "questions without an answer", TRIAD_FACT(UINT, n_unanswered),
		TRIAD_COUNTER("triad_speeds_unanswered",
			"Of these, those without an answer.")},
	TRIAD_FACTS_END,
};
#undef STATUS

#define STATUS struct triad_device_reader_status
const struct triad_fact triad_device_facts[] = {
	{"asked", "devices that are asked", TRIAD_FACT(UINT, counts.n_devices),
		TRIAD_GAUGE("triad_devices_asked",
			"Switches and HCAs that are asked about themselves.")},
	{"told", "devices that told something", TRIAD_FACT(UINT, counts.n_reported),
		TRIAD_GAUGE("triad_devices_told", "Of these, those that answered.")},
	{"silent", "devices that did not answer", TRIAD_FACT(UINT, counts.n_silent),
		TRIAD_GAUGE("triad_devices_silent",
			"Those that did not, and are not asked any more.")},
	{"refused", "devices that refused something",
		TRIAD_FACT(UINT, counts.n_refused),
		TRIAD_GAUGE("triad_devices_refused",
			"Those that refused something, and are not asked for it any "
			"more.")},
	{"cables", "cables that are known", TRIAD_FACT(UINT, counts.n_cables),
		TRIAD_GAUGE("triad_devices_cables", "Cables that are known.")},
	{"faulty", "devices and cables with a fault", TRIAD_FACT(UINT, counts.n_faulty),
		TRIAD_GAUGE("triad_devices_faulty",
			"Devices and cables that tell of a fault.")},
	{"questions", "questions", TRIAD_FACT(UINT, counts.n_questions),
		TRIAD_COUNTER("triad_devices_questions",
			"MADs of the vendor's that were sent.")},
	{"rounds", "rounds", TRIAD_FACT(UINT, counts.n_rounds),
		TRIAD_COUNTER(
			"triad_devices_rounds", "Times that all devices were asked.")},
	{"round_us", "the last round took", TRIAD_FACT(US, counts.round_us),
		TRIAD_GAUGE("triad_devices_round_seconds",
			"Time that the last round took.")},
	{"send_errors", "questions not sent", TRIAD_FACT(UINT, counts.n_errors),
		.is_trouble = true},
	{"dropped", "not kept, for want of memory", TRIAD_FACT(UINT, counts.n_dropped),
		.is_trouble = true},
	TRIAD_FACTS_END,
};
#undef STATUS

#define STATUS struct triad_recorder_status
const struct triad_fact triad_history_facts[] = {
	{"events", "events", TRIAD_FACT(UINT, events.n),
		TRIAD_GAUGE("triad_history_events", "Events that are kept.")},
	{"room", "room for", TRIAD_FACT(UINT, events.room), .unit = "events"},
	{"gave_way", "gave way to newer ones", TRIAD_FACT(UINT, events.n_displaced)},
	{"not_kept", "not kept, too many at once", TRIAD_FACT(UINT, events.n_not_kept),
		TRIAD_COUNTER("triad_history_events_not_kept",
			"Events of storms, of which only the number is kept.")},
	{"file_lines", "lines in the file", TRIAD_FACT(UINT, n_lines)},
	{"file_lost", "events not written", TRIAD_FACT(UINT, n_lost),
		TRIAD_COUNTER("triad_history_events_lost",
			"Events that gave way before they could be written.")},
	{"file_bad", "lines that could not be read", TRIAD_FACT(UINT, n_bad)},
	{"file_hung_us", "disk has not answered for", TRIAD_FACT(US, hung_us),
		.is_trouble = true},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- where the topology is from --- */

#define STATUS struct triad_sa_source_status
const struct triad_fact triad_sa_facts[] = {
	{"refreshes", "read from the SA", TRIAD_FACT(UINT, n_refreshes),
		TRIAD_COUNTER("triad_sa_refreshes",
			"Times that the topology was read from the SA.")},
	{"failed", "failed", TRIAD_FACT(UINT, n_failed)},
	{"reports", "reports of ports", TRIAD_FACT(UINT, n_reports),
		TRIAD_COUNTER("triad_sa_reports",
			"Reports of the SM: ports that came or went.")},
	{"reports_not_from_sm", "reports not from the SM",
		TRIAD_FACT(UINT, n_unknown_senders), .unit = "ignored",
		TRIAD_COUNTER("triad_sa_reports_not_from_sm",
			"Reports that others sent; they are ignored.")},
	{"nodes_shown", "nodes it shows", TRIAD_FACT(UINT, n_nodes)},
	{"ports_shown", "ports it shows", TRIAD_FACT(UINT, n_ports)},
	{"nodes_known", "nodes that this host found", TRIAD_FACT(UINT, n_known_nodes)},
	{"links_hidden", "ports whose link it does not show",
		TRIAD_FACT(UINT, n_hidden)},
	{"links_known", "of these, as this host found it",
		TRIAD_FACT(UINT, n_discovered)},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- ways out --- */

/* A listener's answers with 'code'; its metrics begin with 'prefix'. */
#define ANSWERS(prefix, code)                                                          \
	.metric = {.type = TRIAD_METRIC_COUNTER,                                       \
		.name = prefix "answers",                                              \
		.help = "Answers to those who asked by HTTP.",                         \
		.label = "code",                                                       \
		.value = (code)}

/* Rows of one metric must be adjacent. */
#define HTTP_ANSWERS(prefix)                                                           \
	{"clients", "clients now", TRIAD_FACT(UINT, HTTP(n_clients))},                 \
		{"answers", "answers", TRIAD_FACT(UINT, HTTP(n_answers)),              \
			ANSWERS(prefix, "200")},                                       \
		{"octets", "octets sent", TRIAD_FACT(UINT, HTTP(octets))},             \
		{"bad_requests", "refused: not understood",                            \
			TRIAD_FACT(UINT, HTTP(n_bad_requests)),                        \
			TRIAD_FACT_PLUS(TRIAD_FACT_MEMBER(UINT, HTTP(n_not_found)),    \
				TRIAD_FACT_MEMBER(UINT, HTTP(n_bad_methods)))},        \
		{TRIAD_FACT(UINT, HTTP(n_bad_requests)), ANSWERS(prefix, "400")},      \
		{"unauthorized", "refused: no token",                                  \
			TRIAD_FACT(UINT, HTTP(n_unauthorized)),                        \
			ANSWERS(prefix, "401")},                                       \
		{TRIAD_FACT(UINT, HTTP(n_not_found)), ANSWERS(prefix, "404")},         \
		{TRIAD_FACT(UINT, HTTP(n_bad_methods)), ANSWERS(prefix, "405")},       \
	{                                                                              \
		TRIAD_FACT(UINT, HTTP(n_no_memory)), ANSWERS(prefix, "503")            \
	}
#define HTTP_CLIENTS(prefix)                                                           \
	{"too_many", "refused: too many", TRIAD_FACT(UINT, HTTP(n_too_many)),          \
		TRIAD_COUNTER(prefix "connections_refused",                            \
			"Connections closed because there were too many.")},           \
		{"timeouts", "disconnected: too slow",                                 \
			TRIAD_FACT(UINT, HTTP(n_timeouts)),                            \
			TRIAD_COUNTER(prefix "timeouts",                               \
				"Connections cut because they took too long.")},       \
	{                                                                              \
		"broken_off", "aborted by the client",                                 \
			TRIAD_FACT(UINT, HTTP(n_broken_off))                           \
	}

#define STATUS struct triad_http_status
#define HTTP(member) member
const struct triad_fact triad_http_facts[] = {
	HTTP_ANSWERS("triad_http_"),
	HTTP_CLIENTS("triad_http_"),
	TRIAD_FACTS_END,
};
#undef HTTP
#undef STATUS

#define STATUS struct triad_web_status
#define HTTP(member) http.member
const struct triad_fact triad_web_facts[] = {
	HTTP_ANSWERS("triad_web_"),
	{"unchanged", "nothing new for them", TRIAD_FACT(UINT, HTTP(n_unchanged)),
		ANSWERS("triad_web_", "304")},
	{"refused", "refused for other reasons", TRIAD_FACT(UINT, HTTP(n_refused)),
		ANSWERS("triad_web_", "other")},
	HTTP_CLIENTS("triad_web_"),
	{TRIAD_FACT(UINT, HTTP(octets)),
		TRIAD_COUNTER("triad_web_sent_bytes",
			"Octets of answers, packed if they were.")},
	{"busy", "refused: too busy", TRIAD_FACT(UINT, pool.n_busy),
		TRIAD_COUNTER("triad_web_busy",
			"Requests refused because too many were being answered.")},
	{"running", "commands now", TRIAD_FACT(UINT, pool.n_running)},
	{"waiting", "commands that wait", TRIAD_FACT(UINT, pool.n_waiting)},
	{"lost", "answers without room on the disk", TRIAD_FACT(UINT, pool.n_lost),
		TRIAD_COUNTER("triad_web_lost",
			"Answers that could not be kept until they were complete.")},
	{"streams", "who listen to changes", TRIAD_FACT(UINT, n_streams)},
	TRIAD_FACTS_END,
};
#undef HTTP
#undef STATUS

#define STATUS struct triad_profile_status
const struct triad_fact triad_profile_facts[] = {
	{"frames", "sweeps written", TRIAD_FACT(UINT, n_frames),
		TRIAD_COUNTER(
			"triad_profile_sweeps", "Sweeps written to the profile file.")},
	{"rows", "rows", TRIAD_FACT(UINT, n_rows)},
	{"file_octets", "the file has", TRIAD_FACT(OCTETS, file_octets)},
	{"files", "files begun", TRIAD_FACT(UINT, n_files)},
	{"dropped", "sweeps not written", TRIAD_FACT(UINT, n_dropped),
		TRIAD_COUNTER("triad_profile_dropped",
			"Sweeps that could not be written to the profile file.")},
	{"skipped", "sweeps left out: too late", TRIAD_FACT(UINT, n_skipped),
		TRIAD_COUNTER("triad_profile_skipped",
			"Sweeps that the profile file lacks because the next one had "
			"ended before.")},
	TRIAD_FACTS_END,
};
#undef STATUS

#define STATUS struct triad_history_status
const struct triad_fact triad_image_facts[] = {
	{"kept", "images kept", TRIAD_FACT(UINT, n_kept),
		TRIAD_GAUGE(
			"triad_images_kept", "Images of the fabric that are kept.")},
	{"segments", "files", TRIAD_FACT(UINT, n_segments)},
	{"octets", "they have", TRIAD_FACT(OCTETS, octets),
		TRIAD_GAUGE("triad_images_bytes", "Octets that images take.")},
	{"max_octets", "room for", TRIAD_FACT(OCTETS, max_octets)},
	{"written", "images written", TRIAD_FACT(UINT, n_images),
		TRIAD_COUNTER("triad_images_written", "Images that were written.")},
	{"dropped", "images not written", TRIAD_FACT(UINT, n_dropped),
		TRIAD_COUNTER("triad_images_dropped",
			"Sweeps whose images could not be written.")},
	{"removed", "files removed", TRIAD_FACT(UINT, n_removed)},
	{"left_out", "left out of the last one", TRIAD_FACT(UINT, n_left_out),
		TRIAD_GAUGE("triad_images_left_out",
			"What was too much for the last image: alerts, events, answers "
			"of commands.")},
	{"copies", "images of other SMs", TRIAD_FACT(UINT, n_copied_images)},
	{"copies_octets", "they have", TRIAD_FACT(OCTETS, copied_octets),
		TRIAD_GAUGE("triad_images_copies_bytes",
			"Octets that copies of other SMs' images take.")},
	{"took_us", "the last one took", TRIAD_FACT(US, took_us),
		TRIAD_GAUGE("triad_images_write_seconds",
			"Time that it took to write the last image.")},
	TRIAD_FACTS_END,
};
#undef STATUS

#define STATUS struct triad_history_mirror_status
const struct triad_fact triad_copy_facts[] = {
	{"members", "other SMs that copy", TRIAD_FACT(UINT, mirror.n_members),
		TRIAD_GAUGE("triad_images_copying",
			"Other SMs that say which images they have.")},
	{"copied", "images copied", TRIAD_FACT(UINT, mirror.n_copied),
		TRIAD_COUNTER("triad_images_copied",
			"Images that were copied from other SMs.")},
	{"copied_octets", "they had", TRIAD_FACT(OCTETS, mirror.n_copied_octets)},
	{"lacking_octets", "lacking still", TRIAD_FACT(OCTETS, mirror.lacking_octets),
		TRIAD_GAUGE("triad_images_lacking_bytes",
			"Octets of images that other SMs have more than this one.")},
	{"behind_us", "behind by", TRIAD_FACT(US, mirror.behind_us),
		TRIAD_GAUGE("triad_images_behind_seconds",
			"How much newer another SM's newest image is than what is here "
			"of it.")},
	{"behind_for_us", "for", TRIAD_FACT(US, mirror.behind_for_us),
		TRIAD_GAUGE("triad_images_behind_for_seconds",
			"How long another SM's newest image has been lacking.")},
	{"sent_octets", "sent to other SMs", TRIAD_FACT(OCTETS, mirror.n_given_octets),
		TRIAD_COUNTER("triad_images_sent_bytes",
			"Octets of payloads about images that were sent.")},
	{"failed", "images not written", TRIAD_FACT(UINT, mirror.n_failed),
		.is_trouble = true},
	{"refused", "octets that were no image", TRIAD_FACT(UINT, mirror.n_bad),
		.is_trouble = true},
	{"malformed", "malformed messages", TRIAD_FACT(UINT, mirror.n_malformed),
		.is_trouble = true},
	{"versions", "of another version", TRIAD_FACT(UINT, mirror.n_versions),
		.is_trouble = true},
	{"lost", "received and dropped: no room", TRIAD_FACT(UINT, n_dropped)},
	TRIAD_FACTS_END,
};
#undef STATUS

#define STATUS struct triad_sflow_sender_status
const struct triad_fact triad_sflow_facts[] = {
	{"datagrams", "datagrams", TRIAD_FACT(UINT, n_datagrams)},
	{"samples", "samples", TRIAD_FACT(UINT, n_samples),
		TRIAD_COUNTER(
			"triad_sflow_samples", "Samples sent to sFlow's collectors.")},
	{"flow_samples", "flow samples", TRIAD_FACT(UINT, n_flow_samples)},
	{"skipped", "ports without samples", TRIAD_FACT(UINT, n_skipped)},
	TRIAD_FACTS_END,
};
#undef STATUS

#define STATUS struct triad_control_status
const struct triad_fact triad_control_facts[] = {
	{"clients", "clients now", TRIAD_FACT(UINT, n_clients)},
	{"requests", "requests", TRIAD_FACT(UINT, n_requests)},
	{"refused", "refused: too many", TRIAD_FACT(UINT, n_busy)},
	{"forbidden", "refused: not allowed", TRIAD_FACT(UINT, n_forbidden)},
	{"bad_requests", "refused: malformed", TRIAD_FACT(UINT, n_bad)},
	{"timeouts", "disconnected: too slow", TRIAD_FACT(UINT, n_timeouts)},
	{"displaced", "disconnected: silent", TRIAD_FACT(UINT, n_displaced)},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- collecting together --- */

#define STATUS struct triad_collect_status
const struct triad_fact triad_bus_facts[] = {
	{"connects", "connections made", TRIAD_FACT(UINT, bus.n_connects)},
	{"sent", "messages sent", TRIAD_FACT(UINT, bus.n_sent)},
	{"received", "messages received", TRIAD_FACT(UINT, bus.n_received)},
	{"send_dropped", "not sent: no connection, no room",
		TRIAD_FACT(UINT, bus.n_send_dropped)},
	{"receive_dropped", "received and dropped: no room",
		TRIAD_FACT(UINT, bus.n_receive_dropped)},
	{"oversize", "too large, empty or malformed", TRIAD_FACT(UINT, bus.n_oversize)},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_member_facts[] = {
	{"agents", "agents", TRIAD_FACT(UINT, n_agents)},
	{"agents_alive", "of these, alive", TRIAD_FACT(UINT, n_alive)},
	{"managers", "managers", TRIAD_FACT(UINT, n_managers)},
	{"nodes", "nodes", TRIAD_FACT(UINT, n_nodes)},
	{"nodes_without_owner", "nodes without an owner", TRIAD_FACT(UINT, n_unowned)},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_message_facts[] = {
	{"claims_refused", "impossible claims", TRIAD_FACT(UINT, claims.n_refused)},
	{"foreign", "malformed messages", TRIAD_FACT(UINT, counts.n_foreign)},
	{"twins", "of another with its id", TRIAD_FACT(UINT, counts.n_duplicate_ids)},
	{"words_refused", "in another's name", TRIAD_FACT(UINT, counts.n_refused)},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_collect_metrics[] = {
	{TRIAD_FACT(UINT, bus.is_connected),
		TRIAD_GAUGE("triad_broker_connected",
			"1 while there is a connection to a broker.")},
	{TRIAD_FACT(UINT, n_alive),
		TRIAD_GAUGE("triad_agents_alive", "Agents that are alive.")},
	{TRIAD_FACT(UINT, n_unowned),
		TRIAD_GAUGE("triad_agents_nodes_without_owner",
			"Nodes that no agent owns.")},
	{TRIAD_FACT(UINT, bus.n_received),
		TRIAD_COUNTER(
			"triad_agents_messages_received", "Messages from the broker.")},
	{TRIAD_FACT(UINT, bus.n_sent),
		TRIAD_COUNTER("triad_agents_messages_sent", "Messages to the broker.")},
	{TRIAD_FACT(UINT, bus.n_send_dropped),
		TRIAD_FACT_PLUS(TRIAD_FACT_MEMBER(UINT, bus.n_receive_dropped)),
		TRIAD_COUNTER("triad_agents_messages_dropped",
			"Messages dropped: no connection, or no room.")},
	{TRIAD_FACT(UINT, claims.n_refused),
		TRIAD_COUNTER("triad_agents_claims_refused",
			"Claims that are impossible in this fabric.")},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_agent_facts[] = {
	{"peers", "neighbouring agents", TRIAD_FACT(UINT, n_peers)},
	{"rows", "ports reported", TRIAD_FACT(UINT, reporter.n_rows)},
	{"rows_held", "not, unchanged", TRIAD_FACT(UINT, reporter.n_held)},
	{TRIAD_FACT(UINT, n_owned),
		TRIAD_GAUGE("triad_agent_nodes_owned", "Nodes that this agent reads.")},
	{"octets", "octets of that", TRIAD_FACT(UINT, reporter.n_octets),
		TRIAD_COUNTER("triad_agent_reported_bytes",
			"Octets of counters reported up the tree.")},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_manager_facts[] = {
	{"nodes_not_seen", "nodes not seen",
		TRIAD_FACT(UINT, aggregator.n_nodes_unseen),
		TRIAD_GAUGE("triad_agents_nodes_not_seen",
			"Nodes whose counters no agent reports.")},
	{"ports_not_seen", "ports not seen",
		TRIAD_FACT(UINT, aggregator.n_ports_unseen),
		TRIAD_GAUGE("triad_agents_ports_not_seen", "Ports of these.")},
	{"oldest_ms", "oldest data of an agent", TRIAD_FACT(MS, aggregator.oldest_us),
		TRIAD_GAUGE("triad_agents_oldest_data_seconds",
			"Age of the last data of the agent that is the furthest behind.")},
	{"rows", "ports received", TRIAD_FACT(UINT, aggregator.n_rows),
		TRIAD_COUNTER("triad_agents_rows", "Ports reported by agents.")},
	{"octets", "octets of that", TRIAD_FACT(UINT, aggregator.n_octets)},
	{"missing", "messages missing", TRIAD_FACT(UINT, aggregator.n_missing),
		TRIAD_COUNTER("triad_agents_data_missing",
			"Messages of agents that are missing.")},
	{"handed_over", "ports taken over", TRIAD_FACT(UINT, aggregator.n_handed_over)},
	{"unknown", "of ports not here", TRIAD_FACT(UINT, aggregator.n_unknown)},
	{"not_owner", "of nodes not owned", TRIAD_FACT(UINT, aggregator.n_not_owner)},
	{"traps_not_owner", "alerts of these",
		TRIAD_FACT(UINT, counts.n_traps_refused)},
	TRIAD_FACTS_END,
};
#undef STATUS
