/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A process group of Corosync's.
 *
 * One thread, triad-corosync, has two connections: libcpg's (members, messages, the ring)
 * and libvotequorum's (how many votes Corosync expects; not if the configuration has
 * the number of voters).  A member of the group is a (node, process).  The header of
 * each message names the sender's SM, so each member announces itself, with only a
 * header, whenever the members change (group.h). libcpg does not let a process join
 * twice.
 *
 * Corosync's own quorum does not matter: it is one of nodes, also of such that have no
 * SM, and two of its partitions may have it one after the other without a node in
 * common that knows what the first one did.  The view's quorum is a majority of the SMs
 * that are configured to vote: of as many as Corosync expects votes, or as the
 * configuration says.  The number that is expected never falls while this runs, or a
 * Corosync that adapts it to the nodes present (last_man_standing, allow_downscale)
 * would make the majority one of these.
 *
 * When a new ring forms, the thread waits until it is known, at most SETTLE_US, before
 * it delivers a view.  But a message delivers the view at once, because its order among
 * views matters.
 *
 * When Corosync hangs (SIGSTOP), the thread may hang, too: connecting, joining, leaving
 * (cpg_finalize), cpg_local_get and votequorum_getinfo wait for its answer without a
 * limit. cpg_mcast_joined does not wait, and returns CS_ERR_TRY_AGAIN
 * when its buffer is full.  But libqb spins when Corosync does not take some 280
 * messages, so at most WINDOW are sent before one has come back.  The dispatches read
 * what has arrived, and don't wait.  So a hanging Corosync shows in own payloads that
 * don't come back, and in a full queue. */
#include <corosync/cpg.h>
#include <corosync/votequorum.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "portmgr/cluster/group.h"
#include "portmgr/cluster/transport.h"
#include "triad/clock.h"

#define MAX_GROUP 100u
#define RETRY_US (250 * TRIAD_US_PER_MS)
#define RESEND_MS 5
#define WINDOW 32u /* the most own messages under way */
#define SETTLE_US (50 * TRIAD_US_PER_MS)
#define N_FDS 2u
#define TROUBLE_SIZE sizeof(((struct triad_cluster_status *)0)->trouble)

struct corosync {
	struct triad_transport base;
	struct cpg_name group;
	uint32_t n_voters_set; /* by the configuration; 0: as Corosync expects votes */
	uint32_t n_voters;     /* 0: not known yet */
	char wrong[TROUBLE_SIZE]; /* a configuration error: permanent */

	/* State of the connection. */
	bool is_open, is_broken;
	bool has_cpg, has_votes;
	cpg_handle_t cpg;
	votequorum_handle_t votes;
	int fds[N_FDS]; /* of libcpg and libvotequorum; -1: not open */
	uint32_t node, pid;
	uint64_t again_us;

	/* State of the group. */
	struct triad_group members;
	struct triad_group_ring ring;
	bool is_in;
	bool announce, must_resend;
	unsigned n_in_flight; /* own messages that have not come back yet */
	bool is_view_due;
	uint64_t settle_until_us;
	char complaint[TROUBLE_SIZE]; /* about a member */
};

/* --- the view --- */

static void note_change(struct corosync *corosync)
{
	/* Count from the first of several changes, so that the wait ends. */
	if (!corosync->is_view_due)
		corosync->settle_until_us = triad_clock_now_us() + SETTLE_US;
	corosync->is_view_due = true;
}

static void check(struct corosync *corosync, cs_error_t error)
{
	if (error != CS_OK && error != CS_ERR_TRY_AGAIN)
		corosync->is_broken = true;
}

/* Finds how many SMs vote.  Waits for Corosync's answer. */
static void ask_votes(struct corosync *corosync)
{
	struct votequorum_info info;
	cs_error_t error;

	if (!corosync->has_votes)
		return;
	error = votequorum_getinfo(corosync->votes, corosync->node, &info);
	check(corosync, error);
	if (error != CS_OK)
		return;
	if (corosync->n_voters < info.highest_expected)
		corosync->n_voters = info.highest_expected;
	if (corosync->n_voters < info.node_expected_votes)
		corosync->n_voters = info.node_expected_votes;
}

