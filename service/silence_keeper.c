/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/silence_keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/format_version.h"
#include "lib/steady_clock.h"
#include "lib/task.h"
#include "perfmgr/formats/silence_file.h"
#include "service/state_path.h"
#include "triad/clock.h"
#include "triad/file.h"
#include "triad/thread.h"

#define STOP_US TRIAD_US_PER_S
#define WAIT_US (2 * TRIAD_US_PER_S)
/* How often the thread checks for silences that ended with their alert, and for a clock
 * that was set. */
#define LOOK_US TRIAD_US_PER_S
#define RETRY_US (10 * TRIAD_US_PER_S)

struct triad_silence_keeper {
	struct triad_watch *watch;
	struct triad_log *log;
	const char *program;
	uint64_t port_guid;
	struct triad_task task;

	/* Of the thread alone. */
	struct triad_silences silences;
	struct triad_steady_clock clock; /* by which silences begin and end */
	uint8_t octets[TRIAD_SILENCE_FILE_SIZE];
	struct triad_file_report reported;
	bool has_unread; /* the file may have silences that were not read */
	unsigned later;  /* version of a file of a later Triad; 0: none */

	pthread_mutex_t lock;            /* of what follows */
	char path[TRIAD_CONF_PATH_SIZE]; /* "": no file; constant once started */
	bool is_read;
	bool trusts_clock;      /* somebody looked at the wall clock: it is right */
	uint64_t kept_version;  /* version of the silences in the file */
	uint64_t tried_version; /* version of the last write, failed or not */
	uint64_t retry_us;
	char trouble[TRIAD_SILENCE_TROUBLE_SIZE];
};

static uint64_t keeper_step(void *context);

/* --- life --- */

struct triad_silence_keeper *triad_silence_keeper_new(struct triad_watch *watch,
	const char *program, uint64_t port_guid, struct triad_log *log)
{
	struct triad_silence_keeper *keeper = calloc(1, sizeof(*keeper));

	if (!keeper)
		return NULL;
	keeper->watch = watch;
	keeper->log = log;
	keeper->program = program;
	keeper->port_guid = port_guid;
	pthread_mutex_init(&keeper->lock, NULL);
	triad_task_init(
		&keeper->task, &keeper->lock, "triad-silences", keeper_step, keeper);
	return keeper;
}

bool triad_silence_keeper_start(struct triad_silence_keeper *keeper, const char *dir)
{
	int error = 0;

	if (dir[0])
		error = triad_state_path(dir, "silences", keeper->program,
			keeper->port_guid, keeper->path, sizeof(keeper->path));
	if (error) {
		keeper->path[0] = '\0';
		triad_log_write(keeper->log, TRIAD_LOG_ERROR,
			"silences: state.dir is too long, so they end with %s",
			keeper->program);
	}
	return !triad_task_start(&keeper->task);
}

bool triad_silence_keeper_stop(struct triad_silence_keeper *keeper)
{
	return !keeper || triad_task_stop(&keeper->task, STOP_US);
}

void triad_silence_keeper_free(struct triad_silence_keeper *keeper)
{
	if (!keeper)
		return;
	triad_task_clear(&keeper->task);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper);
}

/* --- the file; the thread alone, without the lock --- */

/* Renames a file that can't be understood: users may still need its content. */
static void put_aside(struct triad_silence_keeper *keeper)
{
	char aside[TRIAD_CONF_PATH_SIZE + 4];

	snprintf(aside, sizeof(aside), "%s.bad", keeper->path);
	(void)rename(keeper->path, aside);
}

/* Whether a file of a later Triad is there; it stays until somebody moves it away. */
static bool must_keep(struct triad_silence_keeper *keeper)
{
	if (keeper->later && access(keeper->path, F_OK) && errno == ENOENT)
		keeper->later = 0;
	return keeper->later;
}

/* Writes why the file could not be read, and whether it was renamed. */
static void describe_unread(struct triad_silence_keeper *keeper, int error,
	char trouble[TRIAD_SILENCE_TROUBLE_SIZE])
{
	char refusal[TRIAD_FORMAT_REFUSAL_SIZE];
	const char *why = strerror(error);

	if (error == EPROTONOSUPPORT) {
		triad_format_refusal(
			refusal, keeper->later, TRIAD_SILENCE_FILE_VERSION);
		why = refusal;
	} else if (error == EPROTO || error == EINVAL) {
		why = "it is no file of silences, and was renamed, with '.bad' at its "
		      "end";
	}
	snprintf(trouble, TRIAD_SILENCE_TROUBLE_SIZE, "not read: %s", why);
}

