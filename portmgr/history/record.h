/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A record of one action on a port, intended or done, with its reason; and its line in
 * a journal and on the wire.
 *
 * The intent is recorded before anything is sent, the outcome afterwards.  Only the
 * holder of the lease writes records, and numbers them within its term.  So (term,
 * number) orders the records of all writers.
 *
 * The line, its fields separated by a space, ends in a checksum, so that a line that
 * was torn or altered is noticed:
 *
 *     TERM NUMBER TIME WRITER NODE PORT ACTION OUTCOME REASON REMOTE "TEXT" CHECKSUM
 *     7340033 12 2026-01-02T03:04:05.678901Z 0x... 0x... 3 disable done miswired 0x...
 *         "leaf-01 port 3 leads to ..." 1f2e3d4c
 *
 * In the text, quotes and backslashes are escaped by a backslash; control characters
 * and invalid UTF-8 are replaced by '?'.  The checksum is the CRC-32, in hexadecimal,
 * of all before the space in front of it.  Each record has exactly one valid line; the
 * parser refuses any other form.
 *
 * Thread-safety: no state. */
#ifndef TRIAD_PORTMGR_RECORD_H
#define TRIAD_PORTMGR_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_RECORD_TEXT_SIZE 200
#define TRIAD_RECORD_LINE_SIZE 640                /* with its 0, without a line's end */
#define TRIAD_RECORD_MAX_TERM (UINT64_C(1) << 63) /* and number */

enum triad_port_action {
	TRIAD_ACTION_DISABLE = 1,
	TRIAD_ACTION_ENABLE,
	TRIAD_ACTION_BOUNCE,  /* an active link is taken down to be tested */
	TRIAD_ACTION_TEST,    /* a test begins; the port is held back */
	TRIAD_ACTION_ADMIT,   /* a port that passed its test may become active */
	TRIAD_ACTION_FAIL,    /* a test failed */
	TRIAD_ACTION_RELEASE, /* by hand: earlier records of the port are void */
	TRIAD_ACTION_TAKE,    /* its link is held out of routing (heal/course.h) */
	TRIAD_ACTION_RETURN,  /* and no longer */
	TRIAD_N_ACTIONS
};

enum triad_outcome {
	TRIAD_OUTCOME_INTENDED = 1, /* the outcome is not known (yet) */
	TRIAD_OUTCOME_DONE,
	TRIAD_OUTCOME_REFUSED,    /* the switch answered with a status */
	TRIAD_OUTCOME_UNANSWERED, /* the switch did not answer */
	TRIAD_OUTCOME_DROPPED, /* nothing was sent: no permission, no route, or another fabric */
	TRIAD_N_OUTCOMES
};

enum triad_port_reason {
	TRIAD_REASON_EXPECTED = 1, /* the configuration says so */
	TRIAD_REASON_MISWIRED,
	TRIAD_REASON_PRESENCE, /* of the test: no link, or not as wide or fast */
	TRIAD_REASON_QUALITY,
	TRIAD_REASON_APPLICATION,
	TRIAD_REASON_TIMER,
	TRIAD_REASON_BY_HAND,
	TRIAD_REASON_HEAL, /* statistics say that the link is bad */
	TRIAD_N_REASONS
};

struct triad_record {
	uint64_t term, number;
	uint64_t at_us;  /* since 1970, by the writer's clock: for people alone */
	uint64_t writer; /* the port GUID of its SM */
	uint64_t node_guid;
	uint64_t remote_guid; /* of the port at the far end; 0: not known */
	uint8_t port;
	uint8_t action, outcome, reason;
	char text[TRIAD_RECORD_TEXT_SIZE]; /* printable UTF-8, for people */
};

/* Changes the record to what the parser would read from its line. */
void triad_record_clean(struct triad_record *record);

/* Negative, 0 or positive: 'a' is older than, the same as, or newer than 'b'.
 * Different records with the same term and number should not exist; they have an order,
 * too, the same on all members. */
int triad_record_compare(const struct triad_record *a, const struct triad_record *b);

/* Writes the line, without an end; returns its length. */
size_t triad_record_format(
	const struct triad_record *record, char line[TRIAD_RECORD_LINE_SIZE]);

/* 'line' is 'length' octets, without an end.  Returns 0; or EINVAL, if it is not a
 * record's line: then 'record' is undefined. */
int triad_record_parse(const char *line, size_t length, struct triad_record *record);

/* "disable", "intended", "miswired"; "?" for none. */
const char *triad_port_action_name(unsigned action);
const char *triad_outcome_name(unsigned outcome);
const char *triad_port_reason_name(unsigned reason);

#endif
