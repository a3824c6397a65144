/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "heal/past.h"
#include "plugin/damp/damper.h"
#include "plugin/physp.h"
#include "plugin/ports/ports_parts.h"

#define LOOK_US TRIAD_US_PER_S
/* How often links are looked for that are held to be healed, and that nobody heals. */
#define ADOPT_US TRIAD_US_PER_S
#define MAX_HELD 256u
/* When to try again to record that others let a link go. */
#define NOTE_AGAIN_US (5 * TRIAD_US_PER_S)
#define SMP_TIMEOUT_MS 100u
/* How long a new master may need until it holds what the last one held. */
#define RESUME_US (30 * TRIAD_US_PER_S)
/* After its return: the first reading that says something of the time since, and how long an
 * alert of the time before may last. */
#define SETTLED_US (10 * TRIAD_US_PER_S)
#define ALERT_ENDS_US (900 * TRIAD_US_PER_S)

/* What became of a link by the records, and how often it was taken lately. */
static enum triad_past recall(const struct triad_ports *ports,
	const struct triad_damp_ends *ends, uint32_t *n_taken)
{
	return triad_past_of(
		ports->records.history, ends, triad_clock_wall_us(), n_taken);
}

/* --- the list --- */

static struct triad_course_conf course_conf(const struct triad_ports *ports)
{
	return (struct triad_course_conf){
		.out_us = ports->conf->heal.out_s * TRIAD_US_PER_S,
		.probation_us = ports->conf->heal.probation_s * TRIAD_US_PER_S,
		.max_taken = ports->conf->heal.max_taken,
	};
}

/* Keys that have changed hold for links that are out, too. */
static void take_conf(const struct triad_ports *ports, struct triad_course *course)
{
	bool returns_anyway = course->conf.returns_anyway;

	course->conf = course_conf(ports);
	course->conf.returns_anyway = returns_anyway;
}

static struct ports_healed *find_healed(
	struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	for (uint32_t i = 0; i < ports->heal.n; i++)
		if (triad_damp_is_same(&ports->heal.all[i].ends, ends))
			return &ports->heal.all[i];
	return NULL;
}

static struct ports_healed *add_healed(
	struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	struct ports_heal *heal = &ports->heal;

	if (heal->n == PORTS_MAX_HEALED)
		return NULL;
	heal->all[heal->n] = (struct ports_healed){.ends = *ends};
	return &heal->all[heal->n++];
}

static const struct triad_ports_judged *find_judged(
	const struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	const struct triad_ports_verdicts *verdicts = &ports->heal.verdicts;

	for (uint32_t i = 0; i < verdicts->n; i++)
		if (triad_damp_is_same(&verdicts->links[i].ends, ends))
			return &verdicts->links[i];
	return NULL;
}

/* The link's port in the fabric; NONE: it is not linked there. */
static uint32_t find_linked(
	const struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	uint32_t port = triad_fabric_port_at(ports->fabric, ends->guid, ends->number);

	return port != TRIAD_FABRIC_NONE &&
			ports->fabric->ports[port].remote != TRIAD_FABRIC_NONE
		? port
		: TRIAD_FABRIC_NONE;
}

/* --- the damper, which waits for its own locks --- */

/* With another damp.mode than act no link is held, whatever is noted. */
static struct triad_damp_link find_damped(
	struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	struct triad_damp_link link = {0};

	ports_begin_wait(ports);
	(void)triad_damper_find(ports->heal.damper, ends, &link);
	ports_end_wait(ports);
	link.is_held &= triad_damper_acts(ports->heal.damper);
	return link;
}

/* Copies links that are noted as held for us.  Returns how many. */
static uint32_t copy_ours(
	struct triad_ports *ports, struct triad_damp_ends ours[MAX_HELD])
{
	struct triad_damp_link links[MAX_HELD];
	uint32_t n_ours = 0;
	size_t n;

	ports_begin_wait(ports);
	n = triad_damper_links(ports->heal.damper, links, MAX_HELD);
	ports_end_wait(ports);
	for (size_t i = 0; i < n; i++)
		if (links[i].is_held && links[i].is_by_heal)
			ours[n_ours++] = links[i].ends;
	return n_ours;
}

/* Returns why not; NULL: it is held. */
static const char *hold(struct triad_ports *ports, uint32_t port)
{
	const char *why = "it has no link";
	int error;

	ports_begin_wait(ports);
	error = triad_damper_pin(ports->heal.damper, ports->fabric, port, true,
		"held out of routing: statistics call it bad", &why);
	ports_end_wait(ports);
	if (error == ENOMEM)
		return "memory is short";
	return error ? why : NULL;
}

