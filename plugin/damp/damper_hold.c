/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/damp/damper_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ib/node_label.h"
#include "plugin/physp.h"
#include "plugin/sm_state.h"
#include "plugin/takers.h"
#include "portmgr/plan/guard.h"
#include "service/recorder.h"
#include "triad/clock.h"

/* Asked again in the next fabric. */
static const char not_there[] =
	"it is the only way to an end of it, which is gone while it is down";

#define N_EVENTS 64u /* at a time */
/* Sweeps in a row after which OpenSM still has a link that is held. */
#define MAX_NOT_OUT 3u

/* --- which link may be held --- */

static bool is_there(const struct triad_fabric *fabric, uint64_t guid)
{
	return triad_fabric_find_node(fabric, guid) != TRIAD_FABRIC_NONE;
}

static bool is_of_switch(const struct triad_fabric *fabric, uint64_t guid)
{
	uint32_t node = triad_fabric_find_node(fabric, guid);

	return node != TRIAD_FABRIC_NONE &&
		fabric->nodes[node].type == TRIAD_NODE_SWITCH;
}

/* The port of the link that is a host's; NONE: both are of switches, or it is not there. */
static uint32_t find_host(
	const struct triad_fabric *fabric, const struct triad_damp_ends *ends)
{
	if (is_there(fabric, ends->guid) && !is_of_switch(fabric, ends->guid))
		return triad_fabric_port_at(fabric, ends->guid, ends->number);
	if (is_there(fabric, ends->far_guid) && !is_of_switch(fabric, ends->far_guid))
		return triad_fabric_port_at(fabric, ends->far_guid, ends->far_number);
	return TRIAD_FABRIC_NONE;
}

bool damper_is_of_host(
	const struct triad_fabric *fabric, const struct triad_damp_ends *ends)
{
	return find_host(fabric, ends) != TRIAD_FABRIC_NONE;
}

static bool is_reached(
	const struct triad_fabric *fabric, struct triad_guard *guard, uint64_t guid)
{
	return triad_guard_reaches(guard, triad_fabric_find_node(fabric, guid));
}

/* Whether OpenSM knows of an SM there. */
static bool is_of_sm(struct triad_damper *damper, uint64_t port_guid)
{
	const cl_qmap_t *sms = &damper->osm->subn.sm_guid_tbl;
	bool is_one;

	cl_plock_acquire(&damper->osm->lock);
	is_one = cl_qmap_get(sms, cl_hton64(port_guid)) != cl_qmap_end(sms);
	cl_plock_release(&damper->osm->lock);
	return is_one;
}

/* The link of a host, whose port is 'host': it may be cut off, unless an SM is there. */
static const char *judge_host(struct triad_damper *damper,
	const struct triad_fabric *fabric, struct triad_guard *guard, uint32_t host)
{
	struct triad_guard_lost lost;

	if (!atomic_load(&damper->hosts))
		return "it is the link of a host (damp.hosts)";
	if (is_of_sm(damper, fabric->ports[host].guid))
		return "it is the only way to an SM";
	if (fabric->ports[host].remote == TRIAD_FABRIC_NONE)
		return NULL;
	switch (triad_guard_judge(
		guard, fabric->ports[host].remote, fabric->ports[host].node, &lost)) {
	case TRIAD_GUARD_FREE:
		return NULL;
	case TRIAD_GUARD_OWN_PATH:
	case TRIAD_GUARD_SM_PATH:
		return "it is the only way to an SM";
	default:
		return "it is not known where this SM is";
	}
}

/* The fabric has the link no more where OpenSM has unlinked it: then both ends must be
 * reached all the same. */
static const char *judge(const struct triad_fabric *fabric, struct triad_guard *guard,
	const struct triad_damp_ends *ends)
{
	uint32_t port = triad_damp_linked_port(fabric, ends);
	struct triad_guard_lost lost;

	if (!is_reached(fabric, guard, ends->guid) ||
		!is_reached(fabric, guard, ends->far_guid))
		return "it is the only way to a switch";
	if (port == TRIAD_FABRIC_NONE)
		return NULL;
	switch (triad_guard_judge(guard, port, TRIAD_FABRIC_NONE, &lost)) {
	case TRIAD_GUARD_FREE:
		return NULL;
	case TRIAD_GUARD_OWN_PATH:
	case TRIAD_GUARD_SM_PATH:
		return "it is the only way to an SM";
	case TRIAD_GUARD_SPLIT:
		return "it is the only way to a node";
	default:
		return "it is not known where this SM is";
	}
}

