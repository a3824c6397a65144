/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/node_choice.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "ib/node_label.h"
#include "lib/text.h"

#define MAX_LID 0xbfff    /* of one port [IBA 4.1.3] */
#define MAX_CANDIDATES 10 /* that are listed */

/* --- what was typed ---------------------------------------------------- */

/* A GUID as we write it, as sysfs does (with colons) or as 16 bare digits. */
static bool parse_guid(const char *text, uint64_t *guid)
{
	char digits[2 + 16 + 1] = "0x";
	size_t n = 2;

	if (triad_text_guid(text, guid))
		return true;
	for (; *text; text++) {
		if (*text == ':')
			continue;
		if (n == sizeof(digits) - 1)
			return false;
		digits[n++] = *text;
	}
	digits[n] = 0;
	return n == sizeof(digits) - 1 && triad_text_guid(digits, guid);
}

/* Decimal, or 0x and at most as many digits as a LID has; 0: it is none. */
static unsigned parse_lid(const char *text)
{
	uint64_t number;
	unsigned lid;

	if (triad_text_number(text, &lid))
		return lid <= MAX_LID ? lid : 0;
	if (strlen(text) <= strlen("0x1234") && triad_text_guid(text, &number))
		return number <= MAX_LID ? (unsigned)number : 0;
	return 0;
}

/* Where the port's number begins, with its separator: ":2", "/P2", "/2"; NULL: there is
 * none. */
static const char *find_port_suffix(const char *text, int *number)
{
	const char *at = strrchr(text, ':'), *slash = strrchr(text, '/'), *digits;
	unsigned value;

	if (!at || (slash && slash > at))
		at = slash;
	if (!at || at == text)
		return NULL;
	digits = at + 1 + (*at == '/' && g_ascii_toupper(at[1]) == 'P');
	if (!triad_text_number(digits, &value) || value > TRIAD_FABRIC_MAX_PORT_NUMBER)
		return NULL;
	*number = (int)value;
	return at;
}

bool triad_node_text_has_port(const char *text)
{
	int number;

	return find_port_suffix(text, &number);
}

bool triad_node_text_check(const char *text, char *reason, size_t size)
{
	char name[TRIAD_NODE_TEXT_SIZE];
	const char *port;
	uint64_t guid;
	int number;

	if (!*text || strlen(text) >= TRIAD_NODE_TEXT_SIZE) {
		snprintf(reason, size, "a name has 1 to %d octets, this one %zu",
			TRIAD_NODE_TEXT_SIZE - 1, strlen(text));
		return false;
	}
	port = find_port_suffix(text, &number);
	snprintf(name, sizeof(name), "%.*s",
		(int)(port ? (size_t)(port - text) : strlen(text)), text);
	if (g_ascii_strncasecmp(text, "0x", 2) || triad_text_guid(name, &guid))
		return true;
	snprintf(
		reason, size, "a GUID is 0x and 1 to 16 hexadecimal digits, not all 0");
	return false;
}

/* --- the rules for names ----------------------------------------------- */

static bool is_prefix(const char *text, const char *name)
{
	while (*text) {
		if (*name == ' ' && (*text == ' ' || *text == '/')) {
			name += strspn(name, " ");
			text += *text == '/' ? 1 : strspn(text, " ");
		} else if (*text++ != *name++) {
			return false;
		}
	}
	return !*name || *name == ' ';
}

static bool is_named(
	const char *text, enum triad_node_rule rule, const char *name, uint64_t guid)
{
	switch (rule) {
	case TRIAD_NODE_RULE_EXACT:
		return !strcmp(text, name);
	case TRIAD_NODE_RULE_PREFIX:
		return is_prefix(text, name);
	case TRIAD_NODE_RULE_PATTERN:
		return !fnmatch(text, name, 0);
	case TRIAD_NODE_RULE_NONE:
		return triad_node_label_fits(text, name, guid) ||
			is_prefix(text, name) || !fnmatch(text, name, 0);
	default:
		return false;
	}
}

/* --- choosing ---------------------------------------------------------- */

static bool is_of_type(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, uint32_t node)
{
	return !choice->type || fabric->nodes[node].type == choice->type;
}

