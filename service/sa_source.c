/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/sa_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/sa_topology.h"
#include "lib/task.h"
#include "service/sa.h"
#include "service/sa_pace.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* How often the tables are read again without a report. */
#define REFRESH_US (60 * TRIAD_US_PER_S)
#define AGAIN_US (5 * TRIAD_US_PER_S)
/* How often the thread checks whether it must end. */
#define SLICE_US (TRIAD_US_PER_S / 4)
/* A table of a large fabric is many packets. */
#define TABLE_US (30 * TRIAD_US_PER_S)
#define ANSWER_US (5 * TRIAD_US_PER_S)
/* Reports of unknown senders are over when none has come for so long. */
#define UNKNOWN_SENDERS_GONE_US (10 * TRIAD_US_PER_S)
/* How often this port's P_Keys are polled: no event reports their change. */
#define PKEYS_LOOK_US (2 * TRIAD_US_PER_S)
/* Discovered links are used for so long: the report of a change may be lost. */
#define LINKS_US (3600 * TRIAD_US_PER_S)
/* After a refusal, P_Keys are asked for again so late: OpenSM logs each such
 * request. */
#define PKEYS_AGAIN_US (600 * TRIAD_US_PER_S)

/* What the SA hides, as logged last: the advice differs. */
enum logged_hidden { NOTHING_HIDDEN, HIDDEN_NODES, HIDDEN_LINKS };

struct triad_sa_source {
	uint64_t port_guid;
	struct triad_sa_source_user user;
	struct triad_log *log;
	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	enum triad_sa_source_use use;
	struct triad_sa_source_status status;
	uint64_t sm_key;
	struct triad_fabric *known; /* NULL: none */
	bool links_stand;     /* no change was reported since: its links are valid */
	uint64_t received_us; /* the last report; 0: never */

	/* Of the thread alone. */
	struct triad_sa *sa;
	enum triad_sa_source_use serving;
	bool has_received; /* reports since the last refresh */
	bool looks_twice;
	uint64_t pkeys_looked_us; /* our port's */
	struct triad_sa_pace pace;
	uint64_t unknown_sender_us; /* their last report; 0: that is over */
	uint64_t n_unknown_senders; /* their reports since that began */
	uint64_t due_us;
	uint64_t generation;
	int logged_error, logged_pkeys;
	uint64_t pkeys_due_us, key_tried;
	enum logged_hidden logged_hidden;
};

static uint64_t serve_when_wanted(void *context);

struct triad_sa_source *triad_sa_source_new(uint64_t port_guid,
	const struct triad_sa_source_user *user, struct triad_log *log)
{
	struct triad_sa_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->port_guid = port_guid;
	source->user = *user;
	source->log = log;
	pthread_mutex_init(&source->lock, NULL);
	triad_task_init(&source->task, &source->lock, "triad-topology",
		serve_when_wanted, source);
	return source;
}

void triad_sa_source_free(struct triad_sa_source *source)
{
	if (!source)
		return;
	(void)triad_task_stop(&source->task, UINT64_MAX);
	triad_fabric_unref(source->known);
	triad_task_clear(&source->task);
	pthread_mutex_destroy(&source->lock);
	free(source);
}

struct triad_sa_source_status triad_sa_source_status(struct triad_sa_source *source)
{
	return TRIAD_LOCKED(&source->lock, source->status);
}

void triad_sa_source_set_key(struct triad_sa_source *source, uint64_t sm_key)
{
	pthread_mutex_lock(&source->lock);
	source->sm_key = sm_key;
	pthread_mutex_unlock(&source->lock);
}

void triad_sa_source_set_known(
	struct triad_sa_source *source, struct triad_fabric *known, bool is_fresh)
{
	struct triad_fabric *old;

	pthread_mutex_lock(&source->lock);
	old = source->known;
	source->known = known ? triad_fabric_ref(known) : NULL;
	source->links_stand =
		known && is_fresh && known->taken_us > source->received_us;
	pthread_mutex_unlock(&source->lock);
	triad_fabric_unref(old);
}

static bool is_still_wanted(void *context)
{
	struct triad_sa_source *source = context;

	return TRIAD_LOCKED(&source->lock,
		source->use == source->serving && !source->task.must_end);
}

/* --- the tables --- */

enum { NODES, PORTS, LINKS, N_NEEDED, PKEYS = N_NEEDED, N_TABLES };

static int read_tables(
	struct triad_sa_source *source, struct triad_sa_answer answers[N_TABLES])
{
	static const uint16_t attributes[N_NEEDED] = {
		[NODES] = TRIAD_SA_NODE_RECORD,
		[PORTS] = TRIAD_SA_PORT_INFO_RECORD,
		[LINKS] = TRIAD_SA_LINK_RECORD,
	};
	int error = 0;

