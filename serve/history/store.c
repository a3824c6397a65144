/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "serve/history/store_parts.h"
#include "triad/clock.h"
#include "triad/file.h"
#include "triad/thread.h"

/* A twentieth of the disk stays free, but no more than this. */
#define FREE_PARTS 20u
#define MAX_FREE_OCTETS (UINT64_C(1) << 30)
#define OCTETS_PER_MB UINT64_C(1000000)
/* After this time a disk counts as one that hangs. */
#define HUNG_US (15 * TRIAD_US_PER_S)

static bool take_answer_line(void *context, const char *line, size_t length);

struct triad_history_store *triad_history_store_new(struct triad_log *log)
{
	struct triad_history_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->log = log;
	pthread_mutex_init(&store->lock, NULL);
	for (unsigned i = 0; i < TRIAD_HISTORY_N_TIERS; i++) {
		triad_profile_file_init(&store->tiers[i].file);
		store->tiers[i].index = -1;
	}
	triad_profile_file_init(&store->copy.file);
	store->copy.index = store->given = -1;
	store->blocked_limit.burst = 1;
	store->blocked_limit.period_us = 600 * TRIAD_US_PER_S;
	store->all.n = 1;
	store->all.rings[0] = &store->ring;
	store->taking.cutter = (struct triad_line_cutter){.take = take_answer_line,
		.context = store,
		.buffer = store->taking.line,
		.room = sizeof(store->taking.line)};
	store->out = triad_frame_writer_new();
	store->reader = triad_frame_reader_new();
	if (store->out && store->reader)
		return store;
	triad_history_store_free(store);
	return NULL;
}

void history_close_tier(struct writer_tier *tier)
{
	triad_profile_file_close(&tier->file);
	if (tier->index >= 0)
		close(tier->index);
	tier->index = -1;
	tier->key = 0;
}

