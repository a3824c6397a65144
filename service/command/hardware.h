/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Functions that 'cables' and 'devices' share.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SERVICE_COMMAND_HARDWARE_H
#define TRIAD_SERVICE_COMMAND_HARDWARE_H

#include "service/command/moment.h"

/* Whether there is a view, and data of devices: they are read here, or the past
 * moment's image has extras of that kind.  If not, writes why, and what to do. */
bool triad_command_has_devices(const struct triad_moment *moment,
	enum triad_extra_kind kind, struct triad_output *output);

/* Writes why there is nothing to show of the chosen devices. */
void triad_command_no_devices(
	const struct triad_moment *moment, struct triad_output *output);

#endif
