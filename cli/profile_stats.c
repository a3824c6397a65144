/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/profile_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/search.h"
#include "triad/clock.h"
#include "triad/fabric.h"

#define FIRST_BIN_US TRIAD_US_PER_S
#define FIRST_SLOTS 1024u
#define N_INTERVALS 9
#define OCTETS_PER_WORD 4
#define BITS_PER_WORD 32

/* Measured rates may be a little above a link's limit: times are in milliseconds, and a
 * sweep does not read all ports at the same instant. */
#define LINK_SLACK 1.05

/* A collector counts as ended after so long without a sweep: three of its periods, or
 * ten minutes if the period is not known. */
#define PERIODS_TO_END 3
#define UNKNOWN_END_US (600 * TRIAD_US_PER_S)

struct triad_stats *triad_stats_new(void)
{
	struct triad_stats *stats = calloc(1, sizeof(*stats));

	if (stats)
		stats->bin_us = FIRST_BIN_US;
	return stats;
}

void triad_stats_free(struct triad_stats *stats)
{
	if (!stats)
		return;
	free(stats->ports);
	free(stats->slots);
	free(stats);
}

/* --- traffic over time --- */

static void double_bins(struct triad_stats *stats)
{
	for (unsigned i = 0; i < TRIAD_STATS_BINS; i++) {
		double sum = 2 * i + 1 < TRIAD_STATS_BINS
			? stats->bins[2 * i] + stats->bins[2 * i + 1]
			: 0;

		stats->bins[i] = sum;
	}
	stats->bin_us *= 2;
	stats->n_bins = (stats->n_bins + 1) / 2;
}

/* The bin of a time; doubles the width of all bins until the time has one.  A time
 * before the first frame, when a clock went back, belongs to the first bin. */
static uint64_t bin_of(struct triad_stats *stats, uint64_t time_us)
{
	uint64_t at = time_us > stats->first_us ? time_us - stats->first_us : 0;

	while (at / stats->bin_us >= TRIAD_STATS_BINS)
		double_bins(stats);
	if (at / stats->bin_us >= stats->n_bins)
		stats->n_bins = at / stats->bin_us + 1;
	return at / stats->bin_us;
}

/* Spreads words evenly from one time to another. */
static void add_to_bins(
	struct triad_stats *stats, uint64_t from_us, uint64_t to_us, double words)
{
	/* The last bin first: it may double the width of all, which moves the first. */
	uint64_t last = bin_of(stats, to_us), first = bin_of(stats, from_us);
	double span_us = (double)(to_us - from_us);

	if (!words)
		return;
	if (first >= last) {
		stats->bins[last] += words;
		return;
	}
	for (uint64_t i = first; i <= last; i++) {
		uint64_t begin_us = stats->first_us + i * stats->bin_us;
		uint64_t end_us = begin_us + stats->bin_us;

		begin_us = begin_us > from_us && i != first ? begin_us : from_us;
		end_us = end_us < to_us ? end_us : to_us;
		stats->bins[i] += words * (double)(end_us - begin_us) / span_us;
	}
}

/* --- collectors --- */

/* The usual interval; 0: not known yet.  The upper quartile, because a sweep that a
 * user requests makes two short intervals. */
static uint64_t usual_interval_us(const struct triad_stats_collector *collector)
{
	unsigned n = collector->n_intervals < N_INTERVALS ? collector->n_intervals
							  : N_INTERVALS;
	uint64_t sorted[N_INTERVALS], usual_us;

	if (!n)
		return collector->period_us;
	memcpy(sorted, collector->intervals_us, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), triad_order_u64);
	usual_us = sorted[n * 3 / 4];
	return usual_us > collector->period_us ? usual_us : collector->period_us;
}

/* Whether an entry is that of a process: the same GUID, unless it is shared or the
 * entry's process began later. */
static bool is_entry_of(const struct triad_stats_collector *collector,
	const struct triad_profile_info *info)
{
	if (collector->sm_guid != info->sm_guid)
		return false;
	if (collector->started_us == info->started_us || !info->started_us)
		return true;
	return !collector->is_shared && collector->started_us < info->started_us;
}

/* Marks entries of a GUID as shared: a process that began earlier writes it, too, so
 * what looked like a restart was another process.  Returns whether there are such
 * entries. */
static bool note_shared(struct triad_stats *stats, uint64_t sm_guid)
{
	bool is_shared = false;

	for (unsigned i = 0; i < stats->n_collectors; i++) {
		struct triad_stats_collector *collector = &stats->collectors[i];

		if (collector->sm_guid != sm_guid)
			continue;
		collector->is_shared = is_shared = true;
		collector->n_restarts -= collector->n_restarts > 0;
	}
	return is_shared;
}

static int find_collector(
	struct triad_stats *stats, const struct triad_profile_info *info)
{
	unsigned i;

