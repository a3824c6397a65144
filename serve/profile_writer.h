/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes profile files from the answers to 'profile' (service/profile.h): a section of
 * each sweep, compressed.
 *
 * Model: a file is zstd frames, one for each sweep.  So 'zstdcat FILE' gives one text,
 * and everything before a damaged place can be read.  The first frame that is written to a
 * file after it was opened has every port.
 *
 *     triad_profile_writer_begin(writer, wall_us, now_us, &request);
 *     (the answer to "profile", request.key, request.after)
 *     triad_profile_writer_take(writer, piece, size);
 *     triad_profile_writer_end(writer, is_whole, why);
 *
 * The file is put aside (profile_old.h) and the next one begun before a frame that
 * would make it larger than max_size, or when it is older than max_age.
 *
 * When a frame can't be written, or its answer was cut, the file keeps its whole frames,
 * the sweep is counted as dropped, the log has one line, and the next sweep tries again,
 * with every port.  Sweeps that ended before they were asked for are counted as skipped.
 * Totals of a later sweep include what both counted.
 *
 * Thread-safety: any thread calls configure and status; one, the owner's, calls the
 * others, which may wait for the disk.  new and free while nobody else uses it.
 * Memory: half a megabyte; the size of a frame doesn't matter.
 * Source: [monitoring-rfc: each agent should be able to write its own file]. */
#ifndef TRIAD_SERVE_PROFILE_WRITER_H
#define TRIAD_SERVE_PROFILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/served.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_profile_writer;

struct triad_profile_params {
	char path[TRIAD_CONF_PATH_SIZE]; /* "": nothing is written */
	uint64_t max_size_octets, max_age_us;
	unsigned keep; /* files put aside */
};

/* What is to be asked for. */
struct triad_profile_request {
	char key[48], after[24];
};

/* The parameters from [profile]; a MB is 1,000,000 octets. */
struct triad_profile_params triad_profile_params(const struct triad_conf *conf);

/* 'log' (may be NULL) must outlive the writer.  NULL when memory is short.  Writes nothing
 * before it is configured. */
struct triad_profile_writer *triad_profile_writer_new(struct triad_log *log);

/* Accepts NULL. */
void triad_profile_writer_free(struct triad_profile_writer *writer);

/* Takes effect with the next sweep. */
void triad_profile_writer_configure(
	struct triad_profile_writer *writer, const struct triad_profile_params *params);

/* Applies the last configuration, and opens the file, or closes the present one when there
 * is none in it.  Returns false when there is nothing to ask for.  An error of the file is
 * known to triad_profile_writer_take(), so that sweeps are counted that are lost by it.
 * 'wall_us' and 'now_us' are the present time, by the wall clock and monotonic. */
bool triad_profile_writer_begin(struct triad_profile_writer *writer, uint64_t wall_us,
	uint64_t now_us, struct triad_profile_request *request);

/* Takes octets of the answer.  Returns 0, or ECANCELED when it wants no more of them. */
int triad_profile_writer_take(
	struct triad_profile_writer *writer, const char *piece, size_t size);

/* There was none, for a reason in words.  Call triad_profile_writer_end() then. */
void triad_profile_writer_refuse(struct triad_profile_writer *writer, const char *why);

/* Ends the answer: 'is_whole', or 'why' it was cut (NULL: the program ends).  Returns 0,
 * also when there was no sweep, or the errno in the status. */
int triad_profile_writer_end(
	struct triad_profile_writer *writer, bool is_whole, const char *why);

/* The error is ETIMEDOUT while the disk has not answered for TRIAD_PROFILE_HUNG_US. */
struct triad_profile_status triad_profile_writer_status(
	struct triad_profile_writer *writer);

#define TRIAD_PROFILE_HUNG_US UINT64_C(15000000)

#endif
