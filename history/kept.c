/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/kept.h"

#include <string.h>

static const struct {
	const char *name;
	bool is_fluid;
} kinds[TRIAD_N_KEPT] = {
	[TRIAD_KEPT_PORTS] = {.name = "ports"},
	[TRIAD_KEPT_TABLES] = {.name = "tables"},
	[TRIAD_KEPT_OWNERS] = {.name = "owners"},
	[TRIAD_KEPT_HISTOGRAMS] = {.name = "histograms", .is_fluid = true},
};

const char *triad_kept_name(enum triad_kept_kind kind)
{
	return kinds[kind].name;
}

enum triad_kept_kind triad_kept_find(const char *name)
{
	unsigned kind = 0;

	while (kind < TRIAD_N_KEPT && strcmp(kinds[kind].name, name) != 0)
		kind++;
	return kind;
}

bool triad_kept_is_fluid(enum triad_kept_kind kind)
{
	return kinds[kind].is_fluid;
}
