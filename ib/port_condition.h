/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The condition of a port: its state in one word, by PortState, PortPhysicalState, what the
 * fabric has at its far end, and whether it ever had a link.
 *
 * Model: a port without a far end is no use by its PortState: "down" is a free port, one that
 * somebody disabled, a cable that was pulled and a link that trains without end.  Its physical
 * state tells these apart.  A link that is up, of which the SM knows no far end, leads to
 * something that does not answer it.
 *
 * All that show a port, or say what to do about it, take the condition from here.
 *
 * Thread-safety: functions without state.
 * Source: IBA volume 1, 14.2.5.6 PortInfo. */
#ifndef TRIAD_IB_PORT_CONDITION_H
#define TRIAD_IB_PORT_CONDITION_H

#include <stdbool.h>

#include "triad/fabric.h"

/* Of two ends of a link that is down, the one with the lower condition tells more, unless it is
 * unknown or free. */
enum triad_port_condition {
	TRIAD_CONDITION_UNKNOWN, /* the source of the fabric does not tell */
	TRIAD_CONDITION_FREE,    /* it polls, and had no link as far as is known */
	TRIAD_CONDITION_DISABLED,
	TRIAD_CONDITION_TRAINING, /* it trains, or recovers: there is a signal */
	TRIAD_CONDITION_SILENT, /* its link is up; what is there does not answer the SM */
	TRIAD_CONDITION_SLEEPING,
	TRIAD_CONDITION_POLLING, /* no signal, and it had a link */
	TRIAD_CONDITION_INIT, /* its link is up; the SM has not activated it, or holds it */
	TRIAD_CONDITION_ARMED,
	TRIAD_CONDITION_ACTIVE,
	TRIAD_N_CONDITIONS
};

/* The condition of a port (an index in 'fabric').  'had_link': its link is known to have been
 * up. */
enum triad_port_condition triad_port_condition(
	const struct triad_fabric *fabric, uint32_t port, bool had_link);

/* The same of a port that had a link, by its node; TRIAD_CONDITION_UNKNOWN if the fabric does not
 * have it. */
enum triad_port_condition triad_port_condition_at(
	const struct triad_fabric *fabric, uint64_t node_guid, uint8_t number);

/* Of the two ends of a link that is down, the condition that tells more about it. */
enum triad_port_condition triad_port_condition_of_link(
	enum triad_port_condition one, enum triad_port_condition other);

/* "free", "silent", ...; what a fault says about such a port, as "the port is disabled"; and
 * what to do.  NULL: nothing but that the link is down, and what a fault of that kind advises. */
const char *triad_port_condition_name(enum triad_port_condition condition);
const char *triad_port_condition_text(enum triad_port_condition condition);
const char *triad_port_condition_advice(enum triad_port_condition condition);
/* What to do about a link that is down whose ports are so: never NULL. */
const char *triad_port_condition_link_advice(enum triad_port_condition condition);

/* All names in the order of the conditions, but "all" for the unknown; ended by NULL. */
extern const char *const triad_port_condition_choices[TRIAD_N_CONDITIONS + 1];

#endif
