/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports of triadd: whatever comes, all texts end, drive no terminal, and what was taken
 * is written and taken again as the same.
 *
 * Input: a report. */
#include <stdlib.h>
#include <string.h>

#include "service/served.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const char *text, size_t size)
{
	require(memchr(text, '\0', size), "a text ends");
	for (; *text; text++)
		require((unsigned char)*text >= 0x20 && *text != 0x7f, "no control");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), again[TRIAD_SERVED_TEXT_SIZE];
	static struct triad_served taken, second;

	require(text, "memory");
	memcpy(text, data, size);
	text[size] = '\0';
	triad_served_take(text, &taken);
	free(text);
	check_text(taken.version, sizeof(taken.version));
	check_text(taken.prometheus.reason, sizeof(taken.prometheus.reason));
	check_text(taken.web.http.reason, sizeof(taken.web.http.reason));
	triad_served_put(&taken, again, sizeof(again));
	triad_served_take(again, &second);
	require(taken.web.http.n_answers == second.web.http.n_answers, "a number");
	require(taken.start == second.start, "the start");
	require(!strcmp(taken.version, second.version), "the version");
	return 0;
}
