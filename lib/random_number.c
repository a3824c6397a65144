/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/random_number.h"

#include <sys/random.h>

uint64_t triad_random_number(void)
{
	uint64_t value;

	/* It fails for a signal alone. */
	while (getrandom(&value, sizeof(value), 0) != sizeof(value))
		;
	return value;
}
