/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/election/fabric_carrier.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/election/sm_places.h"
#include "portmgr/cluster/cluster.h"
#include "portmgr/cluster/fragments.h"
#include "service/umad.h"
#include "triad/clock.h"
#include "triad/lists.h"

#define LOOK_US TRIAD_US_PER_S         /* between looks at OpenSM's tables */
#define SOON_US (50 * TRIAD_US_PER_MS) /* the same, while they lack a LID */
#define LID_KNOWN_US TRIAD_US_PER_S /* how long to use the LID that a peer sent from */
#define GSI 1u

struct peer {
	uint16_t from_lid;     /* its last fragment's */
	uint16_t received_lid; /* its last authentic datagram's; 0: none */
	uint64_t received_us;
	struct triad_fragments fragments;
};

struct fabric_carrier {
	struct triad_carrier base;
	struct osm_opensm *osm;
	struct triad_umad *umad; /* NULL: not open */
	uint64_t guid;
	uint32_t number; /* of the last datagram */
	uint64_t look_us, up_us;
	uint16_t pkey_index;
	size_t n; /* the first is this SM itself */
	struct triad_sm_tables places[1 + TRIAD_CLUSTER_MAX_MEMBERS];
	struct peer peers[1 + TRIAD_CLUSTER_MAX_MEMBERS]; /* as places */
};

static bool parse(const char *list, struct triad_address *addresses, size_t max,
	size_t *n, char *reason, size_t size)
{
	uint64_t guids[TRIAD_CLUSTER_MAX_MEMBERS];

	if (max > TRIAD_CLUSTER_MAX_MEMBERS)
		max = TRIAD_CLUSTER_MAX_MEMBERS;
	if (!triad_guids_parse(list, guids, max, n, reason, size))
		return false;
	for (size_t i = 0; i < *n; i++)
		addresses[i] = triad_address_of_guid(guids[i]);
	return true;
}

static void close_port(struct fabric_carrier *carrier)
{
	triad_umad_close(carrier->umad, false);
	carrier->umad = NULL;
	carrier->up_us = 0;
}

static bool open_carrier(struct triad_carrier *base, const struct triad_address *own,
	char *reason, size_t size)
{
	struct fabric_carrier *carrier = (struct fabric_carrier *)base;
	int error = ENODEV;

	carrier->guid = triad_address_guid(own);
	/* Numbers continue above those of an earlier process. */
	carrier->number = (uint32_t)triad_clock_boot_us();
	if (!osm_exit_flag)
		error = triad_umad_open_vendor(carrier->guid, TRIAD_FRAGMENT_CLASS,
			triad_fragment_oui, TRIAD_FRAGMENT_METHOD, &carrier->umad);
	if (error) {
		snprintf(reason, size,
			"own port 0x%016" PRIx64
			": %s: another SM may be run on it, or "
			"its driver is away",
			carrier->guid, strerror(error));
		return false;
	}
	carrier->pkey_index = triad_umad_default_pkey(carrier->umad);
	carrier->places[0] = (struct triad_sm_tables){.id = carrier->guid};
	if (!carrier->n)
		carrier->n = 1;
	carrier->look_us = 0;
	return true;
}

static int fd_of(struct triad_carrier *base)
{
	struct fabric_carrier *carrier = (struct fabric_carrier *)base;

	return carrier->umad ? triad_umad_fd(carrier->umad) : -1;
}

/* With 'adds' it adds an unknown peer.  NULL: unknown, or there is no room. */
static struct peer *find_peer(struct fabric_carrier *carrier, uint64_t guid, bool adds)
{
	size_t i = 0;

	while (i < carrier->n && carrier->places[i].id != guid)
		i++;
	if (i == carrier->n) {
		if (!adds || i > TRIAD_CLUSTER_MAX_MEMBERS)
			return NULL;
		carrier->places[i] = (struct triad_sm_tables){.id = guid};
		carrier->n++;
		carrier->look_us = 0;
	}
	return &carrier->peers[i];
}

static void look_for_lids(struct fabric_carrier *carrier)
{
	uint64_t now_us = triad_clock_now_us();

	if (now_us < carrier->look_us ||
		!triad_sm_places_read(carrier->osm, carrier->places, carrier->n))
		return;
	carrier->look_us = now_us + LOOK_US;
	for (size_t i = 0; i < carrier->n; i++)
		if (!carrier->places[i].lid)
			carrier->look_us = now_us + SOON_US;
	/* OpenSM finds its own port first; all other ports are in its tables only after
	 * it has discovered the fabric. */
	if (!carrier->up_us && carrier->places[0].lid &&
		triad_osm_peek(&carrier->osm->subn.sm_state) >
			IB_SMINFO_STATE_DISCOVERING)
		carrier->up_us = now_us;
	if (!carrier->up_us)
		carrier->look_us = now_us + SOON_US;
}

