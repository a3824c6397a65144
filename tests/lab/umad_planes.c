/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_planes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_states(char states[LAB_MAX_PLANES + 1])
{
	const char *path = getenv("TRIAD_LAB_PLANES"), *host = getenv("SIM_HOST");
	FILE *file = path && host ? fopen(path, "re") : NULL;
	char node[128], word[LAB_MAX_PLANES + 1];

	states[0] = '\0';
	if (!file)
		return;
	while (fscanf(file, "%127s %8s", node, word) == 2)
		if (!strcmp(node, host))
			memcpy(states, word, sizeof(word));
	fclose(file);
}

unsigned lab_planes_n(void)
{
	char states[LAB_MAX_PLANES + 1];

	read_states(states);
	return (unsigned)strlen(states);
}

bool lab_planes_is_up(unsigned plane)
{
	char states[LAB_MAX_PLANES + 1];

	read_states(states);
	return plane && plane <= strlen(states) && states[plane - 1] == 'u';
}
