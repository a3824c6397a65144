/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Expected configurations: an accepted one must keep the invariants of expected.h, a
 * refused one must have a reason that can be printed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "portmgr/expected/placed.h"
#include "portmgr/expected/remote.h"
#include "tests/fuzz/fuzz.h"

static void check_diags(const struct triad_diags *diags, bool failed)
{
	char text[2 * TRIAD_DIAG_TEXT_SIZE + 32];

	require(failed == (diags->n_total > 0), "an error has a diagnostic");
	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		require(!strpbrk(text, "\n\r\033"), "no control character shown");
	}
}

static void check_text(const struct triad_expected *expected, uint32_t at)
{
	require(at < expected->text_size, "a text in range");
	require(!at ||
			(*triad_expected_text(expected, at) &&
				!triad_expected_text(expected, at)[-1]),
		"a text's beginning");
}

static void check_row(
	const struct triad_expected *expected, const struct triad_expected_port *row)
{
	const uint32_t texts[] = {
		row->node_name, row->comment, row->check_name, row->remote.name};
	char text[256];

	for (unsigned i = 0; i < 4; i++)
		check_text(expected, texts[i]);
	require(!row->node_guid != !row->node_name, "a node, by GUID or name");
	require(strlen(triad_expected_text(expected, row->node_name)) <= 64, "name");
	require(row->port >= 1 && row->port <= 254, "port");
	require(row->remote.port <= 254, "remote port");
	require(row->state <= TRIAD_EXPECTED_TEST, "state");
	require(row->speed < TRIAD_N_SPEEDS, "speed");
	require(!row->width || *triad_link_width_name(row->width), "width");
	require(row->state == TRIAD_EXPECTED_TEST ||
			(!row->check_name && !row->check_ping),
		"a check under test alone");
	triad_remote_describe(expected, &row->remote, text, sizeof(text));
	triad_name_fits(triad_expected_text(expected, row->remote.name),
		triad_expected_text(expected, row->comment));
}

static void check_placed(const struct triad_expected *expected)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric;
	struct triad_placed *placed;

	if (!builder || triad_fabric_build(builder, 0, &fabric))
		abort();
	triad_fabric_builder_free(builder);
	if (triad_placed_build(expected, fabric, NULL, NULL, &placed))
		abort();
	require(placed->n_unknown == expected->n_ports, "no node in no fabric");
	triad_placed_free(placed);
	triad_fabric_unref(fabric);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct triad_diags diags;
	struct triad_expected *expected;
	int error;

	triad_diags_init(&diags, "expected");
	error = triad_expected_parse((const char *)data, size, &diags, &expected);
	check_diags(&diags, error);
	if (error)
		return 0;
	require(expected->generation, "a generation");
	for (uint32_t i = 0; i < expected->n_ports; i++)
		check_row(expected, &expected->ports[i]);
	check_placed(expected);
	triad_expected_free(expected);
	return 0;
}
