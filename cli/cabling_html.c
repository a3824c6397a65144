/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'cabling check --html': a page for whoever has the cables in hand, to be printed or to be ticked
 * off on a phone.  It needs nothing else: no script, no font, nothing from elsewhere. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli/cabling_parts.h"

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>Cabling</title><style>\n"
	":root { color-scheme: light dark; font: 16px/1.45 sans-serif; }\n"
	"body { margin: 1rem auto; max-width: 50rem; padding: 0 .6rem; }\n"
	"li { margin: .5rem 0; overflow-wrap: anywhere; break-inside: avoid; }\n"
	"label { display: flex; gap: .6rem; align-items: baseline; }\n"
	"input { width: 1.1rem; height: 1.1rem; flex: none; }\n"
	"label:has(:checked) { opacity: .55; text-decoration: line-through; }\n"
	"</style></head><body>\n";

static void put_escaped(struct triad_output *output, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			triad_output_put(output, "&amp;", 5);
			break;
		case '<':
			triad_output_put(output, "&lt;", 4);
			break;
		case '>':
			triad_output_put(output, "&gt;", 4);
			break;
		default:
			triad_output_put(output, text, 1);
		}
}

static void put_line(struct triad_cabling_checking *checking,
	const struct triad_cabling_item *item, uint32_t step, bool has_box)
{
	char text[TRIAD_CABLING_TEXT_SIZE];

	triad_cabling_describe(&checking->view, item, step, text, sizeof(text));
	triad_output_printf(&checking->output, "<li>%s",
		has_box ? "<label><input type=\"checkbox\"><span>" : "");
	put_escaped(&checking->output, text);
	triad_output_printf(&checking->output, "%s", has_box ? "</span></label>" : "");
}

/* A ring's steps are ticked off one by one. */
static void put_item(struct triad_cabling_checking *checking,
	const struct triad_cabling_item *item, bool has_box)
{
	uint32_t n_steps = triad_cabling_n_steps(item);

	put_line(checking, item, 0, has_box && !n_steps);
	if (n_steps)
		triad_output_printf(&checking->output, "<ol>\n");
	for (uint32_t step = 1; step <= n_steps; step++) {
		put_line(checking, item, step, true);
		triad_output_printf(&checking->output, "</li>\n");
	}
	triad_output_printf(&checking->output, "%s</li>\n", n_steps ? "</ol>" : "");
}

static void put_time(struct triad_output *output)
{
	time_t now = time(NULL);
	char text[64] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", &tm);
	triad_output_printf(output, "%s", text);
}

void triad_cabling_put_html(struct triad_cabling_checking *checking)
{
	const struct triad_cabling_result *result = checking->result;
	struct triad_output *output = &checking->output;

	triad_output_put(output, head, strlen(head));
	triad_output_printf(output, "<h1>Cabling</h1>\n<p>");
	put_escaped(output, checking->command->plan);
	triad_output_printf(output, ", ");
	put_time(output);
	triad_output_printf(output, "</p>\n<p>");
	triad_cabling_put_summary(checking);
	triad_output_printf(output, ".</p>\n");
	if (result->n_deviations)
		triad_output_printf(output,
			"<h2>To do</h2><p>In this order, where several are about "
			"one port.</p>\n<ol>\n");
	for (uint32_t i = 0; i < result->n_deviations; i++)
		put_item(checking, &result->items[i], true);
	if (result->n_deviations)
		triad_output_printf(output, "</ol>\n");
	if (triad_cabling_count_not_known(checking))
		triad_output_printf(output, "<h2>Not known</h2>\n<ul>\n");
	for (uint32_t i = result->n_deviations; i < result->n_items; i++)
		put_item(checking, &result->items[i], false);
	if (triad_cabling_count_not_known(checking))
		triad_output_printf(output, "</ul>\n");
	triad_output_printf(output, "</body></html>\n");
}
