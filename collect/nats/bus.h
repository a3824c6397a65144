/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries messages over NATS: octets to all, to one, or to the managers.
 *
 * Two parts do what is declared here, and a program has one of them: bus.c, for triad-agent
 * and triadd, is connected to brokers, as described below.  The plugin in OpenSM has
 * service/bus_relay.h, which leaves that to triadd.
 *
 * Model: three kinds of subjects, where FABRIC is [collect] fabric, ROLE "agent" or
 * "manager" and IDs are 16 hexadecimal digits:
 *
 *     triad.FABRIC.ROLE.ID.all        to every agent and manager
 *     triad.FABRIC.ROLE.ID.to.ID      to the one with that id
 *     triad.FABRIC.ROLE.ID.managers   to managers
 *
 * The first ID is the sender's, so that the broker can enforce that nobody sends in
 * another's name.
 *
 * It uses core NATS only: messages are lost while a receiver is not connected, or does
 * not take them soon.  A thread connects and sends; the library's threads receive.
 * Each direction has a queue of a bounded number of messages and octets; messages that
 * do not fit are dropped and counted.  So neither a hanging broker nor a sleeping owner
 * blocks anybody or uses more memory.  Without a connection messages are dropped at
 * once, because they would be outdated later.
 *
 * It retries a lost connection for ever, in turn with all known servers; and also
 * settings that fail, such as a missing file.
 *
 * Thread-safety: any thread, except for new, stop and free.  'wake' is called from the
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
	uint64_t n_connects, n_sent, n_received;
	uint64_t n_send_dropped, n_receive_dropped;
	uint64_t n_oversize;
	/* In OpenSM: triadd, which is connected for it, has not been heard of. */
	bool lacks_triadd;
};

/* NULL when memory is short. */
struct triad_bus *triad_bus_new(
	void (*wake)(void *context), void *context, struct triad_log *log);

/* Ends the thread and the connection, within five seconds unless more than six servers
 * are silent.  If threads of the library still hang then, it leaves the memory.
 * Accepts NULL. */
void triad_bus_free(struct triad_bus *bus);

/* Connects with 'params' (NULL: disconnects), unless they are unchanged.  Returns 0, or
 * an errno if the thread can't be created. */
int triad_bus_configure(struct triad_bus *bus, const struct triad_bus_params *params);

void triad_bus_send(struct triad_bus *bus, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size);

/* A received message.  The owner may change its octets, and must give it back. */
struct triad_bus_message {
	struct triad_member_sender speaker;
	uint8_t *octets;
	size_t size;
};
bool triad_bus_take(struct triad_bus *bus, struct triad_bus_message *message);
void triad_bus_give_back(struct triad_bus_message *message);

struct triad_bus_status triad_bus_status(struct triad_bus *bus);

#endif
