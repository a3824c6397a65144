/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares the text for Prometheus with that of a simpler implementation, the
 * oracle. */
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ib/link.h"
#include "perfmgr/formats/metrics.h"
#include "perfmgr/watch/links.h"
#include "tests/sim/fabrics.h"
#include "tests/sim/views.h"
#include "tests/unit/run.h"

/* infiniband_exporter's names, behind "infiniband_switch_" or "infiniband_hca_". */
static const struct {
	const char *counter, *name;
} known[] = {
	{"PortXmitData", "port_transmit_data_bytes_total"},
	{"PortRcvData", "port_receive_data_bytes_total"},
	{"PortXmitPkts", "port_transmit_packets_total"},
	{"PortRcvPkts", "port_receive_packets_total"},
	{"PortUnicastXmitPkts", "port_unicast_transmit_packets_total"},
	{"PortUnicastRcvPkts", "port_unicast_receive_packets_total"},
	{"PortMulticastXmitPkts", "port_multicast_transmit_packets_total"},
	{"PortMulticastRcvPkts", "port_multicast_receive_packets_total"},
	{"SymbolErrorCounter", "port_symbol_error_total"},
	{"LinkErrorRecoveryCounter", "port_link_error_recovery_total"},
	{"LinkDownedCounter", "port_link_downed_total"},
	{"PortRcvErrors", "port_receive_errors_total"},
	{"PortRcvRemotePhysicalErrors", "port_receive_remote_physical_errors_total"},
	{"PortRcvSwitchRelayErrors", "port_receive_switch_relay_errors_total"},
	{"PortXmitDiscards", "port_transmit_discards_total"},
	{"PortXmitConstraintErrors", "port_transmit_constraint_errors_total"},
	{"PortRcvConstraintErrors", "port_receive_constraint_errors_total"},
	{"LocalLinkIntegrityErrors", "port_local_link_integrity_errors_total"},
	{"ExcessiveBufferOverrunErrors", "port_excessive_buffer_overrun_errors_total"},
	{"VL15Dropped", "port_vl15_dropped_total"},
	{"PortXmitWait", "port_transmit_wait_total"},
	{"QP1Dropped", "port_qp1_dropped_total"},
};

static uint64_t seed;
static struct triad_engine *engine;
static struct triad_fabric *fabric;
static struct triad_view *view;

static void set_up_fabric(struct triad_fabric *made)
{
	engine = triad_engine_new();
	fabric = made;
	view = view_mixed(engine, fabric, seed);
}

static void set_up(void)
{
	seed = seed ? seed + 1 : (uint64_t)time(NULL);
	printf("# seed %" PRIu64 "\n", seed);
	set_up_fabric(fabric_mixed(3, 5, 0, seed));
}

static void tear_down(void)
{
	triad_view_unref(view);
	triad_engine_free(engine);
	triad_fabric_unref(fabric);
}

/* --- the generator, read in pieces ------------------------------------- */

static char *generate(const struct triad_metrics_params *params, size_t piece)
{
	struct triad_metrics *metrics = triad_metrics_new(params);
	size_t used = 0, room = 1 << 16, size;
	char *text = malloc(room + piece + 1);

	ck_assert_ptr_nonnull(metrics);
	while ((size = triad_metrics_fill(metrics, text + used, piece))) {
		ck_assert_uint_le(size, piece);
		used += size;
		if (used > room) {
			room *= 2;
			text = realloc(text, room + piece + 1);
		}
	}
	ck_assert_uint_eq(triad_metrics_fill(metrics, text + used, piece), 0);
	text[used] = '\0';
	triad_metrics_free(metrics);
	return text;
}

static char *generate_all(void)
{
	struct triad_metrics_params params = {.view = view};

	return generate(&params, 8192);
}

/* --- the oracle -------------------------------------------------------- */

struct oracle {
	FILE *out;
	const struct triad_metrics_params *params;
	const char *kind;
	unsigned type;
	bool begun;
};

static void oracle_header(
	struct oracle *oracle, const char *name, const char *type, const char *unit)
{
	bool open = oracle->params->format == TRIAD_EXPOSITION_OPENMETRICS;
	const char *suffix = "";

	if (oracle->begun)
		return;
	oracle->begun = true;
	if (!open && !strcmp(type, "counter"))
		suffix = "_total";
	if (!open && !strcmp(type, "info")) {
		suffix = "_info";
		type = "gauge";
	}
	/* without_help() removes the help's text. */
	fprintf(oracle->out, "# HELP %s%s\n", name, suffix);
	fprintf(oracle->out, "# TYPE %s%s %s\n", name, suffix, type);
	if (open && unit)
		fprintf(oracle->out, "# UNIT %s %s\n", name, unit);
}

static void oracle_label(struct oracle *oracle, const char *label, const char *text)
{
	size_t n;

	while (*text == ' ')
		text++;
	for (n = strlen(text); n && text[n - 1] == ' ';)
		n--;
	fprintf(oracle->out, ",%s=\"", label);
	for (size_t i = 0; i < n; i++) {
		if (strchr("\"\\", text[i]))
			fputc('\\', oracle->out);
		fputc(text[i], oracle->out);
	}
	fputc('"', oracle->out);
}

