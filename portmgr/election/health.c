/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/health.h"

static bool set_counts(struct triad_health *health, uint32_t n_ports, uint32_t n_good)
{
	bool changed = health->n_ports != n_ports || health->n_good != n_good;

	health->n_ports = n_ports;
	health->n_good = n_good;
	return changed;
}

static void note_worse(struct triad_health *health, uint64_t now_us)
{
	bool is_quiet = now_us - health->worse_us >= TRIAD_HEALTH_MAX_US;

	/* The more often it gets worse, the longer it must be good to count as good. */
	if (!health->wait_us || is_quiet)
		health->wait_us = TRIAD_HEALTH_BETTER_US;
	else if (health->wait_us * 2 <= TRIAD_HEALTH_MAX_US)
		health->wait_us *= 2;
	else
		health->wait_us = TRIAD_HEALTH_MAX_US;
	health->worse_us = now_us;
}

bool triad_health_look(
	struct triad_health *health, uint32_t n_ports, uint32_t n_good, uint64_t now_us)
{
	uint64_t lasted_us;

	if (!health->has_looked || n_ports != health->n_ports) {
		health->has_looked = true;
		health->seen_good = n_good;
		health->seen_since_us = now_us;
		set_counts(health, n_ports, n_good);
		return true;
	}
	/* A change begins its time anew.  It counts once it has lasted. */
	if (n_good != health->seen_good) {
		health->seen_good = n_good;
		health->seen_since_us = now_us;
	}
	lasted_us = now_us - health->seen_since_us;
	if (n_good < health->n_good && lasted_us >= TRIAD_HEALTH_WORSE_US) {
		note_worse(health, now_us);
		return set_counts(health, n_ports, n_good);
	}
	if (n_good > health->n_good && lasted_us >= health->wait_us)
		return set_counts(health, n_ports, n_good);
	return false;
}
