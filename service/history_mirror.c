/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/history_mirror.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/format_version.h"
#include "lib/ring.h"
#include "triad/clock.h"

#define MAX_INBOX 128u
#define MAX_SENT 16u                    /* payloads in one turn */
#define AGAIN_US TRIAD_US_PER_MS        /* the carrier has something to send */
#define REST_US (100 * TRIAD_US_PER_MS) /* it sends nothing for others now */
#define PATIENCE (REST_US / AGAIN_US)
#define MAGIC 0x54724869u /* TRIAD_MIRROR_MAGIC */

struct item {
	uint64_t sender;
	size_t size;
	uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE];
};

struct triad_history_mirror {
	struct triad_history_store *store;
	uint64_t port_guid;
	struct triad_log *log;

	pthread_mutex_t lock; /* of what follows */
	bool is_on;
	bool has_view; /* one that was not taken yet */
	uint32_t n_members;
	uint64_t members[TRIAD_MIRROR_MAX_MEMBERS];
	struct triad_ring ring;
	struct item inbox[MAX_INBOX];
	struct triad_history_mirror_status status;

	/* Held while the carrier is called, and never taken by who brings payloads: it
	 * would wait for itself. */
	pthread_mutex_t carrier_lock;
	struct triad_history_carrier carrier; /* 'send' NULL: none */

	/* Of the thread that runs. */
	struct triad_mirror *machine;   /* NULL: nothing is copied */
	char dir[TRIAD_CONF_PATH_SIZE]; /* of its images */
	struct triad_log_limit version_limit;
	struct item pending; /* size 0: nothing; what the carrier did not take */
	unsigned n_refused;  /* times in a row */
};

struct triad_history_mirror *triad_history_mirror_new(
	struct triad_history_store *store, uint64_t port_guid, struct triad_log *log)
{
	struct triad_history_mirror *mirror = calloc(1, sizeof(*mirror));

	if (!mirror)
		return NULL;
	mirror->store = store;
	mirror->port_guid = port_guid;
	mirror->log = log;
	mirror->version_limit.burst = 1;
	mirror->version_limit.period_us = 60 * TRIAD_US_PER_S;
	pthread_mutex_init(&mirror->lock, NULL);
	pthread_mutex_init(&mirror->carrier_lock, NULL);
	return mirror;
}

void triad_history_mirror_free(struct triad_history_mirror *mirror)
{
	if (!mirror)
		return;
	triad_mirror_free(mirror->machine);
	pthread_mutex_destroy(&mirror->carrier_lock);
	pthread_mutex_destroy(&mirror->lock);
	free(mirror);
}

void triad_history_mirror_set_carrier(struct triad_history_mirror *mirror,
	const struct triad_history_carrier *carrier)
{
	pthread_mutex_lock(&mirror->carrier_lock);
	mirror->carrier = carrier ? *carrier : (struct triad_history_carrier){0};
	pthread_mutex_unlock(&mirror->carrier_lock);
}

/* --- what comes --- */

void triad_history_mirror_leave_view(
	struct triad_history_mirror *mirror, const uint64_t *members, uint32_t n)
{
	pthread_mutex_lock(&mirror->lock);
	mirror->n_members = n < TRIAD_MIRROR_MAX_MEMBERS ? n : TRIAD_MIRROR_MAX_MEMBERS;
	memcpy(mirror->members, members, mirror->n_members * sizeof(*members));
	mirror->has_view = true;
	pthread_mutex_unlock(&mirror->lock);
}

bool triad_history_mirror_leave_payload(struct triad_history_mirror *mirror,
	uint64_t sender, const void *payload, size_t size)
{
	struct item *item;
	bool is_on;

	pthread_mutex_lock(&mirror->lock);
	is_on = mirror->is_on;
	if (is_on && size <= sizeof(item->payload) && mirror->ring.n < MAX_INBOX) {
		item = &mirror->inbox[triad_ring_put(&mirror->ring, MAX_INBOX)];
		item->sender = sender;
		item->size = size;
		memcpy(item->payload, payload, size);
	} else if (is_on) {
		mirror->status.n_dropped++;
	}
	pthread_mutex_unlock(&mirror->lock);
	return is_on;
}

