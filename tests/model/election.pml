/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The election in calm: whatever came before, one member becomes master and holder of
 * the lease, and stays.
 *
 * Model: three members, or five, that are connected and do not fail any more.  A step is one input
 * of one member: a message, or its timers.  Time passes in ticks of 'status_ms', when all
 * messages have arrived and all timers have run.  All members get messages in one order,
 * but not at one time.  So no run needs fairness: a livelock is a cycle of ticks.
 *
 * Names are those of portmgr/election; what is different:
 *   - Steps don't change an election's timeout, no member is skipped for a while, and the
 *     operator prefers none.
 *   - The start is any state that a time of faults may leave behind: see begin().
 *   - Terms are counted from the lowest one in use, so that they do not grow for ever. */
#ifndef N
#define N 3
#endif
#define NONE N /* no member */
#define LAST (N - 1)

/* What is done, or true, for each member, and the first one for which something is. */
#if N == 5
#define PAIRS 25
#define ROOM 60 /* of messages */
#define for_each(f) f(0); f(1); f(2); f(3); f(4)
#define for_all(f) (f(0) && f(1) && f(2) && f(3) && f(4))
#define sum_of(f) (f(0) + f(1) + f(2) + f(3) + f(4))
#define first_of(f) \
	(f(0) -> 0 : (f(1) -> 1 : (f(2) -> 2 : (f(3) -> 3 : (f(4) -> 4 : NONE)))))
#else
#define PAIRS 9
#define ROOM 20
#define for_each(f) f(0); f(1); f(2)
#define for_all(f) (f(0) && f(1) && f(2))
#define sum_of(f) (f(0) + f(1) + f(2))
#define first_of(f) (f(0) -> 0 : (f(1) -> 1 : (f(2) -> 2 : NONE)))
#endif

/* Times, in ticks. */
#define TIMEOUT 2
#define KEEPALIVE 5
#define LEASE 4
#define HELD (LEASE + 1) /* a holder's: at 1 it has ended, which it notices at its next step */
#define CLAIM_TIME (3 * LEASE)
#define MOMENT (LEASE / 2) /* how long a claim may be dropped: continues_claim() */
#define claim_again(i) (2 + 3 * (i))

#define MAX_ANSWERS 8
#define MAX_CEDES 5
#define MAX_TERM 60

mtype = {ELECTING, STANDBY, MASTER, STATUS, TAKEOVER, CEDE};

/* --- settings, constant in a run --- */
byte health[N]; /* 1 to 3 */
bool disk[N];   /* it works */
bool odd[N];    /* has other settings than the rest */

/* --- a member --- */
mtype state[N];
byte master[N] = NONE;
byte deadline[N];
byte rank[N];
byte n_cedes[N]; /* ignored by its master */
bool is_due[N];  /* STATUS */
bool is_run_due[N]; /* its timers, in this tick */

byte promise_left[N]; /* MOMENT more than until its end */
byte votes_in[N];     /* when it may vote */
byte heard_in[N];     /* when it may claim though it has not heard all */
byte claim[N];
byte claim_age[N]; /* since the first */
byte again_in[N];
bool is_claim_young[N];
bool was_refused[N];
byte lease_left[N]; /* 0: not a holder */
byte held[N];       /* the last term */
byte newest[N];     /* held by anybody, as far as known */

byte round[N];
bool is_back[N];
bool is_complete[N];
byte grants[N]; /* bits */

/* What member i received last from j, at [N * i + j]. */
mtype got_state[PAIRS];
byte got_priority[PAIRS];
byte got_held[PAIRS];
byte got_fresh[PAIRS]; /* until it is old */
bool got_able[PAIRS];
bool got_since[PAIRS]; /* the present election began */
byte n_answers[PAIRS]; /* in this tick */

#define promises(i) (promise_left[i] > MOMENT)
#define may_vote(i) (votes_in[i] == 0)
#define agrees(i, j) ((i) == (j) || (!odd[i] && !odd[j]))
#define has_disk(i) disk[i]

inline promise(giver, taker)
{
	promise_to[giver] = taker;
	promise_left[giver] = LEASE + MOMENT
}

#include "vote.pml"

/* --- messages --- */
chan inbox[N] = [ROOM] of {
	byte, mtype, mtype, byte, bool, byte, byte, byte, byte, byte, byte, byte};
