/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'profile merge': checks frames, then copies them octet by octet.  So their content
 * can't change, and a damaged frame leaves no part of a sweep in the output. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/profile_command.h"
#include "cli/profile_inputs.h"
#include "cli/profile_progress.h"
#include "triad/control.h"

#define PIECE_SIZE (256u << 10)

struct merge {
	const struct triad_profile_command *command;
	struct triad_profile_inputs *inputs;
	struct triad_profile_progress progress;
	int fd;
	int error;                            /* of writing */
	char header[TRIAD_PROFILE_LINE_SIZE]; /* the last header, with --csv */
	size_t n_used;
	char piece[PIECE_SIZE];
};

static void complain_of_profile(const char *name, const char *what)
{
	fprintf(stderr, "triadctl: profile merge: %s%s%s\n", name, *name ? ": " : "",
		what);
}

static void print_message(void *context, const char *message)
{
	struct merge *merge = context;

	triad_profile_progress_end(&merge->progress);
	complain_of_profile("", message);
}

/* --- output --- */

static bool is_input(const struct merge *merge, const struct stat *out)
{
	for (unsigned i = 0; i < merge->command->n_files; i++) {
		struct stat in;

		if (!stat(merge->command->files[i], &in) && in.st_dev == out->st_dev &&
			in.st_ino == out->st_ino)
			return true;
	}
	return false;
}

static int open_output(struct merge *merge)
{
	const char *out = merge->command->out;
	struct stat status;

	merge->fd = STDOUT_FILENO;
	if (!out && isatty(STDOUT_FILENO) && !merge->command->csv) {
		complain_of_profile("",
			"compressed frames don't go to a terminal: name a file "
			"with -o, or ask for text with --csv");
		return TRIAD_CONTROL_USAGE;
	}
	if (!out)
		return TRIAD_CONTROL_DONE;
	/* Check before open(), which empties the file. */
	if (!stat(out, &status) && is_input(merge, &status)) {
		complain_of_profile(out, "it is one of the files to be read");
		return TRIAD_CONTROL_USAGE;
	}
	merge->fd =
		open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0640);
	if (merge->fd >= 0)
		return TRIAD_CONTROL_DONE;
	complain_of_profile(out, strerror(errno));
	return TRIAD_CONTROL_FAILED;
}

static void write_out(struct merge *merge, const char *data, size_t size)
{
	while (size && !merge->error) {
		ssize_t n = write(merge->fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			merge->error = n < 0 ? errno : EIO;
			break;
		}
		data += n;
		size -= (size_t)n;
	}
}

static void flush_piece(struct merge *merge)
{
	write_out(merge, merge->piece, merge->n_used);
	merge->n_used = 0;
}

/* Closes the output.  EPIPE is not a failure: the reader has closed it. */
static int close_output(struct merge *merge)
{
	if (merge->fd != STDOUT_FILENO && close(merge->fd) && !merge->error)
		merge->error = errno;
	if (!merge->error || merge->error == EPIPE)
		return TRIAD_CONTROL_DONE;
	complain_of_profile(
		merge->command->out ? merge->command->out : "standard output",
		strerror(merge->error));
	return TRIAD_CONTROL_FAILED;
}

/* --- frames --- */

static void copy_frame(struct merge *merge, const struct triad_profile_frame *frame)
{
	uint64_t at = 0;
	size_t n;

	while (!merge->error &&
		(n = triad_profile_inputs_copy(
			 merge->inputs, frame, at, merge->piece, PIECE_SIZE)) > 0) {
		write_out(merge, merge->piece, n);
		at += n;
	}
}

static void put_profile_line(struct merge *merge, const char *line, size_t length)
{
	/* The line fits after a flush: the parser refuses longer ones. */
	if (merge->n_used + length + 1 > PIECE_SIZE)
		flush_piece(merge);
	memcpy(merge->piece + merge->n_used, line, length);
	merge->n_used += length;
	merge->piece[merge->n_used++] = '\n';
}

/* Writes a line for a spreadsheet: a header where columns change, no comments. */
static bool merge_line(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length)
{
	struct merge *merge = context;

	(void)parser;
	if (kind == TRIAD_PROFILE_ROW) {
		put_profile_line(merge, line, length);
	} else if (kind == TRIAD_PROFILE_HEADER &&
		(strncmp(merge->header, line, length) || merge->header[length])) {
		memcpy(merge->header, line, length);
		merge->header[length] = '\0';
		put_profile_line(merge, line, length);
	}
	return !merge->error;
}

static void merge_frames(struct merge *merge)
{
	struct triad_profile_frame frame;

	while (!merge->error && triad_profile_inputs_next(merge->inputs, &frame)) {
		triad_profile_progress_show(&merge->progress, merge->inputs);
		/* Check the whole frame first, so that nothing of a broken one is
		 * written. */
		if (!triad_profile_inputs_read(merge->inputs, &frame, NULL, NULL))
			continue;
		if (merge->command->csv)
			triad_profile_inputs_read(
				merge->inputs, &frame, merge_line, merge);
		else
			copy_frame(merge, &frame);
	}
	flush_piece(merge);
	triad_profile_progress_end(&merge->progress);
}

int triad_profile_merge(const struct triad_profile_command *command)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	int status = TRIAD_CONTROL_FAILED;

	if (merge)
		merge->inputs = triad_profile_inputs_new(
			command->n_files, command->files, print_message, merge);
	if (!merge || !merge->inputs) {
		complain_of_profile("", strerror(ENOMEM));
		free(merge);
		return TRIAD_CONTROL_FAILED;
	}
	merge->command = command;
	triad_profile_progress_init(&merge->progress, "merge");
	status = open_output(merge);
	if (status == TRIAD_CONTROL_DONE) {
		merge_frames(merge);
		status = close_output(merge);
		if (triad_profile_inputs_failed(merge->inputs))
			status = TRIAD_CONTROL_FAILED;
	}
	triad_profile_inputs_free(merge->inputs);
	free(merge);
	return status;
}
