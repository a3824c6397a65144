/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/priority.h"

#include <stdio.h>

#include <glib.h>

#define SOME_GOOD_SHIFT 19
#define MAX_SOME_GOOD 15u
#define PREFERENCE_SHIFT 14
#define GOOD_SHIFT 8
#define MAX_GOOD 63u

uint32_t triad_priority_make(const struct triad_priority_parts *parts)
{
	bool ports_ok = parts->n_ports > 0 && parts->n_good >= parts->n_ports;
	uint32_t priority = 0;

	if (parts->is_conf_manager)
		priority |= TRIAD_PRIORITY_IS_CONF_MANAGER;
	if (ports_ok)
		priority |= TRIAD_PRIORITY_PORTS_OK;
	else
		priority |= MIN(parts->n_good, MAX_SOME_GOOD) << SOME_GOOD_SHIFT;
	if (parts->is_master)
		priority |= TRIAD_PRIORITY_IS_MASTER;
	priority |= MIN(parts->preference, TRIAD_PRIORITY_MAX_PREFERENCE)
		<< PREFERENCE_SHIFT;
	if (parts->was_holder_last)
		priority |= TRIAD_PRIORITY_WAS_HOLDER_LAST;
	return priority | MIN(parts->n_good, MAX_GOOD) << GOOD_SHIFT;
}

bool triad_priority_ports_ok(uint32_t priority)
{
	return priority & TRIAD_PRIORITY_PORTS_OK;
}

unsigned triad_priority_health(uint32_t priority)
{
	return (priority &
		       (TRIAD_PRIORITY_PORTS_OK | MAX_SOME_GOOD << SOME_GOOD_SHIFT)) >>
		SOME_GOOD_SHIFT;
}

uint8_t triad_priority_preference(uint32_t priority)
{
	return priority >> PREFERENCE_SHIFT & TRIAD_PRIORITY_MAX_PREFERENCE;
}

bool triad_priority_is_better(
	uint32_t a_priority, uint64_t a_id, uint32_t b_priority, uint64_t b_id)
{
	if (a_priority != b_priority)
		return a_priority > b_priority;
	return a_id < b_id;
}

/* A table in docs/osmtriad-election(7) says the same. */
uint8_t triad_priority_of_sm(const struct triad_priority_sm *sm)
{
	if (!sm->is_connected)
		return 1;
	if (sm->is_conf_manager)
		return 15;
	if (sm->is_master)
		return sm->is_quorate ? 14 : 13;
	return sm->ports_ok ? 6 : 3;
}

void triad_priority_text(uint32_t priority, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s%spreference %u, %u good port(s)",
		priority & TRIAD_PRIORITY_IS_CONF_MANAGER ? "IS_CONF_MANAGER " : "",
		priority & TRIAD_PRIORITY_PORTS_OK ? "PORTS_OK " : "",
		priority & TRIAD_PRIORITY_IS_MASTER ? "IS_MASTER " : "",
		priority & TRIAD_PRIORITY_WAS_HOLDER_LAST ? "WAS_HOLDER_LAST " : "",
		triad_priority_preference(priority), priority >> GOOD_SHIFT & MAX_GOOD);
}
