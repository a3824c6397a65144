/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The key that peers share: all octets of a file, a final newline included.
 *
 * Thread-safety: functions without state.  Blocks: it reads a file. */
#ifndef TRIAD_PORTMGR_KEY_FILE_H
#define TRIAD_PORTMGR_KEY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_KEY_MIN_SIZE 16u
#define TRIAD_KEY_MAX_SIZE 4096u

/* Refuses a file that isn't trusted as a secret (triad/file.h), isn't a regular file,
 * or is too short or too long; 'reason' then says what to do. */
bool triad_key_file_read(const char *path, uint8_t key[TRIAD_KEY_MAX_SIZE],
	size_t *key_size, char *reason, size_t size);

#endif
