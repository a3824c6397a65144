/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/ports/ports.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/election/elector.h"
#include "plugin/ports/ports_parts.h"
#include "plugin/sm_recover.h"
#include "portmgr/replica/replica_message.h"
#include "triad/lists.h"
#include "triad/thread.h"

/* How often to check permission without input. */
#define TICK_US (100 * TRIAD_US_PER_MS)
#define IDLE_US TRIAD_US_PER_S
#define SHARE_US (500 * TRIAD_US_PER_MS)
#define PATIENCE_US (3 * TRIAD_US_PER_S)

static enum triad_hold_whom whom_to_hold(struct triad_ports *ports)
{
	struct triad_permission permission = triad_elector_permission(ports->elector);

	/* Without permission, hold only what was held before: "hand-over" in hold.h. */
	if (!atomic_load(&ports->may_hold) || !permission.is_given)
		return TRIAD_HOLD_HELD;
	return permission.term == atomic_load(&ports->idle_term) ? TRIAD_HOLD_BEGUN
								 : TRIAD_HOLD_ALL;
}

void triad_ports_hide(struct triad_ports *ports)
{
	triad_hold_hide(ports->hold, ports->osm, whom_to_hold(ports));
}

void triad_ports_note_rerouted(struct triad_ports *ports)
{
	if (triad_hold_note_rerouted(ports->hold))
		triad_sm_sweep(ports->osm);
}

void triad_ports_mark(struct triad_ports *ports)
{
	triad_hold_mark(ports->hold, ports->osm, whom_to_hold(ports));
}

/* --- waiting --- */

void ports_begin_wait(struct triad_ports *ports)
{
	pthread_mutex_unlock(&ports->lock);
}

void ports_end_wait(struct triad_ports *ports)
{
	pthread_mutex_lock(&ports->lock);
}

/* --- the members --- */

/* Writes received records to the journal.  While this fails (false), send nothing: a
 * digest states that its records are on this disk. */
static bool journal_news(struct triad_ports *ports)
{
	const struct triad_replica_news *news = &ports->records.unwritten;

	while (ports->records.has_unwritten ||
		triad_replica_take_news(
			ports->records.replica, &ports->records.unwritten)) {
		ports->records.has_unwritten = true;
		ports->must_plan |= news->is_last;
		if (news->is_last && triad_last_act_is_by(&news->record))
			triad_last_act_note(&ports->acts.last, triad_clock_boot_us());
		if (ports_journal(ports, &news->record, news->is_last))
			return false;
		ports->records.has_unwritten = false;
	}
	return true;
}

/* Offers the configuration in force to the members, once it is on this disk: an offer is
 * a confirmation. */
static void offer_expected(struct triad_ports *ports)
{
	const struct triad_expected *expected = ports->source.expected;
	struct triad_replica_config config = {0};

	if (*ports->source.copy_trouble)
		return;
	if (expected)
		config = (struct triad_replica_config){
			.generation = expected->generation,
			.hash = expected->hash,
			.size = ports->source.size};
	(void)triad_replica_offer(ports->records.replica, &config, ports->source.octets,
		triad_clock_boot_us());
}

/* Another configuration is in force: offers it to the members and makes a new plan
 * due. */
static void handle_expected(struct triad_ports *ports)
{
	/* announce() passes it to the election when a majority has it. */
	ports->is_announced = false;
	offer_expected(ports);
	ports_take_expected(ports);
}

/* Passes a configuration to the election once a majority has it; until then no port is
 * changed.  If only this SM had it and died, no other SM could enforce. */
static void announce(struct triad_ports *ports)
{
	const struct triad_expected *expected = ports->source.expected;

	if (ports->is_announced ||
		(ports->conf->port.enabled && !ports_is_config_agreed(ports, 0)))
		return;
	ports->is_announced = true;
	ports_begin_wait(ports);
	triad_elector_set_config(ports->elector, expected ? expected->generation : 0,
		expected ? expected->hash : 0);
	ports_end_wait(ports);
}

static void take_payload(struct triad_ports *ports, const struct triad_payload *payload)
{
	triad_release_check(&ports->release, payload);
	triad_replica_payload(ports->records.replica, payload->sender, payload->octets,
		payload->size, triad_clock_boot_us());
}

void ports_pump(struct triad_ports *ports)
{
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE];
	struct triad_payload received;
	size_t size;

	/* Empty the inbox even while the port manager is off, so that old payloads do
	 * not wait there until it is on. */
	if (ports_next_view(ports)) {
		triad_replica_view(
			ports->records.replica, &ports->view, triad_clock_boot_us());
		ports->sms.look_us = 0;
	}
	while (ports_next_payload(ports, &received))
		if (ports->conf->port.enabled)
			take_payload(ports, &received);
	if (!ports->conf->port.enabled)
		return;
	triad_replica_run(ports->records.replica, triad_clock_boot_us());
	if (!journal_news(ports))
		return;
	/* Ignore failures: the replica repeats its payloads. */
	while ((size = triad_replica_take_payload(ports->records.replica, payload)) >
		0) {
		ports_begin_wait(ports);
		(void)triad_elector_send(ports->elector, payload, size);
		ports_end_wait(ports);
	}
}