static bool oracle_wants(const struct oracle *oracle, uint32_t port)
{
	const struct triad_metrics_filter *filter = &oracle->params->filter;
	const struct triad_fabric_node *node = &fabric->nodes[fabric->ports[port].node];
	bool named = !filter->n_nodes;

	if (node->type != oracle->type)
		return false;
	for (unsigned i = 0; i < filter->n_nodes; i++) {
		bool fits = !fnmatch(filter->nodes[i].pattern, node->name, 0);

		if (filter->nodes[i].guid)
			fits = filter->nodes[i].guid == node->guid ||
				filter->nodes[i].guid == fabric->ports[port].guid;
		named |= fits &&
			(!filter->nodes[i].is_switch ||
				node->type == TRIAD_NODE_SWITCH);
	}
	return named && (!filter->types || filter->types & 1u << node->type);
}

static const char *known_name(unsigned counter)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].counter, triad_counters[counter].name))
			return known[i].name;
	ck_abort_msg("no name for %s", triad_counters[counter].name);
	return NULL;
}

static bool is_skipped(uint32_t port)
{
	return !strncmp(fabric->nodes[fabric->ports[port].node].name, "skip-", 5);
}

static bool is_asked(uint32_t port)
{
	return !is_skipped(port) && fabric->ports[port].has_pma;
}

/* A switch's port that never had a link says nothing until it counts something. */
static bool is_said(uint32_t port, const struct triad_engine_row *row, unsigned counter)
{
	return row->has >> counter & 1 &&
		(row->total[counter] || !fabric->ports[port].number ||
			fabric->ports[port].remote != TRIAD_FABRIC_NONE);
}

static void oracle_counter(struct oracle *oracle, unsigned counter)
{
	char family[128], value[32];
	struct triad_engine_row row;
	bool data = strstr(triad_counters[counter].name, "Data");

	snprintf(family, sizeof(family), "infiniband_%s_%s", oracle->kind,
		known_name(counter));
	*strstr(family, "_total") = '\0';
	oracle->begun = false;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		if (!oracle_wants(oracle, i) || is_skipped(i) ||
			!triad_view_read(view, i, &row) || !is_said(i, &row, counter))
			continue;
		oracle_header(oracle, family, "counter", data ? "bytes" : NULL);
		snprintf(value, sizeof(value), "%" PRIu64,
			data ? row.total[counter] * 4 : row.total[counter]);
		if (data && row.total[counter] > UINT64_MAX / 4)
			/* Four times the total, in decimal: 4 (25 q + r) = 100 q + 4
			 * r. */
			snprintf(value, sizeof(value), "%" PRIu64 "%02" PRIu64,
				row.total[counter] / 25, row.total[counter] % 25 * 4);
		fprintf(oracle->out,
			"%s_total{guid=\"0x%016" PRIx64 "\",port=\"%u\"} %s\n", family,
			fabric->ports[i].guid, fabric->ports[i].number, value);
	}
}

static void oracle_rate(struct oracle *oracle, const char *name, bool raw)
{
	bool is_switch = oracle->type == TRIAD_NODE_SWITCH;
	char family[128];

	snprintf(family, sizeof(family), "infiniband_%s_%s%s", oracle->kind,
		is_switch ? "port_" : "", name);
	oracle->begun = false;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		uint64_t bps = raw ? triad_fabric_port_signal_bps(port)
				   : triad_fabric_port_bps(port);

		if (!oracle_wants(oracle, i) || !bps ||
			port->remote == TRIAD_FABRIC_NONE)
			continue;
		oracle_header(oracle, family, "gauge", "bytes_per_second");
		fprintf(oracle->out, "%s{guid=\"0x%016" PRIx64 "\"", family,
			port->guid);
		if (is_switch)
			fprintf(oracle->out, ",port=\"%u\"", port->number);
		fprintf(oracle->out, "} %.15g\n", (double)bps / 8);
	}
}

/* Families of whole numbers, a line for each port but port 0 of switches. */
enum { BEST_RATE, STATE, PHYS_STATE, FLAPS };

static bool oracle_value(
	const struct triad_fabric_port *port, unsigned what, uint64_t *value)
{
	bool has_link = port->remote != TRIAD_FABRIC_NONE;

	switch (what) {
	case BEST_RATE:
		*value = has_link ? triad_link_rate_bps(triad_link_rate_best(
					    port, &fabric->ports[port->remote])) /
				8
				  : 0;
		return *value;
	case STATE:
		*value = port->state;
		return true;
	case PHYS_STATE:
		*value = port->phys_state;
		return true;
	default:
		*value = 0;
		return has_link;
	}
}