static void read_votes(struct corosync *corosync)
{
	if (corosync->has_votes)
		check(corosync, votequorum_dispatch(corosync->votes, CS_DISPATCH_ALL));
}

/* With more members than voters, two parts of the group may each have a majority. */
static void complain_about_number(struct corosync *corosync)
{
	const size_t n = corosync->members.n;

	/* What is wrong with one member says more. */
	if (*corosync->complaint)
		return;
	if (n > TRIAD_CLUSTER_MAX_MEMBERS)
		snprintf(corosync->complaint, sizeof(corosync->complaint),
			"group %.60s has %zu members, more than %u",
			corosync->group.value, n, TRIAD_CLUSTER_MAX_MEMBERS);
	else if (corosync->n_voters && n > corosync->n_voters)
		snprintf(corosync->complaint, sizeof(corosync->complaint),
			"group %.40s has %zu SMs, and %u vote by configuration: set "
			"election.voters to the number of SMs, on all of them",
			corosync->group.value, n, corosync->n_voters);
}

static void deliver_view(struct corosync *corosync)
{
	struct triad_cluster_view view;

	corosync->is_view_due = false;
	ask_votes(corosync);
	if (!corosync->is_in || corosync->is_broken)
		return;
	complain_about_number(corosync);
	view = triad_group_view(
		&corosync->members, &corosync->ring, corosync->n_voters);
	triad_transport_report_view(&corosync->base, &view);
}

static void report_cut_off(struct corosync *corosync)
{
	triad_transport_report_cut_off(
		&corosync->base, triad_cluster_majority(corosync->n_voters));
}

/* --- what Corosync calls, from the dispatches --- */

static bool is_of_nodes(const struct cpg_address *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].reason == CPG_REASON_NODEDOWN ||
			list[i].reason == CPG_REASON_NODEUP)
			return true;
	return false;
}

static struct corosync *of_cpg(cpg_handle_t handle)
{
	void *context = NULL;

	cpg_context_get(handle, &context);
	return context;
}

static void set_members(
	struct corosync *corosync, const struct cpg_address *list, size_t n)
{
	struct triad_group before = corosync->members;

	/* Members that stay keep the id from their announcement. */
	triad_group_begin(&corosync->members);
	for (size_t i = 0; i < n; i++)
		triad_group_add(
			&corosync->members, &before, list[i].nodeid, list[i].pid);
	corosync->is_in = triad_group_name(
		&corosync->members, corosync->node, corosync->pid, corosync->base.id);
	*corosync->complaint = '\0';
}

/* When nodes come or go, the ring changes, too.  Corosync delivers the new ring next;
 * it is unknown until then. */
static void receive_group(cpg_handle_t handle, const struct cpg_name *group,
	const struct cpg_address *members, size_t n, const struct cpg_address *left,
	size_t n_left, const struct cpg_address *joined, size_t n_joined)
{
	struct corosync *corosync = of_cpg(handle);

	set_members(corosync, members, n);
	if (is_of_nodes(left, n_left) || is_of_nodes(joined, n_joined))
		corosync->ring.is_known = false;
	corosync->announce = true;
	note_change(corosync);
}

static void receive_ring(
	cpg_handle_t handle, struct cpg_ring_id ring, uint32_t n, const uint32_t *nodes)
{
	struct corosync *corosync = of_cpg(handle);

	corosync->ring.is_known = true;
	corosync->ring.n_nodes = n <= TRIAD_CLUSTER_MAX_MEMBERS ? n : 0;
	for (uint32_t i = 0; i < corosync->ring.n_nodes; i++)
		corosync->ring.nodes[i] = nodes[i];
	note_change(corosync);
}

static void complain_of_process(struct corosync *corosync,
	const struct triad_group_member *about, const char *what, uint64_t *counter)
{
	triad_transport_count(&corosync->base, counter);
	snprintf(corosync->complaint, sizeof(corosync->complaint),
		"process %u on node %u %.90s", about->pid, about->node, what);
}