hidden byte m_from, m_priority, m_claim, m_round, m_term, m_held, m_to, m_grant, m_answers;
hidden byte m_able;
hidden mtype m_kind, m_state;
hidden byte me, grant, best, best_priority;
byte x;
hidden byte is_better, ok;
hidden byte low;

#define is_holder(i) (lease_left[i] > 0)
#define is_able(i) (claim[i] || disk[i])

inline put(r, kind, to, g, answers)
{
	assert(nfull(inbox[r]));
	inbox[r]!me, kind, state[me], rank[me], is_able(me), claim[me],
		(claim[me] -> round[me] : 0), term[me], newest[me], to, g, answers
}

/* Everybody notes an answer; only its receiver reacts. */
inline answer(kind, to, g, answers)
{
	put((me + 1) % N, kind, to, g, answers);
	put((me + 2) % N, kind, to, g, answers)
#if N == 5
	;
	put((me + 3) % N, kind, to, g, answers);
	put((me + 4) % N, kind, to, g, answers)
#endif
}

inline send_status()
{
	if
	:: claim[me] && is_back[me] && is_complete[me] ->
		round[me]++;
		is_back[me] = false;
		is_complete[me] = false;
		grants[me] = 0
	:: else -> skip
	fi;
	is_due[me] = false;
	answer(STATUS, NONE, 0, 0);
	/* Its own matters only with a question. */
	if
	:: claim[me] -> put(me, STATUS, NONE, 0, 0)
	:: else -> skip
	fi
}

/* --- priority --- */
#define IS_CONF_MANAGER 128
#define IS_MASTER 8
#define WAS_HOLDER_LAST 1
#define is_above(p, i, q, l) ((p) > (q) || ((p) == (q) && (i) < (l)))
/* As this member honours it. */
#define honoured(p, from, h) \
	((p) - ((p) >= IS_CONF_MANAGER && !(promises(me) && promise_to[me] == (from)) \
			-> IS_CONF_MANAGER : 0) - \
		((p) % 2 && (h) < newest[me] -> WAS_HOLDER_LAST : 0))
#define known(l) honoured(got_priority[N * me + (l)], l, got_held[N * me + (l)])
#define is_known_better(l) is_above(known(l), l, rank[me], me)
#define is_sender_better() \
	is_above(honoured(m_priority, m_from, m_held), m_from, rank[me], me)
#define own_priority() \
	((is_holder(me) -> IS_CONF_MANAGER : 0) + 16 * health[me] + \
		(state[me] == MASTER -> IS_MASTER : 0) + \
		(held[me] && held[me] == newest[me] -> WAS_HOLDER_LAST : 0))

inline update_priority()
{
	if
	:: rank[me] != own_priority() ->
		rank[me] = own_priority();
		send_status()
	:: else -> skip
	fi
}

/* --- states --- */
inline enter(s)
{
	state[me] = s;
	n_cedes[me] = 0;
	update_priority()
}

#define forget_since(l) got_since[N * me + l] = false

inline elect()
{
	master[me] = NONE;
	deadline[me] = TIMEOUT;
	is_due[me] = true;
	for_each(forget_since);
	got_since[N * me + m_from] = true; /* what it takes now counts */
	enter(ELECTING)
}

inline become_master()
{
	master[me] = me;
	deadline[me] = 0;
	is_due[me] = true;
	enter(MASTER)
}

inline become_standby(l)
{
	master[me] = l;
	deadline[me] = KEEPALIVE;
	enter(STANDBY)
}

#define is_better_master(l) \
	((l) != me && got_state[N * me + (l)] == MASTER && got_fresh[N * me + (l)] && \
		is_known_better(l))
#define better_master() first_of(is_better_master)
#define is_worse(l) ((l) == me || (got_since[N * me + (l)] && !is_known_better(l)))

inline decide_early()
{
	x = better_master();
	if
	:: x != NONE -> become_standby(x)
	:: x == NONE && for_all(is_worse) -> become_master()
	:: else -> skip
	fi
}

