/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/profile_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "triad/clock.h"
#include "triad/json.h"

#define MAX_LINES 20 /* of traffic over time */
#define BAR_LENGTH 40

static const char row_format[] = "  %-18s %3u  %-18s %3u %7s %8.3f %8.3f %5s %8.3f "
				 "%8.3f %5s\n";

static double gbps(double bps)
{
	return bps / 1e9;
}

static double percent_of(double bps, uint32_t mbps)
{
	return bps * 100 / ((double)mbps * 1e6);
}

static void format_octets(double octets, char *text, size_t size)
{
	static const char *const units[] = {
		"octets", "kB", "MB", "GB", "TB", "PB", "EB"};
	unsigned unit = 0;

	while (octets >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		octets /= 1000;
		unit++;
	}
	snprintf(text, size, "%.*f %s", unit ? 1 : 0, octets, units[unit]);
}

static void format_guid(uint64_t guid, char text[20])
{
	if (guid)
		snprintf(text, 20, "0x%016" PRIx64, guid);
	else
		strcpy(text, "-");
}

static uint64_t n_restarts(const struct triad_stats *stats)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < stats->n_collectors; i++)
		n += stats->collectors[i].n_restarts;
	return n;
}

static void put_report_head(
	const struct triad_profile_report_data *report, struct triad_output *output)
{
	const struct triad_stats *stats = report->stats;
	char from[TRIAD_CLOCK_TEXT_SIZE], to[TRIAD_CLOCK_TEXT_SIZE], octets[32];

	triad_clock_format_s(stats->first_us, from);
	triad_clock_format_s(stats->last_us, to);
	format_octets(triad_stats_octets(report->stats), octets, sizeof(octets));
	triad_output_printf(output,
		"from              %s\n"
		"to                %s\n"
		"files             %u\n"
		"collectors        %u\n"
		"sweeps            %" PRIu64 "\n"
		"rows              %" PRIu64 "\n"
		"ports             %zu\n"
		"links             %zu\n"
		"traffic           %s\n"
		"gaps              %" PRIu64 "\n"
		"restarts          %" PRIu64 "\n"
		"totals gone down  %" PRIu64 "\n",
		from, to, report->n_files, stats->n_collectors, stats->n_frames,
		stats->n_rows, stats->n_ports, report->links->n_links, octets,
		stats->n_gaps, n_restarts(stats), stats->n_zeroed);
	if (stats->n_repeated)
		triad_output_printf(output,
			"read twice        %" PRIu64
			" rows, by another collector at the same time\n",
			stats->n_repeated);
}

/* --- traffic over time --- */

/* The mean of 'n' bins from 'first' on. */
static double mean_bps(
	const struct triad_profile_report_data *report, uint64_t first, uint64_t n)
{
	double sum = 0;
	uint64_t i;

	for (i = first; i < first + n && i < report->stats->n_bins; i++)
		sum += triad_stats_bin_bps(report->stats, i);
	return sum / (double)(i - first);
}

static void put_traffic(
	const struct triad_profile_report_data *report, struct triad_output *output)
{
	const struct triad_stats *stats = report->stats;
	/* Neighbouring bins share a line, so that there are MAX_LINES at most. */
	uint64_t n = (stats->n_bins + MAX_LINES - 1) / MAX_LINES;
	double most = 0;

	triad_output_printf(output, "\nTraffic of all ports over time, Gb/s\n");
	for (uint64_t i = 0; i < stats->n_bins; i += n)
		most = mean_bps(report, i, n) > most ? mean_bps(report, i, n) : most;
	for (uint64_t i = 0; i < stats->n_bins; i += n) {
		char time[TRIAD_CLOCK_TEXT_SIZE], bar[BAR_LENGTH + 1];
		double bps = mean_bps(report, i, n);
		size_t length = most > 0 ? (size_t)(bps / most * BAR_LENGTH + 0.5) : 0;

		triad_clock_format_s(stats->first_us + i * stats->bin_us, time);
		memset(bar, '#', sizeof(bar));
		bar[length < BAR_LENGTH ? length : BAR_LENGTH] = '\0';
		triad_output_printf(output, "  %s %12.3f  %s\n", time, gbps(bps), bar);
	}
}

/* --- links --- */

static void format_percent(double bps, uint32_t mbps, char text[16])
{
	if (mbps)
		snprintf(text, 16, "%.1f", percent_of(bps, mbps));
	else
		strcpy(text, "-");
}

static void put_link(struct triad_output *output, const struct triad_link *link)
{
	char a[20], b[20], speed[16] = "-", mean[16], peak[16];

	format_guid(link->guid[0], a);
	format_guid(link->guid[1], b);
	if (link->mbps)
		snprintf(speed, sizeof(speed), "%g", (double)link->mbps / 1000);
	format_percent(triad_link_mean_bps(link), link->mbps, mean);
	format_percent(triad_link_peak_bps(link), link->mbps, peak);
	triad_output_printf(output, row_format, a, link->port[0], b, link->port[1],
		speed, gbps(link->mean_bps[0]), gbps(link->mean_bps[1]), mean,
		gbps(link->peak_bps[0]), gbps(link->peak_bps[1]), peak);
}

