/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rows of commands that list what each port or node has, as images keep them.
 *
 * What such a command answers is too long for each image (history/output.h), and hardly
 * ever changes.  So images keep its rows (lib/kept_list.h), in octets that the command's own
 * code writes and reads; those that are not key images keep the rows that differ from the
 * key's row in the same place:
 *
 *     # triad-list NAME N          it has N rows
 *     # triad-list-rows HEX        of them: place (4 octets), size (2), octets; in lines
 *                                  that are filled without regard to where a row ends
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
/* Of a name; TRIAD_N_KEPT: there is none. */
enum triad_kept_kind triad_kept_find(const char *name);
/* Whether all its rows differ in each image. */
bool triad_kept_is_fluid(enum triad_kept_kind kind);

#endif
