/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random numbers that nobody can guess, from the kernel.
 *
 * Thread-safety: any thread.  Right after the machine's start it may wait until the kernel
 * has enough of them. */
#ifndef TRIAD_LIB_RANDOM_NUMBER_H
#define TRIAD_LIB_RANDOM_NUMBER_H

#include <stdint.h>

uint64_t triad_random_number(void);

#endif
