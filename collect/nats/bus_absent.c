/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A build without libnats: nothing is ever connected, and the status says why. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect/nats/bus.h"

struct triad_bus {
	bool is_wanted;
};

struct triad_bus *triad_bus_new(
	void (*wake)(void *context), void *context, struct triad_log *log)
{
	(void)wake;
	(void)context;
	(void)log;
	return calloc(1, sizeof(struct triad_bus));
}

void triad_bus_free(struct triad_bus *bus)
{
	free(bus);
}

int triad_bus_configure(struct triad_bus *bus, const struct triad_bus_params *params)
{
	bus->is_wanted = params;
	return params ? ENOTSUP : 0;
}

void triad_bus_send(struct triad_bus *bus, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size)
{
	(void)bus;
	(void)to;
	(void)id;
	(void)octets;
	(void)size;
}

bool triad_bus_take(struct triad_bus *bus, struct triad_bus_message *message)
{
	(void)bus;
	(void)message;
	return false;
}

void triad_bus_give_back(struct triad_bus_message *message)
{
	(void)message;
}

struct triad_bus_status triad_bus_status(struct triad_bus *bus)
{
	struct triad_bus_status status = {.is_wanted = bus->is_wanted};

	snprintf(status.reason, sizeof(status.reason),
		"Triad was built without libnats");
	return status;
}
