/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers /metrics by HTTP, and / with a page for people that says so.
 *
 * Model: GET /metrics takes the view of that moment and writes it (metrics.h) in pieces,
 * as fast as the client reads, perhaps packed by gzip.  So a slow client holds a view, and
 * no lock.
 *
 * Thread-safety: as struct triad_http_handler; the source's callbacks run in the server's
 * thread, and must not block.
 * Memory: some 100 KiB for an answer.  Views are given back when the answer ends; so the
 * engine must outlive the server.
 * Source: Prometheus exposition formats; RFC 9110. */
#ifndef TRIAD_PERFMGR_EXPORT_METRICS_HANDLER_H
#define TRIAD_PERFMGR_EXPORT_METRICS_HANDLER_H

#include "perfmgr/export/http_handler.h"
#include "perfmgr/formats/metrics.h"

#define TRIAD_METRICS_MAX_OWN 256

/* Where metrics come from. */
struct triad_metrics_source {
	/* The view to show, referenced; NULL: none, then only own() has metrics. */
	struct triad_view *(*view)(void *context);
	/* Links that went down, '*n' of them, to be freed; see
	 * triad_watch_copy_links().  May be NULL. */
	struct triad_link *(*links)(void *context, uint32_t *n);
	/* The present silences, to be freed; NULL: none.  May be NULL. */
	struct triad_silences *(*silences)(void *context);
	/* Callbacks that know devices and cables; NULL: there are none.  May be
	 * NULL. */
	const struct triad_metrics_hardware *(*hardware)(void *context);
	/* See struct triad_metrics_params.  May be NULL. */
	uint64_t *(*routes)(void *context, const struct triad_fabric *fabric);
	/* Fills 'room' with at most 'n' metrics and returns how many.  May be NULL. */
	size_t (*own)(void *context, struct triad_metric *room, size_t n);
	void *context;
};

/* 'source' outlives the handler's answers. */
struct triad_http_handler triad_metrics_handler(
	const struct triad_metrics_source *source);

#endif
