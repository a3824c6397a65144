/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Logs and answers that are made anonymous: any octets.  What becomes of them must be the same
 * however they are cut into pieces, and nothing to be replaced may be left in it.
 *
 * Input: the size of pieces (1 octet, 0: all at once), then the text. */
#include "cli/anonym.h"
#include "tests/fuzz/fuzz.h"

#define MOST ((size_t)16 << 10)

static struct triad_anonym *known_names(void)
{
	static struct triad_anonym *anonym;

	if (anonym)
		return anonym;
	anonym = triad_anonym_new();
	triad_anonym_add_name(anonym, TRIAD_ANONYM_SWITCH, "leaf-01 U1");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "rack7-n2");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "rack7");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "node");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_SERIAL, "MT2101VS00001");
	triad_anonym_add_guid(anonym, 0x0002c9030011aa21);
	triad_anonym_add_guid(anonym, 0x200001);
	return anonym;
}

static void refuse_original(void *context, const char *text, size_t size)
{
	(void)context;
	fprintf(stderr, "left: %.*s\n", (int)size, text);
	require(false, "nothing is left");
}

static void rewrite_all(struct triad_anonym *anonym, const char *text, size_t size,
	size_t piece, GString *to)
{
	g_string_truncate(to, 0);
	triad_anonym_begin(anonym);
	for (size_t at = 0; at < size; at += piece)
		triad_anonym_rewrite(anonym, text + at,
			size - at < piece ? size - at : piece, false, to);
	triad_anonym_rewrite(anonym, "", 0, true, to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_anonym *anonym = known_names();
	const char *text = (const char *)data + 1;
	GString *whole, *pieces;

	if (size < 2 || size > MOST)
		return 0;
	whole = g_string_new(NULL);
	pieces = g_string_new(NULL);
	rewrite_all(anonym, text, size - 1, size, whole);
	rewrite_all(anonym, text, size - 1, data[0] ? data[0] : size, pieces);
	require(g_string_equal(whole, pieces), "the same in pieces");
	triad_anonym_report(anonym, refuse_original, NULL);
	rewrite_all(anonym, whole->str, whole->len, size, pieces);
	triad_anonym_report(anonym, NULL, NULL);
	g_string_free(whole, TRUE);
	g_string_free(pieces, TRUE);
	return 0;
}
