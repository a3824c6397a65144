/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Output of ibnetdiscover: an accepted one must give a fabric whose links have two
 * ends, and it must be possible to read the configuration written from that and to
 * place it on the fabric. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "portmgr/expected/netdiscover.h"
#include "portmgr/expected/placed.h"
#include "portmgr/expected/write.h"
#include "tests/fuzz/fuzz.h"

#define MAX_TEXT ((size_t)16 << 20)

struct text {
	char *octets;
	size_t size;
};

static void put(void *context, const char *line)
{
	struct text *text = context;
	size_t n = strlen(line);

	require(n && line[n - 1] == '\n', "a line has an end");
	if (text->size + n > MAX_TEXT)
		return;
	memcpy(text->octets + text->size, line, n);
	text->size += n;
}

static void read_back(const struct triad_fabric *fabric, const struct text *text)
{
	static struct triad_diags diags;
	struct triad_expected *expected;
	struct triad_placed *placed;

	triad_diags_init(&diags, "written");
	require(!triad_expected_parse(text->octets, text->size, &diags, &expected),
		"what is written can be read");
	require(!triad_placed_build(expected, fabric, &diags, &diags, &placed) &&
			!diags.n_total,
		"it is about this fabric");
	triad_placed_free(placed);
	triad_expected_free(expected);
}

static void check_links(const struct triad_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		require(port->remote == TRIAD_FABRIC_NONE ||
				fabric->ports[port->remote].remote == i,
			"a link has two ends");
		require(port->remote == TRIAD_FABRIC_NONE ||
				port->state == TRIAD_PORT_ACTIVE,
			"a link is up");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct triad_diags diags;
	struct triad_fabric *fabric;
	struct text text = {0};
	int error;

	triad_diags_init(&diags, "netdiscover");
	error = triad_netdiscover_parse((const char *)data, size, &diags, &fabric);
	require(!!error == !!diags.n_total, "an error has a diagnostic");
	if (error)
		return 0;
	check_links(fabric);
	text.octets = malloc(MAX_TEXT);
	if (!text.octets)
		abort();
	triad_expected_write(fabric, 1, put, &text);
	if (text.size < MAX_TEXT / 2)
		read_back(fabric, &text);
	free(text.octets);
	triad_fabric_unref(fabric);
	return 0;
}
