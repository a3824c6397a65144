/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_agents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lab/umad_mad.h"

#define RMPP_VERSION 1
#define MAX_CLASS 80

/* After the RMPP header and a reserved octet. */
#define OUI_OFFSET 37

static bool is_valid(const struct lab_agent *requested)
{
	static const uint8_t no_oui[3];
	uint8_t mgmt_class = requested->mgmt_class;

	if (requested->qpn > 1 ||
		(requested->rmpp_version && requested->rmpp_version != RMPP_VERSION))
		return false;
	if (!mgmt_class)
		return true;
	if (requested->class_version >= LAB_MAX_CLASS_VERSION)
		return false;
	if (mgmt_class >= MAX_CLASS && mgmt_class != LAB_CLASS_SM_DIRECTED)
		return false;
	if (lab_class_is_vendor2(mgmt_class) && !memcmp(requested->oui, no_oui, 3))
		return false;
	if (requested->rmpp_version && !lab_class_has_rmpp(mgmt_class))
		return false;
	return lab_class_is_smi(mgmt_class) == (requested->qpn == 0);
}

static bool is_same_class(const struct lab_agent *agent, uint8_t mgmt_class,
	uint8_t version, const uint8_t *oui)
{
	return agent->mgmt_class == mgmt_class && agent->class_version == version &&
		(!lab_class_is_vendor2(mgmt_class) || !memcmp(agent->oui, oui, 3));
}

static bool overlaps(const struct lab_agents *agents, const struct lab_agent *requested)
{
	const struct lab_agent *agent;

	if (!requested->mgmt_class)
		return false;
	for (agent = agents->first; agent; agent = agent->next)
		if (is_same_class(agent, requested->mgmt_class,
			    requested->class_version, requested->oui) &&
			((agent->methods[0] & requested->methods[0]) ||
				(agent->methods[1] & requested->methods[1])))
			return true;
	return false;
}

/* The next free one, so that none is reused soon; 0: none is free. */
static uint16_t new_high_tid(struct lab_agents *agents)
{
	for (unsigned tries = 1; tries < LAB_MAX_HIGH_TID; tries++) {
		if (++agents->last_high_tid == LAB_MAX_HIGH_TID)
			agents->last_high_tid = 1;
		if (!agents->by_high_tid[agents->last_high_tid])
			return (uint16_t)agents->last_high_tid;
	}
	return 0;
}

int lab_agents_add(struct lab_agents *agents, const struct lab_agent *requested,
	struct lab_agent **added)
{
	struct lab_agent *agent;
	uint16_t high_tid;

	if (!is_valid(requested) || overlaps(agents, requested))
		return EINVAL;
	high_tid = new_high_tid(agents);
	agent = malloc(sizeof(*agent));
	if (!agent || !high_tid) {
		free(agent);
		return ENOMEM;
	}
	*agent = *requested;
	agent->high_tid = high_tid;
	agent->sends = NULL;
	agent->reassemblies = NULL;
	agent->next = agents->first;
	agents->first = agent;
	agents->by_high_tid[high_tid] = agent;
	*added = agent;
	return 0;
}

void lab_agents_remove(struct lab_agents *agents, struct lab_agent *agent)
{
	struct lab_agent **link = &agents->first;

	while (*link != agent)
		link = &(*link)->next;
	*link = agent->next;
	agents->by_high_tid[agent->high_tid] = NULL;
	free(agent);
}

struct lab_agent *lab_agents_find(const struct lab_agents *agents, const uint8_t *mad)
{
	unsigned method = lab_mad_method(mad) & 0x7f;
	struct lab_agent *agent;

	if (lab_mad_is_response(mad)) {
		uint16_t high_tid = (uint16_t)(lab_mad_tid(mad) >> 32);

		return high_tid < LAB_MAX_HIGH_TID ? agents->by_high_tid[high_tid]
						   : NULL;
	}
	for (agent = agents->first; agent; agent = agent->next)
		if (is_same_class(
			    agent, lab_mad_class(mad), mad[2], mad + OUI_OFFSET) &&
			(agent->methods[method / 64] >> method % 64 & 1))
			return agent;
	return NULL;
}
