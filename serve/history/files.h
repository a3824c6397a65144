/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The folder of images: names of its files, and the index of each segment.
 *
 * Thread-safety: functions without state.  Calls wait for the disk. */
#ifndef TRIAD_SERVE_HISTORY_FILES_H
#define TRIAD_SERVE_HISTORY_FILES_H

#include <limits.h>

#include "history/ring.h"
#include "perfmgr/export/frame_reader.h"
#include "perfmgr/timeline/event.h"

/* Events of one image, at most; an image of a sweep has those since the sweep
 * before. */
#define TRIAD_HISTORY_MAX_COPIED_EVENTS 256u

struct triad_history_events {
	uint32_t n;
	struct triad_timeline_event events[TRIAD_HISTORY_MAX_COPIED_EVENTS];
};

/* Whose images are meant. */
struct triad_history_owner {
	const char *dir, *program;
	uint64_t port_guid;
};

/* The file of a segment, and of its index.  False: the name is too long. */
bool triad_history_segment_path(const struct triad_history_owner *owner,
	enum triad_history_tier tier, uint64_t begun_us, char path[PATH_MAX]);
bool triad_history_index_path(const char *segment, char path[PATH_MAX]);

/* Lists the segments of a tier: their times, in order, for the caller to free.  Returns
 * 0 or an errno. */
int triad_history_list(const struct triad_history_owner *owner,
	enum triad_history_tier tier, uint64_t **times, uint32_t *n);

/* The port GUIDs of other processes of the same program whose segments are in the
 * folder; at most 'room'.  Returns how many. */
unsigned triad_history_list_others(
	const struct triad_history_owner *owner, uint64_t *port_guids, unsigned room);

/* Adds a segment and its images to 'ring', at its place.  Remakes an incomplete index
 * from the segment, and writes it if 'is_own'.  Returns 0 or an errno: then 'ring' has
 * the segment without the images that could not be read. */
int triad_history_load(const struct triad_history_owner *owner,
	enum triad_history_tier tier, uint64_t begun_us,
	struct triad_frame_reader *reader, struct triad_history_ring *ring,
	bool is_own);

/* Checks that a file's octets from 'entry->offset' on, 'entry->size' of them, are
 * exactly one image of the SM at 'port_guid', and completes the entry; copies the
 * image's first events to 'events'.  Returns 0, EPROTO (not such an image), or an errno
 * of reading. */
int triad_history_check_image(struct triad_frame_reader *reader, int fd,
	uint64_t port_guid, struct triad_history_entry *entry,
	struct triad_history_events *events);

#endif
