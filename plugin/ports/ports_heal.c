/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <stdio.h>
#include <string.h>

#include "plugin/ports/ports_heal_parts.h"

#define LOOK_US TRIAD_US_PER_S
/* When to try again to record that others let a link go. */
#define NOTE_AGAIN_US (5 * TRIAD_US_PER_S)
#define SMP_TIMEOUT_MS 100u
/* Tries of a test with data that said nothing, in a row. */
#define MAX_VAIN 3u
/* After which others are tested, though one is on its way. */
#define STUCK_US (300 * TRIAD_US_PER_S)
/* After its return: the first reading that says something of the time since, and how long an
 * alert of the time before may last. */
#define SETTLED_US (10 * TRIAD_US_PER_S)
#define ALERT_ENDS_US (900 * TRIAD_US_PER_S)

static uint32_t count_linked(const struct triad_fabric *fabric)
{
	struct triad_damp_ends ends;
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n += fabric->ports[i].remote > i &&
			triad_damp_ends_at(fabric, i, &ends) &&
			triad_damp_is_of_switches(fabric, &ends);
	return n;
}

/* Counts the links of a new view, with those that it lacks because they are held. */
static void note_calm(struct triad_ports *ports, uint64_t now_us)
{
	struct triad_damp_ends held[PORTS_MAX_HELD];
	uint32_t n_links;
	size_t n;

	if (ports->heal.calm_generation == ports->fabric->generation)
		return;
	ports->heal.calm_generation = ports->fabric->generation;
	ports_begin_wait(ports);
	n = triad_damper_held(ports->heal.damper, held, PORTS_MAX_HELD);
	ports_end_wait(ports);
	n_links = count_linked(ports->fabric);
	for (size_t i = 0; i < n; i++)
		n_links += triad_damp_is_of_switches(ports->fabric, &held[i]) &&
			triad_damp_linked_port(ports->fabric, &held[i]) ==
				TRIAD_FABRIC_NONE;
	triad_calm_note(&ports->heal.calm, n_links, now_us);
}

bool ports_heal_waits(struct triad_ports *ports)
{
	return triad_calm_n_moved(&ports->heal.calm, triad_clock_boot_us()) >
		ports->conf->heal.max_out;
}

/* Whether somebody, or the expected configuration, has the port disabled: it stays so.  A bounce
 * that was not finished leaves one disabled, too. */
