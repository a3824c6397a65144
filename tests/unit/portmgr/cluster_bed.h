/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One that listens to a transport, and remembers: its last view, how many there were,
 * all payloads in their order. */
#ifndef TRIAD_TESTS_UNIT_PORTMGR_CLUSTER_BED_H
#define TRIAD_TESTS_UNIT_PORTMGR_CLUSTER_BED_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "portmgr/cluster/cluster.h"
#include "tests/unit/run.h"

#define BED_ROOM 4096

struct bed_message {
	uint64_t sender;
	char text[32];
	unsigned n_views; /* before it */
};

struct bed {
	struct triad_cluster *cluster;
	pthread_mutex_t lock;
	struct triad_cluster_view view;
	unsigned n_views, n_messages;
	bool number_grows;
	struct bed_message messages[BED_ROOM];
};

static inline void bed_take_view(void *context, const struct triad_cluster_view *view)
{
	struct bed *bed = context;

	pthread_mutex_lock(&bed->lock);
	bed->number_grows &= view->number > bed->view.number;
	bed->view = *view;
	bed->n_views++;
	pthread_mutex_unlock(&bed->lock);
}

static inline void bed_take_message(
	void *context, uint64_t sender, const void *payload, size_t size)
{
	struct bed *bed = context;
	struct bed_message *message;

	pthread_mutex_lock(&bed->lock);
	message = &bed->messages[bed->n_messages++ % BED_ROOM];
	message->sender = sender;
	message->n_views = bed->n_views;
	snprintf(message->text, sizeof(message->text), "%.*s", (int)size,
		(const char *)payload);
	pthread_mutex_unlock(&bed->lock);
}

static inline struct triad_cluster_sink bed_sink(struct bed *bed)
{
	*bed = (struct bed){.number_grows = true};
	pthread_mutex_init(&bed->lock, NULL);
	return (struct triad_cluster_sink){
		.context = bed, .view = bed_take_view, .message = bed_take_message};
}

/* Until it holds; the test's time-out is what ends it otherwise. */
#define bed_wait(condition)                                                            \
	do                                                                             \
		usleep(1000);                                                          \
	while (!(condition))

static inline struct triad_cluster_view bed_view(struct bed *bed)
{
	struct triad_cluster_view view;

	pthread_mutex_lock(&bed->lock);
	view = bed->view;
	pthread_mutex_unlock(&bed->lock);
	return view;
}

static inline unsigned bed_n_messages(struct bed *bed)
{
	unsigned n;

	pthread_mutex_lock(&bed->lock);
	n = bed->n_messages;
	pthread_mutex_unlock(&bed->lock);
	return n;
}

static inline int bed_send(struct bed *bed, const char *text)
{
	return bed->cluster->ops->send(bed->cluster, text, strlen(text));
}

static inline struct triad_cluster_status bed_status(struct bed *bed)
{
	struct triad_cluster_status status;

	bed->cluster->ops->status(bed->cluster, &status);
	return status;
}

static inline void bed_end(struct bed *bed)
{
	ck_assert(bed->cluster->ops->free(bed->cluster));
	ck_assert(bed->number_grows);
	pthread_mutex_destroy(&bed->lock);
}

#endif