static bool choose_name(struct triad_node_choice *choice,
	const struct triad_fabric *fabric, enum triad_node_rule rule)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		if (!is_of_type(choice, fabric, i) ||
			!is_named(choice->name, rule, fabric->nodes[i].name,
				fabric->nodes[i].guid))
			continue;
		if (!choice->n++)
			choice->first = i;
	}
	if (choice->n)
		choice->rule = rule;
	if (choice->n == 1 && rule != TRIAD_NODE_RULE_PATTERN)
		choice->guid = fabric->nodes[choice->first].guid;
	return choice->n;
}

/* Chooses the node; and of a CA or router the port, if the number was the port's. */
static bool choose_node(struct triad_node_choice *choice,
	const struct triad_fabric *fabric, uint32_t node, uint32_t port,
	bool is_of_port)
{
	bool is_switch = fabric->nodes[node].type == TRIAD_NODE_SWITCH;

	if (!is_of_type(choice, fabric, node))
		return false;
	choice->rule = TRIAD_NODE_RULE_GUID;
	choice->guid = fabric->nodes[node].guid;
	choice->n = 1;
	choice->first = node;
	choice->end_port = port;
	if (is_of_port && !is_switch && choice->port < 0)
		choice->port = fabric->ports[port].number;
	return true;
}

/* Some devices have one GUID for the node and its first port: this chooses the node,
 * unless the caller needs a port. */
static bool choose_guid(struct triad_node_choice *choice,
	const struct triad_fabric *fabric, uint64_t guid)
{
	uint32_t node = triad_fabric_find_node(fabric, guid);
	uint32_t port = triad_fabric_find_alias(fabric, guid);

	if (node != TRIAD_FABRIC_NONE)
		return choose_node(choice, fabric, node, port, false);
	return port != TRIAD_FABRIC_NONE &&
		choose_node(choice, fabric, fabric->ports[port].node, port, true);
}

static bool choose_lid(struct triad_node_choice *choice,
	const struct triad_fabric *fabric, unsigned lid)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		if (port->lid && lid >= port->lid &&
			lid < port->lid + (1u << port->lmc) &&
			triad_fabric_is_end_port(fabric, i))
			return choose_node(choice, fabric, port->node, i, true);
	}
	return false;
}

/* By name and digits of the GUID, if these are of one node. */
static bool choose_label(
	struct triad_node_choice *choice, const struct triad_fabric *fabric)
{
	uint32_t found = TRIAD_FABRIC_NONE;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		if (!is_of_type(choice, fabric, i) ||
			!triad_node_label_fits(choice->name, fabric->nodes[i].name,
				fabric->nodes[i].guid))
			continue;
		if (found != TRIAD_FABRIC_NONE)
			return false;
		found = i;
	}
	return found != TRIAD_FABRIC_NONE &&
		choose_node(choice, fabric, found, TRIAD_FABRIC_NONE, false);
}

/* Tries all rules with 'name', the text without a port's number. */
static bool try_all_rules(
	struct triad_node_choice *choice, const struct triad_fabric *fabric)
{
	uint64_t guid;
	unsigned lid = parse_lid(choice->name);

	if (choose_name(choice, fabric, TRIAD_NODE_RULE_EXACT) ||
		(parse_guid(choice->name, &guid) &&
			choose_guid(choice, fabric, guid)) ||
		(lid && choose_lid(choice, fabric, lid)) ||
		choose_label(choice, fabric))
		return true;
	return choose_name(choice, fabric, TRIAD_NODE_RULE_PREFIX) ||
		(strpbrk(choice->name, "*?[") &&
			choose_name(choice, fabric, TRIAD_NODE_RULE_PATTERN));
}

