/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The test with data of a link that is out of routing: it becomes active, and packets are led over
 * it, one way after the other (heal/data_test.h, plugin/reroute/reroute_lead.h). */
#include "plugin/opensm.h"

#include <string.h>

#include "plugin/ports/ports_heal_parts.h"
#include "triad/lists.h"

#define SMP_TIMEOUT_MS 100u

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
			return "its ends could not be made active";
	return NULL;
}

static void lead(struct triad_ports *ports, struct ports_healed *healed)
{
	const struct triad_reroute_link link = link_of(healed);
	const char *why;
	bool is_final = false;

	ports_heal_end_data(ports, healed);
	why = activate(ports, &link);
	if (!why) {
		ports_begin_wait(ports);
		why = triad_reroute_lead(ports->heal.rerouter, ports->smp, &link,
			ports->heal.test_lids, ports->heal.n_test_lids, &healed->lead,
			&is_final);
		ports_end_wait(ports);
	}
	triad_data_test_led(&healed->data, why, is_final, triad_clock_now_us());
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

static void read_ends(struct triad_ports *ports, struct ports_healed *healed)
{
	const struct triad_reroute_link link = link_of(healed);
	struct triad_smp_counts before, near, after;
	struct triad_data_test_counts counts;
	bool is_known = read_end(ports, link.far_guid, link.far_number, &before) &&
		read_end(ports, link.guid, link.number, &near) &&
		read_end(ports, link.far_guid, link.far_number, &after) &&
		before.is_wide == after.is_wide;

	if (is_known)
		counts = (struct triad_data_test_counts){.came_before = before.received,
			.left = near.sent,
			.dropped = near.n_discarded,
			.came = after.received,
			.are_wide = near.is_wide | after.is_wide << 1};
	triad_data_test_read(
		&healed->data, is_known ? &counts : NULL, triad_clock_now_us());
}

static void send_data(
	struct triad_ports *ports, struct ports_healed *healed, uint32_t burst)
{
	uint32_t n = 0;

	if (ports_may_act(ports)) {
		ports_begin_wait(ports);
		if (triad_reroute_lead_is_free(ports->heal.rerouter, &healed->lead))
			n = triad_smp_send_data(
				ports->smp, healed->lead.lid, healed->lead.sl, burst);
		ports_end_wait(ports);
	}
	triad_data_test_sent(&healed->data, n, triad_clock_now_us());
}

/* --- steps --- */

/* Packets are led over one link at a time: two could need other entries for the same LID. */
static bool is_another_led(
	const struct triad_ports *ports, const struct ports_healed *healed)
{
	for (uint32_t i = 0; i < ports->heal.n; i++)
		if (&ports->heal.all[i] != healed && ports->heal.all[i].lead.lid)
			return true;
	return false;
}

static void say_verdict(
	const struct triad_ports *ports, const struct ports_healed *healed)
{
	enum triad_data_test_verdict verdict = triad_data_test_verdict(&healed->data);
	char text[TRIAD_DATA_TEST_TEXT_SIZE], name[TRIAD_DAMPER_NAME_SIZE];

	triad_data_test_text(&healed->data, text, sizeof(text));
	triad_damper_name(ports->fabric, &healed->ends, name);
	triad_log_write(ports->log,
		verdict == TRIAD_DATA_TEST_GOOD ? TRIAD_LOG_INFO : TRIAD_LOG_WARNING,
		"ports: %s: %s", name, text);
}

static bool run_step(struct triad_ports *ports, struct ports_healed *healed)
{
	uint32_t burst;

	switch (triad_data_test_request(&healed->data, triad_clock_now_us(), &burst)) {
	case TRIAD_DATA_TEST_LEAD:
		if (is_another_led(ports, healed)) {
			triad_data_test_waits(
				&healed->data, "another link is tested first");
			return false;
		}
		lead(ports, healed);
		return true;
	case TRIAD_DATA_TEST_READ:
		read_ends(ports, healed);
		return true;
	case TRIAD_DATA_TEST_SEND:
		send_data(ports, healed, burst);
		return true;
	case TRIAD_DATA_TEST_CLEAR:
		ports_heal_end_data(ports, healed);
		triad_data_test_cleared(&healed->data);
		return true;
	default:
		return false;
	}
}

bool ports_heal_run_data(struct triad_ports *ports, struct ports_healed *healed)
{
	bool has_more;

	if (!ports->heal.n_test_lids) {
		ports_heal_end_data(ports, healed);
		healed->data = (struct triad_data_test){0};
		return true;
	}
	if (!healed->data.n_wanted)
		begin(ports, healed);
	has_more = run_step(ports, healed);
	if (has_more && triad_data_test_verdict(&healed->data) != TRIAD_DATA_TEST_OPEN)
		say_verdict(ports, healed);
	return has_more;
}