	for (i = 0; i < stats->n_collectors; i++)
		if (is_entry_of(&stats->collectors[i], info))
			break;
	stats->collector = i;
	if (i < stats->n_collectors)
		return 0;
	if (i == TRIAD_STATS_MAX_COLLECTORS)
		return EOVERFLOW;
	stats->collectors[i] = (struct triad_stats_collector){.sm_guid = info->sm_guid,
		.is_shared = note_shared(stats, info->sm_guid)};
	stats->n_collectors++;
	return 0;
}

static void keep_gap(struct triad_stats *stats, const struct triad_stats_gap *gap)
{
	if (stats->n_gaps < TRIAD_STATS_MAX_GAPS)
		stats->gaps[stats->n_gaps] = *gap;
	stats->n_gaps++;
}

static bool are_alike(uint64_t a, uint64_t b)
{
	return a > b ? a - b < b / 4 : b - a < a / 4;
}

/* Counts the suspect interval as a gap, unless the next one is as long. */
static void judge_suspect(struct triad_stats *stats,
	struct triad_stats_collector *collector, uint64_t interval_us)
{
	const struct triad_stats_gap *suspect = &collector->suspect;

	if (suspect->n_missing && !collector->period_us &&
		are_alike(interval_us, suspect->to_us - suspect->from_us))
		collector->n_intervals = 0;
	else if (suspect->n_missing)
		keep_gap(stats, suspect);
	collector->suspect.n_missing = 0;
}

static void note_interval(struct triad_stats *stats,
	struct triad_stats_collector *collector, uint64_t time_us)
{
	uint64_t interval_us = time_us - collector->last_all_us, usual_us;

	judge_suspect(stats, collector, interval_us);
	usual_us = usual_interval_us(collector);
	if (usual_us && interval_us > 2 * usual_us)
		collector->suspect = (struct triad_stats_gap){
			.collector = stats->collector,
			.from_us = collector->last_all_us,
			.to_us = time_us,
			.n_missing = (interval_us + usual_us / 2) / usual_us - 1,
		};
	collector->intervals_us[collector->n_intervals++ % N_INTERVALS] = interval_us;
}

/* Begins a section at its time, which its comment or first row gives. */
static void begin_section(struct triad_stats *stats, uint64_t time_us)
{
	struct triad_stats_collector *collector = &stats->collectors[stats->collector];
	const struct triad_profile_info *info = &stats->info;

	stats->section_us = time_us;
	if (!stats->n_frames++)
		stats->first_us = time_us;
	if (time_us > stats->last_us)
		stats->last_us = time_us;
	/* Extend the bins to this sweep, even if it adds nothing. */
	bin_of(stats, time_us);
	/* A restart, unless this is the first section of the collector. */
	if (info->started_us != collector->started_us) {
		collector->n_restarts += collector->n_frames > 0;
		collector->started_us = info->started_us;
	}
	if (!collector->n_frames++)
		collector->first_us = time_us;
	collector->last_us = time_us;
	collector->min_change_words = info->min_change_octets == UINT64_MAX
		? UINT64_MAX
		: info->min_change_octets / OCTETS_PER_WORD;
	stats->since_us = collector->last_all_us;
	if (info->sweep == TRIAD_PROFILE_SWEEP_PART)
		return;
	/* A changed period may be that of this interval or of the next one, so use the
	 * longer of the two. */
	if (info->period_us > collector->period_us)
		collector->period_us = info->period_us;
	if (collector->last_all_us && time_us > collector->last_all_us)
		note_interval(stats, collector, time_us);
	collector->period_us = info->period_us;
	collector->last_all_us = time_us;
}

int triad_stats_begin(struct triad_stats *stats, const struct triad_profile_info *info)
{
	static const struct triad_profile_info nothing = {
		.min_change_octets = UINT64_MAX};
	int error;

	stats->info = info ? *info : nothing;
	stats->section_us = 0;
	error = find_collector(stats, &stats->info);
	if (!error && stats->info.time_us)
		begin_section(stats, stats->info.time_us);
	return error;
}

/* --- ports --- */

/* The start of a process in milliseconds, modulo 2^32. */
static uint32_t epoch_of(uint64_t started_us)
{
	return (uint32_t)(started_us / 1000);
}

static uint32_t *find_port_slot(
	const struct triad_stats *stats, uint64_t guid, uint8_t port)
{
	size_t at = triad_hash_word((uint64_t)port << 56, guid) & (stats->n_slots - 1);

	/* The loop ends: at least half of the slots are free. */
	while (stats->slots[at]) {
		const struct triad_stats_port *there =
			&stats->ports[stats->slots[at] - 1];

		if (there->node_guid == guid && there->port == port)
			break;
		at = (at + 1) & (stats->n_slots - 1);
	}
	return &stats->slots[at];
}

