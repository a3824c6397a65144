/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/damp/damper_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/backoff.h"
#include "lib/search.h"
#include "plugin/physp.h"
#include "plugin/sm_recover.h"
#include "triad/clock.h"

#define TIMEOUT_MS 100
/* A question that was lost is asked once more. */
#define N_TRIES 2u
/* What takes longer came to nothing: OpenSM is to hear of a change within a second. */
#define LOOK_MAX_US (500 * TRIAD_US_PER_MS)
/* Until OpenSM has done what it was told, or must be told once more. */
#define AGAIN_US TRIAD_US_PER_S
/* How often OpenSM is told of a switch that it has and that does not answer us. */
#define MOST_AGAIN_US (60 * TRIAD_US_PER_S)

/* --- switches that are known --- */

/* What OpenSM had before it swept, for the first trap of a switch. */
static void remember_ports(const struct triad_fabric *fabric, struct damper_switch *of)
{
	uint32_t node =
		fabric ? triad_fabric_find_node(fabric, of->guid) : TRIAD_FABRIC_NONE;

	for (uint32_t i = 0;
		node != TRIAD_FABRIC_NONE && i < fabric->nodes[node].n_ports; i++) {
		const struct triad_fabric_port *port =
			&fabric->ports[fabric->nodes[node].first_port + i];

		of->ports.seen[port->number] = triad_damp_state_of(port->state);
	}
}

struct damper_switch *damper_find_switch(
	struct triad_damper *damper, uint64_t guid, bool must)
{
	struct damper_switch *of;
	uint32_t at;

	TRIAD_SEARCH(at, 0, damper->n_switches, damper->switches[at]->guid < guid);
	if (at < damper->n_switches && damper->switches[at]->guid == guid)
		return damper->switches[at];
	if (!must || damper->n_switches == DAMPER_MAX_SWITCHES)
		return NULL;
	of = calloc(1, sizeof(*of));
	if (!of)
		return NULL;
	of->guid = guid;
	of->due_us = UINT64_MAX;
	of->ports.n_sweeps = atomic_load(&damper->n_ended);
	remember_ports(damper->fabric, of);
	memmove(&damper->switches[at + 1], &damper->switches[at],
		(damper->n_switches++ - at) * sizeof(*damper->switches));
	damper->switches[at] = of;
	return of;
}

/* --- asking --- */

/* One look: what is read, and what OpenSM has. */
struct look {
	struct triad_smp_route route;
	uint8_t n_ports;
	uint8_t found[TRIAD_DAMP_MAX_PORTS + 1], has[TRIAD_DAMP_MAX_PORTS + 1];
	bool is_held[TRIAD_DAMP_MAX_PORTS + 1];
	bool broke;        /* PortStateChange was set since the last look */
	uint64_t until_us; /* 0: as long as it takes */
};

static void avoid_port(
	const struct triad_fabric *fabric, uint64_t guid, uint8_t number, bool *avoided)
{
	uint32_t port = triad_fabric_port_at(fabric, guid, number);

	if (port != TRIAD_FABRIC_NONE)
		avoided[port] = true;
}

/* The fabric has held links until OpenSM has swept, and each of them loses what crosses it. */
static int find_way(struct triad_damper *damper, uint64_t guid, struct look *look)
{
	const struct triad_fabric *fabric = damper->fabric;
	bool *avoided = calloc(fabric->n_ports + 1, sizeof(*avoided));
	int error;

	if (!avoided)
		return ENOMEM;
	pthread_mutex_lock(&damper->held_lock);
	for (uint32_t i = 0; i < damper->n_held; i++) {
		avoid_port(
			fabric, damper->held[i].guid, damper->held[i].number, avoided);
		avoid_port(fabric, damper->held[i].far_guid, damper->held[i].far_number,
			avoided);
	}
	pthread_mutex_unlock(&damper->held_lock);
	error = triad_smp_find_route(damper->osm, fabric, guid, avoided, &look->route);
	/* The only way leads over a held link: SMPs may pass it. */
	if (error == EHOSTUNREACH)
		error = triad_smp_find_route(
			damper->osm, fabric, guid, NULL, &look->route);
	free(avoided);
	return error;
}

static int ask(struct triad_damper *damper, const struct look *look, bool is_set,
	enum triad_smp_attribute attribute, uint32_t modifier, uint8_t *data)
{
	const struct triad_smp_request request = {.is_set = is_set,
		.attribute = attribute,
		.modifier = modifier,
		.timeout_ms = TIMEOUT_MS};
	int error = ETIMEDOUT;
	uint16_t status;

