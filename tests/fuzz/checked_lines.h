/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lines that end in a checksum, made of any octets.  Random octets seldom have a valid
 * checksum; fix_checksums() writes it, so that a fuzz target reaches the code after the
 * check.  This is a second implementation of the checksum, which tests the
 * product's. */
#ifndef TRIAD_TESTS_FUZZ_CHECKED_LINES_H
#define TRIAD_TESTS_FUZZ_CHECKED_LINES_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAX_SIZE ((size_t)64 << 10) /* of an input */

struct text {
	char octets[8 * MAX_SIZE];
	size_t size;
};

/* CRC-32, bit by bit. */
static inline uint32_t checksum(const char *octets, size_t size)
{
	uint32_t sum = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		sum ^= (uint8_t)octets[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~sum;
}

static inline void put_octets(struct text *text, const char *octets, size_t size)
{
	if (size > sizeof(text->octets) - text->size)
		return;
	memcpy(text->octets + text->size, octets, size);
	text->size += size;
}

/* Writes a line with the checksum instead of its last word. */
static inline void put_checked_line(struct text *text, const char *line, size_t size)
{
	char sum[16];
	size_t kept = size;

	while (kept && line[kept - 1] != ' ')
		kept--;
	kept -= kept != 0;
	snprintf(sum, sizeof(sum), " %08" PRIx32 "\n", checksum(line, kept));
	put_octets(text, line, kept);
	put_octets(text, sum, strlen(sum));
}

static inline void fix_checksums(struct text *text, const char *at, size_t size)
{
	const char *end = at + size, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		put_checked_line(text, at, (size_t)(newline - at));
		at = newline + 1;
	}
	put_octets(text, at, (size_t)(end - at));
}

#endif