/* Says that a member is of another release, whose messages are not understood. */
static void note_version(struct triad_history_mirror *mirror, const struct item *item)
{
	unsigned version =
		triad_format_message_version(item->payload, item->size, MAGIC);
	char why[TRIAD_FORMAT_REFUSAL_SIZE];
	unsigned long suppressed;

	if (!version || version == TRIAD_MIRROR_VERSION ||
		!triad_log_limit_pass(
			&mirror->version_limit, triad_clock_now_us(), &suppressed))
		return;
	triad_format_disagreement(why, version, TRIAD_MIRROR_VERSION);
	triad_log_write(mirror->log, TRIAD_LOG_ERROR,
		"history: SM 0x%016" PRIx64 " %s (%lu more times before)", item->sender,
		why, suppressed);
}

static bool take_item(struct triad_history_mirror *mirror, struct item *item)
{
	bool has_one;

	pthread_mutex_lock(&mirror->lock);
	has_one = mirror->ring.n;
	if (has_one)
		*item = mirror->inbox[triad_ring_take(&mirror->ring, MAX_INBOX)];
	pthread_mutex_unlock(&mirror->lock);
	return has_one;
}

static void take_view(struct triad_history_mirror *mirror)
{
	uint64_t members[TRIAD_MIRROR_MAX_MEMBERS];
	uint32_t n;
	bool has_one;

	pthread_mutex_lock(&mirror->lock);
	has_one = mirror->has_view;
	n = mirror->n_members;
	memcpy(members, mirror->members, n * sizeof(members[0]));
	mirror->has_view = false;
	pthread_mutex_unlock(&mirror->lock);
	if (has_one)
		triad_mirror_view(mirror->machine, members, n);
}

/* --- what goes --- */

static int give(struct triad_history_mirror *mirror, const struct item *item)
{
	int error = ENOTCONN;

	pthread_mutex_lock(&mirror->carrier_lock);
	if (mirror->carrier.send)
		error = mirror->carrier.send(
			mirror->carrier.context, item->payload, item->size);
	pthread_mutex_unlock(&mirror->carrier_lock);
	return error;
}

/* Returns when to try again; UINT64_MAX: all was sent that there is now. */
static uint64_t send_all(struct triad_history_mirror *mirror, uint64_t now_us)
{
	struct item *pending = &mirror->pending;

	for (unsigned i = 0; i < MAX_SENT; i++) {
		if (!pending->size)
			pending->size = triad_mirror_take_payload(
				mirror->machine, pending->payload);
		if (!pending->size)
			return UINT64_MAX;
		if (give(mirror, pending) == EAGAIN) {
			mirror->n_refused++;
			return now_us +
				(mirror->n_refused < PATIENCE ? AGAIN_US : REST_US);
		}
		/* Without members nobody lacks it. */
		pending->size = 0;
		mirror->n_refused = 0;
	}
	return now_us + AGAIN_US;
}

/* --- running --- */

static void start(struct triad_history_mirror *mirror,
	struct triad_history_rings *rings, uint32_t rate_octets_s, const char *dir)
{
	const struct triad_mirror_conf conf = {
		.id = mirror->port_guid, .rate_octets_s = rate_octets_s};
	const struct triad_mirror_store store = {.context = mirror->store,
		.rings = rings,
		.read = triad_history_store_read_image,
		.add = triad_history_store_add_image};

	if (mirror->machine)
		return;
	mirror->machine = triad_mirror_new(&conf, &store);
	snprintf(mirror->dir, sizeof(mirror->dir), "%s", dir);
	pthread_mutex_lock(&mirror->lock);
	mirror->is_on = mirror->machine;
	mirror->has_view = true;
	pthread_mutex_unlock(&mirror->lock);
}