	for (unsigned i = 0; i < N_TRIES && error == ETIMEDOUT; i++) {
		if (osm_exit_flag)
			return ECANCELED;
		if (look->until_us && triad_clock_now_us() >= look->until_us)
			return ETIMEDOUT;
		damper_count(&damper->n_smps);
		error = triad_smp_ask(
			damper->smp, &look->route, &request, data, &status);
	}
	return error;
}

bool damper_has_changed(struct triad_damper *damper, const struct damper_switch *of)
{
	_Alignas(8) uint8_t data[TRIAD_SMP_DATA_SIZE] = {0};
	struct look look = {0};

	return find_way(damper, of->guid, &look) ||
		ask(damper, &look, false, TRIAD_SMP_SWITCH_INFO, 0, data) ||
		ib_switch_info_get_state_change((const ib_switch_info_t *)data);
}

/* Clears PortStateChange, if it is set, with all else as the switch has it. */
static int clear_change(
	struct triad_damper *damper, struct damper_switch *of, struct look *look)
{
	_Alignas(8) uint8_t data[TRIAD_SMP_DATA_SIZE] = {0};
	unsigned n_started = atomic_load(&damper->n_started);
	int error = ask(damper, look, false, TRIAD_SMP_SWITCH_INFO, 0, data);
	bool is_set = !error &&
		ib_switch_info_get_state_change((const ib_switch_info_t *)data);

	/* One that was left set says nothing new. */
	look->broke = is_set && of->is_clear;
	of->is_clear = !error && !is_set;
	if (!is_set || damper_is_sweeping(damper))
		return error;
	error = ask(damper, look, true, TRIAD_SMP_SWITCH_INFO, 0, data);
	/* A sweep that has begun meanwhile may have set what this overwrote. */
	if (!error && atomic_load(&damper->n_started) != n_started)
		error = EAGAIN;
	of->is_clear = !error;
	return error;
}

static int read_ports(struct triad_damper *damper, struct look *look)
{
	_Alignas(8) uint8_t data[TRIAD_SMP_DATA_SIZE];
	int error = 0;

	for (unsigned i = 1; i <= look->n_ports && !error; i++) {
		memset(data, 0, sizeof(data));
		error = ask(damper, look, false, TRIAD_SMP_PORT_INFO, i, data);
		look->found[i] = triad_damp_state_of(
			ib_port_info_get_port_state((const ib_port_info_t *)data));
	}
	return error;
}

/* Copies what OpenSM has of the switch.  Returns false: it does not have it. */
static bool copy_view(struct triad_damper *damper, uint64_t guid, struct look *look)
{
	const osm_switch_t *sw;
	unsigned n = 0;

	cl_plock_acquire(&damper->osm->lock);
	sw = osm_get_switch_by_guid(&damper->osm->subn, cl_hton64(guid));
	if (sw)
		n = osm_node_get_num_physp(sw->p_node);
	for (unsigned i = 1; i < n && i <= TRIAD_DAMP_MAX_PORTS; i++) {
		const osm_physp_t *physp = osm_node_get_physp_ptr(sw->p_node, i);

		look->has[i] = triad_damp_state_of(
			physp ? osm_physp_get_port_state(physp) : IB_LINK_DOWN);
	}
	cl_plock_release(&damper->osm->lock);
	look->n_ports = n ? (uint8_t)(n - 1) : 0;
	return n;
}

static void copy_held(struct triad_damper *damper, uint64_t guid, struct look *look)
{
	memset(look->is_held, 0, sizeof(look->is_held));
	pthread_mutex_lock(&damper->held_lock);
	for (uint32_t i = 0; i < damper->n_held; i++) {
		if (damper->held[i].guid == guid)
			look->is_held[damper->held[i].number] = true;
		if (damper->held[i].far_guid == guid)
			look->is_held[damper->held[i].far_number] = true;
	}
	pthread_mutex_unlock(&damper->held_lock);
}

/* --- what came of it --- */

/* Links between switches at a node, or TRIAD_DAMP_HOST; 0: it is not known. */
static unsigned count_links(const struct triad_fabric *fabric, uint32_t node)
{
	const struct triad_fabric_node *of = &fabric->nodes[node];
	unsigned n = 0;

	if (of->type != TRIAD_NODE_SWITCH)
		return TRIAD_DAMP_HOST;
	for (uint32_t i = of->first_port; i < of->first_port + of->n_ports; i++) {
		uint32_t far = fabric->ports[i].remote;

		n += far != TRIAD_FABRIC_NONE &&
			fabric->nodes[fabric->ports[far].node].type ==
				TRIAD_NODE_SWITCH;
	}
	return n;
}

