/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table of keys.  Rows of one section are adjacent: first keys that exist once,
 * then those of its elements. */
#include "conf/conf_keys.h"

#include <stdio.h>
#include <string.h>

#include "ib/ber_target.h"
#include "ib/detail.h"
#include "lib/text.h"
#include "triad/lists.h"

/* In the order of enum triad_log_level. */
static const char *const log_levels[] = {
	"error", "warning", "info", "verbose", "debug", NULL};

/* In the order of the enums of triad/conf.h and enum triad_sweep_mode. */
static const char *const sweep_modes[] = {"triad", "full", "errors", NULL};
static const char *const resets[] = {"near-full", "never", NULL};
static const char *const roles[] = {"master", "standby", "any", NULL};
static const char *const topologies[] = {"auto", "sa", "discover", NULL};
static const char *const profiles[] = {"data", "all", "details", NULL};
static const char *const collect_modes[] = {"local", "manager", "agent", NULL};
static const char *const port_modes[] = {"observe", "enforce", NULL};
static const char *const clusters[] = {"corosync", "peers", "fabric", "none", NULL};

const char *const triad_conf_types[TRIAD_CONF_N_TYPES + 1] = {
	"all", "ca", "switch", "router", NULL};

/* --- what texts may be ------------------------------------------------- */

static bool check_ports(const char *value, char *reason, size_t size)
{
	uint8_t set[32];

	return triad_ports_parse(value, set, reason, size);
}

static bool check_histograms(const char *value, char *reason, size_t size)
{
	uint32_t mask;

	if (!triad_counters_parse(value, &mask, reason, size))
		return false;
	if (__builtin_popcount(mask) <= TRIAD_CONF_MAX_HISTOGRAMS)
		return true;
	snprintf(reason, size, "there are %d counters; allowed are %d",
		__builtin_popcount(mask), TRIAD_CONF_MAX_HISTOGRAMS);
	return false;
}

/* Checks only the form of a group's name: looking it up in the database of groups may
 * be slow, and is done when a user connects. */
static bool check_user_group(const char *value, char *reason, size_t size)
{
	if (!strpbrk(value, ":, \t") && strlen(value) < 64)
		return true;
	snprintf(reason, size,
		"it is no group's name: that has up to 63 characters, and no blank, "
		"comma or colon");
	return false;
}

static bool check_listen(const char *value, char *reason, size_t size)
{
	struct triad_address address;

	return !*value || triad_address_parse(value, 0, &address, reason, size);
}

/* Refuses a password in the URL: all readers of the configuration would see it. */
static bool check_webhook(const char *value, char *reason, size_t size)
{
	size_t scheme = !strncmp(value, "http://", 7) ? 7
		: !strncmp(value, "https://", 8)      ? 8
						      : 0;
	size_t host = strcspn(value + scheme, "/?#");

	if (!*value)
		return true;
	if (!scheme || !host || strpbrk(value, " \t\"\\#") ||
		triad_text_check(value, strlen(value)) != strlen(value))
		snprintf(reason, size,
			"it is no URL as in http://host:9093/api/v2/alerts (http or "
			"https, a host, the whole path)");
	else if (memchr(value + scheme, '@', host))
		snprintf(reason, size,
			"no user and password in the URL: write a token into a file "
			"and name it in webhook_token_file");
	else
		return true;
	return false;
}

static bool check_ber_targets(const char *value, char *reason, size_t size)
{
	struct triad_ber_targets targets;

	return triad_ber_targets_parse(value, &targets, reason, size);
}

static bool check_details(const char *value, char *reason, size_t size)
{
	struct triad_detail_thresholds thresholds;

	return triad_detail_thresholds_parse(value, &thresholds, reason, size);
}

static bool check_collectors(const char *value, char *reason, size_t size)
{
	struct triad_address addresses[TRIAD_CONF_MAX_COLLECTORS];
	size_t n;

	return triad_addresses_parse(value, TRIAD_CONF_SFLOW_PORT, addresses,
		TRIAD_CONF_MAX_COLLECTORS, &n, reason, size);
}

static bool check_agent(const char *value, char *reason, size_t size)
{
	struct triad_address address;

	return !*value || triad_ip_parse(value, &address, reason, size);
}

/* Checks a local address with the port to which peers send. */
static bool check_own(const char *value, char *reason, size_t size)
{
	return check_listen(value, reason, size);
}

