/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/state_path.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int triad_state_path(const char *dir, const char *what, const char *program,
	uint64_t port_guid, char *path, size_t size)
{
	int length = snprintf(
		path, size, "%s/%s-%s-0x%016" PRIx64, dir, what, program, port_guid);
	size_t begin = strlen(dir) + 1 + strlen(what) + 1;

	if (length < 0 || (size_t)length >= size) {
		path[0] = '\0';
		return ENAMETOOLONG;
	}
	for (size_t i = begin; i < begin + strlen(program); i++)
		path[i] = (char)tolower((unsigned char)path[i]);
	return 0;
}
