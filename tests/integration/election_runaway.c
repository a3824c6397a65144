/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A member of an election that misbehaves: it answers each message with STATUS, as a
 * master of the highest priority, and with CEDE.
 *
 *     election_runaway corosync GROUP ID
 *     election_runaway peers ID LISTEN PEERS KEY_FILE
 *
 * Runs until its input ends, then prints how many messages it sent. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "portmgr/cluster/carrier.h"
#include "portmgr/cluster/cluster.h"
#include "portmgr/election/message.h"

static _Atomic(struct triad_cluster *) cluster;
static uint64_t own_id;
static atomic_ulong n_sent;

static void send_message(const struct triad_election_message *message)
{
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	size_t size = triad_election_message_encode(message, octets);
	struct triad_cluster *to = atomic_load(&cluster);

	if (to && !to->ops->send(to, octets, size))
		atomic_fetch_add(&n_sent, 1);
}

static void take_message(
	void *context, uint64_t sender, const void *payload, size_t size)
{
	struct triad_election_message theirs,
		message = {
			.state = TRIAD_ELECTION_MASTER,
			.flags = TRIAD_ELECTION_IS_ABLE | TRIAD_ELECTION_SM_IS_MASTER,
			.from = own_id,
			.priority = (UINT32_C(1) << 25) - 1,
			.lease_ms = 300,
		};

	(void)context;
	if (sender == own_id || triad_election_message_decode(&theirs, payload, size))
		return;
	message.kind = TRIAD_ELECTION_STATUS;
	message.term = theirs.term;
	message.round = atomic_load(&n_sent);
	send_message(&message);
	message.kind = TRIAD_ELECTION_CEDE;
	message.to = sender;
	message.answers = theirs.round;
	send_message(&message);
}

static void take_view(void *context, const struct triad_cluster_view *view)
{
	(void)context;
	(void)view;
}

static struct triad_cluster *join(int argc, char **argv, struct triad_log *log)
{
	const struct triad_cluster_sink sink = {
		.view = take_view, .message = take_message};
	struct triad_cluster_peers_conf peers = {
		.keepalive_ms = 100, .silence_ms = 500};

	if (argc == 4 && !strcmp(argv[1], "corosync")) {
		own_id = strtoull(argv[3], NULL, 0);
		return triad_cluster_corosync_new(own_id, argv[2], 0, &sink, log);
	}
	if (argc != 6 || strcmp(argv[1], "peers"))
		return NULL;
	own_id = strtoull(argv[2], NULL, 0);
	peers.id = own_id;
	peers.own = argv[3];
	peers.peers = argv[4];
	peers.key_file = argv[5];
	return triad_cluster_peers_new(&peers, triad_udp_carrier_new(), &sink, log);
}

static void write_line(void *context, enum triad_log_level level, const char *line)
{
	(void)context;
	(void)level;
	fprintf(stderr, "%s\n", line);
}

int main(int argc, char **argv)
{
	struct triad_log log = {.write = write_line, .level = TRIAD_LOG_INFO};
	struct triad_cluster *joined = join(argc, argv, &log);
	char octet;

	if (!joined) {
		fprintf(stderr,
			"usage: election_runaway corosync GROUP ID\n"
			"       election_runaway peers ID LISTEN PEERS KEY\n");
		return 2;
	}
	atomic_store(&cluster, joined);
	while (read(STDIN_FILENO, &octet, 1) > 0)
		continue;
	atomic_store(&cluster, NULL);
	printf("%lu\n", atomic_load(&n_sent));
	joined->ops->free(joined);
	return 0;
}
