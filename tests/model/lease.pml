/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The lease: at most one member holds it, whatever fails.
 *
 * Model: what was sent may arrive at any time, any number of times, or never.  Any member
 * may claim, ask and give up at any time, whoever is master: so this holds for whatever the
 * election decides, and a member that pauses takes no step.  Members restart.
 *
 * Time is the order of ends, as in the proof at the top of election_lease.c: a question
 * gets old; a lease ends at the latest then, and a promise for it not before, nor does the
 * wait of a member that restarts.  Here a promise ends at once then: one that goes on only
 * forbids more.
 *
 * Bounds: TERMS, QUESTIONS of each member and of all, RESTARTS of all. */
#ifndef N
#define N 3 /* or 5 */
#endif
#define NONE N /* no member */
#ifndef TERMS
#define TERMS 2
#endif
#ifndef QUESTIONS
#define QUESTIONS 2
#endif
#ifndef QUESTIONS_OF_ALL
#define QUESTIONS_OF_ALL 4
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
#define at(i, q) ((i) * (QUESTIONS + 1) + (q))

/* --- questions, numbered from 1 --- */
byte asked[N];                     /* the last */
byte n_old[N];                     /* so many are old */
byte claims[N * (QUESTIONS + 1)];  /* what each asks for */
bool as_holder[N * (QUESTIONS + 1)];

/* --- a member --- */
byte claim[N];
bool is_open[N]; /* answers to its last question count */
byte grants[N];  /* to that question: the voters, bits */
bool is_holder[N];
byte lease_of[N]; /* the question that gave the lease */
byte promise_for[N]; /* the last question; 0: no promise */
byte wait_to[N] = NONE; /* after a restart: whose promise has to end */
byte wait_for[N];
bool is_full[N]; /* its disk */

byte newest, newest_holder = NONE; /* of all that were held */
byte n_restarts;
byte grant;
byte question; /* of the step */

#define promises(i) (promise_for[i] > 0)
#ifdef UNDO_WAIT
#define may_vote(i) true
#else
#define may_vote(i) (wait_for[i] == 0)
#endif
#define agrees(i, j) true
#define has_disk(i) !is_full[i]
#define is_old(i, q) ((q) <= n_old[i])

inline promise(giver, taker)
{
	if
	:: is_old(taker, question) && promise_to[giver] != taker -> end_promise(giver)
	:: is_old(taker, question) && promise_to[giver] == taker -> skip
	:: else ->
		promise_for[giver] = (promise_to[giver] == taker && promise_for[giver] > question ->
			promise_for[giver] : question);
		promise_to[giver] = taker
	fi
}

#include "vote.pml"

inline end_promise(ender)
{
	promise_to[ender] = NONE;
	promise_for[ender] = 0
}

inline close(i)
{
	is_open[i] = false;
	grants[i] = 0
}

inline give_up(i)
{
	claim[i] = 0;
	close(i);
	if
	:: promise_to[i] == i && is_holder[i] -> promise_for[i] = lease_of[i]
	:: promise_to[i] == i && !is_holder[i] -> end_promise(i)
	:: else -> skip
	fi;
	is_holder[i] = false;
	lease_of[i] = 0
}

inline make_claim(i)
{
	term[i]++;
	claim[i] = term[i];
	close(i)
}

inline ask(i)
{
	asked[i]++;
	claims[at(i, asked[i])] = claim[i];
	as_holder[at(i, asked[i])] = is_holder[i];
	is_open[i] = true;
	grants[i] = 0
}

/* The question of j arrives at i; the answer may arrive as late as the asker's next step. */
inline take_question(i, j, q)
{
	question = q;
	term[i] = (claims[at(j, q)] > term[i] -> claims[at(j, q)] : term[i]);
	vote(i, j, claims[at(j, q)], as_holder[at(j, q)], grant);
	if
	:: grant && is_open[j] && q == asked[j] -> grants[j] = grants[j] | (1 << i)
	:: else -> skip
	fi;
	grant = 0;
	question = 0
}

/* Its own question comes back. */
inline take_back(i)
{
	question = asked[i];
	if
	:: may_vote(i) && !has_promised_other(i, i) && is_term_new(i, i, claim[i]) &&
			(has_disk(i) || is_on_disk(i, i, claim[i])) ->
		write_vote(i, i, claim[i]);
		grants[i] = grants[i] | (1 << i)
	:: else -> skip
	fi;
	question = 0
}

