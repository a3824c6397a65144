/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/path_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/task.h"
#include "triad/clock.h"
#include "triad/file.h"

#define MODE 0644
/* Pause after a failed attempt. */
#define RETRY_US TRIAD_US_PER_S
#define STOP_US (2 * TRIAD_US_PER_S)

struct triad_path_file {
	struct triad_log *log;
	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	struct triad_path_exchange *exchange; /* NULL: none */
	struct triad_path_file_status status;
	/* For the task alone. */
	char path[TRIAD_CONF_PATH_SIZE]; /* of the managed file; "": none */
	bool is_left; /* a file of an earlier start, or of a failed write, may be there */
	struct triad_path_table *table; /* in the file; NULL: no file of ours */
	struct stat written;            /* identifies the file with 'table' */
	uint64_t n_removed;             /* our files that this task removed */
	struct triad_file_report report;
};

const char *triad_path_file_reason(int error)
{
	return error == EEXIST
		? "another program's file is there, and stays: move it away, or name "
		  "another one"
		: strerror(error);
}

/* --- the file, in the task --- */

static int report_trouble(struct triad_path_file *file, const char *what, int error)
{
	if (error &&
		triad_file_report(&file->report, file->path, error) ==
			TRIAD_FILE_IN_TROUBLE)
		triad_log_write(file->log, TRIAD_LOG_ERROR,
			"paths: %s can't be %s: %s; see collect.paths_file", file->path,
			what, triad_path_file_reason(error));
	return error;
}

/* Logs the end of trouble; only after a whole step without error: a removal by itself
 * succeeds even on a full disk. */
static void report_recovery(struct triad_path_file *file)
{
	if (triad_file_report(&file->report, file->path, 0) == TRIAD_FILE_WELL_AGAIN)
		triad_log_write(file->log, TRIAD_LOG_INFO,
			"paths: %s can be written and removed again", file->path);
}

static void forget_table(struct triad_path_file *file)
{
	triad_path_table_unref(file->table);
	file->table = NULL;
}

/* Whether triad-agent wrote the file.  Returns 0, EEXIST: it did not, or an errno. */
static int check_is_ours(const struct triad_path_file *file)
{
	char head[TRIAD_PATH_TABLE_HEAD_SIZE];
	struct stat status;
	size_t n = 0;
	int error = triad_file_read(file->path, head, sizeof(head), &n);

	/* A link, a folder, a socket; unless the link is on the way. */
	if (error == ELOOP || error == EISDIR || error == ENXIO)
		return lstat(file->path, &status) ? errno : EEXIST;
	return error ? error : triad_path_table_is_text(head, n) ? 0 : EEXIST;
}

static int remove_file(struct triad_path_file *file)
{
	int error = check_is_ours(file);

	if (!error && unlink(file->path))
		error = errno;
	if (error == ENOENT)
		error = 0;
	if (report_trouble(file, "removed", error))
		return error;
	file->is_left = false;
	file->n_removed += file->table != NULL;
	forget_table(file);
	return 0;
}

/* Forgets the table if the file is gone or was replaced.  Returns EEXIST if another
 * program's file is there, else 0. */
static int revalidate(struct triad_path_file *file)
{
	const struct stat *written = &file->written;
	struct stat now;

	if (lstat(file->path, &now)) {
		/* After another error our file may still be there. */
		if (errno == ENOENT)
			forget_table(file);
		return 0;
	}
	if (file->table && now.st_dev == written->st_dev &&
		now.st_ino == written->st_ino &&
		now.st_mtim.tv_sec == written->st_mtim.tv_sec &&
		now.st_mtim.tv_nsec == written->st_mtim.tv_nsec)
		return 0;
	forget_table(file);
	return EEXIST;
}

static int write_file(
	struct triad_path_file *file, struct triad_path_table *table, uint32_t *n_paths)
{
	size_t size = triad_path_table_text_size(table->n);
	char *text = malloc(size);
	int error = ENOMEM;

	if (text) {
		size = triad_path_table_write(table, text, size, n_paths);
		error = triad_file_replace(file->path, text, size, MODE);
	}
	free(text);
	if (!error && lstat(file->path, &file->written))
		error = errno;
	if (report_trouble(file, "written", error)) {
		/* In spite of the error the new file may be there. */
		file->is_left = true;
		return error;
	}
	forget_table(file);
	file->table = triad_path_table_ref(table);
	return 0;
}

/* --- the task --- */

/* The desired state of the file. */
struct goal {
	char path[TRIAD_CONF_PATH_SIZE];
	struct triad_path_table *table; /* a reference; NULL: no file */
	uint64_t until_us;              /* when the table expires */
};

