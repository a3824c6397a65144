/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The folder of images: segments with an index beside each (history/ring.h).
 *
 *     DIR/sweeps-opensm-0x0002c90300001234-20260102T030405.678Z.csv.zst
 *     DIR/sweeps-opensm-0x0002c90300001234-20260102T030405.678Z.csv.zst.idx
 *
 * Only files of such a name are touched.  A segment is a profile file
 * (perfmgr/export/profile_file.h): what its writer could not finish is cut off at the
 * next start, so a kill or a full disk costs the last image at most.  After a start new
 * segments are begun.
 *
 * With 'has_copies' the folder also has copies of other SMs' images, which are written here
 * (history/mirror): files of the same names with the same octets, as theirs.  The limits
 * are for all together (history/rings.h).
 *
 * Other SMs may write to the same folder, on a disk that they share or where somebody
 * copies their files: of all images the latest one that is not later than a time shows it,
 * so all SMs answer alike, also about a time at which one of them was dead.
 *
 * An image that can't be written is counted, said once, and left out; the next one tries
 * again.
 *
 * Thread-safety: configure, status, find and spread from any thread: the lock between
 * them and the writer is held for a walk over the index.  write from one thread, its
 * owner's, which may wait for the disk there; no lock is held meanwhile.  new and free
 * while nobody else uses it.
 * Memory: that of history/image.h for each of three tiers, of the index, and 400 KiB. */
#ifndef TRIAD_SERVICE_HISTORY_STORE_H
#define TRIAD_SERVICE_HISTORY_STORE_H

#include <limits.h>

#include "history/image.h"
#include "history/mirror/mirror.h"
#include "history/rings.h"
#include "perfmgr/export/frame_reader.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_history_store;

struct triad_history_params {
	char dir[TRIAD_CONF_PATH_SIZE]; /* "": nothing is written */
	bool has_copies;
	struct triad_history_limits limits;
};

struct triad_history_status {
	bool is_on, is_read; /* there is a folder; what was there is known */
	char dir[TRIAD_CONF_PATH_SIZE];
	uint64_t n_images;         /* written since the start, in any tier */
	uint64_t n_written_octets; /* of them */
	uint64_t n_dropped;        /* that could not be written */
	uint64_t n_removed;        /* segments that were too old, or too many */
	uint64_t octets;           /* of all segments, but those of copies */
	uint64_t copied_octets;    /* of copies */
	uint64_t n_copied_images;  /* in them */
	uint64_t max_octets;       /* allowed */
	uint64_t n_kept;           /* images in them */
	uint64_t n_segments;
	uint64_t first_us, last_us; /* times of these; 0: there are none */
	uint64_t took_us;           /* that the last image took */
	double ns_per_port;         /* the same for each port */
	uint32_t n_left_out;        /* of the last image: alerts, answers, ... */
	int error;                  /* errno of the last image; 0: it was written */
	char reason[320];           /* in words */
};

/* 'program' is "OpenSM"; what is pointed to outlives the store.  NULL when memory is
 * short. */
struct triad_history_store *triad_history_store_new(
	const char *program, uint64_t port_guid, struct triad_log *log);
/* Accepts NULL. */
void triad_history_store_free(struct triad_history_store *store);

/* Takes effect with the next image. */
void triad_history_store_configure(
	struct triad_history_store *store, const struct triad_history_params *params);

/* Takes up what was configured: reads what is in the folder.  By write's thread; write
 * does it too. */
void triad_history_store_prepare(struct triad_history_store *store);

/* Writes the image into each tier that takes it.  Returns 0, also when there is nothing
 * to do, or the errno that 'status' has. */
int triad_history_store_write(
	struct triad_history_store *store, const struct triad_history_image *image);

struct triad_history_status triad_history_store_status(
	struct triad_history_store *store);

/* --- copies: by write's thread (history_copies.c) --- */

/* What there is of all SMs; NULL while nothing is copied. */
struct triad_history_rings *triad_history_store_rings(
	struct triad_history_store *store);
/* Removes what is too old or too much, though nothing is written. */
void triad_history_store_prune(struct triad_history_store *store, uint64_t wall_us);
/* As those of struct triad_mirror_store; 'context' is the store. */
int triad_history_store_read_image(void *context,
	const struct triad_mirror_image *image, uint32_t at, void *octets,
	uint32_t size);
int triad_history_store_add_image(
	void *context, const struct triad_mirror_image *image, const uint8_t *octets);

/* Who is to have the events of other SMs' images when they are copied, each image's in its
 * order, from write's thread; 'sink' is copied. */
struct triad_history_events_sink {
	void (*take)(void *context, const struct triad_timeline_event *event);
	void *context;
};
void triad_history_store_set_events_sink(struct triad_history_store *store,
	const struct triad_history_events_sink *sink);

/* Looks at what others have written to the folder.  By one thread at a time, which may
 * wait for the disk there; 'frames' is borrowed. */
void triad_history_store_look_at_others(
	struct triad_history_store *store, struct triad_frame_reader *frames);

/* See triad_history_ring_find() and _spread(); of all images. */
struct triad_history_answer triad_history_store_find(
	struct triad_history_store *store, uint64_t time_us);
uint32_t triad_history_store_spread(struct triad_history_store *store, uint64_t from_us,
	uint64_t to_us, struct triad_history_place *places, uint32_t room);

/* The segment's file.  False: the name is too long. */
bool triad_history_store_path(struct triad_history_store *store,
	const struct triad_history_place *place, char path[PATH_MAX]);

#endif
