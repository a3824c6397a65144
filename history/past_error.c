/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdio.h>

#include "history/past_parts.h"

bool triad_past_fail(struct triad_past *past, int error, const char *why)
{
	if (!past->building->error)
		snprintf(past->message, sizeof(past->message), "%s", why);
	past->building->error = error;
	return false;
}

bool triad_past_no_memory(struct triad_past *past)
{
	return triad_past_fail(past, ENOMEM, "not enough memory; try again");
}
