/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/access.h"

#include "plugin/command/commands.h"
#include "plugin/console.h"
#include "plugin/control.h"
#include "plugin/instance.h"
#include "plugin/worker.h"

static int run(void *context, const char *prefix, int n_words, const char *const *words,
	struct triad_output *output)
{
	return triad_commands_run(context, prefix, n_words, words, output);
}

void triad_access_start(struct triad_plugin *plugin)
{
	const struct triad_runner runner = {.context = plugin, .run = run};
	const struct triad_conf conf = plugin->conf;
	bool has_console =
		conf.console.enabled && plugin->conf_state != TRIAD_CONF_BROKEN;

	if (has_console)
		atomic_store(&plugin->console,
			triad_console_new(plugin->osm, &runner, plugin->log));
	triad_worker_set_console(plugin->worker, plugin->console);
	if (conf.control.enabled)
		atomic_store(&plugin->control,
			triad_control_new(conf.control.socket, conf.control.max_clients,
				&runner, plugin->log));
}

void triad_access_stop(struct triad_plugin *plugin)
{
	triad_control_free(plugin->control);
	atomic_store(&plugin->control, NULL);
	triad_console_stop(plugin->console);
}