static void oracle_values(struct oracle *oracle, unsigned what, const char *name,
	const char *type, const char *unit)
{
	char family[128];
	uint64_t value;

	snprintf(family, sizeof(family), "infiniband_%s_port_%s", oracle->kind, name);
	oracle->begun = false;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		if (!oracle_wants(oracle, i) ||
			(oracle->type == TRIAD_NODE_SWITCH && !port->number) ||
			!oracle_value(port, what, &value))
			continue;
		oracle_header(oracle, family, type, unit);
		fprintf(oracle->out,
			"%s%s{guid=\"0x%016" PRIx64 "\",port=\"%u\"} %" PRIu64 "\n",
			family, strcmp(type, "counter") ? "" : "_total", port->guid,
			port->number, value);
	}
}

static void oracle_up(struct oracle *oracle)
{
	char family[128];

	snprintf(family, sizeof(family), "infiniband_%s_up", oracle->kind);
	oracle->begun = false;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		if (!oracle_wants(oracle, i) ||
			(oracle->type == TRIAD_NODE_SWITCH && port->number))
			continue;
		oracle_header(oracle, family, "gauge", NULL);
		fprintf(oracle->out, "%s{guid=\"0x%016" PRIx64 "\"} 1\n", family,
			port->guid);
	}
}

static void oracle_infos(struct oracle *oracle)
{
	char family[128];

	snprintf(family, sizeof(family), "infiniband_%s", oracle->kind);
	oracle->begun = false;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		if (!oracle_wants(oracle, i) ||
			(oracle->type == TRIAD_NODE_SWITCH && port->number))
			continue;
		oracle_header(oracle, family, "info", NULL);
		fprintf(oracle->out, "%s_info{guid=\"0x%016" PRIx64 "\",lid=\"%u\"",
			family, port->guid, port->lid);
		oracle_label(oracle, oracle->kind, fabric->nodes[port->node].name);
		fprintf(oracle->out, "} 1\n");
	}
}

static void oracle_uplinks(struct oracle *oracle)
{
	static const char *const types[] = {"", "CA", "SW", "RT"};
	char family[128];

	snprintf(family, sizeof(family), "infiniband_%s_uplink", oracle->kind);
	oracle->begun = false;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i], *far;
		const struct triad_fabric_node *far_node;

		if (!oracle_wants(oracle, i) || port->remote == TRIAD_FABRIC_NONE)
			continue;
		far = &fabric->ports[port->remote];
		far_node = &fabric->nodes[far->node];
		oracle_header(oracle, family, "info", NULL);
		fprintf(oracle->out, "%s_info{guid=\"0x%016" PRIx64 "\",port=\"%u\"",
			family, port->guid, port->number);
		oracle_label(oracle, oracle->kind, fabric->nodes[port->node].name);
		oracle_label(oracle, "uplink", far_node->name);
		fprintf(oracle->out,
			",uplink_guid=\"0x%016" PRIx64 "\",uplink_lid=\"%u\","
			"uplink_port=\"%u\",uplink_type=\"%s\"} 1\n",
			far->guid, far->lid, far->number, types[far_node->type]);
	}
}

/* Writes a sample per switch, or per host port.  Adds their number to '*n', and the
 * number of those with an unanswered query to '*n_silent'. */
static void oracle_timeouts(struct oracle *oracle, unsigned *n, unsigned *n_silent)
{
	struct triad_engine_row row;
	char family[128];

	snprintf(family, sizeof(family), "infiniband_%s_collect_timeout", oracle->kind);
	oracle->begun = false;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		uint32_t end = i + 1;
		unsigned asked = 0, silent = 0;

		if (!oracle_wants(oracle, i))
			continue;
		if (oracle->type == TRIAD_NODE_SWITCH)
			while (end < fabric->n_ports &&
				fabric->ports[end].node == port->node)
				end++;
		for (; i < end; i++) {
			bool was_asked = is_asked(i) &&
				triad_view_read(view, i, &row) && row.was_asked;

			asked += was_asked;
			silent += was_asked && !row.answered;
		}
		i--;
		if (!asked)
			continue;
		oracle_header(oracle, family, "gauge", NULL);
		fprintf(oracle->out,
			"%s{guid=\"0x%016" PRIx64 "\",collector=\"%s\"} %d\n", family,
			port->guid, oracle->kind, silent > 0);
		*n += 1;
		*n_silent += silent > 0;
	}
}

