/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Describes a message's fields by a table, to write them to the wire and read them.
 *
 *     static const struct triad_field fields[] = {
 *         TRIAD_TEXT(struct alive, name),
 *         TRIAD_FIELD(struct alive, n_nodes, 4),
 *         TRIAD_FLAG(struct alive, is_manager, 0x1),
 *         TRIAD_FLAG(struct alive, is_draining, 0x2),
 *     };
 *
 * Numbers are big-endian, in as many octets as the table says; their members have 1, 2,
 * 4 or 8 octets; floats are sent as their bits.  A text is a length in one octet, then
 * so many octets.  Adjacent flags in the table share an octet.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_LIB_FIELDS_H
#define TRIAD_LIB_FIELDS_H

#include "triad/wire.h"

enum triad_field_kind {
	TRIAD_FIELD_NUMBER,
	TRIAD_FIELD_FLAG,
	TRIAD_FIELD_TEXT,
};

struct triad_field {
	uint16_t offset, size; /* of the member */
	uint8_t kind;          /* enum triad_field_kind */
	uint8_t octets;        /* of a number, on the wire */
	uint8_t bit;           /* of a flag */
};

#define TRIAD_FIELD_MEMBER(type, member)                                               \
	.offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define TRIAD_FIELD(type, member, n)                                                   \
	{                                                                              \
		TRIAD_FIELD_MEMBER(type, member), .octets = (n)                        \
	}
#define TRIAD_FLAG(type, member, mask)                                                 \
	{                                                                              \
		TRIAD_FIELD_MEMBER(type, member), .kind = TRIAD_FIELD_FLAG,            \
						  .bit = (mask)                        \
	}
#define TRIAD_TEXT(type, member)                                                       \
	{                                                                              \
		TRIAD_FIELD_MEMBER(type, member), .kind = TRIAD_FIELD_TEXT             \
	}

/* Writes the members of 'from'.  A text is cut to its member's size less 1. */
void triad_fields_put(struct triad_wire *wire, const struct triad_field *fields,
	unsigned n, const void *from);

/* Reads the members of 'to'; ignores flags that the table lacks.  Sets 'wire->failed'
 * for a text that is too long for its member; replaces a 0 in a text by '?'. */
void triad_fields_get(struct triad_wire *wire, const struct triad_field *fields,
	unsigned n, void *to);

/* The same with an array. */
#define TRIAD_FIELDS_PUT(wire, fields, from)                                           \
	triad_fields_put(wire, fields, sizeof(fields) / sizeof((fields)[0]), from)
#define TRIAD_FIELDS_GET(wire, fields, to)                                             \
	triad_fields_get(wire, fields, sizeof(fields) / sizeof((fields)[0]), to)

#endif
