/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a member votes for a claim: lease_vote() of portmgr/election/election_lease.c,
 * for both models.  A vote is on disk: voted_term, voted_for; a promise is in memory.
 *
 * UNDO_... switches a rule off (see 'run'). */

byte term[N];       /* the highest that the member knows */
byte voted_term[N]; /* 0: none */
byte voted_for[N] = NONE;
byte promise_to[N] = NONE;

/* Before it a model has:
 *     N, NONE         how many members; none of them
 *     promises(i)     whether the last promise has not ended
 *     may_vote(i)     whether promises from before the start have ended
 *     agrees(i, j)    whether i and j have the same settings
 *     has_disk(i)     whether it can write a new vote
 *     promise(i, to)  makes the promise, or a longer one */

#define has_promised_other(i, to) (promises(i) && promise_to[i] != (to))
#define is_on_disk(i, to, t) (voted_term[i] == (t) && voted_for[i] == (to))
#define is_term_new(i, to, t) ((t) > voted_term[i] || is_on_disk(i, to, t))
#define is_claim_new(i, to, t) (is_term_new(i, to, t) && (t) <= term[i])
#define can_vote(i, to, t) \
	(is_claim_new(i, to, t) && may_vote(i) && agrees(i, to) && \
		(has_disk(i) || is_on_disk(i, to, t)))

/* Who says that it holds the lease gets a promise in memory of who can't vote for it. */
#ifdef UNDO_STARTED
#define follows_while_starting(i) may_vote(i)
#else
#define follows_while_starting(i) true
#endif
#ifdef UNDO_DIFFERS
#define follows_other(i, to) agrees(i, to)
#else
#define follows_other(i, to) true
#endif
#ifdef UNDO_DISK
#define follows_without_disk(i, to, t) (has_disk(i) || is_on_disk(i, to, t))
#else
#define follows_without_disk(i, to, t) true
#endif
#ifdef UNDO_HIGHER
#define follows_low_claim(i, to, t) is_claim_new(i, to, t)
#else
#define follows_low_claim(i, to, t) true
#endif
#define may_follow(i, to, t) \
	(follows_while_starting(i) && follows_other(i, to) && \
		follows_without_disk(i, to, t) && follows_low_claim(i, to, t))

inline write_vote(writer, whom, number)
{
	promise(writer, whom);
	/* A vote that is on disk is never given to another member. */
	assert(voted_term[writer] < number || is_on_disk(writer, whom, number));
	voted_term[writer] = number;
	voted_for[writer] = whom
}

/* 'claimant' asks for the lease of term 'asked_for'; 'grant' becomes the term that is
 * granted, or 0. */
inline vote(voter, claimant, asked_for, says_holder, grant)
{
	grant = 0;
	if
	:: asked_for == 0 || has_promised_other(voter, claimant) -> skip
	:: else ->
		if
		:: can_vote(voter, claimant, asked_for) ->
			write_vote(voter, claimant, asked_for);
			grant = asked_for
		:: else ->
			if
			:: says_holder && may_follow(voter, claimant, asked_for) ->
				promise(voter, claimant)
			:: else -> skip
			fi;
			/* The answer has a term above the claim. */
			if
			:: !is_claim_new(voter, claimant, asked_for) &&
					term[voter] == asked_for -> term[voter]++
			:: else -> skip
			fi
		fi
	fi
}
