/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Holds the SM's lock, as a long sweep would: a plugin of OpenSM's, beside Triad, that
 * waits for the file that TRIAD_LOCKER names, holds the lock exclusively for as many
 * milliseconds as that says, and removes the file.  Each time anew.
 *
 * OpenSM finds it by its name when it is preloaded. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugin/opensm.h"

#define LOOK_US 10000

extern osm_event_plugin_t osm_event_plugin __attribute__((visibility("default")));

static void hold(osm_opensm_t *osm, unsigned milliseconds)
{
	cl_plock_excl_acquire(&osm->lock);
	usleep(milliseconds * 1000);
	cl_plock_release(&osm->lock);
}

static void *wait_for_file(void *osm)
{
	const char *path = getenv("TRIAD_LOCKER");

	while (path) {
		unsigned milliseconds = 0;
		FILE *file = fopen(path, "r");

		usleep(LOOK_US);
		if (!file)
			continue;
		if (fscanf(file, "%u", &milliseconds) != 1)
			milliseconds = 0;
		fclose(file);
		hold(osm, milliseconds);
		unlink(path);
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