/* Grows the tables so that at least half of the slots are free. */
static int grow_tables(struct triad_stats *stats)
{
	size_t n = stats->n_slots ? 2 * stats->n_slots : FIRST_SLOTS;
	struct triad_stats_port *ports;
	uint32_t *slots;

	if (2 * (stats->n_ports + 1) <= stats->n_slots)
		return 0;
	if (stats->n_ports >= TRIAD_FABRIC_MAX_PORTS)
		return EOVERFLOW;
	ports = realloc(stats->ports, n / 2 * sizeof(*ports));
	if (!ports)
		return ENOMEM;
	stats->ports = ports;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return ENOMEM;
	free(stats->slots);
	stats->slots = slots;
	stats->n_slots = n;
	for (size_t i = 0; i < stats->n_ports; i++)
		*find_port_slot(stats, ports[i].node_guid, ports[i].port) =
			(uint32_t)i + 1;
	return 0;
}

static int find_or_add_port(struct triad_stats *stats,
	const struct triad_profile_row *row, struct triad_stats_port **port)
{
	int error = grow_tables(stats);
	uint32_t *slot;

	if (error)
		return error;
	slot = find_port_slot(stats, row->node_guid, row->port);
	if (!*slot) {
		stats->ports[stats->n_ports] = (struct triad_stats_port){
			.node_guid = row->node_guid,
			.port = row->port,
			.first_us = row->time_us,
			.collector = (uint16_t)stats->collector,
			.epoch = epoch_of(stats->info.started_us),
		};
		*slot = (uint32_t)++stats->n_ports;
	}
	*port = &stats->ports[*slot - 1];
	return 0;
}

/* --- changes --- */

/* When the main part of a change began: see the header. */
static uint64_t begin_of_change(const struct triad_stats *stats,
	const struct triad_stats_port *port,
	const uint64_t change[TRIAD_STATS_DIRECTIONS], uint64_t time_us)
{
	const struct triad_stats_collector *collector =
		&stats->collectors[stats->collector];
	/* The most that the link can have carried since the last sweep, in words. */
	double most = (double)port->mbps * (double)(time_us - stats->since_us) /
		(8 * OCTETS_PER_WORD) * LINK_SLACK;

	if (stats->since_us <= port->last_us || stats->since_us >= time_us ||
		collector->min_change_words == UINT64_MAX)
		return port->last_us;
	for (unsigned direction = 0; port->mbps && direction < TRIAD_STATS_DIRECTIONS;
		direction++)
		if ((double)change[direction] >
			most + (double)collector->min_change_words)
			return port->last_us;
	return stats->since_us;
}

static double per_second(uint64_t words, uint64_t time_us)
{
	return (double)words * (double)TRIAD_US_PER_S / (double)time_us;
}

static void add_direction(struct triad_stats *stats, struct triad_stats_port *port,
	unsigned direction, uint64_t change, uint64_t begin_us, uint64_t time_us)
{
	uint64_t early = 0, min = stats->collectors[stats->collector].min_change_words;
	double rate, mean;

	/* At most min_change belongs to the sweeps that left the port out. */
	if (begin_us > port->last_us)
		early = change < min ? change : min;
	rate = per_second(change - early, time_us - begin_us);
	mean = per_second(change, time_us - port->last_us);
	/* A peak is at least the mean of the whole time. */
	rate = mean > rate ? mean : rate;
	port->words[direction] += change;
	if (rate > port->peak[direction]) {
		port->peak[direction] = rate;
		port->peak_us[direction] = begin_us;
	}
	/* Traffic over time is only what was sent: otherwise it would count twice. */
	if (direction != TRIAD_STATS_XMIT)
		return;
	add_to_bins(stats, port->last_us, begin_us, (double)early);
	add_to_bins(stats, begin_us, time_us, (double)(change - early));
}

/* Adds the change of a port's totals, which have counted without a restart. */
static void add_change(struct triad_stats *stats, struct triad_stats_port *port,
	const uint64_t totals[TRIAD_STATS_DIRECTIONS], uint64_t time_us)
{
	uint64_t change[TRIAD_STATS_DIRECTIONS], begin_us;

	for (unsigned direction = 0; direction < TRIAD_STATS_DIRECTIONS; direction++) {
		/* A user has set the totals to 0: the traffic before that is not
		 * known. */
		if (totals[direction] < port->last[direction]) {
			stats->n_zeroed++;
			return;
		}
		change[direction] = totals[direction] - port->last[direction];
	}
	if (time_us <= port->last_us) {
		/* The clock went back: the interval is not known. */
		for (unsigned direction = 0; direction < TRIAD_STATS_DIRECTIONS;
			direction++)
			port->words[direction] += change[direction];
		add_to_bins(stats, time_us, time_us, (double)change[TRIAD_STATS_XMIT]);
		return;
	}
	begin_us = begin_of_change(stats, port, change, time_us);
	for (unsigned direction = 0; direction < TRIAD_STATS_DIRECTIONS; direction++)
		add_direction(
			stats, port, direction, change[direction], begin_us, time_us);
	port->observed_us += time_us - port->last_us;
}