static void stop(struct triad_history_mirror *mirror)
{
	if (!mirror->machine)
		return;
	triad_mirror_free(mirror->machine);
	mirror->machine = NULL;
	mirror->pending.size = 0;
	pthread_mutex_lock(&mirror->lock);
	mirror->is_on = false;
	mirror->ring = (struct triad_ring){0};
	pthread_mutex_unlock(&mirror->lock);
}

static bool has_carrier(struct triad_history_mirror *mirror)
{
	bool has_one;

	pthread_mutex_lock(&mirror->carrier_lock);
	has_one = mirror->carrier.send;
	pthread_mutex_unlock(&mirror->carrier_lock);
	return has_one;
}

static const char *find_trouble(
	struct triad_history_mirror *mirror, const struct triad_conf *conf)
{
	if (!has_carrier(mirror))
		return "SMs copy images to each other, and this program is none: set "
		       "history.replicate to false";
	if (!conf->history.dir[0])
		return "there is no folder for images: name it in history.dir";
	if (!conf->election.enabled)
		return "SMs copy images by their election: set election.enabled to true";
	if (conf->election.cluster == TRIAD_CLUSTER_NONE)
		return "election.cluster is none: no other SM can be reached";
	return NULL;
}

static void publish(struct triad_history_mirror *mirror, const struct triad_conf *conf)
{
	struct triad_mirror_status status = {0};

	if (mirror->machine)
		triad_mirror_status(mirror->machine, &status);
	pthread_mutex_lock(&mirror->lock);
	mirror->status.is_on = conf->history.replicate;
	mirror->status.trouble =
		conf->history.replicate ? find_trouble(mirror, conf) : NULL;
	mirror->status.mirror = status;
	pthread_mutex_unlock(&mirror->lock);
}

static uint64_t run_machine(
	struct triad_history_mirror *mirror, uint64_t wall_offset_us)
{
	uint64_t now_us = triad_clock_now_us(), next_us, send_us;
	struct item item;

	take_view(mirror);
	triad_mirror_run(mirror->machine, now_us, now_us + wall_offset_us);
	while (take_item(mirror, &item)) {
		note_version(mirror, &item);
		triad_mirror_payload(
			mirror->machine, item.sender, item.payload, item.size);
	}
	triad_history_store_prune(mirror->store, now_us + wall_offset_us);
	now_us = triad_clock_now_us();
	triad_mirror_run(mirror->machine, now_us, now_us + wall_offset_us);
	send_us = send_all(mirror, now_us);
	/* What waits for the carrier comes first. */
	if (send_us != UINT64_MAX)
		return send_us;
	next_us = triad_mirror_next_us(mirror->machine);
	return next_us > now_us + AGAIN_US ? next_us : now_us + AGAIN_US;
}

uint64_t triad_history_mirror_run(
	struct triad_history_mirror *mirror, const struct triad_conf *conf)
{
	struct triad_history_rings *rings = conf->history.replicate
		? triad_history_store_rings(mirror->store)
		: NULL;
	uint32_t rate_octets_s = conf->history.replicate_rate_kb * 1000u;
	uint64_t next_us = UINT64_MAX;

	/* In another folder nothing of what was known counts, and no disk was full. */
	if (!rings || strcmp(mirror->dir, conf->history.dir) != 0)
		stop(mirror);
	if (rings)
		start(mirror, rings, rate_octets_s, conf->history.dir);
	if (mirror->machine) {
		triad_mirror_set_rate(mirror->machine, rate_octets_s);
		next_us = run_machine(mirror, (uint64_t)triad_clock_wall_offset_us());
	}
	publish(mirror, conf);
	return next_us;
}

struct triad_history_mirror_status triad_history_mirror_status(
	struct triad_history_mirror *mirror)
{
	struct triad_history_mirror_status status;

	pthread_mutex_lock(&mirror->lock);
	status = mirror->status;
	pthread_mutex_unlock(&mirror->lock);
	return status;
}
