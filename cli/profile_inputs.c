/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/profile_inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "lib/text.h"
#include "perfmgr/export/zstd_frame.h"

#define MAX_OPEN 64
#define MAX_WINDOW_LOG 23
#define PIECE_SIZE (128u << 10)

struct input {
	const char *path;
	int fd;        /* -1: not open at present */
	uint64_t used; /* when, in turns */
	dev_t device;
	ino_t inode;
	uint64_t file_size, offset, size; /* of the file; of its next frame */
	uint64_t time_us;
	bool is_ended;
};

struct triad_profile_inputs {
	void (*tell)(void *context, const char *message);
	void *context;
	unsigned n, n_open, n_failed;
	uint64_t turn;
	ZSTD_DCtx *zstd;
	struct triad_profile_parser parser;
	char line[TRIAD_PROFILE_LINE_SIZE]; /* begun in the piece before */
	size_t n_line;
	char in[PIECE_SIZE], out[PIECE_SIZE];
	struct input inputs[];
};

struct triad_profile_inputs *triad_profile_inputs_new(unsigned n,
	const char *const *paths, void (*tell)(void *, const char *), void *context)
{
	struct triad_profile_inputs *inputs =
		calloc(1, sizeof(*inputs) + n * sizeof(inputs->inputs[0]));

	if (!inputs)
		return NULL;
	inputs->tell = tell;
	inputs->context = context;
	inputs->n = n;
	inputs->zstd = ZSTD_createDCtx();
	for (unsigned i = 0; i < n; i++)
		inputs->inputs[i] = (struct input){.path = paths[i], .fd = -1};
	if (inputs->zstd)
		return inputs;
	free(inputs);
	return NULL;
}

void triad_profile_inputs_free(struct triad_profile_inputs *inputs)
{
	if (!inputs)
		return;
	for (unsigned i = 0; i < inputs->n; i++)
		if (inputs->inputs[i].fd >= 0)
			close(inputs->inputs[i].fd);
	ZSTD_freeDCtx(inputs->zstd);
	free(inputs);
}

