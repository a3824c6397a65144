/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What 'cables' and 'devices' share.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SERVICE_COMMAND_HARDWARE_H
#define TRIAD_SERVICE_COMMAND_HARDWARE_H

#include "service/command/moment.h"

/* Whether there is a view, and devices are read here, or were: an image of the moment has
 * something of that kind.  If not, says why, and what to do. */
bool triad_command_has_devices(const struct triad_moment *moment,
	enum triad_extra_kind kind, struct triad_output *output);

/* Says why there is nothing to show of those that are meant. */
void triad_command_no_devices(
	const struct triad_moment *moment, struct triad_output *output);

#endif
