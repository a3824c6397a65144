/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <poll.h>

#include "portmgr/cluster/transport.h"

static void *deliver_own_view(void *argument)
{
	struct triad_transport *alone = argument;
	struct triad_cluster_view view = {.is_connected = true,
		.is_quorate = true,
		.n_members = 1,
		.n_votes_needed = 1};
	struct pollfd polled = {.fd = alone->event, .events = POLLIN};
	struct triad_transport_payload payload;

	view.members[0] = alone->id;
	triad_transport_report_view(alone, &view);
	while (triad_transport_drain(alone)) {
		while (triad_transport_peek(alone, &payload)) {
			triad_transport_drop(alone);
			triad_transport_count(alone, &alone->status.n_sent);
			triad_transport_deliver(
				alone, alone->id, payload.octets, payload.size);
		}
		(void)poll(&polled, 1, -1);
	}
	return NULL;
}

static const struct triad_cluster_ops ops = {.name = "none",
	.send = triad_transport_send,
	.send_spare = triad_transport_send_spare,
	.status = triad_transport_status,
	.free = triad_transport_end};

struct triad_cluster *triad_cluster_alone_new(
	uint64_t id, const struct triad_cluster_sink *sink)
{
	struct triad_transport *alone =
		triad_transport_new(sizeof(*alone), &ops, id, sink, NULL);

	if (alone && triad_transport_start(alone, "triad-alone", deliver_own_view)) {
		triad_transport_free(alone);
		return NULL;
	}
	return alone ? &alone->cluster : NULL;
}
