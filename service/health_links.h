/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports links and ports to 'health'.
 *
 * Thread-safety: any thread, while the service lives. */
#ifndef TRIAD_SERVICE_HEALTH_LINKS_H
#define TRIAD_SERVICE_HEALTH_LINKS_H

struct triad_health;
struct triad_service;

/* The line of ports, after the sweep's; and what no alert is about. */
void triad_links_add_health(struct triad_health *health, struct triad_service *service);

/* What alerts are about, where there are none. */
void triad_links_add_findings(
	struct triad_health *health, struct triad_service *service);

#endif
