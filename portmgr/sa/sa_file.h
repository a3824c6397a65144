/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The records of an SA as the file that OpenSM restores its SA from (opensm.conf:
 * sa_db_file): a line each, of the form that opensm-sa.dump has.
 *
 * Order: aliases first, for members may be known by one; of groups first IPoIB's broadcast
 * groups, without which OpenSM refuses IPoIB's others; behind each group its members, a
 * port's own GUID before its aliases, or OpenSM would skip it.
 *
 * What OpenSM could misread is left out and counted: a service's name with a line feed, or
 * with both kinds of quotes, or of 64 octets.
 *
 * Leases end by the wall clock of who reads the file, which is that of who writes it.
 *
 * Thread-safety: functions without state.  Memory: a pointer for each record. */
#ifndef TRIAD_PORTMGR_SA_FILE_H
#define TRIAD_PORTMGR_SA_FILE_H

#include "portmgr/sa/sa_set.h"

struct triad_sa_file_conf {
	uint64_t now_s;   /* the wall clock here */
	int64_t ahead_us; /* that of who had the records, before ours */
	/* Whether OpenSM here has room for a block of aliases of that port: it does not
	 * look itself.  NULL: it has. */
	void *context;
	bool (*has_room)(void *context, const struct triad_sa_guids *guids);
	/* Some lines.  Returns 0 or an errno, which ends the writing. */
	int (*write)(void *context, const char *text, size_t size);
};

/* Returns 0, ENOMEM, or what 'write' returned; '*n_left_out' are records. */
int triad_sa_file_write(const struct triad_sa_set *set,
	const struct triad_sa_file_conf *conf, uint32_t *n_left_out);

#endif
