/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether this SM may, at this moment, change the state of ports.
 *
 * Model: facts in; yes or no out, with every reason for a no.  The facts are a copy.  A
 * caller reads the clock and asks again right before each action, so permission ends by
 * time alone, even if no thread notices.
 *
 * A permission carries the term of its lease.  An action that was planned in another
 * term is dropped, even if there is permission again.
 *
 * Document: [election-patent, "performs a configuration check"].
 * Thread-safety: functions without state. */
#ifndef TRIAD_PORTMGR_PERMISSION_H
#define TRIAD_PORTMGR_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The verdict of the operator's own check. */
enum triad_check {
	TRIAD_CHECK_OFF, /* no check is configured */
	TRIAD_CHECK_YES,
	TRIAD_CHECK_NO,
	TRIAD_CHECK_MISSING, /* configured, but there is no answer, or an old one */
};

/* Bits of reasons against. */
enum triad_permission_reason {
	TRIAD_PERMISSION_OFF = 1 << 0,       /* elections are off */
	TRIAD_PERMISSION_WITNESS = 1 << 1,   /* votes only */
	TRIAD_PERMISSION_CUT_OFF = 1 << 2,   /* the transport does not work */
	TRIAD_PERMISSION_NO_QUORUM = 1 << 3, /* no majority of the cluster here */
	TRIAD_PERMISSION_BLACKLISTED = 1 << 4,
	TRIAD_PERMISSION_CHECK_NO = 1 << 5,
	TRIAD_PERMISSION_CHECK_MISSING = 1 << 6,
	TRIAD_PERMISSION_OLD_CONFIG = 1 << 7,   /* a newer generation is known */
	TRIAD_PERMISSION_OTHER_CONFIG = 1 << 8, /* same generation, other contents */
	TRIAD_PERMISSION_PORTS_DOWN = 1 << 9,   /* no local port in good state */
	TRIAD_PERMISSION_NOT_ELECTED = 1
		<< 10, /* another SM holds the lease, or none yet */
	TRIAD_PERMISSION_UNCONFIRMED = 1
		<< 11, /* membership changed since the last round */
	TRIAD_PERMISSION_EXPIRED = 1 << 12,    /* the deadline has passed */
	TRIAD_PERMISSION_NOT_MASTER = 1 << 13, /* OpenSM here is not the master */
	TRIAD_PERMISSION_NOT_UP = 1 << 14,     /* it is, but the subnet is not up yet */
};
#define TRIAD_PERMISSION_N_REASONS 15

struct triad_permission_facts {
	bool is_on, is_witness, is_connected, is_quorate, is_blacklisted;
	enum triad_check check;
	bool has_old_config, has_other_config;
	bool has_good_port;
	bool is_holder;    /* of the lease */
	bool has_run_out;  /* it was the last holder, and its lease ran out */
	bool is_confirmed; /* by a round that began after the last change of members */
	uint64_t deadline_us; /* of the lease; CLOCK_BOOTTIME */
	bool is_sm_master, is_subnet_up;
	uint64_t term;
	/* As in struct triad_permission. */
	uint64_t by_hand_view;
	uint32_t n_votes_by_hand;
};

struct triad_permission {
	bool is_given;
	uint32_t reasons; /* bits of triad_permission_reason; 0 when it is given */
	uint64_t term;    /* of the lease; 0 when it is not given */
	uint64_t deadline_us;
	/* Also when it is not given: the view whose missing members the operator has
	 * confirmed to be down, and how many votes count as a majority in it; 0:
	 * none. */
	uint64_t by_hand_view;
	uint32_t n_votes_by_hand;
};

struct triad_permission triad_permission_judge(
	const struct triad_permission_facts *facts, uint64_t now_us);

/* The same for an action planned in 'term': not given in another. */
struct triad_permission triad_permission_judge_term(
	const struct triad_permission_facts *facts, uint64_t term, uint64_t now_us);

/* Whether this SM is able to hold the lease: without the reasons that concern
 * others. */
bool triad_permission_is_able(const struct triad_permission_facts *facts);

/* Of one bit: a word for programs ("no_quorum"); what it means and what to do. */
const char *triad_permission_word(unsigned reason_bit);
const char *triad_permission_text(unsigned reason_bit);

#endif
