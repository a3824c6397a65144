/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/facts.h"

#include "plugin/damp/damper.h"
#include "plugin/heal/healer.h"
#include "plugin/reroute/rerouter.h"
#include "plugin/election/elector.h"
#include "plugin/extended_speeds.h"
#include "plugin/sa/shield.h"
#include "plugin/ports/ports.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/tables.h"
#include "plugin/sa/sa_copies.h"
#include "plugin/worker.h"

/* --- topology --- */

#define STATUS struct triad_worker_status
const struct triad_fact triad_topology_facts[] = {
	{"nodes", "nodes", TRIAD_FACT(UINT, n_nodes),
		TRIAD_GAUGE("triad_fabric_nodes", "Nodes of the fabric.")},
	{"switches", "switches", TRIAD_FACT(UINT, n_switches)},
	{"ports", "ports", TRIAD_FACT(UINT, n_ports)},
	{"links", "links", TRIAD_FACT(UINT, n_links),
		TRIAD_GAUGE("triad_fabric_links", "Links of the fabric.")},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_snapshot_facts[] = {
	{"snapshots", "snapshots", TRIAD_FACT(UINT, n_snapshots)},
	{"snapshots_discarded", "snapshots discarded", TRIAD_FACT(UINT, n_discarded)},
	{"snapshots_failed", "snapshots failed", TRIAD_FACT(UINT, n_failed)},
	{"sm_lock_us", "SM's lock held", TRIAD_FACT(US, lock_us), .unit = "us at most",
		TRIAD_GAUGE("triad_sm_lock_seconds",
			"How long the SM's lock was held at a time for the last copy of the "
			"fabric.")},
	{TRIAD_FACT(UINT, sm.is_raised[TRIAD_SM_TWO_MASTERS]),
		TRIAD_GAUGE("triad_sm_two_masters",
			"1 while another SM is master beside this one, for more than 10 seconds.")},
	{TRIAD_FACT(UINT, sm.is_raised[TRIAD_SM_SWEEP_UNENDED]),
		TRIAD_GAUGE("triad_sm_sweep_unended",
			"1 while a heavy sweep of this SM is not through for a minute, or three "
			"times the longest before.")},
	{TRIAD_FACT(UINT, sm.is_raised[TRIAD_SM_NO_ANSWERS]),
		TRIAD_GAUGE("triad_sm_no_answers",
			"1 while OpenSM waits for SMPs, and has sent and received none for half "
			"a minute.")},
	{TRIAD_FACT(UINT, sm.is_raised[TRIAD_SM_SWEEPS_OFTEN]),
		TRIAD_GAUGE("triad_sm_sweeps_often",
			"1 while OpenSM has swept heavily twice a second or more for half a "
			"minute.")},
	{TRIAD_FACT(UINT, n_recoveries),
		TRIAD_COUNTER("triad_sm_recoveries",
			"Steps taken to get this SM out of trouble (sm.recover).")},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- speeds that OpenSM gets --- */

#define STATUS struct triad_extended_speeds_status
const struct triad_fact triad_extended_speed_facts[] = {
	{"asked", "PortInfos asked for again", TRIAD_FACT(UINT, n_asked),
		TRIAD_COUNTER("triad_sm_extended_speeds_asked",
			"PortInfos that were asked for a second time, so that OpenSM has "
			"extended speeds (sm.extended_speeds).")},
	{"unanswered", "refused or not answered", TRIAD_FACT(UINT, n_unanswered),
		TRIAD_COUNTER("triad_sm_extended_speeds_unanswered",
			"Of these, those that were refused or not answered.")},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- the shield of the SA --- */

#define STATUS struct triad_shield_status
const struct triad_fact triad_shield_facts[] = {
	{"requests", "requests", TRIAD_FACT(UINT, n_requests),
		TRIAD_COUNTER("triad_shield_requests",
			"Requests to the SA that were looked at (shield.mode).")},
	{"waited", "waited for a turn", TRIAD_FACT(UINT, n_waited),
		TRIAD_COUNTER("triad_shield_waited",
			"Requests to the SA that waited until it was their client's turn.")},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- bad links --- */

#define STATUS struct triad_healer_status

const struct triad_fact triad_heal_plan_facts[] = {
	{"links_bad", "bad links between switches", TRIAD_FACT(UINT, n_bad),
		TRIAD_GAUGE("triad_heal_links_bad",
			"Links between switches that statistics call bad (heal.mode); none: "
			"it is not known.")},
	{"links_to_take", "of these, could be taken", TRIAD_FACT(UINT, n_take)},
	{"plan_us", "the last plan took", TRIAD_FACT(US, plan_us)},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_heal_facts[] = {
	{"links_out", "links out of routing", TRIAD_FACT(UINT, n_out),
		TRIAD_GAUGE("triad_heal_links_out",
			"Links that were bad and were taken out of routing.")},
	{"links_stay_out", "of these, stay out", TRIAD_FACT(UINT, n_stay_out),
		TRIAD_GAUGE("triad_heal_links_stay_out",
			"Of these, those that stay out until a test is good or somebody "
			"mends them.")},
	{"links_on_probation", "links on probation", TRIAD_FACT(UINT, n_on_probation)},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- held links and traps --- */

#define STATUS struct triad_damper_status
const struct triad_fact triad_damp_facts[] = {
	{"links_held", "links held", TRIAD_FACT(UINT, n_held),
		TRIAD_GAUGE("triad_damp_links_held",
			"Links that are held out of routing because they "
			"go down again and again; with damp.mode watch, that would be.")},
	{"links_known", "links that went down lately", TRIAD_FACT(UINT, n_known)},
	{"bounces", "times that links went down", TRIAD_FACT(UINT, n_bounces),
		TRIAD_COUNTER("triad_damp_bounces",
			"Times that links were seen to go down "
			"(damp.mode).")},
	{"together", "of these, with their switch", TRIAD_FACT(UINT, n_together)},
	{"link_traps", "traps of links", TRIAD_FACT(UINT, n_traps),
		TRIAD_COUNTER("triad_damp_link_traps",
			"Traps 128 (the state of a link changed) that were looked at.")},
	{"other_traps", "traps that change nothing", TRIAD_FACT(UINT, n_other),
		TRIAD_COUNTER("triad_damp_other_traps",
			"Traps 129 to 131 and 256 to 259 and those of vendors.")},
	{"kept", "kept from OpenSM", TRIAD_FACT(UINT, n_kept),
		TRIAD_COUNTER("triad_damp_traps_kept",
			"Traps that OpenSM did not get, and would have swept for.")},
	{"looks", "looks at switches", TRIAD_FACT(UINT, n_looks)},
	{"smps", "SMPs for that", TRIAD_FACT(UINT, n_smps)},
	{"told", "sweeps asked for after a look", TRIAD_FACT(UINT, n_told)},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- lost links --- */

#define STATUS struct triad_rerouter_status
const struct triad_fact triad_repair_facts[] = {
	{"losses", "links and switches lost", TRIAD_FACT(UINT, n_losses),
		TRIAD_COUNTER("triad_repair_losses",
			"Links between switches, bundles of them and switches that were lost "
			"(repair.mode).")},
	{"done", "routed around", TRIAD_FACT(UINT, n_done),
		TRIAD_COUNTER("triad_repair_done",
			"Losses that were routed around before OpenSM swept.")},
	{"would", "would be routed around", TRIAD_FACT(UINT, n_would)},
	{"nothing", "of which no entry had to change", TRIAD_FACT(UINT, n_nothing)},
	{"left", "left to OpenSM's sweep", TRIAD_FACT(UINT, n_left),
		TRIAD_COUNTER("triad_repair_left",
			"Losses that were left to OpenSM's sweep.")},
	{"failed", "not wholly written", TRIAD_FACT(UINT, n_failed),
		TRIAD_COUNTER("triad_repair_failed",
			"Losses of which not all was written, so that OpenSM's sweep did.")},
	{"blocks", "blocks written", TRIAD_FACT(UINT, n_blocks)},
	{"groups", "multicast groups over them", TRIAD_FACT(UINT, n_groups)},
	{"groups_repaired", "of these, connected again",
		TRIAD_FACT(UINT, n_groups_repaired),
		TRIAD_COUNTER("triad_repair_groups_repaired",
			"Multicast groups whose tree crossed a loss, and that were connected "
			"again before OpenSM swept.")},
	{"groups_left", "of these, left to OpenSM's sweep",
		TRIAD_FACT(UINT, n_groups_left),
		TRIAD_COUNTER("triad_repair_groups_left",
			"Multicast groups whose tree crossed a loss, and that were left to "
			"OpenSM's sweep.")},
	{"groups_waiting", "multicast groups that wait for it now",
		TRIAD_FACT(UINT, n_waiting)},
	{"last_us", "last one, us after the trap", TRIAD_FACT(UINT, last_us)},
	{"worst_us", "slowest one, us after the trap", TRIAD_FACT(UINT, worst_us)},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- QoS --- */

#define STATUS struct triad_qos_status
const struct triad_fact triad_policy_facts[] = {
	{"rules", "rules", TRIAD_FACT(UINT, n_rules)},
	{"levels", "levels", TRIAD_FACT(UINT, n_levels)},
	{"groups", "port groups", TRIAD_FACT(UINT, n_groups)},
	{"loads", "times read", TRIAD_FACT(UINT, n_loads)},
	{"failed_loads", "with mistakes", TRIAD_FACT(UINT, n_failed_loads),
		TRIAD_COUNTER("triad_qos_policy_failed_loads",
			"QoS policies that were not loaded because of mistakes.")},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_request_facts[] = {
	{"received", "requests taken", TRIAD_FACT(UINT, server.n_received),
		TRIAD_COUNTER(
			"triad_path_requests", "Requests for paths that were taken.")},
	{"answered", "answered", TRIAD_FACT(UINT, server.n_answered)},
	{"refused", "answered with a status", TRIAD_FACT(UINT, server.n_refused)},
	{"held", "no path: a port is held", TRIAD_FACT(UINT, server.n_held),
		TRIAD_COUNTER("triad_path_requests_held",
			"Of these, requests that found no path because a port is held "
			"back until it is tested.")},
	{TRIAD_FACT(UINT, server.n_answered),
		TRIAD_FACT_PLUS(TRIAD_FACT_MEMBER(UINT, server.n_refused)),
		TRIAD_COUNTER("triad_path_answers", "Of these, requests answered.")},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_answer_facts[] = {
	{"overflowed", "not taken: too many waiting",
		TRIAD_FACT(UINT, server.n_overflowed)},
	{"under_lock", "answered under the SM's lock", TRIAD_FACT(UINT, server.n_slow)},
	{"waited", "waited for a new master", TRIAD_FACT(UINT, server.n_waited),
		TRIAD_COUNTER("triad_path_requests_waited",
			"Requests for paths that waited because this SM, a new master, did "
			"not know its routes yet, or OpenSM had not ended its first sweep.")},
	{"handed_over", "answered after a hand-over",
		TRIAD_FACT(UINT, server.n_handed_over),
		TRIAD_COUNTER("triad_path_answers_handed_over",
			"Requests for paths answered although another SM had taken over.")},
	{"class_port_infos", "asked for capabilities",
		TRIAD_FACT(UINT, server.n_class_port_infos)},
	{"p50_ns", "an answer takes", TRIAD_FACT(NS, server.latency.p50_ns),
		.unit = "ns (half)"},
	{"p99_ns", "", TRIAD_FACT(NS, server.latency.p99_ns), .unit = "ns (99 of 100)"},
	{"max_ns", "", TRIAD_FACT(NS, server.latency.max_ns), .unit = "ns (all)"},
	TRIAD_FACTS_END,
};
#undef STATUS

#define STATUS struct triad_tables_status
const struct triad_fact triad_tables_facts[] = {
	{"different", "not what they should be", TRIAD_FACT(UINT, n_different),
		TRIAD_GAUGE("triad_qos_tables_different",
			"QoS tables of ports that are not what they should be.")},
	{"different_ports", "of ports", TRIAD_FACT(UINT, n_different_ports)},
	{"unlike", "different when read back", TRIAD_FACT(UINT, n_unlike),
		TRIAD_GAUGE("triad_qos_tables_unlike",
			"QoS tables that differed when ports were last asked.")},
	{"errors", "errors of the policy here", TRIAD_FACT(UINT, n_errors),
		TRIAD_GAUGE("triad_qos_setup_errors",
			"Errors of the policy's qos-setup on this fabric.")},
	{"findings", "findings, errors included", TRIAD_FACT(UINT, n_findings)},
	{"dead_places", "SLs without a VL on a route", TRIAD_FACT(UINT, n_dead_places)},
	{"refused", "policies refused", TRIAD_FACT(UINT, n_refused),
		TRIAD_COUNTER("triad_qos_setups_refused",
			"Setups refused because they would cut the SM off or close a "
			"credit loop.")},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_pass_facts[] = {
	{"passes", "QoS passes", TRIAD_FACT(UINT, n_passes)},
	{"sent", "sent in the last one", TRIAD_FACT(UINT, last.n_differing),
		TRIAD_FACT_PLUS(TRIAD_FACT_MEMBER(UINT, last.n_smps))},
	{"overridden", "decided by the routing engine",
		TRIAD_FACT(UINT, last.n_overridden)},
	{"sweeps_asked", "sweeps asked for", TRIAD_FACT(UINT, n_sweeps_asked)},
	{"review_us", "checking all takes", TRIAD_FACT(US, review_us)},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- the election --- */

#define STATUS struct triad_elector_status
const struct triad_fact triad_elector_facts[] = {
	{"elections", "elections begun", TRIAD_FACT(UINT, election.n_elections),
		TRIAD_COUNTER("triad_election_elections", "Elections begun.")},
	{"won", "elections won", TRIAD_FACT(UINT, election.n_won)},
	{"ceded", "mastership ceded", TRIAD_FACT(UINT, election.n_ceded)},
	{"leases", "leases held", TRIAD_FACT(UINT, election.n_leases),
		TRIAD_COUNTER(
			"triad_election_leases", "Times that this SM got the lease.")},
	{"leases_lost", "leases lost", TRIAD_FACT(UINT, election.n_leases_lost),
		.is_trouble = true,
		TRIAD_COUNTER("triad_election_leases_lost", "Times that it lost it.")},
	{"priorities", "SM priorities set", TRIAD_FACT(UINT, sm.n_priorities)},
	{"take_overs", "take-overs of OpenSM", TRIAD_FACT(UINT, sm.n_take_overs)},
	{"take_overs_unasked", "of a dead SM, unasked", TRIAD_FACT(UINT, sm.n_unasked),
		TRIAD_COUNTER("triad_election_take_overs_unasked",
			"Take-overs of an SM that was dead for certain, so that it was not "
			"asked.")},
	{"sweeps", "sweeps to hand over", TRIAD_FACT(UINT, sm.n_sweeps)},
	{"fabric_asked", "asked over the fabric", TRIAD_FACT(UINT, fabric.n_asked),
		TRIAD_COUNTER("triad_election_fabric_asked",
			"SMPs sent to other SMs' ports to see whether they live.")},
	{"fabric_unanswered", "not answered in time", TRIAD_FACT(UINT, fabric.n_missed),
		.is_trouble = true,
		TRIAD_COUNTER("triad_election_fabric_unanswered",
			"Of these, SMPs that had no answer in time.")},
	{TRIAD_FACT(UINT, n_cut_off),
		TRIAD_GAUGE("triad_election_sms_cut_off",
			"SMs that answer over the fabric and are not heard in the election.")},
	{"ceded_ignored", "CEDE not heeded", TRIAD_FACT(UINT, election.n_ceded_ignored),
		.is_trouble = true,
		TRIAD_COUNTER("triad_election_cedes_ignored",
			"CEDE messages that were ignored: their senders are not better.")},
	{"stale", "old messages", TRIAD_FACT(UINT, election.n_stale),
		.is_trouble = true},
	{"malformed", "malformed messages", TRIAD_FACT(UINT, election.n_malformed),
		.is_trouble = true},
	{"versions", "of another version", TRIAD_FACT(UINT, election.n_versions),
		.is_trouble = true},
	{"dropped", "dropped: too many", TRIAD_FACT(UINT, n_dropped),
		.is_trouble = true},
	{"store_failed", "state not written", TRIAD_FACT(UINT, n_store_failed),
		.is_trouble = true},
	{"late", "ran late", TRIAD_FACT(UINT, n_late), .is_trouble = true},
	{"longest_late_ms", "longest, ms", TRIAD_FACT(MS, longest_late_us), .unit = "",
		.is_trouble = true},
	{TRIAD_FACT(UINT, election.n_malformed),
		TRIAD_FACT_PLUS(TRIAD_FACT_MEMBER(UINT, transport.n_malformed)),
		TRIAD_COUNTER("triad_election_messages_malformed",
			"Messages and datagrams that were malformed.")},
	{TRIAD_FACT(UINT, election.n_versions),
		TRIAD_FACT_PLUS(TRIAD_FACT_MEMBER(UINT, transport.n_versions)),
		TRIAD_COUNTER("triad_election_messages_of_other_versions",
			"Messages and datagrams of a version that is not known here.")},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_transport_facts[] = {
	{"sent", "sent", TRIAD_FACT(UINT, transport.n_sent)},
	{"received", "received", TRIAD_FACT(UINT, transport.n_received)},
	{"send_failed", "not sent", TRIAD_FACT(UINT, transport.n_send_failed),
		.is_trouble = true},
	{"forged", "datagrams forged", TRIAD_FACT(UINT, transport.n_forged),
		.is_trouble = true,
		TRIAD_COUNTER("triad_election_datagrams_forged",
			"Datagrams whose authentication failed: another key, or an attack.")},
	{"replayed", "datagrams replayed", TRIAD_FACT(UINT, transport.n_replayed),
		.is_trouble = true,
		TRIAD_COUNTER("triad_election_datagrams_replayed",
			"Datagrams that were repeated.")},
	{"malformed", "datagrams malformed", TRIAD_FACT(UINT, transport.n_malformed),
		.is_trouble = true},
	{"versions", "of another version", TRIAD_FACT(UINT, transport.n_versions),
		.is_trouble = true},
	{"strangers", "datagrams of unknown senders",
		TRIAD_FACT(UINT, transport.n_unknown_senders), .is_trouble = true,
		TRIAD_COUNTER("triad_election_datagrams_of_strangers",
			"Datagrams from addresses that are not configured.")},
	{"reconnects", "connections made anew",
		TRIAD_FACT(UINT, transport.n_reconnects), .is_trouble = true},
	{TRIAD_FACT(UINT, transport.n_send_failed),
		TRIAD_COUNTER("triad_election_messages_not_sent",
			"Messages that the cluster did not take.")},
	{TRIAD_FACT(UINT, n_dropped),
		TRIAD_COUNTER("triad_election_messages_dropped",
			"Messages dropped because too many were waiting.")},
	{TRIAD_FACT(UINT, n_late),
		TRIAD_COUNTER("triad_election_late_runs",
			"Times that the election ran half a lease late, or later.")},
	{TRIAD_FACT(UINT, n_store_failed),
		TRIAD_COUNTER("triad_election_state_writes_failed",
			"Times that the state could not be written to disk.")},
	TRIAD_FACTS_END,
};
#undef STATUS

/* --- the SA's records --- */

#define STATUS struct triad_sa_copies_status
#define RECORDS(which)                                                                 \
	.metric = {.type = TRIAD_METRIC_GAUGE,                                         \
		.name = "triad_sa_records",                                            \
		.help = "Records of the SA that are copied between SMs.",              \
		.label = "kind",                                                       \
		.value = (which)}
const struct triad_fact triad_sa_record_facts[] = {
	{"groups", "multicast groups",
		TRIAD_FACT(UINT, copier.counts.n[TRIAD_SA_GROUP]), RECORDS("group")},
	{"members", "members of groups",
		TRIAD_FACT(UINT, copier.counts.n[TRIAD_SA_MEMBER]), RECORDS("member")},
	{"subscriptions", "subscriptions",
		TRIAD_FACT(UINT, copier.counts.n[TRIAD_SA_SUBSCRIPTION]),
		RECORDS("subscription")},
	{"services", "services", TRIAD_FACT(UINT, copier.counts.n[TRIAD_SA_SERVICE]),
		RECORDS("service")},
	{"aliases", "blocks of alias GUIDs",
		TRIAD_FACT(UINT, copier.counts.n[TRIAD_SA_GUIDS]), RECORDS("guids")},
	TRIAD_FACTS_END,
};

const struct triad_fact triad_sa_copy_facts[] = {
	{"octets", "they have", TRIAD_FACT(OCTETS, copier.counts.octets)},
	{"left_out", "not copied: too many", TRIAD_FACT(UINT, copier.n_left_out),
		.is_trouble = true,
		TRIAD_GAUGE("triad_sa_records_left_out",
			"Records of the SA that are not copied because they are too many.")},
	{"unwritable", "that OpenSM can't restore", TRIAD_FACT(UINT, n_unwritable),
		.is_trouble = true,
		TRIAD_GAUGE("triad_sa_records_unwritable",
			"Records that can't be restored from OpenSM's file.")},
	{"written", "files written", TRIAD_FACT(UINT, n_written),
		TRIAD_COUNTER("triad_sa_files_written",
			"Files of the SA's records that were written for OpenSM.")},
	{"write_us", "the last one took", TRIAD_FACT(US, write_us)},
	{"read_us", "reading the SA takes", TRIAD_FACT(US, took_us)},
	{"sm_lock_us", "SM's lock held", TRIAD_FACT(US, hold_us), .unit = "us at most",
		TRIAD_GAUGE("triad_sa_sm_lock_seconds",
			"How long the SM's lock was held at a time for the last look at "
			"the SA.")},
	{"sent_octets", "sent to other SMs", TRIAD_FACT(OCTETS, copier.n_given_octets),
		TRIAD_COUNTER("triad_sa_sent_bytes",
			"Octets of payloads about the SA's records that were sent.")},
	{"received_octets", "received", TRIAD_FACT(OCTETS, copier.n_taken_octets)},
	{"refused", "refused: no room", TRIAD_FACT(UINT, copier.n_refused),
		.is_trouble = true},
	{"malformed", "malformed messages", TRIAD_FACT(UINT, copier.n_malformed),
		.is_trouble = true},
	{"versions", "of another version", TRIAD_FACT(UINT, copier.n_versions),
		.is_trouble = true},
	{"lost", "received and dropped: no room", TRIAD_FACT(UINT, n_dropped),
		.is_trouble = true},
	TRIAD_FACTS_END,
};
#undef RECORDS
#undef STATUS

/* --- ports --- */

#define STATUS struct triad_ports_status
const struct triad_fact triad_ports_facts[] = {
	{"generation", "generation", TRIAD_FACT(UINT, generation),
		TRIAD_GAUGE("triad_ports_generation",
			"Generation of the expected configuration in force; 0: none.")},
	{"rows", "ports expected", TRIAD_FACT(UINT, n_rows),
		TRIAD_GAUGE("triad_ports_expected", "Switch ports that it has.")},
	{"mistakes", "mistakes", TRIAD_FACT(UINT, n_mistakes),
		TRIAD_GAUGE("triad_ports_mistakes",
			"Mistakes of the expected configuration that was tried last.")},
	{"mistake", "the first", TRIAD_FACT(TEXT, mistake)},
	{"disable", "to disable", TRIAD_FACT(UINT, n_of_kind[TRIAD_PLAN_DISABLE])},
	{"enable", "to enable", TRIAD_FACT(UINT, n_of_kind[TRIAD_PLAN_ENABLE])},
	{"test", "to test", TRIAD_FACT(UINT, n_of_kind[TRIAD_PLAN_TEST])},
	{"guarded", "stopped by a guard", TRIAD_FACT(UINT, n_guarded),
		TRIAD_GAUGE("triad_ports_guarded",
			"Items that are not done because of what they would cut off.")},
	{"failed", "failed", TRIAD_FACT(UINT, n_failed),
		TRIAD_GAUGE("triad_ports_failed",
			"Switch ports that were disabled as failed and not released.")},
	{"testing", "under test", TRIAD_FACT(UINT, n_tests),
		TRIAD_GAUGE("triad_ports_under_test", "Switch ports whose tests run.")},
	{"held", "held back", TRIAD_FACT(UINT, n_held),
		TRIAD_GAUGE("triad_ports_held",
			"Switch ports that are held back until they are tested.")},
	{"sets", "Sets sent", TRIAD_FACT(UINT, n_sets),
		TRIAD_COUNTER(
			"triad_ports_sets", "Changes of switch ports that were sent.")},
	{"sets_failed", "refused or unanswered", TRIAD_FACT(UINT, n_set_failed),
		TRIAD_COUNTER("triad_ports_sets_failed",
			"Changes that a switch refused or did not answer.")},
	{"unpermitted", "dropped without permission", TRIAD_FACT(UINT, n_dropped),
		TRIAD_COUNTER("triad_ports_acts_dropped",
			"Changes that were not sent because permission had ended.")},
	{TRIAD_FACT(UINT, n_inbox_dropped),
		TRIAD_COUNTER("triad_ports_messages_dropped",
			"Messages about ports dropped because too many were waiting.")},
	{TRIAD_FACT(UINT, replica.n_malformed),
		TRIAD_FACT_PLUS(TRIAD_FACT_MEMBER(UINT, replica.n_versions)),
		TRIAD_COUNTER("triad_ports_messages_malformed",
			"Messages about ports that were malformed, or of another version.")},
	{TRIAD_FACT(UINT, journal_bad),
		TRIAD_GAUGE("triad_ports_journal_bad_lines",
			"Lines of the journal that could not be read at the start.")},
	{"plan_us", "last plan took", TRIAD_FACT(US, plan_us),
		TRIAD_GAUGE(
			"triad_ports_plan_seconds", "Time that the last plan took.")},
	{"hold_us", "longest hold of the SM's lock", TRIAD_FACT(US, hold_us),
		TRIAD_GAUGE("triad_ports_sm_lock_seconds",
			"The longest that the SM's lock was held to hold ports back.")},
	{"trouble", "trouble", TRIAD_FACT(TEXT, trouble)},
	TRIAD_FACTS_END,
};
#undef STATUS