static uint32_t count_linked(const struct triad_fabric *fabric)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t far = fabric->ports[i].remote;

		n += far != TRIAD_FABRIC_NONE && far > i &&
			fabric->nodes[fabric->ports[i].node].type ==
				TRIAD_NODE_SWITCH &&
			fabric->nodes[fabric->ports[far].node].type ==
				TRIAD_NODE_SWITCH;
	}
	return n;
}

/* Counts the links of a new view, with those that it lacks because they are held. */
static void note_calm(struct triad_ports *ports, uint64_t now_us)
{
	struct triad_damp_ends held[MAX_HELD];
	uint32_t n_links;
	size_t n;

	if (ports->heal.calm_generation == ports->fabric->generation)
		return;
	ports->heal.calm_generation = ports->fabric->generation;
	ports_begin_wait(ports);
	n = triad_damper_held(ports->heal.damper, held, MAX_HELD);
	ports_end_wait(ports);
	n_links = count_linked(ports->fabric);
	for (size_t i = 0; i < n; i++)
		n_links += find_linked(ports, &held[i]) == TRIAD_FABRIC_NONE;
	triad_calm_note(&ports->heal.calm, n_links, now_us);
}

bool ports_heal_waits(struct triad_ports *ports)
{
	return triad_calm_n_moved(&ports->heal.calm, triad_clock_boot_us()) >
		ports->conf->heal.max_out;
}

/* Asked before anything is recorded. */
static bool may_hold(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	uint32_t port = find_linked(ports, ends);
	const char *why;
	int error;

	if (port == TRIAD_FABRIC_NONE)
		return false;
	ports_begin_wait(ports);
	error = triad_damper_would_pin(ports->heal.damper, ports->fabric, port, &why);
	ports_end_wait(ports);
	return !error;
}

static void let_go(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	ports_begin_wait(ports);
	triad_damper_release_healed(
		ports->heal.damper, ends, "no longer held: it was tested, or released");
	ports_end_wait(ports);
}

/* --- records --- */

static void say(struct triad_ports *ports, const struct triad_record *record)
{
	triad_log_write(ports->log, TRIAD_LOG_WARNING,
		"ports: %s (0x%016" PRIx64 ") port %u: %s: %s",
		ports_node_name(ports, record->node_guid), record->node_guid,
		record->port, triad_port_action_name(record->action), record->text);
}

static uint64_t guid_of_switch(const struct triad_ports *ports, uint64_t node_guid)
{
	uint32_t port = triad_fabric_port_at(ports->fabric, node_guid, 0);

	return port == TRIAD_FABRIC_NONE ? 0 : ports->fabric->ports[port].guid;
}

static struct triad_record record_of(const struct triad_ports *ports,
	const struct triad_damp_ends *ends, enum triad_port_action action,
	enum triad_port_reason reason, const char *text)
{
	struct triad_record record = {
		.node_guid = ends->guid,
		.port = ends->number,
		.remote_guid = guid_of_switch(ports, ends->far_guid),
		.action = (uint8_t)action,
		.outcome = TRIAD_OUTCOME_INTENDED,
		.reason = (uint8_t)reason,
	};

	snprintf(record.text, sizeof(record.text), "%s", text);
	return record;
}

/* Writes how it went.  If that fails, the next holder of the lease finds the intent, and looks
 * whether the link is held. */
static void conclude(
	struct triad_ports *ports, struct triad_record *record, const char *refused)
{
	record->outcome = refused ? TRIAD_OUTCOME_DROPPED : TRIAD_OUTCOME_DONE;
	if (refused)
		snprintf(record->text + strlen(record->text),
			sizeof(record->text) - strlen(record->text), " -- %s", refused);
	say(ports, record);
	(void)ports_record(ports, record);
}

/* --- acts --- */

/* A plan judges one view: so a link is taken by a plan of the newest view only, and only if it
 * shows the last act. */
static bool is_plan_new(const struct triad_ports *ports)
{
	return ports->heal.verdicts.generation == ports->fabric->generation &&
		triad_last_act_is_seen(&ports->acts.last, ports->fabric);
}

/* '*taken_us' becomes a time after which a view without the link is one that it was taken out
 * of. */
static bool take(struct triad_ports *ports, const struct triad_ports_judged *judged,
	uint64_t *taken_us)
{
	struct triad_record record = record_of(ports, &judged->ends, TRIAD_ACTION_TAKE,
		TRIAD_REASON_HEAL, judged->text);
	uint32_t port = find_linked(ports, &judged->ends);
	const char *why;

	if (port == TRIAD_FABRIC_NONE || ports_commit(ports, &record))
		return false;
	*taken_us = triad_clock_boot_us();
	triad_last_act_note(&ports->acts.last, *taken_us);
	why = hold(ports, port);
	conclude(ports, &record, why);
	return !why;
}