inline follow()
{
	if
	:: m_from == master[me] && m_state != MASTER -> elect()
	:: m_state != MASTER -> skip
	:: m_state == MASTER && m_from != master[me] && master[me] != NONE &&
			got_fresh[N * me + master[me]] &&
			!is_above(honoured(m_priority, m_from, m_held), m_from,
				known(master[me]), master[me]) -> skip
	:: else ->
		master[me] = m_from;
		deadline[me] = KEEPALIVE
	fi
}

/* --- the lease --- */
inline give_up()
{
	claim[me] = 0;
	is_complete[me] = true;
	if
	:: promise_to[me] == me ->
		promise_left[me] = MOMENT + (is_holder(me) -> lease_left[me] - 1 : 0)
	:: else -> skip
	fi;
	if
	:: is_holder(me) ->
		lease_left[me] = 0;
		claim_age[me] = 0;
		update_priority()
	:: else -> skip
	fi
}

#define has_grant_of(l) (grants[me] >> (l) & 1)
#define has_majority() (sum_of(has_grant_of) > N / 2)

inline add_grant(l)
{
	grants[me] = grants[me] | (1 << (l));
	if
	:: is_back[me] && !is_complete[me] && has_majority() ->
		is_complete[me] = true;
		ok = !is_holder(me);
		lease_left[me] = HELD;
		held[me] = claim[me];
		newest[me] = (claim[me] > newest[me] -> claim[me] : newest[me]);
		if
		:: ok && state[me] != MASTER -> become_master()
		:: ok && state[me] == MASTER -> update_priority()
		:: else -> skip
		fi
	:: else -> skip
	fi
}

inline take_back()
{
	if
	:: m_round == round[me] ->
		is_back[me] = true;
		if
		:: claim[me] && m_claim == claim[me] && !is_complete[me] && may_vote(me) &&
				!has_promised_other(me, me) &&
				is_term_new(me, me, claim[me]) &&
				(disk[me] || is_on_disk(me, me, claim[me])) ->
			write_vote(me, me, claim[me]);
			add_grant(me)
		:: else -> skip
		fi
	:: else -> skip
	fi
}

inline take_grant()
{
	if
	:: claim[me] && m_to == me && m_answers == round[me] ->
		if
		:: m_grant != claim[me] ->
			was_refused[me] = was_refused[me] || m_term > claim[me]
		:: else -> add_grant(m_from)
		fi
	:: else -> skip
	fi
}

inline consider(l)
{
	if
	:: (l) != me && got_fresh[N * me + (l)] && got_able[N * me + (l)] &&
			agrees(me, l) && is_above(known(l), l, best_priority, best) ->
		best = l;
		best_priority = known(l)
	:: else -> skip
	fi
}

/* Nothing here shows what it is for: without it all holds, too. */
#define continues_claim(i) (promise_to[i] == (i) && promise_left[i] > 0)

inline renew_claim()
{
	if
	:: !claim[me] && !continues_claim(me) -> claim_age[me] = 0
	:: else -> skip
	fi;
	if
	:: disk[me] && (!claim[me] ||
			(claim[me] < term[me] && (!is_holder(me) || was_refused[me]) &&
				!is_claim_young[me])) ->
		term[me]++;
		assert(term[me] < MAX_TERM);
		claim[me] = term[me];
		is_claim_young[me] = true;
		was_refused[me] = false;
		is_complete[me] = true;
		is_due[me] = true
	:: else -> skip
	fi
}

inline run_out()
{
	if
	:: lease_left[me] == 1 -> give_up()
	:: else -> skip
	fi
}

#define has_heard(l) ((l) == me || got_state[N * me + (l)])

inline run_lease()
{
	best = me;
	best_priority = rank[me];
	for_each(consider);
	if
	:: claim[me] && !is_holder(me) && claim_age[me] >= CLAIM_TIME ->
		again_in[me] = claim_again(me);
		claim_age[me] = 0;
		give_up();
		send_status()
	:: else ->
		if
		:: best == me && (claim[me] || disk[me]) && state[me] != ELECTING &&
				may_vote(me) && !again_in[me] &&
				(claim[me] || heard_in[me] == 0 || for_all(has_heard)) &&
				!has_promised_other(me, me) -> renew_claim()
		:: else ->
			if
			:: claim[me] -> give_up()
			:: else -> skip
			fi
		fi
	fi
}

