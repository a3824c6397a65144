/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/access.h"

#include "plugin/console.h"
#include "plugin/instance.h"
#include "plugin/worker.h"

void triad_access_start(struct triad_plugin *plugin)
{
	struct triad_service *service = &plugin->service;
	const struct triad_runner runner = {.context = service,
		.role = triad_service_role,
		.run = triad_service_ask};

	if (service->conf->console.enabled && service->conf_state != TRIAD_CONF_BROKEN)
		atomic_store(&plugin->console,
			triad_console_new(plugin->osm, &runner, service->log));
	triad_worker_set_console(plugin->worker, plugin->console);
	triad_service_open(service);
}

void triad_access_stop(struct triad_plugin *plugin)
{
	triad_service_close(&plugin->service);
	triad_console_stop(plugin->console);
}
