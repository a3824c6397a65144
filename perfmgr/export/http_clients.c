/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/http_clients.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

bool triad_http_clients_init(struct triad_http_clients *clients, unsigned max,
	const struct triad_http_times *times)
{
	clients->max = max;
	clients->max_of_one = (max + 1) / 2;
	clients->times = *times;
	atomic_init(&clients->n, 0);
	clients->clients = calloc(max, sizeof(*clients->clients));
	return clients->clients;
}

void triad_http_clients_clear(struct triad_http_clients *clients)
{
	free(clients->clients);
	clients->clients = NULL;
}

static void take_address(const struct sockaddr *address, uint8_t octets[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

	memset(octets, 0, 16);
	if (address->sa_family == AF_INET) {
		memcpy(octets, mapped, sizeof(mapped));
		memcpy(octets + 12, &((const struct sockaddr_in *)address)->sin_addr,
			4);
	} else if (address->sa_family == AF_INET6) {
		memcpy(octets, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
	}
}

bool triad_http_clients_admit(
	const struct triad_http_clients *clients, const struct sockaddr *address)
{
	unsigned n = 0, n_same = 0;
	uint8_t octets[16];

	take_address(address, octets);
	for (unsigned i = 0; i < clients->max; i++) {
		n += clients->clients[i].used;
		n_same += clients->clients[i].used &&
			!memcmp(clients->clients[i].address, octets, 16);
	}
	return n < clients->max && n_same < clients->max_of_one;
}

struct triad_http_client *triad_http_clients_add(struct triad_http_clients *clients,
	const struct sockaddr *address, int fd, uint64_t now_us)
{
	for (unsigned i = 0; i < clients->max; i++) {
		struct triad_http_client *client = &clients->clients[i];

		if (client->used)
			continue;
		*client = (struct triad_http_client){
			.used = true, .fd = fd, .came_us = now_us};
		take_address(address, client->address);
		atomic_fetch_add(&clients->n, 1);
		return client;
	}
	return NULL;
}

void triad_http_clients_remove(
	struct triad_http_clients *clients, struct triad_http_client *client)
{
	client->used = false;
	atomic_fetch_sub(&clients->n, 1);
}

static bool took_too_long(const struct triad_http_client *client,
	const struct triad_http_times *times, uint64_t now_us)
{
	if (!client->asked_us)
		return now_us > client->came_us + times->request_us;
	return now_us > client->piece_us + times->piece_us ||
		now_us > client->asked_us + times->answer_us;
}

unsigned triad_http_clients_cut(struct triad_http_clients *clients, uint64_t now_us)
{
	unsigned n = 0;

	for (unsigned i = 0; i < clients->max; i++) {
		struct triad_http_client *client = &clients->clients[i];

		if (!client->used || client->cut ||
			!took_too_long(client, &clients->times, now_us))
			continue;
		client->cut = true;
		/* libmicrohttpd sees its end and takes it away. */
		shutdown(client->fd, SHUT_RDWR);
		n++;
	}
	return n;
}
