/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "command/command_table.h"

#include <stdio.h>
#include <string.h>

#include "conf/conf_keys.h"
#include "ib/port_condition.h"
#include "lib/text.h"

#define AT(member)                                                                     \
	.offset = offsetof(struct triad_command, member),                              \
	.size = sizeof(((struct triad_command *)0)->member)
#define VALUE(member)                                                                  \
	TRIAD_OPTION_KIND_VALUE, AT(member),                                           \
		.present = offsetof(struct triad_command, has_##member)

const struct triad_option triad_options[TRIAD_N_OPTIONS] = {
	[TRIAD_OPTION_NODE] = {"--node", "NODE", TRIAD_OPTION_KIND_NODE, AT(node),
		.help = "its name, 'leaf-*', GUID or LID; NAME:3 is a port"},
	[TRIAD_OPTION_PORT] = {"--port", "N", TRIAD_OPTION_KIND_NUMBER, AT(port),
		.max = 254, .help = "ports with this number alone, 0 to 254"},
	[TRIAD_OPTION_TYPE] = {"--type", "ca|switch|router|all",
		TRIAD_OPTION_KIND_CHOICE, AT(type), .choices = triad_conf_types,
		.help = "nodes of this type alone [all]"},
	[TRIAD_OPTION_STATE] = {"--state", "STATE", TRIAD_OPTION_KIND_CHOICE, AT(state),
		.choices = triad_port_condition_choices,
		.help = "ports in this state alone [all]"},
	[TRIAD_OPTION_ERRORS] = {"--errors", NULL, TRIAD_OPTION_KIND_FLAG, AT(errors),
		.help = "ports with errors alone, and those that did not answer"},
	[TRIAD_OPTION_GROUP] = {"--group", "NAME", TRIAD_OPTION_KIND_TEXT, AT(group),
		.help = "ports of this [group NAME] of triad.conf alone"},
	[TRIAD_OPTION_ALL] = {"--all", NULL, TRIAD_OPTION_KIND_FLAG, AT(all),
		.help = "those too that were cleared lately"},
	[TRIAD_OPTION_EVERY] = {"--all", NULL, TRIAD_OPTION_KIND_FLAG, AT(all),
		.help = "every port"},
	[TRIAD_OPTION_ZEROS] = {"--all", NULL, TRIAD_OPTION_KIND_FLAG, AT(all),
		.help = "counters that are 0, too"},
	[TRIAD_OPTION_LINKS_ALL] = {"--all", NULL, TRIAD_OPTION_KIND_FLAG, AT(all),
		.help = "good links, too"},
	[TRIAD_OPTION_FIRMWARE] = {"--firmware", NULL, TRIAD_OPTION_KIND_FLAG,
		AT(firmware),
		.help = "how many devices of each kind have which firmware"},
	[TRIAD_OPTION_SECTIONS] = {"--all", NULL, TRIAD_OPTION_KIND_FLAG, AT(all),
		.help = "every part with every number, not one screen"},
	[TRIAD_OPTION_PLUGIN] = {"--plugin", NULL, TRIAD_OPTION_KIND_FLAG, AT(plugin),
		.help = "one line with performance data, for Nagios, Icinga or "
			"checkmk"},
	[TRIAD_OPTION_DOWN] = {"--down", NULL, TRIAD_OPTION_KIND_FLAG, AT(down),
		.help = "those that are down and were up"},
	[TRIAD_OPTION_SLOW] = {"--slow", NULL, TRIAD_OPTION_KIND_FLAG, AT(slow),
		.help = "those slower than links alike, or than both ends can"},
	[TRIAD_OPTION_FLAPPED] = {"--flapped", NULL, TRIAD_OPTION_KIND_FLAG,
		AT(flapped), .help = "those that went down since the start"},
	[TRIAD_OPTION_LINK_ERRORS] = {"--errors", NULL, TRIAD_OPTION_KIND_FLAG,
		AT(errors), .help = "those with errors at an end"},
	[TRIAD_OPTION_LINKS_BY] = {"--by", "COUNTER", TRIAD_OPTION_KIND_COUNTER, AT(by),
		.present = offsetof(struct triad_command, has_by),
		.help = "sort by the rate of this counter, at either end"},
	[TRIAD_OPTION_BRIEF] = {"--brief", NULL, TRIAD_OPTION_KIND_FLAG, AT(brief),
		.help = "with --json: without counters that are 0"},
	[TRIAD_OPTION_FAILED] = {"--failed", NULL, TRIAD_OPTION_KIND_FLAG, AT(failed),
		.help = "those alone that were disabled as failed"},
	[TRIAD_OPTION_BY] = {"--by", "COUNTER", TRIAD_OPTION_KIND_COUNTER, AT(by),
		.help = "sort by the rate of this counter [PortXmitData]"},
	[TRIAD_OPTION_LIMIT] = {"-n", "N", TRIAD_OPTION_KIND_NUMBER, AT(limit),
		.min = 1, .max = 65535, .help = "how many to show, 1 to 65535 [20]"},
	[TRIAD_OPTION_LIMIT_ALL] = {"-n", "N", TRIAD_OPTION_KIND_NUMBER, AT(limit),
		.min = 1, .max = 1000000,
		.help = "how many to show, 1 to 1000000 [all]"},
	[TRIAD_OPTION_FOR] = {"--for", "T", TRIAD_OPTION_KIND_NUMBER, AT(for_s),
		.min = 1, .max = 31536000, .unit = "s",
		.help = "for how long: 30m, 2h, 5d"},
	[TRIAD_OPTION_FOR_ACK] = {"--for", "T", TRIAD_OPTION_KIND_NUMBER, AT(for_s),
		.min = 1, .max = 31536000, .unit = "s",
		.help = "for how long at most: 30m, 2h, 5d [7d]"},
	[TRIAD_OPTION_FROM] = {"--from", "TIME", TRIAD_OPTION_KIND_TIME, AT(from_us),
		.help = "begin then, as 2026-01-31T22:00 (UTC) or "
			"2026-01-31T23:00+01:00 [now]"},
	[TRIAD_OPTION_REASON] = {"--reason", "TEXT", TRIAD_OPTION_KIND_TEXT, AT(reason),
		.help = "why, for those who look: 'new line cards'"},
	[TRIAD_OPTION_SINCE] = {"--since", "TIME", TRIAD_OPTION_KIND_TEXT, AT(since),
		.help = "since then, as 2026-01-02, 2026-01-02T03:04 (UTC), or as 2d, "
			"3h, 90m ago"},
	[TRIAD_OPTION_AT] = {"--at", "TIME", TRIAD_OPTION_KIND_TEXT, AT(at),
		.help = "as it was then: 2026-01-02T03:04 (UTC), or 2d, 3h, 90m ago; it "
			"needs history.dir",
		.absent =
			"its past is not kept; 'triadctl(1)', A PAST MOMENT, names those "
			"whose past is"},
	[TRIAD_OPTION_AT_KEPT] = {"--at", "TIME", TRIAD_OPTION_KIND_TEXT, AT(at),
		.help = "what it answered then, without other options: "
			"2026-01-02T03:04 (UTC), or 2d, 3h, 90m ago; it needs "
			"history.dir"},
	[TRIAD_OPTION_SOURCE] = {"--src", "NODE", TRIAD_OPTION_KIND_NODE, AT(source),
		.help = "its source: a node's name, GUID or LID; NAME:2"},
	[TRIAD_OPTION_DESTINATION] = {"--dst", "NODE", TRIAD_OPTION_KIND_NODE,
		AT(destination), .help = "its destination"},
	[TRIAD_OPTION_SERVICE_ID] = {"--service-id", "N", VALUE(service_id),
		.max_value = UINT64_MAX, .help = "ask with this Service-ID"},
	[TRIAD_OPTION_TCLASS] = {"--tclass", "N", VALUE(tclass), .max_value = 255,
		.help = "ask with this TClass, 0 to 255"},
	[TRIAD_OPTION_QOS_CLASS] = {"--qos-class", "N", VALUE(qos_class),
		.max_value = 4095, .help = "ask with this QoS class, 0 to 4095"},
	[TRIAD_OPTION_PKEY] = {"--pkey", "N", VALUE(pkey), .max_value = 65535,
		.help = "ask with this P_Key"},
	[TRIAD_OPTION_SL] = {"--sl", "N", VALUE(sl), .max_value = 15,
		.help = "ask with this SL, 0 to 15"},
	[TRIAD_OPTION_HOSTS] = {"--nodes", "HOSTS", TRIAD_OPTION_KIND_TEXT, AT(hosts),
		.help = "its hosts, as Slurm lists them: host-[0001-0064],login1"},
	[TRIAD_OPTION_SLURM_JOB] = {"--slurm", "JOBID", TRIAD_OPTION_KIND_TEXT,
		AT(slurm_job), .help = "the hosts that squeue says this job has"},
	[TRIAD_OPTION_SLURM] = {"--slurm", NULL, TRIAD_OPTION_KIND_FLAG, AT(slurm),
		.help = "as topology.conf of Slurm, for topology/tree"},
	[TRIAD_OPTION_PATH_SL] = {"--sl", "N", VALUE(sl), .max_value = 15,
		.help = "VLs of packets with this SL, 0 to 15 [that of the routing "
			"engine, or 0]"},
	[TRIAD_OPTION_WATCH] = {"--watch", NULL, TRIAD_OPTION_KIND_FLAG, AT(watch),
		.help = "show it again and again, until Ctrl-C"},
	[TRIAD_OPTION_INTERVAL] = {"--interval", "S", TRIAD_OPTION_KIND_NUMBER,
		AT(interval_s), .min = 1, .max = 3600, .unit = "s",
		.help = "with --watch: each S seconds, 1 to 3600 [2]"},
	[TRIAD_OPTION_COLUMNS] = {"--columns", "A,B,...", TRIAD_OPTION_KIND_TEXT,
		AT(columns),
		.help = "these columns alone, in this order: by their titles, or by "
			"their names in JSON"},
	[TRIAD_OPTION_SORT] = {"--sort", "[-]COLUMN", TRIAD_OPTION_KIND_TEXT, AT(sort),
		.help = "sort by this column; with a minus, the greatest first"},
	[TRIAD_OPTION_NO_HEADINGS] = {"--no-headings", NULL, TRIAD_OPTION_KIND_FLAG,
		AT(no_headings), .help = "no titles above the columns"},
	[TRIAD_OPTION_RAW] = {"--raw", NULL, TRIAD_OPTION_KIND_FLAG, AT(raw),
		.help = "tabs between columns, numbers without units, for programs"},
	[TRIAD_OPTION_JSON] = {"--json", NULL, TRIAD_OPTION_KIND_FLAG, AT(json),
		.help = "JSON instead of text"},
	[TRIAD_OPTION_COLOR] = {"--color", NULL, TRIAD_OPTION_KIND_FLAG, AT(color)},
	[TRIAD_OPTION_CLIENT] = {"--client", "VERSION", TRIAD_OPTION_KIND_TEXT,
		AT(client)},
	[TRIAD_OPTION_TABLE] = {"--table", NULL, TRIAD_OPTION_KIND_FLAG, AT(table)},
};

#define BIT(option) TRIAD_OPTION_BIT(TRIAD_OPTION_##option)
#define OUTPUT (BIT(JSON) | BIT(COLOR))
/* Options of commands that read: all of these can be watched. */
#define WATCHED (OUTPUT | BIT(WATCH) | BIT(INTERVAL))
/* Options of those whose answer has a table. */
#define TABLE (WATCHED | BIT(TABLE) | TRIAD_OPTIONS_OF_LAYOUT)

const struct triad_verb triad_verbs[TRIAD_N_COMMANDS] = {
	{.name = "health",
		.verb = TRIAD_COMMAND_HEALTH,
		.access = TRIAD_VERB_READS,
		.is_verdict = true,
		.options = BIT(AT_KEPT) | BIT(PLUGIN) | WATCHED,
		.help = "Whether all is well: a verdict, at most ten findings, the "
			"worst first, and a line for each part.  Exits with 0 (OK), 1 "
			"(WARNING), 2 (CRITICAL) or 3 (UNKNOWN)."},
	{.name = "status",
		.verb = TRIAD_COMMAND_STATUS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | BIT(SECTIONS) | WATCHED,
		.help = "What the plugin sees and does, on one screen; --all and "
			"--json have every number.  Exits with 1 when nothing works."},
	{.name = "links",
		.verb = TRIAD_COMMAND_LINKS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(DOWN) | BIT(SLOW) | BIT(LINK_ERRORS) |
			BIT(FLAPPED) | BIT(NODE) | BIT(PORT) | BIT(LINKS_BY) |
			BIT(BRIEF) | BIT(LIMIT_ALL) | TABLE,
		.help = "Each cable once, the worst on top: both ends, what it runs at "
			"and could run at, how busy it is, errors, how often it went "
			"down.  Of --down, --slow, --errors and --flapped, those that "
			"fit any."},
	{.name = "nodes",
		.verb = TRIAD_COMMAND_NODES,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(NODE) | BIT(TYPE) | BIT(LIMIT_ALL) | TABLE,
		.help = "The fabric's nodes: type, GUID, LID, ports that are up, and "
			"whether they answer."},
	{.name = "ports",
		.verb = TRIAD_COMMAND_PORTS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(STATE) | BIT(NODE) | BIT(PORT) | BIT(TYPE) |
			BIT(LIMIT_ALL) | TABLE,
		.help = "Ports and their state in one word: free, disabled, polling, "
			"training, silent, sleeping, init, armed or active; and what is "
			"at the far end, or was."},
	{.name = "routes check",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_ROUTES_CHECK,
		.access = TRIAD_VERB_READS,
		.is_verdict = true,
		.needs_parts = true,
		.options = BIT(AT_KEPT) | TABLE,
		.help = "What is wrong with the forwarding tables: credit loops, pairs "
			"that don't arrive, loops, dead ports, detours; with examples. "
			" Exits with 0 (clean), 1 (something is) or 3 (not checked)."},
	{.name = "routes over",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_ROUTES_OVER,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT) | BIT(LIMIT) | TABLE,
		.help = "The pairs of hosts whose path leaves by this end of a link.",
		.arguments = "NODE:PORT",
		.n_arguments_min = 1,
		.n_arguments_max = 2},
	{.name = "routes between",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_ROUTES_BETWEEN,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT) | BIT(PATH_SL) | TABLE,
		.help = "Each path from one host to another: every hop, its VL, how "
			"busy it is and how many pairs share it.",
		.arguments = "NODE NODE",
		.n_arguments_min = 2,
		.n_arguments_max = 2},
	{.name = "routes",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_ROUTES,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT_KEPT) | BIT(GROUP) | BIT(LIMIT) | TABLE,
		.help = "How many pairs of hosts cross each link: by tier, how "
			"uneven, and the worst links; --group: pairs within a group."},
	{.name = "congestion",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_CONGESTION,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT_KEPT) | BIT(LIMIT) | TABLE,
		.help = "Where congestion begins: slow hosts, incasts, weak links, "
			"uneven routes; what waits because of each, whose packets, what it "
			"costs and what to do."},
	{.name = "job",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_JOB,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(HOSTS) | BIT(SLURM_JOB) | BIT(SINCE) |
			BIT(LIMIT) | TABLE,
		.help = "What a set of hosts uses of the fabric: each link between "
			"them, its share of all pairs there, how busy it is, how long "
			"data waits, errors, congestion and alerts; now, or since a "
			"time, which needs history.dir."},
	{.name = "topology",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_TOPOLOGY,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(SLURM) | OUTPUT,
		.help = "The fabric as a workload manager wants it."},
	{.name = "perf show",
		.verb = TRIAD_COMMAND_PERF_SHOW,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(ERRORS) | BIT(NODE) | BIT(PORT) | BIT(TYPE) |
			TABLE,
		.help = "The counters of ports, as the last sweep read them."},
	{.name = "perf top",
		.verb = TRIAD_COMMAND_PERF_TOP,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(BY) | BIT(LIMIT) | TABLE,
		.help = "The ports where one counter grows fastest."},
	{.name = "perf sweep",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PERF_SWEEP,
		.access = TRIAD_VERB_CHANGES,
		.options = OUTPUT,
		.help = "Reads the counters of all ports now and waits for the end."},
	{.name = "perf clear",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PERF_CLEAR,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(EVERY) | BIT(NODE) | BIT(PORT) | BIT(TYPE) | OUTPUT,
		.help = "Sets the totals of ports to 0, or also the ports' own "
			"counters, for whoever reads them; or begins all histograms "
			"anew.",
		.arguments = "totals|hardware|histograms",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "perf resets",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_RESETS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | BIT(NODE) | BIT(PORT) | BIT(LIMIT) | TABLE,
		.help = "The last resets of counters in hardware, the newest first: "
			"the counter, what it read before, when, by whom."},
	{.name = "perf details",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_DETAILS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(NODE) | BIT(PORT) | BIT(TYPE) | BIT(ZEROS) |
			BIT(LIMIT_ALL) | TABLE,
		.help = "Why there are errors and discards, what forward error "
			"correction did, what VLs and SLs carried: counters that are "
			"read now and then, or when there is a new error."},
	{.name = "perf ber",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_BER,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(NODE) | BIT(PORT) | BIT(TYPE) |
			BIT(LINKS_ALL) | BIT(LIMIT_ALL) | TABLE,
		.help = "Bit error rates: links that are worse than their target, and "
			"those with errors of which it is not known yet."},
	{.name = "perf history",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_HISTORY,
		.access = TRIAD_VERB_READS,
		.waits = true,
		.options = BIT(SINCE) | BIT(AT) | WATCHED,
		.help = "How fast a counter of a port grew, drawn as a curve: in the "
			"last hour, since --since, until --at.  It needs history.dir.",
		.arguments = "NODE:PORT COUNTER",
		.n_arguments_min = 2,
		.n_arguments_max = 2},
	{.name = "diff",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_DIFF,
		.access = TRIAD_VERB_READS,
		.waits = true,
		.options = BIT(LIMIT) | WATCHED,
		.no_past = "its words are its times: 'diff 2h 1h'",
		.help = "What changed between two times, or from one until now: nodes, "
			"links, speeds, routes, alerts, the counters that grew most.  "
			"It needs history.dir.",
		.arguments = "TIME [TIME]",
		.n_arguments_min = 1,
		.n_arguments_max = 2},
	{.name = "cables",
		.verb = TRIAD_COMMAND_CABLES,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT) | BIT(TYPE) | BIT(LIMIT_ALL) | TABLE,
		.help = "What is plugged in at ports, of all nodes, one node or one port "
			"(NODE:3): vendor, part, serial number, length, temperature, "
			"power of light.  It needs devices.enabled.",
		.arguments = "[NODE]",
		.n_arguments_max = 1},
	{.name = "devices",
		.verb = TRIAD_COMMAND_DEVICES,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT) | BIT(TYPE) | BIT(FIRMWARE) | BIT(LIMIT_ALL) | TABLE,
		.help = "What switches and HCAs say about themselves: firmware, serial "
			"number, temperature, fans, power supplies.  It needs "
			"devices.enabled.",
		.arguments = "[NODE]",
		.n_arguments_max = 1},
	{.name = "perf histogram",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_HISTOGRAM,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(SINCE) | BIT(NODE) | BIT(PORT) | BIT(GROUP) |
			WATCHED,
		.help = "How often a counter grew how fast: over all ports, one port "
			"group, one node or one port; in all sweeps, or in those "
			"since a time.",
		.arguments = "COUNTER",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "alerts",
		.verb = TRIAD_COMMAND_ALERTS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(NODE) | BIT(ALL) | BIT(LIMIT) | TABLE,
		.help = "What is wrong at present, the last to come first."},
	{.name = "alerts ack",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_ALERTS_ACK,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(FOR_ACK) | BIT(REASON) | BIT(COLOR),
		.help = "You know of this alert: it wakes nobody until it is over, or "
			"gets worse.",
		.arguments = "ID",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "silence",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_SILENCE,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(FOR) | BIT(FROM) | BIT(REASON) | BIT(COLOR),
		.help = "Alerts about a node, a port (NODE:3) or the nodes of a pattern "
			"wake nobody for a time, while work goes on there.  It needs "
			"--for and --reason.",
		.arguments = "NODE",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "unsilence",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_UNSILENCE,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Ends a silence, or an acknowledgement; 'silences' has its "
			"number.",
		.arguments = "ID",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "silences",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_SILENCES,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | TABLE,
		.help = "Which alerts wake nobody, until when, why and by whose word."},
	{.name = "history",
		.verb = TRIAD_COMMAND_HISTORY,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(LIMIT) | BIT(SINCE) | TABLE,
		.help = "What happened in the fabric, or at a node or port (NODE:3), "
			"the last first, before restarts too: links and nodes that came "
			"and went, alerts, resets, what was done to ports; and when "
			"nobody looked.",
		.arguments = "[NODE]",
		.n_arguments_max = 1},
	{.name = "agents owner",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_AGENTS_OWNER,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | WATCHED,
		.help = "Which agent reads a node.",
		.arguments = "NODE",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "agents drain",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_AGENTS_DRAIN,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Has this agent give its nodes to others, until 'agents resume' "
			"or its next start."},
	{.name = "agents resume",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_AGENTS_RESUME,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Has this agent read nodes again."},
	{.name = "agents",
		.verb = TRIAD_COMMAND_AGENTS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | TABLE,
		.help = "The agents that read counters, and how each of them does."},
	{.name = "qos on",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_QOS_ON,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Triad answers requests for paths, until the next 'reload' or "
			"start."},
	{.name = "qos off",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_QOS_OFF,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "OpenSM answers them by itself again, until the next 'reload' "
			"or start."},
	{.name = "qos clients",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_QOS_CLIENTS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | BIT(LIMIT) | TABLE,
		.help = "Who asks most for paths."},
	{.name = "qos explain",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_QOS_EXPLAIN,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(SOURCE) | BIT(DESTINATION) | BIT(SERVICE_ID) |
			BIT(TCLASS) | BIT(QOS_CLASS) | BIT(PKEY) | BIT(SL) | TABLE,
		.no_past =
			"the policy and the partitions of then are not kept; 'routes check --at' "
			"has what was wrong with routes, 'diff' what has changed since",
		.help = "Why a request for a path gets its answer: rule, level, every "
			"hop."},
	{.name = "qos plan",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_QOS_PLAN,
		.access = TRIAD_VERB_READS,
		.arguments_change = true, /* it reads FILE */
		.options = BIT(AT_KEPT) | BIT(NODE) | BIT(PORT) | BIT(LIMIT) | TABLE,
		.help = "Which QoS tables would change, by the policy in FILE or the "
			"one that is loaded, and what is wrong with it on this fabric. "
			" Exits with 3 when something would.",
		.arguments = "[FILE]",
		.n_arguments_max = 1},
	{.name = "qos apply",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_QOS_APPLY,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "Reads the policy again, and has OpenSM sweep now: then tables "
			"are programmed, or its rules alone taken where tables are "
			"off.  A policy is in force whole, or not at all."},
	{.name = "qos tables",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_QOS_TABLES,
		.access = TRIAD_VERB_READS,
		.waits = true,
		.options = BIT(AT) | BIT(NODE) | BIT(PORT) | TABLE,
		.help = "The QoS tables of ports: as the policy says, as the SM knows "
			"them, as the ports answer (not with --at)."},
	{.name = "qos nodes",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_QOS_NODES,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | TABLE,
		.help = "Nodes that are in none of the policy's port groups."},
	{.name = "election",
		.verb = TRIAD_COMMAND_ELECTION,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | TABLE,
		.help = "Who is master and who may enforce, why, and how the members "
			"are."},
	{.name = "port priority",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_PRIORITY,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "Whom to prefer among SMs that are equally well: 0 to 15, "
			"until the next 'reload' or start.",
		.arguments = "N",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "port confirm",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_CONFIRM,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "Your word that all members that are missing are down: then "
			"those that are here may enforce without them."},
	{.name = "port blacklist",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_BLACKLIST,
		.access = TRIAD_VERB_READS,
		.arguments_change = true,
		.needs_parts = true,
		.options = BIT(COLOR),
		.no_past = "'election --at' has it",
		.help = "SMs, by port GUID, that must not enforce; for ever, on all "
			"members.",
		.arguments = "[add|remove GUID]",
		.n_arguments_max = 2},
	{.name = "port verdict",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_VERDICT,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "What an external check says of this SM: whether it may "
			"enforce.",
		.arguments = "yes|no",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "port plan",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_PORT_PLAN,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT_KEPT) | BIT(NODE) | BIT(PORT) | BIT(LIMIT) | TABLE,
		.kept_rows = 1000,
		.help = "What would be done so that switch ports are as expected, what "
			"is not done, and why.  Exits with 3 when something would."},
	{.name = "port list",
		.verb = TRIAD_COMMAND_PORT_LIST,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT) | BIT(FAILED) | BIT(NODE) | BIT(PORT) | BIT(LIMIT) |
			TABLE,
		.help = "Switch ports as they are expected and as they are."},
	{.name = "port history",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PORT_HISTORY,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(NODE) | BIT(PORT) | BIT(LIMIT) | TABLE,
		.help = "What was done to ports, by whom, when and why, the last "
			"first."},
	{.name = "port release",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_RELEASE,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "A port that was disabled as failed is enabled again, and "
			"looked at anew.",
		.arguments = "NODE PORT",
		.n_arguments_min = 1,
		.n_arguments_max = 2},
	{.name = "port approve",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_APPROVE,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "Your word that the plan is meant, though it changes more ports "
			"than port.max_actions; for one port, though a guard stops it.",
		.arguments = "[NODE PORT]",
		.n_arguments_max = 2},
	{.name = "port snapshot",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_PORT_SNAPSHOT,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "The fabric as it is, written as an expected configuration."},
	{.name = "get",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_GET,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | WATCHED,
		.help = "The value in force of a key of triad.conf, of all keys of a "
			"section, or of all, and where it is from.",
		.arguments = "[KEY]",
		.n_arguments_max = 1},
	{.name = "config diff",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_CONFIG_DIFF,
		.access = TRIAD_VERB_READS,
		.waits = true,
		.options = WATCHED,
		.no_past =
			"triad.conf is read now; 'get --at' has what was in force then",
		.help = "What is in force compared with triad.conf as it is now, and "
			"with the defaults.  Exits with 3 when the file is not in "
			"force as it stands."},
	{.name = "set",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_SET,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Changes a key of triad.conf, written section.key, until the "
			"next 'reload' or start.  KEY=VALUE and KEY = VALUE are right, "
			"too.",
		.arguments = "KEY VALUE",
		.n_arguments_min = 1,
		.n_arguments_max = 4},
	{.name = "reload",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_RELOAD,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Reads triad.conf again; a file with a mistake changes "
			"nothing."},
	{.name = "version",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_VERSION,
		.access = TRIAD_VERB_READS,
		.options = BIT(CLIENT) | OUTPUT,
		.help = "The version of Triad, and what it runs in."},
	{.name = "help",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_HELP,
		.access = TRIAD_VERB_READS,
		.options = BIT(COLOR),
		.help = "All commands, or one with its options.",
		.arguments = "[COMMAND]",
		.n_arguments_max = 2},
};

struct triad_verb_table triad_command_verbs(void)
{
	return (struct triad_verb_table){
		.verbs = triad_verbs,
		.n_verbs = TRIAD_N_COMMANDS,
		.options = triad_options,
		.n_options = TRIAD_N_OPTIONS,
	};
}

const struct triad_verb *triad_verb_of(enum triad_command_verb verb)
{
	for (size_t i = 0; i < TRIAD_N_COMMANDS; i++)
		if (triad_verbs[i].verb == verb)
			return &triad_verbs[i];
	return NULL;
}

bool triad_verb_is_topic(const struct triad_verb *verb, const char *topic)
{
	size_t n = strlen(topic);

	return !strncmp(verb->name, topic, n) &&
		(!verb->name[n] || verb->name[n] == ' ');
}
