/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/mirror.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inbox.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define REST_US (100 * TRIAD_US_PER_MS) /* after the carrier has refused a payload */
#define MAGIC 0x54724869u               /* TRIAD_MIRROR_MAGIC */

_Static_assert(TRIAD_MIRROR_PAYLOAD_SIZE <= TRIAD_INBOX_OCTETS, "room in the inbox");

struct triad_history_mirror {
	struct triad_history_store *store;
	struct triad_history_carrier carrier;
	struct triad_log *log;

	pthread_mutex_t lock; /* of what follows */
	bool is_on;
	bool has_view; /* a view that the thread has not taken yet */
	uint32_t n_members;
	uint64_t members[TRIAD_MIRROR_MAX_MEMBERS];
	struct triad_inbox inbox;
	struct triad_history_mirror_status status;

	/* Of the thread that runs. */
	struct triad_mirror *machine;   /* NULL: nothing is copied */
	char dir[TRIAD_CONF_PATH_SIZE]; /* of its images */
	uint64_t port_guid;
	struct triad_release release;
	struct triad_outbox outbox; /* the payload that the carrier refused */
};

struct triad_history_mirror *triad_history_mirror_new(struct triad_history_store *store,
	const struct triad_history_carrier *carrier, struct triad_log *log)
{
	struct triad_history_mirror *mirror = calloc(1, sizeof(*mirror));

	if (!mirror)
		return NULL;
	mirror->store = store;
	mirror->carrier = *carrier;
	mirror->log = log;
	mirror->release = (struct triad_release){.about = "history",
		.magic = MAGIC,
		.version = TRIAD_MIRROR_VERSION,
		.log = log};
	pthread_mutex_init(&mirror->lock, NULL);
	return mirror;
}

void triad_history_mirror_free(struct triad_history_mirror *mirror)
{
	if (!mirror)
		return;
	triad_mirror_free(mirror->machine);
	pthread_mutex_destroy(&mirror->lock);
	free(mirror);
}

/* --- receiving --- */

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
	bool is_on;

	pthread_mutex_lock(&mirror->lock);
	is_on = mirror->is_on;
	if (is_on)
		(void)triad_inbox_put(&mirror->inbox, sender, payload, size);
	pthread_mutex_unlock(&mirror->lock);
	return is_on;
}

static bool take_payload(
	struct triad_history_mirror *mirror, struct triad_payload *payload)
{
	return TRIAD_LOCKED(&mirror->lock, triad_inbox_take(&mirror->inbox, payload));
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

/* --- sending --- */

static size_t make_payload(void *context, void *octets)
{
	struct triad_history_mirror *mirror = context;

	return triad_mirror_take_payload(mirror->machine, octets);
}

static int send_payload(void *context, const void *octets, size_t size)
{
	struct triad_history_mirror *mirror = context;

	return mirror->carrier.send(mirror->carrier.context, octets, size);
}

/* --- running --- */

/* What this SM sends to the others, at most: several times what images of a large fabric
 * need, and a small part of a management network of 100 Mb/s. */
#define RATE_OCTETS_S 500000u

static void start_mirror(struct triad_history_mirror *mirror,
	struct triad_history_rings *rings, const char *dir, uint64_t port_guid)
{
	const struct triad_mirror_conf conf = {
		.id = port_guid, .rate_octets_s = RATE_OCTETS_S};
	const struct triad_mirror_store store = {.context = mirror->store,
		.rings = rings,
		.read = triad_history_store_read_image,
		.add = triad_history_store_add_image};