/* Reads the silences; 'trouble' gets why that failed, or "". */
static void read_silences(
	struct triad_silence_keeper *keeper, char trouble[TRIAD_SILENCE_TROUBLE_SIZE])
{
	char why[TRIAD_FILE_REASON_SIZE];
	size_t size = 0;
	int error;

	trouble[0] = '\0';
	if (!keeper->path[0])
		return;
	if (triad_file_check_trusted(keeper->path, false, why) == EPERM) {
		snprintf(trouble, TRIAD_SILENCE_TROUBLE_SIZE, "not read: %.230s", why);
		keeper->has_unread = true;
		return;
	}
	keeper->silences.wall_us = triad_clock_wall_us();
	error = triad_file_read(
		keeper->path, keeper->octets, sizeof(keeper->octets), &size);
	if (error == ENOENT)
		return;
	keeper->has_unread = error;
	if (!error) {
		error = triad_silence_file_read(
			keeper->octets, size, &keeper->silences);
		if (error == EPROTONOSUPPORT)
			keeper->later =
				triad_silence_file_version(keeper->octets, size);
		else if (error)
			put_aside(keeper);
	}
	if (error)
		describe_unread(keeper, error, trouble);
}

static void log_trouble(struct triad_silence_keeper *keeper, int error, const char *why)
{
	switch (triad_file_report(&keeper->reported, keeper->path, error)) {
	case TRIAD_FILE_IN_TROUBLE:
		triad_log_write(keeper->log, TRIAD_LOG_ERROR,
			"silences: %s: %s; they are in force and end with %s, unless "
			"it can be written later",
			keeper->path, why, keeper->program);
		break;
	case TRIAD_FILE_WELL_AGAIN:
		triad_log_write(keeper->log, TRIAD_LOG_INFO,
			"silences: %s is written again", keeper->path);
		break;
	default:
		break;
	}
}

/* Returns 0 or an errno, with the reason in 'trouble'. */
static int write_file(
	struct triad_silence_keeper *keeper, char trouble[TRIAD_SILENCE_TROUBLE_SIZE])
{
	size_t size = triad_silence_file_write(&keeper->silences, keeper->octets);
	char why[TRIAD_FILE_REASON_SIZE];
	int error;

	trouble[0] = '\0';
	if (must_keep(keeper)) {
		describe_unread(keeper, EPROTONOSUPPORT, trouble);
		return EPROTONOSUPPORT;
	}
	triad_file_make_folder(keeper->path);
	error = triad_file_check_folder(keeper->path, why) == EPERM ? EPERM : 0;
	/* Until now the unread file has stayed, so that a user can mend it and restart
	 * the program.  Now it gets out of the way of a new one. */
	if (!error && keeper->has_unread)
		put_aside(keeper);
	if (!error) {
		keeper->has_unread = false;
		error = triad_file_replace(keeper->path, keeper->octets, size, 0600);
		snprintf(why, sizeof(why), "%s", strerror(error));
	}
	if (error)
		snprintf(trouble, TRIAD_SILENCE_TROUBLE_SIZE, "not written: %.230s",
			why);
	log_trouble(keeper, error, trouble);
	return error;
}

/* --- the thread --- */

/* Reads the file.  With the lock, which is released meanwhile. */
static void load_silences(struct triad_silence_keeper *keeper)
{
	char trouble[TRIAD_SILENCE_TROUBLE_SIZE];

	pthread_mutex_unlock(&keeper->lock);
	read_silences(keeper, trouble);
	if (trouble[0])
		triad_log_write(keeper->log, TRIAD_LOG_ERROR,
			"silences: %s: %s; no silence of before is in force",
			keeper->path, trouble);
	triad_watch_adopt_silences(
		keeper->watch, &keeper->silences, triad_clock_wall_us());
	pthread_mutex_lock(&keeper->lock);
	strcpy(keeper->trouble, trouble);
	keeper->kept_version = keeper->tried_version = keeper->silences.version;
	keeper->is_read = true;
}

/* Writes the file.  With the lock, which is released meanwhile. */
static void save(struct triad_silence_keeper *keeper)
{
	char trouble[TRIAD_SILENCE_TROUBLE_SIZE];
	uint64_t version;
	int error;

	pthread_mutex_unlock(&keeper->lock);
	version = triad_watch_copy_silences(keeper->watch, &keeper->silences);
	error = write_file(keeper, trouble);
	pthread_mutex_lock(&keeper->lock);
	strcpy(keeper->trouble, trouble);
	keeper->tried_version = version;
	if (!error)
		keeper->kept_version = version;
	keeper->retry_us = triad_clock_now_us() + RETRY_US;
}

