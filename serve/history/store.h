/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The folder of images: segments with an index beside each (history/ring.h).
 *
 *     DIR/sweeps-opensm-0x0002c90300001234-20260102T030405.678Z.csv.zst
 *     DIR/sweeps-opensm-0x0002c90300001234-20260102T030405.678Z.csv.zst.idx
 *
 * The store touches only files of such a name.  A segment is a profile file
 * (perfmgr/export/profile_file.h): the next start cuts off what its writer could not
 * finish, so a kill or a full disk costs the last image at most.  Each start begins new
 * segments.
 *
 * With 'has_copies' this store also writes copies of other SMs' images into the folder
 * (history/mirror): files with the names and the octets of the originals.  The limits
 * are for all files together (history/rings.h).
 *
 * Other SMs may write to the same folder, on a shared disk, or somebody copies their
 * files into it.  For a time the store finds the last image up to then among those of
 * all SMs.  So all SMs answer alike, also about a time at which one of them was dead.
 *
 * An image that can't be written is counted and left out; the first one of a series is
 * logged.  The next sweep tries again.
 *
 * Thread-safety: configure, status, find and spread from any thread: the lock between
 * them and the writer is held for a walk over the index.  The rest from one thread, the
 * writer's, which may wait for the disk without a lock.  new and free while no other
 * thread uses it.
 * Memory: that of the index, a name for each key, and 400 KiB. */
#ifndef TRIAD_SERVE_HISTORY_STORE_H
#define TRIAD_SERVE_HISTORY_STORE_H

#include <limits.h>

#include "history/answer.h"
#include "history/mirror/mirror.h"
#include "history/rings.h"
#include "perfmgr/export/frame_reader.h"
#include "perfmgr/timeline/event.h"
#include "service/history_status.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_history_store;

struct triad_history_params {
	char program[32]; /* "OpenSM": whose images these are, and of which SM */
	uint64_t port_guid;
	char dir[TRIAD_CONF_PATH_SIZE]; /* "": nothing is written */
	bool has_copies;
	struct triad_history_limits limits;
};

/* 'log' outlives the store.  NULL when memory is short. */
struct triad_history_store *triad_history_store_new(struct triad_log *log);
/* Accepts NULL. */
void triad_history_store_free(struct triad_history_store *store);

/* Takes effect with the next image. */
void triad_history_store_configure(
	struct triad_history_store *store, const struct triad_history_params *params);

/* Puts the last configuration into force; reads the folder if it is another one. */
void triad_history_store_prepare(struct triad_history_store *store);

/* Writes an answer (history/answer.h):
 *
 *     triad_history_store_begin(store, now_us, &question);
 *     asks 'question', and for each piece of the answer:
 *     triad_history_store_take(store, piece, size);
 *     error = triad_history_store_end(store, is_whole, why);
 *
 * 'now_us': of the wall clock.  begin() returns false when nothing is to be asked: there
 * is no folder.  end() returns 0, also when no image was due, or the errno that the
 * status shows; 'is_whole' false: the answer was cut, so that what is not complete is
 * dropped, or there was none.  'why' says why; NULL: that is no error, unless an image was
 * cut. */
bool triad_history_store_begin(struct triad_history_store *store, uint64_t now_us,
	struct triad_history_question *question);
void triad_history_store_take(
	struct triad_history_store *store, const char *piece, size_t size);
int triad_history_store_end(
	struct triad_history_store *store, bool is_whole, const char *why);

struct triad_history_status triad_history_store_status(
	struct triad_history_store *store);

/* --- copies: by the writer's thread (copies.c) --- */

/* The images of all SMs; NULL while no images are copied. */
struct triad_history_rings *triad_history_store_rings(
	struct triad_history_store *store);
/* Removes segments that are too old or too many, without a write. */
void triad_history_store_prune(struct triad_history_store *store, uint64_t wall_us);
/* The functions of struct triad_mirror_store; 'context' is the store. */
int triad_history_store_read_image(void *context,
	const struct triad_mirror_image *image, uint32_t at, void *octets,
	uint32_t size);
int triad_history_store_add_image(
	void *context, const struct triad_mirror_image *image, const uint8_t *octets);

/* Receives the events of each image copied from another SM, the oldest first; called in
 * the writer's thread. */
struct triad_history_events_sink {
	void (*take)(void *context, const struct triad_timeline_event *event);
	void *context;
};
void triad_history_store_set_events_sink(struct triad_history_store *store,
	const struct triad_history_events_sink *sink);

/* Lists anew what other SMs have written to the folder.  In one thread at a time, which
 * may wait for the disk; 'frames' is borrowed. */
void triad_history_store_look_at_others(
	struct triad_history_store *store, struct triad_frame_reader *frames);

/* See triad_history_ring_find() and _spread(); among the images of all SMs. */
struct triad_history_answer triad_history_store_find(
	struct triad_history_store *store, uint64_t time_us);
uint32_t triad_history_store_spread(struct triad_history_store *store, uint64_t from_us,
	uint64_t to_us, struct triad_history_position *places, uint32_t room);

/* The segment's file.  False: the name is too long. */
bool triad_history_store_path(struct triad_history_store *store,
	const struct triad_history_position *position, char path[PATH_MAX]);

#endif