inline settle()
{
	run_lease();
	update_priority();
	if
	:: state[me] == ELECTING && deadline[me] == 0 -> become_master()
	:: state[me] == STANDBY && deadline[me] == 0 -> elect()
	:: else -> skip
	fi;
	if
	:: is_due[me] && (state[me] != STANDBY || claim[me]) -> send_status()
	:: else -> skip
	fi
}

inline run_timers()
{
	is_run_due[me] = false;
	m_from = me; /* no message */
	run_out();
	settle()
}

/* --- input --- */
inline take_status()
{
	/* An electing member answers nobody. */
	ok = n_answers[N * me + m_from] < MAX_ANSWERS;
	if
	:: ok && (state[me] != ELECTING || m_priority >= IS_CONF_MANAGER) ->
		n_answers[N * me + m_from]++
	:: else -> skip
	fi;
	if
	:: state[me] == ELECTING ->
#ifndef UNDO_ELECTING
		if
		:: ok && m_priority >= IS_CONF_MANAGER && m_able ->
			vote(me, m_from, m_claim, true, grant)
		:: else -> skip
		fi;
#endif
		decide_early()
	:: state[me] != ELECTING && ok ->
		grant = 0;
		if
		:: m_able -> vote(me, m_from, m_claim, m_priority >= IS_CONF_MANAGER, grant)
		:: else -> skip
		fi;
		if
		:: state[me] == STANDBY -> follow()
		:: else -> skip
		fi;
		if
		:: is_sender_better() -> answer(TAKEOVER, m_from, grant, m_round)
		:: else ->
			answer(CEDE, m_from, grant, m_round);
			if
			:: m_state == MASTER && m_from == master[me] &&
					state[me] == STANDBY ->
				n_cedes[me]++;
				if
				:: n_cedes[me] > MAX_CEDES ->
					n_cedes[me] = MAX_CEDES;
					x = better_master();
					if
					:: x == NONE -> elect()
					:: else -> skip
					fi
				:: else -> skip
				fi
			:: else -> skip
			fi
		fi
	:: else -> skip
	fi
}

inline take_takeover()
{
	if
	:: state[me] == ELECTING -> decide_early()
	:: state[me] == STANDBY ->
		if
		:: m_from != master[me] -> follow()
		:: else -> skip
		fi;
		x = better_master();
		if
		:: (m_from == master[me] && m_state == MASTER) ||
				(x == NONE && !is_sender_better()) -> become_master()
		:: else -> skip
		fi
	:: else -> skip
	fi
}

inline take_cede()
{
	is_better = is_sender_better();
	if
	:: state[me] == STANDBY -> follow()
	:: else -> skip
	fi;
	if
	:: state[me] == ELECTING -> decide_early()
	:: else -> skip
	fi;
	if
	:: state[me] == MASTER && is_better && m_state == MASTER -> become_standby(m_from)
	:: state[me] == MASTER && is_better && m_state != MASTER -> elect()
	:: else -> skip
	fi
}

inline note()
{
	term[me] = (m_term > term[me] -> m_term : term[me]);
	newest[me] = (m_held > newest[me] -> m_held : newest[me]);
	x = N * me + m_from;
	got_state[x] = m_state;
	got_priority[x] = m_priority;
	got_held[x] = m_held;
	got_fresh[x] = KEEPALIVE;
	got_able[x] = m_able;
	got_since[x] = true
}

inline receive()
{
	inbox[me]?m_from, m_kind, m_state, m_priority, m_able, m_claim, m_round, m_term,
		m_held, m_to, m_grant, m_answers;
	run_out();
	if
	:: m_from == me -> take_back()
	:: else ->
		note();
		if
		:: m_to == NONE || m_to == me ->
			take_grant();
			update_priority();
			if
			:: m_kind == STATUS -> take_status()
			:: m_kind == TAKEOVER -> take_takeover()
			:: m_kind == CEDE -> take_cede()
			fi
		:: else -> skip
		fi
	fi;
	settle()
}

/* For tests/sim/model_replay.c, which does the same with the code. */
#ifdef PRINTS
inline print_start()
{
	printf("start %d health %d disk %d odd %d state %e master %d",
		me, health[me], disk[me], odd[me], state[me], master[me]);
	printf(" deadline %d votes_in %d heard_in %d\n", deadline[me], votes_in[me], heard_in[me]);
	printf("lease %d promise_to %d left %d claim %d age %d term %d",
		me, promise_to[me], promise_left[me], claim[me], claim_age[me], term[me]);
	printf(" voted %d for %d held %d newest %d left %d\n",
		voted_term[me], voted_for[me], held[me], newest[me], lease_left[me])
}

