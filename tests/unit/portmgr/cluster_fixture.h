/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A receiver of a transport's views and payloads.  It keeps the last view, the number
 * of views, and all payloads in the order in which they came. */
#ifndef TRIAD_TESTS_UNIT_PORTMGR_CLUSTER_FIXTURE_H
#define TRIAD_TESTS_UNIT_PORTMGR_CLUSTER_FIXTURE_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "portmgr/cluster/cluster.h"
#include "tests/unit/run.h"

#define FIXTURE_ROOM 4096

struct fixture_message {
	uint64_t sender;
	char text[32];
	unsigned n_views; /* received before this message */
};

struct fixture {
	struct triad_cluster *cluster;
	pthread_mutex_t lock;
	struct triad_cluster_view view;
	unsigned n_views, n_messages;
	bool number_grows;
	struct fixture_message messages[FIXTURE_ROOM];
};

static inline void fixture_take_view(
	void *context, const struct triad_cluster_view *view)
{
	struct fixture *fixture = context;

	pthread_mutex_lock(&fixture->lock);
	fixture->number_grows &= view->number > fixture->view.number;
	fixture->view = *view;
	fixture->n_views++;
	pthread_mutex_unlock(&fixture->lock);
}

static inline void fixture_take_message(
	void *context, uint64_t sender, const void *payload, size_t size)
{
	struct fixture *fixture = context;
	struct fixture_message *message;

	pthread_mutex_lock(&fixture->lock);
	message = &fixture->messages[fixture->n_messages++ % FIXTURE_ROOM];
	message->sender = sender;
	message->n_views = fixture->n_views;
	snprintf(message->text, sizeof(message->text), "%.*s", (int)size,
		(const char *)payload);
	pthread_mutex_unlock(&fixture->lock);
}

static inline struct triad_cluster_sink fixture_sink(struct fixture *fixture)
{
	*fixture = (struct fixture){.number_grows = true};
	pthread_mutex_init(&fixture->lock, NULL);
	return (struct triad_cluster_sink){.context = fixture,
		.view = fixture_take_view,
		.message = fixture_take_message};
}

/* Waits until the condition holds.  If it never does, libcheck's time-out ends the
 * test. */
#define fixture_wait(condition)                                                        \
	do                                                                             \
		usleep(1000);                                                          \
	while (!(condition))

static inline struct triad_cluster_view fixture_view(struct fixture *fixture)
{
	struct triad_cluster_view view;

	pthread_mutex_lock(&fixture->lock);
	view = fixture->view;
	pthread_mutex_unlock(&fixture->lock);
	return view;
}

static inline unsigned fixture_n_messages(struct fixture *fixture)
{
	unsigned n;

	pthread_mutex_lock(&fixture->lock);
	n = fixture->n_messages;
	pthread_mutex_unlock(&fixture->lock);
	return n;
}

static inline int fixture_send(struct fixture *fixture, const char *text)
{
	return fixture->cluster->ops->send(fixture->cluster, text, strlen(text));
}

static inline struct triad_cluster_status fixture_status(struct fixture *fixture)
{
	struct triad_cluster_status status;

	fixture->cluster->ops->status(fixture->cluster, &status);
	return status;
}

static inline void fixture_end(struct fixture *fixture)
{
	ck_assert(fixture->cluster->ops->free(fixture->cluster));
	ck_assert(fixture->number_grows);
	pthread_mutex_destroy(&fixture->lock);
}

#endif