struct triad_guard *damper_make_guard(
	struct triad_damper *damper, const struct triad_fabric *fabric)
{
	struct triad_guard *guard = NULL;

	if (triad_guard_new(fabric, NULL, 0, &guard))
		return NULL;
	for (size_t i = 0; i < triad_damp_links_n(damper->links); i++) {
		const struct triad_damp_link *link =
			triad_damp_links_at(damper->links, i);
		uint32_t port = triad_damp_linked_port(fabric, &link->ends);

		if (link->is_held && port != TRIAD_FABRIC_NONE)
			triad_guard_remove(guard, port);
	}
	return guard;
}

static uint32_t count_held(struct triad_damper *damper)
{
	uint32_t n = 0;

	for (size_t i = 0; i < triad_damp_links_n(damper->links); i++)
		n += triad_damp_links_at(damper->links, i)->is_held;
	return n;
}

const char *damper_refusal(struct triad_damper *damper,
	const struct triad_fabric *fabric, struct triad_guard *guard,
	const struct triad_damp_ends *ends)
{
	uint32_t host;

	if (!triad_taker_is_asked(TRIAD_TAKER_HELD))
		return "OpenSM can't be shown that it is down: 'triadctl status' says why";
	if (triad_sm_routes_by_file(damper->osm))
		return "the routing engine 'file' routes over it whatever is up";
	if (!fabric || !is_there(fabric, ends->guid) ||
		!is_there(fabric, ends->far_guid))
		return not_there;
	if (count_held(damper) >= DAMPER_MAX_HELD)
		return "256 links are held: that is no matter of links";
	if (!guard)
		return "memory is short";
	host = find_host(fabric, ends);
	if (host != TRIAD_FABRIC_NONE)
		return judge_host(damper, fabric, guard, host);
	return judge(fabric, guard, ends);
}

/* --- holding and letting go --- */

static struct triad_port_label label_end(
	const struct triad_fabric *fabric, uint64_t guid, uint8_t number)
{
	uint32_t port =
		fabric ? triad_fabric_port_at(fabric, guid, number) : TRIAD_FABRIC_NONE;
	struct triad_port_label label;

	if (port != TRIAD_FABRIC_NONE)
		return triad_port_label(fabric, port);
	snprintf(label.text, sizeof(label.text), "0x%016" PRIx64 ":%u", guid, number);
	return label;
}

void triad_damper_name(const struct triad_fabric *fabric,
	const struct triad_damp_ends *ends, char name[TRIAD_DAMPER_NAME_SIZE])
{
	snprintf(name, TRIAD_DAMPER_NAME_SIZE, "%s - %s",
		label_end(fabric, ends->guid, ends->number).text,
		label_end(fabric, ends->far_guid, ends->far_number).text);
}

void damper_note(struct triad_damper *damper, const struct triad_fabric *fabric,
	const struct triad_damp_ends *ends, enum damper_hold hold, const char *what)
{
	struct triad_timeline_event event = {
		.kind = TRIAD_TIMELINE_DAMP, .count = hold};
	char name[TRIAD_DAMPER_NAME_SIZE];

	event.ends[0] = triad_timeline_end_of(fabric, ends->guid, ends->number);
	event.ends[1] = triad_timeline_end_of(fabric, ends->far_guid, ends->far_number);
	snprintf(event.text, sizeof(event.text), "%s", what);
	triad_recorder_note(damper->recorder, &event);
	triad_damper_name(fabric, ends, name);
	triad_log_write(damper->log, TRIAD_LOG_WARNING, "damp: %s: %s", name, what);
}

static void hold(struct triad_damper *damper, struct triad_guard *guard,
	struct triad_damp_link *link, uint64_t now_us)
{
	const char *why = damper_refusal(damper, damper->fabric, guard, &link->ends);
	uint32_t port;

