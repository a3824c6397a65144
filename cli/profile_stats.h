/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sums up profiles row by row.
 *
 * Model: totals become changes, and each change has an interval:
 *
 *     A sweep leaves out a port that changed by less than min_change.  When the port has
 *     a row again, at most min_change of its change belongs to the sweeps that left it
 *     out, and the rest to the last interval.  If the link can't carry the rest in that
 *     time, the port had not answered: then the change is spread over the time since its
 *     last row.
 *
 *     If a total goes down, or its collector has restarted, the change since the last row
 *     is unknown and ignored.  So no change is negative.
 *
 * A collector is identified by its port GUID.  If its start time goes back to an
 * earlier one, it is another collector: older agents below a manager all wrote the GUID
 * of the manager's SM.
 *
 * When several collectors write a port at one time, only the first one's rows count,
 * unless the first has had no sweep for three of its periods.
 *
 * Traffic over time is the data that all ports sent, in at most TRIAD_STATS_BINS bins;
 * when these run out, pairs are merged and each bin doubles its width.  So memory
 * depends on ports, not on time.  A packet is counted once on each link of its route.
 *
 * Means are over the time from a port's first row to its collector's last sweep,
 * without restarts; peaks over one interval.
 *
 * A gap is an interval between two whole sweeps of a collector of more than twice the
 * usual one.  The usual interval is the upper quartile of its last nine, but not less
 * than the period that the file gives.  If it gives none, an interval that occurs again
 * counts as a new period.
 *
 * Thread-safety: none.
 * Memory: 136 octets a port, half of it in reserve, at most TRIAD_FABRIC_MAX_PORTS of
 * them, checked; 200 kB more. */
#ifndef TRIAD_CLI_PROFILE_STATS_H
#define TRIAD_CLI_PROFILE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/formats/profile.h"

#define TRIAD_STATS_BINS 512
#define TRIAD_STATS_MAX_COLLECTORS 1024
#define TRIAD_STATS_MAX_GAPS 100

enum { TRIAD_STATS_XMIT, TRIAD_STATS_RCV, TRIAD_STATS_DIRECTIONS };

struct triad_stats_port {
	uint64_t node_guid, remote_guid;       /* of the last row; remote 0: none */
	uint64_t first_us, last_us;            /* of its rows, wall clock */
	uint64_t observed_us;                  /* time in which 'words' were counted */
	uint64_t last[TRIAD_STATS_DIRECTIONS]; /* totals */
	uint64_t words[TRIAD_STATS_DIRECTIONS];
	double peak[TRIAD_STATS_DIRECTIONS]; /* words a second */
	uint64_t peak_us[TRIAD_STATS_DIRECTIONS];
	uint32_t mbps;
	uint32_t epoch; /* of the process that wrote its last row */
	uint16_t collector;
	uint8_t port, remote_port;
	bool has_totals; /* of both directions */
};

struct triad_stats_gap {
	unsigned collector;
	uint64_t from_us, to_us;
	uint64_t n_missing; /* sweeps, about */
};

struct triad_stats_collector {
	uint64_t sm_guid; /* 0: not given */
	uint64_t started_us;
	uint64_t first_us, last_us; /* of its frames */
	uint64_t last_all_us;       /* of frames with all ports; 0: none yet */
	uint64_t min_change_words;  /* UINT64_MAX: not given */
	uint64_t n_frames, n_restarts;
	uint64_t intervals_us[9]; /* between frames of all ports; a ring */
	uint32_t n_intervals;
	uint64_t period_us;             /* that the file gives; 0: none */
	struct triad_stats_gap suspect; /* the last interval, if it may be a gap */
	bool is_shared;                 /* other collectors have the same GUID */
};

struct triad_stats {
	uint64_t first_us, last_us; /* of all frames; 0: there was none */
	uint64_t n_frames, n_rows;
	uint64_t n_repeated; /* rows that another collector has, too */
	uint64_t n_zeroed;   /* totals of one port that went down */

	uint64_t bin_us, n_bins;       /* a bin's width; bins in use */
	double bins[TRIAD_STATS_BINS]; /* words, from first_us on */

	unsigned n_collectors;
	struct triad_stats_collector collectors[TRIAD_STATS_MAX_COLLECTORS];
	uint64_t n_gaps;
	struct triad_stats_gap gaps[TRIAD_STATS_MAX_GAPS]; /* the first ones */

	struct triad_stats_port *ports; /* sorted after triad_stats_end() */
	size_t n_ports;
	uint32_t *slots; /* by hash: index + 1, or 0 */
	size_t n_slots;
	unsigned collector; /* of the section that is read */
	uint64_t since_us;  /* time of the collector's last frame of all ports before */
	uint64_t section_us; /* time of the section; 0: not known yet */
	struct triad_profile_info info;
};

/* NULL when memory is short. */
struct triad_stats *triad_stats_new(void);
void triad_stats_free(struct triad_stats *stats);

/* Begins a section, with this comment or (NULL) without one. */
int triad_stats_begin(struct triad_stats *stats, const struct triad_profile_info *info);

/* Returns 0, ENOMEM or EOVERFLOW (ports or collectors). */
int triad_stats_add(struct triad_stats *stats, const struct triad_profile_row *row);

/* After the last row: adds the time since each port's last row, and sorts the ports. */
void triad_stats_end(struct triad_stats *stats);

/* After triad_stats_end(); NULL: there is none. */
const struct triad_stats_port *triad_stats_find(
	const struct triad_stats *stats, uint64_t guid, uint8_t port);

/* The mean of the fabric's traffic in bin 'i', in bits per second; the last bin ends
 * with the last frame. */
double triad_stats_bin_bps(const struct triad_stats *stats, uint64_t i);
/* Octets that all ports sent. */
double triad_stats_octets(const struct triad_stats *stats);

#endif
