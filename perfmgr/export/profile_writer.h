/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes the profile (perfmgr/formats/profile.h): a section of each sweep, compressed.
 *
 * Model: a file is zstd frames, one for each sweep.  So 'zstdcat FILE' gives one text,
 * and everything before a damaged place can be read.  A frame has rows of ports that
 * answered in the sweep, and whose data changed by more than min_change since their
 * last row (perfmgr/formats/change_filter.h); with all counters, also of ports that
 * waited for as much or counted an error.  The first frame of a file has every port
 * that answered.  A frame has the details that were read in the sweep; the first one,
 * all known details.
 *
 * The file is put aside (profile_old.h) and the next one begun before a frame that
 * would make it larger than max_size, or when it is older than max_age.
 *
 * When a frame can't be written, the file keeps its whole frames, the frame is counted
 * as dropped, the log has one line, and the next sweep tries again, with every port.
 * Nothing else of Triad waits for it.
 *
 * Thread-safety: any thread calls configure and status; one, the owner's, calls write,
 * which may wait for the disk.  new and free while nobody else uses it.
 * Memory: half a megabyte, and 56 octets a port (the change filter); the size of a
 * frame doesn't matter.
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
	uint64_t n_rows;        /* in them */
	uint64_t n_text_octets; /* of them */
	uint64_t n_octets;      /* compressed, in the file */
	uint64_t n_files;       /* opened */
	uint64_t n_dropped;     /* frames that could not be written */
	uint64_t file_octets;   /* of the file at present; 0: none is open */
	int error;              /* errno of the last frame; 0: it was written */
	char reason[128];       /* in words */
	double ns_per_row;      /* time of the last frame, for each port looked at */
};

/* The parameters from [profile]; a MB is 1,000,000 octets, a kB 1,000. */
struct triad_profile_params triad_profile_params(const struct triad_conf *conf);

/* 'port_guid' is that of the port that reads counters; readers tell collectors apart by
 * it.  Totals begin now.  'log' (may be NULL) must outlive the writer.  NULL when
 * memory is short.  Writes nothing before it is configured. */
struct triad_profile_writer *triad_profile_writer_new(
	uint64_t port_guid, struct triad_log *log);

/* Accepts NULL. */
void triad_profile_writer_free(struct triad_profile_writer *writer);

/* Takes effect with the next sweep. */
void triad_profile_writer_configure(
	struct triad_profile_writer *writer, const struct triad_profile_params *params);

/* Applies the last configuration; without a file in it closes the present one.  For the
 * thread that writes.  False: there is nothing to write. */
bool triad_profile_writer_apply(struct triad_profile_writer *writer);

/* Writes a section of the sweep that began at 'sweep_started_us' (monotonic), wall time
 * 'sweep_started_wall_us'.  'view' is borrowed for the call.  Returns 0, also when
 * there is nothing to do, or the errno in the status. */
int triad_profile_writer_write(struct triad_profile_writer *writer,
	const struct triad_view *view, uint64_t sweep_started_wall_us,
	uint64_t sweep_started_us);

struct triad_profile_status triad_profile_writer_status(
	struct triad_profile_writer *writer);

#endif
