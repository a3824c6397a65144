/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/json_page.h"

#include <string.h>

void triad_json_page_init(struct triad_json_page *page, uint64_t offset, uint64_t limit)
{
	*page = (struct triad_json_page){.offset = offset, .limit = limit};
}

static bool is_on_page(const struct triad_json_page *page)
{
	return page->row >= page->offset && page->row - page->offset < page->limit;
}

static bool is_in_list(const struct triad_json_page *page)
{
	return page->list_depth && page->depth == page->list_depth;
}

static void open_bracket(struct triad_json_page *page, char bracket)
{
	page->depth++;
	if (page->depth == 1)
		page->is_array = bracket == '[';
	if (page->list_depth || bracket != '[' ||
		page->depth != (page->is_array ? 1 : 2))
		return;
	page->list_depth = page->depth;
	page->in_row = false;
	page->row = 0;
}

/* The end of a list. */
static void close_list(struct triad_json_page *page)
{
	uint64_t n = page->row + page->in_row;

	if (n > page->n_rows)
		page->n_rows = n;
	page->list_depth = 0;
}

/* Handles an octet outside of strings; returns whether it is kept. */
static bool take_octet(struct triad_json_page *page, char c)
{
	bool was_in_row = page->list_depth;

	if (is_in_list(page)) {
		if (c == ']') {
			close_list(page);
			page->depth--;
			return true;
		}
		/* Drop the comma before the page's first row, with the row before
		 * it. */
		if (c == ',') {
			page->row++;
			page->in_row = false;
			return is_on_page(page) && page->row > page->offset;
		}
		if (!strchr(" \t\r\n", c))
			page->in_row = true;
	}
	if (c == '"')
		page->in_string = true;
	else if (c == '[' || c == '{')
		open_bracket(page, c);
	else if ((c == ']' || c == '}') && page->depth)
		page->depth--;
	return !was_in_row || is_on_page(page);
}

size_t triad_json_page_take(
	struct triad_json_page *page, const char *text, size_t size, char *kept)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];
		bool is_kept;

		if (page->in_string) {
			is_kept = !page->list_depth || is_on_page(page);
			page->in_string = page->is_escaped || c != '"';
			page->is_escaped = !page->is_escaped && c == '\\';
		} else {
			is_kept = take_octet(page, c);
		}
		if (is_kept)
			kept[n++] = c;
	}
	return n;
}
