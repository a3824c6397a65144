/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/history/level_sums.h"
#include "serve/history/port_series.h"
#include "triad/clock.h"

/* --- messages --- */

static void explain_not_found(const struct triad_history_answer *answer, char *message)
{
	char first[TRIAD_CLOCK_TEXT_SIZE], last[TRIAD_CLOCK_TEXT_SIZE];
	char from[TRIAD_CLOCK_TEXT_SIZE], to[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format_s(answer->first_us, first);
	triad_clock_format_s(answer->last_us, last);
	triad_clock_format_s(answer->gap_from_us, from);
	switch (answer->found) {
	case TRIAD_HISTORY_EMPTY:
		snprintf(message, TRIAD_HISTORY_MESSAGE_SIZE,
			"there is no image yet: the first one is written after a sweep");
		break;
	case TRIAD_HISTORY_TOO_EARLY:
		snprintf(message, TRIAD_HISTORY_MESSAGE_SIZE,
			"that is before the first image: they reach from %s to %s",
			first, last);
		break;
	case TRIAD_HISTORY_GAP:
		snprintf(message, TRIAD_HISTORY_MESSAGE_SIZE,
			"nothing was recorded between %s and %s; images reach from %s "
			"to %s",
			from, triad_clock_format_s(answer->gap_to_us, to), first, last);
		break;
	default:
		snprintf(message, TRIAD_HISTORY_MESSAGE_SIZE,
			"that is after the last image: they reach from %s to %s", first,
			last);
		break;
	}
}

static int complain_of_image(
	struct triad_history_reading *reading, int error, const char *why)
{
	snprintf(reading->message, TRIAD_HISTORY_MESSAGE_SIZE,
		"the image can't be read: %.400s", why);
	return error;
}

/* --- files --- */

/* Returns a descriptor or -1, with a message. */
static int open_segment(struct triad_history_reading *reading,
	const struct triad_history_position *position)
{
	char path[PATH_MAX], why[PATH_MAX + 64];
	int fd;

	if (!triad_history_store_path(reading->store, position, path)) {
		complain_of_image(reading, ENAMETOOLONG, strerror(ENAMETOOLONG));
		return -1;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		snprintf(why, sizeof(why), "%s: %s", path, strerror(errno));
		complain_of_image(reading, errno, why);
	}
	return fd;
}

/* The same, with the segment's file name. */
static int complain_of(struct triad_history_reading *reading,
	const struct triad_history_position *position, int error, const char *why)
{
	char path[PATH_MAX], text[TRIAD_HISTORY_MESSAGE_SIZE];

	if (!triad_history_store_path(reading->store, position, path))
		return complain_of_image(reading, error, why);
	snprintf(text, sizeof(text), "%.200s: %.190s", path, why);
	return complain_of_image(reading, error, text);
}

/* --- an image --- */

/* To whom lines are given. */
struct taker {
	triad_line_take *give;
	void *context;
};

static bool give_text(const struct taker *taker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool give_text(const struct taker *taker, const char *format, ...)
{
	char text[TRIAD_PROFILE_LINE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return taker->give(taker->context, text, strlen(text));
}

/* Gives one frame. */
static int read_frame(struct triad_history_reading *reading, const struct taker *taker,
	int fd, const struct triad_history_position *position,
	const struct triad_history_entry *entry, const char *part)
{
	struct triad_history_unpack unpack = {
		.give = taker->give, .context = taker->context};
	char path[PATH_MAX];
	int error;

	if (!triad_history_store_path(reading->store, position, path) ||
		!give_text(taker, "= part %s %s", part, path))
		return ECANCELED;
	error = triad_frame_reader_give(reading->frames, fd, entry->offset, entry->size,
		triad_history_unpack_line, &unpack);
	if (!error)
		(void)triad_history_unpack_end(&unpack);
	triad_topology_octets_free(&unpack.packed);
	return error ? complain_of(reading, position, error,
			       triad_frame_reader_message(reading->frames))
		     : 0;
}

/* Gives an image: its key, unless that was given, then the image's differences from it.
 * 'is_before': the image before the one that is shown. */
static int read_position(struct triad_history_reading *reading,
	const struct taker *taker, const struct triad_history_position *position,
	bool is_before, bool has_key)
{
	int fd = open_segment(reading, position), error = 0;

	if (fd < 0)
		return EIO;
	if (!has_key)
		error = read_frame(reading, taker, fd, position, &position->key,
			triad_past_part_name(
				is_before ? TRIAD_PAST_BEFORE_KEY : TRIAD_PAST_KEY));
	if (!error && !position->entry.is_key)
		error = read_frame(reading, taker, fd, position, &position->entry,
			triad_past_part_name(
				is_before ? TRIAD_PAST_BEFORE : TRIAD_PAST_IMAGE));
	close(fd);
	return error;
}

static bool same_segment(
	const struct triad_history_position *a, const struct triad_history_position *b)
{
	return a->port_guid == b->port_guid && a->tier == b->tier &&
		a->segment == b->segment;
}

static bool same_key(
	const struct triad_history_position *a, const struct triad_history_position *b)
{
	return same_segment(a, b) && a->key.offset == b->key.offset;
}

static int read_positions(struct triad_history_reading *reading,
	const struct taker *taker, const struct triad_history_answer *answer)
{
	int error = read_position(reading, taker, &answer->position, false, false);

	if (!error && answer->has_before)
		error = read_position(reading, taker, &answer->before, true,
			same_key(&answer->position, &answer->before) &&
				!answer->before.entry.is_key);
	return error;
}

static int read_without_ports(struct triad_history_reading *reading,
	const struct taker *taker, const struct triad_history_answer *answer)
{
	int fd = open_segment(reading, &answer->position), error;

	if (fd < 0)
		return EIO;
	error = read_frame(reading, taker, fd, &answer->position,
		&answer->position.entry, TRIAD_HISTORY_ALONE);
	close(fd);
	return error;
}

static bool read_at(struct triad_history_reading *reading, uint64_t at_us,
	const struct taker *taker,
	int (*read)(struct triad_history_reading *, const struct taker *,
		const struct triad_history_answer *))
{
	struct triad_history_answer answer;

	reading->message[0] = '\0';
	/* Other SMs may have written images since the last request. */
	triad_history_store_look_at_others(reading->store, reading->frames);
	answer = triad_history_store_find(reading->store, at_us);
	if (answer.found != TRIAD_HISTORY_FOUND) {
		explain_not_found(&answer, reading->message);
		return false;
	}
	return give_text(taker, "= port 0x%016" PRIx64, answer.position.port_guid) &&
		!read(reading, taker, &answer);
}

static bool read_past(struct triad_history_reading *reading, uint64_t at_us,
	triad_line_take *give, void *context)
{
	const struct taker taker = {.give = give, .context = context};

	return read_at(reading, at_us, &taker, read_positions);
}

static bool read_outputs(struct triad_history_reading *reading, uint64_t at_us,
	triad_line_take *give, void *context)
{
	const struct taker taker = {.give = give, .context = context};

	return read_at(reading, at_us, &taker, read_without_ports);
}

/* --- since when there is a list --- */

#define N_SINCE 64u /* images in one pass */

struct list_look {
	enum triad_kept_kind kind;
	bool is_kept;
};

/* Stops at the rows of counters: lists stand before them. */
static bool look_at_list(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length)
{
	struct list_look *look = context;
	char name[32];
	char copy[64];

	(void)parser;
	if (kind != TRIAD_PROFILE_COMMENT)
		return kind != TRIAD_PROFILE_HEADER && kind != TRIAD_PROFILE_ROW;
	snprintf(copy, sizeof(copy), "%.*s", (int)length, line);
	look->is_kept = (sscanf(copy, "# triad-list %31s", name) == 1 ||
				sscanf(copy, "# triad-no-list %31s", name) == 1) &&
		triad_kept_find(name) == look->kind;
	return !look->is_kept;
}

static bool has_list(struct triad_history_reading *reading,
	const struct triad_history_position *position, enum triad_kept_kind kind)
{
	struct list_look look = {.kind = kind};
	int fd = open_segment(reading, position);

	if (fd < 0)
		return false;
	(void)triad_frame_reader_read(reading->frames, fd, position->entry.offset,
		position->entry.size, look_at_list, &look);
	close(fd);
	return look.is_kept;
}

/* Bisects 'positions', of which the first lacks the list and the last has it: returns the
 * first that has it. */
static uint32_t search_list(struct triad_history_reading *reading,
	const struct triad_history_position *positions, uint32_t n,
	enum triad_kept_kind kind)
{
	uint32_t without = 0, with = n - 1;

	while (with - without > 1) {
		uint32_t middle = (without + with) / 2;

		if (has_list(reading, &positions[middle], kind))
			with = middle;
		else
			without = middle;
	}
	return with;
}

static uint64_t read_list_since(struct triad_history_reading *reading,
	enum triad_kept_kind kind, uint64_t from_us)
{
	struct triad_history_position positions[N_SINCE];
	uint64_t to_us = UINT64_MAX, since_us = 0;
	uint32_t n, at;

	/* Each pass narrows the time to one part of N_SINCE, until all images in it
	 * have been in one pass. */
	do {
		n = triad_history_store_spread(
			reading->store, from_us, to_us, positions, N_SINCE);
		if (n < 2 || !has_list(reading, &positions[n - 1], kind))
			break;
		at = search_list(reading, positions, n, kind);
		since_us = to_us = positions[at].entry.time_us;
		from_us = positions[at - 1].entry.time_us;
	} while (n == N_SINCE);
	return since_us;
}

/* --- a port's counter --- */

/* Keeps the open segment and the last key: each is read once for all points that need
 * it. */
struct open_series {
	struct triad_port_series port;
	int fd;
	bool has_last;
	struct triad_history_position last; /* position read last */
};

static int read_part(struct triad_history_reading *reading, struct open_series *series,
	const struct triad_history_position *position,
	const struct triad_history_entry *entry)
{
	int error = triad_frame_reader_give(reading->frames, series->fd, entry->offset,
		entry->size, triad_port_series_take_line, &series->port);
	const char *message = triad_frame_reader_message(reading->frames);

	if (!error && series->port.parser.message[0]) {
		error = EPROTO;
		message = series->port.parser.message;
	}
	return error ? complain_of(reading, position, error, message) : 0;
}

static int read_point(struct triad_history_reading *reading, struct open_series *series,
	const struct triad_history_position *position,
	struct triad_history_point *point)
{
	bool is_open = series->has_last && same_segment(&series->last, position);
	int error = 0;

	if (!is_open) {
		if (series->fd >= 0)
			close(series->fd);
		series->has_last = false;
		series->fd = open_segment(reading, position);
		if (series->fd < 0)
			return EIO;
	}
	if (!is_open || !same_key(&series->last, position)) {
		triad_port_series_begin_key(&series->port);
		error = read_part(reading, series, position, &position->key);
		triad_port_series_end_key(&series->port);
	}
	if (!error && !position->entry.is_key) {
		triad_port_series_begin_change(&series->port);
		error = read_part(reading, series, position, &position->entry);
	}
	series->last = *position;
	series->has_last = true;
	*point = triad_port_series_point(&series->port);
	point->time_us = position->entry.time_us;
	point->base.port_guid = position->port_guid;
	return error;
}

/* Writes why there are no points. */
static void explain_none(struct triad_history_reading *reading,
	const struct triad_history_request *request)
{
	struct triad_history_answer answer =
		triad_history_store_find(reading->store, request->from_us);

	if (answer.found == TRIAD_HISTORY_FOUND)
		answer.found = TRIAD_HISTORY_TOO_LATE;
	explain_not_found(&answer, reading->message);
}

static uint32_t read_series(struct triad_history_reading *reading,
	const struct triad_history_request *request,
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS])
{
	struct triad_history_position positions[TRIAD_HISTORY_MAX_POINTS];
	struct open_series series = {.fd = -1,
		.port = {.node_guid = request->node_guid,
			.port = request->port,
			.counter = request->counter}};
	uint32_t n, n_read = 0;

	reading->message[0] = '\0';
	triad_history_store_look_at_others(reading->store, reading->frames);
	n = triad_history_store_spread(reading->store, request->from_us, request->to_us,
		positions,
		request->n < TRIAD_HISTORY_MAX_POINTS ? request->n
						      : TRIAD_HISTORY_MAX_POINTS);
	while (n_read < n &&
		!read_point(reading, &series, &positions[n_read], &points[n_read]))
		n_read++;
	if (series.fd >= 0)
		close(series.fd);
	if (!n)
		explain_none(reading, request);
	return n_read < n ? 0 : n;
}

/* --- what flowed between levels --- */

static int read_levels_key(struct triad_history_reading *reading,
	struct triad_level_sums *levels, int fd,
	const struct triad_history_position *position)
{
	struct triad_history_unpack unpack = {
		.give = triad_level_sums_take_line, .context = levels};
	int error = triad_level_sums_begin_key(levels);

	if (!error) {
		error = triad_frame_reader_give(reading->frames, fd,
			position->key.offset, position->key.size,
			triad_history_unpack_line, &unpack);
		if (error)
			return complain_of(reading, position, error,
				triad_frame_reader_message(reading->frames));
		(void)triad_history_unpack_end(&unpack);
		triad_topology_octets_free(&unpack.packed);
		error = triad_level_sums_end_key(levels);
	}
	return error ? complain_of(reading, position, error,
			       triad_level_sums_message(levels))
		     : 0;
}

/* 'has_key': the image before has the same. */
static int read_levels_image(struct triad_history_reading *reading,
	struct triad_level_sums *levels, const struct triad_history_position *position,
	bool has_key)
{
	int fd = open_segment(reading, position), error = 0;

	if (fd < 0)
		return EIO;
	if (!has_key)
		error = read_levels_key(reading, levels, fd, position);
	if (!error && !position->entry.is_key) {
		triad_level_sums_begin_change(levels);
		error = triad_frame_reader_read(reading->frames, fd,
			position->entry.offset, position->entry.size,
			triad_level_sums_take_row, levels);
		if (error)
			complain_of(reading, position, error,
				triad_frame_reader_message(reading->frames));
	}
	close(fd);
	return error;
}

static bool give_sums(
	const struct taker *taker, const struct triad_history_sum *sums, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!give_text(taker,
			    "= sum %" PRIu64 " %" PRIu64 " %u %u %" PRIu32 " %" PRIu32
			    " %" PRIu64 " %" PRIu64,
			    sums[i].time_us, sums[i].before_us, sums[i].low,
			    sums[i].high, sums[i].n_links, sums[i].n_known, sums[i].up,
			    sums[i].down))
			return false;
	return true;
}

static void read_levels(struct triad_history_reading *reading,
	const struct triad_history_request *request, const struct taker *taker)
{
	struct triad_history_position positions[TRIAD_HISTORY_MAX_POINTS];
	struct triad_history_sum sums[TRIAD_LEVEL_SUMS_MAX];
	struct triad_level_sums *levels = triad_level_sums_new();
	uint32_t n;

	triad_history_store_look_at_others(reading->store, reading->frames);
	n = triad_history_store_spread(reading->store, request->from_us, request->to_us,
		positions,
		request->n < TRIAD_HISTORY_MAX_POINTS ? request->n
						      : TRIAD_HISTORY_MAX_POINTS);
	if (!n)
		explain_none(reading, request);
	for (uint32_t i = 0; levels && n > 1 && i < n; i++) {
		const struct triad_history_position *position = &positions[i];

		if (read_levels_image(reading, levels, position,
			    i && same_key(&positions[i - 1], position)) ||
			!give_sums(taker, sums,
				triad_level_sums_end(levels, position->entry.time_us,
					position->port_guid, sums)))
			break;
	}
	if (!levels)
		snprintf(reading->message, sizeof(reading->message),
			"not enough memory; try again");
	triad_level_sums_free(levels);
}

/* --- jobs --- */

static void answer_since(struct triad_history_reading *reading, const char *text,
	const struct taker *taker)
{
	char name[32] = "";
	uint64_t from_us = 0;
	enum triad_kept_kind kind;

	(void)sscanf(text, "%31s %" SCNu64, name, &from_us);
	kind = triad_kept_find(name);
	(void)give_text(taker, "= since %" PRIu64,
		kind == TRIAD_N_KEPT ? 0 : read_list_since(reading, kind, from_us));
}

static void answer_series(struct triad_history_reading *reading, const char *text,
	const struct taker *taker)
{
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS];
	struct triad_history_request request = {0};
	unsigned port = 0;
	uint32_t n = 0;

	if (sscanf(text, "%" SCNx64 " %u %u %" SCNu64 " %" SCNu64 " %" SCNu32,
		    &request.node_guid, &port, &request.counter, &request.from_us,
		    &request.to_us, &request.n) == 6 &&
		request.counter < TRIAD_N_COUNTERS && port <= UINT8_MAX) {
		request.port = (uint8_t)port;
		n = read_series(reading, &request, points);
	}
	for (uint32_t i = 0; i < n; i++)
		(void)give_text(taker,
			"= point %" PRIu64 " 0x%016" PRIx64 " %" PRIu64 " %" PRIu64
			" %d %" PRIu64,
			points[i].time_us, points[i].base.port_guid,
			points[i].base.started_us, points[i].base.zeroed_us,
			points[i].is_known, points[i].total);
}