static bool give_back(struct triad_ports *ports, const struct triad_damp_ends *ends,
	enum triad_port_action action, enum triad_port_reason reason, const char *text)
{
	struct triad_record record = record_of(ports, ends, action, reason, text);

	if (ports_commit(ports, &record))
		return false;
	let_go(ports, ends);
	conclude(ports, &record, NULL);
	return true;
}

/* A person holds it from now on. */
static bool leave_out(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	struct triad_record record = record_of(
		ports, ends, TRIAD_ACTION_TAKE, TRIAD_REASON_BY_HAND, "held by hand");

	if (ports_commit(ports, &record))
		return false;
	conclude(ports, &record, NULL);
	return true;
}

/* Whether somebody, or the expected configuration, has the port disabled: it stays so.  A bounce
 * that was not finished leaves one disabled, too. */
static bool is_disabled_by_others(
	struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	const struct triad_smp_request request = {.attribute = TRIAD_SMP_PORT_INFO,
		.modifier = ends->number,
		.timeout_ms = SMP_TIMEOUT_MS};
	const struct triad_record *last =
		triad_history_find(ports->records.history, ends->guid, ends->number);
	_Alignas(8) uint8_t data[TRIAD_SMP_DATA_SIZE] = {0};
	struct triad_smp_route route;
	unsigned phys_state;
	uint16_t status;

	if (last && last->action == TRIAD_ACTION_BOUNCE &&
		last->outcome != TRIAD_OUTCOME_DONE &&
		last->outcome != TRIAD_OUTCOME_DROPPED)
		return false;
	if (ports_find_route(ports, ends->guid, ends->number, &route) ||
		ports_ask(ports, &route, &request, data, &status))
		return false;
	phys_state = ib_port_info_get_port_phys_state((const void *)data);
	return phys_state == TRIAD_PHYS_DISABLED ||
		(phys_state != TRIAD_PHYS_LINK_UP && last &&
			last->action == TRIAD_ACTION_DISABLE &&
			last->outcome == TRIAD_OUTCOME_DONE);
}

static void begin_tests(struct triad_ports *ports, struct ports_healed *healed)
{
	const struct triad_test_conf conf = ports_test_conf(ports);
	const struct triad_test_expected expected = {
		.width = healed->wanted.width, .speed = (uint8_t)healed->wanted.speed};
	const struct triad_damp_ends *ends = &healed->ends;

	for (unsigned i = 0; i < 2; i++) {
		struct ports_test *test = &healed->tests[i];

		*test = (struct ports_test){
			.node_guid = i ? ends->far_guid : ends->guid,
			.number = i ? ends->far_number : ends->number,
		};
		triad_port_test_begin(
			&test->test, &conf, &expected, triad_clock_boot_us());
	}
	healed->look_us = 0;
}

static bool retrain(struct triad_ports *ports, struct ports_healed *healed)
{
	const struct triad_damp_ends *ends = &healed->ends;

	if (is_disabled_by_others(ports, ends) ||
		ports_bounce(ports, ends->guid, ends->number,
			guid_of_switch(ports, ends->far_guid), TRIAD_REASON_HEAL,
			"it is out of routing, and is retrained"))
		return false;
	begin_tests(ports, healed);
	return true;
}

/* --- tests --- */

/* OpenSM is shown the port as down, so no sweep tells. */
static void look_at_end(
	struct triad_ports *ports, struct ports_test *test, uint64_t far_guid)
{
	const struct triad_smp_request request = {.attribute = TRIAD_SMP_PORT_INFO,
		.modifier = test->number,
		.timeout_ms = SMP_TIMEOUT_MS};
	_Alignas(8) uint8_t data[TRIAD_SMP_DATA_SIZE] = {0};
	struct triad_test_seen seen = {.remote_guid = far_guid, .why = ""};
	struct triad_fabric_port port = {0};
	struct triad_smp_route route;
	uint16_t status;

	if (ports_find_route(ports, test->node_guid, test->number, &route) ||
		ports_ask(ports, &route, &request, data, &status))
		return;
	triad_link_read(data, &port);
	seen.is_linked = ib_port_info_get_port_phys_state((const void *)data) ==
		TRIAD_PHYS_LINK_UP;
	seen.width = port.width;
	seen.speed = (uint8_t)triad_link_rate_active(&port).speed;
	triad_port_test_look(&test->test, &seen, triad_clock_boot_us());
}

/* Whether time is over, and what is lacking says nothing about the link, as counters that its
 * switch does not tell.  One that is better than none does not wait for them. */
static bool came_to_nothing(const struct ports_healed *healed)
{
	bool has = false;

	for (unsigned i = 0; i < 2; i++)
		has |= healed->tests[i].test.is_timed_out &&
			healed->tests[i].test.is_not_known;
	return has && !healed->course.conf.returns_anyway;
}