/* Counts and reports the verdict; false: the message has no valid payload. */
static bool handle_verdict(struct corosync *corosync, enum triad_group_verdict verdict,
	const struct triad_group_message *message)
{
	struct triad_cluster_status *status = &corosync->base.status;

	switch (verdict) {
	case TRIAD_GROUP_TAKEN:
		if (message->is_news)
			note_change(corosync);
		return message->payload;
	case TRIAD_GROUP_MALFORMED:
		triad_transport_count(&corosync->base, &status->n_malformed);
		break;
	case TRIAD_GROUP_UNKNOWN_SENDER:
		triad_transport_count(&corosync->base, &status->n_unknown_senders);
		break;
	case TRIAD_GROUP_VERSION:
		complain_of_process(corosync, message->from,
			"speaks another version: install the same",
			&status->n_versions);
		break;
	case TRIAD_GROUP_DUPLICATE_ID:
		complain_of_process(corosync, message->from,
			"has another member's port GUID: two SMs are run on one port",
			&status->n_unknown_senders);
		break;
	}
	return false;
}

static void receive_message(cpg_handle_t handle, const struct cpg_name *group,
	uint32_t node, uint32_t pid, void *octets, size_t size)
{
	struct corosync *corosync = of_cpg(handle);
	struct triad_group_message message;
	enum triad_group_verdict verdict;

	if (node == corosync->node && pid == corosync->pid && corosync->n_in_flight)
		corosync->n_in_flight--;
	verdict =
		triad_group_take(&corosync->members, node, pid, octets, size, &message);
	if (!handle_verdict(corosync, verdict, &message))
		return;
	/* Deliver the view of an earlier change before this message. */
	if (corosync->is_view_due)
		deliver_view(corosync);
	triad_transport_deliver(
		&corosync->base, message.id, message.payload, message.size);
}

static void note_votes(votequorum_handle_t handle)
{
	void *context = NULL;

	votequorum_context_get(handle, &context);
	note_change(context);
}

static void receive_vote_quorum(votequorum_handle_t handle, uint64_t context,
	uint32_t is_quorate, uint32_t n, votequorum_node_t nodes[])
{
	note_votes(handle);
}

static void receive_expected(
	votequorum_handle_t handle, uint64_t context, uint32_t n_expected)
{
	note_votes(handle);
}

/* --- the connection --- */

static cs_error_t open_cpg(struct corosync *corosync)
{
	cpg_model_v1_data_t model = {.model = CPG_MODEL_V1,
		.cpg_deliver_fn = receive_message,
		.cpg_confchg_fn = receive_group,
		.cpg_totem_confchg_fn = receive_ring,
		.flags = CPG_MODEL_V1_DELIVER_INITIAL_TOTEM_CONF};
	cs_error_t error = cpg_model_initialize(
		&corosync->cpg, CPG_MODEL_V1, (cpg_model_data_t *)&model, corosync);

	corosync->has_cpg = error == CS_OK;
	if (error == CS_OK)
		error = cpg_local_get(corosync->cpg, &corosync->node);
	if (error == CS_OK)
		error = cpg_fd_get(corosync->cpg, &corosync->fds[0]);
	return error;
}

static cs_error_t open_votes(struct corosync *corosync)
{
	votequorum_callbacks_t callbacks = {
		.votequorum_quorum_notify_fn = receive_vote_quorum,
		.votequorum_expectedvotes_notify_fn = receive_expected};
	cs_error_t error = votequorum_initialize(&corosync->votes, &callbacks);

	corosync->has_votes = error == CS_OK;
	if (error == CS_OK)
		error = votequorum_context_set(corosync->votes, corosync);
	if (error == CS_OK)
		error = votequorum_fd_get(corosync->votes, &corosync->fds[1]);
	if (error == CS_OK)
		error = votequorum_trackstart(corosync->votes, 0, CS_TRACK_CHANGES);
	/* libcpg has answered: only the service of votes is missing. */
	return error == CS_OK || error == CS_ERR_TRY_AGAIN ? error
							   : CS_ERR_NOT_SUPPORTED;
}

