/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What moved at a switch: its ports as they are, beside what was read last and what OpenSM
 * has.
 *
 * Model: a port has bounced if it was up and is down; or if it was ACTIVE and is in INIT,
 * since a link that is back begins there.  Up is what was read last, or what OpenSM has of
 * it: OpenSM makes ports ACTIVE, so at the end of a heavy sweep what it has as ACTIVE
 * counts as read.
 *
 * OpenSM must be told if a port that is not held differs from what it has.  While it sweeps, what
 * it has changes by itself; then it must be told of what has changed since the last reading,
 * and the owner reads once more when the sweep is through.  OpenSM knows of a difference that stays
 * although two sweeps have ended since it was told, one of which began after that; then it is
 * told no more.
 *
 * Thread-safety: none.  Memory: one struct for each switch that was read. */
#ifndef TRIAD_DAMP_PORTS_H
#define TRIAD_DAMP_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_DAMP_MAX_PORTS 255u

enum triad_damp_state {
	TRIAD_DAMP_UNKNOWN,
	TRIAD_DAMP_DOWN,
	TRIAD_DAMP_INIT, /* or ARMED */
	TRIAD_DAMP_ACTIVE,
};

/* Of PortInfo:PortState. */
enum triad_damp_state triad_damp_state_of(uint8_t port_state);

/* Of one switch, by port number.  Zeros at first. */
struct triad_damp_switch {
	uint32_t n_sweeps;                      /* that had ended at the last reading */
	uint8_t seen[TRIAD_DAMP_MAX_PORTS + 1]; /* enum triad_damp_state */
	uint8_t told[TRIAD_DAMP_MAX_PORTS + 1]; /* what OpenSM was told of last */
	uint32_t told_n_sweeps;                 /* that had ended then */
};

struct triad_damp_reading {
	uint8_t n_ports;      /* external ports, from 1 */
	bool is_sweeping;     /* OpenSM sweeps heavily */
	uint32_t n_sweeps;    /* heavy sweeps that have ended */
	const uint8_t *found; /* enum triad_damp_state of each port number */
	const uint8_t *has;   /* the same, OpenSM's */
	const bool *is_held;
};

struct triad_damp_moves {
	unsigned n_bounced;
	uint8_t bounced[TRIAD_DAMP_MAX_PORTS];
	bool must_tell;
	bool has_other; /* a port that is not held is otherwise than it was */
};

void triad_damp_compare(struct triad_damp_switch *of,
	const struct triad_damp_reading *reading, struct triad_damp_moves *moves);

#endif