	if (why) {
		triad_damp_link_refuse(link, why);
		return;
	}
	triad_damp_link_hold(damper->links, link, now_us);
	link->is_host |= damper_is_of_host(damper->fabric, &link->ends);
	port = triad_damp_linked_port(damper->fabric, &link->ends);
	if (port != TRIAD_FABRIC_NONE)
		triad_guard_remove(guard, port);
	damper_note(damper, damper->fabric, &link->ends,
		link->is_by_heal              ? DAMPER_PINNED_BY_HEAL
			: link->is_pinned     ? DAMPER_PINNED
			: damper_acts(damper) ? DAMPER_HELD
					      : DAMPER_NOT_HELD,
		!link->n_bounces ? "held out of routing as before the restart"
			: damper_acts(damper)
			? "goes down again and again: held out of routing"
			: "goes down again and again: would be held out of routing");
}

void damper_let_go(struct triad_damper *damper, const struct triad_damp_ends *ends,
	const char *why)
{
	struct triad_damp_link *link =
		triad_damp_links_find(damper->links, ends, false);
	uint64_t now_us = triad_clock_now_us();

	if (!link || !link->is_held)
		return;
	triad_damp_link_release(link, false, now_us);
	/* Until its next bounce. */
	if (triad_damp_link_penalty(damper->links, link, now_us) >= TRIAD_DAMP_LIMIT)
		triad_damp_link_refuse(link, why);
	damper_note(damper, damper->fabric, ends, DAMPER_NOT_HELD, why);
}

/* Whether the fabric has another link at one of the ends. */
static bool is_elsewhere(
	const struct triad_fabric *fabric, const struct triad_damp_ends *ends)
{
	uint32_t near = triad_fabric_port_at(fabric, ends->guid, ends->number),
		 far = triad_fabric_port_at(fabric, ends->far_guid, ends->far_number);

	return (near != TRIAD_FABRIC_NONE &&
		       fabric->ports[near].remote != TRIAD_FABRIC_NONE &&
		       fabric->ports[near].remote != far) ||
		(far != TRIAD_FABRIC_NONE &&
			fabric->ports[far].remote != TRIAD_FABRIC_NONE &&
			fabric->ports[far].remote != near);
}

/* Why a held link is to be let go; NULL: it is not. */
static const char *must_let_go(struct triad_damper *damper, struct triad_guard *guard,
	const struct triad_damp_link *link, uint64_t now_us)
{
	const struct triad_fabric *fabric = damper->fabric;

	if (now_us >= triad_damp_link_returns_us(link))
		return "has been up for long enough: no longer held";
	if (triad_sm_routes_by_file(damper->osm))
		return "no longer held: the routing engine is 'file'";
	if (!fabric || !guard)
		return NULL;
	if (link->is_host && !atomic_load(&damper->hosts))
		return "no longer held: damp.hosts says so";
	/* A host whose link is down is not there. */
	if (link->is_host ? !is_of_switch(fabric, link->ends.guid) &&
				!is_of_switch(fabric, link->ends.far_guid)
			  : !triad_damp_is_of_switches(fabric, &link->ends))
		return "no longer held: one of its switches has left";
	if (is_elsewhere(fabric, &link->ends))
		return "no longer held: another cable is there";
	if (!link->is_host &&
		(!is_reached(fabric, guard, link->ends.guid) ||
			!is_reached(fabric, guard, link->ends.far_guid)))
		return "no longer held: it is the only way to a switch now";
	return NULL;
}

static void let_go(struct triad_damper *damper, uint64_t now_us)
{
	bool is_new = damper->fabric && damper->fabric->generation != damper->reviewed;
	/* Ways change with the fabric alone. */
	struct triad_guard *guard =
		is_new ? damper_make_guard(damper, damper->fabric) : NULL;

	for (size_t i = 0; i < triad_damp_links_n(damper->links); i++) {
		struct triad_damp_link *link = triad_damp_links_at(damper->links, i);
		const char *why;

		if (is_new && link->refused == not_there)
			link->refused = NULL;
		if (!link->is_held)
			continue;
		why = must_let_go(damper, guard, link, now_us);
		if (why)
			damper_let_go(damper, &link->ends, why);
	}
	triad_guard_free(guard);
	if (damper->fabric)
		damper->reviewed = damper->fabric->generation;
}

static void hold_what_is_over(struct triad_damper *damper, uint64_t now_us)
{
	struct triad_damp_link *link;
	struct triad_guard *guard = NULL;

	while ((link = triad_damp_links_next_over(damper->links, now_us))) {
		if (!guard && damper->fabric)
			guard = damper_make_guard(damper, damper->fabric);
		hold(damper, guard, link, now_us);
	}
	triad_guard_free(guard);
}

