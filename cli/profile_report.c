/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/profile_report.h"

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

/* --- reading --- */

struct reading {
	struct triad_profile_progress progress;
	struct triad_stats *stats;
	bool has_info; /* a comment has begun the section of the next header */
	int error;
};

static void complain_of_profile(const char *name, const char *what)
{
	fprintf(stderr, "triadctl: profile report: %s%s%s\n", name, *name ? ": " : "",
		what);
}

static void print_message(void *context, const char *message)
{
	struct reading *reading = context;

	triad_profile_progress_end(&reading->progress);
	complain_of_profile("", message);
}

static bool add_line(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length)
{
	struct reading *reading = context;

	(void)line;
	(void)length;
	if (kind == TRIAD_PROFILE_INFO)
		reading->error = triad_stats_begin(reading->stats, &parser->info);
	else if (kind == TRIAD_PROFILE_HEADER && !reading->has_info)
		reading->error = triad_stats_begin(reading->stats, NULL);
	else if (kind == TRIAD_PROFILE_ROW)
		reading->error = triad_stats_add(reading->stats, &parser->row);
	if (kind == TRIAD_PROFILE_INFO || kind == TRIAD_PROFILE_HEADER)
		reading->has_info = kind == TRIAD_PROFILE_INFO;
	return !reading->error;
}

/* Returns an exit status. */
static int read_files(
	const struct triad_profile_command *command, struct reading *reading)
{
	struct triad_profile_inputs *inputs = triad_profile_inputs_new(
		command->n_files, command->files, print_message, reading);
	struct triad_profile_frame frame;
	unsigned n_failed;

	if (!inputs) {
		reading->error = ENOMEM;
		return TRIAD_CONTROL_FAILED;
	}
	triad_profile_progress_init(&reading->progress, "report");
	while (!reading->error && triad_profile_inputs_next(inputs, &frame)) {
		triad_profile_progress_show(&reading->progress, inputs);
		/* Each frame begins a section. */
		reading->has_info = false;
		triad_profile_inputs_read(inputs, &frame, add_line, reading);
	}
	triad_profile_progress_end(&reading->progress);
	n_failed = triad_profile_inputs_failed(inputs);
	triad_profile_inputs_free(inputs);
	triad_stats_end(reading->stats);
	return n_failed || reading->error ? TRIAD_CONTROL_FAILED : TRIAD_CONTROL_DONE;
}

/* --- writing --- */

struct sink {
	FILE *file;
	int error;
};

static bool write_to(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	struct sink *sink = context;

	(void)type;
	if (fwrite(data, 1, size, sink->file) == size)
		return true;
	sink->error = errno;
	return false;
}

static int write_report(const struct triad_profile_report_data *report,
	struct sink *sink,
	void (*render)(const struct triad_profile_report_data *, struct triad_output *))
{
	struct triad_output output;

	triad_output_init(&output, write_to, sink);
	render(report, &output);
	triad_output_flush(&output);
	if (fflush(sink->file) && !sink->error)
		sink->error = errno;
	return sink->error;
}

static int draw(const struct triad_profile_report_data *report, const char *path)
{
	struct sink sink = {.file = fopen(path, "we")};
	int error = sink.file ? write_report(report, &sink, triad_report_svg) : errno;

	if (sink.file && fclose(sink.file) && !error)
		error = errno;
	if (error)
		complain_of_profile(path, strerror(error));
	return error ? TRIAD_CONTROL_FAILED : TRIAD_CONTROL_DONE;
}

static int show_report(const struct triad_profile_command *command,
	const struct triad_profile_report_data *report)
{
	struct sink sink = {.file = stdout};
	int error = write_report(
		report, &sink, command->json ? triad_report_json : triad_report_text);

	if (!error || error == EPIPE)
		return TRIAD_CONTROL_DONE;
	complain_of_profile("standard output", strerror(error));
	return TRIAD_CONTROL_FAILED;
}

static bool is_drawn_over_input(const struct triad_profile_command *command)
{
	struct stat out, in;

	if (!command->svg || stat(command->svg, &out))
		return false;
	for (unsigned i = 0; i < command->n_files; i++)
		if (!stat(command->files[i], &in) && in.st_dev == out.st_dev &&
			in.st_ino == out.st_ino)
			return true;
	return false;
}

static int report_on(
	const struct triad_profile_command *command, const struct triad_stats *stats)
{
	struct triad_links links;
	struct triad_profile_report_data report = {.stats = stats,
		.links = &links,
		.n_files = command->n_files,
		.limit = command->limit};
	int status, drawn = TRIAD_CONTROL_DONE;

	if (triad_links_make(&links, stats)) {
		complain_of_profile("", strerror(ENOMEM));
		return TRIAD_CONTROL_FAILED;
	}
	status = show_report(command, &report);
	if (command->svg)
		drawn = draw(&report, command->svg);
	triad_links_clear(&links);
	return status ? status : drawn;
}

int triad_profile_report(const struct triad_profile_command *command)
{
	struct reading reading = {.stats = triad_stats_new()};
	int status, shown = TRIAD_CONTROL_DONE;

	/* First of all: the drawing must not overwrite an input. */
	if (is_drawn_over_input(command)) {
		complain_of_profile(command->svg, "it is one of the files to be read");
		triad_stats_free(reading.stats);
		return TRIAD_CONTROL_USAGE;
	}
	if (!reading.stats)
		reading.error = ENOMEM;
	status = reading.error ? TRIAD_CONTROL_FAILED : read_files(command, &reading);
	if (reading.error)
		complain_of_profile("",
			reading.error == ENOMEM
				? "memory is short"
				: "there are too many ports or collectors");
	else
		shown = report_on(command, reading.stats);
	triad_stats_free(reading.stats);
	return status ? status : shown;
}