static void oracle_write(struct oracle *oracle)
{
	static const char *const kinds[] = {"switch", "hca", "router"};
	static const unsigned types[] = {
		TRIAD_NODE_SWITCH, TRIAD_NODE_CA, TRIAD_NODE_ROUTER};
	unsigned n[3] = {0}, n_silent[3] = {0};
	uint32_t counters = oracle->params->filter.counters;

	for (unsigned k = 0; k < 3; k++) {
		oracle->kind = kinds[k];
		oracle->type = types[k];
		for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
			if (!counters || counters & 1u << c)
				oracle_counter(oracle, c);
		if (counters)
			continue;
		oracle_rate(oracle, "rate_bytes_per_second", false);
		oracle_rate(oracle, "raw_rate_bytes_per_second", true);
		oracle_values(oracle, BEST_RATE, "best_rate_bytes_per_second", "gauge",
			"bytes_per_second");
		oracle_values(oracle, STATE, "state", "gauge", NULL);
		oracle_values(oracle, PHYS_STATE, "physical_state", "gauge", NULL);
		oracle_values(oracle, FLAPS, "flaps", "counter", NULL);
		oracle_up(oracle);
		oracle_infos(oracle);
		oracle_uplinks(oracle);
		oracle_timeouts(oracle, &n[k], &n_silent[k]);
	}
	oracle->begun = false;
	for (unsigned k = 0; k < 3; k++) {
		if (!n[k])
			continue;
		oracle_header(
			oracle, "infiniband_exporter_collect_timeouts", "gauge", NULL);
		fprintf(oracle->out,
			"infiniband_exporter_collect_timeouts{collector=\"%s\"} %u\n",
			kinds[k], n_silent[k]);
	}
	if (oracle->params->format == TRIAD_EXPOSITION_OPENMETRICS)
		fputs("# EOF\n", oracle->out);
}

/* Removes the help's text: the comparison only requires that there is some. */
static char *without_help(char *text)
{
	char *to = text;

	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n") + 1, kept = n;

		if (!strncmp(line, "# HELP ", 7)) {
			kept = 7 + strcspn(line + 7, " ");
			ck_assert_uint_gt(n, kept + 5);
		}
		memmove(to, line, kept);
		to += kept;
		if (kept < n)
			*to++ = '\n';
		line += n;
	}
	*to = '\0';
	return text;
}

static void check_against_oracle(const struct triad_metrics_params *params)
{
	struct oracle oracle = {.params = params};
	char *expected, *text = without_help(generate(params, 1 + seed % 5000));
	size_t size;

	oracle.out = open_memstream(&expected, &size);
	oracle_write(&oracle);
	fclose(oracle.out);
	ck_assert_str_eq(text, expected);
	free(expected);
	free(text);
}

/* --- cases ------------------------------------------------------------- */

/* Row: X6 */
START_TEST(test_metrics_mixed_fabric_equals_oracle)
{
	for (unsigned i = 0; i < 20; i++) {
		struct triad_metrics_params params = {.view = view, .format = i % 2};

		check_against_oracle(&params);
		tear_down();
		set_up();
	}
}
END_TEST

static struct triad_metrics_filter random_filter(void)
{
	static const char *const patterns[] = {
		"*", "switch-*", "*-1-*", "none", "[hs]*"};
	struct triad_metrics_filter filter = {.types = (unsigned)rand() % 16 & 14};

	if (rand() % 2)
		filter.counters = (uint32_t)rand() & ((1u << TRIAD_N_COUNTERS) - 1);
	filter.n_nodes = (unsigned)rand() % 4;
	for (unsigned i = 0; i < filter.n_nodes; i++) {
		struct triad_metrics_node *node = &filter.nodes[i];

		node->is_switch = rand() % 2;
		if (rand() % 2)
			node->guid =
				fabric->nodes[(unsigned)rand() % fabric->n_nodes].guid;
		else
			strcpy(node->pattern, patterns[rand() % 5]);
	}
	return filter;
}

START_TEST(test_metrics_any_filter_equals_oracle)
{
	srand((unsigned)seed);
	for (unsigned i = 0; i < 300; i++) {
		struct triad_metrics_params params = {
			.view = view, .format = i % 2, .filter = random_filter()};

		check_against_oracle(&params);
	}
}
END_TEST

START_TEST(test_metrics_port_guid_chooses_its_node)
{
	struct triad_metrics_params params = {.view = view};
	uint32_t host = fabric->n_nodes - 1;
	uint64_t guid = fabric->ports[fabric->nodes[host].first_port].guid;
	char *text, line[64];

	ck_assert_uint_ne(guid, fabric->nodes[host].guid);
	params.filter =
		(struct triad_metrics_filter){.n_nodes = 1, .nodes[0] = {.guid = guid}};
	text = generate(&params, 8192);
	snprintf(line, sizeof(line), "_uplink_info{guid=\"0x%016" PRIx64 "\"", guid);
	ck_assert_ptr_nonnull(strstr(text, line));
	ck_assert_ptr_null(strstr(text, "infiniband_switch_info"));
	free(text);
}
END_TEST

START_TEST(test_metrics_any_buffer_same_text)
{
	for (unsigned format = 0; format < 2; format++) {
		struct triad_metrics_params params = {.view = view, .format = format};
		char *whole = generate(&params, 1 << 20);

		/* All piece sizes up to a line's length, and some larger ones. */
		for (size_t piece = 1; piece <= 4096; piece += piece < 300 ? 1 : 13) {
			char *text = generate(&params, piece);

			ck_assert_msg(!strcmp(text, whole), "pieces of %zu", piece);
			free(text);
		}
		free(whole);
	}
}
END_TEST

/* Whether the text has a sample of this counter of this port. */
static bool has_sample(const char *text, uint32_t port, unsigned counter)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	char sample[160];

	snprintf(sample, sizeof(sample), "_%s{guid=\"0x%016" PRIx64 "\",port=\"%u\"} ",
		known_name(counter), at->guid, at->number);
	return strstr(text, sample);
}

