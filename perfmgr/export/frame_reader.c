/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/frame_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#define MAX_WINDOW_LOG 23
#define PIECE_SIZE (128u << 10)

struct triad_frame_reader {
	ZSTD_DCtx *zstd;
	struct triad_profile_parser parser;
	struct triad_line_cutter cutter;
	char line[TRIAD_PROFILE_LINE_SIZE]; /* a line begun in an earlier piece */
	char in[PIECE_SIZE], out[PIECE_SIZE];

	/* Of the frame that is read. */
	int fd;
	uint64_t offset;
	triad_profile_take_line *take;
	triad_line_take *give;
	void *context;
	bool is_enough;
	int error;
	char message[320];
};

struct triad_frame_reader *triad_frame_reader_new(void)
{
	struct triad_frame_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->cutter = (struct triad_line_cutter){.context = reader,
		.buffer = reader->line,
		.room = sizeof(reader->line)};
	reader->zstd = ZSTD_createDCtx();
	if (reader->zstd)
		return reader;
	free(reader);
	return NULL;
}

void triad_frame_reader_free(struct triad_frame_reader *reader)
{
	if (!reader)
		return;
	ZSTD_freeDCtx(reader->zstd);
	free(reader);
}

const char *triad_frame_reader_message(const struct triad_frame_reader *reader)
{
	return reader->message;
}

static bool fail_frame(struct triad_frame_reader *reader, int error, const char *format,
	...) __attribute__((format(printf, 3, 4)));

static bool fail_frame(
	struct triad_frame_reader *reader, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reader->message, sizeof(reader->message), format, args);
	va_end(args);
	reader->error = error;
	return false;
}

/* Gets a line; of one that is too long the beginning is enough: the parser refuses it.
 * False after an error, or when no more lines are needed. */
static bool parse_line(void *context, const char *line, size_t length)
{
	struct triad_frame_reader *reader = context;
	enum triad_profile_line kind =
		triad_profile_parse(&reader->parser, line, length);

	if (kind == TRIAD_PROFILE_WRONG)
		return fail_frame(reader, EPROTO,
			"offset %" PRIu64 ", in the frame there, %s", reader->offset,
			reader->parser.message);
	reader->is_enough = reader->take &&
		!reader->take(reader->context, kind, &reader->parser, line, length);
	return !reader->is_enough;
}

static bool give_line(void *context, const char *line, size_t length)
{
	struct triad_frame_reader *reader = context;

	reader->is_enough = !reader->give(reader->context, line, length);
	return !reader->is_enough;
}

/* Decompresses a piece; '*left' is 0 at the frame's end. */
static bool unpack_piece(
	struct triad_frame_reader *reader, ZSTD_inBuffer *in, size_t *left)
{
	do {
		ZSTD_outBuffer out = {.dst = reader->out, .size = PIECE_SIZE};

		*left = ZSTD_decompressStream(reader->zstd, &out, in);
		if (!triad_line_cutter_put(&reader->cutter, reader->out, out.pos) &&
			reader->error)
			return false;
		if (ZSTD_isError(*left))
			return fail_frame(reader, EPROTO,
				"offset %" PRIu64 ": the frame there is damaged: %s",
				reader->offset, ZSTD_getErrorName(*left));
		if (!*left)
			break;
		/* All that was read is used, and the decompressor holds nothing
		 * back. */
		if (out.pos < out.size && in->pos == in->size)
			break;
	} while (!reader->is_enough);
	return true;
}

static ssize_t read_at(int fd, void *to, size_t size, uint64_t at)
{
	ssize_t n;

	do
		n = pread(fd, to, size, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n;
}

static bool read_pieces(struct triad_frame_reader *reader, uint64_t frame_size)
{
	uint64_t at = reader->offset, end = reader->offset + frame_size;
	size_t left = 1;

	while (left && !reader->is_enough) {
		size_t size = end - at < PIECE_SIZE ? (size_t)(end - at) : PIECE_SIZE;
		ssize_t n = size ? read_at(reader->fd, reader->in, size, at) : 0;
		ZSTD_inBuffer in = {.src = reader->in, .size = n > 0 ? (size_t)n : 0};

		if (n < 0)
			return fail_frame(reader, errno, "offset %" PRIu64 ": %s", at,
				strerror(errno));
		if (!n)
			return fail_frame(reader, EPROTO,
				"offset %" PRIu64 ": the file became shorter", at);
		if (!unpack_piece(reader, &in, &left))
			return false;
		at += (uint64_t)n;
	}
	if (reader->cutter.used && !reader->is_enough)
		return fail_frame(reader, EPROTO,
			"offset %" PRIu64 ": the frame there ends within a line",
			reader->offset);
	return true;
}

/* Gives the lines to 'take' of the cutter. */
static int read_frame(struct triad_frame_reader *reader, int fd, uint64_t offset,
	uint64_t size, void *context)
{
	ZSTD_DCtx_reset(reader->zstd, ZSTD_reset_session_and_parameters);
	/* Bounded, because a damaged frame may ask for any amount of memory. */
	ZSTD_DCtx_setParameter(reader->zstd, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
	reader->fd = fd;
	reader->offset = offset;
	reader->context = context;
	reader->is_enough = false;
	reader->cutter.used = 0;
	reader->error = 0;
	reader->message[0] = '\0';
	(void)read_pieces(reader, size);
	return reader->error;
}

int triad_frame_reader_read(struct triad_frame_reader *reader, int fd, uint64_t offset,
	uint64_t size, triad_profile_take_line *take, void *context)
{
	triad_profile_parser_init(&reader->parser);
	reader->take = take;
	reader->cutter.take = parse_line;
	return read_frame(reader, fd, offset, size, context);
}

int triad_frame_reader_give(struct triad_frame_reader *reader, int fd, uint64_t offset,
	uint64_t size, triad_line_take *give, void *context)
{
	reader->give = give;
	reader->cutter.take = give_line;
	return read_frame(reader, fd, offset, size, context);
}
