/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Peers by datagrams, over a carrier (carrier.h).
 *
 * One thread, triad-peers, owns the carrier and everything except what transport.h
 * guards.
 * Its step: update the view by silence; receive at most BATCH datagrams; send queued
 * payloads; send due keepalives.  So a flood takes only the time of a batch.  Only
 * poll() and reading the key block; an unusable key is read again once a second.
 *
 * Silence comes first: a process that was paused has received nothing for long, and
 * must report that before it reads what waits in the carrier. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/random_number.h"
#include "portmgr/cluster/carrier.h"
#include "portmgr/cluster/key_file.h"
#include "portmgr/cluster/seal.h"
#include "portmgr/cluster/transport.h"
#include "triad/clock.h"

#define BATCH 64
#define AGAIN_US TRIAD_US_PER_S          /* before key or carrier are tried again */
#define TROUBLE_US (10 * TRIAD_US_PER_S) /* how long to show a trouble with a peer */
#define TROUBLE_SIZE sizeof(((struct triad_cluster_status *)0)->trouble)

struct peer {
	struct triad_seal_peer seal;
	bool is_self, is_member;
	uint64_t received_us;
	uint64_t send_us; /* when the next keepalive is due */
};

struct peers {
	struct triad_transport base;
	struct triad_cluster_ops ops; /* with the carrier's name */
	struct triad_carrier *carrier;
	char *key_file;
	uint64_t keepalive_us, silence_us;
	struct triad_address own;
	struct triad_address addresses[TRIAD_CLUSTER_MAX_MEMBERS];
	size_t n;
	char wrong[TROUBLE_SIZE]; /* a configuration error: permanent */

	bool has_key;
	uint64_t again_us;
	uint64_t first_us; /* when the first datagram of a peer came; 0: none yet */
	char broken[TROUBLE_SIZE];    /* about key or carrier */
	char complaint[TROUBLE_SIZE]; /* about a peer */
	uint64_t complaint_until_us;
	struct triad_seal seal;
	struct peer peers[TRIAD_CLUSTER_MAX_MEMBERS]; /* as addresses */
};

/* --- configuration --- */

static bool check_addresses(struct peers *peers)
{
	char text[TRIAD_ADDRESS_TEXT_SIZE];
	size_t n_own = 0;

	for (size_t i = 0; i < peers->n; i++) {
		triad_address_format(&peers->addresses[i], text);
		for (size_t j = 0; j < i; j++)
			if (triad_address_equals(
				    &peers->addresses[i], &peers->addresses[j])) {
				snprintf(peers->wrong, sizeof(peers->wrong),
					"%s is among the peers twice: list it once",
					text);
				return false;
			}
		n_own += triad_address_equals(&peers->addresses[i], &peers->own);
	}
	if (n_own)
		return true;
	triad_address_format(&peers->own, text);
	snprintf(peers->wrong, sizeof(peers->wrong),
		"the peers lack this host's own address %s: the list has all of them, "
		"the same everywhere",
		text);
	return false;
}

static bool open_peers(struct peers *peers, const struct triad_cluster_peers_conf *conf)
{
	const struct triad_carrier_ops *ops = peers->carrier->ops;
	char reason[256];
	size_t n_own = 0;

	peers->keepalive_us = conf->keepalive_ms * TRIAD_US_PER_MS;
	peers->silence_us = conf->silence_ms * TRIAD_US_PER_MS;
	if (!ops->parse(conf->own, &peers->own, 1, &n_own, reason, sizeof(reason)) ||
		!ops->parse(conf->peers, peers->addresses, TRIAD_CLUSTER_MAX_MEMBERS,
			&peers->n, reason, sizeof(reason))) {
		snprintf(peers->wrong, sizeof(peers->wrong), "%.150s", reason);
		return false;
	}
	if (!n_own) {
		snprintf(peers->wrong, sizeof(peers->wrong),
			"this host's own address is missing: set election.listen");
		return false;
	}
	return check_addresses(peers);
}

/* --- trouble --- */

/* Shows the trouble with a peer until the next one, or for a while. */
static void complain_of_peer(
	struct peers *peers, const struct peer *about, const char *what)
{
	char text[TRIAD_ADDRESS_TEXT_SIZE];

	triad_address_format(&about->seal.address, text);
	snprintf(peers->complaint, sizeof(peers->complaint), "peer %s %.90s", text,
		what);
	peers->complaint_until_us = triad_clock_now_us() + TROUBLE_US;
}

static void log_trouble(struct peers *peers, uint64_t now_us)
{
	const char *trouble = peers->wrong;

	if (!*trouble)
		trouble = peers->broken;
	if (!*trouble && now_us < peers->complaint_until_us)
		trouble = peers->complaint;
	triad_transport_trouble(&peers->base, trouble);
}