void triad_history_store_free(struct triad_history_store *store)
{
	if (!store)
		return;
	for (unsigned i = 0; i < TRIAD_HISTORY_N_TIERS; i++)
		history_close_tier(&store->tiers[i]);
	history_copies_clear(store);
	triad_history_ring_clear(&store->ring);
	for (unsigned i = 0; i < store->n_others; i++)
		triad_history_ring_clear(&store->others[i]);
	triad_frame_writer_free(store->out);
	triad_frame_reader_free(store->reader);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

void history_note_disk(struct triad_history_store *store, bool is_waited_for)
{
	pthread_mutex_lock(&store->lock);
	store->at_disk_us = is_waited_for ? triad_clock_now_us() : 0;
	pthread_mutex_unlock(&store->lock);
}

void triad_history_store_configure(
	struct triad_history_store *store, const struct triad_history_params *params)
{
	pthread_mutex_lock(&store->lock);
	store->next = *params;
	pthread_mutex_unlock(&store->lock);
}

/* --- the folder's segments --- */

/* Cuts off what the writer of a tier's last segment could not finish, unless another
 * process has the file open. */
static void mend_newest(struct triad_history_store *store, enum triad_history_tier tier,
	uint64_t begun_us)
{
	const struct triad_history_owner owner = history_owner_of(store);
	struct triad_profile_file *file = &store->tiers[tier].file;
	char path[PATH_MAX];

	if (!triad_history_segment_path(&owner, tier, begun_us, path) ||
		strlen(path) >= sizeof(file->path))
		return;
	if (!triad_profile_file_open(file, path) && file->cut_octets)
		triad_log_write(store->log, TRIAD_LOG_INFO,
			"history: %s ended within an image: %" PRIu64
			" octets were cut off",
			path, file->cut_octets);
	triad_profile_file_close(file);
}

static void load_tier(struct triad_history_store *store, enum triad_history_tier tier,
	struct triad_history_ring *ring)
{
	const struct triad_history_owner owner = history_owner_of(store);
	uint64_t *times;
	uint32_t n;
	int error = triad_history_list(&owner, tier, &times, &n);

	if (error && error != ENOENT)
		triad_log_write(store->log, TRIAD_LOG_ERROR,
			"history: %s can't be read: %s; what is there is not shown",
			owner.dir, strerror(error));
	if (n)
		mend_newest(store, tier, times[n - 1]);
	for (uint32_t i = 0; i < n; i++) {
		error = triad_history_load(
			&owner, tier, times[i], store->reader, ring, true);
		if (error)
			triad_log_write(store->log, TRIAD_LOG_ERROR,
				"history: a segment of %s in %s can't be read: %s; its "
				"images are not shown",
				triad_history_tiers[tier].name, owner.dir,
				strerror(error));
	}
	free(times);
}

static void prepare_store(struct triad_history_store *store)
{
	struct triad_history_ring ring = {0}, old;
	bool is_other, has_other_copies;

	pthread_mutex_lock(&store->lock);
	is_other = strcmp(store->params.dir, store->next.dir) != 0 ||
		strcmp(store->params.program, store->next.program) != 0 ||
		store->params.port_guid != store->next.port_guid;
	has_other_copies =
		is_other || store->params.has_copies != store->next.has_copies;
	store->params = store->next;
	store->all.port_guids[0] = store->params.port_guid;
	triad_history_rings_limit(&store->all, &store->params.limits);
	store->status.is_on = store->params.dir[0];
	if (is_other)
		store->status.is_read = false;
	pthread_mutex_unlock(&store->lock);
	if (has_other_copies)
		history_copies_load(store);
	if (!is_other)
		return;
	for (unsigned i = 0; i < TRIAD_HISTORY_N_TIERS; i++)
		history_close_tier(&store->tiers[i]);
	for (unsigned i = 0; store->params.dir[0] && i < TRIAD_HISTORY_N_TIERS; i++)
		load_tier(store, i, &ring);
	pthread_mutex_lock(&store->lock);
	old = store->ring;
	store->ring = ring;
	store->status.is_read = true;
	store->status.error = 0;
	store->status.reason[0] = '\0';
	pthread_mutex_unlock(&store->lock);
	triad_history_ring_clear(&old);
}

void triad_history_store_prepare(struct triad_history_store *store)
{
	history_note_disk(store, true);
	prepare_store(store);
	history_note_disk(store, false);
}

/* --- room --- */

static void remove_segment(
	struct triad_history_store *store, const struct triad_history_surplus *surplus)
{
	struct triad_history_owner owner = history_owner_of(store);
	struct triad_history_ring *ring = store->all.rings[surplus->owner];
	uint64_t begun_us = surplus->segment->begun_us;
	char path[PATH_MAX], index[PATH_MAX];

	owner.port_guid = store->all.port_guids[surplus->owner];
	if (!surplus->owner &&
		triad_history_ring_is_written(ring, surplus->tier, surplus->segment))
		history_close_tier(&store->tiers[surplus->tier]);
	history_copies_let_go(store, owner.port_guid, surplus->tier, begun_us);
	pthread_mutex_lock(&store->lock);
	triad_history_ring_remove(ring, surplus->tier, surplus->segment);
	store->status.n_removed++;
	pthread_mutex_unlock(&store->lock);
	if (!triad_history_segment_path(&owner, surplus->tier, begun_us, path) ||
		!triad_history_index_path(path, index))
		return;
	if (unlink(path) && errno != ENOENT)
		triad_log_write(store->log, TRIAD_LOG_ERROR,
			"history: %s is too old, and can't be removed: %s", path,
			strerror(errno));
	(void)unlink(index);
}

void history_make_room(
	struct triad_history_store *store, uint64_t now_us, uint64_t more)
{
	struct triad_history_surplus surplus;

	while (triad_history_rings_surplus(&store->all, now_us, more, &surplus))
		remove_segment(store, &surplus);
}

/* --- segments --- */

/* Notes the reason for 'error' and returns it. */
static int note_store_error(
	struct triad_history_store *store, int error, const char *what, const char *why)
{
	snprintf(store->reason, sizeof(store->reason), "%.160s: %.140s", what,
		why ? why : strerror(error));
	return error;
}

int history_check_disk(struct triad_history_store *store, uint64_t more)
{
	struct statvfs disk;
	uint64_t free_octets, kept_free;
	char why[120];

	/* What is wrong with the folder says who writes there. */
	if (statvfs(store->params.dir, &disk))
		return 0;
	free_octets = (uint64_t)disk.f_bavail * disk.f_frsize;
	kept_free = (uint64_t)disk.f_blocks * disk.f_frsize / FREE_PARTS;
	if (kept_free > MAX_FREE_OCTETS)
		kept_free = MAX_FREE_OCTETS;
	if (free_octets >= more + kept_free)
		return 0;
	snprintf(why, sizeof(why),
		"No space left on device, of which %" PRIu64 " MB stay free for others",
		(kept_free + OCTETS_PER_MB - 1) / OCTETS_PER_MB);
	return note_store_error(store, ENOSPC, store->params.dir, why);
}

/* The time in a new segment's name: the first that is free, if the clock was set back. */
static uint64_t name_segment(const struct triad_history_store *store,
	enum triad_history_tier tier, uint64_t time_us)
{
	uint64_t begun_us = time_us / TRIAD_US_PER_MS * TRIAD_US_PER_MS;

	while (triad_history_ring_segment(&store->ring, tier, begun_us))
		begun_us += TRIAD_US_PER_MS;
	return begun_us;
}

int history_open_segment(struct triad_history_store *store, struct writer_tier *to,
	const struct triad_history_owner *owner, enum triad_history_tier tier,
	uint64_t begun_us, bool is_new)
{
	char path[PATH_MAX], index[PATH_MAX], why[TRIAD_FILE_REASON_SIZE];
	int error;

	history_close_tier(to);
	if (!triad_history_segment_path(owner, tier, begun_us, path) ||
		!triad_history_index_path(path, index) ||
		strlen(path) >= sizeof(to->file.path))
		return note_store_error(store, ENAMETOOLONG, owner->dir, NULL);
	/* The folder's own first: by default that of the state, which may not be there. */
	triad_file_make_folder(owner->dir);
	triad_file_make_folder(path);
	error = triad_file_check_folder(path, why);
	if (error)
		return note_store_error(store, error, owner->dir, why);
	error = triad_profile_file_open(&to->file, path);
	if (error)
		return note_store_error(store, error, path, to->file.why);
	to->index = open(index,
		O_WRONLY | O_CREAT | (is_new ? O_TRUNC : 0) | O_APPEND | O_CLOEXEC |
			O_NOFOLLOW | O_NOCTTY | O_NONBLOCK,
		0640);
	return 0;
}

static int begin_segment(struct triad_history_store *store,
	enum triad_history_tier tier, uint64_t time_us)
{
	const struct triad_history_owner owner = history_owner_of(store);
	struct writer_tier *to = &store->tiers[tier];
	uint64_t begun_us = name_segment(store, tier, time_us);
	struct triad_history_segment *segment;
	int error = history_open_segment(store, to, &owner, tier, begun_us, true);

	if (error)
		return error;
	segment = TRIAD_LOCKED(
		&store->lock, triad_history_ring_begin(&store->ring, tier, begun_us));
	if (segment)
		return 0;
	history_close_tier(to);
	return note_store_error(store, ENOMEM, to->file.path, NULL);
}

/* --- an image --- */

void history_write_index_line(
	struct writer_tier *to, const struct triad_history_entry *entry)
{
	char line[TRIAD_HISTORY_LINE_SIZE];
	size_t n = triad_history_line_format(entry, line);

	if (to->index < 0 || !triad_write_all(to->index, line, n))
		return;
	/* A torn line may be at the end.  So stop writing this index: the next start
	 * finds the torn line by its checksum, and remakes the index. */
	close(to->index);
	to->index = -1;
}

static int keep_image(struct triad_history_store *store, enum triad_history_tier tier,
	const struct triad_history_entry *entry, uint64_t n_octets)
{
	int error;

	pthread_mutex_lock(&store->lock);
	error = triad_history_ring_add(
		&store->ring, tier, triad_history_ring_last(&store->ring, tier), entry);
	if (!error) {
		store->status.n_images++;
		store->status.n_written_octets += n_octets;
	}
	pthread_mutex_unlock(&store->lock);
	return error;
}

/* Whether images can be added to the segment that is written. */
static bool goes_on(const struct triad_history_store *store,
	enum triad_history_tier tier, uint64_t time_us)
{
	/* Somebody may have moved or removed the file. */
	return triad_profile_file_is_there(&store->tiers[tier].file) &&
		!triad_history_ring_is_full(
			&store->ring, tier, &store->params.limits, time_us);
}

static int begin_image(
	struct triad_history_store *store, const struct triad_history_answer_head *head)
{
	struct writer_tier *to = &store->tiers[head->tier];
	int error;

	/* The new image will be about as large as the last one. */
	history_make_room(store, head->entry.time_us, to->last_octets);
	error = history_check_disk(store, to->last_octets);
	if (error)
		return error;
	if (head->entry.is_key && !goes_on(store, head->tier, head->entry.time_us))
		error = begin_segment(store, head->tier, head->entry.time_us);
	else if (!head->entry.is_key &&
		(to->key != head->key || !triad_profile_file_is_there(&to->file)))
		error = note_store_error(store, ESTALE, to->file.path,
			"it was moved or removed while an image was asked for");
	if (!error)
		triad_frame_writer_begin(store->out, &to->file);
	return error;
}

static void drop_image(struct triad_history_store *store, enum triad_history_tier tier)
{
	struct writer_tier *to = &store->tiers[tier];

	triad_profile_file_drop(&to->file);
	/* The other side may take this image for the key. */
	to->key = 0;
}

static int end_image(struct triad_history_store *store)
{
	struct taking *taking = &store->taking;
	struct writer_tier *to = &store->tiers[taking->head.tier];
	struct triad_history_entry entry = taking->head.entry;
	int error = triad_frame_writer_end(store->out);

	if (error) {
		note_store_error(store, error, to->file.path, NULL);
		drop_image(store, taking->head.tier);
		return error;
	}
	entry.offset = to->file.size;
	triad_profile_file_keep(&to->file);
	if (entry.is_key)
		to->key = taking->head.key;
	entry.size = to->last_octets = triad_frame_writer_octets(store->out);
	history_write_index_line(to, &entry);
	return keep_image(store, taking->head.tier, &entry, entry.size);
}

/* --- an answer --- */

static void note_taken(struct taking *taking, int error)
{
	if (!taking->error)
		taking->error = error;
}

/* The number of the sweep of which there is an image before the one that comes, in the
 * process that it is of; perhaps an earlier triadd has written it.  0: not known. */
static uint64_t sweep_before(const struct triad_history_store *store)
{
	uint64_t started_us = store->taking.head.started_us;
	const struct triad_history_segment *last =
		triad_history_ring_last(&store->ring, TRIAD_HISTORY_SWEEPS);

	if (store->started_us)
		return store->started_us == started_us ? store->sweep : 0;
	return last && last->n && last->entries[last->n - 1].time_us >= started_us
		? last->entries[last->n - 1].sweep
		: 0;
}

/* Counts the sweeps between two images. */
static void count_missed(struct triad_history_store *store)
{
	const struct triad_history_answer_head *head = &store->taking.head;
	uint64_t before = sweep_before(store);

	if (before && head->entry.sweep > before + 1) {
		pthread_mutex_lock(&store->lock);
		store->status.n_dropped += head->entry.sweep - before - 1;
		pthread_mutex_unlock(&store->lock);
	}
	store->started_us = head->started_us;
	store->sweep = head->entry.sweep;
	store->mark = head->mark;
}

static void take_head(struct triad_history_store *store, const char *text)
{
	struct taking *taking = &store->taking;

	if (taking->is_open || !triad_history_answer_read(text, &taking->head)) {
		note_taken(taking,
			note_store_error(store, EPROTO, "the answer",
				"it is malformed: triadd and the plugin must be of one "
				"release"));
		return;
	}
	if (!taking->has_image)
		count_missed(store);
	taking->has_image = true;
	taking->n_ports = taking->head.n_ports;
	note_taken(taking, begin_image(store, &taking->head));
	taking->is_open = !taking->error;
}

static void take_end(struct triad_history_store *store, const char *text)
{
	struct taking *taking = &store->taking;

	if (taking->is_open)
		note_taken(taking, end_image(store));
	taking->is_open = false;
	taking->n_left_out = (uint32_t)strtoul(text, NULL, 10);
}

/* After an error the rest is read, and dropped. */
static bool take_answer_line(void *context, const char *line, size_t length)
{
	static const char image[] = "= image ", end[] = "= end ";
	struct triad_history_store *store = context;
	struct taking *taking = &store->taking;
	char text[TRIAD_PROFILE_LINE_SIZE], *room;

	if (length >= 2 && line[0] == '=' && line[1] == ' ') {
		snprintf(text, sizeof(text), "%.*s", (int)length, line);
		if (!strncmp(text, image, sizeof(image) - 1))
			take_head(store, text + sizeof(image) - 1);
		else if (!strncmp(text, end, sizeof(end) - 1))
			take_end(store, text + sizeof(end) - 1);
		return true;
	}
	if (!taking->is_open || length >= TRIAD_PROFILE_LINE_SIZE)
		return true;
	room = triad_frame_writer_line(store->out);
	memcpy(room, line, length);
	room[length] = '\n';
	triad_frame_writer_add(store->out, length + 1);
	return true;
}

bool triad_history_store_begin(struct triad_history_store *store, uint64_t now_us,
	struct triad_history_question *question)
{
	struct taking *taking = &store->taking;

	triad_history_store_prepare(store);
	if (!store->params.dir[0])
		return false;
	history_note_disk(store, true);
	question->mark = store->mark;
	for (unsigned i = 0; i < TRIAD_HISTORY_N_TIERS; i++) {
		question->tiers[i].key =
			goes_on(store, i, now_us) ? store->tiers[i].key : 0;
		question->tiers[i].last_us =
			triad_history_ring_last_us(&store->ring, i);
	}
	taking->cutter.used = 0;
	taking->is_open = taking->has_image = false;
	taking->error = 0;
	taking->begun_us = triad_clock_now_us();
	history_note_disk(store, false);
	return true;
}

void triad_history_store_take(
	struct triad_history_store *store, const char *piece, size_t size)
{
	history_note_disk(store, true);
	(void)triad_line_cutter_put(&store->taking.cutter, piece, size);
	history_note_disk(store, false);
}

/* --- the result --- */

static void note_status(struct triad_history_store *store)
{
	const struct taking *taking = &store->taking;
	struct triad_history_status *status = &store->status;
	uint64_t took_us = triad_clock_now_us() - taking->begun_us;

	pthread_mutex_lock(&store->lock);
	status->error = taking->error;
	snprintf(status->reason, sizeof(status->reason), "%s",
		taking->error ? store->reason : "");
	/* Of a sweep that is not known the next image tells, by its number. */
	status->n_dropped += taking->error && taking->has_image;
	status->took_us = took_us;
	status->n_left_out = taking->n_left_out;
	status->ns_per_port =
		taking->n_ports ? (double)took_us * 1000 / taking->n_ports : 0;
	pthread_mutex_unlock(&store->lock);
}

static void log_result(struct triad_history_store *store, int error)
{
	const char *dir = store->params.dir;

	store->n_dropped_since += error && store->taking.has_image;
	switch (triad_file_report(&store->file_report, dir, error)) {
	case TRIAD_FILE_IN_TROUBLE:
		triad_log_write(store->log, TRIAD_LOG_ERROR,
			"history: no image can be written: %s; each sweep tries again, "
			"those until then are left out",
			store->reason);
		break;
	case TRIAD_FILE_WELL_AGAIN:
		triad_log_write(store->log, TRIAD_LOG_INFO,
			"history: images are written to %s again; %" PRIu64
			" sweeps were left out",
			dir, store->n_dropped_since);
		break;
	default:
		break;
	}
	if (!error)
		store->n_dropped_since = 0;
}

int triad_history_store_end(
	struct triad_history_store *store, bool is_whole, const char *why)
{
	struct taking *taking = &store->taking;

	if (taking->is_open) {
		drop_image(store, taking->head.tier);
		note_taken(taking,
			note_store_error(store, EPROTO, "an image",
				is_whole      ? "its end is missing"
					: why ? why
					      : "the answer was cut: the SM may have "
						"ended"));
	}
	if (!taking->has_image && !is_whole && why)
		note_taken(taking, note_store_error(store, EIO, "none was made", why));
	taking->is_open = false;
	if (!taking->has_image && !taking->error)
		return 0;
	note_status(store);
	log_result(store, taking->error);
	return taking->error;
}

/* --- reading --- */

static void note_entries(
	const struct triad_history_ring *ring, struct triad_history_status *status)
{
	status->n_kept = ring->n_entries;
	for (unsigned i = 0; i < TRIAD_HISTORY_N_TIERS; i++)
		status->n_segments += ring->tiers[i].n;
}

struct triad_history_status triad_history_store_status(
	struct triad_history_store *store)
{
	struct triad_history_status status;
	struct triad_history_answer answer;
	uint64_t since_us;

	pthread_mutex_lock(&store->lock);
	status = store->status;
	since_us = store->at_disk_us;
	status.max_octets = store->params.limits.max_octets;
	status.octets = triad_history_ring_octets(&store->ring);
	for (unsigned i = 1; i < store->all.n; i++) {
		status.copied_octets += triad_history_ring_octets(store->all.rings[i]);
		status.n_copied_images += store->all.rings[i]->n_entries;
	}
	note_entries(&store->ring, &status);
	answer = triad_history_ring_find(&store->ring, &store->params.limits, 0);
	pthread_mutex_unlock(&store->lock);
	if (since_us && triad_clock_now_us() >= since_us + HUNG_US) {
		status.error = ETIMEDOUT;
		snprintf(status.reason, sizeof(status.reason),
			"the disk of history.dir does not answer");
	}
	status.first_us = answer.first_us;
	status.last_us = answer.last_us;
	return status;
}

bool triad_history_store_path(struct triad_history_store *store,
	const struct triad_history_position *position, char path[PATH_MAX])
{
	struct triad_history_owner owner;
	bool fits;

	pthread_mutex_lock(&store->lock);
	owner = history_owner_of(store);
	owner.port_guid = position->port_guid;
	fits = triad_history_segment_path(
		&owner, position->tier, position->segment, path);
	pthread_mutex_unlock(&store->lock);
	return fits;
}
