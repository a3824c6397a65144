/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/discover.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/ibnetdisc.h>

#include "perfmgr/sa_topology.h"
#include "service/local_port.h"
#include "triad/thread.h"

#define AGAIN_US (5 * TRIAD_US_PER_S)
/* After one that was partial. */
#define SOON_US TRIAD_US_PER_S
#define JOIN_US TRIAD_US_PER_S
/* SMPs on the way at one time, and how long for each: a node that went must not hold
 * all up. */
#define MAX_SMPS 8
#define SMP_MS 200
#define SMP_RETRIES 2
/* PortInfo:PortPhysicalState of a link that is up. */
#define PHYS_LINK_UP 5
/* libibumad and libibnetdisc have tables on the stack. */
#define STACK_SIZE ((size_t)1 << 20)

struct triad_discover {
	uint64_t port_guid;
	void (*take)(void *context, struct triad_fabric *fabric);
	void *context;
	struct triad_log *log;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool has_thread, stop, wanted;
	uint64_t due_us;
	struct triad_discover_status status;
	pthread_t thread;

	/* Of the thread alone. */
	bool has_taken;
	unsigned n_partial; /* in a row */
	uint32_t n_silent_said;
	int error_said;
};

/* --- life --- */

struct triad_discover *triad_discover_new(uint64_t port_guid,
	void (*take)(void *context, struct triad_fabric *fabric), void *context,
	struct triad_log *log)
{
	struct triad_discover *discover = calloc(1, sizeof(*discover));

	if (!discover)
		return NULL;
	discover->port_guid = port_guid;
	discover->take = take;
	discover->context = context;
	discover->log = log;
	pthread_mutex_init(&discover->lock, NULL);
	triad_condition_init(&discover->changed);
	return discover;
}

bool triad_discover_free(struct triad_discover *discover)
{
	if (!discover)
		return true;
	pthread_mutex_lock(&discover->lock);
	discover->stop = true;
	pthread_cond_signal(&discover->changed);
	pthread_mutex_unlock(&discover->lock);
	if (discover->has_thread && triad_thread_join(discover->thread, JOIN_US))
		return false;
	pthread_cond_destroy(&discover->changed);
	pthread_mutex_destroy(&discover->lock);
	free(discover);
	return true;
}

struct triad_discover_status triad_discover_status(struct triad_discover *discover)
{
	struct triad_discover_status status;

	pthread_mutex_lock(&discover->lock);
	status = discover->status;
	status.active = discover->wanted;
	pthread_mutex_unlock(&discover->lock);
	return status;
}

/* --- from libibnetdisc's fabric to ours --- */

static void add_node(struct triad_fabric_builder *builder, ibnd_node_t *node)
{
	struct triad_fabric_node added = {
		.guid = node->guid,
		.type = (uint8_t)node->type,
		.vendor_id = mad_get_field(node->info, 0, IB_NODE_VENDORID_F),
		.device_id = (uint16_t)mad_get_field(node->info, 0, IB_NODE_DEVID_F),
		.enhanced_port0 = node->smaenhsp0,
	};

	triad_fabric_builder_add_node(builder, &added, node->nodedesc, NULL, 0);
}

static void add_port(struct triad_fabric_builder *builder, const ibnd_node_t *node,
	const ibnd_port_t *port, uint16_t pkey_index)
{
	bool is_switch = node->type == IB_NODE_SWITCH;
	const ibnd_port_t *remote = port->remoteport;
	struct triad_fabric_port added = {
		.guid = port->guid,
		.lid = is_switch ? node->smalid : port->base_lid,
		.number = (uint8_t)port->portnum,
		.pkey_index = pkey_index,
	};

	triad_port_info_read(port->info, is_switch, &added);
	triad_fabric_builder_add_port(builder, &added, remote ? remote->node->guid : 0,
		remote ? (uint8_t)remote->portnum : 0);
}