static void put_links(const struct triad_profile_report_data *report, const char *title,
	const size_t *order, struct triad_output *output)
{
	const struct triad_links *links = report->links;

	triad_output_printf(output,
		"\n%s, Gb/s\n"
		"  %-18s %3s  %-18s %3s %7s %8s %8s %5s %8s %8s %5s\n",
		title, "A", "", "B", "", "LINK", "MEAN A>B", "B>A", "%", "PEAK A>B",
		"B>A", "%");
	for (size_t i = 0; i < links->n_links && i < report->limit; i++)
		put_link(output, &links->links[order[i]]);
}

static void put_bundles(
	const struct triad_profile_report_data *report, struct triad_output *output)
{
	const struct triad_links *links = report->links;

	if (!links->n_bundles)
		return;
	triad_output_printf(output,
		"\nParallel links of unlike load, mean Gb/s\n"
		"  %-18s  %-18s %5s %8s %8s %6s  %s\n",
		"FROM", "TO", "LINKS", "MEAN", "BUSIEST", "RATIO", "BUSIEST BY PORT");
	for (size_t i = 0; i < links->n_bundles && i < report->limit; i++) {
		const struct triad_bundle *bundle = &links->bundles[i];
		const struct triad_link *link = &links->links[bundle->busiest];
		char from[20], to[20];

		format_guid(link->guid[bundle->direction], from);
		format_guid(link->guid[!bundle->direction], to);
		triad_output_printf(output,
			"  %-18s  %-18s %5u %8.3f %8.3f %6.2f  %u\n", from, to,
			bundle->n_links, gbps(bundle->mean_bps), gbps(bundle->max_bps),
			bundle->ratio, link->port[bundle->direction]);
	}
}

static void put_gaps(
	const struct triad_profile_report_data *report, struct triad_output *output)
{
	const struct triad_stats *stats = report->stats;
	uint64_t n = stats->n_gaps < TRIAD_STATS_MAX_GAPS ? stats->n_gaps
							  : TRIAD_STATS_MAX_GAPS;

	if (!n)
		return;
	triad_output_printf(output, "\nGaps\n  %-18s %-20s  %-20s %s\n", "COLLECTOR",
		"LAST SWEEP", "NEXT SWEEP", "MISSING");
	for (uint64_t i = 0; i < n && i < report->limit; i++) {
		const struct triad_stats_gap *gap = &stats->gaps[i];
		char sm[20], from[TRIAD_CLOCK_TEXT_SIZE], to[TRIAD_CLOCK_TEXT_SIZE];

		format_guid(stats->collectors[gap->collector].sm_guid, sm);
		triad_clock_format_s(gap->from_us, from);
		triad_clock_format_s(gap->to_us, to);
		triad_output_printf(output, "  %-18s %-20s  %-20s %7" PRIu64 "\n", sm,
			from, to, gap->n_missing);
	}
	if (stats->n_gaps > report->limit)
		triad_output_printf(output, "  and %" PRIu64 " more\n",
			stats->n_gaps - report->limit);
}

void triad_report_text(
	const struct triad_profile_report_data *report, struct triad_output *output)
{
	if (!report->stats->n_frames) {
		triad_output_printf(output, "There is no sweep in these files.\n");
		return;
	}
	put_report_head(report, output);
	put_traffic(report, output);
	put_links(report, "Busiest links by mean", report->links->by_mean, output);
	put_links(report, "Busiest links by peak", report->links->by_peak, output);
	put_bundles(report, output);
	put_gaps(report, output);
}

/* --- JSON --- */