/* Reports what is wrong with the input, and reads it no further. */
static bool fail(struct triad_profile_inputs *inputs, struct input *input,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool fail(struct triad_profile_inputs *inputs, struct input *input,
	const char *format, ...)
{
	char message[512];
	va_list args;

	snprintf(message, sizeof(message), "%.255s: ", input->path);
	va_start(args, format);
	triad_text_vappend(message, sizeof(message), format, args);
	va_end(args);
	triad_text_clean(message);
	inputs->tell(inputs->context, message);
	inputs->n_failed++;
	input->is_ended = true;
	return false;
}

/* --- files --- */

static void close_input(struct triad_profile_inputs *inputs, struct input *input)
{
	if (input->fd < 0)
		return;
	close(input->fd);
	input->fd = -1;
	inputs->n_open--;
}

static void close_oldest(struct triad_profile_inputs *inputs)
{
	struct input *oldest = NULL;

	for (unsigned i = 0; i < inputs->n; i++) {
		struct input *input = &inputs->inputs[i];

		if (input->fd >= 0 && (!oldest || input->used < oldest->used))
			oldest = input;
	}
	if (oldest)
		close_input(inputs, oldest);
}

/* The file's size is taken once: a file that is being written may grow. */
static bool check_opened(struct triad_profile_inputs *inputs, struct input *input)
{
	struct stat status;

	if (fstat(input->fd, &status))
		return fail(inputs, input, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return fail(inputs, input, "it is not a regular file");
	/* The first time.  Opened again, it must be the same file. */
	if (!input->inode) {
		input->device = status.st_dev;
		input->inode = status.st_ino;
		input->file_size = (uint64_t)status.st_size;
	}
	if (input->device != status.st_dev || input->inode != status.st_ino)
		return fail(inputs, input,
			"it was put aside or replaced while it was read; begin again");
	return true;
}

static bool open_input(struct triad_profile_inputs *inputs, struct input *input)
{
	input->used = ++inputs->turn;
	if (input->fd >= 0)
		return true;
	/* There may be more files than descriptors. */
	if (inputs->n_open == MAX_OPEN)
		close_oldest(inputs);
	input->fd = open(input->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (input->fd < 0)
		return fail(inputs, input, "%s", strerror(errno));
	inputs->n_open++;
	return check_opened(inputs, input);
}

static ssize_t read_at(const struct input *input, void *to, size_t size, uint64_t at)
{
	ssize_t n;

	do
		n = pread(input->fd, to, size, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n;
}

/* --- the lines of a frame --- */

struct reading {
	struct triad_profile_inputs *inputs;
	struct input *input;
	triad_profile_take_line *take;
	void *context;
	bool is_enough;
};

static bool parse_line(struct reading *reading, const char *line, size_t length)
{
	struct triad_profile_inputs *inputs = reading->inputs;
	enum triad_profile_line kind =
		triad_profile_parse(&inputs->parser, line, length);

	if (kind == TRIAD_PROFILE_WRONG)
		return fail(inputs, reading->input,
			"offset %" PRIu64 ", in the frame there, %s",
			reading->input->offset, inputs->parser.message);
	reading->is_enough = reading->take &&
		!reading->take(reading->context, kind, &inputs->parser, line, length);
	return true;
}

/* Cuts text into lines; the rest waits for the next piece.  Of a line that is too long
 * its beginning is enough: the parser refuses it. */
static bool split_text(struct reading *reading, const char *text, size_t size)
{
	struct triad_profile_inputs *inputs = reading->inputs;

	while (size && !reading->is_enough) {
		const char *end = memchr(text, '\n', size);
		size_t n = end ? (size_t)(end - text) : size;
		size_t room = sizeof(inputs->line) - inputs->n_line;
		bool is_whole = end && !inputs->n_line, is_right = true;

		if (!is_whole) {
			memcpy(inputs->line + inputs->n_line, text,
				n < room ? n : room);
			inputs->n_line += n < room ? n : room;
		}
		if (is_whole) {
			is_right = parse_line(reading, text, n);
		} else if (end || n >= room) {
			is_right = parse_line(reading, inputs->line, inputs->n_line);
			inputs->n_line = 0;
		}
		if (!is_right)
			return false;
		text += n + (end != NULL);
		size -= n + (end != NULL);
	}
	return true;
}

/* Decompresses a piece; '*left' is 0 at the frame's end. */
static bool unpack_piece(struct reading *reading, ZSTD_inBuffer *in, size_t *left)
{
	struct triad_profile_inputs *inputs = reading->inputs;

	do {
		ZSTD_outBuffer out = {.dst = inputs->out, .size = PIECE_SIZE};

		*left = ZSTD_decompressStream(inputs->zstd, &out, in);
		if (!split_text(reading, inputs->out, out.pos))
			return false;
		if (ZSTD_isError(*left))
			return fail(inputs, reading->input,
				"offset %" PRIu64 ": the frame there is damaged: %s",
				reading->input->offset, ZSTD_getErrorName(*left));
		if (!*left)
			break;
		/* All that was read is used, and the decompressor holds nothing
		 * back. */
		if (out.pos < out.size && in->pos == in->size)
			break;
	} while (!reading->is_enough);
	return true;
}

static bool read_frame(struct reading *reading)
{
	struct triad_profile_inputs *inputs = reading->inputs;
	struct input *input = reading->input;
	uint64_t at = input->offset, end = input->offset + input->size;
	size_t left = 1;

	ZSTD_DCtx_reset(inputs->zstd, ZSTD_reset_session_and_parameters);
	/* Bounded, because a damaged frame may ask for any amount of memory. */
	ZSTD_DCtx_setParameter(inputs->zstd, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
	triad_profile_parser_init(&inputs->parser);
	inputs->n_line = 0;
	while (left && !reading->is_enough) {
		size_t size = end - at < PIECE_SIZE ? (size_t)(end - at) : PIECE_SIZE;
		ssize_t n = size ? read_at(input, inputs->in, size, at) : 0;
		ZSTD_inBuffer in = {.src = inputs->in, .size = n > 0 ? (size_t)n : 0};

		if (n <= 0)
			return fail(inputs, input, "offset %" PRIu64 ": %s", at,
				n < 0 ? strerror(errno) : "the file became shorter");
		if (!unpack_piece(reading, &in, &left))
			return false;
		at += (uint64_t)n;
	}
	if (inputs->n_line && !reading->is_enough)
		return fail(inputs, input,
			"offset %" PRIu64 ": the frame there ends within a line",
			input->offset);
	return true;
}

/* --- the order --- */

struct peek {
	uint64_t time_us; /* 0: not seen yet */
};

static bool note_time(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length)
{
	struct peek *peek = context;

	(void)line;
	(void)length;
	if (kind == TRIAD_PROFILE_INFO)
		peek->time_us = parser->info.time_us;
	else if (kind == TRIAD_PROFILE_ROW)
		peek->time_us = parser->row.time_us;
	return !peek->time_us;
}

/* Finds the frame at the input's offset or behind it, which may be empty. */
static bool measure_frame(struct triad_profile_inputs *inputs, struct input *input)
{
	struct triad_zstd_frame frame;
	int error;

	do {
		if (input->offset >= input->file_size) {
			input->is_ended = true;
			close_input(inputs, input);
			return false;
		}
		error = triad_zstd_frame_measure(
			input->fd, input->offset, input->file_size, &frame);
		if (error == ENODATA)
			return fail(inputs, input,
				"offset %" PRIu64
				": the file ends within the frame there: its writer "
				"is at it, or was killed",
				input->offset);
		if (error == EILSEQ)
			return fail(inputs, input,
				"offset %" PRIu64 ": this is no frame of zstd",
				input->offset);
		if (error)
			return fail(inputs, input, "offset %" PRIu64 ": %s",
				input->offset, strerror(error));
		input->size = frame.size;
		if (frame.is_skippable)
			input->offset += frame.size;
	} while (frame.is_skippable);
	return true;
}

/* Finds the input's next frame, and when it is from. */
static void find_frame(struct triad_profile_inputs *inputs, struct input *input)
{
	struct peek peek = {0};
	struct reading reading = {
		.inputs = inputs, .input = input, .take = note_time, .context = &peek};

	if (!open_input(inputs, input) || !measure_frame(inputs, input) ||
		!read_frame(&reading))
		return;
	/* A file keeps its order, even where the clock went back. */
	if (peek.time_us > input->time_us)
		input->time_us = peek.time_us;
}

bool triad_profile_inputs_next(
	struct triad_profile_inputs *inputs, struct triad_profile_frame *frame)
{
	struct input *first = NULL;

	for (unsigned i = 0; i < inputs->n; i++) {
		struct input *input = &inputs->inputs[i];

		/* Inputs that were not taken the last time still have theirs. */
		if (!input->is_ended && !input->size)
			find_frame(inputs, input);
		if (!input->is_ended && (!first || input->time_us < first->time_us))
			first = input;
	}
	if (!first)
		return false;
	*frame = (struct triad_profile_frame){
		.input = (unsigned)(first - inputs->inputs),
		.path = first->path,
		.offset = first->offset,
		.size = first->size,
		.time_us = first->time_us,
	};
	first->offset += first->size;
	first->size = 0;
	return true;
}

bool triad_profile_inputs_read(struct triad_profile_inputs *inputs,
	const struct triad_profile_frame *frame, triad_profile_take_line *take,
	void *context)
{
	struct input *input = &inputs->inputs[frame->input];
	struct reading reading = {
		.inputs = inputs, .input = input, .take = take, .context = context};
	bool is_right;

	/* As it was when the frame was given.  After that the input goes on behind
	 * it. */
	input->offset = frame->offset;
	input->size = frame->size;
	is_right = open_input(inputs, input) && read_frame(&reading);
	input->offset += input->size;
	input->size = 0;
	return is_right;
}

size_t triad_profile_inputs_copy(struct triad_profile_inputs *inputs,
	const struct triad_profile_frame *frame, uint64_t at, void *to, size_t size)
{
	struct input *input = &inputs->inputs[frame->input];
	uint64_t left = frame->size - at;
	ssize_t n;

	if (!left || !open_input(inputs, input))
		return 0;
	n = read_at(input, to, left < size ? (size_t)left : size, frame->offset + at);
	if (n <= 0)
		fail(inputs, input, "offset %" PRIu64 ": %s", frame->offset + at,
			n < 0 ? strerror(errno) : "the file became shorter");
	return n > 0 ? (size_t)n : 0;
}

unsigned triad_profile_inputs_failed(const struct triad_profile_inputs *inputs)
{
	return inputs->n_failed;
}

uint64_t triad_profile_inputs_octets(
	const struct triad_profile_inputs *inputs, uint64_t *done)
{
	uint64_t all = 0;

	*done = 0;
	for (unsigned i = 0; i < inputs->n; i++) {
		all += inputs->inputs[i].file_size;
		*done += inputs->inputs[i].is_ended ? inputs->inputs[i].file_size
						    : inputs->inputs[i].offset;
	}
	return all;
}