static uint64_t up_us(struct triad_carrier *base)
{
	struct fabric_carrier *carrier = (struct fabric_carrier *)base;

	if (carrier->umad)
		look_for_lids(carrier);
	return carrier->up_us;
}

static uint16_t find_lid(struct fabric_carrier *carrier, const struct peer *peer)
{
	uint16_t lid;

	look_for_lids(carrier);
	lid = carrier->places[peer - carrier->peers].lid;
	if (peer->received_lid &&
		(!lid || triad_clock_now_us() < peer->received_us + LID_KNOWN_US))
		lid = peer->received_lid;
	return lid;
}

static bool send_one(struct triad_carrier *base, const struct triad_address *to,
	const void *datagram, size_t size)
{
	struct fabric_carrier *carrier = (struct fabric_carrier *)base;
	/* Add the peer: only the configuration names destinations. */
	struct peer *peer = find_peer(carrier, triad_address_guid(to), true);
	struct triad_mad_address address = {.qpn = GSI,
		.qkey = TRIAD_MAD_GSI_QKEY,
		.pkey_index = carrier->pkey_index,
		.lid = peer ? find_lid(carrier, peer) : 0};
	const struct triad_mad_transport *transport;

	if (!address.lid || !carrier->umad || osm_exit_flag)
		return false;
	transport = triad_umad_transport(carrier->umad);
	carrier->number++;
	for (unsigned i = 0; i < triad_fragment_count(size); i++) {
		uint8_t mad[TRIAD_MAD_SIZE];
		int error;

		triad_fragment_make(
			mad, carrier->guid, carrier->number, datagram, size, i);
		error = transport->send(transport->context, &address, mad, 0);
		if (error && error != EAGAIN)
			close_port(carrier);
		if (error)
			return false;
	}
	return true;
}

static ssize_t take_fragment(struct fabric_carrier *carrier,
	const struct triad_mad_reply *reply, struct triad_address *from, void *datagram,
	size_t room)
{
	uint64_t guid = triad_fragment_sender(reply->mad, reply->size);
	struct peer *peer = guid ? find_peer(carrier, guid, false) : NULL;
	uint32_t n_cut;
	size_t size;

	carrier->base.n_malformed += !guid;
	carrier->base.n_unknown_senders += guid && !peer;
	if (!peer)
		return -EBADMSG;
	peer->from_lid = reply->lid;
	n_cut = peer->fragments.n_cut;
	size = triad_fragments_add(&peer->fragments, reply->mad);
	carrier->base.n_malformed += peer->fragments.n_cut - n_cut;
	if (!size || size > room)
		return -EBADMSG;
	memcpy(datagram, peer->fragments.octets, size);
	*from = triad_address_of_guid(guid);
	return (ssize_t)size;
}

static ssize_t receive_one(struct triad_carrier *base, struct triad_address *from,
	void *datagram, size_t room)
{
	struct fabric_carrier *carrier = (struct fabric_carrier *)base;
	const struct triad_mad_transport *transport;
	struct triad_mad_reply reply;
	int error;

	if (!carrier->umad)
		return -EAGAIN;
	transport = triad_umad_transport(carrier->umad);
	error = transport->receive(transport->context, 0, &reply);
	if (error && error != EAGAIN)
		close_port(carrier);
	if (error)
		return -EAGAIN;
	/* A failed send is returned as a reply. */
	if (reply.status)
		return -EBADMSG;
	return take_fragment(carrier, &reply, from, datagram, room);
}

static void note_authentic(struct triad_carrier *base, const struct triad_address *from)
{
	struct fabric_carrier *carrier = (struct fabric_carrier *)base;
	struct peer *peer = find_peer(carrier, triad_address_guid(from), false);

	if (!peer)
		return;
	peer->received_lid = peer->from_lid;
	peer->received_us = triad_clock_now_us();
}

static void free_carrier(struct triad_carrier *base)
{
	close_port((struct fabric_carrier *)base);
	free(base);
}

static const struct triad_carrier_ops ops = {.name = "fabric",
	.parse = parse,
	.open = open_carrier,
	.fd = fd_of,
	.up_us = up_us,
	.send = send_one,
	.receive = receive_one,
	.note_authentic = note_authentic,
	.free = free_carrier};

struct triad_carrier *triad_fabric_carrier_new(struct osm_opensm *osm)
{
	struct fabric_carrier *carrier = calloc(1, sizeof(*carrier));

	if (!carrier)
		return NULL;
	carrier->base.ops = &ops;
	carrier->osm = osm;
	return &carrier->base;
}
