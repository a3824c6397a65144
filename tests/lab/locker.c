/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Holds the SM's lock, as a long sweep does.  It is a plugin of OpenSM, loaded besides
 * Triad.  Whenever the file that TRIAD_LOCKER names appears, it takes the lock
 * exclusively, renames the file to FILE.held, and holds the lock until a test removes
 * FILE.held.
 *
 * OpenSM finds the plugin by its name if the library is preloaded. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugin/opensm.h"

#define LOOK_US 10000

extern osm_event_plugin_t osm_event_plugin __attribute__((visibility("default")));

static void hold(osm_opensm_t *osm, const char *path, const char *held)
{
	cl_plock_excl_acquire(&osm->lock);
	if (rename(path, held) == 0)
		while (access(held, F_OK) == 0)
			usleep(LOOK_US);
	cl_plock_release(&osm->lock);
}

static void *wait_for_file(void *osm)
{
	const char *path = getenv("TRIAD_LOCKER");

	char held[PATH_MAX];

	if (!path)
		return NULL;
	snprintf(held, sizeof(held), "%s.held", path);
	for (;;) {
		usleep(LOOK_US);
		if (access(path, F_OK) == 0)
			hold(osm, path, held);
	}
	return NULL;
}

static void *create(osm_opensm_t *osm)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_file, osm))
		return NULL;
	pthread_detach(thread);
	return osm;
}

static void destroy(void *plugin)
{
}

osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = destroy,
};
