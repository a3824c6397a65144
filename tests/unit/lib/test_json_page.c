/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/json_page.h"

#include <string.h>

#include "tests/unit/run.h"

/* Makes the page of a document that is given in pieces of 'piece' octets. */
static const char *page_of(const char *document, uint64_t offset, uint64_t limit,
	size_t piece, uint64_t *n)
{
	static char kept[4096];
	struct triad_json_page page;
	size_t used = 0, size = strlen(document);

	triad_json_page_init(&page, offset, limit);
	for (size_t at = 0; at < size; at += piece)
		used += triad_json_page_take(&page, document + at,
			size - at < piece ? size - at : piece, kept + used);
	kept[used] = '\0';
	*n = page.n_rows;
	return kept;
}

/* Row: N11 */
START_TEST(test_rows_of_lists_taken_out)
{
	static const struct {
		const char *document, *page; /* rows 1 and 2 */
		uint64_t n_rows;
	} cases[] = {
		{"[]\n", "[]\n", 0},
		{"[1]\n", "[]\n", 1},
		{"[1,2,3,4]\n", "[2,3]\n", 4},
		{"[[1,1],[2,[2]],{\"a\":[3,3]},4]\n", "[[2,[2]],{\"a\":[3,3]}]\n", 4},
		{"[\"],\",\"\\\"],\",\"\\\\\",\"d\"]\n", "[\"\\\"],\",\"\\\\\"]\n", 4},
		{"{\"n\":5,\"a\":[1,2],\"o\":{\"deep\":[1,2,3]},\"b\":[1,2,3,4,5]}\n",
			"{\"n\":5,\"a\":[2],\"o\":{\"deep\":[1,2,3]},\"b\":[2,3]}\n",
			5},
	};
	uint64_t n;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t piece = 1; piece < 70; piece++) {
			ck_assert_str_eq(page_of(cases[i].document, 1, 2, piece, &n),
				cases[i].page);
			ck_assert_uint_eq(n, cases[i].n_rows);
		}
	ck_assert_str_eq(page_of("[1,2,3]", 0, 2, 1, &n), "[1,2]");
	ck_assert_str_eq(page_of("[1,2,3]", 7, 2, 1, &n), "[]");
}
END_TEST

START_TEST(test_no_document_does_no_harm)
{
	uint64_t n;

	(void)page_of("]]}}\"]", 0, 1, 3, &n);
	(void)page_of("[[[[[[", 0, 1, 3, &n);
	(void)page_of("1,2", 0, 1, 3, &n);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("json_page");

	tcase_add_test(cases, test_rows_of_lists_taken_out);
	tcase_add_test(cases, test_no_document_does_no_harm);
	return run_cases(cases);
}