inline print_step(is_message)
{
	printf("step %d message %d state %e master %d priority %d claim %d holder %d term %d",
		me, is_message, state[me], master[me], rank[me], claim[me], is_holder(me),
		term[me]);
	printf(" voted %d for %d promise_to %d again_in %d inboxes %d %d %d\n",
		voted_term[me], voted_for[me], (promises(me) -> promise_to[me] : NONE),
		again_in[me], len(inbox[0]), len(inbox[1]), len(inbox[2]))
}

#define print_tick() printf("tick %d\n", low)
#else
#define print_start() skip
#define print_step(is_message) skip
#define print_tick() skip
#endif

/* --- time --- */
byte leader = NONE; /* master and holder at the last tick, followed by all */
bool is_unsettled;

#define follows(i, l) (state[i] == STANDBY && master[i] == (l) && !is_holder(i))
#define leads_two(l) \
	(state[l] == MASTER && is_holder(l) && follows(((l) + 1) % N, l) && \
		follows(((l) + 2) % N, l))
#if N == 5
#define leads(l) \
	(leads_two(l) && follows(((l) + 3) % N, l) && follows(((l) + 4) % N, l))
#else
#define leads(l) leads_two(l)
#endif

inline judge()
{
#ifdef STARTS
	assert(is_holder(2) && !claim[0] && !claim[1]);
#endif
	x = first_of(leads);
	is_unsettled = (x == NONE || (leader != NONE && x != leader));
	leader = x
}

#define less(v) v = (v > 0 -> v - 1 : 0)
#define age(l) less(got_fresh[N * me + l]); n_answers[N * me + l] = 0

inline pass_time()
{
	less(deadline[me]);
	less(promise_left[me]);
	less(votes_in[me]);
	less(heard_in[me]);
	lease_left[me] = (lease_left[me] > 1 -> lease_left[me] - 1 : lease_left[me]);
	claim_age[me] = (again_in[me] || claim_age[me] == CLAIM_TIME ->
		claim_age[me] : claim_age[me] + 1);
	less(again_in[me]);
	for_each(age);
	is_claim_young[me] = false;
	is_due[me] = true;
	is_run_due[me] = true;
	round[me] = 0;
	grants[me] = 0;
	is_back[me] = true;
	is_complete[me] = true
}

/* The lowest term in use becomes 2; of those below only their order to it is kept. */
#define lowest(i) (claim[i] && claim[i] < term[i] -> claim[i] : term[i])
#define take_lowest(i) low = (lowest(i) < low -> lowest(i) : low)
#define lower_held(l) lower(got_held[N * me + l])
#define lower(v) v = (v > low -> v - low : (v > 0 -> 1 : 0))
inline lower_terms()
{
	low = MAX_TERM;
	for_each(take_lowest);
	low = (low > 2 -> low - 2 : 0);
	for (me : 0 .. LAST) {
		term[me] = term[me] - low;
		claim[me] = (claim[me] -> claim[me] - low : 0);
		if
		:: voted_term[me] <= low ->
			voted_term[me] = 0;
			voted_for[me] = NONE
		:: else -> voted_term[me] = voted_term[me] - low
		fi;
		held[me] = (held[me] == newest[me] -> held[me] : 0);
		lower(held[me]);
		lower(newest[me]);
		for_each(lower_held)
	}
}

inline tick()
{
	judge();
	lower_terms();
	print_tick();
	for (me : 0 .. LAST) {
		pass_time()
	}
}

/* --- the start --- */
#define OLD 2 /* a term */

inline begin_holder(l)
{
	state[l] = MASTER;
	master[l] = l;
	claim[l] = OLD;
	held[l] = OLD;
	newest[l] = OLD;
	lease_left[l] = HELD;
	begin_promise(l, l, OLD)
}

inline begin_promise(i, to, t)
{
	promise_to[i] = to;
	promise_left[i] = LEASE + MOMENT;
	voted_term[i] = t;
	voted_for[i] = to;
	term[i] = t
}

