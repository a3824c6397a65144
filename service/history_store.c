/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/history_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "service/history_store_parts.h"
#include "triad/clock.h"
#include "triad/file.h"

/* A twentieth of the disk stays free, but no more than this. */
#define FREE_PARTS 20u
#define MAX_FREE_OCTETS (UINT64_C(1) << 30)
#define OCTETS_PER_MB UINT64_C(1000000)

struct triad_history_store *triad_history_store_new(
	const char *program, uint64_t port_guid, struct triad_log *log)
{
	struct triad_history_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->program = program;
	store->port_guid = port_guid;
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
	store->all.port_guids[0] = port_guid;
	store->all.rings[0] = &store->ring;
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
	triad_history_key_forget(&tier->key);
}

void triad_history_store_free(struct triad_history_store *store)
{
	if (!store)
		return;
	for (unsigned i = 0; i < TRIAD_HISTORY_N_TIERS; i++) {
		history_close_tier(&store->tiers[i]);
		triad_history_key_clear(&store->tiers[i].key);
	}
	history_copies_clear(store);
	triad_history_topology_clear(&store->topology);
	triad_history_ring_clear(&store->ring);
	for (unsigned i = 0; i < store->n_others; i++)
		triad_history_ring_clear(&store->others[i]);
	triad_frame_writer_free(store->out);
	triad_frame_reader_free(store->reader);
	pthread_mutex_destroy(&store->lock);
	free(store);
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

void triad_history_store_prepare(struct triad_history_store *store)
{
	struct triad_history_ring ring = {0}, old;
	bool is_other, has_other_copies;

	pthread_mutex_lock(&store->lock);
	is_other = strcmp(store->params.dir, store->next.dir) != 0;
	has_other_copies =
		is_other || store->params.has_copies != store->next.has_copies;
	store->params = store->next;
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
	pthread_mutex_lock(&store->lock);
	segment = triad_history_ring_begin(&store->ring, tier, begun_us);
	pthread_mutex_unlock(&store->lock);
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

static int write_tier(struct triad_history_store *store, enum triad_history_tier tier,
	const struct triad_history_image *image)
{
	struct writer_tier *to = &store->tiers[tier];
	struct triad_history_image shown = *image;
	struct triad_history_entry entry = {
		.time_us = image->wall_us, .sweep = image->head.sweep};
	uint32_t n_left_out;
	int error = 0;

	/* The new image will be about as large as the last one. */
	history_make_room(store, image->wall_us, to->last_octets);
	error = history_check_disk(store, to->last_octets);
	if (error)
		return error;
	/* Somebody may have moved or removed the file. */
	if (!triad_profile_file_is_there(&to->file) ||
		triad_history_ring_is_full(
			&store->ring, tier, &store->params.limits, image->wall_us))
		error = begin_segment(store, tier, image->wall_us);
	if (error)
		return error;
	entry.offset = to->file.size;
	entry.is_key = triad_history_key_is_due(&to->key, &store->topology);
	shown.events_since_us = triad_history_ring_last_us(&store->ring, tier);
	error = triad_history_image_write(
		&shown, &store->topology, &to->key, store->out, &to->file, &n_left_out);
	if (error) {
		triad_profile_file_drop(&to->file);
		return note_store_error(store, error, to->file.path, NULL);
	}
	triad_profile_file_keep(&to->file);
	store->n_left_out = n_left_out;
	entry.size = to->last_octets = triad_frame_writer_octets(store->out);
	history_write_index_line(to, &entry);
	return keep_image(store, tier, &entry, entry.size);
}

/* --- the result --- */

static void note_status(struct triad_history_store *store,
	const struct triad_history_image *image, int error, uint64_t took_us)
{
	struct triad_history_status *status = &store->status;
	uint32_t n_ports = image->view->fabric->n_ports;

	pthread_mutex_lock(&store->lock);
	status->error = error;
	snprintf(status->reason, sizeof(status->reason), "%s",
		error ? store->reason : "");
	status->n_dropped += error != 0;
	status->took_us = took_us;
	status->n_left_out = store->n_left_out;
	status->ns_per_port = n_ports ? (double)took_us * 1000 / n_ports : 0;
	pthread_mutex_unlock(&store->lock);
}

static void log_result(struct triad_history_store *store, int error)
{
	const char *dir = store->params.dir;

	store->n_dropped_since += error != 0;
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

int triad_history_store_write(
	struct triad_history_store *store, const struct triad_history_image *image)
{
	uint64_t begun_us = triad_clock_now_us();
	int error, first = 0;

	triad_history_store_prepare(store);
	if (!store->params.dir[0])
		return 0;
	first = triad_history_topology_update(&store->topology, image->view->fabric);
	if (first)
		note_store_error(store, first, "the fabric", NULL);
	for (unsigned tier = 0; !first && tier < TRIAD_HISTORY_N_TIERS; tier++) {
		if (!triad_history_ring_takes(&store->ring, tier, image->wall_us))
			continue;
		error = write_tier(store, tier, image);
		first = first ? first : error;
	}
	note_status(store, image, first, triad_clock_now_us() - begun_us);
	log_result(store, first);
	return first;
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

	pthread_mutex_lock(&store->lock);
	status = store->status;
	memcpy(status.dir, store->params.dir, sizeof(status.dir));
	status.max_octets = store->params.limits.max_octets;
	status.octets = triad_history_ring_octets(&store->ring);
	for (unsigned i = 1; i < store->all.n; i++) {
		status.copied_octets += triad_history_ring_octets(store->all.rings[i]);
		status.n_copied_images += store->all.rings[i]->n_entries;
	}
	note_entries(&store->ring, &status);
	answer = triad_history_ring_find(&store->ring, &store->params.limits, 0);
	pthread_mutex_unlock(&store->lock);
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
