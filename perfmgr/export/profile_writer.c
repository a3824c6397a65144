/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/profile_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/formats/change_filter.h"
#include "perfmgr/export/frame_writer.h"
#include "perfmgr/export/profile_file.h"
#include "perfmgr/export/profile_old.h"
#include "perfmgr/formats/profile.h"
#include "triad/clock.h"
#include "triad/file.h"

#define OCTETS_PER_WORD 4

/* The frame under construction. */
struct frame {
	const struct triad_view *view;
	uint64_t wall_us, since_us; /* when its sweep began */
	uint64_t n_rows, n_looked_at;
	bool is_first; /* of its file */
	int error;
};

struct triad_profile_writer {
	uint64_t port_guid;
	struct triad_log *log;
	uint64_t started_us;  /* wall clock */
	pthread_mutex_t lock; /* of these two */
	struct triad_profile_params next;
	struct triad_profile_status status;

	/* Only for the owner's thread. */
	struct triad_profile_params params;
	struct triad_profile_file file;
	struct triad_change_filter *filter;
	struct triad_frame_writer *out;
	uint64_t begun_us;    /* monotonic, when the file's first frame began */
	uint64_t last_octets; /* of the frame before */
	struct triad_file_report reported;
	uint64_t n_dropped_since; /* it was said */
};

/* A file has a day at most: so it is found by its name, and one that is damaged costs no
 * more. */
#define MAX_AGE_US (UINT64_C(86400) * TRIAD_US_PER_S)

struct triad_profile_params triad_profile_params(const struct triad_conf *conf)
{
	struct triad_profile_params params = {
		.all_counters = conf->profile.counters != TRIAD_PROFILE_DATA,
		.details = conf->profile.counters == TRIAD_PROFILE_DETAILS,
		.max_size_octets = conf->profile.max_size_mb * UINT64_C(1000000),
		.max_age_us = MAX_AGE_US,
		.keep = conf->profile.keep,
		.period_us = conf->perfmgr.sweep_period_s * TRIAD_US_PER_S,
	};

	memcpy(params.path, conf->profile.file, sizeof(params.path));
	return params;
}

struct triad_profile_writer *triad_profile_writer_new(
	uint64_t port_guid, struct triad_log *log)
{
	struct triad_profile_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->log = log;
	writer->port_guid = port_guid;
	writer->started_us = triad_clock_wall_us();
	pthread_mutex_init(&writer->lock, NULL);
	triad_profile_file_init(&writer->file);
	writer->filter = triad_change_filter_new();
	writer->out = triad_frame_writer_new();
	if (writer->filter && writer->out)
		return writer;
	triad_profile_writer_free(writer);
	return NULL;
}

void triad_profile_writer_free(struct triad_profile_writer *writer)
{
	if (!writer)
		return;
	triad_profile_file_close(&writer->file);
	triad_change_filter_free(writer->filter);
	triad_frame_writer_free(writer->out);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
}

void triad_profile_writer_configure(
	struct triad_profile_writer *writer, const struct triad_profile_params *params)
{
	pthread_mutex_lock(&writer->lock);
	writer->next = *params;
	pthread_mutex_unlock(&writer->lock);
}

struct triad_profile_status triad_profile_writer_status(
	struct triad_profile_writer *writer)
{
	struct triad_profile_status status;

	pthread_mutex_lock(&writer->lock);
	status = writer->status;
	pthread_mutex_unlock(&writer->lock);
	return status;
}

/* --- the file --- */

static void note_opened(struct triad_profile_writer *writer)
{
	const struct triad_profile_file *file = &writer->file;

	pthread_mutex_lock(&writer->lock);
	writer->status.n_files++;
	pthread_mutex_unlock(&writer->lock);
	if (file->cut_octets)
		triad_log_write(writer->log, TRIAD_LOG_INFO,
			"profile: %s ended within a sweep: %" PRIu64
			" octets were cut off, and it goes on behind the last whole "
			"one",
			file->path, file->cut_octets);
	if (file->must_be_aside)
		triad_log_write(writer->log, TRIAD_LOG_INFO,
			"profile: %s is put aside and a new file begun: %s", file->path,
			file->size > TRIAD_PROFILE_WALK_OCTETS
				? "it is too large to look for its end"
				: "it has a damaged place, up to which it can be read");
}

static int open_profile(struct triad_profile_writer *writer, struct frame *frame)
{
	int error = triad_profile_file_open(&writer->file, writer->params.path);
	uint64_t begun_us = writer->file.begun_us, age_us = 0;

	if (error)
		return error;
	/* How old the file is, by the wall clock; unknown if that went back. */
	if (begun_us && begun_us < frame->wall_us)
		age_us = frame->wall_us - begun_us;
	writer->begun_us = frame->since_us > age_us ? frame->since_us - age_us : 0;
	note_opened(writer);
	/* Each file must be readable alone, so it begins with all ports. */
	frame->is_first = true;
	triad_change_filter_forget(writer->filter);
	return 0;
}