static bool check_names(const char *value, char *reason, size_t size)
{
	return triad_host_names_check(value, reason, size);
}

/* Accepts both kinds of peers; which one it must be depends on election.cluster. */
static bool check_peers(const char *value, char *reason, size_t size)
{
	struct triad_address addresses[TRIAD_CONF_MAX_PEERS];
	uint64_t guids[TRIAD_CONF_MAX_PEERS];
	size_t n;

	if (triad_guids_parse(value, guids, TRIAD_CONF_MAX_PEERS, &n, reason, size))
		return true;
	/* If the value begins with "0x", keep the reason about GUIDs: no address begins
	 * so. */
	return strncmp(value + strspn(value, " \t"), "0x", 2) != 0 &&
		triad_addresses_parse(
			value, 0, addresses, TRIAD_CONF_MAX_PEERS, &n, reason, size);
}

static bool check_sm_key(const char *value, char *reason, size_t size)
{
	uint64_t key;

	return triad_sm_key_parse(value, &key, reason, size);
}

static bool check_guids(const char *value, char *reason, size_t size)
{
	uint64_t guids[TRIAD_CONF_MAX_GUIDS];
	size_t n;

	return triad_guids_parse(value, guids, TRIAD_CONF_MAX_GUIDS, &n, reason, size);
}

static bool check_group(const char *value, char *reason, size_t size)
{
	if (*value && strlen(value) <= TRIAD_CONF_MAX_GROUP_LENGTH)
		return true;
	snprintf(reason, size, "a name of 1 to %d characters is wanted",
		TRIAD_CONF_MAX_GROUP_LENGTH);
	return false;
}

static bool check_name(const char *value, char *reason, size_t size)
{
	if (strlen(value) < TRIAD_CONF_MAX_AGENT_NAME)
		return true;
	snprintf(reason, size, "a name of at most %d characters is wanted",
		TRIAD_CONF_MAX_AGENT_NAME - 1);
	return false;
}

/* Checks only the form: whether the policy has that level is known when the policy is
 * read. */
static bool check_level(const char *value, char *reason, size_t size)
{
	(void)value;
	(void)reason;
	(void)size;
	return true;
}

/* --- rows -------------------------------------------------------------- */

#define KEY(s, n) .section = #s, .name = #n, .offset = offsetof(struct triad_conf, s.n)
#define KEY_AS(s, n, member)                                                           \
	.section = #s, .name = #n, .offset = offsetof(struct triad_conf, s.member)
#define GROUP_KEY_AS(n, member)                                                        \
	.section = "group", .name = #n, .per = TRIAD_CONF_PER_GROUP,                   \
	.offset = offsetof(struct triad_conf_group, member)
#define GROUP_KEY(n) GROUP_KEY_AS(n, n)
#define BOOL .type = TRIAD_CONF_BOOL, .unit = ""
#define UINT(low, high, of) .type = TRIAD_CONF_UINT, .min = low, .max = high, .unit = of
#define CHOICE(of) .type = TRIAD_CONF_CHOICE, .choices = of, .unit = ""
#define TEXT(by) .type = TRIAD_CONF_TEXT, .check = by, .unit = ""
#define FILE_OR_NONE                                                                   \
	.type = TRIAD_CONF_PATH, .may_be_empty = true, .unit = "", .default_text = ""
