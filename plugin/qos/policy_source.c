/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/policy_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triad/clock.h"
#include "triad/file.h"

void triad_policy_source_init(struct triad_policy_source *source, const char *osm_file,
	struct triad_recorder *recorder, struct triad_log *log)
{
	*source = (struct triad_policy_source){.recorder = recorder, .log = log};
	if (osm_file)
		snprintf(source->osm_file, sizeof(source->osm_file), "%s", osm_file);
	pthread_mutex_init(&source->load_lock, NULL);
	pthread_mutex_init(&source->lock, NULL);
}

void triad_policy_source_clear(struct triad_policy_source *source)
{
	triad_policy_unref(source->policy);
	pthread_mutex_destroy(&source->lock);
	pthread_mutex_destroy(&source->load_lock);
}

bool triad_policy_source_configure(
	struct triad_policy_source *source, const char *file, const char *default_level)
{
	bool differs;

	pthread_mutex_lock(&source->lock);
	differs = strcmp(file, source->file) != 0 ||
		strcmp(default_level, source->default_level) != 0;
	snprintf(source->file, sizeof(source->file), "%s", file);
	snprintf(source->default_level, sizeof(source->default_level), "%s",
		default_level);
	pthread_mutex_unlock(&source->lock);
	return differs;
}

/* --- the file --- */

static struct triad_file_stamp stamp_of(const char *path)
{
	struct triad_file_stamp stamp = {0};
	struct stat info;

	if (!stat(path, &info))
		stamp = (struct triad_file_stamp){.device = info.st_dev,
			.inode = info.st_ino,
			.size = info.st_size,
			.changed = info.st_ctim};
	return stamp;
}

/* A copy of the settings in force. */
struct settings {
	char path[TRIAD_CONF_PATH_SIZE]; /* "": no policy */
	char default_level[TRIAD_CONF_TEXT_SIZE];
	bool is_osm; /* 'path' is OpenSM's policy file */
	struct triad_file_stamp known;
};

static struct settings settings_of(struct triad_policy_source *source)
{
	struct settings settings;
	struct stat info;

	pthread_mutex_lock(&source->lock);
	memcpy(settings.path, source->file, sizeof(settings.path));
	memcpy(settings.default_level, source->default_level,
		sizeof(settings.default_level));
	settings.known = source->stamp;
	pthread_mutex_unlock(&source->lock);
	/* If no file is configured, use OpenSM's, if it exists. */
	settings.is_osm = !settings.path[0];
	if (!settings.path[0] && !stat(source->osm_file, &info))
		memcpy(settings.path, source->osm_file, sizeof(settings.path));
	return settings;
}

bool triad_policy_source_has_changed(struct triad_policy_source *source)
{
	struct settings settings = settings_of(source);
	struct triad_file_stamp now = stamp_of(settings.path), *known = &settings.known;

	return settings.path[0] &&
		(now.device != known->device || now.inode != known->inode ||
			now.size != known->size ||
			now.changed.tv_sec != known->changed.tv_sec ||
			now.changed.tv_nsec != known->changed.tv_nsec);
}

/* --- loading --- */

static void keep(struct triad_policy_source *source, const struct settings *settings,
	const struct triad_file_stamp *stamp, struct triad_policy *policy,
	const struct triad_diags *diags, int error)
{
	struct triad_policy *old = NULL;

	pthread_mutex_lock(&source->lock);
	source->stamp = *stamp;
	source->failed = error;
	source->why[0] = '\0';
	if (error && diags->n)
		triad_diags_format(diags, 0, source->why, sizeof(source->why));
	source->n_loads++;
	if (error) {
		source->n_failed++;
	} else {
		old = source->policy;
		source->policy = policy;
		source->is_osm = settings->is_osm;
		source->loaded_wall_us = triad_clock_wall_us();
		memcpy(source->policy_file, settings->path,
			sizeof(source->policy_file));
	}
	pthread_mutex_unlock(&source->lock);
	triad_policy_unref(old);
}

static void log_policy(struct triad_policy_source *source,
	const struct settings *settings, const struct triad_policy *policy,
	const struct triad_diags *diags, int error)
{
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];
	struct stat info;

	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		triad_log_write(source->log,
			error ? TRIAD_LOG_ERROR : TRIAD_LOG_WARNING, "%s", text);
	}
	if (error)
		triad_log_write(source->log, TRIAD_LOG_ERROR,
			"%s: not loaded: %zu mistake(s); the last good QoS policy "
			"stays, and without one OpenSM answers by itself; mend the "
			"file and type 'triadctl reload'",
			diags->source, diags->n_total);
	else if (policy && !settings->is_osm &&
		strcmp(settings->path, source->osm_file) != 0 &&
		!stat(source->osm_file, &info))
		triad_log_write(source->log, TRIAD_LOG_WARNING,
			"OpenSM has a QoS policy of its own, %s, beside Triad's %s: "
			"requests that Triad hands on to it get a path only where both "
			"allow one; use one file for both, or take OpenSM's away",
			source->osm_file, settings->path);
}

static void record(struct triad_policy_source *source, const struct settings *settings,
	const struct triad_diags *diags, int error)
{
	if (error)
		triad_recorder_note_text(source->recorder, TRIAD_TIMELINE_QOS,
			"policy not loaded, mistakes: %zu: %s", diags->n_total,
			settings->path);
	else if (settings->path[0])
		triad_recorder_note_text(source->recorder, TRIAD_TIMELINE_QOS,
			"policy loaded: %s", settings->path);
}

int triad_policy_source_load(
	struct triad_policy_source *source, struct triad_diags *diags)
{
	struct triad_policy *policy = NULL;
	struct triad_file_stamp stamp;
	char why[TRIAD_FILE_REASON_SIZE];
	struct settings settings;
	int error = 0;

	/* A command and triad-qos may load at the same time: one after the other, so
	 * that the later one is in force. */
	pthread_mutex_lock(&source->load_lock);
	settings = settings_of(source);
	triad_diags_init(diags, settings.path);
	/* Take the stamp before reading: the next look then notices a change
	 * meanwhile. */
	stamp = stamp_of(settings.path);
	if (settings.path[0] &&
		triad_file_check_trusted(settings.path, false, why) == EPERM) {
		triad_diags_add(diags, 0, 0, "%s", why);
		error = EPERM;
	} else if (settings.path[0]) {
		error = triad_policy_load(
			settings.path, settings.default_level, &policy, diags);
	}
	log_policy(source, &settings, policy, diags, error);
	record(source, &settings, diags, error);
	keep(source, &settings, &stamp, policy, diags, error);
	pthread_mutex_unlock(&source->load_lock);
	return error;
}

struct triad_policy_now triad_policy_source_now(struct triad_policy_source *source)
{
	struct triad_policy_now now;

	pthread_mutex_lock(&source->lock);
	now = (struct triad_policy_now){
		.policy = source->policy ? triad_policy_ref(source->policy) : NULL,
		.is_broken = source->failed && !source->policy,
		.is_osm = source->policy && source->is_osm,
		.has_failed = source->failed,
		.loaded_wall_us = source->loaded_wall_us,
		.n_loads = source->n_loads,
		.n_failed = source->n_failed,
	};
	memcpy(now.file, source->policy_file, sizeof(now.file));
	memcpy(now.why, source->why, sizeof(now.why));
	pthread_mutex_unlock(&source->lock);
	return now;
}
