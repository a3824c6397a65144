/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Facts: the numbers and texts of a status struct, described once for every output.
 *
 * Model: a static table has one row for each fact of one struct: its name in JSON, its
 * label for people, its metric for Prometheus, and the member that holds it.  'status'
 * (service/command/report.h) and /metrics (service/own_metrics.h) walk the table in its
 * order and skip the rows that have nothing for them.  A fact that stands in different
 * places in the two has a row for each.  The last row is TRIAD_FACTS_END.
 *
 *     #define STATUS struct triad_door_status
 *     const struct triad_fact triad_door_facts[] = {
 *             {"opened", "times opened", TRIAD_FACT(UINT, n_opened),
 *                     TRIAD_COUNTER("triad_door_opened", "Times that it opened.")},
 *             TRIAD_FACTS_END,
 *     };
 *     #undef STATUS
 *
 * Thread-safety: functions without state.  Memory: no allocation. */
#ifndef TRIAD_SERVICE_FACT_H
#define TRIAD_SERVICE_FACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/formats/metrics.h"
#include "triad/clock.h"

enum triad_fact_kind {
	TRIAD_FACT_END,
	TRIAD_FACT_UINT,   /* unsigned, of any size; bool */
	TRIAD_FACT_US,     /* microseconds; seconds for Prometheus, as the next two */
	TRIAD_FACT_MS,     /* microseconds, shown as milliseconds */
	TRIAD_FACT_NS,     /* nanoseconds */
	TRIAD_FACT_OCTETS, /* MB for people */
	TRIAD_FACT_TEXT,   /* char[]; "" is none */
	TRIAD_FACT_ERROR,  /* int, an errno, shown in words; 0 is none */
	TRIAD_FACT_WHEN,   /* monotonic microseconds, shown as wall time; 0 is never */
};

struct triad_fact_member {
	uint8_t kind; /* enum triad_fact_kind */
	uint8_t size; /* of a number, octets */
	uint16_t offset;
};

struct triad_fact {
	const char *name;  /* in JSON; NULL: for Prometheus alone */
	const char *label; /* for people */
	struct triad_fact_member member;
	struct triad_fact_member plus[2]; /* numbers to add to it, if any */
	const char *unit;                 /* for people; NULL: what 'kind' says */
	bool is_trouble;                  /* for people, a number is left out at 0 */
	struct triad_fact_metric {
		const char *name, *help; /* see struct triad_metric; NULL: none */
		enum triad_metric_type type;
		const char *label, *value; /* one label; NULL: none */
	} metric;
};

/* A member of STATUS, which the table's file defines. */
#define TRIAD_FACT_MEMBER(kind, at)                                                    \
	{                                                                              \
		TRIAD_FACT_##kind, (uint8_t)sizeof(((const STATUS *)NULL)->at),        \
			offsetof(STATUS, at)                                           \
	}
#define TRIAD_FACT(kind, at) .member = TRIAD_FACT_MEMBER(kind, at)
#define TRIAD_FACT_PLUS(...) .plus = {__VA_ARGS__}
#define TRIAD_COUNTER(metric_name, text)                                               \
	.metric = {.type = TRIAD_METRIC_COUNTER, .name = (metric_name), .help = (text)}
#define TRIAD_GAUGE(metric_name, text)                                                 \
	.metric = {.type = TRIAD_METRIC_GAUGE, .name = (metric_name), .help = (text)}
#define TRIAD_FACTS_END                                                                \
	{                                                                              \
		.name = NULL                                                           \
	}

/* The value of a number in 'status', in its own unit. */
uint64_t triad_fact_uint(const struct triad_fact *fact, const void *status);

/* The same in Prometheus' unit; 0 for a time that never was. */
double triad_fact_value(const struct triad_fact *fact, const void *status);

/* The value of a text, an error or a time in 'status', NULL when there is none; in
 * 'room' or borrowed from 'status'. */
const char *triad_fact_text(const struct triad_fact *fact, const void *status,
	char room[TRIAD_CLOCK_TEXT_SIZE]);

#endif