/* --- a step --- */

void ports_take_conf(struct triad_ports *ports)
{
	char copy[TRIAD_SOURCE_PATH_SIZE] = "";
	struct triad_agenda_conf agenda;
	const struct triad_conf *conf = ports_next_conf(ports);

	if (!conf)
		return;
	triad_conf_unref(ports->conf);
	ports->conf = conf;
	(void)triad_lids_parse(conf->heal.test_lids, ports->heal.test_lids,
		TRIAD_CONF_MAX_TEST_LIDS, &ports->heal.n_test_lids, NULL, 0);
	agenda = (struct triad_agenda_conf){
		.max_actions = conf->port.max_actions,
		.grace_us = conf->port.grace_s * TRIAD_US_PER_S,
		.drain_us = conf->port.drain_s * TRIAD_US_PER_S,
		.quiet_bps = (uint64_t)conf->port.quiet_kb * 1024,
		.name_grace_us = conf->port.name_grace_s * TRIAD_US_PER_S,
	};
	triad_agenda_configure(ports->agenda, &agenda);
	atomic_store(&ports->may_hold,
		conf->port.enabled && conf->port.mode == TRIAD_PORT_ENFORCE);
	if (conf->port.enabled) {
		ports_open_journal(ports);
		ports_open_sms(ports);
		snprintf(copy, sizeof(copy), "%s/expected-0x%016" PRIx64 ".csv",
			conf->election.state_dir, ports->id);
	}
	/* The copy first: an operator's file with an older generation is then
	 * refused. */
	if (triad_source_set_copy(&ports->source, copy))
		handle_expected(ports);
	if (triad_source_set_file(&ports->source, conf->port.expected_file))
		handle_expected(ports);
	if (!atomic_load(&ports->may_hold))
		ports_end_tests(ports);
	ports_publish_hold(ports);
	ports->must_plan = true;
}

/* Called right before the plan is made: commands must not find a fabric without a
 * plan. */
static void handle_fabric(struct triad_ports *ports)
{
	struct triad_fabric *fabric;
	bool has_one = ports_next_fabric(ports, &fabric);

	if (has_one || ports->must_plan ||
		ports_must_find_sms(ports, triad_clock_boot_us()))
		ports_find_sms(ports);
	if (has_one)
		ports_take_fabric(ports, fabric);
}

static void trim_journal(struct triad_ports *ports)
{
	if (!ports->records.journal)
		return;
	ports_begin_wait(ports);
	triad_journal_trim(ports->records.journal, ports->records.history);
	ports_end_wait(ports);
}

/* Returns when to look again. */
static uint64_t run_step(struct triad_ports *ports)
{
	uint64_t now_us = triad_clock_boot_us(), next_us, tests_us,
		 acts_us = UINT64_MAX;
	struct triad_replica_config config;
	uint8_t *octets;

	/* First the input: configurations, messages, permission. */
	ports_take_conf(ports);
	if (triad_source_look(&ports->source, now_us))
		handle_expected(ports);
	if (triad_source_retry_copy(&ports->source, now_us))
		offer_expected(ports);
	ports_pump(ports);
	/* Not in ports_pump(), which also runs while an action waits: another
	 * configuration frees the plan that the action comes from. */
	while (triad_replica_take_config(ports->records.replica, &config, &octets))
		if (triad_source_take(&ports->source, (char *)octets, config.size))
			handle_expected(ports);
	announce(ports);
	if (ports->conf->port.enabled)
		ports_look_at_permission(ports);
	handle_fabric(ports);
	ports_see_past(ports, now_us);
	if (!ports->conf->port.enabled) {
		ports_end_heal(ports);
		return *ports->conf->port.expected_file ? now_us + IDLE_US : UINT64_MAX;
	}
	ports_retry_journal(ports, now_us);
	/* A standby's, too: it grows by what others send. */
	trim_journal(ports);
	/* Then the plan and its actions.  An ended test or records of members outdate
	 * the plan, so that no action is done until there is a new one. */
	if (ports->must_plan)
		ports_plan(ports, now_us);
	next_us = now_us + TICK_US;
	next_us = triad_clock_earlier(next_us, ports_run_heal(ports, now_us));
	if (!ports->plan || !ports_is_in_charge(ports))
		return next_us;
	tests_us = ports_run_tests(ports, now_us);
	if (!ports->must_plan)
		acts_us = ports_act(ports, triad_clock_boot_us());
	next_us = triad_clock_earlier(next_us, acts_us);
	return tests_us < next_us ? tests_us : next_us;
}

