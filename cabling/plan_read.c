/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cabling/plan_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cabling/plan_csv.h"
#include "ib/link.h"
#include "lib/text.h"
#include "portmgr/expected/expected.h"
#include "portmgr/expected/netdiscover.h"
#include "triad/fabric.h"

/* --- which form -------------------------------------------------------- */

static bool text_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_netdiscover(const char *text)
{
	static const char *const words[] = {"vendid=", "devid=", "sysimgguid=",
		"switchguid=", "caguid=", "rtguid=", "Switch\t", "Switch ", "Ca\t",
		"Ca ", "Rt\t", "Rt ", "Chassis ", "Non-Chassis"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (text_begins(text, words[i]))
			return true;
	return false;
}

/* The generation, the names of the columns, or a row. */
static bool is_expected(const struct triad_csv_line *line)
{
	if (text_begins(line->fields[0], "generation") ||
		!strcmp(line->fields[0], "node"))
		return true;
	for (unsigned state = 0; state <= TRIAD_EXPECTED_TEST; state++)
		if (!strcmp(line->fields[2], triad_expected_state_name(state)))
			return true;
	return false;
}

/* UNKNOWN for a comment, and for what could be in front of an output. */
static enum triad_cabling_format format_of_line(
	struct triad_csv_line *line, const char *octets, size_t size)
{
	struct triad_diags diags;

	if (size > TRIAD_CSV_MAX_LINE)
		size = TRIAD_CSV_MAX_LINE;
	triad_diags_init(&diags, "");
	triad_csv_line_cut(line, octets, size, TRIAD_CSV_MAX_FIELDS, &diags);
	if (triad_cabling_is_ndt(line))
		return TRIAD_CABLING_NDT;
	if (line->fields[0][0] == '#')
		return TRIAD_CABLING_UNKNOWN;
	if (triad_cabling_is_topoconfig(line))
		return TRIAD_CABLING_TOPOCONFIG;
	if (text_begins(line->fields[0], "SwitchName="))
		return TRIAD_CABLING_SLURM;
	if (is_netdiscover(line->fields[0]))
		return TRIAD_CABLING_NETDISCOVER;
	return is_expected(line) ? TRIAD_CABLING_EXPECTED : TRIAD_CABLING_UNKNOWN;
}

static const char *skip_mark(const char *octets, size_t *size)
{
	static const char mark[] = "\xef\xbb\xbf"; /* the byte order mark of UTF-8 */

	if (*size < strlen(mark) || memcmp(octets, mark, strlen(mark)) != 0)
		return octets;
	*size -= strlen(mark);
	return octets + strlen(mark);
}

enum triad_cabling_format triad_cabling_format_find(const char *octets, size_t size)
{
	enum triad_cabling_format format = TRIAD_CABLING_UNKNOWN;
	struct triad_csv_line line = {.number = 1};
	const char *end, *next;

	octets = skip_mark(octets, &size);
	for (end = octets + size; octets < end && !format; octets = next) {
		const char *newline = memchr(octets, '\n', (size_t)(end - octets));
		size_t n = (size_t)((newline ? newline : end) - octets);

		next = newline ? newline + 1 : end;
		if (n && octets[n - 1] == '\r')
			n--;
		format = format_of_line(&line, octets, n);
	}
	return format;
}

const char *triad_cabling_format_name(enum triad_cabling_format format)
{
	static const char *const names[] = {
		[TRIAD_CABLING_UNKNOWN] = "unknown",
		[TRIAD_CABLING_EXPECTED] = "expected",
		[TRIAD_CABLING_NETDISCOVER] = "netdiscover",
		[TRIAD_CABLING_NDT] = "ndt",
		[TRIAD_CABLING_TOPOCONFIG] = "topoconfig",
		[TRIAD_CABLING_SLURM] = "slurm",
	};

	return names[format];
}

/* --- an expected configuration ----------------------------------------- */

/* The far end of a row; false if the row does not say which port that is. */
static bool read_remote(struct triad_cabling_plan *plan,
	const struct triad_expected *expected,
	const struct triad_expected_remote *remote, struct triad_cabling_end *end)
{
	const char *pattern = triad_expected_text(expected, remote->name);
	char name[TRIAD_NODE_NAME_SIZE];
	size_t n;

	*end = (struct triad_cabling_end){
		.guid = remote->node_guid ? remote->node_guid : remote->port_guid,
		.port = remote->port};
	snprintf(name, sizeof(name), "%s", pattern);
	n = strlen(name);
	/* 'host-0001*' is 'host-0001 HCA-1'. */
	if (n && name[n - 1] == '*')
		name[--n] = '\0';
	while (n && name[n - 1] == ' ')
		name[--n] = '\0';
	if (!end->guid && !strpbrk(name, "*?"))
		end->name = triad_cabling_plan_keep(plan, name);
	return end->port && (end->guid || end->name);
}

static bool is_empty_remote(const struct triad_expected_remote *remote)
{
	return !remote->port_guid && !remote->node_guid && !remote->vendor_id &&
		!remote->name && !remote->port;
}

static void add_expected_row(struct triad_cabling_plan *plan,
	const struct triad_expected *expected, const struct triad_expected_port *row)
{
	struct triad_cabling_link link = {
		.line = row->line, .width = row->width, .speed = row->speed};
	struct triad_cabling_port_plan port = {0};
	bool is_disabled = row->state == TRIAD_EXPECTED_DISABLED;

	link.ends[0] = (struct triad_cabling_end){.guid = row->node_guid,
		.name = triad_cabling_plan_keep(
			plan, triad_expected_text(expected, row->node_name)),
		.port = row->port};
	if (!is_disabled && read_remote(plan, expected, &row->remote, &link.ends[1])) {
		triad_cabling_plan_add_link(plan, &link);
		return;
	}
	port.end = link.ends[0];
	port.is_free = is_disabled && is_empty_remote(&row->remote);
	triad_cabling_plan_add_port(plan, &port);
	if (!is_disabled && !is_empty_remote(&row->remote) && !plan->n_open++)
		plan->first_open_line = row->line;
}

static int read_expected_plan(const char *octets, size_t size,
	struct triad_diags *diags, struct triad_cabling_plan *plan)
{
	struct triad_expected *expected;
	int error = triad_expected_parse(octets, size, diags, &expected);

	if (error)
		return error;
	for (uint32_t i = 0; i < expected->n_ports; i++)
		add_expected_row(plan, expected, &expected->ports[i]);
	triad_expected_free(expected);
	return 0;
}

/* --- the output of ibnetdiscover --------------------------------------- */

static struct triad_cabling_end end_of_port(struct triad_cabling_plan *plan,
	const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_node *node = &fabric->nodes[fabric->ports[port].node];

	return (struct triad_cabling_end){node->guid,
		triad_cabling_plan_keep(plan, node->name), fabric->ports[port].number};
}

static void add_listed_link(struct triad_cabling_plan *plan,
	const struct triad_fabric *fabric, uint32_t port)
{
	uint32_t far = fabric->ports[port].remote;
	struct triad_link_rate rate = triad_link_rate_active(&fabric->ports[port]);
	const struct triad_cabling_link link = {
		.ends = {end_of_port(plan, fabric, port),
			end_of_port(plan, fabric, far)},
		.width = rate.width,
		.speed = (uint8_t)rate.speed};

	if (link.ends[0].port && link.ends[1].port)
		triad_cabling_plan_add_link(plan, &link);
}

static int read_listed_plan(const char *octets, size_t size, struct triad_diags *diags,
	struct triad_cabling_plan *plan)
{
	struct triad_fabric *fabric;
	int error = triad_netdiscover_parse(octets, size, diags, &fabric);

	if (error)
		return error;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].remote != TRIAD_FABRIC_NONE &&
			fabric->ports[i].remote > i)
			add_listed_link(plan, fabric, i);
	triad_fabric_unref(fabric);
	return 0;
}

