/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries what triadds say to each other about images (history/mirror/mirror.h): between
 * the election's transport, in this process, and triadd, which asks.
 *
 * Model: what is received waits in an inbox until triadd is given it; while no triadd is
 * there, or nothing is to be copied, it is dropped.  Of several triadds the one that came
 * last is given all: one before it may hang.
 *
 * Thread-safety: any thread, under a lock held for a copy; set_carrier also waits until no
 * call of the carrier runs.
 * Memory: an inbox of 256 payloads. */
#ifndef TRIAD_SERVICE_IMAGE_BUS_H
#define TRIAD_SERVICE_IMAGE_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/mirror/mirror.h"
#include "lib/inbox.h"

struct triad_image_bus;

/* Sends payloads to the other SMs. */
struct triad_image_carrier {
	void *context;
	/* Sends a payload to all, unless more urgent messages wait.  Never blocks.
	 * Returns 0, EAGAIN (not now), or ENOTCONN (elections are off, or not
	 * connected). */
	int (*send)(void *context, const void *payload, size_t size);
};

/* NULL when memory is short. */
struct triad_image_bus *triad_image_bus_new(void);
void triad_image_bus_free(struct triad_image_bus *bus); /* accepts NULL */

/* Whether images are to be copied. */
void triad_image_bus_enable(struct triad_image_bus *bus, bool is_on);

/* NULL: removes it. */
void triad_image_bus_set_carrier(
	struct triad_image_bus *bus, const struct triad_image_carrier *carrier);
/* From the carrier: never block. */
void triad_image_bus_leave_view(
	struct triad_image_bus *bus, const uint64_t *members, uint32_t n);
void triad_image_bus_leave_payload(
	struct triad_image_bus *bus, uint64_t sender, const void *payload, size_t size);

/* A triadd has come.  Returns its number, for the others. */
uint64_t triad_image_bus_join(struct triad_image_bus *bus);
/* It has gone. */
void triad_image_bus_leave(struct triad_image_bus *bus, uint64_t listener);
/* False: there is no other view, or no payload, than was taken before; or they are for a
 * triadd that came later. */
bool triad_image_bus_take_view(struct triad_image_bus *bus, uint64_t listener,
	uint64_t members[TRIAD_MIRROR_MAX_MEMBERS], uint32_t *n);
bool triad_image_bus_take_payload(
	struct triad_image_bus *bus, uint64_t listener, struct triad_payload *payload);
/* As the carrier's send(); ENOTCONN: there is none. */
int triad_image_bus_send(struct triad_image_bus *bus, const void *payload, size_t size);

#endif
