/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/cluster/transport.h"

/* As in other transports a thread delivers the view. */
static void *deliver_no_view(void *argument)
{
	struct triad_transport *transport = argument;

	triad_transport_report_cut_off(transport, 0);
	triad_transport_trouble(transport,
		"built without Corosync: install libcpg-dev and "
		"libvotequorum-dev and build again, or set election.cluster");
	return NULL;
}

static const struct triad_cluster_ops ops = {.name = "corosync",
	.send = triad_transport_send,
	.send_spare = triad_transport_send_spare,
	.status = triad_transport_status,
	.free = triad_transport_end};

struct triad_cluster *triad_cluster_corosync_new(uint64_t id, const char *group,
	uint32_t n_voters, const struct triad_cluster_sink *sink, struct triad_log *log)
{
	struct triad_transport *transport =
		triad_transport_new(sizeof(*transport), &ops, id, sink, log);

	if (transport &&
		triad_transport_start(transport, "triad-corosync", deliver_no_view)) {
		triad_transport_free(transport);
		return NULL;
	}
	return transport ? &transport->cluster : NULL;
}
