/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How triadd does, which keeps images of the fabric: parts of its report
 * (service/served.h).
 *
 * Thread-safety: data. */
#ifndef TRIAD_SERVICE_HISTORY_STATUS_H
#define TRIAD_SERVICE_HISTORY_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "history/mirror/mirror.h"

#define TRIAD_HISTORY_REASON_SIZE 320

struct triad_history_status {
	bool is_on, is_read;       /* there is a folder; its old files have been read */
	uint64_t n_images;         /* written since the start, in any tier */
	uint64_t n_written_octets; /* of these */
	uint64_t n_dropped;        /* sweeps of which there is no image */
	uint64_t n_removed;        /* segments that were too old, or too many */
	uint64_t octets;           /* of this SM's segments */
	uint64_t copied_octets;    /* of copies of other SMs' segments */
	uint64_t n_copied_images;  /* in the copies */
	uint64_t max_octets;       /* allowed */
	uint64_t n_kept;           /* images in this SM's segments */
	uint64_t n_segments;
	uint64_t first_us, last_us; /* of the kept images; 0: there are none */
	uint64_t took_us;           /* to write the last image */
	double ns_per_port;         /* the same, divided by the ports */
	uint32_t n_left_out;        /* of the last image: alerts, answers, ... */
	int error;                  /* errno of the last image; 0: it was written */
	char reason[TRIAD_HISTORY_REASON_SIZE]; /* the error in words */
};

/* A folder that has lacked an SM's newest image for so long is behind. */
#define TRIAD_HISTORY_BEHIND_US (10 * 60 * TRIAD_US_PER_S)

struct triad_history_mirror_status {
	bool is_on;
	char trouble[160];  /* why nothing is copied, and what to do; "": no trouble */
	uint64_t n_dropped; /* payloads dropped because the inbox was full */
	struct triad_mirror_status mirror;
};

#endif
