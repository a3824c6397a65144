/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/bench/pathstorm.h"

#include <infiniband/umad.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "qos/latency.h"
#include "triad/thread.h"

#define MAD_SIZE 256
#define MAGIC 0x53746f72u /* the upper half of a transaction ID */
#define INDEX_BITS 20
#define LOOK_US 100000
#define WAIT_NS 100000
#define LOST_NS UINT64_C(1000000000)
/* Offsets of a PathRecord's fields in a MAD of the SA. */
#define DGUID_AT (56 + 8 + 8)
#define SGUID_AT (56 + 24 + 8)

struct host {
	ib_net16_t lid;
	ib_net64_t guid;
};

struct client {
	uint32_t host, partner;
	uint32_t generation; /* of the current request */
	uint64_t due_ns;     /* when it was due; 0: there is none */
	bool is_greedy;
};

struct counts {
	uint64_t n_answered, n_lost;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_ready = PTHREAD_COND_INITIALIZER;
static struct {
	bool runs;
	int fd; /* of the last request */
	uint8_t request[512];
	bool has_request;
	struct host *hosts;
	struct client *clients;
	uint32_t n_hosts, n_clients;
	uint32_t *ready, first, n_ready; /* a ring of clients */
	struct counts modest, greedy;
	uint64_t n_bad, n_sent, begun_ns, pace;
	struct triad_latency latency;
} storm = {.fd = -1};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- clients; the lock is held --- */

static void make_ready(uint32_t client)
{
	storm.clients[client].due_ns = 0;
	storm.clients[client].generation++;
	storm.ready[(storm.first + storm.n_ready++) % storm.n_clients] = client;
	pthread_cond_signal(&is_ready);
}

static uint32_t next_ready(void)
{
	uint32_t client = storm.ready[storm.first];

	storm.first = (storm.first + 1) % storm.n_clients;
	storm.n_ready--;
	return client;
}

static struct counts *counts_of(const struct client *client)
{
	return client->is_greedy ? &storm.greedy : &storm.modest;
}

/* The time when the next request is due. */
static uint64_t next_due_ns(void)
{
	return storm.pace ? storm.begun_ns + storm.n_sent * 1000000000 / storm.pace
			  : now_ns();
}

static bool is_due(void)
{
	return storm.n_ready && (!storm.pace || now_ns() >= next_due_ns());
}

static void write_request(uint32_t index, uint8_t *umad)
{
	struct client *client = &storm.clients[index];
	const struct host *from = &storm.hosts[client->host], *to;
	uint32_t tid = client->generation << INDEX_BITS | index, magic = MAGIC;
	uint8_t *mad;

	client->partner = (client->partner + 1) % storm.n_hosts;
	if (client->partner == client->host)
		client->partner = (client->partner + 1) % storm.n_hosts;
	to = &storm.hosts[client->partner];
	memcpy(umad, storm.request, umad_size() + MAD_SIZE);
	umad_get_mad_addr(umad)->lid = from->lid;
	mad = umad_get_mad(umad);
	memcpy(mad + 8, &magic, sizeof(magic));
	memcpy(mad + 12, &tid, sizeof(tid));
	memcpy(mad + DGUID_AT, &to->guid, sizeof(to->guid));
	memcpy(mad + SGUID_AT, &from->guid, sizeof(from->guid));
	client->due_ns = next_due_ns();
	storm.n_sent++;
}

/* --- replaced calls of libibumad --- */

void triad_pathstorm_note(int fd, const void *umad)
{
	const uint8_t *mad = umad_get_mad((void *)umad);
	uint32_t magic;

	memcpy(&magic, mad + 8, sizeof(magic));
	if (magic == MAGIC || mad[1] != IB_MCLASS_SUBN_ADM ||
		mad[3] != IB_MAD_METHOD_GET || mad[16] || mad[17] != 0x35)
		return;
	pthread_mutex_lock(&lock);
	memcpy(storm.request, umad, umad_size() + MAD_SIZE);
	storm.fd = fd;
	storm.has_request = true;
	pthread_mutex_unlock(&lock);
}

bool triad_pathstorm_runs(int fd)
{
	bool runs;

	pthread_mutex_lock(&lock);
	runs = storm.runs && fd == storm.fd;
	pthread_mutex_unlock(&lock);
	return runs;
}

int triad_pathstorm_receive(int fd, void *umad, int *length)
{
	int agent = -1;

	pthread_mutex_lock(&lock);
	if (storm.runs && fd == storm.fd && !is_due()) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += WAIT_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		(void)pthread_cond_timedwait(&is_ready, &lock, &until);
	}
	if (storm.runs && fd == storm.fd && is_due()) {
		write_request(next_ready(), umad);
		*length = MAD_SIZE;
		agent = (int)((struct ib_user_mad *)umad)->agent_id;
	}
	pthread_mutex_unlock(&lock);
	return agent;
}

