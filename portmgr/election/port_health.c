/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/port_health.h"

static bool set_counts(
	struct triad_port_health *health, uint32_t n_ports, uint32_t n_good)
{
	bool changed = health->n_ports != n_ports || health->n_good != n_good;

	health->n_ports = n_ports;
	health->n_good = n_good;
	return changed;
}

static void note_worse(struct triad_port_health *health, uint64_t now_us)
{
	bool is_quiet = now_us - health->worse_us >= TRIAD_PORT_HEALTH_MAX_US;

	/* Each time that it gets worse doubles the time before it counts as good
	 * again. */
	if (!health->wait_us || is_quiet)
		health->wait_us = TRIAD_PORT_HEALTH_BETTER_US;
	else if (health->wait_us * 2 <= TRIAD_PORT_HEALTH_MAX_US)
		health->wait_us *= 2;
	else
		health->wait_us = TRIAD_PORT_HEALTH_MAX_US;
	health->worse_us = now_us;
}

static bool set_up(struct triad_port_health *health, bool is_up)
{
	bool changed = health->is_up != is_up;

	health->is_up = is_up;
	return changed;
}

static bool look_whether_up(
	struct triad_port_health *health, uint32_t n_good, uint64_t now_us)
{
	uint64_t wait_us = TRIAD_PORT_HEALTH_WORSE_US;
	bool is_up = n_good > 0;

	if (is_up)
		wait_us = health->wait_us / 10 > TRIAD_PORT_HEALTH_UP_US
			? health->wait_us / 10
			: TRIAD_PORT_HEALTH_UP_US;
	if (is_up != (health->seen_good > 0))
		health->seen_up_us = now_us;
	if (is_up == health->is_up || now_us - health->seen_up_us < wait_us)
		return false;
	/* The port went down before it counted as good: it flaps. */
	if (!is_up && !health->n_good)
		note_worse(health, now_us);
	return set_up(health, is_up);
}

static bool look_how_many(
	struct triad_port_health *health, uint32_t n_good, uint64_t now_us)
{
	uint64_t lasted_us;

	/* A change counts once it has lasted; each change restarts the time. */
	if (n_good != health->seen_good) {
		health->seen_good = n_good;
		health->seen_since_us = now_us;
	}
	lasted_us = now_us - health->seen_since_us;
	if (n_good < health->n_good && lasted_us >= TRIAD_PORT_HEALTH_WORSE_US) {
		note_worse(health, now_us);
		return set_counts(health, health->n_ports, n_good);
	}
	return n_good > health->n_good && lasted_us >= health->wait_us &&
		set_counts(health, health->n_ports, n_good);
}

bool triad_port_health_look(struct triad_port_health *health, uint32_t n_ports,
	uint32_t n_good, uint64_t now_us)
{
	bool changed;

	if (!health->has_looked || n_ports != health->n_ports) {
		health->has_looked = true;
		health->is_up = n_good > 0;
		health->seen_good = n_good;
		health->seen_since_us = now_us;
		health->seen_up_us = now_us;
		set_counts(health, n_ports, n_good);
		return true;
	}
	changed = look_whether_up(health, n_good, now_us);
	changed |= look_how_many(health, n_good, now_us);
	/* Good ports that count make it up, too; at first they count at once. */
	if (health->n_good)
		changed |= set_up(health, true);
	return changed;
}
