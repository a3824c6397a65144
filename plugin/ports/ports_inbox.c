/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <string.h>

#include "plugin/ports/ports_parts.h"
#include "triad/thread.h"

#define FIRST_STEP_US (5 * TRIAD_US_PER_S)
/* How long a command waits: a step may wait for several switches and a majority. */
#define REQUEST_US (10 * TRIAD_US_PER_S)

/* --- what members send --- */

/* With the inbox's lock.  Returns 0 or an errno: there is no thread. */
static int wake_manager(struct triad_ports *ports)
{
	int error = triad_task_start(&ports->task);

	triad_task_wake(&ports->task);
	return error;
}

void ports_leave_view(void *context, const struct triad_cluster_view *view)
{
	struct triad_ports *ports = context;
	struct ports_inbox *inbox = &ports->inbox;

	pthread_mutex_lock(&inbox->lock);
	inbox->view = *view;
	inbox->has_view = true;
	(void)wake_manager(ports);
	pthread_mutex_unlock(&inbox->lock);
}

bool ports_next_view(struct triad_ports *ports)
{
	struct ports_inbox *inbox = &ports->inbox;
	bool has_one;

	pthread_mutex_lock(&inbox->lock);
	has_one = inbox->has_view;
	inbox->has_view = false;
	if (has_one)
		ports->view = inbox->view;
	pthread_mutex_unlock(&inbox->lock);
	return has_one;
}

void ports_leave_payload(
	void *context, uint64_t sender, const void *payload, size_t size)
{
	struct triad_ports *ports = context;
	struct ports_inbox *inbox = &ports->inbox;

	/* A full inbox may drop this, and it is of no use while the port manager is off:
	 * replicas compare digests and repeat lost records. */
	pthread_mutex_lock(&inbox->lock);
	if (ports->task.is_started &&
		triad_inbox_put(&inbox->payloads, sender, payload, size))
		triad_task_wake(&ports->task);
	pthread_mutex_unlock(&inbox->lock);
}

bool ports_next_payload(struct triad_ports *ports, struct triad_payload *payload)
{
	return TRIAD_LOCKED(
		&ports->inbox.lock, triad_inbox_take(&ports->inbox.payloads, payload));
}

bool ports_wait_for_members(struct triad_ports *ports, uint64_t until_us)
{
	struct ports_inbox *inbox = &ports->inbox;
	bool goes_on;

	ports_begin_wait(ports);
	pthread_mutex_lock(&inbox->lock);
	while (!ports->task.must_end && !inbox->payloads.ring.n && !inbox->has_view)
		if (triad_condition_wait(&ports->task.changed, &inbox->lock,
			    triad_clock_from_boot_us(until_us)))
			break;
	goes_on = !ports->task.must_end;
	pthread_mutex_unlock(&inbox->lock);
	ports_end_wait(ports);
	return goes_on;
}

bool ports_is_ending(struct triad_ports *ports)
{
	return TRIAD_LOCKED(&ports->inbox.lock, ports->task.must_end) || osm_exit_flag;
}

/* --- fabric and configuration --- */

void triad_ports_set_fabric(struct triad_ports *ports, struct triad_fabric *fabric)
{
	struct ports_inbox *inbox = &ports->inbox;
	struct triad_fabric *old;

	/* Replace an older one that the thread, in a long step, has not taken yet. */
	pthread_mutex_lock(&inbox->lock);
	old = inbox->has_fabric ? inbox->fabric : NULL;
	inbox->fabric = fabric ? triad_fabric_ref(fabric) : NULL;
	inbox->has_fabric = true;
	(void)wake_manager(ports);
	pthread_mutex_unlock(&inbox->lock);
	triad_fabric_unref(old);
}

bool ports_next_fabric(struct triad_ports *ports, struct triad_fabric **fabric)
{
	struct ports_inbox *inbox = &ports->inbox;
	bool has_one;

	pthread_mutex_lock(&inbox->lock);
	has_one = inbox->has_fabric;
	*fabric = inbox->fabric;
	inbox->has_fabric = false;
	inbox->fabric = NULL;
	pthread_mutex_unlock(&inbox->lock);
	return has_one;
}

void triad_ports_set_past(
	struct triad_ports *ports, struct triad_fabric *fabric, uint64_t wall_us)
{
	struct ports_inbox *inbox = &ports->inbox;
	struct triad_fabric *old;

	pthread_mutex_lock(&inbox->lock);
	old = inbox->past;
	inbox->past = fabric ? triad_fabric_ref(fabric) : NULL;
	inbox->past_wall_us = wall_us;
	inbox->has_past = true;
	(void)wake_manager(ports);
	pthread_mutex_unlock(&inbox->lock);
	triad_fabric_unref(old);
}

bool ports_next_past(
	struct triad_ports *ports, struct triad_fabric **fabric, uint64_t *wall_us)
{
	struct ports_inbox *inbox = &ports->inbox;
	bool has_one;

	pthread_mutex_lock(&inbox->lock);
	has_one = inbox->has_past;
	*fabric = inbox->past;
	*wall_us = inbox->past_wall_us;
	inbox->has_past = false;
	inbox->past = NULL;
	pthread_mutex_unlock(&inbox->lock);
	return has_one;
}

