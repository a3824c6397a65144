/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Silences: which alerts shall wake nobody, because an administrator knows of them.
 *
 * Model: a silence is about a place, or about one alert:
 *
 *     place    a node, a port, or all nodes of a pattern, for a time that may begin later
 *              (maintenance).  It matches alerts with an end there; a silence of a single
 *              port does not match alerts about its whole node, and none matches
 *              what is the whole fabric's and only shows there: routes.
 *     alert    an acknowledgement.  It ends with the alert, or when the alert gets worse:
 *              from a counter to a link that is down, or to critical; or when it comes to
 *              be about routes, too.
 *
 * Times are those of the wall clock, because silences outlive a restart.  There is no
 * hidden clock: triad_silences_advance() sets the time.
 *
 * Thread-safety: none; the caller excludes readers from writers.
 * Memory: the structure, of some 80,000 octets. */
#ifndef TRIAD_PERFMGR_SILENCES_H
#define TRIAD_PERFMGR_SILENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/node_choice.h"
#include "perfmgr/watch/alert_text.h"

#define TRIAD_SILENCES_MAX 128u
#define TRIAD_SILENCE_BY_SIZE 64
#define TRIAD_SILENCE_REASON_SIZE 160
#define TRIAD_SILENCE_PLACE_SIZE (2 * TRIAD_ALERT_PLACE_SIZE) /* of both ends */

struct triad_silence {
	uint32_t id;                /* from 1 on, in the order they were given */
	uint64_t from_us, until_us; /* wall clock */
	bool is_ack;                /* of one alert */
	bool has_begun;             /* it stays true when the clock is set back */
	/* Of a place.  The members about one fabric ('n', 'first', 'end_port') are not
	 * used. */
	struct triad_node_choice choice;
	/* Of an alert when it was acknowledged: its first end, kind and severity. */
	uint64_t node_guid;
	uint8_t port; /* TRIAD_ALERT_NO_PORT: the node as a whole */
	uint8_t kind; /* enum triad_alert_kind */
	uint8_t severity;
	/* For people, printable UTF-8: */
	char place[TRIAD_SILENCE_PLACE_SIZE];
	char by[TRIAD_SILENCE_BY_SIZE];
	char reason[TRIAD_SILENCE_REASON_SIZE]; /* "": none was given */
};

/* All zeros at first. */
struct triad_silences {
	uint32_t n;
	uint32_t last_id;
	uint64_t version; /* grows when a silence comes, begins or goes */
	uint64_t wall_us; /* of the last triad_silences_advance() */
	struct triad_silence list[TRIAD_SILENCES_MAX]; /* by number */
};

/* Sets the time: removes what is over, begins what is due.  Returns when the next
 * silence begins or ends; UINT64_MAX: there is none. */
uint64_t triad_silences_advance(struct triad_silences *silences, uint64_t wall_us);

/* Adds a copy; number 0 gets the next number.  Returns the number; 0 when there are too
 * many, or another silence has it. */
uint32_t triad_silences_add(
	struct triad_silences *silences, const struct triad_silence *silence);

/* Returns false when there is none of that number. */
bool triad_silences_remove(struct triad_silences *silences, uint32_t id);

const struct triad_silence *triad_silences_get(
	const struct triad_silences *silences, uint32_t id);

/* Whether it fits an alert or an end, begun or not.  For an end, an acknowledgement
 * fits whatever is wrong there. */
bool triad_silence_fits(
	const struct triad_silence *silence, const struct triad_alert *alert);
bool triad_silence_fits_end(const struct triad_silence *silence, uint64_t node_guid,
	const char *node_name, uint8_t port);

/* Whether any silence that has begun fits an end. */
bool triad_silences_fit_end(const struct triad_silences *silences, uint64_t node_guid,
	const char *node_name, uint8_t port);

/* The begun silence that silences an alert for longest; NULL: none. */
const struct triad_silence *triad_silences_find(
	const struct triad_silences *silences, const struct triad_alert *alert);

/* The alert is raised, got worse or has ended: removes acknowledgements that end by
 * that. */
void triad_silences_note(
	struct triad_silences *silences, const struct triad_alert *alert);

/* Makes the acknowledgement of an alert, without number, times, 'by' and 'reason'. */
struct triad_silence triad_silence_of_alert(const struct triad_alert *alert);

#endif
