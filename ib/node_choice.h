/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Interprets a typed text as nodes, or as one port.
 *
 * Model: the rules are tried in this order; the first that fits a node is used:
 *
 *     exact     the node's whole name
 *     GUID      0x and 1 to 16 digits, 16 digits alone, or with colons, as sysfs has
 *               it: of a node, or of a port (its own or an alias)
 *     LID       decimal; also 0x and 1 to 4 digits where no node and no port has that
 *               GUID
 *     label     as names that are not unique are shown (ib/node_label.h): the name, a '#'
 *               and the last digits of the node's GUID, if one node has these
 *     prefix    the name up to a blank: 'host-0001' is 'host-0001 HCA-1'.  A '/' fits
 *               blanks: 'host-0001/HCA-1'
 *     pattern   as a shell has it: 'leaf-*'
 *
 * If no rule fits, a port number is cut from the end of the text (':2', '/P2' or '/2'),
 * and the rest is tried in the same order: then the choice is that port of the node.
 * The GUID of a port, and a LID, choose that port, too; but at a switch the whole
 * switch, which has one LID for all of its ports.
 *
 * The choice keeps the rule and not a list of nodes.  So it can be applied to another
 * fabric, and to nodes that have left this one.  A single node chosen without a pattern
 * is also identified by its GUID, because a host that boots has another name for a
 * while.  If no rule fits a node of the fabric, the choice fits any node whose name
 * fits by any rule.
 *
 * Thread-safety: functions without state.
 * Memory: no allocation.  A choice takes some passes over the nodes of a fabric that
 * the caller holds: some milliseconds for 48,000 nodes. */
#ifndef TRIAD_IB_NODE_CHOICE_H
#define TRIAD_IB_NODE_CHOICE_H

#include "triad/fabric.h"

#define TRIAD_NODE_TEXT_SIZE 128 /* of what is typed, with the 0 */

enum triad_node_rule {
	TRIAD_NODE_RULE_ALL, /* nothing was typed: every node */
	TRIAD_NODE_RULE_EXACT,
	TRIAD_NODE_RULE_GUID, /* also a LID: the GUID of its node */
	TRIAD_NODE_RULE_PREFIX,
	TRIAD_NODE_RULE_PATTERN,
	TRIAD_NODE_RULE_NONE, /* no node of the fabric: any rule for a name */
};

struct triad_node_choice {
	enum triad_node_rule rule;
	unsigned type;  /* enum triad_node_type; 0: nodes of any type */
	int port;       /* -1: all ports */
	uint32_t n;     /* chosen nodes of the fabric */
	uint32_t first; /* the first of them, or TRIAD_FABRIC_NONE */
	/* The end port that has the GUID or LID; else TRIAD_FABRIC_NONE. */
	uint32_t end_port;
	/* The GUID of a single chosen node, by any rule; else 0. */
	uint64_t guid;
	char typed[TRIAD_NODE_TEXT_SIZE];
	char name[TRIAD_NODE_TEXT_SIZE]; /* 'typed' without a port's number */
};

/* Whether 'text' can be the name of a node or a port: 1 to 127 octets, and a GUID if it
 * begins like one.  If not, 'reason' says why. */
bool triad_node_text_check(const char *text, char *reason, size_t size);

/* True when a port's number stands at the end of the text. */
bool triad_node_text_has_port(const char *text);

/* Chooses among the nodes of a type (0: any).  'text' is cut at 127 octets; "" chooses
 * every node.  'fabric' may be NULL: then no node fits. */
struct triad_node_choice triad_node_choice_make(
	const char *text, const struct triad_fabric *fabric, unsigned type);

/* Whether the choice has a node, by its name and GUID; ignores its type. */
bool triad_node_choice_has(
	const struct triad_node_choice *choice, const char *name, uint64_t guid);

/* Whether the choice has a port of this fabric. */
bool triad_node_choice_has_port(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, uint32_t port);

/* Writes why the choice is not exactly one node: which names are similar, or which
 * nodes fit, ten of them at most.  200 octets hold the former, 1,000 the latter.
 * 'fabric' is the one in which the choice was made. */
void triad_node_choice_explain(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, char *reason, size_t size);

#endif