inline begin_standby(i)
{
	state[i] = STANDBY;
	master[i] = holder;
	deadline[i] = KEEPALIVE;
	begin_promise(i, holder, OLD)
}

inline begin_start(i)
{
	state[i] = ELECTING;
	deadline[i] = TIMEOUT;
	votes_in[i] = LEASE
}

/* What it may have promised: to the holder, to itself, or nothing since it started. */
inline begin_other(i)
{
	term[i] = OLD;
	if
	:: state[i] = ELECTING; deadline[i] = TIMEOUT
	:: state[i] = MASTER; master[i] = i
	:: holder != NONE -> state[i] = STANDBY; master[i] = holder; deadline[i] = KEEPALIVE
	fi;
	if
	:: votes_in[i] = LEASE
	:: holder != NONE -> begin_promise(i, holder, OLD)
	:: state[i] == MASTER -> begin_promise(i, i, OLD + 1 + i); claim[i] = OLD + 1 + i
	:: voted_term[i] = OLD + 1 + i; voted_for[i] = i; term[i] = OLD + 1 + i
	fi
}

inline begin_health(i)
{
	select(x : 1 .. 3);
	health[i] = x;
	disk[i] = true
}

/* Holder, if any, is the last member, which loses where priorities are equal.  At most one
 * has no disk or other settings.  Some of this is impossible, which does no harm. */
inline begin()
{
	byte holder;

	for_each(begin_health);
#ifdef STARTS
	/* One member starts beside a holder and who follows that. */
	holder = 2;
	begin_holder(2);
	if
	:: begin_start(0); begin_standby(1)
	:: begin_standby(0); begin_start(1)
	fi;
#else
	if
	:: holder = NONE
	:: holder = LAST; begin_holder(LAST)
	fi;
	begin_other(0);
	begin_other(1);
#if N == 5
	begin_other(2);
	begin_other(3);
#endif
	if
	:: holder == NONE -> begin_other(LAST)
	:: else -> skip
	fi;
#endif
#if !defined(STARTS) && !defined(SOUND)
	if
	:: select(x : 0 .. LAST); disk[x] = false
	:: select(x : 0 .. LAST); odd[x] = true
	:: skip
	fi;
#endif
	if
	:: x = 0 /* views are old */
	:: x = 1
	fi;
	holder = 0;
	d_step {
		for (me : 0 .. LAST) {
			heard_in[me] = x * LEASE;
			rank[me] = own_priority();
			pass_time();
			print_start()
		}
	}
	x = 0
}

/* Without ANY_ORDER, members take messages in turn, and timers run when all are taken, in
 * any order. */
#ifdef ANY_ORDER
#define in_turn(c) true
#else
#define in_turn(c) (c)
#endif
#define is_empty(i) empty(inbox[i])
#define has_run(i) !is_run_due[i]
#define quiet() in_turn(for_all(is_empty))

active proctype world()
{
	atomic { begin() }
	do
	:: atomic {
		if
		:: nempty(inbox[0]) -> me = 0
		:: nempty(inbox[1]) && in_turn(empty(inbox[0])) -> me = 1
		:: nempty(inbox[2]) && in_turn(empty(inbox[0]) && empty(inbox[1])) -> me = 2
#if N == 5
		:: nempty(inbox[3]) && in_turn(empty(inbox[0]) && empty(inbox[1]) &&
			empty(inbox[2])) -> me = 3
		:: nempty(inbox[4]) && in_turn(empty(inbox[0]) && empty(inbox[1]) &&
			empty(inbox[2]) && empty(inbox[3])) -> me = 4
#endif
		fi;
		d_step { receive(); print_step(1) }
	   }
	:: atomic {
		if
		:: is_run_due[0] && quiet() -> me = 0
		:: is_run_due[1] && quiet() -> me = 1
		:: is_run_due[2] && quiet() -> me = 2
#if N == 5
		:: is_run_due[3] && quiet() -> me = 3
		:: is_run_due[4] && quiet() -> me = 4
#endif
		fi;
		d_step { run_timers(); print_step(0) }
	   }
	:: d_step {
		for_all(is_empty) && for_all(has_run) -> tick()
	   };
		if
		:: is_unsettled -> accept_unsettled: skip
		:: else -> skip
		fi
	od
}
