/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/hardware.h"

#include <inttypes.h>

#include "service/command/ports.h"
#include "service/service.h"

static bool had_devices(const struct triad_moment *moment, enum triad_extra_kind kind,
	struct triad_output *output)
{
	if (triad_past_has_extras(moment->past, kind))
		return true;
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"that image has none: devices were not asked then "
		"(devices.enabled), or had not answered yet\n");
	return false;
}

bool triad_command_has_devices(const struct triad_moment *moment,
	enum triad_extra_kind kind, struct triad_output *output)
{
	struct triad_service *service = moment->service;
	struct triad_device_reader_status status =
		triad_device_reader_status(service->devices);

	if (moment->past)
		return had_devices(moment, kind, output);
	if (triad_collect_status(service->collect).mode == TRIAD_COLLECT_MANAGER) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"agents ask the devices that they read: ask on the host of the "
			"agent, which 'triadctl agents owner NODE' names\n");
		return false;
	}
	if (!status.is_enabled) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"devices are not asked: 'set devices.enabled true' begins it, "
			"with MADs that only devices of Mellanox and NVIDIA "
			"understand\n");
		return false;
	}
	if (!moment->view)
		(void)triad_command_no_view(service, output);
	return moment->view;
}

void triad_command_no_devices(
	const struct triad_moment *moment, struct triad_output *output)
{
	struct triad_device_reader_status status =
		triad_device_reader_status(moment->service->devices);
	const struct triad_devices_counts *counts = &status.counts;

	if (moment->past)
		triad_output_printf(output, "nothing of that was known then\n");
	else if (!counts->n_devices)
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