/* The switch's record; NULL: it is a host, or there is no room. */
static struct damper_switch *find_switch_of(struct triad_damper *damper, uint64_t guid)
{
	const struct triad_fabric *fabric = damper->fabric;
	bool is_host = fabric && is_there(fabric, guid) && !is_of_switch(fabric, guid);

	return is_host ? NULL : damper_find_switch(damper, guid, true);
}

/* Has the ends of a link that is held from now on read: it may be up already. */
static void read_ends(
	struct triad_damper *damper, struct triad_damp_link *link, uint64_t now_us)
{
	const uint64_t guids[] = {link->ends.guid, link->ends.far_guid};

	for (unsigned i = 0; i < 2; i++) {
		struct damper_switch *of = find_switch_of(damper, guids[i]);

		if (of && of->due_us > now_us)
			of->due_us = now_us;
	}
	link->must_read = false;
}

/* --- after a restart --- */

static bool is_in(const struct triad_damp_ends *list, uint32_t n,
	const struct triad_damp_ends *ends)
{
	for (uint32_t i = 0; i < n; i++)
		if (triad_damp_is_same(&list[i], ends))
			return true;
	return false;
}

/* The newest events about links first.  What bounced before 'since_us' counts no more; what is
 * pinned is held until it is released.  Returns whether older events may still count. */
static bool hold_as_in(struct triad_damper *damper,
	const struct triad_timeline_event *event, uint64_t since_us,
	struct triad_damp_ends *known, uint32_t *n_known)
{
	const struct triad_damp_ends ends = triad_damp_ends_of(event->ends[0].node_guid,
		event->ends[0].port, event->ends[1].node_guid, event->ends[1].port);
	struct triad_damp_link *link;

	if (event->kind != TRIAD_TIMELINE_DAMP || is_in(known, *n_known, &ends))
		return true;
	known[(*n_known)++] = ends;
	link = event->count >= DAMPER_PINNED ||
			(event->count && event->at_us >= since_us)
		? triad_damp_links_find(damper->links, &ends, true)
		: NULL;
	/* Whether it may be held is looked at as with any other. */
	if (link && !link->is_held) {
		link->penalty = TRIAD_DAMP_LIMIT + TRIAD_DAMP_PENALTY / 2;
		link->at_us = triad_clock_now_us();
		link->is_pinned = event->count >= DAMPER_PINNED;
		link->is_by_heal = event->count == DAMPER_PINNED_BY_HEAL;
	}
	return *n_known < DAMPER_MAX_HELD;
}

bool damper_hold_as_before(struct triad_damper *damper)
{
	struct triad_timeline_event events[N_EVENTS];
	struct triad_damp_ends known[DAMPER_MAX_HELD];
	uint64_t number = UINT64_MAX,
		 since_us = triad_clock_wall_us() -
		TRIAD_DAMP_MAX_HALF_LIVES * triad_damp_links_half_life(damper->links);
	uint32_t n_known = 0, n;
	bool goes_on = true;

	if (triad_recorder_status(damper->recorder).is_reading)
		return false;
	while (goes_on &&
		(n = triad_recorder_copy(damper->recorder, &number, events, N_EVENTS)))
		for (uint32_t i = 0; i < n && goes_on; i++)
			goes_on = hold_as_in(
				damper, &events[i], since_us, known, &n_known);
	return true;
}

/* --- publishing --- */

#define BITS_OF_WORD (8 * sizeof(unsigned long))

static void set_lids(struct triad_damper *damper, const struct triad_damp_ends *ends,
	unsigned long lids[])
{
	const uint64_t guids[] = {ends->guid, ends->far_guid};

	for (unsigned i = 0; i < 2; i++) {
		uint32_t port = triad_fabric_port_at(damper->fabric, guids[i], 0);
		uint16_t lid =
			port == TRIAD_FABRIC_NONE ? 0 : damper->fabric->ports[port].lid;
		struct damper_switch *of = find_switch_of(damper, guids[i]);

		if (of)
			of->has_held = true;
		if (lid && lid < DAMPER_N_LIDS)
			lids[lid / BITS_OF_WORD] |= 1ul << lid % BITS_OF_WORD;
	}
}