static void run_tests(struct triad_ports *ports, struct ports_healed *healed)
{
	uint64_t now_us = triad_clock_now_us(), until_us;
	bool is_due = now_us >= healed->look_us;

	for (unsigned i = 0; i < 2 && ports->fabric; i++) {
		struct ports_test *test = &healed->tests[i];

		if (is_due)
			look_at_end(ports, test,
				i ? healed->ends.guid : healed->ends.far_guid);
		(void)ports_ask_for_test(ports, test, &until_us);
	}
	if (is_due)
		healed->look_us = now_us + LOOK_US;
	if (came_to_nothing(healed))
		begin_tests(ports, healed);
}

/* One that may become active has passed all that can be tested while it is out. */
static enum triad_course_verdict verdict_of(const struct ports_healed *healed)
{
	unsigned n_good = 0;

	for (unsigned i = 0; i < 2; i++) {
		const struct triad_port_test *test = &healed->tests[i].test;

		if (test->state == TRIAD_TEST_FAILED)
			return TRIAD_COURSE_BAD;
		n_good += test->step == TRIAD_TEST_ADMISSION;
	}
	return n_good == 2 ? TRIAD_COURSE_GOOD : TRIAD_COURSE_NO_VERDICT;
}

/* --- facts --- */

static bool has_multicast_entry(const osm_mcast_tbl_t *table, uint8_t number)
{
	unsigned position = number / IB_MCAST_MASK_SIZE,
		 n = (unsigned)(table->max_block_in_use + 1) * IB_MCAST_BLOCK_SIZE;
	uint16_t bit = cl_hton16((uint16_t)(1u << number % IB_MCAST_MASK_SIZE));
	bool has_it = false;

	if (!table->p_mask_tbl || position > table->max_position)
		return false;
	for (unsigned i = 0; i < n && i < table->mft_depth && !has_it; i++)
		has_it = (*table->p_mask_tbl)[i][position] & bit;
	return has_it;
}

/* Whether OpenSM's tables of the switch, or those that it writes, have the port. */
static bool has_entry(struct triad_ports *ports, uint64_t guid, uint8_t number)
{
	const osm_switch_t *sw;
	bool has_it = false;

	ports_begin_wait(ports);
	cl_plock_acquire(&ports->osm->lock);
	sw = osm_get_switch_by_guid(&ports->osm->subn, cl_hton64(guid));
	if (sw && sw->max_lid_ho < sw->lft_size)
		has_it = has_multicast_entry(&sw->mcast_tbl, number) ||
			memchr(sw->lft + 1, number, sw->max_lid_ho) ||
			(sw->new_lft &&
				memchr(sw->new_lft + 1, number, sw->max_lid_ho));
	cl_plock_release(&ports->osm->lock);
	ports_end_wait(ports);
	return has_it;
}

/* A table that is being written has zeros where the switch has entries, but what is written then
 * is of a view without the link. */
static bool is_out(struct triad_ports *ports, const struct ports_healed *healed)
{
	const struct triad_damp_ends *ends = &healed->ends;
	bool is_seen = ports->fabric->begun_us > healed->changed_us &&
		find_linked(ports, ends) == TRIAD_FABRIC_NONE;

	return is_seen && !has_entry(ports, ends->guid, ends->number) &&
		!has_entry(ports, ends->far_guid, ends->far_number);
}

/* By what was read since it is back.  Counters count from one reading to the next, and an alert
 * from before lasts for a while. */
static enum triad_course_verdict verdict_since(
	const struct triad_ports *ports, const struct ports_healed *healed)
{
	const struct triad_ports_judged *judged = find_judged(ports, &healed->ends);

	if (!judged || judged->read_us < healed->changed_us + SETTLED_US ||
		find_linked(ports, &healed->ends) == TRIAD_FABRIC_NONE)
		return TRIAD_COURSE_NO_VERDICT;
	/* One that is merely slow, and was retrained, is not taken again for that. */
	if (!judged->is_bad || judged->wanted.width)
		return TRIAD_COURSE_GOOD;
	return judged->since_us > healed->changed_us ||
			judged->read_us > healed->changed_us + ALERT_ENDS_US
		? TRIAD_COURSE_BAD
		: TRIAD_COURSE_NO_VERDICT;
}

/* So that few links go down at a time, also after a fail-over. */
static bool may_test_again(const struct triad_ports *ports)
{
	for (uint32_t i = 0; i < ports->heal.n; i++) {
		uint8_t state = ports->heal.all[i].course.state;

		if (state == TRIAD_COURSE_MOVING || state == TRIAD_COURSE_RETRAINING ||
			state == TRIAD_COURSE_TESTING)
			return false;
	}
	return true;
}