/* --- key and carrier --- */

static uint64_t draw(void *context)
{
	return triad_random_number();
}

static bool get_key(struct peers *peers)
{
	uint8_t key[TRIAD_KEY_MAX_SIZE];
	size_t size;

	if (!triad_key_file_read(
		    peers->key_file, key, &size, peers->broken, sizeof(peers->broken)))
		return false;
	/* The seal keeps what it needs of the key; erase the rest. */
	triad_seal_init(
		&peers->seal, peers->base.id, &peers->own, key, size, draw, NULL);
	explicit_bzero(key, sizeof(key));
	for (size_t i = 0; i < peers->n; i++) {
		struct peer *peer = &peers->peers[i];

		triad_seal_peer_init(&peers->seal, &peer->seal, &peers->addresses[i]);
		peer->is_self = triad_address_equals(&peers->addresses[i], &peers->own);
	}
	return true;
}

static bool open_carrier(struct peers *peers)
{
	peers->first_us = 0;
	if (peers->carrier->ops->open(
		    peers->carrier, &peers->own, peers->broken, sizeof(peers->broken)))
		return true;
	triad_transport_count(&peers->base, &peers->base.status.n_reconnects);
	return false;
}

static int carrier_fd(const struct peers *peers)
{
	return peers->carrier->ops->fd(peers->carrier);
}

static bool is_working(const struct peers *peers)
{
	return peers->has_key && carrier_fd(peers) >= 0;
}

static void prepare_carrier(struct peers *peers, uint64_t now_us)
{
	if (*peers->wrong || is_working(peers) || now_us < peers->again_us)
		return;
	peers->again_us = now_us + AGAIN_US;
	if (!peers->has_key)
		peers->has_key = get_key(peers);
	if (peers->has_key && open_carrier(peers))
		*peers->broken = '\0';
}

/* --- the view --- */

static bool is_past(uint64_t since_us, uint64_t length_us)
{
	return since_us && triad_clock_now_us() >= since_us + length_us;
}

/* Whether all peers are members, or had time to send since the carrier can reach them, or
 * did reach one.  Before that none counts as missing: a view without the master, of an SM
 * that starts or changes its settings, would make this SM a master, too. */
static bool has_had_time(const struct peers *peers)
{
	if (is_past(peers->first_us, peers->silence_us) ||
		is_past(peers->carrier->ops->up_us(peers->carrier), peers->silence_us))
		return true;
	for (size_t i = 0; i < peers->n; i++)
		if (!peers->peers[i].is_self && !peers->peers[i].is_member)
			return false;
	return true;
}

static void deliver_view(struct peers *peers)
{
	struct triad_cluster_view view = {.is_connected = true,
		.n_votes_needed = triad_cluster_majority((uint32_t)peers->n)};

	if (!is_working(peers) || !has_had_time(peers)) {
		triad_transport_report_cut_off(&peers->base, view.n_votes_needed);
		return;
	}
	for (size_t i = 0; i < peers->n; i++) {
		const struct peer *peer = &peers->peers[i];

		if (peer->is_self)
			view.members[view.n_members++] = peers->base.id;
		else if (peer->is_member)
			view.members[view.n_members++] = peer->seal.their_id;
	}
	view.is_quorate = view.n_members >= view.n_votes_needed;
	triad_transport_report_view(&peers->base, &view);
}

static void end_silent(struct peers *peers, uint64_t now_us)
{
	for (size_t i = 0; i < peers->n; i++) {
		struct peer *peer = &peers->peers[i];

		if (now_us - peer->received_us >= peers->silence_us)
			peer->is_member = false;
	}
	deliver_view(peers);
}

/* Whether another member has the id.  Two peers with one id would count as two members
 * but have one vote. */
static bool is_taken(const struct peers *peers, const struct peer *by, uint64_t id)
{
	if (id == peers->base.id)
		return true;
	for (size_t i = 0; i < peers->n; i++) {
		const struct peer *other = &peers->peers[i];

		if (other != by && other->is_member && other->seal.their_id == id)
			return true;
	}
	return false;
}

/* --- sending --- */

static bool send_to(struct peers *peers, struct peer *peer, enum triad_seal_kind kind,
	const struct triad_transport_payload *payload, uint64_t now_us)
{
	uint8_t datagram[TRIAD_SEAL_MAX_SIZE];
	size_t size = triad_seal_make(&peers->seal, &peer->seal, kind,
		payload ? payload->octets : NULL, payload ? payload->size : 0,
		datagram);

	/* Every datagram also serves as a keepalive: restart the time of the next
	 * one. */
	peer->send_us = now_us + peers->keepalive_us;
	if (peers->carrier->ops->send(
		    peers->carrier, &peer->seal.address, datagram, size))
		return true;
	triad_transport_count(&peers->base, &peers->base.status.n_send_failed);
	return false;
}

