/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Passes on the lines of an image whose fabric an earlier release packed
 * (history/image.h), unpacked: what puts images together in the process of the SM has no
 * zstd.  All other lines pass as they are, and so does what is malformed.
 *
 * Thread-safety: none.  Memory: the octets of a packed fabric, and then twice, at most
 * TRIAD_TOPOLOGY_MAX_SIZE each. */
#ifndef TRIAD_SERVE_HISTORY_UNPACK_H
#define TRIAD_SERVE_HISTORY_UNPACK_H

#include "collect/topology_message.h"
#include "lib/line_cutter.h"
#include "perfmgr/formats/profile.h"

struct triad_history_unpack {
	triad_line_take *give;
	void *context;
	/* The rest is 0 at first. */
	struct triad_topology_octets packed; /* octets NULL: none is being read */
	uint32_t n;                          /* octets that were read */
	char head[TRIAD_PROFILE_LINE_SIZE];  /* a line that is held back; "": none */
};

/* A triad_line_take() whose context is a struct triad_history_unpack. */
triad_line_take triad_history_unpack_line;
/* Gives what is held back: call it behind the last line of a frame. */
bool triad_history_unpack_end(struct triad_history_unpack *unpack);

#endif
