/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One counter of one port in image after image.
 *
 *     triad_port_series_begin_key(series);          for an image that has another key
 *     triad_frame_reader_give(..., triad_port_series_take_line, series);
 *     triad_port_series_end_key(series);
 *     triad_port_series_begin_change(series);       unless the image is the key
 *     triad_frame_reader_give(..., triad_port_series_take_line, series);
 *     point = triad_port_series_point(series);
 *
 * After a malformed line no more are taken, and series->parser.message says why.
 *
 * A total is known of a port that was read for the image, if its counter was not at its
 * maximum, where it counts no more.
 *
 * Thread-safety: none. */
#ifndef TRIAD_SERVE_HISTORY_PORT_SERIES_H
#define TRIAD_SERVE_HISTORY_PORT_SERIES_H

#include "lib/line_cutter.h"
#include "perfmgr/formats/profile.h"
#include "service/history_reader.h"

struct triad_port_series {
	uint64_t node_guid;
	uint8_t port;
	unsigned counter; /* enum triad_counter */
	/* The rest is of the functions below. */
	struct triad_profile_parser parser;
	bool is_quiet;
	struct triad_history_point of_key, now; /* 'is_known': there is a total */
};

void triad_port_series_begin_key(struct triad_port_series *series);
void triad_port_series_end_key(struct triad_port_series *series);
void triad_port_series_begin_change(struct triad_port_series *series);
/* Gets a line of an image; a triad_line_take. */
triad_line_take triad_port_series_take_line;

/* What the image has, without its time and who wrote it. */
struct triad_history_point triad_port_series_point(
	const struct triad_port_series *series);

#endif