static void answer_levels(struct triad_history_reading *reading, const char *text,
	const struct taker *taker)
{
	struct triad_history_request request = {0};

	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu32, &request.from_us,
		    &request.to_us, &request.n) == 3)
		read_levels(reading, &request, taker);
}

void triad_history_read_job(struct triad_history_reading *reading, const char *job,
	triad_line_take *give, void *context)
{
	const struct taker taker = {.give = give, .context = context};
	struct triad_history_status status = triad_history_store_status(reading->store);
	char kind[16] = "";
	const char *text;
	int n = 0;

	(void)sscanf(job, "%15s %n", kind, &n);
	text = job + n;
	reading->message[0] = '\0';
	if (!status.is_on || !status.is_read)
		snprintf(reading->message, sizeof(reading->message), "%s",
			status.is_on ? "the images that there are have not been read "
				       "yet: try again"
				     : "no images of the fabric are kept here yet: try "
				       "again");
	else if (!strcmp(kind, "image"))
		(void)read_past(reading, strtoull(text, NULL, 10), give, context);
	else if (!strcmp(kind, TRIAD_HISTORY_ALONE))
		(void)read_outputs(reading, strtoull(text, NULL, 10), give, context);
	else if (!strcmp(kind, "since"))
		answer_since(reading, text, &taker);
	else if (!strcmp(kind, "series"))
		answer_series(reading, text, &taker);
	else if (!strcmp(kind, "levels"))
		answer_levels(reading, text, &taker);
	else
		snprintf(reading->message, sizeof(reading->message),
			"triadd does not know this question: it and the plugin must be "
			"of one release");
	if (reading->message[0])
		(void)give_text(&taker, "= message %s", reading->message);
}