static int make_fabric(const ibnd_fabric_t *found, uint64_t port_guid,
	uint16_t pkey_index, struct triad_fabric **fabric)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	int error;

	if (!builder)
		return ENOMEM;
	for (ibnd_node_t *node = found->nodes; node; node = node->next) {
		add_node(builder, node);
		for (int i = 0; i <= node->numports; i++)
			if (node->ports[i])
				add_port(builder, node, node->ports[i], pkey_index);
	}
	error = triad_fabric_build(builder, port_guid, fabric);
	triad_fabric_builder_free(builder);
	return error;
}

/* Ports that must be there and were not found: those of a switch, and the far ends of
 * links that are up. */
static uint32_t count_silent(const ibnd_fabric_t *found)
{
	uint32_t n = 0;

	for (ibnd_node_t *node = found->nodes; node; node = node->next)
		for (int i = 1; i <= node->numports; i++) {
			ibnd_port_t *port = node->ports[i];

			if (!port)
				n += node->type == IB_NODE_SWITCH;
			else if (!port->remoteport)
				n += mad_get_field(port->info, 0,
					     IB_PORT_PHYS_STATE_F) == PHYS_LINK_UP;
		}
	return n;
}

/* --- discovering --- */

/* What one discovery gave. */
struct result {
	struct triad_fabric *fabric;
	uint64_t n_smps;
	uint32_t n_silent;
};

/* libibnetdisc has a line on standard error for each SMP that is not answered, which
 * nobody limits.  The agent's log is elsewhere (agent/log.h). */
static ibnd_fabric_t *discover_quietly(
	char *ca_name, int number, struct ibnd_config *config)
{
	int standard_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ibnd_fabric_t *found;

	if (standard_error >= 0 && nowhere >= 0)
		dup2(nowhere, STDERR_FILENO);
	found = ibnd_discover_fabric(ca_name, number, NULL, config);
	if (standard_error >= 0 && nowhere >= 0)
		dup2(standard_error, STDERR_FILENO);
	if (standard_error >= 0)
		close(standard_error);
	if (nowhere >= 0)
		close(nowhere);
	return found;
}

static int find_port(uint64_t port_guid, char ca_name[UMAD_CA_NAME_LEN], int *number,
	uint16_t *pkey_index)
{
	umad_port_t port;

	if (umad_init() < 0 || !triad_local_port_find(port_guid, ca_name, number) ||
		umad_get_port(ca_name, *number, &port))
		return ENODEV;
	*pkey_index = triad_local_port_pkey_index(&port);
	umad_release_port(&port);
	return 0;
}

static int discover_fabric(struct triad_discover *discover, struct result *result)
{
	bool is_quiet = discover->log->level < TRIAD_LOG_DEBUG;
	struct ibnd_config config = {
		.max_smps = MAX_SMPS,
		.timeout_ms = SMP_MS,
		.retries = SMP_RETRIES,
	};
	char ca_name[UMAD_CA_NAME_LEN];
	ibnd_fabric_t *found;
	uint16_t pkey_index;
	int number,
		error = find_port(discover->port_guid, ca_name, &number, &pkey_index);

	if (error)
		return error;
	found = is_quiet ? discover_quietly(ca_name, number, &config)
			 : ibnd_discover_fabric(ca_name, number, NULL, &config);
	if (!found)
		return EIO; /* it says no more */
	result->n_smps = found->total_mads_used;
	result->n_silent = count_silent(found);
	/* The first SMPs of all may be those without an answer. */
	error = found->nodes
		? make_fabric(found, discover->port_guid, pkey_index, &result->fabric)
		: EIO;
	ibnd_destroy_fabric(found);
	if (!error && result->fabric->sm_port == TRIAD_FABRIC_NONE)
		error = EIO;
	return error;
}

