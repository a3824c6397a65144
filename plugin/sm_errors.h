/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What OpenSM could not do, as its log says: what it was told by opensm.conf and other files,
 * and did not do, and devices that keep it from its work.
 *
 * Model: lines of the log go in, in their order.  A line of level ERROR whose words are known
 * is an error of that kind, which lasts until a heavy sweep has brought the subnet up
 * without it.  What OpenSM says at its start alone lasts until it starts again.  Other
 * lines of that level are counted.
 *
 * Thread-safety: none; pure.  Source: OpenSM's messages, 3.3.21 to 3.3.24. */
#ifndef TRIAD_PLUGIN_SM_ERRORS_H
#define TRIAD_PLUGIN_SM_ERRORS_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/severity.h"

enum triad_sm_error {
	TRIAD_SM_ERROR_DUPLICATE_GUID,
	TRIAD_SM_ERROR_PARTITIONS,   /* the default partition is all there is */
	TRIAD_SM_ERROR_NO_ROUTES,    /* no routing engine succeeded */
	TRIAD_SM_ERROR_ENGINE,       /* one that there is not */
	TRIAD_SM_ERROR_ROUTING_FILE, /* of roots, orders, weights... */
	TRIAD_SM_ERROR_QOS_POLICY,   /* OpenSM's own */
	TRIAD_SM_ERROR_PLUGIN,       /* another one, or an option of one */
	TRIAD_SM_ERROR_FILE,         /* any other */
	TRIAD_SM_N_ERRORS
};

#define TRIAD_SM_ERROR_TEXT_SIZE 240

struct triad_sm_error_state {
	bool is_now;       /* since the subnet was up last, or at the start */
	bool was_before;   /* in the sweep before that */
	uint64_t since_us; /* monotonic */
	uint32_t n;        /* lines since then */
	char text
		[TRIAD_SM_ERROR_TEXT_SIZE]; /* of the first of the last sweep with one */
};

struct triad_sm_errors {
	struct triad_sm_error_state of[TRIAD_SM_N_ERRORS];
	/* Others, since the subnet was up last, and in the sweep before that. */
	uint32_t n_others_now, n_others;
	enum triad_sm_error last; /* of the last line, which the next may continue;
				   * TRIAD_SM_N_ERRORS: none */
	bool is_continued;        /* in the text kept of it */
	char reason[TRIAD_SM_ERROR_TEXT_SIZE]; /* the last parse error of partitions */
};

/* Begins as zeros with this. */
void triad_sm_errors_init(struct triad_sm_errors *errors);

/* Takes one line, without its end.  Returns the kind that begins with it, else
 * TRIAD_SM_N_ERRORS. */
enum triad_sm_error triad_sm_errors_take(
	struct triad_sm_errors *errors, const char *line, uint64_t now_us);

/* A heavy sweep has brought the subnet up; all its lines have been taken. */
void triad_sm_errors_up(struct triad_sm_errors *errors);

/* Whether errors of this kind last. */
bool triad_sm_errors_has(
	const struct triad_sm_errors *errors, enum triad_sm_error kind);

/* How many kinds last. */
unsigned triad_sm_errors_count(const struct triad_sm_errors *errors);

enum triad_severity triad_sm_error_severity(enum triad_sm_error kind);
/* What it means for the fabric; and what to do. */
const char *triad_sm_error_meaning(enum triad_sm_error kind);
const char *triad_sm_error_advice(enum triad_sm_error kind);

/* The GUID and the two places (node GUIDs and ports) of a text of DUPLICATE_GUID.  False if
 * it does not have them. */
struct triad_sm_duplicate {
	uint64_t guid, at[2];
	unsigned ports[2];
};
bool triad_sm_errors_duplicate(const char *text, struct triad_sm_duplicate *duplicate);

#endif
