/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The test of a link between switches with data: packets on a data VL, there and back.
 *
 * SMPs travel on VL 15, which has no flow control; so a link may carry them all and no data.  Here
 * packets to a LID that no port has are led to one end, over the link, and end at the other: that
 * switch has no entry for the LID.  What left by the one end and what came to the other their own
 * counters say, so what is lost elsewhere does not count against the link.  After each burst:
 *
 *     all left, and all that left came                  good so far
 *     fewer came than left                              it loses packets: bad; where the count is
 *                                                       below the burst, twice in a row: else
 *                                                       others may have set it back to 0
 *     fewer left than were sent, and the end dropped    twice in a row: it takes no data, bad
 *     fewer left than were sent, and it dropped none    they did not come to it: not known
 *
 * But for the first, that counts only when it is so for some seconds: a switch keeps a packet that it
 * can't send for as long as its lifetime there lasts [IBA 7.9.4, 18.2.5.4; OpenSM has 1 s], and
 * agents tell counters late.  The first burst of a way is small: behind a link that takes none these
 * packets keep others waiting until then.
 *
 * As many bits go each way as say, with a confidence of 95 %, that the bit error rate of packets is
 * below the wanted one (-ln 0.05 / BER).  Errors that lose no packet are not looked at: symbols are
 * counted also while no packet is on the line.
 *
 * Model: one request at a time comes out; the caller carries it out and reports what came of it.
 * What is not known is tried again, ever more rarely: that says nothing about the link, so there is
 * no verdict.  Bursts that were good before stay so.  A way over which packets can't be led, for a
 * reason that does not pass, is not known.
 *
 * Thread-safety: one thread.  Memory: none but the structure; it may be copied.  Times: of any clock
 * that does not go back. */
#ifndef TRIAD_HEAL_DATA_TEST_H
#define TRIAD_HEAL_DATA_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A MAD with its headers and checksums [IBA 7.7, 9.2, 9.6: LRH 8, BTH 12, DETH 8, ICRC 4, VCRC 2]. */
#define TRIAD_DATA_TEST_PACKET_BITS ((256u + 34u) * 8u)
#define TRIAD_DATA_TEST_BURST 128u

enum triad_data_test_request {
	TRIAD_DATA_TEST_WAIT,
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

/* What the ends have counted, read in this order.  So packets of others on the link, as SMPs, make
 * more come than left, never fewer. */
struct triad_data_test_counts {
	uint64_t came_before; /* packets, by the end that they come to */
	/* By the end that they leave by; 'dropped' may be UINT64_MAX: not known. */
	uint64_t left, dropped;
	uint64_t came; /* by the other one, again */
	unsigned
		are_wide; /* which attributes these are of: unlike ones can't be compared */
};

struct triad_data_test_way {
	uint8_t verdict; /* enum triad_data_test_verdict */
	uint64_t n_sent, n_left, n_came;
	const char *why; /* it is not good, or was tried in vain last; NULL else */
};

struct triad_data_test {
	uint64_t n_wanted; /* packets each way */
	unsigned way;    /* 0: from the first end to the second; 2: both are through */
	unsigned n_vain; /* tries in a row that said nothing */
	bool is_led, must_clear, has_before;
	bool has_failed;    /* the last try: once more, and the link is bad */
	uint32_t n_sent;    /* since 'before' */
	uint64_t settle_us; /* until then they may still be on their way */
	uint64_t next_us;   /* nothing is to be done before */
	struct triad_data_test_counts before;
	struct triad_data_test_way ways[2];
};

/* 'ber': above 0. */
void triad_data_test_begin(struct triad_data_test *test, double ber);

enum triad_data_test_request triad_data_test_request(
	const struct triad_data_test *test, uint64_t now_us, uint32_t *burst);

/* The packets are led, or why not; 'is_final': that does not pass. */
void triad_data_test_led(
	struct triad_data_test *test, const char *why, bool is_final, uint64_t now_us);
void triad_data_test_cleared(struct triad_data_test *test);
/* Nothing is led for now, for that reason. */
void triad_data_test_waits(struct triad_data_test *test, const char *why);
/* So many were sent. */
void triad_data_test_sent(struct triad_data_test *test, uint32_t n, uint64_t now_us);
/* NULL: a counter could not be read. */
void triad_data_test_read(struct triad_data_test *test,
	const struct triad_data_test_counts *counts, uint64_t now_us);

/* When both ways are through, or one is bad, and nothing is led: bad if one is; good if both are;
 * else not known. */
enum triad_data_test_verdict triad_data_test_verdict(
	const struct triad_data_test *test);

#define TRIAD_DATA_TEST_TEXT_SIZE 152
/* For people: what will be sent, is, or was, and what came of it.  "There" is from the first end to
 * the second. */
void triad_data_test_text(const struct triad_data_test *test, char *text, size_t size);

#endif