/* Writes a time; null for 0. */
static void json_time(struct triad_json *json, const char *name, uint64_t time_us)
{
	char time[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format(time_us, time);
	triad_json_string(json, name, time_us ? time : NULL);
}

static void json_end(struct triad_json *json, const char *name,
	const struct triad_link *link, int end)
{
	triad_json_object_begin(json, name);
	triad_json_guid(json, "node_guid", link->guid[end]);
	triad_json_uint(json, "port", link->port[end]);
	triad_json_object_end(json);
}

static void json_direction(struct triad_json *json, const char *name,
	const struct triad_link *link, int direction)
{
	triad_json_object_begin(json, name);
	triad_json_double(json, "mean_gbps", gbps(link->mean_bps[direction]));
	triad_json_double(json, "peak_gbps", gbps(link->peak_bps[direction]));
	json_time(json, "peak_time", link->peak_us[direction]);
	if (link->mbps) {
		triad_json_double(json, "mean_percent",
			percent_of(link->mean_bps[direction], link->mbps));
		triad_json_double(json, "peak_percent",
			percent_of(link->peak_bps[direction], link->mbps));
	}
	triad_json_object_end(json);
}

static void json_link(struct triad_json *json, const struct triad_link *link)
{
	triad_json_object_begin(json, NULL);
	json_end(json, "a", link, 0);
	json_end(json, "b", link, 1);
	if (link->mbps)
		triad_json_double(json, "gbps", (double)link->mbps / 1000);
	json_direction(json, "a_to_b", link, TRIAD_LINK_THERE);
	json_direction(json, "b_to_a", link, TRIAD_LINK_BACK);
	triad_json_object_end(json);
}

static void json_links(struct triad_json *json,
	const struct triad_profile_report_data *report, const char *name,
	const size_t *order)
{
	triad_json_array_begin(json, name);
	for (size_t i = 0; i < report->links->n_links && i < report->limit; i++)
		json_link(json, &report->links->links[order[i]]);
	triad_json_array_end(json);
}

static void json_traffic(
	struct triad_json *json, const struct triad_profile_report_data *report)
{
	const struct triad_stats *stats = report->stats;

	triad_json_object_begin(json, "traffic");
	triad_json_double(json, "octets", triad_stats_octets(report->stats));
	triad_json_double(json, "interval_s", (double)stats->bin_us / 1e6);
	triad_json_array_begin(json, "gbps");
	for (uint64_t i = 0; i < stats->n_bins; i++)
		triad_json_double(
			json, NULL, gbps(triad_stats_bin_bps(report->stats, i)));
	triad_json_array_end(json);
	triad_json_object_end(json);
}

static void json_bundles(
	struct triad_json *json, const struct triad_profile_report_data *report)
{
	const struct triad_links *links = report->links;

	triad_json_array_begin(json, "parallel_links");
	for (size_t i = 0; i < links->n_bundles && i < report->limit; i++) {
		const struct triad_bundle *bundle = &links->bundles[i];
		const struct triad_link *link = &links->links[bundle->busiest];

		triad_json_object_begin(json, NULL);
		triad_json_guid(json, "from", link->guid[bundle->direction]);
		triad_json_guid(json, "to", link->guid[!bundle->direction]);
		triad_json_uint(json, "links", bundle->n_links);
		triad_json_double(json, "mean_gbps", gbps(bundle->mean_bps));
		triad_json_double(json, "busiest_gbps", gbps(bundle->max_bps));
		triad_json_uint(json, "busiest_port", link->port[bundle->direction]);
		triad_json_double(json, "ratio", bundle->ratio);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static void json_collectors(struct triad_json *json, const struct triad_stats *stats)
{
	triad_json_array_begin(json, "collectors");
	for (unsigned i = 0; i < stats->n_collectors; i++) {
		const struct triad_stats_collector *collector = &stats->collectors[i];

		triad_json_object_begin(json, NULL);
		triad_json_guid(json, "sm_port_guid", collector->sm_guid);
		json_time(json, "started", collector->started_us);
		json_time(json, "from", collector->first_us);
		json_time(json, "to", collector->last_us);
		triad_json_uint(json, "sweeps", collector->n_frames);
		triad_json_uint(json, "restarts", collector->n_restarts);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static void json_gaps(struct triad_json *json, const struct triad_stats *stats)
{
	triad_json_uint(json, "n_gaps", stats->n_gaps);
	triad_json_array_begin(json, "gaps");
	for (uint64_t i = 0; i < stats->n_gaps && i < TRIAD_STATS_MAX_GAPS; i++) {
		const struct triad_stats_gap *gap = &stats->gaps[i];

		triad_json_object_begin(json, NULL);
		triad_json_guid(json, "sm_port_guid",
			stats->collectors[gap->collector].sm_guid);
		json_time(json, "from", gap->from_us);
		json_time(json, "to", gap->to_us);
		triad_json_uint(json, "missing", gap->n_missing);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

void triad_report_json(
	const struct triad_profile_report_data *report, struct triad_output *output)
{
	const struct triad_stats *stats = report->stats;
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	json_time(&json, "from", stats->first_us);
	json_time(&json, "to", stats->last_us);
	triad_json_uint(&json, "files", report->n_files);
	triad_json_uint(&json, "sweeps", stats->n_frames);
	triad_json_uint(&json, "rows", stats->n_rows);
	triad_json_uint(&json, "rows_read_twice", stats->n_repeated);
	triad_json_uint(&json, "ports", stats->n_ports);
	triad_json_uint(&json, "links", report->links->n_links);
	triad_json_uint(&json, "restarts", n_restarts(stats));
	triad_json_uint(&json, "totals_gone_down", stats->n_zeroed);
	json_traffic(&json, report);
	json_links(&json, report, "by_mean", report->links->by_mean);
	json_links(&json, report, "by_peak", report->links->by_peak);
	json_bundles(&json, report);
	json_collectors(&json, stats);
	json_gaps(&json, stats);
	triad_json_object_end(&json);
	triad_json_end(&json);
}