static struct triad_course_facts facts_of(
	struct triad_ports *ports, const struct ports_healed *healed)
{
	const struct triad_ports_judged *judged = find_judged(ports, &healed->ends);
	struct triad_course_facts facts = {.may_take = judged && judged->may_take &&
			is_plan_new(ports) && !ports_heal_waits(ports)};
	struct triad_damp_link link = find_damped(ports, &healed->ends);

	facts.is_held = link.is_held && link.is_by_heal;
	facts.is_up = link.is_up;
	if (healed->course.state == TRIAD_COURSE_STAYS_OUT)
		facts.may_test_again = may_test_again(ports);
	if (healed->course.state == TRIAD_COURSE_MOVING)
		facts.is_out = is_out(ports, healed);
	if (healed->course.state == TRIAD_COURSE_TESTING)
		facts.test = verdict_of(healed);
	if (healed->course.state == TRIAD_COURSE_PROBATION)
		facts.back = verdict_since(ports, healed);
	return facts;
}

/* --- steps --- */

static void carry_out(struct triad_ports *ports, struct ports_healed *healed,
	enum triad_course_act act)
{
	const struct triad_ports_judged *judged;
	bool worked = false;

	switch (act) {
	case TRIAD_COURSE_TAKE:
		judged = find_judged(ports, &healed->ends);
		worked = judged && take(ports, judged, &healed->changed_us);
		break;
	case TRIAD_COURSE_BOUNCE:
		worked = retrain(ports, healed);
		break;
	case TRIAD_COURSE_RETURN:
		worked = give_back(ports, &healed->ends, TRIAD_ACTION_RETURN,
			TRIAD_REASON_HEAL,
			healed->course.is_given_up
				? healed->course.why
				: "it passed its test: on probation");
		healed->changed_us = triad_clock_now_us();
		break;
	case TRIAD_COURSE_TEST:
		run_tests(ports, healed);
		return;
	default:
		return;
	}
	triad_course_did(&healed->course, act, worked, triad_clock_now_us());
}

/* Others let it go, or hold it now: recorded, so that it is not taken again at once.  Returns
 * false: that is to be tried again. */
static bool note_let_go(
	struct triad_ports *ports, struct ports_healed *healed, uint64_t now_us)
{
	struct triad_damp_link link = find_damped(ports, &healed->ends);

	if (now_us < healed->look_us)
		return false;
	healed->look_us = now_us + NOTE_AGAIN_US;
	if (link.is_held && link.is_pinned && !link.is_by_heal)
		return leave_out(ports, &healed->ends);
	return give_back(ports, &healed->ends, TRIAD_ACTION_RETURN,
		TRIAD_REASON_BY_HAND, healed->course.why);
}

/* Whether the damper let it go by itself: its switch restarted, or it became the only way. */
static bool could_not_be_held(
	struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	struct triad_damp_link link = find_damped(ports, ends);

	return triad_damper_acts(ports->heal.damper) && !link.is_held && link.n_holds;
}

/* Puts it on probation, when that is recorded. */
static void watch_let_go(
	struct triad_ports *ports, struct ports_healed *healed, uint64_t now_us)
{
	const struct triad_course_conf conf = healed->course.conf;

	if (now_us < healed->look_us)
		return;
	healed->look_us = now_us + NOTE_AGAIN_US;
	if (!give_back(ports, &healed->ends, TRIAD_ACTION_RETURN, TRIAD_REASON_HEAL,
		    "it could not be held any longer: on probation"))
		return;
	triad_course_begin_back(&healed->course, &conf, healed->course.n_taken, now_us);
	healed->changed_us = now_us;
}

/* Whether there is nothing to watch: an end has another link by now, or it was down for too long. */
static bool is_gone(const struct triad_ports *ports, const struct ports_healed *healed,
	uint64_t now_us)
{
	const struct triad_fabric *fabric = ports->fabric;
	const struct triad_damp_ends *ends = &healed->ends;
	uint32_t near = triad_fabric_port_at(fabric, ends->guid, ends->number),
		 far = triad_fabric_port_at(fabric, ends->far_guid, ends->far_number);
	uint32_t beyond_near =
			 near == TRIAD_FABRIC_NONE ? near : fabric->ports[near].remote,
		 beyond_far =
			 far == TRIAD_FABRIC_NONE ? far : fabric->ports[far].remote;

	if (beyond_near == TRIAD_FABRIC_NONE && beyond_far == TRIAD_FABRIC_NONE)
		return now_us > healed->changed_us + TRIAD_PAST_REMEMBERED_US;
	return beyond_near != far || beyond_far != near;
}

/* Returns false: its course has ended. */
static bool step(
	struct triad_ports *ports, struct ports_healed *healed, uint64_t *next_us)
{
	struct triad_course_facts facts = facts_of(ports, healed);
	uint64_t now_us = triad_clock_now_us(), until_us;
	enum triad_course_act act;

