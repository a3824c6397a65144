/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes a port's table of paths (ib/path_table.h) from an answer snapshot.
 *
 * Model: each row is the answer to a PathRecord request of the port itself: from its
 * base LID to one LID, reversible, without Service-ID, TClass, QoS class or P_Key.  The
 * row has no path if OpenSM must answer (answer.h: FALLBACK) or no path is allowed.
 *
 * Thread-safety: any number of threads.  Memory: the table. */
#ifndef TRIAD_QOS_PATH_ROWS_H
#define TRIAD_QOS_PATH_ROWS_H

#include "ib/path_table.h"
#include "qos/answer.h"

/* Takes about a microsecond for each LID of the subnet.  Returns 0 and a table with one
 * reference; ENOENT: no end port with a LID has that GUID; ENOMEM. */
int triad_path_rows_make(const struct triad_answer_snapshot *snapshot, uint64_t guid,
	struct triad_path_table **table);

#endif
