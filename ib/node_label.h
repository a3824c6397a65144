/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a node is called for people: its name, and where another node of the fabric has
 * the same name, the end of its GUID behind it: 'Quantum-2 Mellanox Technologies#09a500'.
 *
 * Model: triad_fabric_build() marks the nodes that need it, once for each fabric.  A
 * mark has 6 hexadecimal digits, or 16 where two nodes of one name share these.  A node
 * without a name is marked as well.  One that has left the fabric is marked if a node
 * that is there has its name.  So the mark depends on the fabric alone, and is the same
 * wherever a label is shown.
 *
 * ib/node_choice.h takes labels wherever a node is named.
 *
 * Thread-safety: functions without state.  Memory: labels are values; the marks and the
 * index of names belong to the fabric. */
#ifndef TRIAD_IB_NODE_LABEL_H
#define TRIAD_IB_NODE_LABEL_H

#include "triad/fabric.h"

#define TRIAD_NODE_LABEL_SIZE (TRIAD_NODE_NAME_SIZE + sizeof("#0123456789abcdef") - 1)

/* A value, so that a call can stand among another one's arguments. */
struct triad_node_label {
	char text[TRIAD_NODE_LABEL_SIZE]; /* printable UTF-8 */
};

/* The label of a node of a fabric. */
struct triad_node_label triad_node_label(const struct triad_fabric_node *node);

/* The label of a node that may have left the fabric, or had another name: by what is
 * known of it.  'fabric' may be NULL: then its name alone, as with the GUID 0. */
struct triad_node_label triad_node_label_of(
	const struct triad_fabric *fabric, uint64_t guid, const char *name);

/* How many digits the label of triad_node_label_of() has; 0: it is the name alone.  And
 * the label with so many, for texts that are written without the fabric. */
uint8_t triad_node_label_digits(
	const struct triad_fabric *fabric, uint64_t guid, const char *name);
struct triad_node_label triad_node_label_with_digits(
	const char *name, uint64_t guid, unsigned n_digits);

/* What a port is called for people: 'leaf-05:22'. */
#define TRIAD_PORT_LABEL_SIZE (TRIAD_NODE_LABEL_SIZE + 4)
struct triad_port_label {
	char text[TRIAD_PORT_LABEL_SIZE];
};

/* The label of the fabric's port with this index. */
struct triad_port_label triad_port_label(
	const struct triad_fabric *fabric, uint32_t port);

/* A port of the node that triad_node_label_of() would name so; a number over 254 is that
 * of no port: then the node's alone. */
struct triad_port_label triad_port_label_of(const struct triad_fabric *fabric,
	uint64_t guid, const char *name, unsigned number);

/* Whether a node with this name and GUID could have 'text' as its label, with any number
 * of digits from 4 to 16.  Ignores whether its name is unique. */
bool triad_node_label_fits(const char *text, const char *name, uint64_t guid);

/* Marks the fabric's nodes and indexes their names, when it is built or its nodes get
 * other names; only while no other thread has it.  Returns 0, or ENOMEM: then all is as
 * it was. */
int triad_node_labels_make(struct triad_fabric *fabric);

#endif
