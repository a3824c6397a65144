/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* triad-agent: the service (service/service.h) in a process of its own, without OpenSM.
 *
 * Life: new reads the configuration and starts the threads; the caller then waits for
 * signals, and calls triad_agent_tick() once a second or so.
 *
 * Thread-safety: one thread calls these functions; the agent starts others. */
#ifndef TRIAD_AGENT_AGENT_H
#define TRIAD_AGENT_AGENT_H

#include <stdint.h>

#include "agent/log.h"
#include "agent/topology.h"
#include "service/service.h"

struct triad_agent {
	struct triad_agent_log *log;
	char socket[TRIAD_CONF_PATH_SIZE];
	struct triad_service_owner owner; /* the callbacks of the service's owner */
	struct triad_service service;
	struct triad_topology *topology;
};

/* 'conf_path' may be NULL.  Returns 0; EINVAL (the configuration has mistakes) or
 * ENOMEM, which it has logged. */
int triad_agent_new(uint64_t port_guid, const char *conf_path,
	struct triad_agent_log *log, struct triad_agent **agent);

/* Ends the threads, in a second or so.  Returns false when one is stuck: then what it
 * uses must stay until the process ends.  Accepts NULL. */
bool triad_agent_free(struct triad_agent *agent);

void triad_agent_tick(struct triad_agent *agent);

/* Reads the configuration again, and opens the log again. */
void triad_agent_reload(struct triad_agent *agent);

/* The 'run' of struct triad_service_owner; 'context' is the agent. */
int triad_agent_run(void *context, const char *prefix,
	const struct triad_command *command, struct triad_output *output);

/* Its 'add_health'. */
void triad_agent_add_health(void *context, struct triad_health *health);

/* Its 'add_metrics'. */
void triad_agent_add_metrics(void *context, struct triad_own_metrics *list);

#endif
