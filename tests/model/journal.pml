/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Generations and the journal: no older generation is enforced, and who acts knows what
 * all holders before it may have done.  plugin/ports/ports_term.c, portmgr/replica/replica.h.
 *
 * Model: at most one member holds the lease (lease.pml), which may end at any time.  A
 * member says by its digest which records and which configuration it has on disk, and
 * whether it has heard of the holder's term.  One digest may be on its way, or in an
 * inbox, for as long as one likes.  What is missing may be fetched from others at any
 * time.
 *
 * Bounds: two generations, TERMS, RESTARTS; an intent in a term.  UNDO_... switches a
 * rule off (see 'run'). */
#ifndef N
#define N 3 /* or 5 */
#endif
#define NONE N /* no member */
#define NEEDED (N / 2 + 1)
#ifndef TERMS
#define TERMS 2
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
/* All is too much at once: without GENERATIONS there is one, else intents are known to
 * all at once. */
#ifdef GENERATIONS
#define intent() 0
#else
#define GENERATIONS 1
#define intent() (1 << (term - 1))
#endif

/* --- on disk --- */
byte config[N] = 1; /* the generation in force */
byte known[N] = 1;  /* by the election: the newest generation of anybody */
byte records[N];    /* bits: the intent of each term */

/* --- in memory --- */
byte told[N] = 1; /* the generation of which the election was told; 0: none yet */
bool is_announced[N] = true;
byte got_config[N * N] = 1; /* the generation in the last digest; 0: no digest */
bool heard[N];                 /* of the holder's term, from the holder */
byte waiting, waits_at = NONE, waits_from = NONE; /* a digest on its way */
bool waits_heard; /* its sender had heard of the holder's term */

/* --- the holder --- */
byte term; /* the last */
byte holder = NONE;
bool has_begun, is_synced, is_asking; /* its term; its intent is recorded */
byte same[N]; /* digests since its term began, or 0 */

byte acted;    /* bits: intents that were carried out */
byte enforced; /* the newest generation that was */
byte n_restarts;
byte x; /* 0 between steps */

#define at(i, j) ((i) * N + (j))
#define digest(i) (1 + records[i] + 8 * config[i])
#define records_of(d) (((d) - 1) & 7)
#define config_of(d) (((d) - 1) >> 3)
#define max(a, b) ((a) > (b) -> (a) : (b))
#define is_permitted(i) (holder == (i) && known[i] <= told[i])

#if N == 3
#define sum(f, i) (f(i, 0) + f(i, 1) + f(i, 2))
#else
#define sum(f, i) (f(i, 0) + f(i, 1) + f(i, 2) + f(i, 3) + f(i, 4))
#endif

#define has_config(i, j) ((j) == (i) || got_config[at(i, j)] == config[i])
#define n_config(i) sum(has_config, i)

#define is_same(i, j) ((j) == (i) || (same[j] && records_of(same[j]) == records[i]))
#define n_same(i) sum(is_same, i)
#define has_it_still(i, j) ((j) == (i) || (same[j] && config_of(same[j]) == config[i]))
#define n_config_since(i) sum(has_it_still, i)
/* Neither it nor who votes for it knows a newer generation. */
#define votes_for(i, j) (told[i] >= known[j])
#define may_hold(i) (told[i] >= known[i] && sum(votes_for, i) >= NEEDED)

inline end_term()
{
	for (x : 0 .. N - 1) {
		same[x] = 0;
		heard[x] = false
	}
	x = 0;
	waits_heard = false;
	holder = NONE;
	has_begun = false;
	is_synced = false;
	is_asking = false
}

inline begin_lease(i)
{
	holder = i;
	term++
}

/* What was said before the holder's term was heard of is not said in it. */
#ifdef UNDO_ECHO
#define counts(i, has_heard) (holder == (i) && has_begun)
#else
#define counts(i, has_heard) (holder == (i) && has_begun && (has_heard))
#endif

#define is_news(i, j, d) \
	(got_config[at(i, j)] != config_of(d) || (counts(i, heard[j]) && same[j] != (d)))

