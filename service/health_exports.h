/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports files, listeners, sFlow collectors and images to 'health'.
 *
 * Thread-safety: any thread, while the service lives. */
#ifndef TRIAD_SERVICE_HEALTH_EXPORTS_H
#define TRIAD_SERVICE_HEALTH_EXPORTS_H

struct triad_health;
struct triad_served;
struct triad_service;

void triad_exports_add_health(
	struct triad_health *health, struct triad_service *service);

/* "off", or whether triadd writes the profile file, as far as it is known. */
const char *triad_exports_profile_state(
	struct triad_service *service, const struct triad_served *served);

#endif
