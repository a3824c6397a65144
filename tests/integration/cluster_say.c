/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A member of a Corosync group:
 *
 *     cluster_say GROUP ID [VOTERS]
 *
 * Prints each event as a line of JSON: {"view": ...}, {"sender": ..., "text": ...}.
 * Sends each line of input and prints {"said": "TEXT", "error": 0}; for "?" it prints
 * the status instead.  At the end of its input it prints {"ended": true}, or false when
 * the thread did not end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "portmgr/cluster/cluster.h"

static void print_view(void *context, const struct triad_cluster_view *view)
{
	flockfile(stdout);
	printf("{\"view\":%" PRIu64 ",\"connected\":%s,\"quorate\":%s,\"needed\":%u,"
	       "\"members\":[",
		view->number, view->is_connected ? "true" : "false",
		view->is_quorate ? "true" : "false", view->n_votes_needed);
	for (uint32_t i = 0; i < view->n_members; i++)
		printf("%s%" PRIu64, i ? "," : "", view->members[i]);
	printf("]}\n");
	fflush(stdout);
	funlockfile(stdout);
}

static void print_message(
	void *context, uint64_t sender, const void *payload, size_t size)
{
	printf("{\"sender\":%" PRIu64 ",\"text\":\"%.*s\"}\n", sender, (int)size,
		(const char *)payload);
	fflush(stdout);
}

static void print_status(struct triad_cluster *cluster)
{
	struct triad_cluster_status status;

	cluster->ops->status(cluster, &status);
	printf("{\"sent\":%" PRIu64 ",\"received\":%" PRIu64 ",\"failed\":%" PRIu64
	       ",\"reconnects\":%" PRIu64 ",\"strangers\":%" PRIu64
	       ",\"trouble\":\"%s\"}\n",
		status.n_sent, status.n_received, status.n_send_failed,
		status.n_reconnects, status.n_unknown_senders, status.trouble);
	fflush(stdout);
}

static void send_line(struct triad_cluster *cluster, const char *text)
{
	const int error = cluster->ops->send(cluster, text, strlen(text));

	printf("{\"said\":\"%s\",\"error\":%d}\n", text, error);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct triad_cluster_sink sink = {
		.view = print_view, .message = print_message};
	struct triad_cluster *cluster;
	char line[256];
	bool ended;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: cluster_say GROUP ID [VOTERS]\n");
		return 2;
	}
	cluster = triad_cluster_corosync_new(strtoull(argv[2], NULL, 0), argv[1],
		argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 0) : 0, &sink, NULL);
	if (!cluster)
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "?") == 0)
			print_status(cluster);
		else
			send_line(cluster, line);
	}
	ended = cluster->ops->free(cluster);
	printf("{\"ended\":%s}\n", ended ? "true" : "false");
	fflush(stdout);
	_exit(0); /* a thread that still runs is no leak */
}