inline take_digest(i, j, d, has_heard)
{
	got_config[at(i, j)] = config_of(d);
	if
	:: counts(i, has_heard) -> same[j] = d
	:: else -> skip
	fi
}

inline take_waiting(i)
{
	take_digest(i, waits_from, waiting, waits_heard);
	waiting = 0;
	waits_at = NONE;
	waits_from = NONE;
	waits_heard = false
}

inline sync(i)
{
	is_synced = true;
	/* It knows all that was done. */
	assert((acted & records[i]) == acted)
}

inline act(i)
{
	assert(config[i] >= enforced);
	enforced = config[i];
	acted = acted | intent();
	is_asking = false
}

inline put_in_force(i, generation)
{
	config[i] = generation;
	is_announced[i] = false
}

inline announce(i)
{
	is_announced[i] = true;
	told[i] = config[i];
	known[i] = max(known[i], told[i])
}

inline restart(i)
{
	n_restarts++;
	told[i] = 0;
	is_announced[i] = false;
	for (x : 0 .. N - 1) {
		got_config[at(i, x)] = 0
	}
	x = 0;
	if
	:: waits_at == i -> waiting = 0; waits_at = NONE; waits_from = NONE; waits_heard = false
	:: else -> skip
	fi;
	if
	:: holder == i -> end_term()
	:: else -> skip
	fi
}

#ifdef UNDO_SYNC
#define knows_records(i) true
#else
#define knows_records(i) (n_same(i) >= NEEDED)
#endif
#ifdef UNDO_CONFIG
#define knows_config(i) true
#else
#define knows_config(i) (n_config_since(i) >= NEEDED)
#endif
#ifdef UNDO_COMMIT
#define is_committed(i) true
#else
#define is_committed(i) (n_same(i) >= NEEDED)
#endif
#define is_free(i) (holder != (i) || !is_asking)
#define is_new_to(i, j) ((records[j] | records[i]) != records[i])

/* After the last term nothing matters. */
#define is_on (holder != NONE || term < TERMS)

#define with(i, j) \
	:: d_step { is_on && is_news(i, j, digest(j)) -> \
		take_digest(i, j, digest(j), heard[j]) } \
	:: d_step { is_on && holder != NONE && holder != i && !waiting -> \
		waiting = digest(j); waits_at = i; waits_from = j; waits_heard = heard[j] } \
	:: d_step { holder == i && has_begun && !heard[j] -> heard[j] = true } \
	:: d_step { is_on && is_new_to(i, j) -> records[i] = records[i] | records[j] } \
	:: d_step { is_on && config[j] > config[i] && is_free(i) -> \
		put_in_force(i, config[j]) }

/* The first holder is member 0: they are all alike. */
proctype member(byte i; byte j; byte k; byte l; byte m)
{
	do
	with(i, j)
	with(i, k)
#if N == 5
	with(i, l)
	with(i, m)
#endif
	:: d_step { holder == NONE && term < TERMS && (term || i == 0) && may_hold(i) ->
		begin_lease(i) }
	:: d_step { is_on && config[i] < GENERATIONS && is_free(i) ->
		put_in_force(i, config[i] + 1) }
	:: d_step { is_on && !is_announced[i] && n_config(i) >= NEEDED && is_free(i) ->
		announce(i) }
	:: d_step { holder == i && !has_begun -> has_begun = true }
	:: d_step { waits_at == i -> take_waiting(i) }
	:: d_step { holder == i && has_begun && !is_synced && knows_records(i) &&
			knows_config(i) -> sync(i) }
	:: d_step { is_permitted(i) && is_synced && is_announced[i] && !is_asking &&
			(!intent() || !(records[i] & intent())) ->
		records[i] = records[i] | intent();
		is_asking = true }
	:: d_step { is_permitted(i) && is_asking && is_committed(i) -> act(i) }
	:: d_step { holder == i -> end_term() }
	:: d_step { is_on && n_restarts < RESTARTS -> restart(i) }
	od
}

init
{
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