#define THRESHOLD(counter_, name_, default_)                                           \
	{                                                                              \
		.section = "alerts", .name = name_, .type = TRIAD_CONF_THRESHOLD,      \
		.per = TRIAD_CONF_PER_SCOPE, .unit = "", .default_text = default_,     \
		.offset = offsetof(                                                    \
			struct triad_conf_thresholds, counter[TRIAD_##counter_]),      \
		.at_run_time = true,                                                   \
		.help = "The change of " name_ " that is an alert."                    \
	}

static const struct triad_conf_key table[] = {
	{KEY(perfmgr, enabled), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Whether the counters of all ports are read."},
	{KEY(perfmgr, role), CHOICE(roles), .default_text = "master",
		.at_run_time = true,
		.help = "As which SM of the subnet they are read."},
	{KEY_AS(perfmgr, sweep_period, sweep_period_s), UINT(1, 65535, "s"),
		.default_text = "60", .at_run_time = true,
		.help = "From the start of one sweep over all ports to the next."},
	{KEY(perfmgr, mode), CHOICE(sweep_modes), .default_text = "triad",
		.at_run_time = true, .help = "What a sweep reads of each port."},
	{KEY(perfmgr, reset), CHOICE(resets), .default_text = "near-full",
		.at_run_time = true,
		.help = "When counters that stop at their maximum are reset in "
			"hardware."},
	{KEY(perfmgr, window), UINT(1, 4096, ""), .default_text = "64",
		.at_run_time = true,
		.help = "Queries that may wait for an answer at one time."},
	{KEY_AS(perfmgr, timeout, timeout_ms), UINT(10, 60000, "ms"),
		.default_text = "1000", .at_run_time = true,
		.help = "How long to wait for the answer to one query."},
	{KEY(perfmgr, retries), UINT(0, 10, ""), .default_text = "2",
		.at_run_time = true,
		.help = "How often a query is sent again when no answer came."},
	{KEY(perfmgr, histogram_counters), TEXT(check_histograms),
		.default_text = "PortXmitData; PortRcvData; PortXmitWait",
		.at_run_time = true,
		.help = "Counters of which it is kept how often they grew how fast."},
	{KEY_AS(perfmgr, detail_share, detail_share_percent), UINT(0, 100, "%"),
		.default_text = "5", .at_run_time = true,
		.help = "How many more queries a sweep may have for details and for "
			"PortXmitWait that moved."},
	{KEY_AS(perfmgr, fec_period, fec_period_s), UINT(0, 65535, "s"),
		.default_text = "300", .at_run_time = true,
		.help = "In which each link is asked for errors that were corrected; 0: "
			"never."},
	{KEY_AS(perfmgr, vl_period, vl_period_s), UINT(0, 65535, "s"),
		.default_text = "900", .at_run_time = true,
		.help = "In which each port is asked for counters of VLs, SLs and "
			"congestion; 0: never."},
	{KEY(state, dir), .type = TRIAD_CONF_PATH, .may_be_empty = true, .unit = "",
		.default_text = TRIAD_STATEDIR,
		.help = "The folder of what is to outlive a restart, or nothing."},
	{KEY(routes, enabled), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Whether the routes of all pairs are checked when the SM has "
			"routed."},
	{KEY(congestion, enabled), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Whether congestion is explained after each sweep."},
	{KEY(collect, mode), CHOICE(collect_modes), .default_text = "local",
		.at_run_time = true,
		.help = "Whether agents read counters, and who this is."},
	{KEY(collect, servers), TEXT(triad_servers_check),
		.default_text = "nats://127.0.0.1:4222", .at_run_time = true,
		.help = "Where the brokers are by which agents and managers talk."},
	{KEY(collect, fabric), TEXT(triad_subject_check), .default_text = "default",
		.at_run_time = true, .help = "The fabric's name at the brokers."},
	{KEY(collect, name), TEXT(check_name), .default_text = "", .at_run_time = true,
		.help = "What this one is called; empty for the host's name."},
	{KEY(collect, master), TEXT(check_name), .default_text = "",
		.at_run_time = true,
		.help = "The agent that this one reports to; empty for the manager."},
	{KEY(collect, credentials), FILE_OR_NONE, .at_run_time = true,
		.help = "Credentials for the brokers."},
	{KEY(collect, tls_ca), FILE_OR_NONE, .at_run_time = true,
		.help = "Certificates of those who vouch for the brokers; makes it TLS."},
	{KEY(collect, tls_certificate), FILE_OR_NONE, .at_run_time = true,
		.help = "This one's certificate for the brokers."},
	{KEY(collect, tls_key), FILE_OR_NONE, .at_run_time = true,
		.help = "The key that goes with it."},
	{KEY_AS(collect, min_change, min_change_kb), UINT(0, 4294967295, "kB"),
		.default_text = "1024", .at_run_time = true,
		.help = "A port is told of when its data changed by more than that."},
	{KEY(collect, topology), CHOICE(topologies), .default_text = "auto",
		.at_run_time = true, .help = "Where triad-agent has the fabric from."},
	{KEY(collect, sa_key), TEXT(check_sm_key), .default_text = "1",
		.at_run_time = true,
		.help = "OpenSM's sa_key, by which triad-agent gets P_Key tables."},
	{KEY(collect, node_name_map), FILE_OR_NONE, .at_run_time = true,
		.help = "OpenSM's node_name_map_name, for triad-agent."},
	{KEY(log, level), CHOICE(log_levels), .default_text = "info",
		.at_run_time = true, .help = "How much goes to OpenSM's log."},
	{KEY(log, syslog), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Whether what is significant also goes to syslog."},
	{KEY(control, socket), .type = TRIAD_CONF_PATH, .unit = "",
		.default_text = TRIAD_RUNSTATEDIR "/%g.sock",
		.help = "The UNIX socket that triadctl connects to."},
	{KEY(control, group), TEXT(check_user_group), .default_text = "",
		.at_run_time = true, .help = "The group of users who may read."},
	{KEY(control, admin_group), TEXT(check_user_group), .default_text = "",
		.at_run_time = true, .help = "The group of users who may also change."},
	{KEY(sm, recover), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether an SM in trouble that does not end by itself is helped."},
	{KEY(sm, extended_speeds), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether OpenSM gets extended speeds that devices withhold from it."},
	{KEY(console, enabled), BOOL, .default_text = "false",
		.help = "Whether 'triad' commands can be typed in OpenSM's console."},
	{GROUP_KEY(nodes), TEXT(triad_nodes_check), .default_text = "",
		.at_run_time = true,
		.help = "GUIDs and patterns of names of the nodes in the group."},
	{GROUP_KEY(ports), TEXT(check_ports), .default_text = "", .at_run_time = true,
		.help = "Numbers of the ports in the group."},
	{GROUP_KEY(type), CHOICE(triad_conf_types), .default_text = "all",
		.at_run_time = true, .help = "The type of the nodes in the group."},
	{GROUP_KEY(skip), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether the counters of these ports are left alone."},
	{GROUP_KEY_AS(sweep_period, sweep_period_s), UINT(0, 65535, "s"),
		.default_text = "0", .at_run_time = true,
		.help = "How often these ports are swept besides; 0 for not at all."},
	{KEY(devices, enabled), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether devices are asked about themselves and their cables, "
			"by MADs of their vendor."},
	{KEY_AS(devices, period, period_s), UINT(1, 86400, "s"), .default_text = "300",
		.at_run_time = true, .help = "How often all of them are asked."},
	{KEY(devices, cables), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Whether what is plugged in at ports is asked for, too."},
	{KEY(alerts, enabled), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Whether there are alerts."},
	{KEY_AS(alerts, raise_after, raise_after_s), UINT(0, 86400, "s"),
		.default_text = "0", .at_run_time = true,
		.help = "How long something must be wrong to be an alert."},
	{KEY_AS(alerts, clear_after, clear_after_s), UINT(0, 86400, "s"),
		.default_text = "180", .at_run_time = true,
		.help = "How long it must be right again for the alert to end."},
	{KEY_AS(alerts, unanswered, unanswered_sweeps), UINT(0, 1000, "sweeps"),
		.default_text = "2", .at_run_time = true,
		.help = "How long a port must be silent to be an alert; 0 for none."},
	{KEY(alerts, links), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Whether links that go down and nodes that leave are alerts."},
	{KEY(alerts, ber), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Whether links whose bit error rate is over its target are "
			"alerts."},
	{KEY(alerts, ber_targets), TEXT(check_ber_targets), .default_text = "",
		.at_run_time = true,
		.help = "Targets other than the defaults: SPEED KIND RATE."},
	{KEY(alerts, details), TEXT(check_details), .default_text = "",
		.at_run_time = true, .help = "Thresholds of details: NAME RATE."},
	{KEY(alerts, file), FILE_OR_NONE, .at_run_time = true,
		.help = "Where each alert is written as a line of JSON."},
	{KEY(alerts, webhook), TEXT(check_webhook), .default_text = "",
		.at_run_time = true,
		.help = "Where alerts are sent by HTTP, as Alertmanager takes them."},
	{KEY(alerts, webhook_ca), FILE_OR_NONE, .at_run_time = true,
		.help = "Who signs that server's certificate, not the system's CAs."},
	{KEY(alerts, webhook_token_file), FILE_OR_NONE, .at_run_time = true,
		.help = "The file with the token that is sent with alerts."},
	THRESHOLD(SYMBOL_ERROR_COUNTER, "SymbolErrorCounter", "10/sweep"),
	THRESHOLD(LINK_ERROR_RECOVERY_COUNTER, "LinkErrorRecoveryCounter", "1/sweep"),
	THRESHOLD(LINK_DOWNED_COUNTER, "LinkDownedCounter", "1/sweep"),
	THRESHOLD(PORT_RCV_ERRORS, "PortRcvErrors", "10/sweep"),
	THRESHOLD(PORT_RCV_REMOTE_PHYSICAL_ERRORS, "PortRcvRemotePhysicalErrors",
		"100/sweep"),
	THRESHOLD(PORT_RCV_SWITCH_RELAY_ERRORS, "PortRcvSwitchRelayErrors", "off"),
	THRESHOLD(PORT_XMIT_DISCARDS, "PortXmitDiscards", "100/sweep"),
	THRESHOLD(PORT_XMIT_CONSTRAINT_ERRORS, "PortXmitConstraintErrors", "100/sweep"),
	THRESHOLD(PORT_RCV_CONSTRAINT_ERRORS, "PortRcvConstraintErrors", "100/sweep"),
	THRESHOLD(LOCAL_LINK_INTEGRITY_ERRORS, "LocalLinkIntegrityErrors", "3/sweep"),
	THRESHOLD(EXCESSIVE_BUFFER_OVERRUN_ERRORS, "ExcessiveBufferOverrunErrors",
		"3/sweep"),
	THRESHOLD(QP1_DROPPED, "QP1Dropped", "100/sweep"),
	THRESHOLD(VL15_DROPPED, "VL15Dropped", "100/sweep"),
	THRESHOLD(PORT_XMIT_WAIT, "PortXmitWait", "25%"),
	THRESHOLD(PORT_XMIT_DATA, "PortXmitData", "off"),
	THRESHOLD(PORT_RCV_DATA, "PortRcvData", "off"),
	THRESHOLD(PORT_XMIT_PKTS, "PortXmitPkts", "off"),
	THRESHOLD(PORT_RCV_PKTS, "PortRcvPkts", "off"),
	THRESHOLD(PORT_UNICAST_XMIT_PKTS, "PortUnicastXmitPkts", "off"),
	THRESHOLD(PORT_UNICAST_RCV_PKTS, "PortUnicastRcvPkts", "off"),
	THRESHOLD(PORT_MULTICAST_XMIT_PKTS, "PortMulticastXmitPkts", "off"),
	THRESHOLD(PORT_MULTICAST_RCV_PKTS, "PortMulticastRcvPkts", "off"),
	{KEY(prometheus, listen), TEXT(check_listen), .default_text = "",
		.at_run_time = true,
		.help = "The address and port where Prometheus asks."},
	{KEY(prometheus, tls_certificate), FILE_OR_NONE, .at_run_time = true,
		.help = "The server's certificate; with it only TLS is spoken."},
	{KEY(prometheus, tls_key), FILE_OR_NONE, .at_run_time = true,
		.help = "The private key of the certificate."},
	{KEY(prometheus, tls_client_ca), FILE_OR_NONE, .at_run_time = true,
		.help = "Authorities whose certificate clients must show."},
	{KEY(prometheus, token_file), FILE_OR_NONE, .at_run_time = true,
		.help = "The file with the token that clients must show."},
	{KEY_AS(web, listen, http.listen), TEXT(check_listen), .default_text = "",
		.at_run_time = true,
		.help = "The address and port of the page and of the REST interface."},
	{KEY_AS(web, tls_certificate, http.tls_certificate), FILE_OR_NONE,
		.at_run_time = true,
		.help = "The server's certificate; with it only TLS is spoken."},
	{KEY_AS(web, tls_key, http.tls_key), FILE_OR_NONE, .at_run_time = true,
		.help = "The private key of the certificate."},
	{KEY_AS(web, tls_client_ca, http.tls_client_ca), FILE_OR_NONE,
		.at_run_time = true,
		.help = "Authorities whose certificate clients must show."},
	{KEY_AS(web, token_file, http.token_file), FILE_OR_NONE, .at_run_time = true,
		.help = "The file with the token that clients must show."},
	{KEY(web, max_clients), UINT(1, 1000, ""), .default_text = "32",
		.at_run_time = true,
		.help = "How many clients may be connected at one time."},
	{KEY(web, names), TEXT(check_names), .default_text = "", .at_run_time = true,
		.help = "Names by which clients may ask, besides addresses."},
	{KEY(sflow, collectors), TEXT(check_collectors), .default_text = "",
		.at_run_time = true,
		.help = "Where counters are sent as sFlow datagrams."},
	{KEY_AS(sflow, interval, interval_s), UINT(1, 3600, "s"), .default_text = "30",
		.at_run_time = true,
		.help = "From one sending of a port's counters to the next."},
	{KEY_AS(sflow, agent_address, agent), TEXT(check_agent), .default_text = "",
		.at_run_time = true,
		.help = "The address by which datagrams name their sender."},
	{KEY(sflow, sampling_rate), UINT(0, 1000000, ""), .default_text = "0",
		.at_run_time = true,
		.help = "One of so many requests for paths is sent as a flow sample; 0: "
			"none."},
	{KEY(qos, enabled), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether Triad answers requests for paths in OpenSM's place."},
	{KEY(qos, policy_file), FILE_OR_NONE, .at_run_time = true,
		.help = "The QoS policy, or nothing: OpenSM's own, if it has one."},
	{KEY(qos, default_level), TEXT(check_level), .default_text = "",
		.at_run_time = true,
		.help = "The level of requests that no rule matches, or nothing: the "
			"one that the policy makes it."},
	{KEY(qos, tables_enabled), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether the policy's SL2VL and VL arbitration tables are "
			"programmed."},
	{KEY(qos, tables_guard), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Whether tables that would cut the SM off from hosts, or close a "
			"credit loop, are refused."},
	{KEY(qos, partition_groups), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether broadcast groups of partitions carry what the policy "
			"has for these."},
	{KEY(election, enabled), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether SMs elect who is master and who may enforce the state of "
			"ports."},
	{KEY(election, cluster), CHOICE(clusters), .default_text = "corosync",
		.at_run_time = true,
		.help = "How the SMs that elect reach each other."},
	{KEY(election, group), TEXT(check_group), .default_text = "triad",
		.at_run_time = true,
		.help = "With corosync: the process group, one for each subnet."},
	{KEY(election, voters), UINT(0, 32, ""), .default_text = "0",
		.at_run_time = true,
		.help = "With corosync: how many SMs vote, witnesses too; 0: as many as "
			"Corosync expects votes."},
	{KEY(election, listen), TEXT(check_own), .default_text = "",
		.at_run_time = true,
		.help = "With peers: this host's address and port."},
	{KEY(election, peers), TEXT(check_peers), .default_text = "",
		.at_run_time = true,
		.help = "With peers: the addresses and ports of all, this one too; with "
			"fabric: the GUIDs of their SMs' ports."},
	{KEY(election, key_file), FILE_OR_NONE, .at_run_time = true,
		.help = "With peers and fabric: the file with the key that all share."},
	{KEY(election, state_dir), .type = TRIAD_CONF_PATH, .unit = "",
		.default_text = TRIAD_STATEDIR, .at_run_time = true,
		.help = "The folder where terms and the blacklist outlive a restart."},
	{KEY(election, trace_file), FILE_OR_NONE, .at_run_time = true,
		.help = "Where each change of the permission to enforce is written."},
	{KEY(election, ports), TEXT(check_guids), .default_text = "",
		.at_run_time = true,
		.help = "GUIDs of the local ports whose health counts, or nothing: the "
			"SM's own."},
	{KEY(election, priority), UINT(0, 15, ""), .default_text = "8",
		.at_run_time = true,
		.help = "Whom to prefer among SMs that are equally well: the highest."},
	{KEY_AS(election, lease, lease_ms), UINT(60, 60000, "ms"),
		.default_text = "300", .at_run_time = true,
		.help = "How long permission to enforce lasts without being confirmed."},
	{KEY(election, check_required), BOOL, .default_text = "false",
		.at_run_time = true,
		.help = "Whether the external check must say yes: triadctl election "
			"check."},
	{KEY_AS(election, check_max_age, check_max_age_s), UINT(1, 3600, "s"),
		.default_text = "30", .at_run_time = true,
		.help = "How long an answer of the external check counts."},
	{KEY(election, blacklist), TEXT(check_guids), .default_text = "",
		.at_run_time = true,
		.help = "Port GUIDs of SMs that must not be configuration manager."},
	{KEY(election, witness), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether this SM only votes, and is never elected."},
	{KEY(election, replicate_sa), BOOL, .default_text = "false",
		.at_run_time = true,
		.help = "Whether the SA of a new master begins with what the last "
			"master's knew."},
	{KEY(port, enabled), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether switch ports are compared with what is expected of them."},
	{KEY(port, mode), CHOICE(port_modes), .default_text = "observe",
		.at_run_time = true,
		.help = "Whether it only says what it would do, or does it."},
	{KEY_AS(port, expected_file, expected_file), FILE_OR_NONE, .at_run_time = true,
		.help = "The expected configuration of switch ports."},
	{KEY(port, max_actions), UINT(1, 10000, ""), .default_text = "4",
		.at_run_time = true,
		.help = "How many ports are changed between two sweeps; where a plan has "
			"more, none is until 'port approve'."},
	{KEY_AS(port, grace, grace_s), UINT(0, 86400, "s"), .default_text = "60",
		.at_run_time = true,
		.help = "How long before an active port is disabled a warning is given."},
	{KEY_AS(port, drain, drain_s), UINT(0, 86400, "s"), .default_text = "600",
		.at_run_time = true,
		.help = "How long after that it is waited for its traffic to end."},
	{KEY_AS(port, quiet, quiet_kb), UINT(0, 1048576, "kB/s"),
		.default_text = "1024", .at_run_time = true,
		.help = "The traffic, both ways, that counts as none."},
	{KEY_AS(port, name_grace, name_grace_s), UINT(0, 86400, "s"),
		.default_text = "300", .at_run_time = true,
		.help = "How long a component that only has another name than expected "
			"may take to say its own."},
	{KEY_AS(port, test_timeout, test_timeout_s), UINT(1, 86400, "s"),
		.default_text = "300", .at_run_time = true,
		.help = "How long a port's test may take; then it has failed."},
	{KEY_AS(port, test_time, test_time_s), UINT(1, 3600, "s"), .default_text = "10",
		.at_run_time = true,
		.help = "How long SMPs are sent through the link under test."},
	{KEY(port, test_max_lost), UINT(0, 1000000, ""), .default_text = "0",
		.at_run_time = true, .help = "How many SMPs of a test may be lost."},
	{KEY(port, test_max_errors), UINT(0, 1000000, ""), .default_text = "0",
		.at_run_time = true,
		.help = "How many errors each end may count in a test."},
	{KEY(profile, file), FILE_OR_NONE, .at_run_time = true,
		.help = "Where the counters of each sweep are written."},
	{KEY(profile, counters), CHOICE(profiles), .default_text = "data",
		.at_run_time = true, .help = "Which counters are written."},
	{KEY_AS(profile, max_size, max_size_mb), UINT(1, 1048576, "MB"),
		.default_text = "1024", .at_run_time = true,
		.help = "How large the file gets before the next is begun."},
	{KEY(profile, keep), UINT(1, 10000, ""), .default_text = "10",
		.at_run_time = true, .help = "How many files are kept."},
	{KEY(history, dir), .type = TRIAD_CONF_PATH, .may_be_empty = true, .unit = "",
		.default_text = TRIAD_STATEDIR "/images", .at_run_time = true,
		.help = "The folder of images of the fabric, which --at shows, or "
			"nothing."},
	{KEY_AS(history, max_size, max_size_mb), UINT(16, 1048576, "MB"),
		.default_text = "1100", .at_run_time = true,
		.help = "How much images may take there; the oldest give way."},
	{KEY(history, replicate), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Whether SMs that elect copy each other's images."},
	{KEY_AS(history, keep, keep_d), UINT(1, 3650, "d"), .default_text = "31",
		.at_run_time = true,
		.help = "How long images are kept, one an hour after the first day."},
};

#define N_KEYS (sizeof(table) / sizeof(table[0]))
_Static_assert(N_KEYS <= TRIAD_CONF_MAX_KEYS, "parsers have room for fewer keys");

const struct triad_conf_key *triad_conf_keys(size_t *n)
{
	*n = N_KEYS;
	return table;
}

size_t triad_conf_key_index(const struct triad_conf_key *key)
{
	return (size_t)(key - table);
}