	for (unsigned i = 0; i < N_NEEDED && !error; i++)
		error = is_still_wanted(source)
			? triad_sa_get_table(
				  source->sa, attributes[i], TABLE_US, &answers[i])
			: ECANCELED;
	return error;
}

/* Reads the P_Key tables.  A refusal is not an error: the topology is of use
 * without. */
static int ask_pkey_tables(
	struct triad_sa_source *source, struct triad_sa_answer *answer)
{
	uint64_t now_us = triad_clock_now_us(), key;
	int error;

	key = TRIAD_LOCKED(&source->lock, source->sm_key);
	/* OpenSM logs each refusal, so the same key is not tried again soon. */
	if (key == source->key_tried && now_us < source->pkeys_due_us)
		return 0;
	source->key_tried = key;
	source->pkeys_due_us = 0;
	error = !key ? ENOKEY : triad_sa_get_pkeys(source->sa, key, TABLE_US, answer);
	if (error == ECANCELED)
		return error;
	if (error)
		source->pkeys_due_us = triad_clock_now_us() + PKEYS_AGAIN_US;
	pthread_mutex_lock(&source->lock);
	source->status.pkeys_error = error;
	pthread_mutex_unlock(&source->lock);
	/* Without a configured key (ENOKEY) users expect no P_Keys. */
	if (error && error != ENOKEY && error != source->logged_pkeys)
		triad_log_write(source->log, TRIAD_LOG_WARNING,
			"topology: the SA gives no P_Keys of ports: %s; those that are not "
			"known otherwise are asked in the default partition.  Is the SM_Key "
			"that of OpenSM (sa_key in its configuration)?",
			strerror(error));
	source->logged_pkeys = error;
	return 0;
}

/* Finds out what the SA hides.  If as many ports of hosts as of switches lack their far
 * ends, they probably belong together: then the SA hides links, not nodes. */
static enum logged_hidden find_hidden(const struct triad_fabric *fabric)
{
	uint32_t n_switches = 0, n_others = 0;

	if (!fabric->n_hidden && !fabric->n_discovered)
		return NOTHING_HIDDEN;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		if (!port->number || port->state < TRIAD_PORT_INIT ||
			port->remote != TRIAD_FABRIC_NONE)
			continue;
		if (fabric->nodes[port->node].type == TRIAD_NODE_SWITCH)
			n_switches++;
		else
			n_others++;
	}
	return n_switches == n_others ? HIDDEN_LINKS : HIDDEN_NODES;
}

static void log_hidden_nodes(const struct triad_sa_source *source,
	const struct triad_fabric *fabric, uint32_t n_known)
{
	char others[64] = "";

	if (n_known > fabric->n_nodes)
		snprintf(
			others, sizeof(others), " (this host found %u nodes)", n_known);
	triad_log_write(source->log, TRIAD_LOG_WARNING,
		"topology: the SA shows %u nodes and %u ports%s, and %u links that are up "
		"lead to what it does not show: it shows a port only what shares a "
		"partition with it.  Make this port a full member of the default partition "
		"(partitions.conf of OpenSM)",
		fabric->n_nodes, fabric->n_ports, others,
		fabric->n_hidden + fabric->n_discovered);
}

static void log_hidden_links(
	const struct triad_sa_source *source, const struct triad_fabric *fabric)
{
	triad_log_write(source->log, TRIAD_LOG_WARNING,
		"topology: the SA shows %u nodes and %u ports, but not the links of %u ports "
		"that are up: it shows none between two limited members of a partition, such "
		"as a host and its port of a switch that enforces partitions.  Discovery "
		"finds them ([collect] topology); the SA shows them when hosts are full "
		"members (partitions.conf of OpenSM), or with part_enforce off "
		"(opensm.conf)",
		fabric->n_nodes, fabric->n_ports,
		fabric->n_hidden + fabric->n_discovered);
}

static void report_hidden(struct triad_sa_source *source,
	const struct triad_fabric *fabric, const struct triad_fabric *known)
{
	uint32_t n_known = known ? known->n_nodes : 0;
	enum logged_hidden hidden = find_hidden(fabric);

	pthread_mutex_lock(&source->lock);
	source->status.n_nodes = fabric->n_nodes;
	source->status.n_ports = fabric->n_ports;
	source->status.n_hidden = fabric->n_hidden + fabric->n_discovered;
	source->status.n_discovered = fabric->n_discovered;
	source->status.n_known_nodes = n_known;
	pthread_mutex_unlock(&source->lock);
	/* Log each kind once: the number changes with each host that comes or goes. */
	if (hidden == source->logged_hidden)
		return;
	source->logged_hidden = hidden;
	if (hidden == HIDDEN_NODES)
		log_hidden_nodes(source, fabric, n_known);
	else if (hidden == HIDDEN_LINKS)
		log_hidden_links(source, fabric);
	else
		triad_log_write(source->log, TRIAD_LOG_INFO,
			"topology: the SA shows the far ends of all links again");
}