static void check_samples(unsigned *n_never, unsigned *n_partly)
{
	struct triad_engine_row row;
	char *text = generate_all();

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		(void)triad_view_read(view, i, &row);
		for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
			ck_assert(has_sample(text, i, c) ==
				(!is_skipped(i) && is_said(i, &row, c)));
		*n_never += !row.has;
		*n_partly += row.has && !(row.has & 1u << TRIAD_PORT_XMIT_WAIT);
	}
	free(text);
}

/* A random fabric may lack ports of one kind, so the test tries several fabrics. */
START_TEST(test_metrics_counter_not_read_is_absent)
{
	unsigned n_never = 0, n_partly = 0;

	check_samples(&n_never, &n_partly);
	for (unsigned i = 0; i < 100 && (!n_never || !n_partly); i++) {
		tear_down();
		set_up();
		check_samples(&n_never, &n_partly);
	}
	ck_assert_uint_gt(n_never, 0);
	ck_assert_uint_gt(n_partly, 0);
}
END_TEST

/* A port that was read before it was skipped; TRIAD_FABRIC_NONE: there is none. */
static uint32_t find_skipped(void)
{
	struct triad_engine_row row;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (is_skipped(i) && triad_view_read(view, i, &row) && row.has)
			return i;
	return TRIAD_FABRIC_NONE;
}

START_TEST(test_metrics_skipped_port_has_no_counters)
{
	uint32_t port = find_skipped();
	char *text;

	for (unsigned i = 0; i < 100 && port == TRIAD_FABRIC_NONE; i++) {
		tear_down();
		set_up();
		port = find_skipped();
	}
	ck_assert_uint_ne(port, TRIAD_FABRIC_NONE);
	text = generate_all();
	for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
		ck_assert(!has_sample(text, port, c));
	free(text);
}
END_TEST

START_TEST(test_metrics_row_of_another_port_has_no_counters)
{
	struct triad_pma_reading reading = {.has = 1, .raw = {7}};
	struct triad_fabric *other = fabric_row(2, 3);
	uint32_t *rows = calloc(other->n_ports, sizeof(*rows));
	uint32_t n =
		fabric->n_ports < other->n_ports ? fabric->n_ports : other->n_ports;
	char *text;

	ck_assert_int_eq(triad_engine_adopt(engine, other, 1, rows), 0);
	for (uint32_t i = 0; i < n; i++) {
		/* The last row belongs to a host that 'fabric' lacks. */
		view->rows[i] = rows[other->n_ports - 1];
		triad_engine_update(
			engine, view->rows[i], TRIAD_PMA_PORT_COUNTERS, &reading, 1);
	}
	text = generate_all();
	for (uint32_t i = 0; i < n; i++)
		ck_assert(!has_sample(text, i, 0));
	free(text);
	free(rows);
	triad_fabric_unref(other);
}
END_TEST

static struct triad_fabric *make_pair(const char *name, const char *far_name)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node node = {.guid = 1, .type = TRIAD_NODE_SWITCH};
	struct triad_fabric_port port = {.guid = 0xabc, .lid = 5, .number = 36};
	struct triad_fabric *made = NULL;

	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	port.width = 2;
	port.speed_ext = 2;
	triad_fabric_builder_add_port(builder, &port, 2, 1);
	node.guid = 2;
	node.type = TRIAD_NODE_CA;
	triad_fabric_builder_add_node(builder, &node, far_name, NULL, 0);
	port = (struct triad_fabric_port){.guid = 0xdef, .lid = 6, .number = 1};
	triad_fabric_builder_add_port(builder, &port, 1, 36);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &made), 0);
	triad_fabric_builder_free(builder);
	return made;
}

static void check_has(const char *text, const char *line)
{
	ck_assert_msg(strstr(text, line) != NULL, "%s\nis not in\n%s", line, text);
}

START_TEST(test_metrics_names_with_quotes_are_escaped)
{
	char *text;

	tear_down();
	set_up_fabric(make_pair(" a \"b\" \\n  ", "o0001 HCA-1"));
	text = generate_all();
	check_has(text,
		"\ninfiniband_switch_uplink_info{guid=\"0x0000000000000abc\","
		"port=\"36\",switch=\"a \\\"b\\\" \\\\n\",uplink=\"o0001 HCA-1\","
		"uplink_guid=\"0x0000000000000def\",uplink_lid=\"6\",uplink_port=\"1\","
		"uplink_type=\"CA\"} 1\n");
	check_has(text,
		"\ninfiniband_hca_info{guid=\"0x0000000000000def\",lid=\"6\","
		"hca=\"o0001 HCA-1\"} 1\n");
	check_has(text,
		"\ninfiniband_switch_port_rate_bytes_per_second{"
		"guid=\"0x0000000000000abc\",port=\"36\"} 12500000000\n");
	check_has(text,
		"\ninfiniband_switch_port_raw_rate_bytes_per_second{"
		"guid=\"0x0000000000000abc\",port=\"36\"} 12890625000\n");
	/* The speed of the far end is unknown. */
	ck_assert_ptr_null(strstr(text, "infiniband_hca_rate"));
	free(text);
}
END_TEST