	take_conf(ports, &healed->course);
	act = triad_course_step(&healed->course, &facts, now_us, &until_us);

	if (until_us > now_us && until_us != UINT64_MAX)
		*next_us = triad_clock_earlier(
			*next_us, triad_clock_boot_us() + until_us - now_us);
	if (healed->course.state == TRIAD_COURSE_PROBATION &&
		is_gone(ports, healed, now_us))
		return false;
	if (healed->course.state != TRIAD_COURSE_ENDED) {
		carry_out(ports, healed, act);
		return true;
	}
	if (!healed->course.is_let_go)
		return false;
	if (could_not_be_held(ports, &healed->ends)) {
		watch_let_go(ports, healed, now_us);
		return true;
	}
	return !note_let_go(ports, healed, now_us);
}

/* A person wants it left alone; or it is slow, and was retrained lately. */
static bool was_enough(
	const struct triad_ports *ports, const struct triad_ports_judged *judged)
{
	uint32_t n_taken;
	enum triad_past past = recall(ports, &judged->ends, &n_taken);

	return past == TRIAD_PAST_LEFT_ALONE || past == TRIAD_PAST_KEPT_OUT ||
		(judged->wanted.width && n_taken);
}

/* The first that may be taken; the plan has the worst first. */
static const struct triad_ports_judged *find_next(struct triad_ports *ports)
{
	const struct triad_ports_verdicts *verdicts = &ports->heal.verdicts;

	for (uint32_t i = 0; i < verdicts->n && ports->heal.n < PORTS_MAX_HEALED; i++)
		if (verdicts->links[i].may_take &&
			!find_healed(ports, &verdicts->links[i].ends) &&
			!find_damped(ports, &verdicts->links[i].ends).is_held &&
			!was_enough(ports, &verdicts->links[i]) &&
			may_hold(ports, &verdicts->links[i].ends))
			return &verdicts->links[i];
	return NULL;
}

/* Takes it and begins its course.  False: it could not be recorded, or held. */
static bool begin_course(
	struct triad_ports *ports, const struct triad_ports_judged *judged)
{
	const struct triad_course_conf conf = course_conf(ports);
	struct ports_healed *healed;
	uint64_t taken_us;
	uint32_t n_taken;

	if (!take(ports, judged, &taken_us))
		return false;
	healed = add_healed(ports, &judged->ends);
	(void)recall(ports, &judged->ends, &n_taken);
	triad_course_begin(
		&healed->course, &conf, n_taken ? n_taken : 1, triad_clock_now_us());
	healed->changed_us = taken_us;
	healed->wanted = judged->wanted;
	healed->course.conf.returns_anyway = judged->wanted.width;
	return true;
}

static void take_next(struct triad_ports *ports, uint64_t now_us)
{
	const struct triad_ports_judged *judged = find_next(ports);

	if (judged && !triad_last_act_is_seen(&ports->acts.last, ports->fabric))
		(void)ports_wait_for_view(ports, now_us);
	if (judged && is_plan_new(ports))
		(void)begin_course(ports, judged);
}

/* --- a new term --- */

/* Begins the probation of a link that is in routing again.  One that was taken, and that nobody came
 * to hold, is recorded as back. */
static void begin_probation(struct triad_ports *ports,
	const struct triad_damp_ends *ends, enum triad_past past, uint32_t n_taken)
{
	const struct triad_course_conf conf = course_conf(ports);
	struct ports_healed *healed;

	if (past == TRIAD_PAST_OUT)
		(void)give_back(ports, ends, TRIAD_ACTION_RETURN, TRIAD_REASON_HEAL,
			"it is not held any longer: on probation");
	healed = add_healed(ports, ends);
	if (!healed)
		return;
	triad_course_begin_back(&healed->course, &conf, n_taken, triad_clock_now_us());
	healed->changed_us = triad_clock_now_us();
}

/* A link that is held for us, and that nobody heals here: the last holder of the lease took it, or
 * this SM before it was restarted.  One that is back by the records was let go in vain, and was not
 * on probation yet. */
static void adopt_link(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	const struct triad_course_conf conf = course_conf(ports);
	struct ports_healed *healed = find_healed(ports, ends);
	uint32_t n_taken, n_retrained;
	uint64_t ago_us;
	enum triad_past past = recall(ports, ends, &n_taken);

	if ((healed && healed->course.state != TRIAD_COURSE_PROBATION) ||
		past == TRIAD_PAST_KEPT_OUT)
		return;
	if (healed || past == TRIAD_PAST_BACK || past == TRIAD_PAST_LEFT_ALONE) {
		let_go(ports, ends);
		if (!healed && past == TRIAD_PAST_BACK)
			begin_probation(ports, ends, past, n_taken);
		return;
	}
	healed = add_healed(ports, ends);
	if (!healed)
		return;
	n_retrained = triad_past_retrained(
		ports->records.history, ends, triad_clock_wall_us(), &ago_us);
	triad_course_begin_held(&healed->course, &conf, n_taken ? n_taken : 1,
		n_retrained, ago_us, triad_clock_now_us());
}

