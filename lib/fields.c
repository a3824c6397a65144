/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/fields.h"

#include <string.h>

/* --- numbers --- */

static uint64_t load_member(const void *member, unsigned size)
{
	uint64_t wide = 0;
	uint32_t word;
	uint16_t half;

	switch (size) {
	case 1:
		return *(const uint8_t *)member;
	case 2:
		memcpy(&half, member, sizeof(half));
		return half;
	case 4:
		memcpy(&word, member, sizeof(word));
		return word;
	default:
		memcpy(&wide, member, sizeof(wide));
		return wide;
	}
}

static void store(void *member, unsigned size, uint64_t value)
{
	uint32_t word = (uint32_t)value;
	uint16_t half = (uint16_t)value;

	switch (size) {
	case 1:
		*(uint8_t *)member = (uint8_t)value;
		break;
	case 2:
		memcpy(member, &half, sizeof(half));
		break;
	case 4:
		memcpy(member, &word, sizeof(word));
		break;
	default:
		memcpy(member, &value, sizeof(value));
	}
}

/* --- flags --- */

/* How many flags share the octet of field 'i'. */
static unsigned count_flags(const struct triad_field *fields, unsigned i, unsigned n)
{
	unsigned first = i;

	while (i < n && fields[i].kind == TRIAD_FIELD_FLAG)
		i++;
	return i - first;
}

static void put_flags(struct triad_wire *wire, const struct triad_field *fields,
	unsigned n, const char *from)
{
	unsigned octet = 0;

	for (unsigned i = 0; i < n; i++)
		if (*(const bool *)(from + fields[i].offset))
			octet |= fields[i].bit;
	triad_wire_put(wire, 1, octet);
}

static void get_flags(
	struct triad_wire *wire, const struct triad_field *fields, unsigned n, char *to)
{
	unsigned octet = triad_wire_get8(wire);

	for (unsigned i = 0; i < n; i++)
		*(bool *)(to + fields[i].offset) = octet & fields[i].bit;
}

/* --- texts --- */

static void put_text_field(struct triad_wire *wire, const char *text, size_t size)
{
	size_t length = strnlen(text, size - 1);

	triad_wire_put(wire, 1, length);
	triad_wire_put_octets(wire, text, length);
}

static void get_text(struct triad_wire *wire, char *text, size_t size)
{
	size_t length = triad_wire_get8(wire);
	const uint8_t *octets = triad_wire_take(wire, length);

	memset(text, 0, size);
	if (length >= size)
		wire->failed = true;
	for (size_t i = 0; !wire->failed && i < length; i++)
		text[i] = octets[i] ? (char)octets[i] : '?';
}

/* --- messages --- */

void triad_fields_put(struct triad_wire *wire, const struct triad_field *fields,
	unsigned n, const void *from)
{
	const char *members = from;

	for (unsigned i = 0; i < n; i++) {
		const struct triad_field *field = &fields[i];
		const char *member = members + field->offset;

		if (field->kind == TRIAD_FIELD_TEXT) {
			put_text_field(wire, member, field->size);
		} else if (field->kind == TRIAD_FIELD_FLAG) {
			unsigned n_flags = count_flags(fields, i, n);

			put_flags(wire, field, n_flags, members);
			i += n_flags - 1;
		} else {
			triad_wire_put(
				wire, field->octets, load_member(member, field->size));
		}
	}
}

void triad_fields_get(
	struct triad_wire *wire, const struct triad_field *fields, unsigned n, void *to)
{
	char *members = to;

	for (unsigned i = 0; i < n; i++) {
		const struct triad_field *field = &fields[i];
		char *member = members + field->offset;

		if (field->kind == TRIAD_FIELD_TEXT) {
			get_text(wire, member, field->size);
		} else if (field->kind == TRIAD_FIELD_FLAG) {
			unsigned n_flags = count_flags(fields, i, n);

			get_flags(wire, field, n_flags, members);
			i += n_flags - 1;
		} else {
			store(member, field->size, triad_wire_get(wire, field->octets));
		}
	}
}