/* Sends a payload to all peers.  Delivers it here if it went to at least one of them,
 * as cluster.h requires, or if the list has no other peer. */
static void send_payload(struct peers *peers,
	const struct triad_transport_payload *payload, uint64_t now_us)
{
	bool is_sent = peers->n == 1;

	for (size_t i = 0; i < peers->n; i++)
		if (!peers->peers[i].is_self &&
			send_to(peers, &peers->peers[i], TRIAD_SEAL_PAYLOAD, payload,
				now_us))
			is_sent = true;
	if (!is_sent)
		return;
	triad_transport_count(&peers->base, &peers->base.status.n_sent);
	triad_transport_deliver(
		&peers->base, peers->base.id, payload->octets, payload->size);
}

/* Sends what is in the queue now.  What receivers queue meanwhile waits for the next
 * step. */
static void send_queued(struct peers *peers, uint64_t now_us)
{
	struct triad_transport_payload payload;

	for (unsigned i = 0; i < TRIAD_TRANSPORT_QUEUE; i++) {
		if (!triad_transport_peek(&peers->base, &payload))
			return;
		triad_transport_drop(&peers->base);
		send_payload(peers, &payload, now_us);
	}
}

/* --- receiving --- */

static void handle_accepted(struct peers *peers, struct peer *peer,
	const struct triad_seal_opened *opened, uint64_t now_us)
{
	/* The key is right, so the operator made a mistake: this is no attack. */
	if (is_taken(peers, peer, opened->id)) {
		peer->is_member = false;
		deliver_view(peers);
		triad_transport_count(
			&peers->base, &peers->base.status.n_unknown_senders);
		complain_of_peer(peers, peer,
			"has another member's port GUID: two SMs are run on one port");
		return;
	}
	peer->is_member = true;
	peer->received_us = now_us;
	if (!peers->first_us)
		peers->first_us = now_us;
	deliver_view(peers);
	if (opened->kind == TRIAD_SEAL_PAYLOAD)
		triad_transport_deliver(
			&peers->base, opened->id, opened->payload, opened->size);
}

static void count_verdict(
	struct peers *peers, const struct peer *peer, enum triad_seal_verdict verdict)
{
	struct triad_cluster_status *status = &peers->base.status;
	uint64_t *counters[] = {
		[TRIAD_SEAL_OLD] = &status->n_replayed,
		[TRIAD_SEAL_FORGED] = &status->n_forged,
		[TRIAD_SEAL_MALFORMED] = &status->n_malformed,
		[TRIAD_SEAL_OTHER_VERSION] = &status->n_versions,
	};

	if (counters[verdict])
		triad_transport_count(&peers->base, counters[verdict]);
	if (verdict == TRIAD_SEAL_OTHER_VERSION)
		complain_of_peer(
			peers, peer, "speaks another version: install the same Triad");
	/* If the peer is a member, somebody else probably forges: only count it. */
	if (verdict == TRIAD_SEAL_FORGED && !peer->is_member)
		complain_of_peer(peers, peer,
			"isn't authentic: it has another key, or list of peers");
}

static void handle_datagram(struct peers *peers, const struct triad_address *from,
	const uint8_t *datagram, size_t size, uint64_t now_us)
{
	struct peer *peer = NULL;
	struct triad_seal_opened opened;
	enum triad_seal_verdict verdict;

	for (size_t i = 0; i < peers->n && !peer; i++)
		if (!peers->peers[i].is_self &&
			triad_address_equals(&peers->peers[i].seal.address, from))
			peer = &peers->peers[i];
	if (!peer) {
		triad_transport_count(
			&peers->base, &peers->base.status.n_unknown_senders);
		return;
	}
	verdict = triad_seal_open(
		&peers->seal, &peer->seal, datagram, size, now_us, &opened);
	count_verdict(peers, peer, verdict);
	/* Ignore the source of a hello for a member: a replay could redirect
	 * datagrams. */
	if ((verdict == TRIAD_SEAL_ACCEPTED ||
		    (verdict == TRIAD_SEAL_HELLO && !peer->is_member)) &&
		peers->carrier->ops->note_authentic)
		peers->carrier->ops->note_authentic(peers->carrier, from);
	if (verdict == TRIAD_SEAL_ACCEPTED)
		handle_accepted(peers, peer, &opened, now_us);
	if (opened.answer)
		send_to(peers, peer, TRIAD_SEAL_KEEPALIVE, NULL, now_us);
}

