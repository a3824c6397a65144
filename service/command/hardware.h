/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What 'cables' and 'devices' share.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SERVICE_COMMAND_HARDWARE_H
#define TRIAD_SERVICE_COMMAND_HARDWARE_H

#include <stdbool.h>

#include "triad/output.h"

struct triad_service;

/* Whether devices are read here.  If not, says why, and what to do. */
bool triad_command_has_devices(
	struct triad_service *service, struct triad_output *output);

/* Says why there is nothing to show yet. */
void triad_command_no_devices(
	struct triad_service *service, struct triad_output *output);

#endif