static void close_all(struct corosync *corosync)
{
	if (corosync->has_votes)
		votequorum_finalize(corosync->votes);
	if (corosync->has_cpg)
		cpg_finalize(corosync->cpg);
	corosync->has_votes = corosync->has_cpg = false;
	corosync->is_open = corosync->is_broken = corosync->is_in = false;
	corosync->ring.is_known = false;
	corosync->announce = corosync->is_view_due = corosync->must_resend = false;
	corosync->members.n = 0;
	corosync->n_in_flight = 0;
	*corosync->complaint = '\0';
}

static void log_why(struct corosync *corosync, cs_error_t error)
{
	char text[TROUBLE_SIZE];

	if (error == CS_ERR_ACCESS || error == CS_ERR_SECURITY)
		snprintf(text, sizeof(text),
			"Corosync refuses user %u: a file in /etc/corosync/uidgid.d "
			"with 'uidgid { uid: %u }' allows it",
			(unsigned)geteuid(), (unsigned)geteuid());
	else if (error == CS_ERR_NOT_SUPPORTED)
		snprintf(text, sizeof(text),
			"Corosync counts no votes: corosync.conf needs 'quorum { "
			"provider: corosync_votequorum }', or triad.conf "
			"election.voters");
	else if (error == CS_ERR_EXIST)
		snprintf(text, sizeof(text),
			"this process is in group %.60s already: only one of it can be",
			corosync->group.value);
	else
		snprintf(text, sizeof(text),
			"Corosync doesn't answer (error %d): start it, or set "
			"election.cluster to what there is",
			(int)error);
	triad_transport_trouble(&corosync->base, text);
}

static void connect_all(struct corosync *corosync, uint64_t now_us)
{
	cs_error_t error;

	if (corosync->again_us)
		triad_transport_count(
			&corosync->base, &corosync->base.status.n_reconnects);
	corosync->again_us = now_us + RETRY_US;
	corosync->pid = (uint32_t)getpid();
	corosync->fds[1] = -1;
	error = open_cpg(corosync);
	if (error == CS_OK && !corosync->n_voters_set)
		error = open_votes(corosync);
	if (error == CS_OK)
		error = cpg_join(corosync->cpg, &corosync->group);
	corosync->is_open = error == CS_OK;
	if (corosync->is_open)
		return;
	close_all(corosync);
	log_why(corosync, error);
}

/* --- sending --- */

/* False: Corosync does not take it now; try again later. */
static bool multicast(struct corosync *corosync, enum triad_group_kind kind,
	const struct triad_transport_payload *payload)
{
	uint8_t header[TRIAD_GROUP_HEADER_SIZE];
	struct iovec parts[2] = {{.iov_base = header, .iov_len = sizeof(header)}};
	cs_error_t error;

	triad_group_put_header(header, kind, corosync->base.id);
	if (payload) {
		parts[1].iov_base = (void *)payload->octets;
		parts[1].iov_len = payload->size;
	}
	if (corosync->n_in_flight == WINDOW)
		return false;
	error = cpg_mcast_joined(
		corosync->cpg, CPG_TYPE_AGREED, parts, payload ? 2 : 1);
	check(corosync, error);
	corosync->n_in_flight += error == CS_OK;
	corosync->must_resend = error == CS_ERR_TRY_AGAIN;
	return error == CS_OK;
}

static void send_queued(struct corosync *corosync)
{
	struct triad_transport_payload payload;

	corosync->must_resend = false;
	if (!corosync->is_in)
		return;
	if (corosync->announce && !multicast(corosync, TRIAD_GROUP_ANNOUNCEMENT, NULL))
		return;
	corosync->announce = false;
	for (unsigned i = 0; i < TRIAD_TRANSPORT_QUEUE; i++) {
		if (!triad_transport_peek(&corosync->base, &payload) ||
			!multicast(corosync, TRIAD_GROUP_PAYLOAD, &payload))
			return;
		triad_transport_drop(&corosync->base);
		triad_transport_count(&corosync->base, &corosync->base.status.n_sent);
	}
}