/* Which switches have held links: for the thread, and for traps. */
static void mark_switches(
	struct triad_damper *damper, const struct triad_damp_ends *held, uint32_t n)
{
	unsigned long lids[DAMPER_N_LIDS / BITS_OF_WORD] = {0};

	for (uint32_t i = 0; i < damper->n_switches; i++)
		damper->switches[i]->has_held = false;
	for (uint32_t i = 0; i < n && damper->fabric; i++)
		set_lids(damper, &held[i], lids);
	for (size_t i = 0; i < sizeof(lids) / sizeof(lids[0]); i++)
		atomic_store(&damper->held_lids[i], lids[i]);
}

static bool is_linked(struct triad_damper *damper, const struct triad_damp_ends *ends)
{
	const osm_physp_t *near, *far;
	bool they_are;

	cl_plock_acquire(&damper->osm->lock);
	near = triad_physp_find(damper->osm, ends->guid, ends->number);
	far = triad_physp_find(damper->osm, ends->far_guid, ends->far_number);
	they_are = near && far && osm_physp_get_remote(near) == far;
	cl_plock_release(&damper->osm->lock);
	return they_are;
}

/* Whether OpenSM must sweep because it still has one of the links; those that are also in
 * 'before' have been looked at.  What it read before a link was held it may still link in that
 * sweep, so all are looked at again when one has ended. */
static bool must_take_out(struct triad_damper *damper,
	const struct triad_damp_ends *held, uint32_t n,
	const struct triad_damp_ends *before, uint32_t n_before)
{
	unsigned n_ended = atomic_load(&damper->n_ended);
	bool has_swept = n_ended != damper->n_ended_checked, has_any = false;

	for (uint32_t i = 0; i < n && !has_any; i++)
		has_any = (has_swept || !is_in(before, n_before, &held[i])) &&
			is_linked(damper, &held[i]);
	damper->n_ended_checked = n_ended;
	if (has_swept)
		damper->n_not_out = has_any ? damper->n_not_out + 1 : 0;
	/* Not for ever, whatever is wrong. */
	if (damper->n_not_out == MAX_NOT_OUT)
		triad_log_write(damper->log, TRIAD_LOG_ERROR,
			"damp: OpenSM still has a link that is held, after %u sweeps",
			MAX_NOT_OUT);
	return has_any && damper->n_not_out < MAX_NOT_OUT;
}

/* Makes the list of what OpenSM is not shown.  Returns whether OpenSM must sweep, because a link
 * is not in its tables but could be, or is there and must go. */
static bool publish(struct triad_damper *damper)
{
	struct triad_damp_ends now[DAMPER_MAX_HELD], before[DAMPER_MAX_HELD];
	uint32_t n = 0, n_before;
	bool must_sweep = false;

	for (size_t i = 0; damper_acts(damper) && n < DAMPER_MAX_HELD &&
		i < triad_damp_links_n(damper->links);
		i++) {
		const struct triad_damp_link *link =
			triad_damp_links_at(damper->links, i);

		if (link->is_held)
			now[n++] = link->ends;
	}
	pthread_mutex_lock(&damper->held_lock);
	n_before = damper->n_held;
	memcpy(before, damper->held, n_before * sizeof(*before));
	memcpy(damper->held, now, n * sizeof(*now));
	damper->n_held = n;
	pthread_mutex_unlock(&damper->held_lock);
	if (n != n_before || memcmp(now, before, n * sizeof(*now)) != 0)
		damper->tells_us = 0;
	for (uint32_t i = 0; i < n_before; i++) {
		must_sweep |= !is_in(now, n, &before[i]);
		if (!damper_acts(damper))
			damper_note(damper, damper->fabric, &before[i], DAMPER_NOT_HELD,
				"no longer held: damp.mode says so");
	}
	must_sweep |= must_take_out(damper, now, n, before, n_before);
	mark_switches(damper, now, n);
	return must_sweep;
}

bool damper_review(struct triad_damper *damper, uint64_t now_us)
{
	if (!damper_is_master(damper))
		return publish(damper);
	let_go(damper, now_us);
	hold_what_is_over(damper, now_us);
	for (size_t i = 0; i < triad_damp_links_n(damper->links); i++)
		if (triad_damp_links_at(damper->links, i)->must_read)
			read_ends(
				damper, triad_damp_links_at(damper->links, i), now_us);
	return publish(damper);
}
