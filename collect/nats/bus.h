/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages over NATS: octets to all, to one, to the managers.
 *
 * Model: three kinds of subjects, where FABRIC is [collect] fabric, ROLE "agent" or
 * "manager" and IDs are 16 hexadecimal digits:
 *
 *     triad.FABRIC.ROLE.ID.all        to every agent and manager
 *     triad.FABRIC.ROLE.ID.to.ID      to the one with that id
 *     triad.FABRIC.ROLE.ID.managers   to managers
 *
 * The first ID is that of who speaks, so that the broker can see to it that nobody
 * speaks in another's name.
 *
 * Core NATS alone: what is said while a receiver is away is lost, and what was not
 * taken soon is too.  A thread connects and sends; the library's threads receive.  Both
 * ways there is a queue of a bounded number of messages and octets, and what does not
 * fit is dropped and counted, so that neither a broker that hangs nor an owner that
 * sleeps holds up anybody or takes memory.  While there is no connection, what is to be
 * said is dropped at once: it would be old.
 *
 * A connection that is lost is made again, for ever, in turn with all servers that are
 * known; what can't be used, such as a file that is missing, is tried again, too.
 *
 * Thread-safety: any thread, for all but new, stop and free.  'wake' is called from the
 * library's threads: it must not block or call back.
 * Memory: TRIAD_BUS_MAX_OCTETS each way. */
#ifndef TRIAD_COLLECT_NATS_BUS_H
#define TRIAD_COLLECT_NATS_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/member.h"
#include "triad/conf.h"
#include "triad/log.h"

#define TRIAD_BUS_MAX_MESSAGES 8192u
#define TRIAD_BUS_MAX_OCTETS ((size_t)64 << 20)
#define TRIAD_BUS_FABRIC_SIZE 33u

struct triad_bus;

struct triad_bus_params {
	char servers[TRIAD_CONF_TEXT_SIZE];     /* URLs between ';' */
	char fabric[TRIAD_BUS_FABRIC_SIZE];     /* triad_bus_fabric_is_valid() */
	char credentials[TRIAD_CONF_PATH_SIZE]; /* files; "": none */
	char tls_ca[TRIAD_CONF_PATH_SIZE];
	char tls_certificate[TRIAD_CONF_PATH_SIZE], tls_key[TRIAD_CONF_PATH_SIZE];
	char name[TRIAD_COLLECT_NAME_SIZE]; /* as the broker shows it */
	uint64_t id;
	bool is_manager;
};

struct triad_bus_status {
	bool is_wanted, is_connected;
	char server[TRIAD_CONF_TEXT_SIZE]; /* connected to, or last; "": none */
	char reason[TRIAD_CONF_TEXT_SIZE]; /* why it is not connected */
	uint64_t since_us;                 /* connected or not */
	uint64_t n_connects, n_sent, n_received;
	uint64_t octets_sent, octets_received;
	uint64_t n_send_dropped, n_receive_dropped;
	uint64_t n_oversize;
};

/* NULL when memory is short. */
struct triad_bus *triad_bus_new(
	void (*wake)(void *context), void *context, struct triad_log *log);

/* Ends the thread and the connection, in five seconds at most, unless more than six
 * servers are silent.  When threads of the library hang then, the memory is left.
 * Accepts NULL. */
void triad_bus_free(struct triad_bus *bus);

/* Connects as 'params' says (NULL: no more), unless it is so already.  Returns 0 or an
 * errno: no thread. */
int triad_bus_configure(struct triad_bus *bus, const struct triad_bus_params *params);

void triad_bus_send(struct triad_bus *bus, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size);

/* The next message that came; its octets may be changed, and are to be given back. */
struct triad_bus_message {
	struct triad_member_sender speaker;
	uint8_t *octets;
	size_t size;
};
bool triad_bus_take(struct triad_bus *bus, struct triad_bus_message *message);
void triad_bus_give_back(struct triad_bus_message *message);

struct triad_bus_status triad_bus_status(struct triad_bus *bus);

#endif
