/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is known against a link or a node: plain data, of whoever found it. */
#ifndef TRIAD_HEAL_FINDING_H
#define TRIAD_HEAL_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/link.h"

#define TRIAD_HEAL_TEXT_SIZE 192

/* What is wrong.  Links first, the worst kind first; then nodes. */
enum triad_heal_kind {
	TRIAD_HEAL_BIT_ERRORS, /* a bit error rate is worse than its target */
	TRIAD_HEAL_ERRORS,     /* a counter of errors is over its threshold */
	TRIAD_HEAL_FLAPS,      /* it goes down and comes back */
	TRIAD_HEAL_HOT,        /* a module is above its own alarm */
	TRIAD_HEAL_DARK,       /* a module gets too little light */
	TRIAD_HEAL_SLOW,       /* width or speed is below what it should be */
	TRIAD_HEAL_RESTARTS,   /* a node */
	TRIAD_HEAL_SILENT,     /* a node whose agent does not answer */
	TRIAD_HEAL_N_KINDS
};

/* A statement about one end of a link, or about a node. */
struct triad_heal_finding {
	uint8_t kind;      /* enum triad_heal_kind: says whether it is about a link */
	bool is_sure;      /* a test decided, or the device says so */
	uint32_t port;     /* index in the fabric's ports; not used for a node */
	uint32_t node;     /* index in the fabric's nodes */
	double times;      /* how many times over its limit; 0: not to be compared */
	uint64_t since_us; /* monotonic */
	uint32_t silence;  /* number of its silence; 0: none */
	/* Of a slow link: what it should be; else zeros. */
	struct triad_link_rate wanted;
	char text[TRIAD_HEAL_TEXT_SIZE]; /* in numbers, for people */
};

static inline bool triad_heal_is_of_node(unsigned kind)
{
	return kind >= TRIAD_HEAL_RESTARTS;
}

#endif