	if (mirror->machine)
		return;
	mirror->machine = triad_mirror_new(&conf, &store);
	mirror->port_guid = port_guid;
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
	mirror->outbox.size = 0;
	pthread_mutex_lock(&mirror->lock);
	mirror->is_on = false;
	triad_inbox_clear(&mirror->inbox);
	pthread_mutex_unlock(&mirror->lock);
}

static const char *find_trouble(const struct triad_conf *conf, uint64_t port_guid)
{
	if (!port_guid)
		return "SMs copy images to each other, and this program is none: set "
		       "history.replicate to false";
	if (!conf->history.dir[0])
		return "there is no folder for images: name it in history.dir";
	if (!conf->election.enabled)
		return "SMs copy images by their election: set election.enabled to true";
	if (conf->election.cluster == TRIAD_CLUSTER_NONE)
		return "election.cluster is none: no other SM can be reached";
	if (conf->election.cluster == TRIAD_CLUSTER_FABRIC)
		return "election.cluster is fabric: images would take the SM's port from "
		       "its MADs; set corosync or peers, or a folder that SMs share";
	return NULL;
}

static void publish_status(struct triad_history_mirror *mirror,
	const struct triad_conf *conf, uint64_t port_guid)
{
	const char *trouble =
		conf->history.replicate ? find_trouble(conf, port_guid) : NULL;
	struct triad_mirror_status status = {0};

	if (mirror->machine)
		triad_mirror_status(mirror->machine, &status);
	pthread_mutex_lock(&mirror->lock);
	mirror->status.is_on = conf->history.replicate;
	snprintf(mirror->status.trouble, sizeof(mirror->status.trouble), "%s",
		trouble ? trouble : "");
	mirror->status.mirror = status;
	pthread_mutex_unlock(&mirror->lock);
}

static uint64_t run_machine(
	struct triad_history_mirror *mirror, uint64_t wall_offset_us)
{
	const struct triad_outbox_ends ends = {.context = mirror,
		.make = make_payload,
		.send = send_payload,
		.rest_us = REST_US};
	uint64_t now_us = triad_clock_now_us(), next_us, send_us;
	struct triad_payload payload;

	take_view(mirror);
	triad_mirror_run(mirror->machine, now_us, now_us + wall_offset_us);
	while (take_payload(mirror, &payload)) {
		triad_release_check(&mirror->release, &payload);
		triad_mirror_payload(
			mirror->machine, payload.sender, payload.octets, payload.size);
	}
	triad_history_store_prune(mirror->store, now_us + wall_offset_us);
	now_us = triad_clock_now_us();
	triad_mirror_run(mirror->machine, now_us, now_us + wall_offset_us);
	send_us = triad_outbox_send(&mirror->outbox, &ends, now_us);
	/* A payload that waits for the carrier comes first. */
	if (send_us != UINT64_MAX)
		return send_us;
	next_us = triad_mirror_next_us(mirror->machine);
	return next_us > now_us + TRIAD_US_PER_MS ? next_us : now_us + TRIAD_US_PER_MS;
}

uint64_t triad_history_mirror_run(struct triad_history_mirror *mirror,
	const struct triad_conf *conf, uint64_t port_guid)
{
	bool is_on = port_guid && conf->history.replicate &&
		conf->election.cluster != TRIAD_CLUSTER_FABRIC;
	struct triad_history_rings *rings =
		is_on ? triad_history_store_rings(mirror->store) : NULL;
	uint64_t next_us = UINT64_MAX;

	/* The machine's state is about one folder: its images, a full disk. */
	if (!rings || strcmp(mirror->dir, conf->history.dir) != 0 ||
		mirror->port_guid != port_guid)
		stop(mirror);
	if (rings)
		start_mirror(mirror, rings, conf->history.dir, port_guid);
	if (mirror->machine)
		next_us = run_machine(mirror, (uint64_t)triad_clock_wall_offset_us());
	publish_status(mirror, conf, port_guid);
	return next_us;
}

struct triad_history_mirror_status triad_history_mirror_status(
	struct triad_history_mirror *mirror)
{
	struct triad_history_mirror_status status;

	pthread_mutex_lock(&mirror->lock);
	status = mirror->status;
	status.n_dropped = mirror->inbox.n_dropped;
	pthread_mutex_unlock(&mirror->lock);
	return status;
}
