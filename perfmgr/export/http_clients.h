/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who is connected to the server, since when, and for how long they may be.
 *
 * Model: a slot for each connection that may be there.  A client has a time to ask, a
 * time to take each piece of the answer, and one for all of it; so neither one that
 * never asks nor one that reads an octet a minute keeps a slot.
 *
 * Thread-safety: the server's thread alone, but for triad_http_clients_count().
 * Memory: one array. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_CLIENTS_H
#define TRIAD_PERFMGR_EXPORT_HTTP_CLIENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct triad_http_client {
	bool used;
	bool cut;
	uint8_t address[16]; /* IPv4 as IPv6 has it */
	int fd;
	uint64_t came_us;
	uint64_t asked_us; /* 0: has not yet */
	uint64_t piece_us; /* when it took the last piece */
};

struct triad_http_times {
	uint64_t request_us, piece_us, answer_us;
};

struct triad_http_clients {
	unsigned max, max_of_one;
	struct triad_http_times times;
	_Atomic unsigned n;
	struct triad_http_client *clients; /* 'max' */
};

/* Returns false when memory is short. */
bool triad_http_clients_init(struct triad_http_clients *clients, unsigned max,
	const struct triad_http_times *times);
void triad_http_clients_clear(struct triad_http_clients *clients);

/* True when one more from there may come in. */
bool triad_http_clients_admit(
	const struct triad_http_clients *clients, const struct sockaddr *address);

/* Gives a slot to one that was admitted; NULL when there is none. */
struct triad_http_client *triad_http_clients_add(struct triad_http_clients *clients,
	const struct sockaddr *address, int fd, uint64_t now_us);
void triad_http_clients_remove(
	struct triad_http_clients *clients, struct triad_http_client *client);

/* Shuts the sockets of those that took too long.  Returns how many. */
unsigned triad_http_clients_cut(struct triad_http_clients *clients, uint64_t now_us);

#endif
