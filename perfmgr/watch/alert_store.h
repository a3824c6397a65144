/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The store of alerts, indexed by number and by place.
 *
 * A place is a node GUID and a port number (TRIAD_ALERT_NO_PORT: the node itself).  A
 * place has one alert at most; an alert may have many places.
 *
 * Internal to alerts.c, which says who may call when. */
#ifndef TRIAD_PERFMGR_ALERT_STORE_H
#define TRIAD_PERFMGR_ALERT_STORE_H

#include "perfmgr/watch/alerts.h"

#define TRIAD_ALERT_NONE UINT32_MAX

struct triad_alert_entry {
	bool used;
	uint32_t first_place; /* head of the list of its places */
	struct triad_alert alert;
};

struct triad_alert_store;

struct triad_alert_store *triad_alert_store_new(void);
void triad_alert_store_free(struct triad_alert_store *store);

/* Adds an alert, all zeros; NULL when there are too many or memory is short. */
struct triad_alert_entry *triad_alert_store_add(struct triad_alert_store *store);
void triad_alert_store_remove(
	struct triad_alert_store *store, struct triad_alert_entry *entry);

/* Adds a place to the alert.  Returns false when the place has an alert already, or
 * memory is short. */
bool triad_alert_store_place(struct triad_alert_store *store,
	struct triad_alert_entry *entry, uint64_t guid, uint8_t port);

/* The alert of a place, or NULL. */
struct triad_alert_entry *triad_alert_store_find(
	const struct triad_alert_store *store, uint64_t guid, uint8_t port);

/* Returns the first entry at '*cursor' (0 at first) or after it, and moves the cursor
 * past it.  NULL: no more.  The caller may remove that entry. */
struct triad_alert_entry *triad_alert_store_next(
	const struct triad_alert_store *store, uint32_t *cursor);

/* Calls 'visit' for each place that has an alert. */
void triad_alert_store_each_place(const struct triad_alert_store *store,
	void (*visit)(void *context, uint64_t guid, uint8_t port), void *context);

size_t triad_alert_store_octets(const struct triad_alert_store *store);

#endif
