/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Callbacks by which an image reads what is known of ports and devices besides
 * counters.
 *
 * Thread-safety: any thread calls them. */
#ifndef TRIAD_SERVICE_HISTORY_SOURCES_H
#define TRIAD_SERVICE_HISTORY_SOURCES_H

#include "history/image.h"

struct triad_service;

/* The callbacks of a service, which outlives them. */
struct triad_history_sources triad_history_sources_of(struct triad_service *service);

#endif
