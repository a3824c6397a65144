/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <string.h>

#include "plugin/election/elector_parts.h"

/* --- the inbox --- */

void elector_poke(struct triad_elector *elector)
{
	pthread_mutex_lock(&elector->inbox_lock);
	triad_task_wake(&elector->task);
	pthread_mutex_unlock(&elector->inbox_lock);
}

void elector_clear_inbox(struct triad_elector *elector)
{
	pthread_mutex_lock(&elector->inbox_lock);
	triad_inbox_clear(&elector->inbox);
	elector->has_view = false;
	pthread_mutex_unlock(&elector->inbox_lock);
}

/* --- other users of the transport --- */

void triad_elector_set_listener(struct triad_elector *elector,
	enum triad_elector_listener listener, const struct triad_cluster_sink *sink)
{
	pthread_mutex_lock(&elector->listener_lock);
	elector->listeners[listener] = sink ? *sink : (struct triad_cluster_sink){0};
	pthread_mutex_unlock(&elector->listener_lock);
}

/* Gives the payload to the listener of its magic; false when it is the election's. */
static bool hand_payload(struct triad_elector *elector, uint64_t sender,
	const void *payload, size_t size)
{
	static const char *const magics[TRIAD_ELECTOR_N_LISTENERS] = {
		[TRIAD_ELECTOR_PORTS] = "TrPm",
		[TRIAD_ELECTOR_IMAGES] = "TrHi",
		[TRIAD_ELECTOR_SA] = "TrSa",
		[TRIAD_ELECTOR_DAMP] = "TrDm",
	};
	const struct triad_cluster_sink *listener = NULL;

	for (unsigned i = 0; i < TRIAD_ELECTOR_N_LISTENERS; i++)
		if (size >= 4 && !memcmp(payload, magics[i], 4))
			listener = &elector->listeners[i];
	if (!listener)
		return false;
	pthread_mutex_lock(&elector->listener_lock);
	if (listener->message)
		listener->message(listener->context, sender, payload, size);
	pthread_mutex_unlock(&elector->listener_lock);
	return true;
}

/* Calls listeners with the lock held, so that triad_elector_set_listener() can remove
 * one for certain. */
static void hand_view(
	struct triad_elector *elector, const struct triad_cluster_view *view)
{
	pthread_mutex_lock(&elector->listener_lock);
	for (unsigned i = 0; i < TRIAD_ELECTOR_N_LISTENERS; i++)
		if (elector->listeners[i].view)
			elector->listeners[i].view(elector->listeners[i].context, view);
	pthread_mutex_unlock(&elector->listener_lock);
}

/* --- the election --- */

static void receive_view(void *context, const struct triad_cluster_view *view)
{
	struct triad_elector *elector = context;

	hand_view(elector, view);
	pthread_mutex_lock(&elector->inbox_lock);
	elector->view = *view;
	if (elector->inbox.ring.n < TRIAD_INBOX_ROOM)
		(void)triad_inbox_put(&elector->inbox, 0, NULL, 0);
	else
		elector->has_view = true; /* handled when there is room again */
	triad_task_wake(&elector->task);
	pthread_mutex_unlock(&elector->inbox_lock);
}

static void receive_message(
	void *context, uint64_t sender, const void *payload, size_t size)
{
	struct triad_elector *elector = context;

	if (!size || hand_payload(elector, sender, payload, size))
		return;
	pthread_mutex_lock(&elector->inbox_lock);
	(void)triad_inbox_put(&elector->inbox, sender, payload, size);
	triad_task_wake(&elector->task);
	pthread_mutex_unlock(&elector->inbox_lock);
}

struct triad_cluster_sink elector_sink(struct triad_elector *elector)
{
	return (struct triad_cluster_sink){
		.context = elector, .view = receive_view, .message = receive_message};
}
