/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes the records of an SA as the file from which OpenSM restores its SA
 * (opensm.conf: sa_db_file): a line each, in the form of opensm-sa.dump.
 *
 * Order: aliases come first, because members may be known by an alias.  Of the groups,
 * IPoIB's broadcast groups come first: without them OpenSM refuses IPoIB's other
 * groups.  Each group is followed by its members, a port's own GUID before its aliases;
 * otherwise OpenSM would skip it.
 *
 * Records that OpenSM could misread are left out and counted: services whose name has a
 * line feed or carriage return, both kinds of quotes, or 64 octets.
 *
 * Leases end by the wall clock of the reader of the file, which is the writer's, too.
 *
 * Thread-safety: functions without state.  Memory: a pointer for each record. */
#ifndef TRIAD_PORTMGR_SA_FILE_H
#define TRIAD_PORTMGR_SA_FILE_H

#include "portmgr/sa/sa_set.h"

struct triad_sa_file_conf {
	uint64_t now_s;   /* the wall clock here */
	int64_t ahead_us; /* how far the clock of the records' owner is ahead of ours */
	/* Whether OpenSM here has room for a block of aliases of that port; OpenSM does
	 * not check that itself.  NULL: it has. */
	void *context;
	bool (*has_room)(void *context, const struct triad_sa_guids *guids);
	/* Writes some lines.  Returns 0 or an errno, which ends the writing. */
	int (*write)(void *context, const char *text, size_t size);
};

/* Returns 0, ENOMEM, or what 'write' returned; '*n_left_out' counts records left
 * out. */
int triad_sa_file_write(const struct triad_sa_set *set,
	const struct triad_sa_file_conf *conf, uint32_t *n_left_out);

#endif
