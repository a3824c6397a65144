/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/hardware.h"

#include <inttypes.h>

#include "service/service.h"

bool triad_command_has_devices(
	struct triad_service *service, struct triad_output *output)
{
	struct triad_device_reader_status status =
		triad_device_reader_status(service->devices);

	if (triad_collect_status(service->collect).mode == TRIAD_COLLECT_MANAGER) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"agents ask the devices that they read: ask on the host of the "
			"agent, which 'triadctl agents owner NODE' names\n");
		return false;
	}
	if (status.is_enabled)
		return true;
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"devices are not asked: 'set devices.enabled true' begins it, with MADs "
		"that only devices of Mellanox and NVIDIA understand\n");
	return false;
}

void triad_command_no_devices(
	struct triad_service *service, struct triad_output *output)
{
	struct triad_device_reader_status status =
		triad_device_reader_status(service->devices);
	const struct triad_devices_counts *counts = &status.counts;

	if (!counts->n_devices)
		triad_output_printf(output,
			"no device of a vendor that could be asked is read here\n");
	else if (!counts->n_rounds)
		triad_output_printf(output,
			"nothing is known yet: the first round is under way, after "
			"%" PRIu64 " questions to %" PRIu32 " devices\n",
			counts->n_questions, counts->n_devices);
	else
		triad_output_printf(output,
			"nothing is known: of %" PRIu32 " devices, %" PRIu32
			" did not answer, and %" PRIu32 " refused something\n",
			counts->n_devices, counts->n_silent, counts->n_refused);
}
