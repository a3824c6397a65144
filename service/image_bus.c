/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/image_bus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "triad/thread.h"

struct triad_image_bus {
	pthread_mutex_t lock; /* of what follows */
	bool is_on;
	unsigned n_there;  /* triadds */
	uint64_t n_joined; /* so far */
	uint64_t given; /* the number of the one that is given all; 0: not known yet */
	bool has_view;  /* one that was not taken yet */
	uint32_t n_members;
	uint64_t members[TRIAD_MIRROR_MAX_MEMBERS];
	struct triad_inbox inbox;

	/* Held while the carrier is called.  The carrier's thread must not take it when
	 * it leaves a payload: that would be a deadlock. */
	pthread_mutex_t carrier_lock;
	struct triad_image_carrier carrier; /* 'send' NULL: none */
};

_Static_assert(TRIAD_MIRROR_PAYLOAD_SIZE <= TRIAD_INBOX_OCTETS, "room in the inbox");

struct triad_image_bus *triad_image_bus_new(void)
{
	struct triad_image_bus *bus = calloc(1, sizeof(*bus));

	if (!bus)
		return NULL;
	pthread_mutex_init(&bus->lock, NULL);
	pthread_mutex_init(&bus->carrier_lock, NULL);
	return bus;
}

void triad_image_bus_free(struct triad_image_bus *bus)
{
	if (!bus)
		return;
	pthread_mutex_destroy(&bus->carrier_lock);
	pthread_mutex_destroy(&bus->lock);
	free(bus);
}

void triad_image_bus_set_carrier(
	struct triad_image_bus *bus, const struct triad_image_carrier *carrier)
{
	pthread_mutex_lock(&bus->carrier_lock);
	bus->carrier = carrier ? *carrier : (struct triad_image_carrier){0};
	pthread_mutex_unlock(&bus->carrier_lock);
}

/* Called with the lock, after who listens has changed. */
static void note_listener(struct triad_image_bus *bus)
{
	bus->has_view = true;
	if (!bus->is_on || !bus->n_there)
		triad_inbox_clear(&bus->inbox);
}

void triad_image_bus_enable(struct triad_image_bus *bus, bool is_on)
{
	pthread_mutex_lock(&bus->lock);
	bus->is_on = is_on;
	note_listener(bus);
	pthread_mutex_unlock(&bus->lock);
}

uint64_t triad_image_bus_join(struct triad_image_bus *bus)
{
	uint64_t listener;

	pthread_mutex_lock(&bus->lock);
	bus->n_there++;
	bus->given = listener = ++bus->n_joined;
	note_listener(bus);
	pthread_mutex_unlock(&bus->lock);
	return listener;
}

void triad_image_bus_leave(struct triad_image_bus *bus, uint64_t listener)
{
	pthread_mutex_lock(&bus->lock);
	bus->n_there--;
	if (bus->given == listener)
		bus->given = 0;
	note_listener(bus);
	pthread_mutex_unlock(&bus->lock);
}

/* With the lock.  After the one that came last has gone, the first one that asks. */
static bool is_given(struct triad_image_bus *bus, uint64_t listener)
{
	if (!bus->given)
		bus->given = listener;
	return bus->given == listener;
}

void triad_image_bus_leave_view(
	struct triad_image_bus *bus, const uint64_t *members, uint32_t n)
{
	pthread_mutex_lock(&bus->lock);
	bus->n_members = n < TRIAD_MIRROR_MAX_MEMBERS ? n : TRIAD_MIRROR_MAX_MEMBERS;
	memcpy(bus->members, members, bus->n_members * sizeof(*members));
	bus->has_view = true;
	pthread_mutex_unlock(&bus->lock);
}

void triad_image_bus_leave_payload(
	struct triad_image_bus *bus, uint64_t sender, const void *payload, size_t size)
{
	pthread_mutex_lock(&bus->lock);
	if (bus->is_on && bus->n_there)
		(void)triad_inbox_put(&bus->inbox, sender, payload, size);
	pthread_mutex_unlock(&bus->lock);
}

bool triad_image_bus_take_view(struct triad_image_bus *bus, uint64_t listener,
	uint64_t members[TRIAD_MIRROR_MAX_MEMBERS], uint32_t *n)
{
	bool has_one;

	pthread_mutex_lock(&bus->lock);
	has_one = is_given(bus, listener) && bus->is_on && bus->has_view;
	*n = bus->n_members;
	memcpy(members, bus->members, *n * sizeof(*members));
	if (has_one)
		bus->has_view = false;
	pthread_mutex_unlock(&bus->lock);
	return has_one;
}

bool triad_image_bus_take_payload(
	struct triad_image_bus *bus, uint64_t listener, struct triad_payload *payload)
{
	return TRIAD_LOCKED(&bus->lock,
		is_given(bus, listener) && triad_inbox_take(&bus->inbox, payload));
}

int triad_image_bus_send(struct triad_image_bus *bus, const void *payload, size_t size)
{
	int error = ENOTCONN;

	pthread_mutex_lock(&bus->carrier_lock);
	if (bus->carrier.send)
		error = bus->carrier.send(bus->carrier.context, payload, size);
	pthread_mutex_unlock(&bus->carrier_lock);
	return error;
}
