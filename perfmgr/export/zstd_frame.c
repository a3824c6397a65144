/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/zstd_frame.h"

#include <errno.h>
#include <unistd.h>

#define MAGIC 0xfd2fb528u
#define SKIPPABLE_MAGIC 0x184d2a50u
#define SKIPPABLE_MASK 0xfffffff0u

/* The largest block that a frame may have [RFC 8878 3.1.1.2.4]. */
#define MAX_BLOCK_SIZE (128u << 10)

enum { BLOCK_RAW, BLOCK_RLE, BLOCK_COMPRESSED, BLOCK_RESERVED };

struct walk {
	int fd;
	uint64_t at, end;
	int error;
};

/* Reads 'size' octets, at most 4, as a little-endian number, and moves past them. */
static uint32_t read_number(struct walk *walk, unsigned size)
{
	uint8_t octets[4] = {0};
	ssize_t n;

	if (walk->error)
		return 0;
	if (walk->at + size > walk->end) {
		walk->error = ENODATA;
		return 0;
	}
	do
		n = pread(walk->fd, octets, size, (off_t)walk->at);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)size)
		walk->error = n < 0 ? errno : ENODATA;
	walk->at += size;
	return (uint32_t)octets[0] | (uint32_t)octets[1] << 8 |
		(uint32_t)octets[2] << 16 | (uint32_t)octets[3] << 24;
}

/* True when there are more blocks. */
static bool skip_block(struct walk *walk)
{
	uint32_t header = read_number(walk, 3);
	unsigned type = header >> 1 & 3;
	uint32_t size = header >> 3;

	if (walk->error)
		return false;
	if (type == BLOCK_RESERVED || size > MAX_BLOCK_SIZE) {
		walk->error = EILSEQ;
		return false;
	}
	walk->at += type == BLOCK_RLE ? 1 : size;
	return !(header & 1);
}

/* Returns whether a checksum is at the frame's end. */
static bool skip_header(struct walk *walk)
{
	static const uint8_t id_sizes[] = {0, 1, 2, 4};
	static const uint8_t content_sizes[] = {0, 2, 4, 8};
	uint32_t flags = read_number(walk, 1);
	bool is_single = flags >> 5 & 1;
	unsigned content_size = content_sizes[flags >> 6];

	if (flags & 8)
		walk->error = EILSEQ; /* reserved */
	walk->at += !is_single + id_sizes[flags & 3] +
		(is_single && !content_size ? 1 : content_size);
	return flags & 4;
}

int triad_zstd_frame_measure(
	int fd, uint64_t offset, uint64_t file_size, struct triad_zstd_frame *frame)
{
	struct walk walk = {.fd = fd, .at = offset, .end = file_size};
	uint32_t magic = read_number(&walk, 4);

	frame->is_skippable = (magic & SKIPPABLE_MASK) == SKIPPABLE_MAGIC;
	if (frame->is_skippable) {
		uint32_t size = read_number(&walk, 4);

		walk.at += size;
	} else if (magic == MAGIC) {
		bool has_checksum = skip_header(&walk);

		while (skip_block(&walk))
			;
		walk.at += has_checksum ? 4 : 0;
	} else if (!walk.error) {
		walk.error = EILSEQ;
	}
	/* Skipped octets may be beyond the end of the file: the frame is incomplete. */
	if (!walk.error && walk.at > file_size)
		walk.error = ENODATA;
	frame->size = walk.at - offset;
	return walk.error;
}