#define bit(g, i) (((g) >> (i)) & 1)
#if N == 3
#define sum(f) (f(0) + f(1) + f(2))
#define n_bits(g) (bit(g, 0) + bit(g, 1) + bit(g, 2))
#else
#define sum(f) (f(0) + f(1) + f(2) + f(3) + f(4))
#define n_bits(g) (bit(g, 0) + bit(g, 1) + bit(g, 2) + bit(g, 3) + bit(g, 4))
#endif
#define is_majority(g) (n_bits(g) > N / 2)
#define holds(i) is_holder[i]

inline hold(i)
{
	assert(sum(holds) == is_holder[i]);
#ifndef LOSES_STATE
	assert(claim[i] > newest || (claim[i] == newest && newest_holder == i));
#endif
	newest = claim[i];
	newest_holder = i;
	is_holder[i] = true;
	lease_of[i] = asked[i];
	close(i)
}

inline restart(i)
{
	n_restarts++;
	claim[i] = 0;
	close(i);
	is_holder[i] = false;
	lease_of[i] = 0;
#ifdef LOSES_STATE
	term[i] = 0;
#endif
#if defined(LOSES_STATE) || defined(UNDO_STORE)
	voted_term[i] = 0;
	voted_for[i] = NONE;
#endif
	/* A wait that was begun goes on: its promise is the later one to end, or the member
	 * has promised in memory alone, which binds nobody. */
	if
	:: wait_for[i] == 0 ->
		wait_to[i] = promise_to[i];
		wait_for[i] = promise_for[i]
	:: else -> skip
	fi;
	end_promise(i)
}

inline end_old(i, v)
{
	if
	:: promise_to[v] == i && is_old(i, promise_for[v]) -> end_promise(v)
	:: else -> skip
	fi;
	if
	:: wait_to[v] == i && is_old(i, wait_for[v]) ->
		wait_to[v] = NONE;
		wait_for[v] = 0
	:: else -> skip
	fi
}

/* Its next question gets old: with it ends the lease that it gave, then the promises. */
inline get_old(i)
{
	n_old[i]++;
	if
	:: is_holder[i] && is_old(i, lease_of[i]) ->
		give_up(i)
	:: is_open[i] && is_old(i, asked[i]) -> close(i)
	:: else -> skip
	fi;
	end_old(i, 0);
	end_old(i, 1);
	end_old(i, 2)
#if N == 5
	;
	end_old(i, 3);
	end_old(i, 4)
#endif
}

#define asks_of(i) asked[i]
#define n_asked() sum(asks_of)
#define knows_more(i, j) (term[j] > term[i])
#define learns(i, j) \
	:: d_step { knows_more(i, j) -> term[i] = term[j] }
#define asks(i, j, q) \
	:: d_step { q <= asked[j] -> take_question(i, j, q) }

#if QUESTIONS > 2
#define hears(i, j) learns(i, j) asks(i, j, 1) asks(i, j, 2) asks(i, j, 3)
#else
#define hears(i, j) learns(i, j) asks(i, j, 1) asks(i, j, 2)
#endif

/* The first to claim is member 0: they are all alike. */
#define may_be_first(i) (i == 0 || newest || claims[at(0, 1)])

proctype member(byte i; byte j; byte k; byte l; byte m)
{
	do
	:: d_step { may_be_first(i) && may_vote(i) && !has_promised_other(i, i) &&
		term[i] < TERMS && !is_full[i] -> make_claim(i) }
	:: d_step { claim[i] && asked[i] < QUESTIONS && n_asked() < QUESTIONS_OF_ALL -> ask(i) }
	:: d_step { claim[i] -> give_up(i) }
	:: d_step { is_open[i] && !bit(grants[i], i) -> take_back(i) }
	:: d_step { is_open[i] && is_majority(grants[i]) -> hold(i) }
	hears(i, j)
	hears(i, k)
#if N == 5
	hears(i, l)
	hears(i, m)
#endif
	:: d_step { n_restarts < RESTARTS -> restart(i) }
	:: d_step { n_old[i] < asked[i] -> get_old(i) }
	od
}

init
{
#ifdef FULL_DISK
	is_full[FULL_DISK] = true;
#endif
	atomic {
#if N == 3
		run member(0, 1, 2, 0, 0);
		run member(1, 2, 0, 0, 0);
		run member(2, 0, 1, 0, 0)
#else
		run member(0, 1, 2, 3, 4);
		run member(1, 2, 3, 4, 0);
		run member(2, 3, 4, 0, 1);
		run member(3, 4, 0, 1, 2);
		run member(4, 0, 1, 2, 3)
#endif
	}
}
