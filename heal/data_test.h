/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The test of a link between switches with data: packets on a data VL, one way after the other.
 *
 * SMPs travel on VL 15, which has no flow control; so a link may carry them all and no data.  Here
 * packets to a LID that no port has are led to one end, over the link, and end at the other: that
 * switch has no entry for the LID.  What left by the one end and what came to the other their own
 * counters say, so what is lost elsewhere does not count against the link:
 *
 *     fewer came than left, or errors were counted     the link is bad
 *     fewer left than were sent, and the end dropped   it takes no data: bad
 *     fewer left than were sent, and it dropped none   they did not come to it: not known
 *
 * All bits must come: as many of them as say, with a confidence of 95 %, that the bit error rate is
 * below the wanted one (-ln 0.05 / BER).  The first packets are few: behind a link that takes none
 * they would keep others waiting until their lifetime in the switch is over.
 *
 * Model: one request at a time comes out; the caller carries it out and reports what came of it.
 * What is not known is tried again some times; then that way is not known, which is not bad.
 *
 * Thread-safety: one thread.  Memory: none but the structure; it may be copied. */
#ifndef TRIAD_HEAL_DATA_TEST_H
#define TRIAD_HEAL_DATA_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A MAD with its headers and checksums [IBA 7.7, 9.2, 9.6: LRH 8, BTH 12, DETH 8, ICRC 4, VCRC 2]. */
#define TRIAD_DATA_TEST_PACKET_BITS ((256u + 34u) * 8u)
#define TRIAD_DATA_TEST_BURST 128u

enum triad_data_test_request {
	TRIAD_DATA_TEST_LEAD,  /* lead packets over the link */
	TRIAD_DATA_TEST_READ,  /* the counters of both ends */
	TRIAD_DATA_TEST_SEND,  /* 'burst' packets */
	TRIAD_DATA_TEST_CLEAR, /* lead them over it no longer */
	TRIAD_DATA_TEST_END,   /* nothing: there is a verdict */
};

enum triad_data_test_verdict {
	TRIAD_DATA_TEST_OPEN,
	TRIAD_DATA_TEST_GOOD,
	TRIAD_DATA_TEST_BAD,
	TRIAD_DATA_TEST_UNKNOWN,
};

/* What the ends have counted. */
struct triad_data_test_counts {
	uint64_t left, dropped; /* packets, by the end that they leave by */
	uint64_t came, errors;  /* by the other */
};

struct triad_data_test_way {
	uint8_t verdict; /* enum triad_data_test_verdict */
	uint64_t n_left, n_came;
	const char *why; /* it is not good; NULL else */
};

struct triad_data_test {
	uint64_t n_wanted; /* packets each way */
	unsigned way; /* 0: from the first end to the second; 2: both are through */
	unsigned n_tries;
	bool is_led, has_before, must_read;
	uint64_t n_sent; /* since 'before' */
	struct triad_data_test_counts before;
	struct triad_data_test_way ways[2];
};

/* 'ber': above 0. */
void triad_data_test_begin(struct triad_data_test *test, double ber);

enum triad_data_test_request triad_data_test_request(
	const struct triad_data_test *test, uint32_t *burst);

/* The packets can be led, or why not; 'is_final': that will not change. */
void triad_data_test_led(struct triad_data_test *test, const char *why, bool is_final);
void triad_data_test_cleared(struct triad_data_test *test);
/* So many were sent. */
void triad_data_test_sent(struct triad_data_test *test, uint32_t n);
/* NULL: a counter could not be read. */
void triad_data_test_read(
	struct triad_data_test *test, const struct triad_data_test_counts *counts);

/* When both ways are through, or one is bad, and nothing is led: bad if one is; good if both are;
 * else not known. */
enum triad_data_test_verdict triad_data_test_verdict(
	const struct triad_data_test *test);

#define TRIAD_DATA_TEST_TEXT_SIZE 160
/* For people: what will be sent, is, or was, and what came of it. */
void triad_data_test_text(const struct triad_data_test *test, char *text, size_t size);

#endif