static void note_result(struct triad_discover *discover, int error,
	const struct result *result, uint64_t took_us)
{
	pthread_mutex_lock(&discover->lock);
	discover->status.error = error;
	discover->status.took_us = took_us;
	discover->status.n_smps = result->n_smps;
	discover->status.n_silent = result->n_silent;
	discover->status.n_done += !error;
	discover->status.n_failed += error != 0;
	pthread_mutex_unlock(&discover->lock);
	if (error && error != EAGAIN && error != discover->error_said)
		triad_log_write(discover->log, TRIAD_LOG_ERROR,
			"topology: the fabric can't be discovered from port 0x%016lx: %s; "
			"what was known before stays, and it is tried each %u s",
			(unsigned long)discover->port_guid,
			error == EIO ? "no answers to SMPs" : strerror(error),
			(unsigned)(AGAIN_US / TRIAD_US_PER_S));
	discover->error_said = error;
}

static void say_silent(struct triad_discover *discover, uint32_t n_silent)
{
	if (n_silent && n_silent != discover->n_silent_said)
		triad_log_write(discover->log, TRIAD_LOG_WARNING,
			"topology: %u ports behind links that are up don't answer SMPs; "
			"they and what is behind them are missing until they do",
			n_silent);
	discover->n_silent_said = n_silent;
}

/* Whether a fabric may take the place of the last one. */
static bool is_believed(struct triad_discover *discover, uint32_t n_silent)
{
	discover->n_partial = n_silent ? discover->n_partial + 1 : 0;
	return !n_silent || !discover->has_taken ||
		discover->n_partial >= TRIAD_DISCOVER_TRIES;
}

/* Returns when to do it again. */
static uint64_t make_one(struct triad_discover *discover)
{
	uint64_t begun_us = triad_clock_now_us(), now_us;
	struct result result = {0};
	int error = discover_fabric(discover, &result);

	now_us = triad_clock_now_us();
	if (!error && !is_believed(discover, result.n_silent))
		error = EAGAIN;
	note_result(discover, error, &result, now_us - begun_us);
	if (!error) {
		say_silent(discover, result.n_silent);
		discover->has_taken = true;
		result.fabric->taken_us = begun_us;
		result.fabric->consistent = !result.n_silent;
		discover->take(discover->context, result.fabric);
	}
	triad_fabric_unref(result.fabric);
	return now_us +
		(error == EAGAIN        ? SOON_US
				: error ? AGAIN_US
					: TRIAD_DISCOVER_PERIOD_US);
}

static void *run(void *argument)
{
	struct triad_discover *discover = argument;

	pthread_mutex_lock(&discover->lock);
	while (!discover->stop) {
		uint64_t due_us = discover->wanted ? discover->due_us : UINT64_MAX;

		if (triad_clock_now_us() < due_us) {
			triad_condition_wait(
				&discover->changed, &discover->lock, due_us);
			continue;
		}
		/* What changes from now on is for the next one. */
		discover->due_us = UINT64_MAX;
		pthread_mutex_unlock(&discover->lock);
		due_us = make_one(discover);
		pthread_mutex_lock(&discover->lock);
		if (due_us < discover->due_us)
			discover->due_us = due_us;
	}
	pthread_mutex_unlock(&discover->lock);
	return NULL;
}

/* --- what is wished --- */

void triad_discover_want(struct triad_discover *discover, bool wanted)
{
	int error = 0;

	pthread_mutex_lock(&discover->lock);
	if (wanted && !discover->has_thread) {
		error = triad_thread_start_with(
			&discover->thread, "triad-discover", STACK_SIZE, run, discover);
		discover->has_thread = !error;
	}
	if (wanted && !discover->wanted)
		discover->due_us = 0;
	discover->wanted = wanted && discover->has_thread;
	pthread_cond_signal(&discover->changed);
	pthread_mutex_unlock(&discover->lock);
	if (error)
		triad_log_write(discover->log, TRIAD_LOG_ERROR,
			"topology: no thread to discover the fabric: %s",
			strerror(error));
}

void triad_discover_again(struct triad_discover *discover)
{
	pthread_mutex_lock(&discover->lock);
	discover->due_us = 0;
	pthread_cond_signal(&discover->changed);
	pthread_mutex_unlock(&discover->lock);
}
