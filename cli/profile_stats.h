/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sums up profiles row by row.
 *
 * Model: totals become changes, and each change has an interval:
 *
 *     A port that was left out because it changed too little (min_change) has a row
 *     again when it changed more.  Of that change, at most min_change belongs to the
 *     sweeps that left it out, and the rest to the last interval.  If the link can't
 *     carry the rest in that time, the port had not answered, and the change is spread
 *     from its last row on.
 *
 *     Totals that went down, or whose collector began anew, are a restart: the change
 *     between is unknown and counts nothing.  So no change is negative.
 *
 * A collector is identified by its port GUID.  If its start goes back to an earlier
 * one, it is another collector: older agents below a manager all wrote the GUID of the
 * manager's SM.
 *
 * When several collectors write a port at one time, the first one's rows count;
 * another's count when the first has had no sweep for three of its periods.
 *
 * Traffic over time is the data that all ports sent, in at most TRIAD_STATS_BINS bins;
 * when these run out, pairs are merged and each bin doubles its width.  So memory
 * depends on ports, not on time.  A packet is counted once on each link of its route.
 *
 * Means are over the time from a port's first row to its collector's last sweep,
 * without restarts; peaks over one interval.
 *
 * A gap: two whole sweeps of a collector lie more than twice the usual interval apart.
 * Usual is the upper quartile of its last nine intervals, but not less than the period
 * that the file gives.  If it gives none, an interval that occurs again counts as a new
 * period.
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

enum { TRIAD_STATS_XMIT, TRIAD_STATS_RCV, TRIAD_STATS_WAYS };

struct triad_stats_port {
	uint64_t node_guid, remote_guid; /* of the last row; remote 0: none */
	uint64_t first_us, last_us;      /* of its rows, wall clock */
	uint64_t observed_us;            /* that 'words' took */
	uint64_t last[TRIAD_STATS_WAYS]; /* totals */
	uint64_t words[TRIAD_STATS_WAYS];
	double peak[TRIAD_STATS_WAYS]; /* words a second */
	uint64_t peak_us[TRIAD_STATS_WAYS];
	uint32_t mbps;
	uint32_t epoch; /* of the process that wrote its last row */
	uint16_t collector;
	uint8_t port, remote_port;
	bool has_totals; /* both ways */
};

struct triad_stats_gap {
	unsigned collector;
	uint64_t from_us, to_us;
	uint64_t n_missing; /* sweeps, about */
};

struct triad_stats_collector {
	uint64_t sm_guid; /* 0: not said */
	uint64_t started_us;
	uint64_t first_us, last_us; /* of its frames */
	uint64_t last_all_us;       /* of those of all ports; 0: none yet */
	uint64_t min_change_words;  /* UINT64_MAX: not said */
	uint64_t n_frames, n_restarts;
	uint64_t intervals_us[9]; /* between frames of all ports, in turn */
	uint32_t n_intervals;
	uint64_t period_us;             /* as it says; 0: it doesn't */
	struct triad_stats_gap suspect; /* the last interval, if it may be one */
	bool is_shared;                 /* others say its GUID, too */
};

struct triad_stats {
	uint64_t first_us, last_us;            /* of all frames; 0: there was none */
	uint64_t n_frames, n_rows, n_repeated; /* rows of another collector as well */
	uint64_t n_zeroed;                     /* totals of one port that went down */

	uint64_t bin_us, n_bins;       /* a bin's width, and those that are in use */
	double bins[TRIAD_STATS_BINS]; /* words, from first_us on */

	unsigned n_collectors;
	struct triad_stats_collector collectors[TRIAD_STATS_MAX_COLLECTORS];
	uint64_t n_gaps;
	struct triad_stats_gap gaps[TRIAD_STATS_MAX_GAPS]; /* the first ones */

	struct triad_stats_port *ports; /* sorted after triad_stats_end() */
	size_t n_ports;
	uint32_t *slots; /* by hash: index + 1, or 0 */
	size_t n_slots;
	unsigned collector;  /* of the section that is read */
	uint64_t since_us;   /* of its collector's frame of all ports before it */
	uint64_t section_us; /* its time, once known; 0: not yet */
	struct triad_profile_info info;
};

/* NULL when memory is short. */
struct triad_stats *triad_stats_new(void);
void triad_stats_free(struct triad_stats *stats);

/* A section begins, with this comment or (NULL) without one. */
int triad_stats_begin(struct triad_stats *stats, const struct triad_profile_info *info);

/* Returns 0, ENOMEM or EOVERFLOW (ports or collectors). */
int triad_stats_add(struct triad_stats *stats, const struct triad_profile_row *row);

/* All was read: adds the time since each port's last row, and sorts the ports. */
void triad_stats_end(struct triad_stats *stats);

/* After triad_stats_end(); NULL: there is none. */
const struct triad_stats_port *triad_stats_find(
	const struct triad_stats *stats, uint64_t guid, uint8_t port);

/* The mean of the fabric's traffic in bin 'i', in bits per second; the last bin is as
 * long as there are frames. */
double triad_stats_bin_bps(const struct triad_stats *stats, uint64_t i);
/* Octets that all ports sent. */
double triad_stats_octets(const struct triad_stats *stats);

#endif
