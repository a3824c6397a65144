/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Draws, from top to bottom: a title, traffic over time, a bar for each direction of
 * the busiest links.  Lengths are in SVG's units; a browser shows one unit as a
 * pixel. */
#include "cli/profile_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "triad/clock.h"

#define WIDTH 1000.0
#define LEFT 80.0
#define RIGHT (WIDTH - 30)
#define TRAFFIC_TOP 90.0
#define TRAFFIC_HEIGHT 240.0
#define TRAFFIC_BOTTOM (TRAFFIC_TOP + TRAFFIC_HEIGHT)
#define BARS_TOP (TRAFFIC_BOTTOM + 90)
#define BAR_STEP 34.0
#define BAR_LEFT 400.0
#define BAR_HEIGHT 11.0
#define MAX_BARS 40
#define N_MARKS 5

static const char head[] =
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
	"viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"12\" "
	"fill=\"#222\">\n"
	"<title>Traffic of an InfiniBand fabric</title>\n"
	"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n";

static unsigned n_bars(const struct triad_profile_report_data *report)
{
	size_t n = report->links->n_links;

	n = n < report->limit ? n : report->limit;
	return n < MAX_BARS ? (unsigned)n : MAX_BARS;
}

/* The smallest round number not below 'value'. */
static double round_up(double value)
{
	static const double round[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
	double power;
	unsigned i = 0;

	if (value <= 0)
		return 1;
	power = pow(10, floor(log10(value)));
	while (round[i] * power < value && round[i] < 10)
		i++;
	return round[i] * power;
}

static void put_title(
	const struct triad_profile_report_data *report, struct triad_output *output)
{
	const struct triad_stats *stats = report->stats;
	char from[TRIAD_CLOCK_TEXT_SIZE], to[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format(stats->first_us, from);
	triad_clock_format(stats->last_us, to);
	triad_output_printf(output,
		"<text x=\"%g\" y=\"30\" font-size=\"18\">Traffic of "
		"%zu ports, %" PRIu64 " sweeps</text>\n"
		"<text x=\"%g\" y=\"50\" fill=\"#666\">%s to %s</text>\n",
		LEFT, stats->n_ports, stats->n_frames, LEFT, from, to);
	triad_output_printf(output,
		"<text x=\"%g\" y=\"%g\" font-weight=\"bold\">All ports, Gb/s</text>\n",
		LEFT, TRAFFIC_TOP - 14);
}

/* --- traffic over time --- */

static void put_scale(const struct triad_profile_report_data *report,
	struct triad_output *output, double most)
{
	const struct triad_stats *stats = report->stats;
	uint64_t span_us = stats->last_us - stats->first_us;
	bool is_short = span_us < 48 * 3600 * TRIAD_US_PER_S;

	for (unsigned i = 0; i <= N_MARKS; i++) {
		double part = (double)i / N_MARKS;
		double y = TRAFFIC_BOTTOM - part * TRAFFIC_HEIGHT;
		double x = LEFT + part * (RIGHT - LEFT);
		char time[TRIAD_CLOCK_TEXT_SIZE];

		triad_output_printf(output,
			"<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" "
			"stroke=\"#ddd\"/>\n"
			"<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%g</text>\n",
			LEFT, y, RIGHT, y, LEFT - 8, y + 4, part * most / 1e9);
		triad_clock_format(
			stats->first_us + (uint64_t)(part * (double)span_us), time);
		/* Label: the time of day, or the day. */
		triad_output_printf(output,
			"<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%.*s</text>\n",
			x, TRAFFIC_BOTTOM + 18, is_short ? 8 : 10,
			is_short ? time + 11 : time);
	}
}

static void put_traffic(
	const struct triad_profile_report_data *report, struct triad_output *output)
{
	const struct triad_stats *stats = report->stats;
	double span_us = (double)(stats->last_us - stats->first_us);
	double most = 0, x = LEFT;

	for (uint64_t i = 0; i < stats->n_bins; i++)
		most = fmax(most, triad_stats_bin_bps(report->stats, i));
	most = round_up(most);
	put_scale(report, output, most);
	triad_output_printf(output,
		"<path fill=\"#8fb8de\" stroke=\"#2a6fa8\" d=\"M%g %g", LEFT,
		TRAFFIC_BOTTOM);
	/* A curve of steps: constant within each bin. */
	for (uint64_t i = 0; i < stats->n_bins && span_us > 0; i++) {
		double end_us = fmin((double)((i + 1) * stats->bin_us), span_us);
		double y = TRAFFIC_BOTTOM -
			triad_stats_bin_bps(report->stats, i) / most * TRAFFIC_HEIGHT;
		double end = LEFT + end_us / span_us * (RIGHT - LEFT);

		triad_output_printf(output, "L%.1f %.1fL%.1f %.1f", x, y, end, y);
		x = end;
	}
	triad_output_printf(output, "L%.1f %gZ\"/>\n", x, TRAFFIC_BOTTOM);
}

/* --- links --- */

/* Draws the mean as a bar and the peak as a mark; 'most' is full length. */
static void put_bar(struct triad_output *output, const struct triad_link *link,
	unsigned direction, double y, double most)
{
	static const char *const colors[] = {"#2a6fa8", "#e08a2e"};
	double scale = (RIGHT - 60 - BAR_LEFT) / most;
	double peak = BAR_LEFT + link->peak_bps[direction] * scale;

	triad_output_printf(output,
		"<rect x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"%g\" fill=\"%s\"/>\n"
		"<line x1=\"%.1f\" y1=\"%g\" x2=\"%.1f\" y2=\"%g\" stroke=\"%s\" "
		"stroke-width=\"2\"/>\n",
		BAR_LEFT, y, link->mean_bps[direction] * scale, BAR_HEIGHT,
		colors[direction], peak, y, peak, y + BAR_HEIGHT, colors[direction]);
	if (link->mbps)
		triad_output_printf(output,
			"<text x=\"%.1f\" y=\"%g\" font-size=\"10\">%.1f %%</text>\n",
			BAR_LEFT + link->mean_bps[direction] * scale + 6,
			y + BAR_HEIGHT - 2,
			link->mean_bps[direction] / (double)link->mbps / 1e4);
}

static void put_link_end(
	struct triad_output *output, const struct triad_link *link, int end, double y)
{
	if (link->guid[end])
		triad_output_printf(output,
			"<text x=\"%g\" y=\"%g\" text-anchor=\"end\" "
			"font-family=\"monospace\" font-size=\"11\">0x%016" PRIx64
			" port %u%s</text>\n",
			BAR_LEFT - 10, y, link->guid[end], link->port[end],
			end ? "" : " to");
}

static void put_legend(struct triad_output *output)
{
	triad_output_printf(output,
		"<text x=\"%g\" y=\"%g\" font-weight=\"bold\">Busiest links</text>\n"
		"<rect x=\"%g\" y=\"%g\" width=\"11\" height=\"11\" "
		"fill=\"#2a6fa8\"/><text x=\"%g\" y=\"%g\">there</text>\n"
		"<rect x=\"%g\" y=\"%g\" width=\"11\" height=\"11\" "
		"fill=\"#e08a2e\"/><text x=\"%g\" y=\"%g\">back</text>\n"
		"<text x=\"%g\" y=\"%g\" fill=\"#666\">bar: mean, with its share of "
		"the link; line: peak</text>\n",
		LEFT, BARS_TOP - 20, BAR_LEFT, BARS_TOP - 30, BAR_LEFT + 16,
		BARS_TOP - 20, BAR_LEFT + 70, BARS_TOP - 30, BAR_LEFT + 86,
		BARS_TOP - 20, BAR_LEFT + 140, BARS_TOP - 20);
}

static void put_bars(
	const struct triad_profile_report_data *report, struct triad_output *output)
{
	const struct triad_links *links = report->links;
	double most = 0;

	put_legend(output);
	for (unsigned i = 0; i < n_bars(report); i++)
		most = fmax(
			most, triad_link_peak_bps(&links->links[links->by_mean[i]]));
	for (unsigned i = 0; i < n_bars(report); i++) {
		const struct triad_link *link = &links->links[links->by_mean[i]];
		double y = BARS_TOP + i * BAR_STEP;

		put_link_end(output, link, 0, y + 10);
		put_link_end(output, link, 1, y + 23);
		put_bar(output, link, TRIAD_LINK_THERE, y, most > 0 ? most : 1);
		put_bar(output, link, TRIAD_LINK_BACK, y + BAR_HEIGHT + 2,
			most > 0 ? most : 1);
		if (i + 1 == n_bars(report))
			triad_output_printf(output,
				"<text x=\"%g\" y=\"%g\" text-anchor=\"middle\" "
				"fill=\"#666\">%.3g Gb/s</text>\n",
				RIGHT - 60, y + BAR_STEP + 12, most / 1e9);
	}
}

void triad_report_svg(
	const struct triad_profile_report_data *report, struct triad_output *output)
{
	double height = BARS_TOP + n_bars(report) * BAR_STEP + 40;

	triad_output_printf(output, head, WIDTH, height, WIDTH, height);
	put_title(report, output);
	put_traffic(report, output);
	put_bars(report, output);
	triad_output_put(output, "</svg>\n", 7);
}