struct triad_node_choice triad_node_choice_make(
	const char *text, const struct triad_fabric *fabric, unsigned type)
{
	struct triad_node_choice choice = {.type = type,
		.port = -1,
		.first = TRIAD_FABRIC_NONE,
		.end_port = TRIAD_FABRIC_NONE};
	const char *port;
	int number;

	if (!*text)
		return choice;
	snprintf(choice.typed, sizeof(choice.typed), "%s", text);
	memcpy(choice.name, choice.typed, sizeof(choice.name));
	if (fabric && try_all_rules(&choice, fabric))
		return choice;
	/* The end of a GUID with colons may look like a port's number. */
	if (!parse_guid(choice.name, &choice.guid) &&
		(port = find_port_suffix(choice.typed, &number))) {
		choice.name[port - choice.typed] = '\0';
		choice.port = number;
		if (fabric && try_all_rules(&choice, fabric))
			return choice;
	}
	choice.rule = parse_guid(choice.name, &choice.guid) ? TRIAD_NODE_RULE_GUID
							    : TRIAD_NODE_RULE_NONE;
	return choice;
}

/* --- what is meant ----------------------------------------------------- */

bool triad_node_choice_has(
	const struct triad_node_choice *choice, const char *name, uint64_t guid)
{
	if (choice->rule == TRIAD_NODE_RULE_ALL)
		return true;
	if (choice->guid && choice->guid == guid)
		return true;
	if (choice->rule == TRIAD_NODE_RULE_GUID)
		return false;
	return is_named(choice->name, choice->rule, name, guid);
}

bool triad_node_choice_has_port(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	const struct triad_fabric_node *node = &fabric->nodes[at->node];

	return (choice->port < 0 || choice->port == at->number) &&
		is_of_type(choice, fabric, at->node) &&
		triad_node_choice_has(choice, node->name, node->guid);
}

/* --- why not ----------------------------------------------------------- */

static const char *noun(const struct triad_node_choice *choice)
{
	switch (choice->type) {
	case TRIAD_NODE_CA:
		return "CA";
	case TRIAD_NODE_SWITCH:
		return "switch";
	case TRIAD_NODE_ROUTER:
		return "router";
	default:
		return "node";
	}
}

/* Few people type what follows the host's name, so try that alone, too. */
static void append_near(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, char *text, size_t size)
{
	struct triad_text_nearest nearest = {.word = choice->name};
	char first[TRIAD_NODE_NAME_SIZE];

	for (uint32_t i = 0; fabric && i < fabric->n_nodes; i++) {
		const char *name = fabric->nodes[i].name;

		if (!is_of_type(choice, fabric, i))
			continue;
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(name, " "), name);
		triad_text_nearest_try(&nearest, first);
	}
	if (nearest.n)
		triad_text_append(text, size, "; did you mean ");
	triad_text_nearest_append(&nearest, text, size);
	triad_text_append(text, size, "%s'nodes' lists all", nearest.n ? "? " : "; ");
}

static void explain_none(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, char *text, size_t size)
{
	const char *type = noun(choice);
	uint64_t guid;

	if (parse_guid(choice->name, &guid))
		snprintf(text, size,
			"no %s and no port of one has the GUID 0x%016" PRIx64
			"; 'nodes' lists all",
			type, guid);
	else if (parse_lid(choice->name))
		snprintf(text, size,
			"no %s is called '%s', and none has that LID; 'nodes' lists all",
			type, choice->name);
	else {
		snprintf(text, size, "no %s is called '%s'", type, choice->name);
		append_near(choice, fabric, text, size);
	}
}

static void explain_several(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, char *text, size_t size)
{
	uint32_t n = 0;

	snprintf(text, size,
		"%u nodes are called '%.60s'; name one by its GUID, or as these are written:",
		choice->n, choice->name);
	for (uint32_t i = choice->first; n < MAX_CANDIDATES && i < fabric->n_nodes;
		i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];

		if (!is_of_type(choice, fabric, i) ||
			!triad_node_choice_has(choice, node->name, node->guid))
			continue;
		triad_text_append(text, size, "\n  0x%016" PRIx64 "  %s", node->guid,
			triad_node_label(node).text);
		n++;
	}
	if (n < choice->n)
		triad_text_append(text, size, "\n  and %u more", choice->n - n);
}

void triad_node_choice_explain(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, char *reason, size_t size)
{
	if (choice->n)
		explain_several(choice, fabric, reason, size);
	else
		explain_none(choice, fabric, reason, size);
}