static struct triad_link *copy_links(const struct triad_links *from, uint32_t *n)
{
	struct triad_link *copy = calloc(triad_links_n(from) + 1, sizeof(*copy));

	*n = 0;
	while (copy && triad_links_next(from, n, &copy[*n]))
		;
	return copy;
}

/* The host of a pair leaves the fabric; metrics of it and of its link stay. */
START_TEST(test_metrics_of_a_node_that_left_stay)
{
	struct triad_metrics_params params = {0};
	struct triad_links *links = triad_links_new();
	struct triad_fabric *pair = make_pair("leaf", "host HCA-1");
	uint64_t host = 2;
	char *text;

	tear_down();
	set_up_fabric(fabric_without(pair, &host, 1, 0, 0));
	ck_assert_int_eq(triad_links_adopt(links, pair, 1), 0);
	ck_assert_int_eq(triad_links_adopt(links, fabric, 2), 0);
	params.view = view;
	params.links = copy_links(links, &params.n_links);
	ck_assert_uint_eq(params.n_links, 1);
	text = generate(&params, 1000);
	check_has(text, "infiniband_hca_up{guid=\"0x0000000000000def\"} 0\n");
	check_has(text,
		"infiniband_hca_port_state{guid=\"0x0000000000000def\",port=\"1\"} 1\n");
	check_has(text,
		"infiniband_hca_info{guid=\"0x0000000000000def\",lid=\"6\","
		"hca=\"host HCA-1\"} 1\n");
	check_has(text,
		"infiniband_hca_uplink_info{guid=\"0x0000000000000def\",port=\"1\","
		"hca=\"host HCA-1\",uplink=\"leaf\",");
	check_has(text,
		"infiniband_switch_uplink_info{guid=\"0x0000000000000abc\","
		"port=\"36\",switch=\"leaf\",uplink=\"host HCA-1\",");
	check_has(text,
		"infiniband_switch_port_flaps_total{guid=\"0x0000000000000abc\","
		"port=\"36\"} 1\n");
	check_has(text,
		"infiniband_hca_port_flaps_total{guid=\"0x0000000000000def\","
		"port=\"1\"} 1\n");
	free(text);
	/* A filter for another node leaves out the host. */
	params.filter.n_nodes = 1;
	strcpy(params.filter.nodes[0].pattern, "leaf");
	text = generate(&params, 1000);
	ck_assert_ptr_null(strstr(text, "infiniband_hca"));
	free(text);
	free((void *)params.links);
	triad_links_free(links);
	triad_fabric_unref(pair);
}
END_TEST

/* A silence of either end silences the link, even if that end has left the fabric.  A
 * switch is silenced only by a silence of its own. */
START_TEST(test_metrics_show_what_is_silenced)
{
	struct triad_silences silences = {.n = 1};
	struct triad_metrics_params params = {.silences = &silences};
	struct triad_links *links = triad_links_new();
	struct triad_fabric *pair = make_pair("leaf", "host HCA-1");
	uint64_t host = 2;
	char *text;

	tear_down();
	set_up_fabric(fabric_without(pair, &host, 1, 0, 0));
	ck_assert_int_eq(triad_links_adopt(links, pair, 1), 0);
	ck_assert_int_eq(triad_links_adopt(links, fabric, 2), 0);
	params.view = view;
	params.links = copy_links(links, &params.n_links);
	silences.list[0].choice = triad_node_choice_make("host", NULL, 0);
	text = generate(&params, 1000);
	ck_assert_ptr_null(strstr(text, "silenced")); /* the silence hasn't begun */
	free(text);
	silences.list[0].has_begun = true;
	text = generate(&params, 1000);
	check_has(text, "infiniband_hca_silenced{guid=\"0x0000000000000def\"} 1\n");
	check_has(text,
		"infiniband_hca_port_silenced{guid=\"0x0000000000000def\","
		"port=\"1\"} 1\n");
	check_has(text,
		"infiniband_switch_port_silenced{guid=\"0x0000000000000abc\","
		"port=\"36\"} 1\n");
	ck_assert_ptr_null(strstr(text, "infiniband_switch_silenced"));
	free(text);
	free((void *)params.links);
	triad_links_free(links);
	triad_fabric_unref(pair);
}
END_TEST

