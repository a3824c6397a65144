/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps images of the fabric (history/image.h): a thread writes one after each sweep;
 * commands read them through a reader.
 *
 * For an image, the thread takes a reference to the view, copies alerts, links and
 * events, runs the commands whose answers are kept, and has lists filled.  It may wait
 * for a disk for ever: no other thread waits for it, and it skips sweeps that end
 * meanwhile.  It starts when a folder is configured for the first time.
 *
 * When this process begins to read counters, the last image of any SM is what is known: its
 * alerts, its links that were down and its fabric go to the PerfManager (triad_perf_restore())
 * before an image of ours is written.  Not if the image is so old that what has been down since
 * counts as removed on purpose (TRIAD_LINKS_FORGET_AFTER_US), or this process has read for a while.
 *  With
 * history.replicate it copies images to and from other SMs between sweeps
 * (service/history_mirror.h).
 *
 * Thread-safety: any thread, for all but new, stop and free. */
#ifndef TRIAD_SERVICE_HISTORY_KEEPER_H
#define TRIAD_SERVICE_HISTORY_KEEPER_H

#include "service/history_mirror.h"
#include "service/history_reader.h"
#include "service/history_store.h"
#include "service/perf.h"
#include "service/recorder.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_history_keeper;
struct triad_service;

/* Runs the commands whose answers are kept; see triad_outputs_run(). */
typedef uint32_t triad_history_run(struct triad_service *service,
	struct triad_history_output *outputs, uint32_t *n_left_out);

/* All that the arguments point to outlives the keeper's thread; 'sources' is copied.
 * NULL when memory is short. */
struct triad_history_keeper *triad_history_keeper_new(struct triad_perf *perf,
	struct triad_recorder *recorder, const char *program, uint64_t port_guid,
	triad_history_run *run, struct triad_service *service,
	const struct triad_history_sources *sources, struct triad_log *log);

/* Releases callers that wait for images. */
void triad_history_keeper_close(struct triad_history_keeper *keeper);

/* Ends the threads, in two seconds at most.  Returns false when one is stuck at a disk:
 * then the keeper, and what it uses, must stay.  Accepts NULL. */
bool triad_history_keeper_stop(struct triad_history_keeper *keeper);
/* After triad_history_keeper_stop() returned true, and no command reads.  Accepts
 * NULL. */
void triad_history_keeper_free(struct triad_history_keeper *keeper);

void triad_history_keeper_configure(
	struct triad_history_keeper *keeper, const struct triad_conf *conf);

/* What present totals are counted from. */
struct triad_totals_base triad_history_keeper_base(struct triad_history_keeper *keeper);

struct triad_history_status triad_history_keeper_status(
	struct triad_history_keeper *keeper);

/* --- copies: see service/history_mirror.h --- */
/* NULL: the carrier has ended; triad_history_keeper_stop() also removes it. */
void triad_history_keeper_set_carrier(struct triad_history_keeper *keeper,
	const struct triad_history_carrier *carrier);
/* From the carrier: never block. */
void triad_history_keeper_view(
	struct triad_history_keeper *keeper, const uint64_t *members, uint32_t n);
void triad_history_keeper_payload(struct triad_history_keeper *keeper, uint64_t sender,
	const void *payload, size_t size);
struct triad_history_mirror_status triad_history_keeper_mirror_status(
	struct triad_history_keeper *keeper);

/* The reader of the images. */
struct triad_history_reader *triad_history_keeper_reader(
	struct triad_history_keeper *keeper);

#endif