static uint64_t keeper_step(void *context)
{
	struct triad_silence_keeper *keeper = context;
	uint64_t version, wall_us, due_us, now_us;

	if (!keeper->is_read)
		load_silences(keeper);
	if (keeper->trusts_clock)
		keeper->clock.is_set = false;
	keeper->trusts_clock = false;
	pthread_mutex_unlock(&keeper->lock);
	wall_us = triad_steady_clock_read(
		&keeper->clock, triad_clock_wall_us(), triad_clock_boot_us());
	due_us = triad_watch_advance_silences(keeper->watch, wall_us, &version);
	pthread_mutex_lock(&keeper->lock);
	now_us = triad_clock_now_us();
	if (!keeper->path[0])
		keeper->kept_version = version;
	if (keeper->path[0] && version != keeper->kept_version &&
		(version != keeper->tried_version || now_us >= keeper->retry_us))
		save(keeper);
	/* Commands may wait for the file. */
	pthread_cond_broadcast(&keeper->task.changed);
	if (due_us == UINT64_MAX) {
		keeper->clock.is_set = false;
		if (version == keeper->kept_version)
			return TRIAD_TASK_DONE;
	}
	due_us = due_us > wall_us ? due_us - wall_us : 0;
	return now_us + (due_us < LOOK_US ? due_us : LOOK_US);
}

/* --- commands --- */

static void fill_status(struct triad_silence_keeper *keeper,
	const struct triad_watch_status *watch,
	struct triad_silence_keeper_status *status)
{
	status->n = watch->n_silences;
	status->is_read = keeper->is_read;
	status->is_kept =
		keeper->path[0] && keeper->kept_version == watch->silences_version;
	strcpy(status->trouble, keeper->trouble);
	strcpy(status->path, keeper->path);
}

struct triad_silence_keeper_status triad_silence_keeper_status(
	struct triad_silence_keeper *keeper)
{
	struct triad_watch_status watch = triad_watch_status(keeper->watch);
	struct triad_silence_keeper_status status;

	pthread_mutex_lock(&keeper->lock);
	fill_status(keeper, &watch, &status);
	pthread_mutex_unlock(&keeper->lock);
	return status;
}

/* Waits, 2 s at most, until the thread has tried to write the present silences. */
static void wait_until_kept(
	struct triad_silence_keeper *keeper, struct triad_silence_keeper_status *status)
{
	struct triad_watch_status watch = triad_watch_status(keeper->watch);
	uint64_t until_us = triad_clock_now_us() + WAIT_US;
	int error;

	pthread_mutex_lock(&keeper->lock);
	keeper->trusts_clock = true;
	error = triad_task_start(&keeper->task);
	triad_task_wake(&keeper->task);
	while (!error && keeper->path[0] &&
		keeper->tried_version < watch.silences_version &&
		!keeper->task.must_end &&
		!triad_condition_wait(&keeper->task.changed, &keeper->lock, until_us))
		;
	if (keeper->path[0] && keeper->tried_version < watch.silences_version)
		snprintf(keeper->trouble, sizeof(keeper->trouble), "not written: %s",
			error ? strerror(error) : "the disk hangs");
	fill_status(keeper, &watch, status);
	status->is_kept =
		keeper->path[0] && keeper->kept_version >= watch.silences_version;
	pthread_mutex_unlock(&keeper->lock);
}

/* Waits until the file has been read: its silences have numbers, and new ones
 * follow. */
static bool wait_until_read(struct triad_silence_keeper *keeper)
{
	uint64_t until_us = triad_clock_now_us() + WAIT_US;
	bool is_read;

	pthread_mutex_lock(&keeper->lock);
	while (!keeper->is_read && !keeper->task.must_end &&
		!triad_condition_wait(&keeper->task.changed, &keeper->lock, until_us))
		;
	is_read = keeper->is_read;
	pthread_mutex_unlock(&keeper->lock);
	return is_read;
}

uint32_t triad_silence_keeper_add(struct triad_silence_keeper *keeper,
	const struct triad_silence *silence, struct triad_silence_keeper_status *status)
{
	uint32_t id = 0;

	if (wait_until_read(keeper))
		id = triad_watch_silence(keeper->watch, silence, triad_clock_wall_us());
	wait_until_kept(keeper, status);
	return id;
}

bool triad_silence_keeper_end(struct triad_silence_keeper *keeper, uint32_t id,
	struct triad_silence *ended, struct triad_silence_keeper_status *status)
{
	bool is_there = wait_until_read(keeper) &&
		triad_watch_end_silence(
			keeper->watch, id, triad_clock_wall_us(), ended);

	wait_until_kept(keeper, status);
	return is_there;
}