void triad_ports_configure(struct triad_ports *ports, const struct triad_conf *conf)
{
	struct ports_inbox *inbox = &ports->inbox;
	uint64_t until_us = triad_clock_now_us() + FIRST_STEP_US;
	const struct triad_conf *old;
	int error;

	pthread_mutex_lock(&inbox->lock);
	old = inbox->conf;
	inbox->conf = triad_conf_ref(conf);
	inbox->is_configured = true;
	error = wake_manager(ports);
	/* OpenSM sweeps right after its start.  Wait until the ports that were held
	 * before the restart are published again; otherwise the sweep activates
	 * them. */
	while (ports->task.is_started && !inbox->has_begun)
		if (triad_condition_wait(&ports->task.changed, &inbox->lock, until_us))
			break;
	pthread_mutex_unlock(&inbox->lock);
	triad_conf_unref(old);
	if (error)
		triad_log_write(ports->log, TRIAD_LOG_ERROR,
			"ports: no thread for them: %s; type 'triadctl reload' to try "
			"again",
			strerror(error));
}

const struct triad_conf *ports_next_conf(struct triad_ports *ports)
{
	struct ports_inbox *inbox = &ports->inbox;
	const struct triad_conf *conf;

	pthread_mutex_lock(&inbox->lock);
	conf = inbox->conf;
	inbox->conf = NULL;
	pthread_mutex_unlock(&inbox->lock);
	return conf;
}

void ports_end_first_step(struct triad_ports *ports)
{
	struct ports_inbox *inbox = &ports->inbox;

	/* A configuration that came during this step is not in force yet. */
	if (inbox->has_begun || inbox->conf || !inbox->is_configured)
		return;
	inbox->has_begun = true;
	pthread_cond_broadcast(&ports->task.changed);
}

/* --- requests of commands --- */

static bool await_state(
	struct triad_ports *ports, enum ports_request_state state, uint64_t until_us)
{
	while (ports->inbox.request.state != state && !ports->task.must_end)
		if (triad_condition_wait(
			    &ports->task.changed, &ports->inbox.lock, until_us))
			break;
	return ports->inbox.request.state == state;
}

void ports_request(struct triad_ports *ports, struct ports_request *request)
{
	struct ports_request *slot = &ports->inbox.request;
	uint64_t until_us = triad_clock_now_us() + REQUEST_US;

	request->answer = TRIAD_PORTS_BUSY;
	/* Wait until no other command uses the slot, then until our request is
	 * answered: together REQUEST_US at most. */
	pthread_mutex_lock(&ports->inbox.lock);
	if (!wake_manager(ports) && await_state(ports, PORTS_NO_REQUEST, until_us)) {
		*slot = *request;
		slot->state = PORTS_ASKED;
		(void)wake_manager(ports);
		if (await_state(ports, PORTS_ANSWERED, until_us))
			*request = *slot;
		else if (slot->state == PORTS_BEGUN)
			request->answer = TRIAD_PORTS_IN_PROGRESS;
		/* If the thread still works on the request, it frees the slot
		 * itself. */
		slot->state =
			slot->state == PORTS_BEGUN ? PORTS_ABANDONED : PORTS_NO_REQUEST;
		pthread_cond_broadcast(&ports->task.changed);
	}
	pthread_mutex_unlock(&ports->inbox.lock);
}

void triad_ports_set_verdicts(
	struct triad_ports *ports, const struct triad_ports_verdicts *verdicts)
{
	pthread_mutex_lock(&ports->inbox.lock);
	ports->inbox.verdicts = *verdicts;
	ports->inbox.has_verdicts = true;
	pthread_mutex_unlock(&ports->inbox.lock);
}

bool ports_take_verdicts(struct triad_ports *ports)
{
	bool has_new;

	pthread_mutex_lock(&ports->inbox.lock);
	has_new = ports->inbox.has_verdicts;
	ports->inbox.has_verdicts = false;
	if (has_new)
		ports->heal.verdicts = ports->inbox.verdicts;
	pthread_mutex_unlock(&ports->inbox.lock);
	return has_new;
}

bool ports_next_request(struct triad_ports *ports, struct ports_request *request)
{
	struct ports_request *slot = &ports->inbox.request;
	bool has_one;

	pthread_mutex_lock(&ports->inbox.lock);
	has_one = slot->state == PORTS_ASKED;
	if (has_one) {
		slot->state = PORTS_BEGUN;
		*request = *slot;
	}
	pthread_mutex_unlock(&ports->inbox.lock);
	return has_one;
}

void ports_end_request(struct triad_ports *ports, const struct ports_request *request)
{
	struct ports_request *slot = &ports->inbox.request;
	bool is_awaited;

	pthread_mutex_lock(&ports->inbox.lock);
	is_awaited = slot->state == PORTS_BEGUN;
	*slot = *request;
	slot->state = is_awaited ? PORTS_ANSWERED : PORTS_NO_REQUEST;
	pthread_cond_broadcast(&ports->task.changed);
	pthread_mutex_unlock(&ports->inbox.lock);
}
