/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histograms of the rate of every counter: over all ports, for each port group, for
 * each node; and of some counters for each port.
 *
 * Model: one sample for each counter, port and sweep: the counter's change per second
 * in the interval that the sweep ended, 0 or more.  A counter that was not read, or has
 * no interval yet, gives no sample.  Samples add up until they are cleared.
 *
 *     over all, a group   TRIAD_HISTOGRAM_MOST buckets: an error of 12.5 % at most
 *     a node, a port      16 buckets: 12.5 % where rates stay within 4 octaves, 25 %
 *                         within 8, 50 % within 16; over that a bucket is two octaves
 *                         or four, and its scale says so
 *
 * A node that left the fabric keeps its histograms until more nodes are away than
 * present; a port that left, until the engine gives its row to another port.
 *
 * Thread-safety: none; the caller excludes readers from writers.
 * Memory: sized by the fabric.  For each port 96 octets and at most 512 more; for each
 * node 800 and at most 2,816 more.  Without memory a sample is dropped;
 * triad_histograms_dropped() counts these. Source: [monitoring-rfc M8, M9: histogram of
 * rate of change], [perf-manager-arch 3]. */
#ifndef TRIAD_PERFMGR_HISTOGRAMS_H
#define TRIAD_PERFMGR_HISTOGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/engine.h"
#include "perfmgr/watch/histogram.h"
#include "perfmgr/view.h"

/* Counters that may have a histogram for each port. */
#define TRIAD_HISTOGRAMS_PORT_COUNTERS 4

struct triad_histograms;

/* Which histogram to copy. */
struct triad_histograms_scope {
	enum {
		TRIAD_HISTOGRAMS_OF_ALL,
		TRIAD_HISTOGRAMS_OF_GROUP,
		TRIAD_HISTOGRAMS_OF_NODE,
		TRIAD_HISTOGRAMS_OF_PORT,
	} of;
	unsigned group; /* OF_GROUP: the group's index */
	uint64_t node_guid;
	unsigned port;
};

/* NULL when memory is short. */
struct triad_histograms *triad_histograms_new(void);
void triad_histograms_free(struct triad_histograms *histograms);

/* Adds ports of 'view' (referenced until the next one) from now on.  Returns 0, or
 * ENOMEM and keeps the last view. */
int triad_histograms_adopt(
	struct triad_histograms *histograms, struct triad_view *view);

/* Sets the counters (bit i: counter i) that have histograms for each port: at most
 * TRIAD_HISTOGRAMS_PORT_COUNTERS.  When they change, those of ports begin anew. */
void triad_histograms_set_port_counters(
	struct triad_histograms *histograms, uint32_t counters);

/* Adds one sample for each fresh counter of 'port' (index in the view's fabric).
 * Fastest when called for ports in their order. */
void triad_histograms_add(struct triad_histograms *histograms, uint32_t port,
	const struct triad_engine_changes *changes);

/* Forgets all samples. */
void triad_histograms_clear(struct triad_histograms *histograms);

/* Copies one into 'copy' (the caller clears it), its zeros into '*n_zeros'.  Returns 0;
 * ENOENT: there is no such group, node or port; ENODATA: ports have no histograms of
 * that counter; ENOMEM. */
int triad_histograms_get(const struct triad_histograms *histograms,
	const struct triad_histograms_scope *scope, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros);

/* Samples that were not counted because memory was short. */
uint64_t triad_histograms_dropped(const struct triad_histograms *histograms);
size_t triad_histograms_octets(const struct triad_histograms *histograms);

#endif
