/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file of the QoS policy: which file it is, whether it has changed, and the last
 * policy read from it without mistakes.
 *
 * A file with mistakes changes nothing: the last good policy stays.  If triad.conf
 * names no file, OpenSM's own policy file is used, if it exists; otherwise there is no
 * policy.
 *
 * Thread-safety: any thread; only one load runs at a time.
 * Locks: 'load_lock', then 'lock', held for a few members.  Memory: one policy, shared
 * by reference count. */
#ifndef TRIAD_PLUGIN_QOS_POLICY_SOURCE_H
#define TRIAD_PLUGIN_QOS_POLICY_SOURCE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "qos/policy/policy.h"
#include "service/recorder.h"
#include "triad/conf.h"
#include "triad/diag.h"
#include "triad/log.h"

#define TRIAD_POLICY_WHY_SIZE (TRIAD_DIAG_TEXT_SIZE + TRIAD_CONF_PATH_SIZE)

/* Identifies a file and its state. */
struct triad_file_stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct triad_policy_source {
	struct triad_recorder *recorder;
	struct triad_log *log;
	char osm_file[TRIAD_CONF_PATH_SIZE]; /* OpenSM's own, "": none */
	pthread_mutex_t load_lock;
	pthread_mutex_t lock;            /* of what follows */
	char file[TRIAD_CONF_PATH_SIZE]; /* as configured, "": OpenSM's */
	char default_level[TRIAD_CONF_TEXT_SIZE];
	struct triad_file_stamp stamp; /* of the file, when it was checked last */
	struct triad_policy *policy;   /* the last good one; NULL: none */
	char policy_file[TRIAD_CONF_PATH_SIZE]; /* the file that it was read from */
	bool is_osm;                            /* that file is OpenSM's */
	bool failed;                            /* the last load */
	char why[TRIAD_POLICY_WHY_SIZE];        /* its first mistake, or "" */
	uint64_t loaded_wall_us;
	uint64_t n_loads, n_failed;
};

/* The policy at one moment. */
struct triad_policy_now {
	struct triad_policy *policy;     /* a reference, or NULL */
	bool is_broken;                  /* there is no policy, because of mistakes */
	bool is_osm;                     /* OpenSM has the same file */
	bool has_failed;                 /* the last load failed; 'policy' is from an
					  * earlier one */
	char why[TRIAD_POLICY_WHY_SIZE]; /* the first mistake of the last load, or "" */
	char file[TRIAD_CONF_PATH_SIZE];
	uint64_t loaded_wall_us;
	uint64_t n_loads, n_failed;
};

/* 'osm_file' may be NULL. */
void triad_policy_source_init(struct triad_policy_source *source, const char *osm_file,
	struct triad_recorder *recorder, struct triad_log *log);
void triad_policy_source_clear(struct triad_policy_source *source);

/* Returns true when the settings changed: then the caller must load the policy. */
bool triad_policy_source_configure(struct triad_policy_source *source, const char *file,
	const char *default_level);

/* Reads the file.  Returns 0 or an errno, with every mistake in 'diags', which it
 * initialises; also logs them. */
int triad_policy_source_load(
	struct triad_policy_source *source, struct triad_diags *diags);

/* True when the file is not the one that was checked last, or has changed since. */
bool triad_policy_source_has_changed(struct triad_policy_source *source);

struct triad_policy_now triad_policy_source_now(struct triad_policy_source *source);

#endif