static bool must_be_aside(
	const struct triad_profile_writer *writer, const struct frame *frame)
{
	const struct triad_profile_params *params = &writer->params;
	const struct triad_profile_file *file = &writer->file;

	if (!file->size)
		return false;
	return file->must_be_aside ||
		file->size + writer->last_octets > params->max_size_octets ||
		frame->since_us - writer->begun_us >= params->max_age_us;
}

static int prepare_file(struct triad_profile_writer *writer, struct frame *frame)
{
	struct triad_profile_file *file = &writer->file;
	int error = 0;

	file->why = NULL;
	/* An administrator may have moved or removed the file. */
	if (strcmp(file->path, writer->params.path) != 0 ||
		!triad_profile_file_is_there(file))
		error = open_profile(writer, frame);
	if (error || !must_be_aside(writer, frame))
		return error;
	error = triad_profile_file_put_aside(file, frame->wall_us);
	if (error)
		return error;
	/* Remove old files before the new one begins, to make room.  Write even if that
	 * fails. */
	error = triad_profile_remove_old(writer->params.path, writer->params.keep);
	if (error)
		triad_log_write(writer->log, TRIAD_LOG_ERROR,
			"profile: old files beside %s can't be removed: %s",
			writer->params.path, strerror(error));
	return open_profile(writer, frame);
}

/* --- a frame --- */

static uint32_t sum_of_errors(const struct triad_engine_row *row)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (triad_counters[i].is_error)
			sum += row->total[i];
	return (uint32_t)sum;
}

static bool is_port_due(struct triad_profile_writer *writer, const struct frame *frame,
	uint32_t port, const struct triad_engine_row *row)
{
	const struct triad_profile_params *params = &writer->params;
	const struct triad_change_filter_port changed = {
		.node_guid = row->node_guid,
		.port = row->port,
		.watched = params->all_counters ? sum_of_errors(row) : 0,
		.xmit_words = row->total[TRIAD_PORT_XMIT_DATA],
		.rcv_words = row->total[TRIAD_PORT_RCV_DATA],
		.wait_ticks =
			params->all_counters ? row->total[TRIAD_PORT_XMIT_WAIT] : 0,
	};
	bool due;

	/* When memory is short, the port is due. */
	(void)triad_change_filter_check(writer->filter, frame->view->rows[port],
		&changed, params->min_change_octets / OCTETS_PER_WORD, &due);
	return due;
}

static bool is_fresh(const struct triad_engine_row *row, const struct frame *frame)
{
	return row->answered && row->read_us && row->read_us >= frame->since_us;
}

static void put_profile_row(struct triad_profile_writer *writer, struct frame *frame,
	uint32_t index, const char *time, const struct triad_engine_row *row)
{
	const struct triad_profile_row profile =
		triad_profile_row_of(frame->view->fabric, index, row);

	triad_frame_writer_add(writer->out,
		triad_profile_render_row(triad_frame_writer_line(writer->out), time,
			&profile,
			writer->params.all_counters ? TRIAD_PROFILE_ALL_COUNTERS : 0));
	frame->n_rows++;
}

/* A sweep is of all ports when every port group that answers has a port read in it;
 * most often the first port of each group decides. */
static enum triad_profile_sweep sweep_of(const struct frame *frame)
{
	const struct triad_view *view = frame->view;
	uint32_t fresh = 0, stale = 0;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		uint32_t group = 1u << view->group[i];
		struct triad_engine_row row;

		if (fresh & group || !triad_view_is_asked(view, i) ||
			!triad_view_read(view, i, &row) || !row.answered)
			continue;
		fresh |= is_fresh(&row, frame) ? group : 0;
		stale |= group;
	}
	return stale & ~fresh ? TRIAD_PROFILE_SWEEP_PART : TRIAD_PROFILE_SWEEP_ALL;
}

static void put_profile_head(struct triad_profile_writer *writer, struct frame *frame)
{
	const struct triad_profile_info info = {
		.time_us = frame->wall_us,
		.sm_guid = writer->port_guid,
		.started_us = writer->started_us,
		.min_change_octets = writer->params.min_change_octets,
		.period_us = writer->params.period_us,
		.sweep = sweep_of(frame),
	};

	triad_frame_writer_add(writer->out,
		triad_profile_render_info(triad_frame_writer_line(writer->out), &info));
	triad_frame_writer_add(writer->out,
		triad_profile_render_header(triad_frame_writer_line(writer->out),
			writer->params.all_counters ? TRIAD_PROFILE_ALL_COUNTERS : 0));
}

static void put_detail(struct triad_profile_writer *writer,
	const struct triad_details_port *of, const struct triad_detail_field *field,
	const struct triad_detail_row *row)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < field->n; i++)
		any |= row->total[field->slot + i];
	if (any)
		triad_frame_writer_add(writer->out,
			triad_profile_render_detail(
				triad_frame_writer_line(writer->out), of->node_guid,
				of->number, field, row->total + field->slot));
}

/* Writes the details of a port that were read in the sweep; in a file's first frame,
 * all known ones. */
static void put_details(
	struct triad_profile_writer *writer, struct frame *frame, uint32_t port)
{
	const struct triad_details *details = triad_engine_details(frame->view->engine);
	const struct triad_details_port of = triad_view_details_port(frame->view, port);
	uint32_t known = triad_details_known(details, &of);
	struct triad_detail_row row;