static struct triad_path_table *valid_table(
	struct triad_path_exchange *exchange, uint64_t *until_us)
{
	enum triad_path_state state;

	return exchange ? triad_path_exchange_table(exchange, &state, until_us) : NULL;
}

/* With the lock, which keeps 'exchange' alive. */
static void read_goal(struct triad_path_file *file, struct goal *goal)
{
	*goal = (struct goal){.until_us = 0};
	memcpy(goal->path, file->status.path, sizeof(goal->path));
	if (goal->path[0])
		goal->table = valid_table(file->exchange, &goal->until_us);
}

/* Changes to another file: removes the old one, and has a file of an earlier start at
 * the new path removed first. */
static void change_path(struct triad_path_file *file, const char *path)
{
	if (file->path[0] && !revalidate(file) && file->table)
		(void)remove_file(file);
	forget_table(file);
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->is_left = true;
}

/* Brings the file to the desired state.  Returns 0 or an errno; sets '*is_written' when
 * it wrote the file. */
static int reach_goal(struct triad_path_file *file, const struct goal *goal,
	uint32_t *n_paths, bool *is_written)
{
	int error = 0, removed = 0;

	if (strcmp(file->path, goal->path) != 0)
		change_path(file, goal->path);
	if (!file->path[0])
		return 0;
	if (file->is_left && (error = remove_file(file)))
		return error;
	error = revalidate(file);
	if (error)
		return report_trouble(file, "written", error);
	if (goal->table && goal->table != file->table) {
		error = write_file(file, goal->table, n_paths);
		*is_written = !error;
	}
	/* If the new table can't be written, the old one must not stay. */
	if (file->is_left || (file->table && file->table != goal->table))
		removed = remove_file(file);
	return error ? error : removed;
}

static void note(
	struct triad_path_file *file, int error, uint32_t n_paths, bool is_written)
{
	struct triad_path_file_status *status = &file->status;

	status->is_there = file->table;
	status->error = error;
	if (is_written)
		status->n_paths = n_paths;
	status->n_written += is_written;
	status->n_removed = file->n_removed;
}

static uint64_t task_step(void *context)
{
	struct triad_path_file *file = context;
	bool is_written = false;
	uint32_t n_paths = 0;
	struct goal goal;
	int error;

	read_goal(file, &goal);
	pthread_mutex_unlock(&file->lock);
	error = reach_goal(file, &goal, &n_paths, &is_written);
	triad_path_table_unref(goal.table);
	if (!error)
		report_recovery(file);
	pthread_mutex_lock(&file->lock);
	note(file, error, n_paths, is_written);
	if (error)
		return triad_clock_now_us() + RETRY_US;
	/* If that time has passed meanwhile, the next step follows at once. */
	return file->table ? goal.until_us : UINT64_MAX;
}

/* --- life --- */

struct triad_path_file *triad_path_file_new(struct triad_log *log)
{
	struct triad_path_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->log = log;
	pthread_mutex_init(&file->lock, NULL);
	triad_task_init(&file->task, &file->lock, "triad-pathfile", task_step, file);
	return file;
}

bool triad_path_file_free(struct triad_path_file *file)
{
	if (!file)
		return true;
	if (!triad_task_stop(&file->task, STOP_US))
		return false;
	change_path(file, "");
	triad_task_clear(&file->task);
	pthread_mutex_destroy(&file->lock);
	free(file);
	return true;
}

void triad_path_file_connect(
	struct triad_path_file *file, struct triad_path_exchange *exchange)
{
	pthread_mutex_lock(&file->lock);
	file->exchange = exchange;
	triad_task_wake(&file->task);
	pthread_mutex_unlock(&file->lock);
}

void triad_path_file_configure(struct triad_path_file *file, const char *path)
{
	int error = 0;

	pthread_mutex_lock(&file->lock);
	snprintf(file->status.path, sizeof(file->status.path), "%s", path);
	if (path[0])
		error = triad_task_start(&file->task);
	file->status.error = error;
	triad_task_wake(&file->task);
	pthread_mutex_unlock(&file->lock);
	if (error)
		triad_log_write(file->log, TRIAD_LOG_ERROR,
			"paths: no thread for %s: %s; type 'triadctl --agent reload' to "
			"try again",
			path, strerror(error));
}

void triad_path_file_wake(void *context)
{
	struct triad_path_file *file = context;

	pthread_mutex_lock(&file->lock);
	triad_task_wake(&file->task);
	pthread_mutex_unlock(&file->lock);
}

struct triad_path_file_status triad_path_file_status(struct triad_path_file *file)
{
	struct triad_path_file_status status;

	pthread_mutex_lock(&file->lock);
	status = file->status;
	pthread_mutex_unlock(&file->lock);
	return status;
}