/* It may take a while until the damper holds what was held before. */
static void adopt_ours(struct triad_ports *ports, uint64_t now_us)
{
	struct triad_damp_ends ours[MAX_HELD];
	uint32_t n;

	if (now_us < ports->heal.adopt_us)
		return;
	ports->heal.adopt_us = now_us + ADOPT_US;
	n = copy_ours(ports, ours);
	for (uint32_t i = 0; i < n; i++)
		adopt_link(ports, &ours[i]);
}

/* One that was taken is held again: this SM's damper may not have heard that it was.  Then it is
 * adopted. */
static void hold_again(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	uint32_t port = find_linked(ports, ends);

	if (port != TRIAD_FABRIC_NONE)
		(void)hold(ports, port);
}

/* Links that are in routing again, whatever the last master came to do with them.  Returns false:
 * one that was taken may yet come to be held, and it is not 'late'. */
static bool resume_back(struct triad_ports *ports, bool late)
{
	const uint64_t now_us = triad_clock_wall_us(),
		       probation_us = course_conf(ports).probation_us;
	const struct triad_record *record;
	bool are_all_known = true;

	for (uint32_t i = 0;
		(record = triad_history_latest(ports->records.history, i)) != NULL &&
		record->at_us + TRIAD_PAST_REMEMBERED_US > now_us;
		i++) {
		bool is_recent = record->at_us + probation_us > now_us;
		struct triad_damp_ends ends;
		enum triad_past past;
		uint32_t n_taken;

		if (record->reason != TRIAD_REASON_HEAL ||
			(!is_recent && record->action != TRIAD_ACTION_TAKE) ||
			!triad_damp_ends_at(ports->fabric,
				triad_fabric_port_at(
					ports->fabric, record->node_guid, record->port),
				&ends) ||
			find_healed(ports, &ends) || find_damped(ports, &ends).is_held)
			continue;
		past = recall(ports, &ends, &n_taken);
		if (past == TRIAD_PAST_OUT && !late) {
			hold_again(ports, &ends);
			are_all_known = false;
			continue;
		}
		if (past == TRIAD_PAST_OUT || (past == TRIAD_PAST_BACK && is_recent))
			begin_probation(ports, &ends, past, n_taken);
	}
	return are_all_known;
}

/* What the last holder of the lease had on probation. */
static void resume(struct triad_ports *ports, uint64_t now_us)
{
	struct ports_heal *heal = &ports->heal;

	if (!heal->resume_until_us)
		heal->resume_until_us = now_us + RESUME_US;
	heal->is_resumed = resume_back(ports, now_us >= heal->resume_until_us);
}

void ports_end_heal(struct triad_ports *ports)
{
	struct ports_heal *heal = &ports->heal;

	heal->n = 0;
	heal->is_resumed = false;
	heal->resume_until_us = heal->adopt_us = 0;
	heal->calm = (struct triad_calm){0};
	heal->calm_generation = 0;
}

uint64_t ports_run_heal(struct triad_ports *ports, uint64_t now_us)
{
	struct ports_heal *heal = &ports->heal;
	uint64_t next_us = UINT64_MAX;
	uint32_t i = 0;

	bool has_news = ports_take_verdicts(ports);

	if (ports->conf->heal.mode != TRIAD_HEAL_ACT || !ports->fabric ||
		!ports_is_in_charge(ports) || !ports_may_act(ports)) {
		ports_end_heal(ports);
		return UINT64_MAX;
	}
	note_calm(ports, now_us);
	adopt_ours(ports, now_us);
	if (!heal->is_resumed)
		resume(ports, now_us);
	while (i < heal->n && !ports_is_ending(ports))
		if (step(ports, &heal->all[i], &next_us))
			i++;
		else
			heal->all[i] = heal->all[--heal->n];
	if (heal->is_resumed && has_news && !ports_is_ending(ports) &&
		!ports_heal_waits(ports))
		take_next(ports, now_us);
	return next_us;
}

/* --- for others --- */

/* The link of the port that is healed, or held for that, with any mode; with 'or_kept', also one
 * that somebody then had kept out.  False: there is none. */