/* --- the thread --- */

static void serve_corosync(struct corosync *corosync)
{
	read_votes(corosync);
	if (!corosync->is_broken)
		check(corosync, cpg_dispatch(corosync->cpg, CS_DISPATCH_ALL));
	if (!corosync->is_broken && corosync->is_view_due && corosync->is_in &&
		(corosync->ring.is_known ||
			triad_clock_now_us() >= corosync->settle_until_us))
		deliver_view(corosync);
	if (!corosync->is_broken)
		send_queued(corosync);
	if (corosync->is_broken)
		return;
	if (corosync->base.view.is_connected)
		triad_transport_trouble(&corosync->base, corosync->complaint);
}

static void run_once(struct corosync *corosync)
{
	const uint64_t now_us = triad_clock_now_us();

	if (*corosync->wrong)
		return;
	if (!corosync->is_open && now_us >= corosync->again_us)
		connect_all(corosync, now_us);
	if (corosync->is_open)
		serve_corosync(corosync);
	if (!corosync->is_broken)
		return;
	close_all(corosync);
	report_cut_off(corosync);
	log_why(corosync, CS_ERR_LIBRARY);
}

static void wait_for_more(struct corosync *corosync)
{
	struct pollfd polled[1 + N_FDS] = {
		{.fd = corosync->base.event, .events = POLLIN}};
	int timeout_ms = 1000;

	/* No descriptor signals that Corosync is back or has room again, or that a view
	 * is due: use a timeout. */
	if (*corosync->wrong)
		timeout_ms = -1;
	else if (!corosync->is_open)
		timeout_ms = (int)(RETRY_US / TRIAD_US_PER_MS);
	else if (corosync->must_resend || corosync->is_view_due)
		timeout_ms = RESEND_MS;
	for (unsigned i = 0; i < N_FDS; i++) {
		polled[i + 1].fd = corosync->is_open ? corosync->fds[i] : -1;
		polled[i + 1].events = POLLIN;
	}
	if (poll(polled, 1 + N_FDS, timeout_ms) <= 0)
		return;
	for (unsigned i = 1; i <= N_FDS; i++)
		if (polled[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			corosync->is_broken = true;
}

static void *run_corosync(void *argument)
{
	struct corosync *corosync = argument;

	report_cut_off(corosync);
	if (*corosync->wrong)
		triad_transport_trouble(&corosync->base, corosync->wrong);
	while (triad_transport_drain(&corosync->base)) {
		run_once(corosync);
		wait_for_more(corosync);
	}
	close_all(corosync);
	return NULL;
}

/* --- from outside --- */

static const struct triad_cluster_ops ops = {.name = "corosync",
	.send = triad_transport_send,
	.send_spare = triad_transport_send_spare,
	.status = triad_transport_status,
	.free = triad_transport_end};

struct triad_cluster *triad_cluster_corosync_new(uint64_t id, const char *group,
	uint32_t n_voters, const struct triad_cluster_sink *sink, struct triad_log *log)
{
	struct corosync *corosync =
		triad_transport_new(sizeof(*corosync), &ops, id, sink, log);
	const size_t length = strlen(group);

	if (!corosync)
		return NULL;
	corosync->n_voters = corosync->n_voters_set = n_voters;
	if (!length || length > MAX_GROUP) {
		snprintf(corosync->wrong, sizeof(corosync->wrong),
			"the group's name has %zu characters: it may have 1 to %u",
			length, MAX_GROUP);
	} else {
		memcpy(corosync->group.value, group, length);
		corosync->group.length = (uint32_t)length;
	}
	if (triad_transport_start(&corosync->base, "triad-corosync", run_corosync)) {
		triad_transport_free(&corosync->base);
		return NULL;
	}
	return &corosync->base.cluster;
}