/* The number of host pairs is exported for ports with a link, if it is known. */
START_TEST(test_routes_are_of_ports_with_links)
{
	struct triad_fabric *switches = fabric_row(2, 1);
	struct triad_view *row = triad_view_new(engine, switches, NULL);
	struct triad_metrics_params params = {.view = row};
	char *text;

	ck_assert_ptr_nonnull(row);
	params.routes = calloc(switches->n_ports, sizeof(*params.routes));
	for (uint32_t i = 0; i < switches->n_ports; i++)
		params.routes[i] = 100 + i;
	text = generate(&params, 1000);
	check_has(text,
		"infiniband_switch_port_routes{guid=\"0x0000000000000200\","
		"port=\"1\"} 101\n");
	check_has(text, "infiniband_hca_port_routes{guid=\"0x0000000000010002\",");
	/* Port 0 and the last port of the first switch have no link. */
	ck_assert_ptr_null(strstr(text,
		"infiniband_switch_port_routes{guid=\"0x0000000000000200\","
		"port=\"0\""));
	ck_assert_ptr_null(strstr(text,
		"infiniband_switch_port_routes{guid=\"0x0000000000000200\","
		"port=\"3\""));
	free(text);
	params.routes = NULL;
	text = generate(&params, 1000);
	ck_assert_ptr_null(strstr(text, "port_routes"));
	free(text);
	triad_view_unref(row);
	triad_fabric_unref(switches);
}
END_TEST

