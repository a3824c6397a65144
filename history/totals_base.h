/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What totals of counters are counted from.
 *
 * Two totals of a port may be subtracted only if one process has counted both, and none was
 * set to 0 in between: another SM, a restart and 'perf clear totals' begin anew, with what the
 * hardware's counter has then. The difference would be growth that never was. */
#ifndef TRIAD_HISTORY_TOTALS_BASE_H
#define TRIAD_HISTORY_TOTALS_BASE_H

#include <stdbool.h>
#include <stdint.h>

/* Times are of the wall clock, in us; started_us in whole milliseconds. */
struct triad_totals_base {
	uint64_t port_guid;  /* of the SM that counted */
	uint64_t started_us; /* its process; 0: not known */
	uint64_t zeroed_us;  /* when totals of any port were set to 0 last; 0: never */
};

/* Whether totals of 'before_us' and later ones, with 'now', have one base. */
static inline bool triad_totals_are_of_one(const struct triad_totals_base *before,
	uint64_t before_us, const struct triad_totals_base *now)
{
	return before->port_guid == now->port_guid && before->started_us &&
		before->started_us == now->started_us && now->zeroed_us <= before_us;
}

#endif
