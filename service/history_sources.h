/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where an image gets what is known of ports and devices besides counters.
 *
 * Thread-safety: the functions, any thread. */
#ifndef TRIAD_SERVICE_HISTORY_SOURCES_H
#define TRIAD_SERVICE_HISTORY_SOURCES_H

#include "history/image.h"

struct triad_service;

/* Those of the service, which outlives them. */
struct triad_history_sources triad_history_sources_of(struct triad_service *service);

#endif