/* Ports that are no longer held become active in the next heavy sweep.  Ask for one,
 * which may not come otherwise. */
static void look_whether_idle(struct triad_ports *ports)
{
	uint64_t now_us = triad_clock_boot_us(), term;

	ports_note_ready(ports, now_us);
	term = ports_idle_term(ports, now_us);
	if (atomic_exchange(&ports->idle_term, term) != term && term &&
		triad_hold_n_held(ports->hold))
		ports_ask_for_sweep(ports);
}

/* --- the thread --- */

static uint64_t run_port_manager(void *context)
{
	struct triad_ports *ports = context;
	uint64_t next_us;

	/* The task calls with the inbox's lock; our lock comes first in the order. */
	pthread_mutex_unlock(&ports->inbox.lock);
	pthread_mutex_lock(&ports->lock);
	ports_answer_request(ports);
	/* While OpenSM ends, begin nothing: it is about to free its objects. */
	next_us = osm_exit_flag ? triad_clock_boot_us() + IDLE_US : run_step(ports);
	look_whether_idle(ports);
	ports_publish_status(ports);
	pthread_mutex_unlock(&ports->lock);
	pthread_mutex_lock(&ports->inbox.lock);
	ports_end_first_step(ports);
	/* While the port manager is off there is a thread for what is left for it, so that
	 * it knows the fabric when it is switched on. */
	return next_us == UINT64_MAX ? TRIAD_TASK_DONE
				     : triad_clock_from_boot_us(next_us);
}

/* --- life --- */

/* Requires that no thread uses the port manager any more. */
static void destroy_manager(struct triad_ports *ports)
{
	triad_conf_unref(ports->inbox.conf);
	triad_conf_unref(ports->conf);
	triad_fabric_unref(ports->inbox.fabric);
	triad_fabric_unref(ports->inbox.past);
	triad_fabric_unref(ports->fabric);
	triad_placed_free(ports->placed);
	triad_seen_switches_free(&ports->seen.switches);
	triad_plan_free(ports->plan);
	triad_agenda_free(ports->agenda);
	triad_journal_close(ports->records.journal);
	triad_replica_free(ports->records.replica);
	triad_history_free(ports->records.history);
	triad_source_clear(&ports->source);
	triad_smp_free(ports->smp);
	triad_task_clear(&ports->task);
	pthread_mutex_destroy(&ports->inbox.lock);
	pthread_mutex_destroy(&ports->lock);
	pthread_mutex_destroy(&ports->status_lock);
	free(ports);
}

static bool make_parts(struct triad_ports *ports)
{
	const struct triad_replica_conf replica = {
		.id = ports->id,
		.interval_us = SHARE_US,
		.max_config_size = TRIAD_EXPECTED_MAX_OCTETS,
	};

	triad_source_init(&ports->source, &ports->lock, ports->log);
	ports->conf = triad_conf_new(ports->id);
	ports->records.history = triad_history_new();
	ports->agenda = triad_agenda_new();
	ports->smp = triad_smp_new(ports->id);
	if (ports->records.history)
		ports->records.replica =
			triad_replica_new(&replica, ports->records.history);
	return ports->conf && ports->records.replica && ports->agenda && ports->smp;
}

struct triad_ports *triad_ports_new(struct osm_opensm *osm, uint64_t port_guid,
	struct triad_elector *elector, struct triad_hold *hold,
	struct triad_recorder *recorder, struct triad_log *log)
{
	struct triad_ports *ports = calloc(1, sizeof(*ports));
	struct triad_cluster_sink sink = {.context = ports,
		.view = ports_leave_view,
		.message = ports_leave_payload};

	if (!ports)
		return NULL;
	ports->osm = osm;
	ports->id = port_guid;
	ports->elector = elector;
	ports->hold = hold;
	ports->recorder = recorder;
	ports->log = log;
	ports->release = (struct triad_release){.about = "ports",
		.magic = TRIAD_REPLICA_MAGIC,
		.version = TRIAD_REPLICA_VERSION,
		.log = ports->log};
	pthread_mutex_init(&ports->inbox.lock, NULL);
	pthread_mutex_init(&ports->lock, NULL);
	pthread_mutex_init(&ports->status_lock, NULL);
	triad_task_init(&ports->task, &ports->inbox.lock, "triad-ports",
		run_port_manager, ports);
	if (!make_parts(ports)) {
		destroy_manager(ports);
		return NULL;
	}
	triad_elector_set_listener(elector, TRIAD_ELECTOR_PORTS, &sink);
	return ports;
}

bool triad_ports_free(struct triad_ports *ports)
{
	if (!ports)
		return true;
	/* First leave the transport, so that it calls us no more; then end the
	 * thread. */
	triad_elector_set_listener(ports->elector, TRIAD_ELECTOR_PORTS, NULL);
	if (!triad_task_stop(&ports->task, PATIENCE_US))
		return false;
	destroy_manager(ports);
	return true;
}
