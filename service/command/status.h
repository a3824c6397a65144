/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sections of 'status' that are the service's; its owner adds its own.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_SERVICE_COMMAND_STATUS_H
#define TRIAD_SERVICE_COMMAND_STATUS_H

#include <stdint.h>

#include "service/command/report.h"

struct triad_service;

/* The PerfManager, port groups, alerts. */
void triad_service_report_engine(
	struct triad_report *report, struct triad_service *service);

/* Agents, managers and the broker between them; in text only if there are any. */
void triad_service_report_collect(
	struct triad_report *report, struct triad_service *service);

/* The topology from the SA; in text only while it is in use. */
void triad_service_report_source(struct triad_report *report,
	struct triad_service *service, const char *name, const char *title);

/* Prometheus, the profile file, sFlow. */
void triad_service_report_exports(
	struct triad_report *report, struct triad_service *service);

/* The control socket, memory, the configuration. */
void triad_service_report_process(struct triad_report *report,
	struct triad_service *service, uint64_t topology_octets);

#endif