/* The link of a port: of the fabric, or of the links that are known, if it is down in the
 * fabric by now.  False: there is none. */
static bool find_ends(struct triad_damper *damper, uint64_t guid, uint8_t number,
	struct triad_damp_ends *ends, unsigned n_links[2])
{
	const struct triad_fabric *fabric = damper->fabric;
	uint32_t port = triad_fabric_port_at(fabric, guid, number);

	if (triad_damp_ends_at(fabric, port, ends)) {
		n_links[0] =
			count_links(fabric, triad_fabric_find_node(fabric, ends->guid));
		n_links[1] = count_links(
			fabric, triad_fabric_find_node(fabric, ends->far_guid));
		return true;
	}
	for (size_t i = 0; i < triad_damp_links_n(damper->links); i++) {
		*ends = triad_damp_links_at(damper->links, i)->ends;
		if (triad_damp_has_end(ends, guid, number))
			return true;
	}
	return false;
}

static void note_bounces(struct triad_damper *damper, const struct damper_switch *of,
	const struct triad_damp_moves *moves)
{
	uint64_t now_us = triad_clock_now_us();

	pthread_mutex_lock(&damper->links_lock);
	for (unsigned i = 0; i < moves->n_bounced; i++) {
		struct triad_damp_ends ends;
		unsigned n_links[2] = {0, 0};

		if (!find_ends(damper, of->guid, moves->bounced[i], &ends, n_links))
			continue;
		damper_count(&damper->n_bounces);
		triad_damp_links_bounce(
			damper->links, &ends, n_links[0], n_links[1], now_us);
	}
	pthread_mutex_unlock(&damper->links_lock);
}

static struct triad_damp_link *find_held(
	struct triad_damper *damper, uint64_t guid, unsigned number)
{
	for (size_t i = 0; i < triad_damp_links_n(damper->links); i++) {
		struct triad_damp_link *link = triad_damp_links_at(damper->links, i);

		if (link->is_held &&
			triad_damp_has_end(&link->ends, guid, (uint8_t)number))
			return link;
	}
	return NULL;
}

enum far_end { FAR_SILENT, FAR_SAME, FAR_OTHER };

/* What is beyond a held link that is up.  Silent: or time is over. */
static enum far_end ask_far_end(struct triad_damper *damper, const struct look *look,
	uint64_t guid, unsigned number, const struct triad_damp_ends *ends,
	uint64_t until_us)
{
	_Alignas(8) uint8_t data[TRIAD_SMP_DATA_SIZE] = {0};
	const ib_node_info_t *info = (const ib_node_info_t *)data;
	bool is_first = ends->guid == guid && ends->number == number;
	struct look beyond = {.route = look->route, .until_us = until_us};

	if (triad_smp_add_hop(&beyond.route, (uint8_t)number) ||
		ask(damper, &beyond, false, TRIAD_SMP_NODE_INFO, 0, data))
		return FAR_SILENT;
	return cl_ntoh64(info->node_guid) == (is_first ? ends->far_guid : ends->guid) &&
			ib_node_info_get_local_port_num(info) ==
				(is_first ? ends->far_number : ends->number)
		? FAR_SAME
		: FAR_OTHER;
}

/* Of a held link that is up: if it is another one by now, OpenSM is to have it.  Returns false:
 * that is not known. */
static bool check_far_end(struct triad_damper *damper, const struct damper_switch *of,
	const struct look *look, unsigned number, uint64_t until_us)
{
	struct triad_damp_ends ends;
	struct triad_damp_link *link;
	enum far_end far;
	bool must_ask;

	pthread_mutex_lock(&damper->links_lock);
	link = find_held(damper, of->guid, number);
	/* It may have been down, and another one, for a moment. */
	must_ask = link && (!link->is_far_seen || look->broke);
	if (must_ask)
		ends = link->ends;
	pthread_mutex_unlock(&damper->links_lock);
	if (!must_ask)
		return true;
	far = ask_far_end(damper, look, of->guid, number, &ends, until_us);
	pthread_mutex_lock(&damper->links_lock);
	link = find_held(damper, of->guid, number);
	if (link && far == FAR_OTHER)
		damper_let_go(damper, &ends, "no longer held: another cable is there");
	else if (link)
		link->is_far_seen = far == FAR_SAME;
	pthread_mutex_unlock(&damper->links_lock);
	return far != FAR_SILENT;
}