	for (; known && !triad_frame_writer_error(writer->out); known &= known - 1) {
		enum triad_pma_attribute attribute =
			(enum triad_pma_attribute)__builtin_ctz(known);

		if (!triad_details_read(details, &of, attribute, &row) ||
			(!frame->is_first && row.read_us < frame->since_us))
			continue;
		for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++)
			if (triad_detail_fields[i].attributes &
				TRIAD_DETAIL_BIT(attribute))
				put_detail(writer, &of, &triad_detail_fields[i], &row);
	}
}

static void make_frame(struct triad_profile_writer *writer, struct frame *frame)
{
	char time[TRIAD_CLOCK_TEXT_SIZE];

	triad_frame_writer_begin(writer->out, &writer->file);
	triad_clock_format(frame->wall_us, time);
	put_profile_head(writer, frame);
	for (uint32_t i = 0; i < frame->view->fabric->n_ports &&
		!triad_frame_writer_error(writer->out);
		i++) {
		struct triad_engine_row row;

		if (!frame->view->fabric->ports[i].has_pma ||
			!triad_view_read(frame->view, i, &row) ||
			!is_fresh(&row, frame))
			continue;
		frame->n_looked_at++;
		if (is_port_due(writer, frame, i, &row))
			put_profile_row(writer, frame, i, time, &row);
	}
	for (uint32_t i = 0;
		writer->params.details && !triad_frame_writer_error(writer->out) &&
		i < frame->view->fabric->n_ports;
		i++)
		if (triad_view_is_asked(frame->view, i))
			put_details(writer, frame, i);
	frame->error = triad_frame_writer_end(writer->out);
}

/* --- what became of it --- */

static void note_status(struct triad_profile_writer *writer, const struct frame *frame,
	uint64_t took_us)
{
	struct triad_profile_status *status = &writer->status;
	const char *why = writer->file.why;

	pthread_mutex_lock(&writer->lock);
	status->error = frame->error;
	status->file_octets = writer->file.fd >= 0 ? writer->file.size : 0;
	snprintf(status->reason, sizeof(status->reason), "%s",
		!frame->error ? ""
			: why ? why
			      : strerror(frame->error));
	if (frame->error) {
		status->n_dropped++;
	} else {
		status->n_frames++;
		status->n_rows += frame->n_rows;
		status->n_text_octets += triad_frame_writer_text_octets(writer->out);
		status->n_octets += triad_frame_writer_octets(writer->out);
	}
	if (frame->n_looked_at)
		status->ns_per_row =
			(double)took_us * 1000 / (double)frame->n_looked_at;
	pthread_mutex_unlock(&writer->lock);
}

static void log_result(struct triad_profile_writer *writer, const struct frame *frame)
{
	const char *path = writer->params.path;

	writer->n_dropped_since += frame->error != 0;
	switch (triad_file_report(&writer->reported, path, frame->error)) {
	case TRIAD_FILE_IN_TROUBLE:
		triad_log_write(writer->log, TRIAD_LOG_ERROR,
			"profile: %s can't be written: %s; each sweep tries again, "
			"those until then are left out",
			path, writer->status.reason);
		break;
	case TRIAD_FILE_WELL_AGAIN:
		triad_log_write(writer->log, TRIAD_LOG_INFO,
			"profile: %s is written again; %" PRIu64 " sweeps were left "
			"out",
			path, writer->n_dropped_since);
		break;
	default:
		break;
	}
	if (!frame->error)
		writer->n_dropped_since = 0;
}

bool triad_profile_writer_apply(struct triad_profile_writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	writer->params = writer->next;
	if (!writer->params.path[0]) {
		triad_profile_file_close(&writer->file);
		writer->status.error = 0;
		writer->status.reason[0] = '\0';
		writer->status.file_octets = 0;
	}
	pthread_mutex_unlock(&writer->lock);
	return writer->params.path[0];
}

int triad_profile_writer_write(struct triad_profile_writer *writer,
	const struct triad_view *view, uint64_t sweep_started_wall_us,
	uint64_t sweep_started_us)
{
	uint64_t begun_us = triad_clock_now_us();
	struct frame frame = {.view = view,
		/* In milliseconds, as it is written. */
		.wall_us = sweep_started_wall_us / TRIAD_US_PER_MS * TRIAD_US_PER_MS,
		.since_us = sweep_started_us};

	if (!triad_profile_writer_apply(writer))
		return 0;
	frame.error = prepare_file(writer, &frame);
	if (!frame.error) {
		make_frame(writer, &frame);
		if (frame.error) {
			triad_profile_file_drop(&writer->file);
			/* The filter counts rows as reported that the file does not
			 * have. */
			triad_change_filter_forget(writer->filter);
		} else {
			triad_profile_file_keep(&writer->file);
			writer->last_octets = triad_frame_writer_octets(writer->out);
		}
	}
	note_status(writer, &frame, triad_clock_now_us() - begun_us);
	log_result(writer, &frame);
	return frame.error;
}
