/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counters of performance management agents beyond PortCounters: why errors and
 * discards were counted, what forward error correction did, what each VL and SL carried
 * and waited, what congestion control marked.
 *
 * Model: one table of attributes, and one of their fields.  A field is one counter, or
 * one for each VL, SL or lane, one after the other.  All of them stop at their maximum.
 * A reading has a slot for each counter of its attribute.
 *
 * PortExtendedSpeedsCounters has two layouts under one attribute ID: the second while
 * RS-FEC is active on the link.  They are two attributes here.
 *
 * Thread-safety: constant data, functions without state.
 * Spec: IBA volume 1, 16.1.4; offsets and widths as in libibmad's table of fields, with
 * which a test compares them. */
#ifndef TRIAD_IB_DETAIL_H
#define TRIAD_IB_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/counter.h"
#include "ib/pma.h"

/* When to ask an agent for an attribute. */
enum triad_detail_class {
	TRIAD_DETAIL_ERRORS, /* when the total that it explains has moved */
	TRIAD_DETAIL_FEC,    /* now and then: to judge links */
	TRIAD_DETAIL_VL,     /* now and then: VLs, SLs, congestion */
	TRIAD_DETAIL_N_CLASSES
};

struct triad_detail_attribute {
	const char *name; /* IBA name */
	enum triad_detail_class class;
	bool is_of_switches; /* only external ports of switches have it */
	int explains;        /* a counter of PortCounters, or -1 */
};

/* What a field has a counter for. */
enum triad_detail_part {
	TRIAD_PART_PORT,
	TRIAD_PART_VL,
	TRIAD_PART_SL,
	TRIAD_PART_LANE,
};

struct triad_detail_field {
	const char *name;    /* IBA name; of several counters, without their numbers */
	const char *metric;  /* for Prometheus: infiniband_switch_port_METRIC_total */
	uint32_t attributes; /* bit i: it is in attribute i, in the same slots */
	enum triad_detail_part part;
	enum triad_counter_unit unit;
	bool is_error;
	uint8_t bits;        /* width of each */
	uint16_t bit_offset; /* of the first one, from the attribute's first bit */
	uint8_t n;           /* how many */
	uint8_t slot;        /* of the first one */
};

#define TRIAD_DETAIL_N_FIELDS 36
extern const struct triad_detail_field triad_detail_fields[TRIAD_DETAIL_N_FIELDS];

/* The most slots that an attribute has. */
#define TRIAD_DETAIL_MOST_SLOTS 38

struct triad_detail_reading {
	uint32_t raw[TRIAD_DETAIL_MOST_SLOTS];
};

/* Attributes as a set: bit i of 32 is attribute i of ib/pma.h. */
#define TRIAD_DETAIL_BIT(attribute) (UINT32_C(1) << (attribute))

/* Describes a detail attribute; NULL for the three that are none. */
const struct triad_detail_attribute *triad_detail_attribute(
	enum triad_pma_attribute attribute);

/* The detail attributes of a class. */
uint32_t triad_detail_attributes(enum triad_detail_class class);

/* Those that explain one of 'counters' (bit i: counter i). */
uint32_t triad_detail_explain(uint32_t counters);

unsigned triad_detail_n_slots(enum triad_pma_attribute attribute);

/* The field of a slot of the attribute; NULL: it has no such slot. */
const struct triad_detail_field *triad_detail_field(
	enum triad_pma_attribute attribute, unsigned slot);

/* The index in triad_detail_fields of the field with that name, case ignored; -1: there
 * is none. */
int triad_detail_field_find(const char *name);

/* Rates of fields that are too high: thresholds of alerts. */
struct triad_detail_thresholds {
	double per_s[TRIAD_DETAIL_N_FIELDS]; /* 0: none */
	uint32_t attributes;                 /* attributes with such a field */
};

/* "vl", "sl", "lane"; "" for TRIAD_PART_PORT. */
const char *triad_detail_part_name(enum triad_detail_part part);

/* The name of one counter: "PortVLXmitWait3". */
void triad_detail_format_name(
	const struct triad_detail_field *field, unsigned slot, char *text, size_t size);

/* The value at which the field's counters stop. */
static inline uint32_t triad_detail_max(const struct triad_detail_field *field)
{
	return (uint32_t)((UINT64_C(1) << field->bits) - 1);
}

/* Whether a slot of 'reading' is past three quarters of its range: then reset the
 * attribute before the slot stops. */
bool triad_detail_is_near_full(
	enum triad_pma_attribute attribute, const struct triad_detail_reading *reading);

/* Makes a Set that resets all counters of a detail attribute. */
void triad_detail_encode_reset(uint8_t mad[TRIAD_MAD_SIZE],
	enum triad_pma_attribute attribute, uint8_t port, uint32_t tid);

/* Reads the counters out of a checked answer (triad_pma_check()).  Returns 0, or EPROTO
 * when the answer is about another port than 'port'. */
int triad_detail_decode(const uint8_t *mad, enum triad_pma_attribute attribute,
	uint8_t port, struct triad_detail_reading *reading);

#endif