bool triad_pathstorm_take(const void *umad)
{
	const uint8_t *mad = umad_get_mad((void *)umad);
	uint32_t magic, tid, index;
	struct client *client;

	memcpy(&magic, mad + 8, sizeof(magic));
	memcpy(&tid, mad + 12, sizeof(tid));
	if (mad[1] != IB_MCLASS_SUBN_ADM || magic != MAGIC)
		return false;
	index = tid & ((1u << INDEX_BITS) - 1);
	pthread_mutex_lock(&lock);
	client = index < storm.n_clients ? &storm.clients[index] : NULL;
	/* Drops an answer to a request that was given up. */
	if (client && client->due_ns &&
		client->generation << INDEX_BITS == (tid & ~((1u << INDEX_BITS) - 1))) {
		counts_of(client)->n_answered++;
		storm.n_bad += mad[4] || mad[5];
		if (!client->is_greedy)
			triad_latency_add(&storm.latency, now_ns() - client->due_ns);
		make_ready(index);
	}
	pthread_mutex_unlock(&lock);
	return true;
}

/* --- a storm --- */

/* Finds the hosts' ports that have a LID. */
static bool find_hosts(osm_opensm_t *osm)
{
	cl_qmap_t *ports = &osm->subn.port_guid_tbl;

	CL_PLOCK_ACQUIRE(&osm->lock);
	storm.hosts = calloc(cl_qmap_count(ports) + 1, sizeof(*storm.hosts));
	for (cl_map_item_t *at = cl_qmap_head(ports);
		storm.hosts && at != cl_qmap_end(ports); at = cl_qmap_next(at)) {
		const osm_port_t *port = (const osm_port_t *)at;

		if (osm_node_get_type(port->p_node) != IB_NODE_TYPE_CA ||
			!osm_port_get_base_lid(port))
			continue;
		storm.hosts[storm.n_hosts++] = (struct host){
			osm_port_get_base_lid(port), osm_port_get_guid(port)};
	}
	CL_PLOCK_RELEASE(&osm->lock);
	return storm.n_hosts > 1;
}

static bool prepare(osm_opensm_t *osm, const struct triad_pathstorm_params *params)
{
	uint32_t n = (uint32_t)(params->n_clients + params->n_greedy);

	if (!storm.has_request || n >= 1u << INDEX_BITS || !n || !find_hosts(osm))
		return false;
	storm.clients = calloc(n, sizeof(*storm.clients));
	storm.ready = calloc(n, sizeof(*storm.ready));
	if (!storm.clients || !storm.ready)
		return false;
	storm.n_clients = n;
	storm.n_sent = 0;
	storm.pace = params->pace;
	storm.begun_ns = now_ns();
	for (uint32_t i = 0; i < n; i++) {
		struct client *client = &storm.clients[i];

		client->is_greedy = i >= params->n_clients;
		client->host = client->is_greedy ? 0 : i % storm.n_hosts;
		/* Each client begins with another partner. */
		client->partner = (uint32_t)(i * UINT64_C(2654435761) % storm.n_hosts);
		make_ready(i);
	}
	return true;
}

static void give_up_old(uint64_t now)
{
	for (uint32_t i = 0; i < storm.n_clients; i++) {
		struct client *client = &storm.clients[i];

		if (!client->due_ns || now < client->due_ns + LOST_NS)
			continue;
		counts_of(client)->n_lost++;
		make_ready(i);
	}
}

static void run(unsigned long seconds)
{
	uint64_t end_ns = now_ns() + seconds * 1000000000, now;

	do {
		usleep(LOOK_US);
		now = now_ns();
		pthread_mutex_lock(&lock);
		give_up_old(now);
		storm.runs = now < end_ns;
		pthread_mutex_unlock(&lock);
	} while (now < end_ns);
}

static void report(const struct triad_pathstorm_params *params, FILE *out)
{
	struct triad_latency_summary summary = triad_latency_summarize(&storm.latency);

	fprintf(out,
		"{\"clients\": %lu, \"greedy\": %lu, \"seconds\": %lu, \"hosts\": %u, "
		"\"answered\": %" PRIu64 ", \"bad\": %" PRIu64 ", \"lost\": %" PRIu64
		", \"greedy_answered\": %" PRIu64 ", \"greedy_lost\": %" PRIu64
		", \"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f}\n",
		params->n_clients, params->n_greedy, params->seconds, storm.n_hosts,
		storm.modest.n_answered, storm.n_bad, storm.modest.n_lost,
		storm.greedy.n_answered, storm.greedy.n_lost,
		(double)summary.p50_ns / 1e3, (double)summary.p99_ns / 1e3,
		(double)summary.max_ns / 1e3);
}

/* The lock is held. */
static void clear(void)
{
	free(storm.hosts);
	free(storm.clients);
	free(storm.ready);
	storm.hosts = NULL;
	storm.clients = NULL;
	storm.ready = NULL;
	storm.n_hosts = storm.n_clients = storm.first = storm.n_ready = 0;
	storm.modest = storm.greedy = (struct counts){0};
	storm.n_bad = 0;
	memset(&storm.latency, 0, sizeof(storm.latency));
}

void triad_pathstorm(
	osm_opensm_t *osm, const struct triad_pathstorm_params *params, FILE *out)
{
	bool is_prepared;

	pthread_mutex_lock(&lock);
	is_prepared = prepare(osm, params);
	storm.runs = is_prepared;
	pthread_mutex_unlock(&lock);
	if (is_prepared)
		run(params->seconds);
	pthread_mutex_lock(&lock);
	if (is_prepared)
		report(params, out);
	else
		fprintf(out,
			"{\"error\": \"a storm needs a request for a path to copy, two "
			"hosts and less than a million clients\"}\n");
	clear();
	pthread_mutex_unlock(&lock);
}
