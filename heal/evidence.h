/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Evidence against links and nodes, taken from alerts (perfmgr/watch/alerts.h): nothing is
 * counted or tested a second time.
 *
 * Model: findings of active alerts that were raised.  Of a link that can be healed speak
 *
 *   bit errors  a bit error rate worse than its target.  Sure: its test decided (ber.h)
 *   errors      counters and details of what a receiver could not read.  Not sure: a threshold is
 *               no test, one event may be over it
 *   flaps       LinkDownedCounter, and links that are lost again and again.  Sure from
 *               TRIAD_HEAL_MANY_TIMES on in one alert, or in one sweep; for what is less, a
 *               restart would be enough
 *   hot, dark   what a module says of itself.  Sure
 *   slow        a link that is slower than it should be.  Sure, unless more than some links
 *               alike are: these have one reason, which is no link's
 *
 * and of a node that it left the fabric so many times, or that its agent does not answer.  What
 * lasts no longer, while its alert still does, is not sure, but for flaps.
 *
 * No evidence: errors that began elsewhere (PortRcvRemotePhysicalErrors), errors in what a
 * sender wrote (malformed packets, relay, constraints, VL15Dropped), waiting and discards, which
 * are of congestion, routes, requests, and faults of a device as a whole.  A link that is down
 * is out of routing, whatever is known of it.
 *
 * Links of one node that flap, not for sure, all that it has (two or more) or
 * TRIAD_HEAL_TOGETHER, are a node that comes and goes: one finding about it.
 *
 * Silenced alerts are evidence: a silence says who shall be woken.
 *
 * Thread-safety: one thread.
 * Memory: TRIAD_HEAL_MAX_FINDINGS findings of some 250 octets at most, allocated as needed. */
#ifndef TRIAD_HEAL_EVIDENCE_H
#define TRIAD_HEAL_EVIDENCE_H

#include "heal/finding.h"
#include "perfmgr/watch/alerts.h"

#define TRIAD_HEAL_MANY_TIMES 3.0f
#define TRIAD_HEAL_TOGETHER 4u
#define TRIAD_HEAL_MAX_FINDINGS 16384u

/* All zeros, but for the fabric, which is borrowed. */
struct triad_heal_evidence {
	const struct triad_fabric *fabric;
	struct triad_heal_finding *findings;
	uint32_t n, room;
	uint32_t n_left_out; /* over TRIAD_HEAL_MAX_FINDINGS */
	bool is_short;       /* of memory: some are missing */
};

/* Adds what an alert says. */
void triad_heal_evidence_add(
	struct triad_heal_evidence *evidence, const struct triad_alert *alert);
/* After the last one: makes findings about nodes of flaps. */
void triad_heal_evidence_end(struct triad_heal_evidence *evidence);
void triad_heal_evidence_clear(struct triad_heal_evidence *evidence);

#endif
