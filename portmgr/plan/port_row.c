/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/port_row.h"

#include <string.h>

#include "lib/fields.h"
#include "lib/text.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define ROW(member, n) TRIAD_FIELD(struct triad_port_row, member, n)
#define ROW_FLAG(member, mask) TRIAD_FLAG(struct triad_port_row, member, mask)
#define HEAD(member, n) TRIAD_FIELD(struct triad_port_rows_head, member, n)
#define HEAD_FLAG(member, mask) TRIAD_FLAG(struct triad_port_rows_head, member, mask)

enum { IS_HEAD = 1, IS_ROW = 2 };

static const struct triad_field row_fields[] = {
	ROW(node_guid, 8),
	TRIAD_TEXT(struct triad_port_row, node),
	ROW(number, 1),
	ROW(expected, 1),
	ROW(state, 1),
	ROW(phys_state, 1),
	ROW_FLAG(is_held, 0x1),
	ROW_FLAG(is_tested, 0x2),
	ROW_FLAG(is_failed, 0x4),
	ROW_FLAG(is_admitted, 0x8),
	ROW_FLAG(has_item, 0x10),
	ROW_FLAG(is_overridden, 0x20),
	ROW_FLAG(is_approved, 0x40),
	ROW(kind, 1),
	ROW(reason, 1),
	ROW(note, 1),
	ROW(guard, 1),
	ROW(agenda, 1),
	ROW(n_lost, 4),
	ROW(step, 1),
	TRIAD_TEXT(struct triad_port_row, remote),
};

static const struct triad_field head_fields[] = {
	HEAD(generation, 8),
	HEAD_FLAG(is_enforcing, 0x1),
	HEAD_FLAG(may_act, 0x2),
	HEAD_FLAG(is_stopped, 0x4),
	HEAD(n_of_kind[TRIAD_PLAN_DISABLE], 4),
	HEAD(n_of_kind[TRIAD_PLAN_ENABLE], 4),
	HEAD(n_of_kind[TRIAD_PLAN_TEST], 4),
	HEAD(n_of_kind[TRIAD_PLAN_NOTE], 4),
	HEAD(n_guarded, 4),
};

/* Writes the length in two octets, as a text may be longer than 255. */
static void put_long_text(struct triad_wire *wire, const char *text)
{
	size_t length = strlen(text);

	triad_wire_put(wire, 2, length);
	triad_wire_put_octets(wire, text, length);
}

/* Also refuses a 0 or a line's end in the text, which would be shown as it is. */
static void get_text(struct triad_wire *wire, char *text, size_t size)
{
	size_t length = triad_wire_get16(wire);
	const uint8_t *from = length < size ? triad_wire_take(wire, length) : NULL;

	wire->failed |= !from;
	text[0] = '\0';
	if (!from)
		return;
	memcpy(text, from, length);
	text[length] = '\0';
	triad_text_clean(text);
}

size_t triad_port_row_put(
	const struct triad_port_row *row, uint8_t octets[TRIAD_PORT_ROW_SIZE])
{
	struct triad_wire wire;

	triad_wire_init(&wire, octets, TRIAD_PORT_ROW_SIZE);
	triad_wire_put(&wire, 1, IS_ROW);
	triad_fields_put(&wire, row_fields, COUNT(row_fields), row);
	put_long_text(&wire, row->text);
	return wire.at;
}

bool triad_port_row_get(const uint8_t *octets, size_t size, struct triad_port_row *row)
{
	/* It is only read. */
	struct triad_wire wire = {.start = (uint8_t *)octets, .size = size};

	memset(row, 0, sizeof(*row));
	if (triad_wire_get8(&wire) != IS_ROW)
		return false;
	triad_fields_get(&wire, row_fields, COUNT(row_fields), row);
	get_text(&wire, row->text, sizeof(row->text));
	triad_text_clean(row->node);
	triad_text_clean(row->remote);
	return !wire.failed;
}

size_t triad_port_rows_head_put(
	const struct triad_port_rows_head *head, uint8_t octets[TRIAD_PORT_ROW_SIZE])
{
	struct triad_wire wire;

	triad_wire_init(&wire, octets, TRIAD_PORT_ROW_SIZE);
	triad_wire_put(&wire, 1, IS_HEAD);
	triad_fields_put(&wire, head_fields, COUNT(head_fields), head);
	put_long_text(&wire, head->trouble);
	return wire.at;
}

bool triad_port_rows_head_get(
	const uint8_t *octets, size_t size, struct triad_port_rows_head *head)
{
	struct triad_wire wire = {.start = (uint8_t *)octets, .size = size};

	memset(head, 0, sizeof(*head));
	if (triad_wire_get8(&wire) != IS_HEAD)
		return false;
	triad_fields_get(&wire, head_fields, COUNT(head_fields), head);
	get_text(&wire, head->trouble, sizeof(head->trouble));
	return !wire.failed;
}
