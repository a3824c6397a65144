/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes the profile (perfmgr/formats/profile.h): a section of each sweep, compressed.
 *
 * Model: a file has zstd frames, one for each sweep, so that 'zstdcat FILE' gives one text,
 * and the part before a damaged place can be read.  A sweep has rows of ports that answered
 * in it, and whose data changed by more than min_change since their last row
 * (perfmgr/formats/change_filter.h); with all counters, also of ports that waited for as
 * much, or counted an error.  The first frame of a file has every port that answered.
 * Details are those read in the sweep; in the first frame, all known ones.
 *
 * Before a frame that would make the file larger than max_size, or when it is older than
 * max_age, the file is put aside (profile_old.h) and a new one begins.
 *
 * A frame that can't be written is left out: the file keeps its complete frames, the frame
 * is counted as dropped, a line is logged, and the next sweep tries again, with every port.
 * Nothing else in Triad waits for it.
 *
 * Thread-safety: configure and status from any thread; write from one, its owner's, which
 * may wait for the disk there. new and free while no other thread uses it.
 * Memory: half a megabyte, and 32 octets a port; the size of a frame doesn't matter.
 * Source: [monitoring-rfc: each agent should be able to write its own file]. */
#ifndef TRIAD_PERFMGR_EXPORT_PROFILE_WRITER_H
#define TRIAD_PERFMGR_EXPORT_PROFILE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/view.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_profile_writer;

struct triad_profile_params {
	char path[TRIAD_CONF_PATH_SIZE]; /* "": nothing is written */
	bool all_counters, details;
	uint64_t max_size_octets, max_age_us;
	unsigned keep; /* files put aside */
	uint64_t min_change_octets;
	uint64_t period_us; /* of sweeps */
};

struct triad_profile_status {
	uint64_t n_frames;      /* written */
	uint64_t n_rows;        /* rows in the frames */
	uint64_t n_text_octets; /* octets of their text */
	uint64_t n_octets;      /* octets of the frames in the file */
	uint64_t n_files;       /* opened */
	uint64_t n_dropped;     /* frames that could not be written */
	uint64_t file_octets;   /* of the file at present; 0: none is open */
	int error;              /* errno of the last frame; 0: it was written */
	char reason[128];       /* in words */
	double ns_per_row;      /* duration of the last frame per examined port */
};

/* The settings of [profile]; a MB is 1,000,000 octets, a kB 1,000. */
struct triad_profile_params triad_profile_params(const struct triad_conf *conf);

/* 'port_guid' is the port that counters are read from, by which readers distinguish
 * collectors.  Totals begin now.  'log' (may be NULL) must outlive it.  NULL when memory is
 * short.  Nothing is written before it is configured. */
struct triad_profile_writer *triad_profile_writer_new(
	uint64_t port_guid, struct triad_log *log);

/* Accepts NULL. */
void triad_profile_writer_free(struct triad_profile_writer *writer);

/* Takes effect with the next sweep. */
void triad_profile_writer_configure(
	struct triad_profile_writer *writer, const struct triad_profile_params *params);

/* Applies the last configuration, and closes the last file if there is none now.  From the
 * thread that writes.  False: nothing is to be written. */
bool triad_profile_writer_apply(struct triad_profile_writer *writer);

/* Writes the results of the sweep that began at 'sweep_started_us' (monotonic), wall time
 * 'sweep_started_wall_us'.  'view' is borrowed for the call.  Returns 0, also when there is
 * nothing to do, or the errno in 'status'. */
int triad_profile_writer_write(struct triad_profile_writer *writer,
	const struct triad_view *view, uint64_t sweep_started_wall_us,
	uint64_t sweep_started_us);

struct triad_profile_status triad_profile_writer_status(
	struct triad_profile_writer *writer);

#endif
