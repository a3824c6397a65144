/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The topology from the SA, kept fresh by its reports of ports that come and go.
 *
 * A thread asks the master's subnet administration for its tables and subscribes to
 * reports.  It reads the tables again when a report comes, when this port's own P_Keys
 * change (service/sa_pace.h decides how soon), and once a minute without a cause.  An
 * owner that has the topology from elsewhere can have the reports only.  A report whose
 * sender is not the SM's LID is ignored.
 *
 * The thread also asks for P_Key tables, with the SM_Key.  If the SA refuses them, the
 * fabric has none, and the thread asks again after 10 minutes.  An SA shows only what
 * shares a partition with this port, and hides a link between two limited members; the
 * status counts such links.  Links that this host discovered itself replace hidden ones
 * until a port comes or goes, for an hour at most.
 *
 * The thread is there while there is a request.
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

enum triad_sa_source_use {
	TRIAD_SA_NOTHING,
	TRIAD_SA_REPORTS, /* only */
	TRIAD_SA_TABLES,  /* with reports, so that tables are read again */
};

/* Called from the source's thread. */
struct triad_sa_source_user {
	void *context;
	/* Receives a fabric made of the tables; takes a reference to keep it.  The
	 * status includes it already. */
	void (*take)(void *context, struct triad_fabric *fabric);
	/* Called when ports came or went a moment ago; for TRIAD_SA_REPORTS. */
	void (*received)(void *context);
};

struct triad_sa_source_status {
	bool active;
	bool subscribed;
	uint64_t n_refreshes; /* readings of all tables */
	uint64_t n_failed;
	uint64_t n_reports;         /* of ports that came or went */
	uint64_t n_unknown_senders; /* reports whose sender is not the SM */
	int error;                  /* of the last try; 0: none */
	int pkeys_error; /* of the last try to get P_Keys; 0: none; ENOKEY: no key */
	uint32_t n_nodes, n_ports; /* that the SA shows */
	uint32_t n_hidden;         /* ports whose link it doesn't show */
	uint32_t n_discovered;     /* of these, ports whose link this host discovered */
	uint32_t n_known_nodes;    /* that this host discovered; 0: not known */
};

/* NULL when memory is short. */
struct triad_sa_source *triad_sa_source_new(uint64_t port_guid,
	const struct triad_sa_source_user *user, struct triad_log *log);

/* Ends the thread, in a second or so.  Accepts NULL. */
void triad_sa_source_free(struct triad_sa_source *source);

void triad_sa_source_want(struct triad_sa_source *source, enum triad_sa_source_use use);

/* Sets the SM_Key for the next requests; 0: does not ask for P_Keys. */
void triad_sa_source_set_key(struct triad_sa_source *source, uint64_t sm_key);

/* Adds a reference to the fabric that this host discovered itself; NULL: none.  It
 * supplies P_Keys that the SA lacks.  If 'is_fresh', it also supplies links, unless the
 * SA has reported a change since. */
void triad_sa_source_set_known(
	struct triad_sa_source *source, struct triad_fabric *known, bool is_fresh);

struct triad_sa_source_status triad_sa_source_status(struct triad_sa_source *source);

#endif
