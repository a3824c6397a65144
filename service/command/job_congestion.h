/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The roots of congestion that concern a set of hosts: an array of 'job'.
 *
 * Thread-safety: functions without state; the result is the watcher's, and
 * immutable. */
#ifndef TRIAD_SERVICE_COMMAND_JOB_CONGESTION_H
#define TRIAD_SERVICE_COMMAND_JOB_CONGESTION_H

#include "service/command/list.h"

struct triad_fabric;
struct triad_service;

/* Writes roots in whose tree hosts of 'ports' wait, and roots that lead to such a host.
 * 'ports' has a bit for each port of 'fabric'. */
void triad_job_put_congestion(struct triad_service *service,
	struct triad_report *report, const struct triad_fabric *fabric,
	const uint64_t *ports);

#endif
