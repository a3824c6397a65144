/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rows of commands that list a fact of each port or node, as images keep them.
 *
 * The answer of such a command is too long for each image (history/output.h), and
 * rarely changes.  So images keep its rows (lib/kept_list.h), as octets that the
 * command's own code writes and reads.  Images that are not keys keep only the rows
 * that differ from the key's row at the same index:
 *
 *     # triad-list NAME N          it has N rows
 *     # triad-list-rows HEX        rows: index (4 octets), size (2), octets; a row may
 *                                  continue on the next line
 *     # triad-no-list NAME WHY     there was nothing to list
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_HISTORY_KEPT_H
#define TRIAD_HISTORY_KEPT_H

#include "lib/kept_list.h"

enum triad_kept_kind {
	TRIAD_KEPT_PORTS,      /* 'port list': portmgr/plan/port_row.h */
	TRIAD_KEPT_TABLES,     /* 'qos tables': qos/setup/kept_tables.h */
	TRIAD_KEPT_OWNERS,     /* 'agents owner': collect/kept_owners.h */
	TRIAD_KEPT_HISTOGRAMS, /* 'perf histogram': collect/gather.h */
	TRIAD_N_KEPT
};

/* "ports", as in lines. */
const char *triad_kept_name(enum triad_kept_kind kind);
/* The kind with that name; TRIAD_N_KEPT: there is none. */
enum triad_kept_kind triad_kept_find(const char *name);
/* Whether usually all its rows change from image to image. */
bool triad_kept_is_fluid(enum triad_kept_kind kind);

#endif
