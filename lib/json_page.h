/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A page of a JSON document: keeps some rows of its lists and drops the others, while
 * the document is written.
 *
 * Model: octets of a document go in, in pieces of any size, and those to be kept come
 * out.  A list is the document itself when that is an array, or an array that is a
 * member of the document.  The page has the elements 'offset' to 'offset' + 'limit' of
 * each list, and everything outside of lists.  Deeper arrays are parts of an element.
 *
 * So every command has pages, whatever its rows are, and writes its answer as always.
 *
 * Invariants: what comes out is JSON when what went in is.  Nothing is stored, so a
 * document of any size takes no memory.
 *
 * Thread-safety: none; the caller excludes others. */
#ifndef TRIAD_LIB_JSON_PAGE_H
#define TRIAD_LIB_JSON_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct triad_json_page {
	uint64_t offset, limit;
	uint64_t n_rows; /* of the longest list so far */

	unsigned depth;      /* open brackets */
	unsigned list_depth; /* the present list's depth; 0: in no list */
	bool is_array;       /* the document is an array */
	bool in_string, is_escaped;
	bool in_row;  /* the element has begun */
	uint64_t row; /* the present element's number */
};

void triad_json_page_init(
	struct triad_json_page *page, uint64_t offset, uint64_t limit);

/* Reads 'size' octets of 'text', and writes those to be kept to 'kept', which has room
 * for as many and may be 'text'.  Returns how many. */
size_t triad_json_page_take(
	struct triad_json_page *page, const char *text, size_t size, char *kept);

#endif
