/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The queue of OpenSM's events, from its threads to the worker.
 *
 * OpenSM calls report() from its own threads, for some events with its locks held.  So
 * report() only puts a small record into a ring of fixed size.  It allocates nothing,
 * does not call OpenSM, and holds a lock only to copy one record.  Successive events of
 * one kind are merged into one, with the time of the last, because a sweep that finds
 * thousands of ports reports as many traps just before its end.  A full ring drops the
 * new event and counts it.
 *
 * Thread-safety: put from any thread, take from one. */
#ifndef TRIAD_PLUGIN_EVENTS_H
#define TRIAD_PLUGIN_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

enum triad_event_kind {
	TRIAD_EVENT_SWEEP_START,  /* OpenSM begins a heavy sweep */
	TRIAD_EVENT_SWEEP_DONE,   /* its discovery has finished */
	TRIAD_EVENT_ROUTING_DONE, /* switches have their forwarding tables */
	TRIAD_EVENT_REROUTED,     /* the same, without a sweep */
	TRIAD_EVENT_SUBNET_UP,
	TRIAD_EVENT_STATE_CHANGE, /* of the SM */
	TRIAD_EVENT_TRAP,
	TRIAD_N_EVENTS
};

struct triad_event {
	enum triad_event_kind kind;
	uint64_t at_us;
};

/* What a trap names: the LID and the port; 0 where it names none. */
struct triad_trap {
	uint64_t at_us;
	uint16_t number;
	uint16_t lid;
	uint8_t port;
};

struct triad_events;

struct triad_events_counts {
	uint64_t reported[TRIAD_N_EVENTS];
	uint64_t dropped;
};

/* NULL when memory is short. */
struct triad_events *triad_events_new(void);
void triad_events_free(struct triad_events *events);

/* Never blocks or allocates. */
void triad_events_put(
	struct triad_events *events, enum triad_event_kind kind, uint64_t now_us);

/* Puts an event for a trap, and keeps the trap's details; only those of the last 64
 * traps are kept. */
void triad_events_put_trap(struct triad_events *events, const struct triad_trap *trap);

/* Takes the details of the oldest trap that is kept.  Returns false if there is none;
 * never waits. */
bool triad_events_take_trap(struct triad_events *events, struct triad_trap *trap);

/* Takes the oldest event; waits for one until 'until_us' at most.  Returns false when
 * none came in that time, or after triad_events_stop(). */
bool triad_events_take(
	struct triad_events *events, uint64_t until_us, struct triad_event *event);

/* Wakes the thread that takes; from now on triad_events_take() returns false at
 * once. */
void triad_events_stop(struct triad_events *events);
bool triad_events_are_stopped(struct triad_events *events);

struct triad_events_counts triad_events_counts(struct triad_events *events);

#endif
