/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/http_clients.h"

#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- life --- */

bool triad_http_clients_init(struct triad_http_clients *clients, unsigned max,
	const struct triad_http_times *times)
{
	clients->max = max;
	clients->max_of_one = (max + 1) / 2;
	clients->times = *times;
	atomic_init(&clients->n, 0);
	clients->clients = calloc(max + TRIAD_HTTP_CUT_ROOM, sizeof(*clients->clients));
	clients->waiting = calloc(TRIAD_HTTP_WAITING_MAX, sizeof(*clients->waiting));
	return clients->clients && clients->waiting;
}

void triad_http_clients_clear(struct triad_http_clients *clients)
{
	for (unsigned i = 0; i < clients->n_waiting; i++)
		close(clients->waiting[i].fd);
	free(clients->waiting);
	free(clients->clients);
	clients->waiting = NULL;
	clients->clients = NULL;
	clients->n_waiting = 0;
}

/* --- places --- */

static unsigned n_places(const struct triad_http_clients *clients)
{
	return clients->max + TRIAD_HTTP_CUT_ROOM;
}

static void copy_network(
	const struct sockaddr *address, uint8_t network[TRIAD_HTTP_NETWORK_SIZE])
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

	memset(network, 0, TRIAD_HTTP_NETWORK_SIZE);
	if (address->sa_family == AF_INET) {
		memcpy(network, mapped, sizeof(mapped));
		memcpy(network + 12, &((const struct sockaddr_in *)address)->sin_addr,
			4);
	} else if (address->sa_family == AF_INET6) {
		const struct in6_addr *ip6 =
			&((const struct sockaddr_in6 *)address)->sin6_addr;

		/* An IPv6 host may use all addresses of its /64. */
		memcpy(network, ip6, IN6_IS_ADDR_V4MAPPED(ip6) ? 16 : 8);
	}
}

static bool is_of(const struct triad_http_client *client,
	const uint8_t network[TRIAD_HTTP_NETWORK_SIZE])
{
	return client->used && !client->cut &&
		!memcmp(client->network, network, TRIAD_HTTP_NETWORK_SIZE);
}

static unsigned count_of(const struct triad_http_clients *clients,
	const uint8_t network[TRIAD_HTTP_NETWORK_SIZE])
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_places(clients); i++)
		n += is_of(&clients->clients[i], network);
	return n;
}

struct triad_http_client *triad_http_clients_add(struct triad_http_clients *clients,
	const struct sockaddr *address, int fd, uint64_t now_us)
{
	for (unsigned i = 0; i < n_places(clients); i++) {
		struct triad_http_client *client = &clients->clients[i];

		if (client->used)
			continue;
		*client = (struct triad_http_client){
			.used = true, .fd = fd, .came_us = now_us};
		copy_network(address, client->network);
		atomic_fetch_add(&clients->n, 1);
		return client;
	}
	return NULL;
}

void triad_http_clients_remove(
	struct triad_http_clients *clients, struct triad_http_client *client)
{
	client->used = false;
	if (!client->cut)
		atomic_fetch_sub(&clients->n, 1);
}

static void cut(struct triad_http_clients *clients, struct triad_http_client *client)
{
	client->cut = true;
	atomic_fetch_sub(&clients->n, 1);
	/* libmicrohttpd notices, and removes the connection. */
	shutdown(client->fd, SHUT_RDWR);
}

static bool took_too_long(const struct triad_http_client *client,
	const struct triad_http_times *times, uint64_t now_us)
{
	if (!client->asked_us)
		return now_us > client->came_us + times->request_us;
	return (!client->is_waiting && now_us > client->piece_us + times->piece_us) ||
		(!client->is_endless && now_us > client->asked_us + times->answer_us);
}

unsigned triad_http_clients_cut(struct triad_http_clients *clients, uint64_t now_us)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_places(clients); i++) {
		struct triad_http_client *client = &clients->clients[i];

		if (!client->used || client->cut ||
			!took_too_long(client, &clients->times, now_us))
			continue;
		cut(clients, client);
		n++;
	}
	return n;
}

void triad_http_clients_cut_all(struct triad_http_clients *clients)
{
	for (unsigned i = 0; i < n_places(clients); i++)
		if (clients->clients[i].used && !clients->clients[i].cut)
			cut(clients, &clients->clients[i]);
	for (unsigned i = 0; i < clients->n_waiting; i++)
		close(clients->waiting[i].fd);
	clients->n_waiting = 0;
}

/* --- who comes in --- */

static uint64_t active_us(const struct triad_http_client *client)
{
	return client->asked_us ? client->piece_us : client->came_us;
}

