/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The topology from the SA, kept fresh by its reports of ports that come and go.
 *
 * A thread asks the master's subnet administration for its tables and subscribes to
 * reports.  It reads the tables again when a report comes, when this port's own P_Keys
 * change, and now and then without a cause; service/sa_pace.h says how soon.  An owner
 * that has the topology from elsewhere can have the reports alone.  A report that
 * doesn't come from the SM's LID counts for nothing.
 *
 * P_Key tables are asked for, too, by the SM_Key; an SA that refuses them is asked
 * again after a while, and the fabric comes without.  An SA shows only what shares a
 * partition with this port, and hides a link between two limited members; the status
 * says so.  Links that this host discovered itself replace hidden ones until a port
 * comes or goes, for an hour at most.
 *
 * The thread is made when it is wanted first; it ends with the source.
 *
 * Thread-safety: any thread, for all but new and free.
 * Spec: [perf-manager-arch 1]. */
#ifndef TRIAD_SERVICE_SA_SOURCE_H
#define TRIAD_SERVICE_SA_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"
#include "triad/log.h"

struct triad_sa_source;

enum triad_sa_source_wish {
	TRIAD_SA_NOTHING,
	TRIAD_SA_REPORTS, /* alone */
	TRIAD_SA_TABLES,  /* and reports, so that they are read again */
};

/* Called from the source's thread. */
struct triad_sa_source_user {
	void *context;
	/* A fabric as the tables have it, which the status counts already; takes a
	 * reference if it is to stay. */
	void (*take)(void *context, struct triad_fabric *fabric);
	/* Ports came or went, a moment ago; for TRIAD_SA_REPORTS. */
	void (*heard)(void *context);
};

struct triad_sa_source_status {
	bool active;
	bool subscribed;
	uint64_t n_refreshes; /* tables read */
	uint64_t n_failed;
	uint64_t n_reports;         /* of ports that came or went */
	uint64_t n_unknown_senders; /* reports that were not the SM's */
	int error;                  /* of the last try; 0: none */
	int pkeys_error; /* of the last try to get P_Keys; 0: none; ENOKEY: no key */
	uint32_t n_nodes, n_ports; /* that the SA shows */
	uint32_t n_hidden;         /* ports with a link that it doesn't show */
	uint32_t n_lent;           /* of these, with one that is known otherwise */
	uint32_t n_known_nodes;    /* that this host found otherwise; 0: not known */
};

/* NULL when memory is short. */
struct triad_sa_source *triad_sa_source_new(uint64_t port_guid,
	const struct triad_sa_source_user *user, struct triad_log *log);

/* Ends the thread, in a second or so.  Accepts NULL. */
void triad_sa_source_free(struct triad_sa_source *source);

void triad_sa_source_want(
	struct triad_sa_source *source, enum triad_sa_source_wish wish);

/* The SM_Key, from the next time on; 0: P_Keys are not asked for. */
void triad_sa_source_set_key(struct triad_sa_source *source, uint64_t sm_key);

/* What this host discovered of the fabric itself, referenced; NULL: nothing.  It
 * supplies P_Keys that the SA lacks.  If 'is_fresh', it also supplies links, unless the
 * SA has reported something since. */
void triad_sa_source_set_known(
	struct triad_sa_source *source, struct triad_fabric *known, bool is_fresh);

struct triad_sa_source_status triad_sa_source_status(struct triad_sa_source *source);

#endif
