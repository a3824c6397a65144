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
static const char *const heal_modes[] = {"off", "propose", "act", NULL};
static const char *const damp_modes[] = {"off", "watch", "act", NULL};
static const char *const repair_modes[] = {"off", "plan", "act", NULL};
static const char *const shield_modes[] = {"off", "watch", "act", NULL};
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

static bool check_test_lids(const char *value, char *reason, size_t size)
{
	uint16_t lids[TRIAD_CONF_MAX_TEST_LIDS];
	size_t n;

	return triad_lids_parse(
		value, lids, TRIAD_CONF_MAX_TEST_LIDS, &n, reason, size);
}

static bool check_ber(const char *value, char *reason, size_t size)
{
	double ber;

	return triad_ber_parse(value, &ber, reason, size);
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
		.help = "Change of " name_ " that raises an alert."                    \
	}

static const struct triad_conf_key table[] = {
	{KEY(perfmgr, enabled), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Read the counters of all ports."},
	{KEY(perfmgr, role), CHOICE(roles), .default_text = "master",
		.at_run_time = true,
		.help = "Role of this SM in which it reads the counters."},
	{KEY_AS(perfmgr, sweep_period, sweep_period_s), UINT(1, 65535, "s"),
		.default_text = "60", .at_run_time = true,
		.help = "Time from the start of one sweep over all ports to the next."},
	{KEY(perfmgr, mode), CHOICE(sweep_modes), .default_text = "triad",
		.at_run_time = true, .help = "What a sweep reads of each port."},
	{KEY(perfmgr, reset), CHOICE(resets), .default_text = "near-full",
		.at_run_time = true,
		.help = "When to reset hardware counters that stop at their maximum."},
	{KEY(perfmgr, window), UINT(1, 4096, ""), .default_text = "64",
		.at_run_time = true,
		.help = "Maximum number of queries that wait for an answer."},
	{KEY_AS(perfmgr, timeout, timeout_ms), UINT(10, 60000, "ms"),
		.default_text = "1000", .at_run_time = true,
		.help = "How long to wait for the answer to one query."},
	{KEY(perfmgr, retries), UINT(0, 10, ""), .default_text = "2",
		.at_run_time = true,
		.help = "How often to repeat a query that got no answer."},
	{KEY(perfmgr, histogram_counters), TEXT(check_histograms),
		.default_text = "PortXmitData; PortRcvData; PortXmitWait",
		.at_run_time = true,
		.help = "Counters with a histogram of their rate."},
	{KEY_AS(perfmgr, detail_share, detail_share_percent), UINT(0, 100, "%"),
		.default_text = "5", .at_run_time = true,
		.help = "Additional queries in a sweep, for details and for "
			"PortXmitWait."},
	{KEY_AS(perfmgr, fec_period, fec_period_s), UINT(0, 65535, "s"),
		.default_text = "300", .at_run_time = true,
		.help = "How often to read the FEC counters of each link; 0: never."},
	{KEY_AS(perfmgr, vl_period, vl_period_s), UINT(0, 65535, "s"),
		.default_text = "900", .at_run_time = true,
		.help = "How often to read counters of VLs, SLs and congestion "
			"control; 0: never."},
	{KEY(state, dir), .type = TRIAD_CONF_PATH, .may_be_empty = true, .unit = "",
		.default_text = TRIAD_STATEDIR,
		.help = "Folder for what is kept over a restart; empty: nothing is "
			"kept."},
	{KEY(routes, enabled), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Check all routes each time that the SM has routed."},
	{KEY(congestion, enabled), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Find the causes of congestion after each sweep."},
	{KEY(collect, mode), CHOICE(collect_modes), .default_text = "local",
		.at_run_time = true,
		.help = "Whether agents read the counters, and the role of this "
			"program."},
	{KEY(collect, servers), TEXT(triad_servers_check),
		.default_text = "nats://127.0.0.1:4222", .at_run_time = true,
		.help = "Addresses of the brokers (nats-server)."},
	{KEY(collect, fabric), TEXT(triad_subject_check), .default_text = "default",
		.at_run_time = true, .help = "Name of this fabric at the brokers."},
	{KEY(collect, name), TEXT(check_name), .default_text = "", .at_run_time = true,
		.help = "Name of this agent or manager; empty: the host's name."},
	{KEY(collect, master), TEXT(check_name), .default_text = "",
		.at_run_time = true,
		.help = "Agent that this agent reports to; empty: the manager."},
	{KEY(collect, credentials), FILE_OR_NONE, .at_run_time = true,
		.help = "File with credentials for the brokers."},
	{KEY(collect, tls_ca), FILE_OR_NONE, .at_run_time = true,
		.help = "CA certificates of the brokers; enables TLS."},
	{KEY(collect, tls_certificate), FILE_OR_NONE, .at_run_time = true,
		.help = "Client certificate for the brokers."},
	{KEY(collect, tls_key), FILE_OR_NONE, .at_run_time = true,
		.help = "Private key of the client certificate."},
	{KEY_AS(collect, min_change, min_change_kb), UINT(0, 4294967295, "kB"),
		.default_text = "1024", .at_run_time = true,
		.help = "Report a port when its data grew by more than this."},
	{KEY(collect, topology), CHOICE(topologies), .default_text = "auto",
		.at_run_time = true, .help = "Where triad-agent gets the fabric from."},
	{KEY(collect, sa_key), TEXT(check_sm_key), .default_text = "1",
		.at_run_time = true, .is_secret = true,
		.help = "OpenSM's sa_key, with which triad-agent reads P_Key tables."},
	{KEY(collect, node_name_map), FILE_OR_NONE, .at_run_time = true,
		.help = "OpenSM's node name map, for triad-agent."},
	{KEY(log, level), CHOICE(log_levels), .default_text = "info",
		.at_run_time = true, .help = "How much to write to OpenSM's log."},
	{KEY(log, syslog), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Also send errors and warnings to syslog."},
	{KEY(control, socket), .type = TRIAD_CONF_PATH, .unit = "",
		.default_text = TRIAD_RUNSTATEDIR "/%g.sock",
		.help = "UNIX socket for triadctl."},
	{KEY(control, group), TEXT(check_user_group), .default_text = "",
		.at_run_time = true, .help = "Group of users who may read."},
	{KEY(control, admin_group), TEXT(check_user_group), .default_text = "",
		.at_run_time = true,
		.help = "Group of users who may also make changes."},
	{KEY(sm, recover), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Help an SM that is stuck: two masters, an endless sweep, "
			"or SMPs without answers."},
	{KEY(sm, extended_speeds), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Give OpenSM the extended speeds that it does not ask for."},
	{KEY(shield, mode), CHOICE(shield_modes), .default_text = "off",
		.at_run_time = true,
		.help = "Keep harmful requests from OpenSM's SA (act), or only count them "
			"(watch)."},
	{KEY(shield, rate), UINT(0, 1000000, "/s"), .default_text = "1000",
		.at_run_time = true,
		.help = "Requests of one client that reach OpenSM's SA each second; 0: any "
			"number."},
	{KEY(repair, mode), CHOICE(repair_modes), .default_text = "off",
		.at_run_time = true,
		.help = "Route around a link between switches that is lost, before OpenSM "
			"sweeps (act), or only say what would be written (plan)."},
	{KEY(damp, mode), CHOICE(damp_modes), .default_text = "off",
		.at_run_time = true,
		.help = "Hold links between switches that go down again and again out of "
			"routing (act), or only say which (watch)."},
	{KEY(damp, hosts), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Links of hosts may be held, too: then the host is cut off until its "
			"link is good."},
	{KEY(damp, half_life), UINT(5, 86400, "s"), .default_text = "900",
		.at_run_time = true,
		.help = "Half of what is held against such a link is forgotten in this time."},
	{KEY(heal, mode), CHOICE(heal_modes), .default_text = "off",
		.at_run_time = true,
		.help = "Take links between switches that statistics call bad out of routing, "
			"retrain, test and return them (act), or only tell of them "
			"(propose)."},
	{KEY(heal, max_out), UINT(0, 1000, "links"), .default_text = "10",
		.at_run_time = true,
		.help = "So many bad links of a tier may be out of routing at a time."},
	{KEY(heal, min_capacity), UINT(0, 100, "%"), .default_text = "75",
		.at_run_time = true,
		.help = "Each switch keeps at least this part of its paths to the top tier "
			"then."},
	{KEY_AS(heal, out, out_s), UINT(0, 604800, "s"), .default_text = "600",
		.at_run_time = true,
		.help = "How long such a link is out the first time, or waits for its next "
			"test; each time after that twice as long."},
	{KEY_AS(heal, probation, probation_s), UINT(1, 2592000, "s"),
		.default_text = "3600", .at_run_time = true,
		.help = "How long it must be good when it is back, before it is forgotten."},
	{KEY(heal, max_taken), UINT(1, 10, ""), .default_text = "3",
		.at_run_time = true,
		.help = "The last of so many times it stays out until somebody mends it."},
	{KEY(heal, test_lids), TEXT(check_test_lids), .default_text = "",
		.at_run_time = true,
		.help = "LIDs that no port has, below the highest in use.  With one, such a "
			"link is tested with data, too, that ends behind it; empty: with "
			"SMPs only."},
	{KEY(heal, test_ber), TEXT(check_ber), .default_text = "1e-8",
		.at_run_time = true,
		.help = "Bit error rate that a test with data excludes, with a confidence of "
			"95 %: 1e-8 takes 130,000 packets each way, about a minute."},
	{KEY_AS(audit, period, period_s), UINT(0, 2592000, "s"), .default_text = "0",
		.at_run_time = true,
		.help = "How often to compare what devices have with what OpenSM wants; 0: "
			"only when asked."},
	{KEY_AS(audit, share, share_percent), UINT(1, 100, "%"), .default_text = "5",
		.at_run_time = true,
		.help = "Part of 10,000 SMPs a second that this may send."},
	{KEY(audit, repair), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Allow 'triadctl audit repair' to write into devices."},
	{KEY(console, enabled), BOOL, .default_text = "false",
		.help = "Accept 'triad' commands in OpenSM's console."},
	{GROUP_KEY(nodes), TEXT(triad_nodes_check), .default_text = "",
		.at_run_time = true,
		.help = "Nodes of the group: GUIDs and patterns of names."},
	{GROUP_KEY(ports), TEXT(check_ports), .default_text = "", .at_run_time = true,
		.help = "Port numbers of the group."},
	{GROUP_KEY(type), CHOICE(triad_conf_types), .default_text = "all",
		.at_run_time = true, .help = "Node type of the group."},
	{GROUP_KEY(skip), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Do not read the counters of these ports."},
	{GROUP_KEY_AS(sweep_period, sweep_period_s), UINT(0, 65535, "s"),
		.default_text = "0", .at_run_time = true,
		.help = "Period of additional sweeps of these ports; 0: none."},
	{KEY(devices, enabled), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Ask devices about themselves and their cables, by vendor "
			"MADs."},
	{KEY_AS(devices, period, period_s), UINT(1, 86400, "s"), .default_text = "300",
		.at_run_time = true, .help = "How often to ask all devices."},
	{KEY(devices, cables), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Also ask for the cables and modules at the ports."},
	{KEY(alerts, enabled), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Raise alerts."},
	{KEY_AS(alerts, raise_after, raise_after_s), UINT(0, 86400, "s"),
		.default_text = "0", .at_run_time = true,
		.help = "How long a fault must last before it is an alert."},
	{KEY_AS(alerts, clear_after, clear_after_s), UINT(0, 86400, "s"),
		.default_text = "180", .at_run_time = true,
		.help = "How long a fault must be gone before its alert ends."},
	{KEY_AS(alerts, unanswered, unanswered_sweeps), UINT(0, 1000, "sweeps"),
		.default_text = "2", .at_run_time = true,
		.help = "Alert on a node after this many sweeps in a row with a silent "
			"port; 0: never."},
	{KEY(alerts, links), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Alert on links that go down or are slow, and on nodes that "
			"leave."},
	{KEY(alerts, ber), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Alert on links whose bit error rate is above its target."},
	{KEY(alerts, ber_targets), TEXT(check_ber_targets), .default_text = "",
		.at_run_time = true,
		.help = "Bit error rate targets other than the defaults: SPEED KIND "
			"RATE."},
	{KEY(alerts, details), TEXT(check_details), .default_text = "",
		.at_run_time = true,
		.help = "Alert thresholds for 'perf details': NAME RATE."},
	{KEY(alerts, file), FILE_OR_NONE, .at_run_time = true,
		.help = "File to which each alert is appended as a line of JSON."},
	{KEY(alerts, webhook), TEXT(check_webhook), .default_text = "",
		.at_run_time = true,
		.help = "URL of Alertmanager, to which alerts are sent."},
	{KEY(alerts, webhook_ca), FILE_OR_NONE, .at_run_time = true,
		.help = "CA certificates of the webhook's server; empty: the "
			"system's."},
	{KEY(alerts, webhook_token_file), FILE_OR_NONE, .at_run_time = true,
		.help = "File with the bearer token for the webhook."},
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
		.help = "Address and port for Prometheus; empty: none."},
	{KEY(prometheus, tls_certificate), FILE_OR_NONE, .at_run_time = true,
		.help = "Server certificate; allows only TLS."},
	{KEY(prometheus, tls_key), FILE_OR_NONE, .at_run_time = true,
		.help = "Private key of the server certificate."},
	{KEY(prometheus, tls_client_ca), FILE_OR_NONE, .at_run_time = true,
		.help = "CA certificates of clients; clients need a certificate."},
	{KEY(prometheus, token_file), FILE_OR_NONE, .at_run_time = true,
		.help = "File with the token that clients must send."},
	{KEY_AS(web, listen, http.listen), TEXT(check_listen), .default_text = "",
		.at_run_time = true,
		.help = "Address and port for the web page and the REST interface; "
			"empty: none."},
	{KEY_AS(web, tls_certificate, http.tls_certificate), FILE_OR_NONE,
		.at_run_time = true, .help = "Server certificate; allows only TLS."},
	{KEY_AS(web, tls_key, http.tls_key), FILE_OR_NONE, .at_run_time = true,
		.help = "Private key of the server certificate."},
	{KEY_AS(web, tls_client_ca, http.tls_client_ca), FILE_OR_NONE,
		.at_run_time = true,
		.help = "CA certificates of clients; clients need a certificate."},
	{KEY_AS(web, token_file, http.token_file), FILE_OR_NONE, .at_run_time = true,
		.help = "File with the token that clients must send."},
	{KEY(web, max_clients), UINT(1, 1000, ""), .default_text = "32",
		.at_run_time = true, .help = "Maximum number of clients at one time."},
	{KEY(web, names), TEXT(check_names), .default_text = "", .at_run_time = true,
		.help = "Names of this host that clients may use in URLs."},
	{KEY(web, squeue), FILE_OR_NONE, .at_run_time = true,
		.help = "squeue of Slurm, which triadd asks for the hosts of a job; "
			"empty: none."},
	{KEY(sflow, collectors), TEXT(check_collectors), .default_text = "",
		.at_run_time = true,
		.help = "Addresses of the sFlow collectors; empty: none."},
	{KEY_AS(sflow, interval, interval_s), UINT(1, 3600, "s"), .default_text = "30",
		.at_run_time = true,
		.help = "Time between two sFlow samples of a port's counters."},
	{KEY_AS(sflow, agent_address, agent), TEXT(check_agent), .default_text = "",
		.at_run_time = true,
		.help = "Agent address in sFlow datagrams; empty: their source "
			"address."},
	{KEY(sflow, sampling_rate), UINT(0, 1000000, ""), .default_text = "0",
		.at_run_time = true,
		.help = "Send one in this many path requests as a flow sample; 0: "
			"none."},
	{KEY(qos, enabled), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Answer path requests in OpenSM's place."},
	{KEY(qos, policy_file), FILE_OR_NONE, .at_run_time = true,
		.help = "QoS policy; empty: OpenSM's policy, if it has one."},
	{KEY(qos, default_level), TEXT(check_level), .default_text = "",
		.at_run_time = true,
		.help = "QoS level for requests that match no rule; empty: the "
			"policy's own."},
	{KEY(qos, tables_enabled), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Program SL2VL and VL arbitration tables by the policy."},
	{KEY(qos, tables_guard), BOOL, .default_text = "true", .at_run_time = true,
		.help = "Refuse tables that cut hosts off from the SM or close a "
			"credit loop."},
	{KEY(qos, partition_groups), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Give IPoIB broadcast groups the policy's SL, MTU, rate and "
			"TClass."},
	{KEY(election, enabled), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Elect the master SM and the SM that may enforce port states."},
	{KEY(election, cluster), CHOICE(clusters), .default_text = "corosync",
		.at_run_time = true,
		.help = "How the SMs that elect reach each other."},
	{KEY(election, group), TEXT(check_group), .default_text = "triad",
		.at_run_time = true,
		.help = "With corosync: the process group, one for each subnet."},
	{KEY(election, voters), UINT(0, 32, ""), .default_text = "0",
		.at_run_time = true,
		.help = "With corosync: number of SMs that vote; 0: Corosync's "
			"expected votes."},
	{KEY(election, listen), TEXT(check_own), .default_text = "",
		.at_run_time = true,
		.help = "With peers: this host's address and port."},
	{KEY(election, peers), TEXT(check_peers), .default_text = "",
		.at_run_time = true,
		.help = "With peers: addresses and ports of all SMs; with fabric: "
			"their port GUIDs."},
	{KEY(election, key_file), FILE_OR_NONE, .at_run_time = true,
		.help = "With peers and fabric: file with the shared key."},
	{KEY(election, state_dir), .type = TRIAD_CONF_PATH, .unit = "",
		.default_text = TRIAD_STATEDIR, .at_run_time = true,
		.help = "Folder for votes and the blacklist, on a disk of this host."},
	{KEY(election, trace_file), FILE_OR_NONE, .at_run_time = true,
		.help = "File for each change of the permission to enforce; empty: "
			"none."},
	{KEY(election, ports), TEXT(check_guids), .default_text = "",
		.at_run_time = true,
		.help = "GUIDs of the local ports whose health counts; empty: the "
			"SM's port."},
	{KEY(election, priority), UINT(0, 15, ""), .default_text = "8",
		.at_run_time = true,
		.help = "Preference among SMs of equal health; the highest wins."},
	{KEY_AS(election, lease, lease_ms), UINT(60, 60000, "ms"),
		.default_text = "300", .at_run_time = true,
		.help = "How long permission to enforce lasts without confirmation."},
	{KEY(election, check_required), BOOL, .default_text = "false",
		.at_run_time = true,
		.help = "Enforce only while 'triadctl election check' says yes."},
	{KEY_AS(election, check_max_age, check_max_age_s), UINT(1, 3600, "s"),
		.default_text = "30", .at_run_time = true,
		.help = "How long an answer of the external check is valid."},
	{KEY(election, blacklist), TEXT(check_guids), .default_text = "",
		.at_run_time = true,
		.help = "Port GUIDs of SMs that must not enforce."},
	{KEY(election, witness), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Vote only; this SM is never elected."},
	{KEY(election, replicate_sa), BOOL, .default_text = "false",
		.at_run_time = true,
		.help = "Give the SA of a new master the records of the last "
			"master's SA."},
	{KEY(port, enabled), BOOL, .default_text = "false", .at_run_time = true,
		.help = "Compare switch ports with the expected configuration."},
	{KEY(port, mode), CHOICE(port_modes), .default_text = "observe",
		.at_run_time = true,
		.help = "Only show what would be done (observe), or do it (enforce)."},
	{KEY_AS(port, expected_file, expected_file), FILE_OR_NONE, .at_run_time = true,
		.help = "Expected configuration of switch ports."},
	{KEY(port, max_actions), UINT(1, 10000, ""), .default_text = "4",
		.at_run_time = true,
		.help = "Maximum number of ports to change between two sweeps."},
	{KEY_AS(port, grace, grace_s), UINT(0, 86400, "s"), .default_text = "60",
		.at_run_time = true,
		.help = "Time from the warning to the disabling of an active port."},
	{KEY_AS(port, drain, drain_s), UINT(0, 86400, "s"), .default_text = "600",
		.at_run_time = true,
		.help = "After port.grace: how long to wait for the port's traffic to end."},
	{KEY_AS(port, quiet, quiet_kb), UINT(0, 1048576, "kB/s"),
		.default_text = "1024", .at_run_time = true,
		.help = "Traffic up to this rate, both ways, counts as none."},
	{KEY_AS(port, name_grace, name_grace_s), UINT(0, 86400, "s"),
		.default_text = "300", .at_run_time = true,
		.help = "How long a component may take to report its expected name."},
	{KEY_AS(port, test_timeout, test_timeout_s), UINT(1, 86400, "s"),
		.default_text = "300", .at_run_time = true,
		.help = "Time limit of a port test."},
	{KEY_AS(port, test_time, test_time_s), UINT(1, 3600, "s"), .default_text = "10",
		.at_run_time = true,
		.help = "How long a port test sends SMPs through the link."},
	{KEY(port, test_max_lost), UINT(0, 1000000, ""), .default_text = "0",
		.at_run_time = true,
		.help = "Maximum number of SMPs that a port test may lose."},
	{KEY(port, test_max_errors), UINT(0, 1000000, ""), .default_text = "0",
		.at_run_time = true,
		.help = "Maximum number of errors at each end in a port test."},
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
		.default_text = TRIADD_STATEDIR "/images", .at_run_time = true,
		.help = "The folder in which triadd keeps images of the fabric, which "
			"--at shows, or nothing."},
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