static bool is_idle(const struct triad_http_client *client, uint64_t now_us)
{
	return client->used && !client->cut && !client->is_waiting &&
		now_us >= active_us(client) + TRIAD_HTTP_IDLE_US;
}

/* Cuts an idle connection of 'network', or (NULL) of the network with the most
 * connections, if these are more than 'n'; there the one that has been idle for
 * longest.  False when there is none. */
static bool cut_idle(struct triad_http_clients *clients, const uint8_t *network,
	unsigned n, uint64_t now_us)
{
	struct triad_http_client *worst = NULL;
	unsigned most = n;

	for (unsigned i = 0; i < n_places(clients); i++) {
		struct triad_http_client *client = &clients->clients[i];
		unsigned n_same;

		if (!is_idle(client, now_us) || (network && !is_of(client, network)))
			continue;
		n_same = count_of(clients, client->network);
		if (n_same > most ||
			(worst && n_same == most &&
				active_us(client) < active_us(worst))) {
			most = n_same;
			worst = client;
		}
	}
	if (worst)
		cut(clients, worst);
	return worst;
}

/* Whether one more client of a network may come in, which has 'n_own'. */
static bool admit(struct triad_http_clients *clients,
	const uint8_t network[TRIAD_HTTP_NETWORK_SIZE], unsigned n_own, uint64_t now_us)
{
	bool has_room = false;

	/* A cut client keeps its place until libmicrohttpd has closed it. */
	for (unsigned i = 0; i < n_places(clients); i++)
		has_room |= !clients->clients[i].used;
	if (!has_room)
		return false;
	if (n_own >= clients->max_of_one)
		return cut_idle(clients, network, 0, now_us);
	return atomic_load(&clients->n) < clients->max ||
		cut_idle(clients, NULL, n_own, now_us);
}

static void leave_queue(struct triad_http_clients *clients, unsigned i)
{
	clients->n_waiting--;
	memmove(&clients->waiting[i], &clients->waiting[i + 1],
		(clients->n_waiting - i) * sizeof(*clients->waiting));
}

/* How many of the same network wait before 'i'. */
static unsigned count_before(const struct triad_http_clients *clients, unsigned i)
{
	const uint8_t *network = clients->waiting[i].network;
	unsigned n = 0;

	for (unsigned j = 0; j < i; j++)
		n += !memcmp(
			clients->waiting[j].network, network, TRIAD_HTTP_NETWORK_SIZE);
	return n;
}

bool triad_http_clients_next(struct triad_http_clients *clients, uint64_t now_us,
	struct triad_http_waiting *next)
{
	unsigned best = UINT_MAX, at = 0;

	/* Of the first ones of each network, take that of the network with the fewest
	 * clients. */
	for (unsigned i = 0; i < clients->n_waiting; i++) {
		unsigned n = count_of(clients, clients->waiting[i].network);

		if (n < best && !count_before(clients, i)) {
			best = n;
			at = i;
		}
	}
	if (best == UINT_MAX ||
		!admit(clients, clients->waiting[at].network, best, now_us))
		return false;
	*next = clients->waiting[at];
	leave_queue(clients, at);
	return true;
}

int triad_http_clients_expired(struct triad_http_clients *clients, uint64_t now_us)
{
	int fd = -1;

	if (clients->n_waiting &&
		now_us > clients->waiting[0].since_us + clients->times.request_us) {
		fd = clients->waiting[0].fd;
		leave_queue(clients, 0);
	}
	return fd;
}

/* The newest client of the network that has the most in the queue. */
static unsigned find_surplus(const struct triad_http_clients *clients)
{
	unsigned most = 0, at = 0;

	for (unsigned i = 0; i < clients->n_waiting; i++) {
		unsigned n = count_before(clients, i);

		if (n >= most) {
			most = n;
			at = i;
		}
	}
	return at;
}

int triad_http_clients_wait(struct triad_http_clients *clients, int fd,
	const struct sockaddr *address, socklen_t size, uint64_t now_us)
{
	struct triad_http_waiting *waiting;
	int surplus = -1;

	/* The queue is full: one client in it has to go. */
	if (clients->n_waiting == TRIAD_HTTP_WAITING_MAX) {
		unsigned at = find_surplus(clients);

		surplus = clients->waiting[at].fd;
		leave_queue(clients, at);
	}
	waiting = &clients->waiting[clients->n_waiting++];
	*waiting =
		(struct triad_http_waiting){.fd = fd, .size = size, .since_us = now_us};
	memcpy(&waiting->address, address, size);
	copy_network(address, waiting->network);
	return surplus;
}
