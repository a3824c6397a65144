/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The server's clients: who is connected, since when, and who comes in next.
 *
 * Model: each connection has a place.  A client has a time to ask, a time to take each
 * piece of the answer, and one for all of it.  So neither one that never asks nor one
 * that reads an octet a minute keeps a place.  A client that waits for us is not idle.
 * A client of a stream must take each piece in time, but may stay.
 *
 * Places are shared between networks: an IPv4 address is one, and so is an IPv6 prefix
 * of 64 bits, because a host has all of its addresses, and so is the loopback.  A network has half of the
 * places at most.  A client without a place waits, and the connection that has been
 * idle for longest is cut for it: one of its own network when that has its share, else
 * one of the network with the most, if that has more than its own.  So a few clients
 * that connect and do nothing can't keep others out.
 *
 * Nor can many networks: those that were served before come in first, and are the last to
 * go.  The first TRIAD_HTTP_KNOWN of them are known, each for as long as it comes once in
 * TRIAD_HTTP_KNOWN_US.
 *
 * Thread-safety: only the server's thread, except for the atomic count.
 * Memory: two arrays. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_CLIENTS_H
#define TRIAD_PERFMGR_EXPORT_HTTP_CLIENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "perfmgr/export/http_handler.h"

/* Places beyond the maximum, for cut clients that libmicrohttpd has not removed yet. */
#define TRIAD_HTTP_CUT_ROOM 16
/* An inactive client is safe from being cut for so long. */
#define TRIAD_HTTP_IDLE_US 1000000
#define TRIAD_HTTP_WAITING_MAX 64
#define TRIAD_HTTP_KNOWN 32
#define TRIAD_HTTP_KNOWN_US UINT64_C(3600000000)

struct triad_http_client {
	bool used;
	bool cut;
	uint8_t network[TRIAD_HTTP_NETWORK_SIZE]; /* as of struct triad_http_request */
	int fd;
	uint64_t came_us;
	uint64_t asked_us; /* when it sent its request; 0: not yet */
	uint64_t piece_us; /* when it took the last piece */
	bool is_waiting;   /* for us: its answer has nothing to send now */
	bool is_endless;   /* its answer is a stream */
};

/* A client that waits for a place. */
struct triad_http_waiting {
	int fd;
	uint8_t network[TRIAD_HTTP_NETWORK_SIZE];
	struct sockaddr_storage address;
	socklen_t size;
	uint64_t since_us;
};

/* A network that was served. */
struct triad_http_known {
	uint8_t network[TRIAD_HTTP_NETWORK_SIZE];
	uint64_t served_us; /* last; 0: a free place */
};

struct triad_http_times {
	uint64_t request_us, piece_us, answer_us;
};

struct triad_http_clients {
	unsigned max, max_of_one;
	struct triad_http_times times;
	_Atomic unsigned n;                /* without those that were cut */
	struct triad_http_client *clients; /* 'max' and TRIAD_HTTP_CUT_ROOM */
	/* TRIAD_HTTP_WAITING_MAX, the oldest first. */
	struct triad_http_waiting *waiting;
	unsigned n_waiting;
	struct triad_http_known known[TRIAD_HTTP_KNOWN];
	unsigned turn; /* whose it is to go among equals */
};

/* Returns false when memory is short. */
bool triad_http_clients_init(struct triad_http_clients *clients, unsigned max,
	const struct triad_http_times *times);

/* Closes those that wait. */
void triad_http_clients_clear(struct triad_http_clients *clients);

/* Puts 'fd' into the queue.  When the queue is full, first removes the newest client of
 * the network that has the most there, or any among equals, and returns its descriptor for
 * the caller to close; else -1. */
int triad_http_clients_wait(struct triad_http_clients *clients, int fd,
	const struct sockaddr *address, socklen_t size, uint64_t now_us);

/* Takes the client that may come in next out of the queue; false when there is none.
 * Cuts an idle one for it if need be. */
bool triad_http_clients_next(struct triad_http_clients *clients, uint64_t now_us,
	struct triad_http_waiting *next);

/* Takes a client that has waited for longer than a request may take out of the queue;
 * -1: there is none. */
int triad_http_clients_expired(struct triad_http_clients *clients, uint64_t now_us);

/* Gives a place to a connection; NULL when there is none. */
struct triad_http_client *triad_http_clients_add(struct triad_http_clients *clients,
	const struct sockaddr *address, int fd, uint64_t now_us);
void triad_http_clients_remove(
	struct triad_http_clients *clients, struct triad_http_client *client);

/* The client gets what it asked for: its network is known from now on. */
void triad_http_clients_note_served(struct triad_http_clients *clients,
	const struct triad_http_client *client, uint64_t now_us);

/* Shuts the sockets of clients that took too long.  Returns how many. */
unsigned triad_http_clients_cut(struct triad_http_clients *clients, uint64_t now_us);

#endif
