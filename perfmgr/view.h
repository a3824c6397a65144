/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What readers see of the PerfManager: a fabric, and for each port the engine's row,
 * its group and the P_Key to ask it with.  Also selections of a view's ports.
 *
 * A view is immutable and reference-counted.  The engine must outlive it, unless the
 * view owns the engine.  Rows are read through triad_engine_read().
 *
 * Thread-safety: any thread may take and release references. */
#ifndef TRIAD_PERFMGR_VIEW_H
#define TRIAD_PERFMGR_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/details.h"
#include "perfmgr/engine.h"
#include "perfmgr/groups.h"
#include "ib/partitions.h"
#include "triad/fabric.h"

struct triad_view {
	const struct triad_engine *engine;
	struct triad_engine *own_engine; /* freed with the view; NULL: none */
	struct triad_fabric *fabric;
	struct triad_groups *groups; /* NULL: none */
	uint8_t *group;              /* group of each port, or TRIAD_GROUP_NONE */
	/* For each port: index in our P_Key table to ask it with, or
	 * TRIAD_PKEY_NONE. */
	uint16_t *pkey_index;
	struct triad_partitions_counts partitions;
	uint32_t rows[]; /* for each port of the fabric */
};

/* Makes a view of 'fabric' and 'groups' (NULL: none), and references both.  All rows
 * and P_Key indexes are 0: the caller fills them in before it publishes the view.
 * Returns one reference; NULL when memory is short. */
struct triad_view *triad_view_new(const struct triad_engine *engine,
	struct triad_fabric *fabric, struct triad_groups *groups);
struct triad_view *triad_view_ref(struct triad_view *view);

/* Makes the view own the engine, and free it with itself.  Call it before the view is
 * published. */
void triad_view_own_engine(struct triad_view *view, struct triad_engine *engine);

/* Chooses the P_Key to ask each port with; 'ours' is our port's table. */
void triad_view_choose_pkeys(
	struct triad_view *view, const uint16_t *ours, uint32_t n_ours);

/* Copies the row of 'port'.  Returns false, with a row of zeros, when the row went to
 * another port since the view was made. */
bool triad_view_read(
	const struct triad_view *view, uint32_t port, struct triad_engine_row *row);

/* Reads only one total of 'port', which is quicker.  Returns false when it has none, or
 * its row went to another port since. */
bool triad_view_total(const struct triad_view *view, uint32_t port, unsigned counter,
	uint64_t *total);

/* The key of 'port' in triad_engine_details(). */
struct triad_details_port triad_view_details_port(
	const struct triad_view *view, uint32_t port);

/* Whether 'port' shares no partition with our port, which then can't ask it. */
static inline bool triad_view_is_apart(const struct triad_view *view, uint32_t port)
{
	return view->pkey_index[port] == TRIAD_PKEY_NONE;
}

/* Whether 'port' is in a skipped group, or can't be asked: its row is old. */
static inline bool triad_view_is_skipped(const struct triad_view *view, uint32_t port)
{
	return triad_view_is_apart(view, port) ||
		(view->group[port] != TRIAD_GROUP_NONE &&
			triad_groups_get(view->groups, view->group[port])->skip);
}

/* Whether sweeps ask 'port': it has a PMA, and is not skipped. */
static inline bool triad_view_is_asked(const struct triad_view *view, uint32_t port)
{
	return view->fabric->ports[port].has_pma && !triad_view_is_skipped(view, port);
}

/* Accepts NULL. */
void triad_view_unref(struct triad_view *view);

/* A choice of ports of a view, to be reset. */
struct triad_selection {
	struct triad_view *view; /* referenced */
	bool hardware;           /* the PMAs' counters too, in a sweep at once */
	uint8_t chosen[];        /* for each port of the view's fabric: 0 or 1 */
};

/* No port chosen; 'view' is referenced.  NULL when memory is short. */
struct triad_selection *triad_selection_new(struct triad_view *view);
void triad_selection_free(struct triad_selection *selection);

#endif