START_TEST(test_metrics_longest_names_fit)
{
	char name[TRIAD_NODE_NAME_SIZE], line[256];
	struct triad_metrics_params params = {0};
	char *text;

	memset(name, '"', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	tear_down();
	set_up_fabric(make_pair(name, name));
	params.view = view;
	text = generate(&params, 3);
	for (size_t i = 0; i < sizeof(name) - 1; i++)
		memcpy(line + 2 * i, "\\\"", 2);
	strcpy(line + 2 * (sizeof(name) - 1), "\",uplink_guid=");
	check_has(text, line);
	ck_assert_str_eq(text + strlen(text) - 3, "} 1\n" + 1);
	free(text);
}
END_TEST

START_TEST(test_metrics_data_of_over_64_bits_keeps_its_digits)
{
	struct triad_pma_reading wide = {.has = 1u << TRIAD_PORT_XMIT_DATA |
			1u << TRIAD_PORT_RCV_DATA | 1u << TRIAD_PORT_XMIT_PKTS};
	char *text;

	tear_down();
	set_up_fabric(make_pair("a", "b"));
	wide.raw[TRIAD_PORT_XMIT_DATA] = UINT64_MAX;
	wide.raw[TRIAD_PORT_RCV_DATA] = UINT64_MAX / 4 + 1;
	wide.raw[TRIAD_PORT_XMIT_PKTS] = UINT64_MAX;
	triad_engine_update(engine, view->rows[0], TRIAD_PMA_PORT_COUNTERS_EXTENDED,
		&wide, 2000000);
	text = generate_all();
	check_has(text,
		"transmit_data_bytes_total{guid=\"0x0000000000000abc\","
		"port=\"36\"} 73786976294838206460\n");
	check_has(text,
		"receive_data_bytes_total{guid=\"0x0000000000000abc\","
		"port=\"36\"} 18446744073709551616\n");
	check_has(text,
		"transmit_packets_total{guid=\"0x0000000000000abc\","
		"port=\"36\"} 18446744073709551615\n");
	free(text);
}
END_TEST

static const struct triad_metric own[] = {
	{"triad", "Triad itself.", TRIAD_METRIC_INFO, 7, "version=\"1.0\"", NULL},
	{"triad_sweeps", "Sweeps.", TRIAD_METRIC_COUNTER, 12345678901, "", NULL},
	{"triad_sweep_duration_seconds", "Time.", TRIAD_METRIC_GAUGE, 0.25, "", NULL},
	{"triad_alerts_active", "Alerts.", TRIAD_METRIC_GAUGE, 3, "type=\"ca\"", NULL},
	{"triad_alerts_active", "Alerts.", TRIAD_METRIC_GAUGE, 0, "type=\"switch\"",
		NULL},
	{"triad_odd", "Odd.", TRIAD_METRIC_GAUGE, -0.1, "n=\"1\"", NULL},
	{"triad_odd", "Odd.", TRIAD_METRIC_GAUGE, 1e300, "n=\"2\"", NULL},
	{"triad_odd", "Odd.", TRIAD_METRIC_GAUGE, NAN, "n=\"3\"", NULL},
	{"triad_odd", "Odd.", TRIAD_METRIC_GAUGE, -INFINITY, "n=\"4\"", NULL},
	{"triad_odd", "Odd.", TRIAD_METRIC_GAUGE, 1. / 3, "n=\"5\"", NULL},
	{"triad_wait_seconds", "Waits.", TRIAD_METRIC_HISTOGRAM, 1, "le=\"0.001\"",
		"_bucket"},
	{"triad_wait_seconds", "Waits.", TRIAD_METRIC_HISTOGRAM, 2, "le=\"+Inf\"",
		"_bucket"},
	{"triad_wait_seconds", "Waits.", TRIAD_METRIC_HISTOGRAM, 0.5, "", "_sum"},
	{"triad_wait_seconds", "Waits.", TRIAD_METRIC_HISTOGRAM, 2, "", "_count"},
};
#define SAMPLES                                                                        \
	"triad_alerts_active{type=\"ca\"} 3\n"                                         \
	"triad_alerts_active{type=\"switch\"} 0\n"                                     \
	"# HELP triad_odd Odd.\n"                                                      \
	"# TYPE triad_odd gauge\n"                                                     \
	"triad_odd{n=\"1\"} -0.1\n"                                                    \
	"triad_odd{n=\"2\"} 1e+300\n"                                                  \
	"triad_odd{n=\"3\"} NaN\n"                                                     \
	"triad_odd{n=\"4\"} -Inf\n"                                                    \
	"triad_odd{n=\"5\"} 0.3333333333333333\n"                                      \
	"# HELP triad_wait_seconds Waits.\n"                                           \
	"# TYPE triad_wait_seconds histogram\n"
#define PARTS                                                                          \
	"triad_wait_seconds_bucket{le=\"0.001\"} 1\n"                                  \
	"triad_wait_seconds_bucket{le=\"+Inf\"} 2\n"                                   \
	"triad_wait_seconds_sum 0.5\n"                                                 \
	"triad_wait_seconds_count 2\n"

START_TEST(test_metrics_own_without_view_are_all)
{
	struct triad_metrics_params params = {
		.own = own, .n_own = sizeof(own) / sizeof(own[0])};
	char *text = generate(&params, 100);

	ck_assert_str_eq(text,
		"# HELP triad_info Triad itself.\n"
		"# TYPE triad_info gauge\n"
		"triad_info{version=\"1.0\"} 1\n"
		"# HELP triad_sweeps_total Sweeps.\n"
		"# TYPE triad_sweeps_total counter\n"
		"triad_sweeps_total 12345678901\n"
		"# HELP triad_sweep_duration_seconds Time.\n"
		"# TYPE triad_sweep_duration_seconds gauge\n"
		"triad_sweep_duration_seconds 0.25\n"
		"# HELP triad_alerts_active Alerts.\n"
		"# TYPE triad_alerts_active gauge\n" SAMPLES PARTS);
	free(text);
	params.format = TRIAD_EXPOSITION_OPENMETRICS;
	text = generate(&params, 100);
	ck_assert_str_eq(text,
		"# HELP triad Triad itself.\n"
		"# TYPE triad info\n"
		"triad_info{version=\"1.0\"} 1\n"
		"# HELP triad_sweeps Sweeps.\n"
		"# TYPE triad_sweeps counter\n"
		"triad_sweeps_total 12345678901\n"
		"# HELP triad_sweep_duration_seconds Time.\n"
		"# TYPE triad_sweep_duration_seconds gauge\n"
		"# UNIT triad_sweep_duration_seconds seconds\n"
		"triad_sweep_duration_seconds 0.25\n"
		"# HELP triad_alerts_active Alerts.\n"
		"# TYPE triad_alerts_active gauge\n" SAMPLES
		"# UNIT triad_wait_seconds seconds\n" PARTS "# EOF\n");
	free(text);
}
END_TEST

START_TEST(test_metric_label_without_room_is_left_out)
{
	char value[TRIAD_METRIC_LABELS_SIZE];
	struct triad_metric metric = {0};

	triad_metric_add_label(&metric, "a", "x\"\\\ny");
	triad_metric_add_label(&metric, "b", "");
	memset(value, 'v', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	triad_metric_add_label(&metric, "c", value);
	triad_metric_add_label(&metric, "d", "z");
	ck_assert_str_eq(metric.labels, "a=\"x\\\"\\\\\\ny\",b=\"\",d=\"z\"");
}
END_TEST

START_TEST(test_metrics_total_grows_between_two_reads)
{
	char *before = generate_all(), *after;

	view_count(engine, view, 1000, 2000000);
	after = generate_all();
	ck_assert_str_ne(before, after);
	free(before);
	free(after);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("metrics");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_metrics_mixed_fabric_equals_oracle);
	tcase_add_test(cases, test_metrics_any_filter_equals_oracle);
	tcase_add_test(cases, test_metrics_port_guid_chooses_its_node);
	tcase_add_test(cases, test_metrics_any_buffer_same_text);
	tcase_add_test(cases, test_metrics_counter_not_read_is_absent);
	tcase_add_test(cases, test_metrics_skipped_port_has_no_counters);
	tcase_add_test(cases, test_metrics_row_of_another_port_has_no_counters);
	tcase_add_test(cases, test_metrics_names_with_quotes_are_escaped);
	tcase_add_test(cases, test_metrics_of_a_node_that_left_stay);
	tcase_add_test(cases, test_metrics_show_what_is_silenced);
	tcase_add_test(cases, test_metrics_longest_names_fit);
	tcase_add_test(cases, test_metrics_data_of_over_64_bits_keeps_its_digits);
	tcase_add_test(cases, test_metrics_own_without_view_are_all);
	tcase_add_test(cases, test_metric_label_without_room_is_left_out);
	tcase_add_test(cases, test_metrics_total_grows_between_two_reads);
	tcase_add_test(cases, test_routes_are_of_ports_with_links);
	return run_cases(cases);
}
