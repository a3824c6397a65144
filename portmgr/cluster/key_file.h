/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The key that peers share: a file's contents, every octet of them, a last newline too.
 *
 * Thread-safety: functions without state.  It reads a file: nobody's hot path. */
#ifndef TRIAD_PORTMGR_KEY_FILE_H
#define TRIAD_PORTMGR_KEY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_KEY_MIN_SIZE 16u
#define TRIAD_KEY_MAX_SIZE 4096u

/* Refuses a file that isn't trusted as a secret (triad/file.h), isn't a regular file,
 * is too short or too long; 'reason' says what to do then. */
bool triad_key_file_read(const char *path, uint8_t key[TRIAD_KEY_MAX_SIZE],
	size_t *key_size, char *reason, size_t size);

#endif
