/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps from OpenSM's SA what it must not get (shield/check.h), and clients that ask more
 * often than shield.rate.
 *
 * Model: as first taker of requests (plugin/takers.h) it judges each one by its octets,
 * without a lock of OpenSM's.  The few that are to be judged by the subnet, and those that
 * get an answer, go to its thread: that takes the SM's lock, shared, as OpenSM's own thread
 * of the SA would, looks the switch up, and answers, or passes the request to OpenSM.  A
 * request that is passed on is judged a moment before OpenSM handles it: a switch that is
 * exchanged in that moment for one with fewer ports and the same LID is not seen.
 *
 * OpenSM's SA handles requests in the order in which they came.  So a client that asks for
 * much at once keeps all others waiting.  The shield lets OpenSM have a few at a time;
 * others wait here for their clients' turns (lib/fair_queue.h), each client with as many as
 * are free for all.  Tables of the whole fabric, for which OpenSM needs up to a second, wait
 * in a queue of their own, until nothing waits in OpenSM.
 *
 * The queue to the thread has room for TRIAD_SHIELD_ROOM requests; others are dropped and
 * counted: their clients ask again.
 *
 * With shield.mode = watch every request passes, and what would have been refused is
 * counted.
 *
 * Like OpenSM it leaves requests alone while this SM is not the master.
 *
 * Thread-safety: any thread, but for new, stop and free.
 * Memory: 3.3 MiB, most of it touched once it is on. */
#ifndef TRIAD_PLUGIN_SA_SHIELD_H
#define TRIAD_PLUGIN_SA_SHIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/watch/finders.h"
#include "shield/check.h"
#include "triad/clock.h"
#include "triad/conf.h"
#include "triad/log.h"

#define TRIAD_SHIELD_ROOM 1024u
#define TRIAD_SHIELD_MAX_WAITING 4096u
#define TRIAD_SHIELD_MAX_HARMS TRIAD_REQUESTS_MAX_FINDINGS /* of as many clients */
/* How long a harmful request is a finding and an alert. */
#define TRIAD_SHIELD_HARM_US (3600 * TRIAD_US_PER_S)

struct osm_opensm;
struct triad_shield;

/* Harmful requests of one client. */
struct triad_shield_harm {
	uint64_t us;        /* of the last one, monotonic */
	uint64_t n;         /* since it is in the list */
	uint64_t node_guid; /* its port when it asked; 0: not known */
	uint8_t port;
	uint16_t lid;
	enum triad_shield_reason reason; /* of the last one */
	bool passed;                     /* OpenSM got that one */
};

struct triad_shield_status {
	enum triad_shield_mode mode;
	bool is_installed; /* requests are looked at */
	/* Why not, though they should: ENOTSUP (this OpenSM is laid out otherwise than the
	 * one that Triad was built for) or that of a thread; 0: OpenSM has no SA yet. */
	int error;
	uint64_t n_requests;
	uint64_t n_waited; /* for the turns of others */
	uint64_t n_refused
		[TRIAD_SHIELD_N_REASONS]; /* or, with 'watch', would have been */
	/* Of the clients that asked last for what could have stalled or ended OpenSM, or made
	 * it read what it has not; the newest first. */
	struct triad_shield_harm harms[TRIAD_SHIELD_MAX_HARMS];
	size_t n_harms;
};

/* One of those who were refused most. */
struct triad_shield_client {
	uint16_t lid;
	enum triad_shield_reason reason; /* of the last refusal */
	uint64_t n_requests, n_refused;
};

/* NULL when memory is short. */
struct triad_shield *triad_shield_new(struct osm_opensm *osm, struct triad_log *log);
/* When OpenSM ends: nothing is taken any more.  Accepts NULL. */
void triad_shield_stop(struct triad_shield *shield);
/* After OpenSM unbound its SA.  Accepts NULL. */
void triad_shield_free(struct triad_shield *shield);

/* Applies [shield]. */
void triad_shield_configure(struct triad_shield *shield, const struct triad_conf *conf);

struct triad_shield_status triad_shield_status(struct triad_shield *shield);
/* Why requests are not looked at, for people: of an error of the status. */
const char *triad_shield_explain(int error);

/* For triad_watch_add_finder(): the ports of those who asked for what harms OpenSM. */
void triad_shield_give(void *shield, struct triad_found *found);

/* Fills 'top' with the 'n' who were refused most, in that order; returns their number. */
size_t triad_shield_clients(
	struct triad_shield *shield, struct triad_shield_client *top, size_t n);

#endif