/* A device that is being started has its links up before it answers: it is asked again. */
static void check_far_ends(
	struct triad_damper *damper, struct damper_switch *of, const struct look *look)
{
	uint64_t until_us = triad_clock_now_us() + LOOK_MAX_US;
	bool is_known = true;

	for (unsigned i = 1; i <= look->n_ports; i++)
		if (look->is_held[i] && look->found[i] > TRIAD_DAMP_DOWN)
			is_known &= check_far_end(damper, of, look, i, until_us);
	of->n_silent = is_known ? 0 : of->n_silent + 1;
	if (!is_known)
		of->due_us = triad_clock_now_us() +
			triad_backoff(of->n_silent, AGAIN_US, MOST_AGAIN_US);
}

/* The link's port at a switch; 0: it has none there. */
static uint8_t number_at(const struct triad_damp_ends *ends, uint64_t guid)
{
	if (ends->guid == guid)
		return ends->number;
	return ends->far_guid == guid ? ends->far_number : 0;
}

/* What the look says of held links, or of those that would be held.  If something changed and
 * no other port says what, it was they. */
static void note_held(struct triad_damper *damper, const struct damper_switch *of,
	const struct look *look, const struct triad_damp_moves *moves)
{
	uint64_t now_us = triad_clock_now_us();
	bool broke = look->broke && !moves->n_bounced && !moves->must_tell &&
		!moves->has_other;

	pthread_mutex_lock(&damper->links_lock);
	for (size_t i = 0; i < triad_damp_links_n(damper->links); i++) {
		struct triad_damp_link *link = triad_damp_links_at(damper->links, i);
		uint8_t number = link->is_held ? number_at(&link->ends, of->guid) : 0;

		if (!number)
			continue;
		/* That it came up is a change at both ends, and no bounce. */
		if (broke && link->is_up && look->found[number] != TRIAD_DAMP_DOWN &&
			now_us >= link->up_us + TRIAD_DAMP_APART_US)
			triad_damp_links_bounce(
				damper->links, &link->ends, 0, 0, now_us);
		triad_damp_link_set_up(
			link, look->found[number] > TRIAD_DAMP_DOWN, now_us);
	}
	pthread_mutex_unlock(&damper->links_lock);
}

/* Not by the trap that came: OpenSM drops one that it had ten times in 5 s, whatever the
 * port. */
static void tell_opensm(struct triad_damper *damper, struct damper_switch *of)
{
	damper_count(&damper->n_told);
	triad_sm_sweep(damper->osm);
	of->due_us = triad_clock_now_us() + AGAIN_US;
}

static void look_at(struct triad_damper *damper, struct damper_switch *of)
{
	struct look look = {0};
	struct triad_damp_moves moves;
	bool acts = of->has_held && damper_acts(damper);
	int error;

	if (!copy_view(damper, of->guid, &look))
		return; /* it has left */
	error = find_way(damper, of->guid, &look);
	look.until_us = triad_clock_now_us() + LOOK_MAX_US;
	if (!error && acts)
		error = clear_change(damper, of, &look);
	if (!error)
		error = read_ports(damper, &look);
	of->n_failed = error ? of->n_failed + 1 : 0;
	if (error && acts) {
		/* Unknown is not unchanged. */
		tell_opensm(damper, of);
		of->due_us = triad_clock_now_us() +
			triad_backoff(of->n_failed, AGAIN_US, MOST_AGAIN_US);
	}
	if (error || !copy_view(damper, of->guid, &look))
		return;
	copy_held(damper, of->guid, &look);
	triad_damp_compare(&of->ports,
		&(struct triad_damp_reading){.n_ports = look.n_ports,
			.is_sweeping = damper_is_sweeping(damper),
			.n_sweeps = atomic_load(&damper->n_ended),
			.found = look.found,
			.has = look.has,
			.is_held = look.is_held},
		&moves);
	note_bounces(damper, of, &moves);
	check_far_ends(damper, of, &look);
	note_held(damper, of, &look, &moves);
	if (acts && moves.must_tell)
		tell_opensm(damper, of);
}

void damper_look(struct triad_damper *damper, struct damper_switch *of)
{
	of->due_us = UINT64_MAX;
	damper_count(&damper->n_looks);
	look_at(damper, of);
	of->looked_us = triad_clock_now_us();
	while (of->n_kept)
		damper_repress(damper, of->kept[--of->n_kept]);
}
