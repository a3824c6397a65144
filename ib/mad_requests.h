/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests that wait for a reply, and which reply is one of theirs.
 *
 * Any port of a partition can send a MAD that looks like a reply.  So a request gets a
 * transaction ID that nobody can guess, and a reply must
 *
 *     have that ID
 *     come from the LID that was asked, unless it came by a directed route
 *     have the class, the attribute and the attribute modifier of the request
 *     have the method that replies to the request's
 *
 * An agent that redirects answers any attribute with a ClassPortInfo.
 *
 * Model: a table of slots; the low bits of an ID are its slot, and an ID is drawn anew
 * while its slot is taken.  A request leaves the table with its reply or with the
 * transport's report that there is none.  Some transports lose both: then the table grows
 * up to TRIAD_MAD_REQUESTS_MAX, and after that the oldest of some requests is forgotten,
 * whose reply would then count as nobody's.
 *
 * Thread-safety: none.  Memory: 24 octets a slot, checked.
 * Spec: IBA volume 1, 13.4.2 (methods, transaction IDs), 13.5.2 (redirection). */
#ifndef TRIAD_IB_MAD_REQUESTS_H
#define TRIAD_IB_MAD_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_MAD_REQUESTS_MAX 16384u

struct triad_mad_requests;

/* 'draw' returns a number that nobody can guess.  NULL when memory is short. */
struct triad_mad_requests *triad_mad_requests_new(uint64_t (*draw)(void));
/* Accepts NULL. */
void triad_mad_requests_free(struct triad_mad_requests *requests);

/* Notes a request to 'lid', and writes a transaction ID of its own over the low half of
 * the caller's.  'mad' has 24 octets or more, its header. */
void triad_mad_requests_add(
	struct triad_mad_requests *requests, uint8_t *mad, uint16_t lid);

/* Forgets the request of that MAD, which could not be sent. */
void triad_mad_requests_remove(struct triad_mad_requests *requests, const uint8_t *mad);

/* Takes what the transport received: a MAD from 'lid'; or with 'has_failed' a request of
 * ours that it could not deliver, or that had no reply in time.  Returns true and gives
 * the MAD the caller's transaction ID back if it is the end of a request; false: the MAD
 * must not be used.  'size' may be anything. */
bool triad_mad_requests_take(struct triad_mad_requests *requests, uint8_t *mad,
	size_t size, uint16_t lid, bool has_failed);

/* Whether a MAD that was not taken is a reply, but for the LID that it came from, to a
 * request of the performance class: then its agent errs.  Gives the MAD the caller's
 * transaction ID back; the request stays, and its reply must not be used. */
bool triad_mad_requests_is_from_elsewhere(
	const struct triad_mad_requests *requests, uint8_t *mad, size_t size);

#endif