static bool is_disabled_by_others(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number)
{
	const struct triad_smp_request request = {.attribute = TRIAD_SMP_PORT_INFO,
		.modifier = number,
		.timeout_ms = SMP_TIMEOUT_MS};
	const struct triad_record *last =
		triad_history_find(ports->records.history, node_guid, number);
	_Alignas(8) uint8_t data[TRIAD_SMP_DATA_SIZE] = {0};
	struct triad_smp_route route;
	unsigned phys_state;
	uint16_t status;

	if (last && last->action == TRIAD_ACTION_BOUNCE &&
		last->outcome != TRIAD_OUTCOME_DONE &&
		last->outcome != TRIAD_OUTCOME_DROPPED)
		return false;
	if (ports_find_route(ports, node_guid, number, &route) ||
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
	ports_heal_end_data(ports, healed);
	healed->data = (struct triad_data_test){0};
	healed->look_us = 0;
}

/* What its last test with data said against it; "": nothing. */
static void describe_bad_data(
	const struct ports_healed *healed, char text[TRIAD_DATA_TEST_TEXT_SIZE])
{
	text[0] = '\0';
	if (triad_data_test_verdict(&healed->data) == TRIAD_DATA_TEST_BAD)
		triad_data_test_text(&healed->data, text, TRIAD_DATA_TEST_TEXT_SIZE);
}

static bool retrain(struct triad_ports *ports, struct ports_healed *healed)
{
	const struct triad_damp_ends *ends = &healed->ends;
	char data[TRIAD_DATA_TEST_TEXT_SIZE], text[TRIAD_RECORD_TEXT_SIZE];

	describe_bad_data(healed, data);
	snprintf(text, sizeof(text), "it is out of routing, and is retrained%s%s",
		*data ? "; " : "", data);
	if (is_disabled_by_others(ports, ends->guid, ends->number) ||
		is_disabled_by_others(ports, ends->far_guid, ends->far_number) ||
		ports_bounce(ports, ends->guid, ends->number,
			ports_heal_port_guid(ports, ends->far_guid), TRIAD_REASON_HEAL,
			text))
		return false;
	begin_tests(ports, healed);
	healed->is_test_vain = false;
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

/* Whether both ends have passed all that can be tested without data. */
static bool has_passed(const struct ports_healed *healed)
{
	return healed->tests[0].test.step == TRIAD_TEST_ADMISSION &&
		healed->tests[1].test.step == TRIAD_TEST_ADMISSION;
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
	if (came_to_nothing(healed)) {
		begin_tests(ports, healed);
		healed->is_test_vain = true;
	}
}

static enum triad_course_verdict verdict_of(
	const struct triad_ports *ports, const struct ports_healed *healed)
{
	if (healed->tests[0].test.state == TRIAD_TEST_FAILED ||
		healed->tests[1].test.state == TRIAD_TEST_FAILED)
		return TRIAD_COURSE_BAD;
	if (!has_passed(healed))
		return TRIAD_COURSE_NO_VERDICT;
	if (!ports->heal.n_test_lids)
		return healed->data.n_wanted ? TRIAD_COURSE_NO_VERDICT
					     : TRIAD_COURSE_GOOD;
	switch (triad_data_test_verdict(&healed->data)) {
	case TRIAD_DATA_TEST_OPEN:
		/* One that is better than none does not wait for what is not known. */
		return healed->course.conf.returns_anyway &&
				healed->data.n_vain >= MAX_VAIN
			? TRIAD_COURSE_GOOD
			: TRIAD_COURSE_NO_VERDICT;
	case TRIAD_DATA_TEST_BAD:
		return TRIAD_COURSE_BAD;
	default:
		return TRIAD_COURSE_GOOD;
	}
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
		triad_damp_linked_port(ports->fabric, ends) == TRIAD_FABRIC_NONE;

	return is_seen && !has_entry(ports, ends->guid, ends->number) &&
		!has_entry(ports, ends->far_guid, ends->far_number);
}

/* By what was read since it is back.  Counters count from one reading to the next, and an alert
 * from before lasts for a while. */
static enum triad_course_verdict verdict_since(
	const struct triad_ports *ports, const struct ports_healed *healed)
{
	const struct triad_ports_judged *judged =
		ports_heal_find_judged(ports, &healed->ends);

	if (!judged || judged->read_us < healed->changed_us + SETTLED_US ||
		triad_damp_linked_port(ports->fabric, &healed->ends) ==
			TRIAD_FABRIC_NONE)
		return TRIAD_COURSE_NO_VERDICT;
	/* One that is merely slow, and was retrained, is not taken again for that. */
	if (!judged->is_bad || judged->wanted.width)
		return TRIAD_COURSE_GOOD;
	return judged->since_us > healed->changed_us ||
			judged->read_us > healed->changed_us + ALERT_ENDS_US
		? TRIAD_COURSE_BAD
		: TRIAD_COURSE_NO_VERDICT;
}

/* So that few links go down at a time, also after a fail-over.  One that gets no further keeps no
 * other waiting. */
static bool may_test_again(const struct triad_ports *ports)
{
	uint64_t now_us = triad_clock_now_us();

	for (uint32_t i = 0; i < ports->heal.n; i++) {
		const struct ports_healed *healed = &ports->heal.all[i];
		uint8_t state = healed->course.state;

		if ((state == TRIAD_COURSE_MOVING || state == TRIAD_COURSE_RETRAINING ||
			    state == TRIAD_COURSE_TESTING) &&
			!healed->is_test_vain &&
			now_us < healed->course.since_us + STUCK_US)
			return false;
	}
	return true;
}

static struct triad_course_facts facts_of(
	struct triad_ports *ports, const struct ports_healed *healed)
{
	const struct triad_ports_judged *judged =
		ports_heal_find_judged(ports, &healed->ends);
	struct triad_course_facts facts = {.may_take = judged && judged->may_take &&
			ports_heal_is_plan_new(ports) && !ports_heal_waits(ports)};
	struct triad_damp_link link = ports_heal_find_damped(ports, &healed->ends);

	facts.is_held = link.is_held && link.is_by_heal;
	facts.is_up = link.is_up;
	if (healed->course.state == TRIAD_COURSE_STAYS_OUT)
		facts.may_test_again = may_test_again(ports);
	if (healed->course.state == TRIAD_COURSE_MOVING)
		facts.is_out = is_out(ports, healed);
	if (healed->course.state == TRIAD_COURSE_TESTING)
		facts.test = verdict_of(ports, healed);
	/* Its test with SMPs looks at that itself. */
	if (facts.test == TRIAD_COURSE_NO_VERDICT && healed->data.n_wanted &&
		!facts.is_up)
		facts.test = TRIAD_COURSE_BAD;
	if (healed->course.state == TRIAD_COURSE_PROBATION)
		facts.back = verdict_since(ports, healed);
	return facts;
}

/* --- steps --- */

/* Says what its test with data came to, too. */
static bool give_back(struct triad_ports *ports, struct ports_healed *healed)
{
	char data[TRIAD_DATA_TEST_TEXT_SIZE] = "", text[TRIAD_RECORD_TEXT_SIZE];

	if (healed->data.n_wanted)
		triad_data_test_text(&healed->data, data, sizeof(data));
	snprintf(text, sizeof(text), "it passed its test%s: on probation%s%s",
		*data ? " with SMPs" : "", *data ? "; " : "", data);
	return ports_heal_give_back(ports, &healed->ends, TRIAD_ACTION_RETURN,
		TRIAD_REASON_HEAL,
		healed->course.is_given_up ? healed->course.why : text);
}

/* Returns whether there is more to do at once. */
static bool carry_out(struct triad_ports *ports, struct ports_healed *healed,
	enum triad_course_act act)
{
	const struct triad_ports_judged *judged;
	uint64_t taken_us = 0;
	bool worked = false;

	switch (act) {
	case TRIAD_COURSE_TAKE:
		judged = ports_heal_find_judged(ports, &healed->ends);
		worked = judged && ports_heal_take(ports, judged, &taken_us);
		if (worked)
			healed->changed_us = taken_us;
		break;
	case TRIAD_COURSE_BOUNCE:
		worked = retrain(ports, healed);
		break;
	case TRIAD_COURSE_RETURN:
		worked = give_back(ports, healed);
		healed->changed_us = triad_clock_now_us();
		break;
	case TRIAD_COURSE_TEST:
		if (has_passed(healed))
			return ports_heal_run_data(ports, healed);
		run_tests(ports, healed);
		return false;
	default:
		return false;
	}
	triad_course_did(&healed->course, act, worked, triad_clock_now_us());
	return false;
}

/* Others let it go, or hold it now: recorded, so that it is not taken again at once.  Returns
 * false: that is to be tried again. */
static bool note_let_go(
	struct triad_ports *ports, struct ports_healed *healed, uint64_t now_us)
{
	struct triad_damp_link link = ports_heal_find_damped(ports, &healed->ends);

	if (now_us < healed->look_us)
		return false;
	healed->look_us = now_us + NOTE_AGAIN_US;
	if (link.is_held && link.is_pinned && !link.is_by_heal)
		return ports_heal_leave_out(ports, &healed->ends);
	return ports_heal_give_back(ports, &healed->ends, TRIAD_ACTION_RETURN,
		TRIAD_REASON_BY_HAND, healed->course.why);
}

/* Whether the damper let it go by itself: its switch restarted, or it became the only way. */
static bool could_not_be_held(
	struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	struct triad_damp_link link = ports_heal_find_damped(ports, ends);

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
	if (!ports_heal_give_back(ports, &healed->ends, TRIAD_ACTION_RETURN,
		    TRIAD_REASON_HEAL, "it could not be held any longer: on probation"))
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

	if (healed->course.state != TRIAD_COURSE_TESTING)
		ports_heal_end_data(ports, healed);
	ports_heal_take_conf(ports, &healed->course);
	act = triad_course_step(&healed->course, &facts, now_us, &until_us);

	if (until_us > now_us && until_us != UINT64_MAX)
		*next_us = triad_clock_earlier(
			*next_us, triad_clock_boot_us() + until_us - now_us);
	if (healed->course.state == TRIAD_COURSE_PROBATION &&
		is_gone(ports, healed, now_us))
		return false;
	if (healed->course.state != TRIAD_COURSE_ENDED) {
		if (carry_out(ports, healed, act))
			*next_us = 0;
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
	enum triad_past past = ports_heal_recall(ports, &judged->ends, &n_taken);

	return past == TRIAD_PAST_LEFT_ALONE || past == TRIAD_PAST_KEPT_OUT ||
		(judged->wanted.width && n_taken);
}

/* The first that may be taken; the plan has the worst first. */
static const struct triad_ports_judged *find_next(struct triad_ports *ports)
{
	const struct triad_ports_verdicts *verdicts = &ports->heal.verdicts;

	for (uint32_t i = 0; i < verdicts->n && ports->heal.n < PORTS_MAX_HEALED; i++)
		if (verdicts->links[i].may_take &&
			!ports_heal_find(ports, &verdicts->links[i].ends) &&
			!ports_heal_find_damped(ports, &verdicts->links[i].ends)
				 .is_held &&
			!was_enough(ports, &verdicts->links[i]) &&
			ports_heal_may_hold(ports, &verdicts->links[i].ends))
			return &verdicts->links[i];
	return NULL;
}

static void take_next(struct triad_ports *ports, uint64_t now_us)
{
	const struct triad_ports_judged *judged = find_next(ports);

	if (judged && !triad_last_act_is_seen(&ports->acts.last, ports->fabric))
		(void)ports_wait_for_view(ports, now_us);
	if (judged && ports_heal_is_plan_new(ports))
		(void)ports_heal_begin(ports, judged);
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
	ports_heal_adopt(ports, now_us);
	if (!heal->is_resumed)
		ports_heal_resume(ports, now_us);
	while (i < heal->n && !ports_is_ending(ports))
		if (step(ports, &heal->all[i], &next_us))
			i++;
		else
			ports_heal_remove(ports, &heal->all[i]);
	if (heal->is_resumed && has_news && !ports_is_ending(ports) &&
		!ports_heal_waits(ports))
		take_next(ports, now_us);
	return next_us;
}

/* --- for others --- */

static void describe_test(const struct ports_healed *healed, char *text, size_t size)
{
	const struct ports_test *tests = healed->tests;
	bool is_first = tests[0].test.step != TRIAD_TEST_ADMISSION;
	char data[TRIAD_DATA_TEST_TEXT_SIZE];

	describe_bad_data(healed, data);
	if (healed->course.state == TRIAD_COURSE_STAYS_OUT && *data)
		snprintf(text, size, "%s; %s", healed->course.why, data);
	else if (healed->course.state == TRIAD_COURSE_TESTING && healed->data.n_wanted)
		triad_data_test_text(&healed->data, text, size);
	else if (healed->course.state == TRIAD_COURSE_TESTING)
		snprintf(text, size, "%s", tests[is_first ? 0 : 1].test.text);
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
		describe_test(of, healed[n].text, sizeof(healed[n].text));
	}
	pthread_mutex_unlock(&ports->lock);
	return n;
}

void triad_ports_set_damper(struct triad_ports *ports, struct triad_damper *damper)
{
	ports->heal.damper = damper;
}

void triad_ports_set_rerouter(
	struct triad_ports *ports, struct triad_rerouter *rerouter)
{
	ports->heal.rerouter = rerouter;
}
