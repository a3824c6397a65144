/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps images of the fabric (history/image.h): a thread writes one after each sweep, and
 * whoever asks reads them.
 *
 * The thread takes a reference to the view, copies of alerts, links and events, runs the
 * commands whose answers are kept, and has lists of others filled; it may wait for a disk for ever, and nobody waits for it.  Sweeps that end meanwhile are
 * left out.  It begins with the first folder that is configured.  With history.replicate
 * it copies images to and from other SMs between sweeps (service/history_mirror.h).
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

/* What commands answer at the moment, as triad_outputs_run(). */
typedef uint32_t triad_history_run(struct triad_service *service,
	struct triad_history_output *outputs, uint32_t *n_left_out);

/* What is pointed to outlives the keeper's thread.  NULL when memory is short. */
struct triad_history_keeper *triad_history_keeper_new(struct triad_perf *perf,
	struct triad_recorder *recorder, const char *program, uint64_t port_guid,
	triad_history_run *run, struct triad_service *service,
	const struct triad_history_sources *sources, struct triad_log *log);

/* Lets go who waits for images that are read. */
void triad_history_keeper_close(struct triad_history_keeper *keeper);

/* Ends the threads, in two seconds at most.  Returns false when one is stuck at a disk:
 * then it, and what it uses, must stay.  Accepts NULL. */
bool triad_history_keeper_stop(struct triad_history_keeper *keeper);
/* After triad_history_keeper_stop() returned true, when nobody reads any more.  Accepts
 * NULL. */
void triad_history_keeper_free(struct triad_history_keeper *keeper);

void triad_history_keeper_configure(
	struct triad_history_keeper *keeper, const struct triad_conf *conf);

struct triad_history_status triad_history_keeper_status(
	struct triad_history_keeper *keeper);

/* --- copies: see service/history_mirror.h --- */
/* NULL: there is no carrier any more; triad_history_keeper_stop() sets that, too. */
void triad_history_keeper_set_carrier(struct triad_history_keeper *keeper,
	const struct triad_history_carrier *carrier);
/* From the carrier: never block. */
void triad_history_keeper_view(
	struct triad_history_keeper *keeper, const uint64_t *members, uint32_t n);
void triad_history_keeper_payload(struct triad_history_keeper *keeper, uint64_t sender,
	const void *payload, size_t size);
struct triad_history_mirror_status triad_history_keeper_mirror_status(
	struct triad_history_keeper *keeper);

/* Where images are read. */
struct triad_history_reader *triad_history_keeper_reader(
	struct triad_history_keeper *keeper);

#endif