/* Whether the present collector's rows of a port count: several may write it. */
static bool owns_port(struct triad_stats *stats, struct triad_stats_port *port)
{
	const struct triad_stats_collector *owner = &stats->collectors[port->collector];
	uint64_t usual_us = usual_interval_us(owner);

	if (port->collector == stats->collector)
		return true;
	/* The owner entry is of this same process, from before its GUID was known to be
	 * shared. */
	if (owner->sm_guid == stats->info.sm_guid &&
		port->epoch == epoch_of(stats->info.started_us)) {
		port->collector = (uint16_t)stats->collector;
		return true;
	}
	if (stats->section_us <= owner->last_us +
			(usual_us ? PERIODS_TO_END * usual_us : UNKNOWN_END_US)) {
		stats->n_repeated++;
		return false;
	}
	port->collector = (uint16_t)stats->collector;
	port->has_totals = false;
	return true;
}

static void add_row(struct triad_stats *stats, struct triad_stats_port *port,
	const struct triad_profile_row *row)
{
	const uint64_t totals[TRIAD_STATS_DIRECTIONS] = {
		row->total[TRIAD_PORT_XMIT_DATA], row->total[TRIAD_PORT_RCV_DATA]};
	uint32_t epoch = epoch_of(stats->info.started_us);

	port->remote_guid = row->remote_guid;
	port->remote_port = row->remote_port;
	port->mbps = row->mbps;
	if ((row->has & TRIAD_PROFILE_DATA_COUNTERS) != TRIAD_PROFILE_DATA_COUNTERS)
		return;
	if (port->has_totals && port->epoch == epoch)
		add_change(stats, port, totals, row->time_us);
	port->has_totals = true;
	port->epoch = epoch;
	port->last_us = row->time_us;
	memcpy(port->last, totals, sizeof(port->last));
}

int triad_stats_add(struct triad_stats *stats, const struct triad_profile_row *row)
{
	struct triad_stats_port *port;
	int error;

	if (!stats->section_us)
		begin_section(stats, row->time_us);
	stats->n_rows++;
	error = find_or_add_port(stats, row, &port);
	if (!error && owns_port(stats, port))
		add_row(stats, port, row);
	return error;
}

/* --- the end --- */

static int compare_ports(const void *a, const void *b)
{
	const struct triad_stats_port *x = a, *y = b;

	if (x->node_guid != y->node_guid)
		return x->node_guid < y->node_guid ? -1 : 1;
	return x->port - y->port;
}

void triad_stats_end(struct triad_stats *stats)
{
	for (unsigned i = 0; i < stats->n_collectors; i++)
		if (stats->collectors[i].suspect.n_missing)
			keep_gap(stats, &stats->collectors[i].suspect);
	for (size_t i = 0; i < stats->n_ports; i++) {
		struct triad_stats_port *port = &stats->ports[i];
		const struct triad_stats_collector *collector =
			&stats->collectors[port->collector];

		/* The last sweeps have read a port without a row, too: it changed too
		 * little. */
		if (port->has_totals &&
			port->epoch == epoch_of(collector->started_us) &&
			collector->last_us > port->last_us)
			port->observed_us += collector->last_us - port->last_us;
	}
	if (stats->n_ports)
		qsort(stats->ports, stats->n_ports, sizeof(*stats->ports),
			compare_ports);
	free(stats->slots);
	stats->slots = NULL;
	stats->n_slots = 0;
}

const struct triad_stats_port *triad_stats_find(
	const struct triad_stats *stats, uint64_t guid, uint8_t port)
{
	const struct triad_stats_port key = {.node_guid = guid, .port = port};

	if (!stats->n_ports)
		return NULL;
	return bsearch(&key, stats->ports, stats->n_ports, sizeof(*stats->ports),
		compare_ports);
}

double triad_stats_bin_bps(const struct triad_stats *stats, uint64_t i)
{
	uint64_t begin_us = stats->first_us + i * stats->bin_us;
	/* The last bin may be shorter than the others. */
	uint64_t length_us = stats->last_us - begin_us < stats->bin_us
		? stats->last_us - begin_us
		: stats->bin_us;

	return length_us ? stats->bins[i] * BITS_PER_WORD * 1e6 / (double)length_us : 0;
}

double triad_stats_octets(const struct triad_stats *stats)
{
	double words = 0;

	for (uint64_t i = 0; i < stats->n_bins; i++)
		words += stats->bins[i];
	return words * OCTETS_PER_WORD;
}
