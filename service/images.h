/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Images of the fabric (history/image.h) for triadd, which keeps them.
 *
 * Model: triadd asks after each sweep (history/answer.h).  For an image, the thread that
 * answers takes a reference to the view, copies alerts, links and events, runs the commands
 * whose answers are kept, has lists filled, and writes all that at the socket's speed.
 * Nothing is made while nobody asks.
 *
 * When this process begins to read counters, the last image of any SM is what is known: its
 * alerts, its links that were down and its fabric go to the PerfManager (triad_perf_restore())
 * before an image of ours is made.  So triadd asks at once when the role changes.  Not if the
 * image is so old that what has been down since counts as removed on purpose
 * (TRIAD_LINKS_FORGET_AFTER_US).
 *
 * Thread-safety: any thread, for all but new and free; one question at a time is answered.
 * Memory: that of history/answer.h, and copies of alerts, events and answers. */
#ifndef TRIAD_SERVICE_IMAGES_H
#define TRIAD_SERVICE_IMAGES_H

#include "history/answer.h"
#include "history/totals_base.h"
#include "service/history_reader.h"
#include "service/perf.h"
#include "service/recorder.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_images;
struct triad_service;

/* Runs the commands whose answers are kept; see triad_outputs_run(). */
typedef uint32_t triad_images_run(struct triad_service *service,
	struct triad_history_output *outputs, uint32_t *n_left_out);

/* All that the arguments point to outlives it; 'sources' is copied.  NULL when memory is
 * short. */
struct triad_images *triad_images_new(struct triad_perf *perf,
	struct triad_recorder *recorder, struct triad_history_reader *reader,
	uint64_t port_guid, triad_images_run *run, struct triad_service *service,
	const struct triad_history_sources *sources, struct triad_log *log);
/* Accepts NULL. */
void triad_images_free(struct triad_images *images);

/* Answers a question; writes nothing if the sweep that it names is the last one.  May wait
 * for the past, TRIAD_HISTORY_WAIT_US at most.  Returns 0, EBUSY (another question is
 * being answered), EAGAIN (what was known before is taken over first), or as
 * triad_history_answer(). */
int triad_images_answer(struct triad_images *images, const struct triad_conf *conf,
	const struct triad_history_question *question, struct triad_output *output);

/* What present totals are counted from. */
struct triad_totals_base triad_images_base(struct triad_images *images);

#endif