/* --- any form ---------------------------------------------------------- */

static int read_form(const char *octets, size_t size, struct triad_diags *diags,
	struct triad_cabling_plan *plan)
{
	switch (plan->format) {
	case TRIAD_CABLING_EXPECTED:
		return read_expected_plan(octets, size, diags, plan);
	case TRIAD_CABLING_NETDISCOVER:
		return read_listed_plan(octets, size, diags, plan);
	case TRIAD_CABLING_NDT:
	case TRIAD_CABLING_TOPOCONFIG:
		triad_cabling_csv_read(octets, size, diags, plan);
		return 0;
	case TRIAD_CABLING_SLURM:
		triad_diags_add(diags, 0, 0,
			"a topology.conf of Slurm says no ports: it is no cabling "
			"plan");
		return EINVAL;
	default:
		triad_diags_add(diags, 0, 0,
			"this is no cabling plan: an expected configuration, "
			"ibnetdiscover's output, or an NDT or topoconfig file");
		return EINVAL;
	}
}

int triad_cabling_plan_read(const char *octets, size_t size, struct triad_diags *diags,
	struct triad_cabling_plan **plan)
{
	const size_t n_before = diags->n_total;
	struct triad_cabling_plan *made;
	int error;

	if (size > TRIAD_CABLING_PLAN_MAX_OCTETS) {
		triad_diags_add(diags, 0, 0, "it is larger than %zu MiB",
			TRIAD_CABLING_PLAN_MAX_OCTETS >> 20);
		return E2BIG;
	}
	made = triad_cabling_plan_new();
	if (!made)
		return ENOMEM;
	octets = skip_mark(octets, &size);
	made->format = triad_cabling_format_find(octets, size);
	made->judges_all = made->format != TRIAD_CABLING_EXPECTED;
	error = read_form(octets, size, diags, made);
	if (!error)
		error = made->error;
	if (error == E2BIG && diags->n_total == n_before)
		triad_diags_add(diags, 0, 0, "it has more than %u cables",
			TRIAD_CABLING_MAX_LINKS);
	if (!error && diags->n_total != n_before)
		error = EINVAL;
	if (error)
		triad_cabling_plan_free(made);
	else
		*plan = made;
	return error;
}