static bool find_of_port(struct triad_ports *ports, uint64_t node_guid, uint8_t number,
	bool or_kept, struct triad_damp_ends *ends)
{
	struct triad_damp_link links[MAX_HELD];
	uint32_t n_taken;
	size_t n;

	for (uint32_t i = 0; i < ports->heal.n; i++) {
		*ends = ports->heal.all[i].ends;
		if (triad_damp_has_end(ends, node_guid, number))
			return true;
	}
	ports_begin_wait(ports);
	n = triad_damper_links(ports->heal.damper, links, MAX_HELD);
	ports_end_wait(ports);
	for (size_t i = 0; i < n; i++) {
		*ends = links[i].ends;
		if (links[i].is_held && triad_damp_has_end(ends, node_guid, number))
			return links[i].is_by_heal ||
				(or_kept &&
					recall(ports, ends, &n_taken) ==
						TRIAD_PAST_KEPT_OUT);
	}
	return false;
}

static void forget_healed(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	struct ports_healed *healed = find_healed(ports, ends);

	if (healed)
		*healed = ports->heal.all[--ports->heal.n];
}

enum triad_ports_answer ports_release_healed(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number, bool or_kept)
{
	struct triad_damp_ends ends;

	if (!find_of_port(ports, node_guid, number, or_kept, &ends))
		return TRIAD_PORTS_NOTHING;
	if (!give_back(ports, &ends, TRIAD_ACTION_RELEASE, TRIAD_REASON_BY_HAND,
		    "released by hand"))
		return TRIAD_PORTS_NOT_WRITTEN;
	forget_healed(ports, &ends);
	return TRIAD_PORTS_OK;
}

/* Why a person may not have the link taken; NULL: it may be. */
static const char *refusal_to_take(
	struct triad_ports *ports, uint32_t port, const struct triad_damp_ends *ends)
{
	const char *why = NULL;

	if (ports->conf->heal.mode != TRIAD_HEAL_ACT)
		return "heal.mode is not act";
	if (!ports->heal.is_resumed)
		return "it is not known yet what the last master took: try again in a "
		       "moment";
	if (triad_fabric_port_at(ports->fabric, ends->guid, 0) == TRIAD_FABRIC_NONE ||
		triad_fabric_port_at(ports->fabric, ends->far_guid, 0) ==
			TRIAD_FABRIC_NONE)
		return "it is not between switches";
	if (find_healed(ports, ends))
		return "'heal' lists it already";
	if (ports->heal.n == PORTS_MAX_HEALED)
		return "so many are out, or on probation, that there is no room";
	if (!triad_last_act_is_seen(&ports->acts.last, ports->fabric)) {
		(void)ports_wait_for_view(ports, triad_clock_boot_us());
		return "OpenSM sweeps to show what was done last: try again in a moment";
	}
	ports_begin_wait(ports);
	(void)triad_damper_would_pin(ports->heal.damper, ports->fabric, port, &why);
	ports_end_wait(ports);
	return why;
}

enum triad_ports_answer ports_take_by_hand(struct triad_ports *ports,
	uint64_t node_guid, uint8_t number, char why[TRIAD_PORTS_TEXT_SIZE])
{
	struct triad_ports_judged judged = {.text = "taken by hand"};
	const char *refusal = "OpenSM has no link there now";
	uint32_t port = ports->fabric
		? triad_fabric_port_at(ports->fabric, node_guid, number)
		: TRIAD_FABRIC_NONE;

	if (ports->fabric && triad_damp_ends_at(ports->fabric, port, &judged.ends))
		refusal = refusal_to_take(ports, port, &judged.ends);
	snprintf(why, TRIAD_PORTS_TEXT_SIZE, "%s", refusal ? refusal : "");
	if (refusal)
		return TRIAD_PORTS_NOTHING;
	return begin_course(ports, &judged) ? TRIAD_PORTS_OK : TRIAD_PORTS_NOT_WRITTEN;
}

enum triad_ports_answer ports_keep_out(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number)
{
	struct triad_damp_ends ends;

	if (!find_of_port(ports, node_guid, number, false, &ends))
		return TRIAD_PORTS_NOTHING;
	if (!leave_out(ports, &ends))
		return TRIAD_PORTS_NOT_WRITTEN;
	forget_healed(ports, &ends);
	return TRIAD_PORTS_OK;
}

uint32_t triad_ports_healed(
	struct triad_ports *ports, struct triad_ports_healed *healed, uint32_t room)
{
	uint32_t n;

	pthread_mutex_lock(&ports->lock);
	for (n = 0; n < ports->heal.n && n < room; n++) {
		const struct ports_healed *of = &ports->heal.all[n];

		healed[n] = (struct triad_ports_healed){
			.ends = of->ends, .course = of->course};
		if (of->course.state == TRIAD_COURSE_TESTING)
			snprintf(healed[n].text, sizeof(healed[n].text), "%s",
				of->tests[of->tests[0].test.step ==
					  TRIAD_TEST_ADMISSION]
					.test.text);
	}
	pthread_mutex_unlock(&ports->lock);
	return n;
}

void triad_ports_set_damper(struct triad_ports *ports, struct triad_damper *damper)
{
	ports->heal.damper = damper;
}