static struct triad_sa_table table_of(const struct triad_sa_answer *answer)
{
	return (struct triad_sa_table){answer->records, answer->size, answer->stride};
}

static int make_fabric(struct triad_sa_source *source,
	const struct triad_sa_answer *answers, struct triad_fabric **made)
{
	struct triad_fabric *known = NULL, *fabric;
	struct triad_sa_tables tables = {
		.nodes = table_of(&answers[NODES]),
		.ports = table_of(&answers[PORTS]),
		.links = table_of(&answers[LINKS]),
		.pkeys = table_of(&answers[PKEYS]),
	};
	int error;

	/* The discovered fabric fills the gaps.  Its links are used only while reports
	 * would show that they have changed. */
	pthread_mutex_lock(&source->lock);
	if (source->known)
		known = triad_fabric_ref(source->known);
	tables.known = known;
	tables.links_stand = known && source->links_stand &&
		source->status.subscribed &&
		triad_clock_now_us() - known->taken_us < LINKS_US;
	pthread_mutex_unlock(&source->lock);
	error = triad_sa_topology_build(&tables, source->port_guid, &fabric);
	if (!error) {
		fabric->generation = ++source->generation;
		fabric->taken_us = triad_clock_now_us();
		fabric->consistent = true;
		report_hidden(source, fabric, known);
		*made = fabric;
	}
	triad_fabric_unref(known);
	return error;
}

static void note_result(struct triad_sa_source *source, int error)
{
	pthread_mutex_lock(&source->lock);
	source->status.error = error;
	source->status.n_refreshes += !error && source->serving == TRIAD_SA_TABLES;
	source->status.n_failed += error != 0;
	pthread_mutex_unlock(&source->lock);
	if (error && error != ECANCELED && error != source->logged_error)
		triad_log_write(source->log, TRIAD_LOG_ERROR,
			"topology: the master's SA %s: %s; it is asked again each 5 s",
			source->serving == TRIAD_SA_TABLES
				? "gives none, counters are read of the ports known "
				  "before"
				: "reports no changes",
			strerror(error));
	source->logged_error = error;
}

static int refresh(struct triad_sa_source *source, struct triad_fabric **fabric)
{
	struct triad_sa_answer answers[N_TABLES] = {0};
	int error = read_tables(source, answers);

	if (!error)
		error = ask_pkey_tables(source, &answers[PKEYS]);
	if (!error)
		error = make_fabric(source, answers, fabric);
	for (unsigned i = 0; i < N_TABLES; i++)
		free(answers[i].mad);
	return error;
}

/* --- reports --- */

/* Subscribes to reports of ports that come and go.  It is done again before each
 * refresh, because another master knows nothing of an earlier subscription. */
static int subscribe(struct triad_sa_source *source)
{
	static const uint16_t traps[] = {
		TRIAD_SA_TRAP_IN_SERVICE, TRIAD_SA_TRAP_OUT_OF_SERVICE};
	int error = 0;

	for (unsigned i = 0; i < 2 && !error; i++)
		error = is_still_wanted(source)
			? triad_sa_subscribe(source->sa, traps[i], ANSWER_US)
			: ECANCELED;
	pthread_mutex_lock(&source->lock);
	source->status.subscribed = !error;
	pthread_mutex_unlock(&source->lock);
	return error;
}

static void look_soon(struct triad_sa_source *source)
{
	uint64_t due_us = triad_sa_pace_report(&source->pace, triad_clock_now_us());

	source->has_received = true;
	source->due_us = triad_clock_earlier(source->due_us, due_us);
}

/* The SA shows a port only what shares a partition with it, so other P_Keys mean
 * another topology.  The tables are read twice: the SM may be in the middle of setting
 * the P_Keys of all ports. */
static void look_at_own_pkeys(struct triad_sa_source *source)
{
	uint64_t now_us = triad_clock_now_us();

	if (now_us < source->pkeys_looked_us + PKEYS_LOOK_US)
		return;
	source->pkeys_looked_us = now_us;
	if (!triad_sa_has_other_pkeys(source->sa))
		return;
	triad_log_write(source->log, TRIAD_LOG_INFO,
		"topology: this port has other P_Keys now: the fabric is looked at again");
	source->looks_twice = true;
	look_soon(source);
}

static void note_reports(struct triad_sa_source *source, unsigned n)
{
	if (!n)
		return;
	/* After a change, discovered links may be wrong. */
	pthread_mutex_lock(&source->lock);
	source->status.n_reports += n;
	source->received_us = triad_clock_now_us();
	source->links_stand = false;
	pthread_mutex_unlock(&source->lock);
	look_soon(source);
}

