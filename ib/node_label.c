/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/node_label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/hash.h"

#define DIGITS 6
#define ALL_DIGITS 16
#define MIN_TYPED_DIGITS 4

static uint64_t low_digits(uint64_t guid, unsigned n)
{
	return n < ALL_DIGITS ? guid & ((UINT64_C(1) << 4 * n) - 1) : guid;
}

/* --- marks ------------------------------------------------------------- */

/* The slot of a node with this name and, of its GUID, these last digits; or the empty
 * one where it belongs. */
static uint32_t *find_label_slot(const struct triad_fabric *fabric, uint32_t *slots,
	const char *name, uint64_t guid, unsigned n_digits)
{
	uint64_t hash = triad_hash_octets(TRIAD_HASH_START, name, strlen(name));
	size_t at;

	hash = triad_hash_word(hash, low_digits(guid, n_digits));
	for (at = hash & fabric->name_mask; slots[at];
		at = (at + 1) & fabric->name_mask) {
		const struct triad_fabric_node *node = &fabric->nodes[slots[at] - 1];

		if (!strcmp(node->name, name) &&
			low_digits(node->guid, n_digits) == low_digits(guid, n_digits))
			break;
	}
	return &slots[at];
}

/* Gives all nodes the mark of which 'n_digits' and the name leave another one. */
static void mark_alike(
	struct triad_fabric *fabric, uint32_t *slots, unsigned n_digits, uint8_t mark)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		struct triad_fabric_node *node = &fabric->nodes[i];
		uint32_t *slot = find_label_slot(
			fabric, slots, node->name, node->guid, n_digits);

		if (*slot)
			fabric->nodes[*slot - 1].mark_digits = node->mark_digits = mark;
		else
			*slot = i + 1;
		if (!node->name[0] && !node->mark_digits)
			node->mark_digits = mark;
	}
}

int triad_node_labels_make(struct triad_fabric *fabric)
{
	size_t n = 4;
	uint32_t *by_name, *slots;

	while (n < 2 * (size_t)fabric->n_nodes)
		n *= 2;
	by_name = calloc(n, sizeof(*by_name));
	slots = calloc(n, sizeof(*slots));
	if (!by_name || !slots) {
		free(by_name);
		free(slots);
		return ENOMEM;
	}
	free(fabric->by_name);
	fabric->by_name = by_name;
	fabric->name_mask = (uint32_t)(n - 1);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].mark_digits = 0;
	mark_alike(fabric, fabric->by_name, 0, DIGITS);
	mark_alike(fabric, slots, DIGITS, ALL_DIGITS);
	free(slots);
	return 0;
}

/* --- labels ------------------------------------------------------------ */

struct triad_node_label triad_node_label_with_digits(
	const char *name, uint64_t guid, unsigned n_digits)
{
	struct triad_node_label label;

	if (n_digits)
		snprintf(label.text, sizeof(label.text), "%.*s#%0*" PRIx64,
			TRIAD_NODE_NAME_SIZE - 1, name, (int)n_digits,
			low_digits(guid, n_digits));
	else
		snprintf(label.text, sizeof(label.text), "%s", name);
	return label;
}

struct triad_node_label triad_node_label(const struct triad_fabric_node *node)
{
	return triad_node_label_with_digits(node->name, node->guid, node->mark_digits);
}

uint8_t triad_node_label_digits(
	const struct triad_fabric *fabric, uint64_t guid, const char *name)
{
	const struct triad_fabric_node *other;
	uint32_t index;

	if (!fabric || !fabric->by_name || !guid)
		return 0;
	index = triad_fabric_find_node(fabric, guid);
	if (index != TRIAD_FABRIC_NONE && !strcmp(fabric->nodes[index].name, name))
		return fabric->nodes[index].mark_digits;
	index = *find_label_slot(fabric, fabric->by_name, name, guid, 0);
	if (!index)
		return name[0] ? 0 : DIGITS;
	other = &fabric->nodes[index - 1];
	return low_digits(other->guid, DIGITS) == low_digits(guid, DIGITS) ? ALL_DIGITS
									   : DIGITS;
}

struct triad_node_label triad_node_label_of(
	const struct triad_fabric *fabric, uint64_t guid, const char *name)
{
	return triad_node_label_with_digits(
		name, guid, triad_node_label_digits(fabric, guid, name));
}

static struct triad_port_label label_port(struct triad_node_label node, unsigned number)
{
	struct triad_port_label label;

	if (number <= TRIAD_FABRIC_MAX_PORT_NUMBER)
		snprintf(label.text, sizeof(label.text), "%s:%u", node.text, number);
	else
		snprintf(label.text, sizeof(label.text), "%s", node.text);
	return label;
}

struct triad_port_label triad_port_label(
	const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	return label_port(triad_node_label(&fabric->nodes[at->node]), at->number);
}

struct triad_port_label triad_port_label_of(const struct triad_fabric *fabric,
	uint64_t guid, const char *name, unsigned number)
{
	return label_port(triad_node_label_of(fabric, guid, name), number);
}

bool triad_node_label_fits(const char *text, const char *name, uint64_t guid)
{
	const char *mark = strrchr(text, '#');
	size_t length = mark ? (size_t)(mark - text) : 0, n_digits;
	char digits[ALL_DIGITS + 1];

	if (!mark || strlen(name) != length || memcmp(text, name, length) != 0)
		return false;
	n_digits = strlen(mark + 1);
	if (n_digits < MIN_TYPED_DIGITS || n_digits > ALL_DIGITS)
		return false;
	snprintf(digits, sizeof(digits), "%016" PRIx64, guid);
	return !strcasecmp(digits + ALL_DIGITS - n_digits, mark + 1);
}
