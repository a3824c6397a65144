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
	static const uint8_t loopback[4] = {127, 0, 0, 1};

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
		if (IN6_IS_ADDR_LOOPBACK(ip6)) {
			memcpy(network, mapped, sizeof(mapped));
			memcpy(network + 12, loopback, sizeof(loopback));
		}
	}
	/* Anybody here has all of 127.0.0.0/8. */
	if (!memcmp(network, mapped, sizeof(mapped)) && network[12] == loopback[0])
		memcpy(network + 12, loopback, sizeof(loopback));
}

static bool is_known(const struct triad_http_clients *clients,
	const uint8_t network[TRIAD_HTTP_NETWORK_SIZE])
{
	for (unsigned i = 0; i < TRIAD_HTTP_KNOWN; i++)
		if (clients->known[i].served_us &&
			!memcmp(clients->known[i].network, network,
				TRIAD_HTTP_NETWORK_SIZE))
			return true;
	return false;
}

void triad_http_clients_note_served(struct triad_http_clients *clients,
	const struct triad_http_client *client, uint64_t now_us)
{
	struct triad_http_known *place = NULL;

	for (unsigned i = 0; i < TRIAD_HTTP_KNOWN; i++) {
		struct triad_http_known *known = &clients->known[i];

		if (known->served_us &&
			!memcmp(known->network, client->network,
				TRIAD_HTTP_NETWORK_SIZE)) {
			place = known;
			break;
		}
		/* Whoever still comes stays: newcomers can't push it out. */
		if (!place &&
			(!known->served_us ||
				now_us > known->served_us + TRIAD_HTTP_KNOWN_US))
			place = known;
	}
	if (!place)
		return;
	memcpy(place->network, client->network, TRIAD_HTTP_NETWORK_SIZE);
	place->served_us = now_us;
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

/* --- who comes in --- */

/* How soon one of a network with 'n' has to go: those that are known are the last. */
static unsigned rank_of(const struct triad_http_clients *clients,
	const uint8_t network[TRIAD_HTTP_NETWORK_SIZE], unsigned n)
{
	unsigned all = n_places(clients) + TRIAD_HTTP_WAITING_MAX;

	return is_known(clients, network) ? n : all + n;
}

static uint64_t active_us(const struct triad_http_client *client)
{
	return client->asked_us ? client->piece_us : client->came_us;
}

static bool is_idle(const struct triad_http_client *client, uint64_t now_us)
{
	return client->used && !client->cut && !client->is_waiting &&
		now_us >= active_us(client) + TRIAD_HTTP_IDLE_US;
}

/* Cuts that idle connection of 'network', or (NULL) of those with the highest rank above
 * 'least', which has been idle for longest.  False when there is none. */
static bool cut_idle(struct triad_http_clients *clients, const uint8_t *network,
	unsigned least, uint64_t now_us)
{
	struct triad_http_client *worst = NULL;
	unsigned most = least;

	for (unsigned i = 0; i < n_places(clients); i++) {
		struct triad_http_client *client = &clients->clients[i];
		unsigned rank;

		if (!is_idle(client, now_us) || (network && !is_of(client, network)))
			continue;
		rank = rank_of(
			clients, client->network, count_of(clients, client->network));
		if (rank > most ||
			(worst && rank == most &&
				active_us(client) < active_us(worst))) {
			most = rank;
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
		cut_idle(clients, NULL, rank_of(clients, network, n_own), now_us);
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
	const uint8_t *network;

	/* Of the first ones of each network, take that of the network with the fewest
	 * clients. */
	for (unsigned i = 0; i < clients->n_waiting; i++) {
		unsigned rank;

		network = clients->waiting[i].network;
		rank = rank_of(clients, network, count_of(clients, network));
		if (rank < best && !count_before(clients, i)) {
			best = rank;
			at = i;
		}
	}
	network = clients->waiting[at].network;
	if (best == UINT_MAX ||
		!admit(clients, network, count_of(clients, network), now_us))
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

/* The newest client of the network that has the most in the queue.  Where several have as
 * many, it is each one's turn: the newest need not be the one that does harm. */
static unsigned find_surplus(struct triad_http_clients *clients)
{
	unsigned equals[TRIAD_HTTP_WAITING_MAX], n_equals = 0, most = 0;

	for (unsigned i = 0; i < clients->n_waiting; i++) {
		unsigned rank = rank_of(
			clients, clients->waiting[i].network, count_before(clients, i));

		if (rank > most)
			n_equals = 0;
		if (rank < most)
			continue;
		most = rank;
		equals[n_equals++] = i;
	}
	return equals[clients->turn++ % n_equals];
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