/* Logs once that another node than the SM sends reports, and when that is over. */
static void log_unknown_senders(struct triad_sa_source *source)
{
	struct triad_sa_unknown_senders unknown_senders =
		triad_sa_take_unknown_senders(source->sa);
	uint64_t now_us = triad_clock_now_us();

	if (unknown_senders.n) {
		pthread_mutex_lock(&source->lock);
		source->status.n_unknown_senders += unknown_senders.n;
		pthread_mutex_unlock(&source->lock);
		if (!source->unknown_sender_us)
			triad_log_write(source->log, TRIAD_LOG_ERROR,
				"topology: LID %u reports ports that came or went, but "
				"the SM is at LID %u: such reports are ignored; look "
				"what runs there ('status --all' counts them)",
				unknown_senders.last_lid, unknown_senders.sm_lid);
		source->unknown_sender_us = now_us;
		source->n_unknown_senders += unknown_senders.n;
	} else if (source->unknown_sender_us &&
		now_us >= source->unknown_sender_us + UNKNOWN_SENDERS_GONE_US) {
		triad_log_write(source->log, TRIAD_LOG_INFO,
			"topology: no more reports but the SM's; %" PRIu64
			" were ignored",
			source->n_unknown_senders);
		source->unknown_sender_us = source->n_unknown_senders = 0;
	}
}

/* Receives reports until the tables are due, or the port fails. */
static int listen_for_reports(struct triad_sa_source *source)
{
	uint64_t now_us;
	uint16_t trap;

	/* First the reports that came while the tables were read. */
	note_reports(source, triad_sa_take_missed(source->sa));
	while (is_still_wanted(source) &&
		(now_us = triad_clock_now_us()) < source->due_us) {
		uint64_t wait_us = source->due_us - now_us;
		int error = triad_sa_wait_report(
			source->sa, wait_us < SLICE_US ? wait_us : SLICE_US, &trap);

		log_unknown_senders(source);
		look_at_own_pkeys(source);
		if (!error)
			note_reports(source, triad_sa_trap_is_of_ports(trap));
		else if (error != EAGAIN)
			return error;
	}
	return 0;
}

/* --- the thread --- */

/* Reads the tables, or passes reports on to the user, as requested.  For the tables a
 * failed subscription is not an error: they are also read at intervals. */
static int refresh_or_report(struct triad_sa_source *source)
{
	struct triad_fabric *fabric = NULL;
	int error = subscribe(source);

	if (source->serving == TRIAD_SA_TABLES)
		error = refresh(source, &fabric);
	note_result(source, error);
	if (fabric)
		source->user.take(source->user.context, fabric);
	else if (!error && source->has_received)
		source->user.received(source->user.context);
	triad_fabric_unref(fabric);
	if (source->has_received)
		triad_sa_pace_read(&source->pace, triad_clock_now_us());
	/* The second reading is planned as if a report had come. */
	source->has_received = source->looks_twice;
	source->due_us =
		triad_clock_now_us() + (source->looks_twice ? AGAIN_US : REFRESH_US);
	source->looks_twice = false;
	return error;
}

/* Serves the request until it changes, or the SA can't be asked. */
static void serve_request(struct triad_sa_source *source)
{
	int error =
		triad_sa_open(source->port_guid, is_still_wanted, source, &source->sa);

	if (error) {
		note_result(source, error);
		return;
	}
	/* The first call only notes the P_Keys, for later comparisons. */
	(void)triad_sa_has_other_pkeys(source->sa);
	while (is_still_wanted(source) && !error) {
		error = refresh_or_report(source);
		if (!error)
			error = listen_for_reports(source);
	}
	triad_sa_close(source->sa);
	source->sa = NULL;
}

static uint64_t serve_when_wanted(void *context)
{
	struct triad_sa_source *source = context;

	/* Without a request there is no thread, and no descriptor is open. */
	if (!source->use)
		return TRIAD_TASK_DONE;
	source->serving = source->use;
	source->status.active = true;
	pthread_mutex_unlock(&source->lock);
	serve_request(source);
	pthread_mutex_lock(&source->lock);
	source->status.active = source->status.subscribed = false;
	return triad_clock_now_us() + AGAIN_US;
}

void triad_sa_source_want(struct triad_sa_source *source, enum triad_sa_source_use use)
{
	int error = 0;

	pthread_mutex_lock(&source->lock);
	if (use)
		error = triad_task_start(&source->task);
	if (source->use != use)
		triad_task_wake(&source->task);
	source->use = use;
	pthread_mutex_unlock(&source->lock);
	if (error)
		triad_log_write(source->log, TRIAD_LOG_ERROR,
			"topology: no thread to ask the SA: %s; it stays as it was "
			"known before",
			strerror(error));
}