static void count_dropped(struct peers *peers)
{
	struct triad_carrier *carrier = peers->carrier;
	struct triad_cluster_status *status = &peers->base.status;

	triad_transport_add(&peers->base, &status->n_malformed, carrier->n_malformed);
	triad_transport_add(
		&peers->base, &status->n_unknown_senders, carrier->n_unknown_senders);
	carrier->n_malformed = carrier->n_unknown_senders = 0;
}

/* Takes at most BATCH datagrams, or parts of them. */
static void receive_datagrams(struct peers *peers, uint64_t now_us)
{
	uint8_t datagram[TRIAD_SEAL_MAX_SIZE +
		1]; /* one more, to detect too large ones */

	for (unsigned i = 0; i < BATCH; i++) {
		struct triad_address from;
		ssize_t size = peers->carrier->ops->receive(
			peers->carrier, &from, datagram, sizeof(datagram));

		if (size == -EAGAIN)
			break;
		if (size >= 0)
			handle_datagram(peers, &from, datagram, (size_t)size, now_us);
	}
	count_dropped(peers);
}

/* --- the thread --- */

static int sleep_ms(const struct peers *peers, uint64_t now_us)
{
	uint64_t until_us = now_us + TRIAD_US_PER_S;

	if (!is_working(peers))
		return (int)(AGAIN_US / TRIAD_US_PER_MS);
	for (size_t i = 0; i < peers->n; i++) {
		const struct peer *peer = &peers->peers[i];

		if (peer->is_self)
			continue;
		until_us = triad_clock_earlier(until_us, peer->send_us);
		if (peer->is_member && peer->received_us + peers->silence_us < until_us)
			until_us = peer->received_us + peers->silence_us;
	}
	if (until_us <= now_us)
		return 0;
	/* Round up, or the thread would wake just before the time, and again. */
	return (int)((until_us - now_us + TRIAD_US_PER_MS - 1) / TRIAD_US_PER_MS);
}

static void run_once(struct peers *peers)
{
	const uint64_t now_us = triad_clock_now_us();

	prepare_carrier(peers, now_us);
	end_silent(peers, now_us);
	if (is_working(peers)) {
		receive_datagrams(peers, now_us);
		send_queued(peers, now_us);
		/* Keepalives come last: a peer that just got a payload needs none. */
		for (size_t i = 0; i < peers->n; i++)
			if (!peers->peers[i].is_self &&
				now_us >= peers->peers[i].send_us)
				send_to(peers, &peers->peers[i], TRIAD_SEAL_KEEPALIVE,
					NULL, now_us);
	}
	log_trouble(peers, now_us);
}

static void *run_peers(void *argument)
{
	struct peers *peers = argument;

	while (triad_transport_drain(&peers->base)) {
		struct pollfd polled[] = {
			{.fd = peers->base.event, .events = POLLIN},
			{.fd = -1, .events = POLLIN},
		};

		run_once(peers);
		polled[1].fd = carrier_fd(peers);
		(void)poll(polled, 2, sleep_ms(peers, triad_clock_now_us()));
	}
	return NULL;
}

/* --- from outside --- */

static void free_peers(struct peers *peers)
{
	peers->carrier->ops->free(peers->carrier);
	explicit_bzero(&peers->seal, sizeof(peers->seal));
	free(peers->key_file);
	triad_transport_free(&peers->base);
}

static bool end_peers(struct triad_cluster *cluster)
{
	struct peers *peers = (struct peers *)cluster;

	if (!triad_transport_stop(&peers->base))
		return false;
	free_peers(peers);
	return true;
}

static const struct triad_cluster_ops cluster_ops = {.send = triad_transport_send,
	.send_spare = triad_transport_send_spare,
	.status = triad_transport_status,
	.free = end_peers};

struct triad_cluster *triad_cluster_peers_new(
	const struct triad_cluster_peers_conf *conf, struct triad_carrier *carrier,
	const struct triad_cluster_sink *sink, struct triad_log *log)
{
	struct peers *peers = carrier
		? triad_transport_new(sizeof(*peers), &cluster_ops, conf->id, sink, log)
		: NULL;

	if (!peers) {
		if (carrier)
			carrier->ops->free(carrier);
		return NULL;
	}
	peers->ops = cluster_ops;
	peers->ops.name = carrier->ops->name;
	peers->base.cluster.ops = &peers->ops;
	peers->carrier = carrier;
	peers->key_file = strdup(conf->key_file);
	(void)open_peers(peers, conf);
	if (!peers->key_file ||
		triad_transport_start(&peers->base, "triad-peers", run_peers)) {
		free_peers(peers);
		return NULL;
	}
	return &peers->base.cluster;
}
