/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/history_sources.h"

#include "perfmgr/watch/watch.h"
#include "service/command/commands.h"
#include "service/service.h"

static bool read_device(void *context, uint64_t guid, struct triad_device_known *copy)
{
	struct triad_service *service = context;

	return triad_device_reader_read(service->devices, guid, copy);
}

static bool read_cable(
	void *context, uint64_t guid, uint8_t port, struct triad_cable_known *copy)
{
	struct triad_service *service = context;

	return triad_device_reader_read_port(service->devices, guid, port, copy);
}

static void read_bers(void *context, const struct triad_view *view, uint32_t port,
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS])
{
	struct triad_service *service = context;

	triad_watch_read_bers(triad_perf_watch(service->perf), view, port, rates);
}

static void fill_lists(
	void *context, const struct triad_view *view, struct triad_kept_list *lists)
{
	struct triad_service *service = context;
	const struct triad_service_owner *owner = service->owner;

	triad_command_keep_owners(service, &lists[TRIAD_KEPT_OWNERS]);
	triad_command_keep_histograms(service, view, &lists[TRIAD_KEPT_HISTOGRAMS]);
	if (owner->fill_lists)
		owner->fill_lists(owner->context, lists);
}

static void take_past(void *context, struct triad_fabric *fabric, uint64_t wall_us)
{
	struct triad_service *service = context;
	const struct triad_service_owner *owner = service->owner;

	if (owner->take_past)
		owner->take_past(owner->context, fabric, wall_us);
}

struct triad_history_sources triad_history_sources_of(struct triad_service *service)
{
	return (struct triad_history_sources){.context = service,
		.read_device = read_device,
		.read_cable = read_cable,
		.read_bers = read_bers,
		.fill_lists = fill_lists,
		.take_past = take_past};
}
