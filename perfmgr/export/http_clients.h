/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who is connected to the server, since when, and who comes in next.
 *
 * Model: a place for each connection that may be there.  A client has a time to ask, a
 * time to take each piece of the answer, and one for all of it; so neither one that
 * never asks nor one that reads an octet a minute keeps a place.  One that waits for us is
 * not idle; one that listens to a stream must take each piece in time, but may stay.
 *
 * Places are shared between networks: an IPv4 address is one, and so is an IPv6 prefix
 * of 64 bits, because a host has a whole one to choose addresses from.  A network has
 * half of the places at most.  Whoever finds none waits, and the connection that has
 * been idle for the longest time is cut for it: one of its own network when that has
 * its share, else one of the network with the most, if that has more than its own.  So
 * one or two that connect and do nothing can't keep others out.
 *
 * Thread-safety: the server's thread alone, but for the atomic count.
 * Memory: two arrays. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_CLIENTS_H
#define TRIAD_PERFMGR_EXPORT_HTTP_CLIENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "perfmgr/export/http_handler.h"

/* So many more than allowed may be there until libmicrohttpd has taken away those that
 * were cut. */
#define TRIAD_HTTP_CUT_ROOM 16
/* So long a client that does nothing is safe. */
#define TRIAD_HTTP_IDLE_US 1000000
#define TRIAD_HTTP_WAITING_MAX 64

struct triad_http_client {
	bool used;
	bool cut;
	uint8_t network[TRIAD_HTTP_NETWORK_SIZE]; /* as of struct triad_http_request */
	int fd;
	uint64_t came_us;
	uint64_t asked_us; /* 0: has not yet */
	uint64_t piece_us; /* when it took the last piece */
	bool is_waiting;   /* for us: its answer has nothing to send at present */
	bool is_endless;   /* its answer is a stream */
};

/* One that waits for a place. */
struct triad_http_waiting {
	int fd;
	uint8_t network[TRIAD_HTTP_NETWORK_SIZE];
	struct sockaddr_storage address;
	socklen_t size;
	uint64_t since_us;
};

struct triad_http_times {
	uint64_t request_us, piece_us, answer_us;
};

struct triad_http_clients {
	unsigned max, max_of_one;
	struct triad_http_times times;
	_Atomic unsigned n;                /* but for those that were cut */
	struct triad_http_client *clients; /* 'max' and TRIAD_HTTP_CUT_ROOM */
	struct triad_http_waiting
		*waiting; /* TRIAD_HTTP_WAITING_MAX, the oldest first */
	unsigned n_waiting;
};

/* Returns false when memory is short. */
bool triad_http_clients_init(struct triad_http_clients *clients, unsigned max,
	const struct triad_http_times *times);

/* Closes those that wait. */
void triad_http_clients_clear(struct triad_http_clients *clients);

/* Takes 'fd' into the queue.  Returns the descriptor of one that must be closed because
 * there are too many, of the network that has the most there: -1, 'fd' or another's. */
int triad_http_clients_wait(struct triad_http_clients *clients, int fd,
	const struct sockaddr *address, socklen_t size, uint64_t now_us);

/* Takes one out of the queue that may come in now, into '*next'; false when there is
 * none.  Cuts an idle one for it if need be. */
bool triad_http_clients_next(struct triad_http_clients *clients, uint64_t now_us,
	struct triad_http_waiting *next);

/* Takes one out of the queue that has waited for longer than a request may take; -1:
 * there is none. */
int triad_http_clients_expired(struct triad_http_clients *clients, uint64_t now_us);

/* Gives a place to one that came in; NULL when there is none. */
struct triad_http_client *triad_http_clients_add(struct triad_http_clients *clients,
	const struct sockaddr *address, int fd, uint64_t now_us);
void triad_http_clients_remove(
	struct triad_http_clients *clients, struct triad_http_client *client);

/* Shuts the sockets of those that took too long.  Returns how many. */
unsigned triad_http_clients_cut(struct triad_http_clients *clients, uint64_t now_us);

/* Cuts all of them, also those that wait to come in. */
void triad_http_clients_cut_all(struct triad_http_clients *clients);

#endif
