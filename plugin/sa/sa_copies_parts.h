/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of sa_copies.h, for its own files:
 *
 *     sa_copies.c        life, thread, roles, what comes and goes
 *     sa_copies_file.c   the file */
#ifndef TRIAD_PLUGIN_SA_COPIES_PARTS_H
#define TRIAD_PLUGIN_SA_COPIES_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "lib/inbox.h"
#include "lib/task.h"
#include "plugin/sa/sa_copies.h"
#include "plugin/sa/sa_restore.h"
#include "plugin/sa/sa_snapshot.h"
#include "portmgr/sa/sa_role.h"
#include "triad/file.h"

/* The file, and facts about its contents. */
struct copies_file {
	char path[2 * TRIAD_CONF_PATH_SIZE]; /* "": none yet */
	bool is_there;
	bool is_own; /* of this SM's time as master, maybe in an earlier process */
	uint64_t confirmed_us; /* when it last had what the master's SA had */
	uint64_t digest;       /* of its records */
	uint32_t n_members;    /* of groups, in it */
	uint64_t since_us;     /* ignore copies that were complete before this time */
	uint64_t due_us;       /* do not write before this time */
	uint64_t touch_us;     /* when to mark it as of now again */
	uint64_t fewer_us;     /* since when the copy lacks many of the members; 0: it
			     * does not */
	struct triad_file_report report;
};

struct triad_sa_copies {
	struct osm_opensm *osm;
	uint64_t port_guid;
	struct triad_elector *elector;
	struct triad_log *log;
	struct triad_sa_restore *restore;
	atomic_bool is_up; /* left by OpenSM's thread */

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	const struct triad_conf *conf; /* referenced; NULL: none yet */
	bool is_wanted;                /* accept payloads */
	bool has_view;
	struct triad_inbox inbox;
	struct triad_sa_copies_status status;

	/* Of the thread alone. */
	struct triad_sa_copier *copier; /* NULL: off */
	uint32_t rate_octets_s;         /* the rate that the copier was made with */
	struct triad_sa_snapshot snapshot;
	uint64_t look_us; /* when to look at the SA again */
	bool has_records; /* the SA was read since this SM became the sender */
	struct triad_sa_past past;
	uint64_t complete_us;
	struct copies_file file;
	struct triad_outbox outbox; /* payloads that the transport did not take yet */
	struct triad_release release;
	struct triad_sa_copies_status draft; /* the status to publish after a step */
};

/* --- sa_copies_file.c: from the thread --- */

/* Takes the file's name from the configuration; removes a file with another name.  If
 * copying 'is_on', names a file that an earlier process left lately to OpenSM. */
void copies_file_name(
	struct triad_sa_copies *copies, const struct triad_conf *conf, bool is_on);
/* Writes the file, names it to OpenSM or withdraws it, as the copier's state
 * requires. */
void copies_file_look(struct triad_sa_copies *copies, uint64_t now_us);
/* Withdraws and removes it. */
void copies_file_forget(struct triad_sa_copies *copies);

#endif
