/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Functions for all fuzz targets.
 *
 * Inputs are read with a struct triad_wire, whose reads past the end give 0. */
#ifndef TRIAD_TESTS_FUZZ_H
#define TRIAD_TESTS_FUZZ_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triad/fabric.h"
#include "triad/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	abort();
}

/* Copies the next octets, at most 'most', into a block of exactly their size: a
 * sanitizer then detects a read past their end.  The caller frees it. */
static inline uint8_t *fuzz_take(struct triad_wire *w, size_t most, size_t *size)
{
	uint8_t *copy;

	*size = w->size - w->at < most ? w->size - w->at : most;
	if (w->failed)
		*size = 0;
	copy = malloc(*size ? *size : 1);
	require(copy, "memory");
	if (*size)
		memcpy(copy, triad_wire_take(w, *size), *size);
	return copy;
}

/* Checks that a fabric's indices refer to existing nodes and ports. */
static inline void fuzz_check_fabric(const struct triad_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		require(port->node < fabric->n_nodes, "a port is of a node");
		require(port->remote == TRIAD_FABRIC_NONE ||
				(port->remote < fabric->n_ports &&
					fabric->ports[port->remote].remote == i),
			"a link has two ends");
	}
}

#endif
