/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decodes the memory of a cable or module: its vendor, its kind, its state.
 *
 * Model: the identifier tells which of two maps the memory has: SFF-8636 (QSFP, QSFP+,
 * QSFP28, QSFP56) or CMIS (OSFP, QSFP-DD, QSFP112).  The values that we use lie in a
 * few blocks, each of which one MAD can read (ib/cable_info.h).  The caller reads the
 * block that triad_cable_next() names, and gives it to triad_cable_take(), until there
 * is no more:
 *
 *     struct triad_cable cable = {0};
 *     enum triad_cable_block block;
 *
 *     while (triad_cable_next(&cable, &block))
 *             read(triad_cable_address(&cable, block), octets)
 *                     ? triad_cable_take(&cable, block, octets)
 *                     : triad_cable_lacks(&cable, block);
 *
 * Passive copper has two blocks.  Call triad_cable_refresh() first to read again what
 * changes.
 *
 * Power is in units of 0.1 uW, bias in 2 uA, voltage in 100 uV, temperature in 1/256
 * degrees Celsius, as in both maps.  A limit of 0 is none.
 *
 * Invariants: texts are printable ASCII, without blanks at their ends; whatever the
 * octets are, only the block is read.
 *
 * Thread-safety: functions without state.
 * Source: SFF-8636 2.10, SFF-8024 4.9, CMIS 5.0 (OIF); ethtool, qsfp.h and cmis.h, for
 * the offsets. */
#ifndef TRIAD_IB_CABLE_H
#define TRIAD_IB_CABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "ib/cable_info.h"

#define TRIAD_CABLE_MAX_LANES 8

enum triad_cable_block {
	TRIAD_CABLE_IDENTITY, /* identifier, vendor, technology */
	TRIAD_CABLE_SERIAL,   /* part, serial, date */
	TRIAD_CABLE_ADVERTISED,
	TRIAD_CABLE_LIMITS, /* of temperature and voltage */
	TRIAD_CABLE_LANE_LIMITS,
	TRIAD_CABLE_STATE,  /* temperature, voltage, SFF-8636: lanes */
	TRIAD_CABLE_LEVELS, /* lanes */
	TRIAD_CABLE_N_BLOCKS
};

enum triad_cable_map {
	TRIAD_CABLE_MAP_UNKNOWN, /* unknown identifier */
	TRIAD_CABLE_MAP_SFF8636,
	TRIAD_CABLE_MAP_CMIS,
};

struct triad_cable_limits {
	uint16_t high_alarm, low_alarm, high_warning, low_warning;
};

struct triad_cable {
	uint8_t taken, lacking; /* bit for each block */
	uint8_t identifier;     /* SFF-8024 */
	uint8_t technology;     /* a code, of triad_cable_technology() */
	uint8_t n_lanes;
	bool is_flat;      /* it has only the first page */
	bool is_separable; /* a module for a separate fibre: it has no length */
	bool has_tx_power, has_rx_power, has_bias; /* it measures them */
	uint8_t bias_factor;
	uint16_t length_dm; /* decimetres; 0: not known */
	char vendor[17], part[17], revision[5], serial[17], date[9];
	uint32_t oui;
	int16_t temperature; /* not known while 'voltage' is 0 */
	uint16_t voltage;
	struct triad_cable_limits temperature_limits; /* signed */
	struct triad_cable_limits voltage_limits, rx_limits, tx_limits, bias_limits;
	uint16_t rx[TRIAD_CABLE_MAX_LANES], tx[TRIAD_CABLE_MAX_LANES],
		bias[TRIAD_CABLE_MAX_LANES];
};

/* The next block to be read; false: there is no more. */
bool triad_cable_next(const struct triad_cable *cable, enum triad_cable_block *block);
/* The place of a block. */
struct triad_cable_address triad_cable_address(
	const struct triad_cable *cable, enum triad_cable_block block);
/* Decodes a block; 'octets' has as many as its place says. */
void triad_cable_take(
	struct triad_cable *cable, enum triad_cable_block block, const uint8_t *octets);
/* The module does not have it. */
void triad_cable_lacks(struct triad_cable *cable, enum triad_cable_block block);
/* Makes triad_cable_next() name the blocks that change once more. */
void triad_cable_refresh(struct triad_cable *cable);

/* Whether it has temperature and voltage; power or bias of its lanes. */
bool triad_cable_has_state(const struct triad_cable *cable);
bool triad_cable_has_lanes(const struct triad_cable *cable);

/* What is wrong with it, by its own alarm limits. */
enum triad_cable_fault {
	TRIAD_CABLE_FINE,
	TRIAD_CABLE_HOT,
	TRIAD_CABLE_DARK, /* a lane receives too little light */
};

/* Its worst fault, with '*lane' (from 1), '*value' and '*limit', in degrees or in dBm.
 * 'is_up': the link is up; only then it should receive light. */
enum triad_cable_fault triad_cable_judge(const struct triad_cable *cable, bool is_up,
	unsigned *lane, double *value, double *limit);

/* "QSFP28", "OSFP"; "850 nm VCSEL", "copper"; or "unknown". */
const char *triad_cable_identifier(const struct triad_cable *cable);
const char *triad_cable_technology(const struct triad_cable *cable);

double triad_cable_celsius(uint16_t raw); /* of a signed value */
double triad_cable_volts(uint16_t raw);
double triad_cable_milliwatts(uint16_t raw);
/* -40 for no power at all, as instruments show it. */
double triad_cable_dbm(uint16_t raw);
double triad_cable_milliamperes(const struct triad_cable *cable, uint16_t raw);

#endif
