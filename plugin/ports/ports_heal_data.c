/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The test with data of a link that is out of routing: it becomes active, and packets are led over
 * it, one way after the other (heal/data_test.h, plugin/reroute/reroute_lead.h). */
#include "plugin/opensm.h"

#include <string.h>

#include "plugin/ports/ports_heal_parts.h"
#include "triad/lists.h"

#define SMP_TIMEOUT_MS 100u
/* When what could not be done is tried again. */
#define AGAIN_US TRIAD_US_PER_S

bool ports_heal_wants_data(
	const struct triad_ports *ports, const struct ports_healed *healed)
{
	return healed->data.n_wanted || *ports->conf->heal.test_lids;
}

static void begin(struct triad_ports *ports, struct ports_healed *healed)
{
	char text[TRIAD_DATA_TEST_TEXT_SIZE], name[TRIAD_DAMPER_NAME_SIZE], reason[128];
	double ber = 0;

	(void)triad_ber_parse(ports->conf->heal.test_ber, &ber, reason, sizeof(reason));
	triad_data_test_begin(&healed->data, ber);
	triad_data_test_text(&healed->data, text, sizeof(text));
	triad_damper_name(ports->fabric, &healed->ends, name);
	triad_log_write(ports->log, TRIAD_LOG_INFO,
		"ports: %s: is tested with data for a bit error rate of %.1e: %s", name,
		ber, text);
}

static struct triad_reroute_link link_of(const struct ports_healed *healed)
{
	const struct triad_damp_ends *ends = &healed->ends;

	return healed->data.way
		? (struct triad_reroute_link){ends->far_guid, ends->guid,
			  ends->far_number, ends->number}
		: (struct triad_reroute_link){
			  ends->guid, ends->far_guid, ends->number, ends->far_number};
}

/* --- the entries --- */

void ports_heal_end_data(struct triad_ports *ports, struct ports_healed *healed)
{
	if (!healed->lead.lid)
		return;
	ports_begin_wait(ports);
	triad_reroute_lead_end(ports->heal.rerouter, ports->smp, &healed->lead);
	ports_end_wait(ports);
}

/* Both ends are active, or why not. */
static const char *activate(
	struct triad_ports *ports, const struct triad_reroute_link *link)
{
	static const unsigned states[] = {IB_LINK_ARMED, IB_LINK_ACTIVE};
	uint64_t near = ports_heal_port_guid(ports, link->guid),
		 far = ports_heal_port_guid(ports, link->far_guid);

	for (unsigned i = 0; i < 2; i++)
		if (ports_set_state(ports, link->guid, link->number, far, states[i]) ||
			ports_set_state(ports, link->far_guid, link->far_number, near,
				states[i]))
			return "it does not become active";
	return NULL;
}

static void lead(struct triad_ports *ports, struct ports_healed *healed)
{
	const struct triad_reroute_link link = link_of(healed);
	uint16_t lids[TRIAD_CONF_MAX_TEST_LIDS];
	char reason[128];
	size_t n = 0;
	const char *why;
	bool is_final = false;

	ports_heal_end_data(ports, healed);
	why = activate(ports, &link);
	(void)triad_lids_parse(ports->conf->heal.test_lids, lids,
		TRIAD_CONF_MAX_TEST_LIDS, &n, reason, sizeof(reason));
	if (!why) {
		ports_begin_wait(ports);
		why = triad_reroute_lead(ports->heal.rerouter, ports->smp, &link, lids,
			n, &healed->lead, &is_final);
		ports_end_wait(ports);
	}
	if (why && !is_final)
		healed->look_us = triad_clock_now_us() + AGAIN_US;
	triad_data_test_led(&healed->data, why, is_final);
}

/* --- packets and counters --- */

static bool read_end(struct triad_ports *ports, uint64_t guid, uint8_t number,
	struct triad_smp_counts *counts)
{
	struct triad_smp_route route;

	return !ports_find_route(ports, guid, 0, &route) &&
		!ports_read_counters(
			ports, route.lid, route.sl, number, SMP_TIMEOUT_MS, counts) &&
		counts->sent != UINT64_MAX && counts->received != UINT64_MAX;
}

/* Between the two readings others may send SMPs over the link: those make packets that came more,
 * never fewer. */
static void read_ends(struct triad_ports *ports, struct ports_healed *healed)
{
	const struct triad_reroute_link link = link_of(healed);
	struct triad_smp_counts near, far;
	bool is_known, is_before = !healed->data.has_before;

	is_known = !is_before || read_end(ports, link.far_guid, link.far_number, &far);
	is_known = is_known && read_end(ports, link.guid, link.number, &near) &&
		(is_before || read_end(ports, link.far_guid, link.far_number, &far));
	triad_data_test_read(&healed->data,
		is_known ? &(struct triad_data_test_counts){.left = near.sent,
				   .dropped = near.n_discarded,
				   .came = far.received,
				   .errors = near.n_errors + far.n_errors}
			 : NULL);
}

static void send_data(
	struct triad_ports *ports, struct ports_healed *healed, uint32_t burst)
{
	uint32_t n = 0;

	if (ports_may_act(ports)) {
		ports_begin_wait(ports);
		n = triad_smp_send_data(
			ports->smp, healed->lead.lid, healed->lead.sl, burst);
		ports_end_wait(ports);
	}
	triad_data_test_sent(&healed->data, n);
}

static void end(struct triad_ports *ports, struct ports_healed *healed)
{
	char text[TRIAD_DATA_TEST_TEXT_SIZE], name[TRIAD_DAMPER_NAME_SIZE];
	enum triad_data_test_verdict verdict;

	ports_heal_end_data(ports, healed);
	triad_data_test_cleared(&healed->data);
	verdict = triad_data_test_verdict(&healed->data);
	if (verdict == TRIAD_DATA_TEST_OPEN)
		return;
	triad_data_test_text(&healed->data, text, sizeof(text));
	triad_damper_name(ports->fabric, &healed->ends, name);
	triad_log_write(ports->log,
		verdict == TRIAD_DATA_TEST_BAD ? TRIAD_LOG_WARNING : TRIAD_LOG_INFO,
		"ports: %s: %s", name, text);
}

/* One link at a time: two could need other entries for the same LID. */
static bool must_wait(
	const struct triad_ports *ports, const struct ports_healed *healed)
{
	for (uint32_t i = 0; i < ports->heal.n; i++) {
		const struct ports_healed *other = &ports->heal.all[i];

		if (other != healed && other->course.state == TRIAD_COURSE_TESTING &&
			other->data.n_wanted &&
			triad_data_test_verdict(&other->data) == TRIAD_DATA_TEST_OPEN)
			return true;
	}
	return false;
}

bool ports_heal_run_data(struct triad_ports *ports, struct ports_healed *healed)
{
	uint32_t burst;

	if (triad_clock_now_us() < healed->look_us ||
		(!healed->data.n_wanted && must_wait(ports, healed)))
		return false;
	if (!healed->data.n_wanted)
		begin(ports, healed);
	switch (triad_data_test_request(&healed->data, &burst)) {
	case TRIAD_DATA_TEST_LEAD:
		lead(ports, healed);
		break;
	case TRIAD_DATA_TEST_READ:
		read_ends(ports, healed);
		break;
	case TRIAD_DATA_TEST_SEND:
		send_data(ports, healed, burst);
		break;
	case TRIAD_DATA_TEST_CLEAR:
		end(ports, healed);
		break;
	case TRIAD_DATA_TEST_END:
		return false;
	}
	return true;
}
