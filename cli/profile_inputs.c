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

#include "lib/text.h"
#include "perfmgr/export/zstd_frame.h"

#define MAX_OPEN 64

struct input {
	const char *path;
	int fd;        /* -1: not open at present */
	uint64_t used; /* number of its last use */
	dev_t device;
	ino_t inode;
	uint64_t file_size, offset, size; /* of the file; of its next frame */
	uint64_t time_us;
	bool is_ended;
};

struct triad_profile_inputs {
	void (*report)(void *context, const char *message);
	void *context;
	unsigned n, n_open, n_failed;
	uint64_t turn;
	struct triad_frame_reader *reader;
	struct input inputs[];
};

struct triad_profile_inputs *triad_profile_inputs_new(unsigned n,
	const char *const *paths, void (*report)(void *, const char *), void *context)
{
	struct triad_profile_inputs *inputs =
		calloc(1, sizeof(*inputs) + n * sizeof(inputs->inputs[0]));

	if (!inputs)
		return NULL;
	inputs->report = report;
	inputs->context = context;
	inputs->n = n;
	inputs->reader = triad_frame_reader_new();
	for (unsigned i = 0; i < n; i++)
		inputs->inputs[i] = (struct input){.path = paths[i], .fd = -1};
	if (inputs->reader)
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
	triad_frame_reader_free(inputs->reader);
	free(inputs);
}

/* Reports what is wrong with the input, and stops reading it. */
static bool fail_input(struct triad_profile_inputs *inputs, struct input *input,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool fail_input(struct triad_profile_inputs *inputs, struct input *input,
	const char *format, ...)
{
	char message[512];
	va_list args;

	snprintf(message, sizeof(message), "%.255s: ", input->path);
	va_start(args, format);
	triad_text_vappend(message, sizeof(message), format, args);
	va_end(args);
	triad_text_clean(message);
	inputs->report(inputs->context, message);
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

/* Checks an opened file.  Reads the size only once: a file that is being written may
 * grow. */
static bool check_opened(struct triad_profile_inputs *inputs, struct input *input)
{
	struct stat status;

	if (fstat(input->fd, &status))
		return fail_input(inputs, input, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return fail_input(inputs, input, "it is not a regular file");
	/* When the path is opened again, it must lead to the same file. */
	if (!input->inode) {
		input->device = status.st_dev;
		input->inode = status.st_ino;
		input->file_size = (uint64_t)status.st_size;
	}
	if (input->device != status.st_dev || input->inode != status.st_ino)
		return fail_input(inputs, input,
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
		return fail_input(inputs, input, "%s", strerror(errno));
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

/* Passes the lines of the input's frame to 'take'. */
static bool read_frame(struct triad_profile_inputs *inputs, struct input *input,
	triad_profile_take_line *take, void *context)
{
	if (!triad_frame_reader_read(inputs->reader, input->fd, input->offset,
		    input->size, take, context))
		return true;
	return fail_input(
		inputs, input, "%s", triad_frame_reader_message(inputs->reader));
}

/* --- the order --- */

struct peek {
	uint64_t time_us; /* 0: not found yet */
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

/* Measures the frame at the input's offset; skips skippable frames.  The frame may be
 * empty. */
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
			return fail_input(inputs, input,
				"offset %" PRIu64
				": the file ends within the frame there: its writer "
				"is at it, or was killed",
				input->offset);
		if (error == EILSEQ)
			return fail_input(inputs, input,
				"offset %" PRIu64 ": this is no frame of zstd",
				input->offset);
		if (error)
			return fail_input(inputs, input, "offset %" PRIu64 ": %s",
				input->offset, strerror(error));
		input->size = frame.size;
		if (frame.is_skippable)
			input->offset += frame.size;
	} while (frame.is_skippable);
	return true;
}

/* Finds the input's next frame and its time. */
static void find_frame(struct triad_profile_inputs *inputs, struct input *input)
{
	struct peek peek = {0};

	if (!open_input(inputs, input) || !measure_frame(inputs, input) ||
		!read_frame(inputs, input, note_time, &peek))
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

		/* Inputs that were not chosen last time still have their frame. */
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
	bool is_right;

	/* Go back to the frame; triad_profile_inputs_next() goes on behind it. */
	input->offset = frame->offset;
	input->size = frame->size;
	is_right =
		open_input(inputs, input) && read_frame(inputs, input, take, context);
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
		fail_input(inputs, input, "offset %" PRIu64 ": %s", frame->offset + at,
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
