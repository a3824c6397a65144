/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Describes the packet in which a request to the SA arrived, for sFlow. */
#ifndef TRIAD_PLUGIN_QOS_SAMPLE_H
#define TRIAD_PLUGIN_QOS_SAMPLE_H

#include <stdbool.h>

#include "perfmgr/formats/sampled_request.h"
#include "qos/paths.h"

struct osm_madw;

/* False when the SM's own port is not among 'paths'. */
bool triad_sample_describe(const struct osm_madw *madw, const struct triad_paths *paths,
	struct triad_sampled_request *request);

#endif
