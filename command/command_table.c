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
		.help = "a node's name, 'leaf-*', GUID or LID; NAME:3 for a port"},
	[TRIAD_OPTION_PORT] = {"--port", "N", TRIAD_OPTION_KIND_NUMBER, AT(port),
		.max = 254, .help = "only ports with this number, 0 to 254"},
	[TRIAD_OPTION_TYPE] = {"--type", "ca|switch|router|all",
		TRIAD_OPTION_KIND_CHOICE, AT(type), .choices = triad_conf_types,
		.help = "only nodes of this type [all]"},
	[TRIAD_OPTION_STATE] = {"--state", "STATE", TRIAD_OPTION_KIND_CHOICE, AT(state),
		.choices = triad_port_condition_choices,
		.help = "only ports in this state [all]"},
	[TRIAD_OPTION_ERRORS] = {"--errors", NULL, TRIAD_OPTION_KIND_FLAG, AT(errors),
		.help = "only ports with errors or without an answer"},
	[TRIAD_OPTION_GROUP] = {"--group", "NAME", TRIAD_OPTION_KIND_TEXT, AT(group),
		.help = "only ports of this [group NAME] of triad.conf"},
	[TRIAD_OPTION_ALL] = {"--all", NULL, TRIAD_OPTION_KIND_FLAG, AT(all),
		.help = "also alerts that were cleared lately"},
	[TRIAD_OPTION_EVERY] = {"--all", NULL, TRIAD_OPTION_KIND_FLAG, AT(all),
		.help = "every port"},
	[TRIAD_OPTION_ZEROS] = {"--all", NULL, TRIAD_OPTION_KIND_FLAG, AT(all),
		.help = "also counters that are 0"},
	[TRIAD_OPTION_LINKS_ALL] = {"--all", NULL, TRIAD_OPTION_KIND_FLAG, AT(all),
		.help = "also good links"},
	[TRIAD_OPTION_FIRMWARE] = {"--firmware", NULL, TRIAD_OPTION_KIND_FLAG,
		AT(firmware),
		.help = "how many devices of each kind have which firmware version"},
	[TRIAD_OPTION_SECTIONS] = {"--all", NULL, TRIAD_OPTION_KIND_FLAG, AT(all),
		.help = "all numbers, on more than one screen"},
	[TRIAD_OPTION_PLUGIN] = {"--plugin", NULL, TRIAD_OPTION_KIND_FLAG, AT(plugin),
		.help = "one line with performance data, for Nagios, Icinga or "
			"checkmk"},
	[TRIAD_OPTION_DOWN] = {"--down", NULL, TRIAD_OPTION_KIND_FLAG, AT(down),
		.help = "links that are down and were up before"},
	[TRIAD_OPTION_SLOW] = {"--slow", NULL, TRIAD_OPTION_KIND_FLAG, AT(slow),
		.help = "links slower than similar ones, or than both ends can run"},
	[TRIAD_OPTION_FLAPPED] = {"--flapped", NULL, TRIAD_OPTION_KIND_FLAG,
		AT(flapped), .help = "links that went down since the start"},
	[TRIAD_OPTION_HELD] = {"--held", NULL, TRIAD_OPTION_KIND_FLAG, AT(held),
		.help = "links that are held out of routing (damp.mode)"},
	[TRIAD_OPTION_LINK_ERRORS] = {"--errors", NULL, TRIAD_OPTION_KIND_FLAG,
		AT(errors), .help = "links with errors at either end"},
	[TRIAD_OPTION_LINKS_BY] = {"--by", "COUNTER", TRIAD_OPTION_KIND_COUNTER, AT(by),
		.present = offsetof(struct triad_command, has_by),
		.help = "sort by the rate of this counter, at either end"},
	[TRIAD_OPTION_BRIEF] = {"--brief", NULL, TRIAD_OPTION_KIND_FLAG, AT(brief),
		.help = "with --json: omit counters that are 0"},
	[TRIAD_OPTION_FAILED] = {"--failed", NULL, TRIAD_OPTION_KIND_FLAG, AT(failed),
		.help = "only ports that were disabled as failed"},
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
		.help = "when to begin, as 2026-01-31T22:00 (UTC) or "
			"2026-01-31T23:00+01:00 [now]"},
	[TRIAD_OPTION_REASON] = {"--reason", "TEXT", TRIAD_OPTION_KIND_TEXT, AT(reason),
		.help = "the reason, for others to see: 'new line cards'"},
	[TRIAD_OPTION_SINCE] = {"--since", "TIME", TRIAD_OPTION_KIND_TEXT, AT(since),
		.help = "since this time: 2026-01-02, 2026-01-02T03:04 (UTC), or 2d, "
			"3h, 90m ago"},
	[TRIAD_OPTION_AT] = {"--at", "TIME", TRIAD_OPTION_KIND_TEXT, AT(at),
		.help = "as it was at this time: 2026-01-02T03:04 (UTC), or 2d, 3h, "
			"90m ago; needs history.dir",
		.absent =
			"its past is not kept; A PAST MOMENT in triadctl(1) lists the "
			"commands whose past is"},
	[TRIAD_OPTION_AT_KEPT] = {"--at", "TIME", TRIAD_OPTION_KIND_TEXT, AT(at),
		.help = "the answer at this time, without other options: "
			"2026-01-02T03:04 (UTC), or 2d, 3h, 90m ago; needs "
			"history.dir"},
	[TRIAD_OPTION_SOURCE] = {"--src", "NODE", TRIAD_OPTION_KIND_NODE, AT(source),
		.help = "source of the path: a node's name, GUID or LID; NAME:2 for "
			"a port"},
	[TRIAD_OPTION_DESTINATION] = {"--dst", "NODE", TRIAD_OPTION_KIND_NODE,
		AT(destination), .help = "destination of the path"},
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
		.help = "hosts of the job, as Slurm lists them: "
			"host-[0001-0064],login1"},
	[TRIAD_OPTION_SLURM_JOB] = {"--slurm", "JOBID", TRIAD_OPTION_KIND_TEXT,
		AT(slurm_job), .help = "the hosts of this Slurm job, by squeue"},
	[TRIAD_OPTION_SLURM] = {"--slurm", NULL, TRIAD_OPTION_KIND_FLAG, AT(slurm),
		.help = "as Slurm's topology.conf, for topology/tree"},
	[TRIAD_OPTION_DB_CSV] = {"--db-csv", NULL, TRIAD_OPTION_KIND_FLAG, AT(db_csv),
		.help = "as ibdiagnet writes it: ibdiagnet2.db_csv"},
	[TRIAD_OPTION_FDBS] = {"--fdbs", NULL, TRIAD_OPTION_KIND_FLAG, AT(fdbs),
		.help = "the forwarding tables, as in ibdiagnet2.fdbs"},
	[TRIAD_OPTION_MCFDBS] = {"--mcfdbs", NULL, TRIAD_OPTION_KIND_FLAG, AT(mcfdbs),
		.help = "the multicast tables, as in ibdiagnet2.mcfdbs"},
	[TRIAD_OPTION_PATH_SL] = {"--sl", "N", VALUE(sl), .max_value = 15,
		.help = "show the VLs for this SL, 0 to 15 [the SL of the routing "
			"engine, or 0]"},
	[TRIAD_OPTION_WATCH] = {"--watch", NULL, TRIAD_OPTION_KIND_FLAG, AT(watch),
		.help = "repeat until Ctrl-C"},
	[TRIAD_OPTION_INTERVAL] = {"--interval", "S", TRIAD_OPTION_KIND_NUMBER,
		AT(interval_s), .min = 1, .max = 3600, .unit = "s",
		.help = "with --watch: every S seconds, 1 to 3600 [2]"},
	[TRIAD_OPTION_COLUMNS] = {"--columns", "A,B,...", TRIAD_OPTION_KIND_TEXT,
		AT(columns),
		.help = "only these columns, in this order; titles, or names as in "
			"JSON"},
	[TRIAD_OPTION_SORT] = {"--sort", "[-]COLUMN", TRIAD_OPTION_KIND_TEXT, AT(sort),
		.help = "sort by this column; with a minus, largest first"},
	[TRIAD_OPTION_NO_HEADINGS] = {"--no-headings", NULL, TRIAD_OPTION_KIND_FLAG,
		AT(no_headings), .help = "no column titles"},
	[TRIAD_OPTION_RAW] = {"--raw", NULL, TRIAD_OPTION_KIND_FLAG, AT(raw),
		.help = "for programs: tabs between columns, numbers without units"},
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
		.help = "Shows a verdict, up to ten findings with the worst first, "
			"and a line for each part.  Exits with 0 (OK), 1 (WARNING), "
			"2 (CRITICAL) or 3 (UNKNOWN)."},
	{.name = "status",
		.verb = TRIAD_COMMAND_STATUS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | BIT(SECTIONS) | WATCHED,
		.help = "Shows what the plugin sees and does, on one screen; --all "
			"and --json show every number.  Exits with 1 when nothing "
			"works."},
	{.name = "links",
		.verb = TRIAD_COMMAND_LINKS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(DOWN) | BIT(SLOW) | BIT(LINK_ERRORS) |
			BIT(FLAPPED) | BIT(HELD) | BIT(NODE) | BIT(PORT) |
			BIT(LINKS_BY) | BIT(BRIEF) | BIT(LIMIT_ALL) | TABLE,
		.help = "Lists links, the worst first: both ends, present and "
			"possible speed, load, errors, how often they went down.  Of "
			"--down, --slow, --errors, --flapped and --held, a link must match "
			"one."},
	{.name = "nodes",
		.verb = TRIAD_COMMAND_NODES,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(NODE) | BIT(TYPE) | BIT(LIMIT_ALL) | TABLE,
		.help = "Lists nodes: type, GUID, LID, ports that are up, and "
			"whether they answer."},
	{.name = "ports",
		.verb = TRIAD_COMMAND_PORTS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(STATE) | BIT(NODE) | BIT(PORT) | BIT(TYPE) |
			BIT(LIMIT_ALL) | TABLE,
		.help = "Lists ports with their state: free, disabled, polling, "
			"training, silent, sleeping, init, armed or active; and what "
			"is at the far end, or was."},
	{.name = "routes check",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_ROUTES_CHECK,
		.access = TRIAD_VERB_READS,
		.is_verdict = true,
		.needs_parts = true,
		.options = BIT(AT_KEPT) | TABLE,
		.help = "Checks the forwarding tables for credit loops, unreachable "
			"pairs, loops, dead ports and detours, and gives examples.  "
			"Exits with 0 (clean), 1 (faults) or 3 (not checked)."},
	{.name = "routes over",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_ROUTES_OVER,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT) | BIT(LIMIT) | TABLE,
		.help = "Lists the pairs of hosts whose path leaves through this "
			"port.",
		.arguments = "NODE:PORT",
		.n_arguments_min = 1,
		.n_arguments_max = 2},
	{.name = "routes between",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_ROUTES_BETWEEN,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT) | BIT(PATH_SL) | TABLE,
		.help = "Shows each path from one host to another: every hop, its "
			"VL, its load, and how many pairs share it.",
		.arguments = "NODE NODE",
		.n_arguments_min = 2,
		.n_arguments_max = 2},
	{.name = "routes",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_ROUTES,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT_KEPT) | BIT(GROUP) | BIT(LIMIT) | TABLE,
		.help = "Counts the pairs of hosts that cross each link: by tier, "
			"how evenly, and the most used links.  --group counts pairs "
			"within a group."},
	{.name = "repair plan",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_REPAIR_PLAN,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(LIMIT_ALL) | TABLE,
		.no_past =
			"images keep no forwarding tables; 'routes --at' has how many "
			"pairs crossed links",
		.help = "Shows which entries of forwarding tables would lead packets "
			"around a link, or all links of a switch, and whether no credit "
			"loop can come of it.  Writes nothing.",
		.arguments = "NODE[:PORT]",
		.n_arguments_min = 1,
		.n_arguments_max = 2},
	{.name = "repair history",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_REPAIR_HISTORY,
		.access = TRIAD_VERB_READS,
		.options = BIT(LIMIT) | TABLE,
		.no_past = "'history' has what became of lost links before",
		.help = "Lists the links and switches that were lost (repair.mode), and whether "
			"and how fast they were routed around before OpenSM swept."},
	{.name = "heal",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_HEAL,
		.access = TRIAD_VERB_READS,
		.options = BIT(LIMIT) | TABLE,
		.no_past = "'port history' has what was done then",
		.help = "Lists bad links that were taken out of routing, and those that are "
			"back, on probation."},
	{.name = "heal report",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_HEAL_REPORT,
		.access = TRIAD_VERB_READS,
		.options = BIT(LIMIT) | BIT(SINCE) | TABLE,
		.help = "Lists links that were taken out of routing since a time, 30 days "
			"without it: how often, for how long, why, both ends, the cable."},
	{.name = "heal plan",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_HEAL_PLAN,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(LIMIT) | TABLE,
		.no_past =
			"'alerts --at' has which links were bad, 'routes --at' how many "
			"pairs crossed links",
		.help = "Lists links and nodes that alerts call bad, the worst first: the "
			"evidence, what it costs to be without each link, what to do.  Exits "
			"with 0 (none), 1 (some) or 3 (not known)."},
	{.name = "repair settle",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_REPAIR_SETTLE,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Has OpenSM compute all forwarding tables afresh, without the ways "
			"around lost links that it keeps."},
	{.name = "congestion",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_CONGESTION,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT_KEPT) | BIT(LIMIT) | TABLE,
		.help = "Shows where congestion begins: slow hosts, incasts, weak "
			"links, uneven routes.  For each: what waits, whose packets, "
			"the cost, and what to do."},
	{.name = "job",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_JOB,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(HOSTS) | BIT(SLURM_JOB) | BIT(SINCE) |
			BIT(LIMIT) | TABLE,
		.help = "Shows how a set of hosts uses the fabric: links, their "
			"share of each, load, waits, errors, congestion and alerts.  "
			"--since needs history.dir."},
	{.name = "topology",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_TOPOLOGY,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(SLURM) | BIT(DB_CSV) | BIT(FDBS) |
			BIT(MCFDBS) | OUTPUT,
		.help = "Prints the fabric for other programs: a workload manager, "
			"or those that read ibdiagnet's files."},
	{.name = "perf show",
		.verb = TRIAD_COMMAND_PERF_SHOW,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(ERRORS) | BIT(NODE) | BIT(PORT) | BIT(TYPE) |
			TABLE,
		.help = "Shows the counters of ports, as the last sweep read them."},
	{.name = "perf top",
		.verb = TRIAD_COMMAND_PERF_TOP,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(BY) | BIT(LIMIT) | TABLE,
		.help = "Lists the ports where one counter grows fastest."},
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
		.help = "totals: sets Triad's totals to 0.  hardware: also resets "
			"the counters in the ports, for all who read them.  "
			"histograms: begins all histograms anew.",
		.arguments = "totals|hardware|histograms",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "perf resets",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_RESETS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | BIT(NODE) | BIT(PORT) | BIT(LIMIT) | TABLE,
		.help = "Lists the last resets of hardware counters, newest first: "
			"the counter, its value before, when, by whom."},
	{.name = "perf details",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_DETAILS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(NODE) | BIT(PORT) | BIT(TYPE) | BIT(ZEROS) |
			BIT(LIMIT_ALL) | TABLE,
		.help = "Shows causes of errors and discards, what FEC corrected, "
			"and the traffic of VLs and SLs.  These counters are read "
			"now and then, or when there is a new error."},
	{.name = "perf ber",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_BER,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(NODE) | BIT(PORT) | BIT(TYPE) |
			BIT(LINKS_ALL) | BIT(LIMIT_ALL) | TABLE,
		.help = "Shows bit error rates: links above their target, and links "
			"with errors that are not judged yet."},
	{.name = "perf history",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_HISTORY,
		.access = TRIAD_VERB_READS,
		.waits = true,
		.options = BIT(SINCE) | BIT(AT) | WATCHED,
		.help = "Draws how fast a counter of a port grew in the last hour, "
			"or from --since to --at.  Needs history.dir.",
		.arguments = "NODE:PORT COUNTER",
		.n_arguments_min = 2,
		.n_arguments_max = 2},
	{.name = "perf tiers",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_TIERS,
		.access = TRIAD_VERB_READS,
		.waits = true,
		.options = BIT(SINCE) | BIT(AT) | TABLE,
		.help = "Shows what flowed between hosts and the levels of switches in "
			"the last hour, or from --since to --at.  Needs history.dir."},
	{.name = "diff",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_DIFF,
		.access = TRIAD_VERB_READS,
		.waits = true,
		.options = BIT(LIMIT) | WATCHED,
		.no_past = "its words are its times: 'diff 2h 1h'",
		.help = "Shows what changed between two times, or since one: nodes, "
			"links, speeds, routes, alerts, the counters that grew "
			"most.  Needs history.dir.",
		.arguments = "TIME [TIME]",
		.n_arguments_min = 1,
		.n_arguments_max = 2},
	{.name = "cables",
		.verb = TRIAD_COMMAND_CABLES,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT) | BIT(TYPE) | BIT(LIMIT_ALL) | TABLE,
		.help = "Shows the cables and modules of all nodes, one node or one "
			"port (NODE:3): vendor, part, serial number, length, "
			"temperature, optical power.  Needs devices.enabled.",
		.arguments = "[NODE]",
		.n_arguments_max = 1},
	{.name = "devices",
		.verb = TRIAD_COMMAND_DEVICES,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT) | BIT(TYPE) | BIT(FIRMWARE) | BIT(LIMIT_ALL) | TABLE,
		.help = "Shows what switches and HCAs report: firmware, serial "
			"number, temperature, fans, power supplies.  Needs "
			"devices.enabled.",
		.arguments = "[NODE]",
		.n_arguments_max = 1},
	{.name = "perf histogram",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PERF_HISTOGRAM,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(SINCE) | BIT(NODE) | BIT(PORT) | BIT(GROUP) |
			WATCHED,
		.help = "Shows how often a counter grew at which rate: of all ports, "
			"a group, a node or a port; in all sweeps, or since a time.",
		.arguments = "COUNTER",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "alerts",
		.verb = TRIAD_COMMAND_ALERTS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(NODE) | BIT(ALL) | BIT(LIMIT) | TABLE,
		.help = "Lists the active alerts, newest first."},
	{.name = "alerts ack",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_ALERTS_ACK,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(FOR_ACK) | BIT(REASON) | BIT(COLOR),
		.help = "Acknowledges an alert: nobody is notified of it again until "
			"it is over or gets worse.",
		.arguments = "ID",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "silence",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_SILENCE,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(FOR) | BIT(FROM) | BIT(REASON) | BIT(COLOR),
		.help = "Silences alerts during maintenance: of a node, a port "
			"(NODE:3) or all nodes of a pattern.  Needs --for and "
			"--reason.",
		.arguments = "NODE",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "unsilence",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_UNSILENCE,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Ends a silence or an acknowledgement; 'silences' shows its "
			"number.",
		.arguments = "ID",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "silences",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_SILENCES,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | TABLE,
		.help = "Lists silences and acknowledgements: of what, until when, "
			"why, by whom."},
	{.name = "history",
		.verb = TRIAD_COMMAND_HISTORY,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(LIMIT) | BIT(SINCE) | TABLE,
		.help = "Lists what happened in the fabric, or at a node or port "
			"(NODE:3), newest first: links and nodes that came and went, "
			"alerts, resets, changes of ports.  Also shows times when "
			"counters were not read.",
		.arguments = "[NODE]",
		.n_arguments_max = 1},
	{.name = "agents owner",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_AGENTS_OWNER,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | WATCHED,
		.help = "Shows which agent reads a node.",
		.arguments = "NODE",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "agents drain",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_AGENTS_DRAIN,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Makes this agent give its nodes to others, until 'agents "
			"resume' or its next start."},
	{.name = "agents resume",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_AGENTS_RESUME,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Lets this agent read nodes again."},
	{.name = "agents",
		.verb = TRIAD_COMMAND_AGENTS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | TABLE,
		.help = "Lists the agents that read counters, and their state."},
	{.name = "qos on",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_QOS_ON,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Makes Triad answer path requests, until the next 'reload' "
			"or start."},
	{.name = "qos off",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_QOS_OFF,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Makes OpenSM answer path requests again, until the next "
			"'reload' or start."},
	{.name = "qos clients",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_QOS_CLIENTS,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | BIT(LIMIT) | TABLE,
		.help = "Lists the clients that send the most path requests."},
	{.name = "audit",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_AUDIT,
		.access = TRIAD_VERB_CHANGES, /* it sends thousands of SMPs */
		.is_verdict = true,
		.options = BIT(NODE) | BIT(LIMIT_ALL) | OUTPUT | BIT(TABLE) |
			TRIAD_OPTIONS_OF_LAYOUT,
		.no_past = "it asks the devices",
		.help = "Reads what OpenSM wrote into devices and lists what is not as "
			"OpenSM wants it.  Exits with 1 if something is not, with 3 if that "
			"is not known."},
	{.name = "audit last",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_AUDIT_LAST,
		.access = TRIAD_VERB_READS,
		.options = BIT(LIMIT) | TABLE,
		.no_past = "images do not keep what audits found",
		.help = "Shows what the last audit of all devices found, when it ended and who "
			"asked for it.  Asks no device."},
	{.name = "audit repair",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_AUDIT_REPAIR,
		.access = TRIAD_VERB_CHANGES,
		.is_verdict = true,
		.options = BIT(ALL) | BIT(NODE) | BIT(COLOR),
		.help = "Writes what OpenSM wants into a device where 'audit' finds something "
			"else, and reads it back.  Exits with 1 if something is not written, "
			"with 3 if nothing is known.",
		.arguments = "[ID]",
		.n_arguments_max = 1},
	{.name = "shield",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_SHIELD,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | BIT(LIMIT) | TABLE,
		.help = "Lists the clients whose requests to the SA were refused."},
	{.name = "damp",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_DAMP,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | BIT(LIMIT) | TABLE,
		.help = "Lists links that went down lately, and those that are "
			"held out of routing because they do so again and again."},
	{.name = "damp traps",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_DAMP_TRAPS,
		.access = TRIAD_VERB_READS,
		.options = BIT(LIMIT) | TABLE,
		.no_past = "they are not kept",
		.help = "Lists who sends traps that change nothing, most first, and how many of "
			"these OpenSM did not get."},
	{.name = "damp release",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_DAMP_RELEASE,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Gives a held link back to OpenSM, and forgives what it did.",
		.arguments = "NODE PORT",
		.n_arguments_min = 1,
		.n_arguments_max = 2},
	{.name = "damp pin",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_DAMP_PIN,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Holds a link out of routing until 'damp release'.",
		.arguments = "NODE PORT",
		.n_arguments_min = 1,
		.n_arguments_max = 2},
	{.name = "heal take",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_HEAL_TAKE,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Takes a link between switches out of routing, tests and returns it, "
			"whatever statistics say of it.",
		.arguments = "NODE PORT",
		.n_arguments_min = 1,
		.n_arguments_max = 2},
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
		.help = "Explains the answer to a path request: rule, level, every "
			"hop."},
	{.name = "qos plan",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_QOS_PLAN,
		.access = TRIAD_VERB_READS,
		.arguments_change = true, /* it reads FILE */
		.options = BIT(AT_KEPT) | BIT(NODE) | BIT(PORT) | BIT(LIMIT) | TABLE,
		.help = "Shows which QoS tables would change, by the policy in FILE "
			"or the loaded one, and what is wrong with the policy on "
			"this fabric.  Exits with 3 when a table would change.",
		.arguments = "[FILE]",
		.n_arguments_max = 1},
	{.name = "qos apply",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_QOS_APPLY,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "Reads the policy again and makes OpenSM sweep, so that the "
			"tables are programmed.  Without qos.tables_enabled only the "
			"rules take effect.  A policy takes effect as a whole, or "
			"not at all."},
	{.name = "qos tables",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_QOS_TABLES,
		.access = TRIAD_VERB_READS,
		.waits = true,
		.options = BIT(AT) | BIT(NODE) | BIT(PORT) | TABLE,
		.help = "Shows the QoS tables of ports: by the policy, as the SM "
			"knows them, and as the ports answer (not with --at)."},
	{.name = "qos nodes",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_QOS_NODES,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | TABLE,
		.help = "Lists the nodes that are in no port group of the policy."},
	{.name = "election",
		.verb = TRIAD_COMMAND_ELECTION,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT_KEPT) | TABLE,
		.help = "Shows which SM is master and which may enforce, why, and "
			"the state of the members."},
	{.name = "port priority",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_PRIORITY,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "Sets the preference of this SM among SMs of equal health, 0 "
			"to 15, until the next 'reload' or start.",
		.arguments = "N",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "port confirm",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_CONFIRM,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "Confirms that all missing members are down.  Then the "
			"present members may enforce without them."},
	{.name = "port blacklist",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_BLACKLIST,
		.access = TRIAD_VERB_READS,
		.arguments_change = true,
		.needs_parts = true,
		.options = BIT(COLOR),
		.no_past = "'election --at' has it",
		.help = "Shows or changes the blacklist: port GUIDs of SMs that must "
			"not enforce.  It holds on all members, until changed.",
		.arguments = "[add|remove GUID]",
		.n_arguments_max = 2},
	{.name = "port verdict",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_VERDICT,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "Gives the answer of an external check: whether this SM may "
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
		.help = "Shows what would be done to make switch ports as expected, "
			"what is not done, and why.  Exits with 3 when something "
			"would be done."},
	{.name = "port list",
		.verb = TRIAD_COMMAND_PORT_LIST,
		.access = TRIAD_VERB_READS,
		.needs_parts = true,
		.options = BIT(AT) | BIT(FAILED) | BIT(NODE) | BIT(PORT) | BIT(LIMIT) |
			TABLE,
		.help = "Lists switch ports: expected state and actual state."},
	{.name = "port history",
		.group = TRIAD_VERB_DIAGNOSE,
		.verb = TRIAD_COMMAND_PORT_HISTORY,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | BIT(NODE) | BIT(PORT) | BIT(LIMIT) | TABLE,
		.help = "Lists what was done to ports, newest first: by whom, when "
			"and why."},
	{.name = "port release",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_RELEASE,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "Enables a port that was disabled as failed, and checks it "
			"anew.",
		.arguments = "NODE PORT",
		.n_arguments_min = 1,
		.n_arguments_max = 2},
	{.name = "port approve",
		.group = TRIAD_VERB_MAINTAIN,
		.verb = TRIAD_COMMAND_PORT_APPROVE,
		.access = TRIAD_VERB_CHANGES,
		.needs_parts = true,
		.options = BIT(COLOR),
		.help = "Approves a plan that changes more ports than "
			"port.max_actions; or one port that a guard stops.",
		.arguments = "[NODE PORT]",
		.n_arguments_max = 2},
	{.name = "port snapshot",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_PORT_SNAPSHOT,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Prints the present fabric as an expected configuration."},
	{.name = "get",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_GET,
		.access = TRIAD_VERB_READS,
		.options = BIT(AT) | WATCHED,
		.help = "Shows the value in force of a key of triad.conf, of a "
			"section, or of all keys, and where it is from.",
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
		.help = "Compares what is in force with triad.conf as it is now, and "
			"with the defaults.  Exits with 3 when the file is not in "
			"force as it is."},
	{.name = "set",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_SET,
		.access = TRIAD_VERB_CHANGES,
		.options = BIT(COLOR),
		.help = "Changes a key of triad.conf, written section.key, until the "
			"next 'reload' or start.  KEY=VALUE and KEY = VALUE work, "
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
		.help = "Shows the version of Triad and the program that it runs in."},
	{.name = "help",
		.group = TRIAD_VERB_CONFIGURE,
		.verb = TRIAD_COMMAND_HELP,
		.access = TRIAD_VERB_READS,
		.options = BIT(COLOR),
		.help = "Shows all commands, or one with its options.",
		.arguments = "[COMMAND]",
		.n_arguments_max = 2},
};

const struct triad_verb_table triad_command_verbs =
	TRIAD_VERB_TABLE(triad_verbs, triad_options, TRIAD_N_OPTIONS);

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
