/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies of other SMs' images in the folder of a store, and own images that come back
 * because only other SMs still have them.
 *
 * A copy is written like an own image: the image is appended, checked, and then kept;
 * the index gets a line.  So a kill or a full disk costs the image that is being
 * written; the next start cuts off its remains. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/history/store_parts.h"
#include "triad/clock.h"

/* --- the folder's copies --- */

static bool is_same_segment(const struct triad_mirror_image *image, uint64_t port_guid,
	enum triad_history_tier tier, uint64_t begun_us)
{
	return image->owner == port_guid && image->tier == tier &&
		image->begun_us == begun_us;
}

static void close_given(struct triad_history_store *store)
{
	if (store->given >= 0)
		close(store->given);
	store->given = -1;
}

void history_copies_let_go(struct triad_history_store *store, uint64_t port_guid,
	enum triad_history_tier tier, uint64_t begun_us)
{
	if (is_same_segment(&store->copy_image, port_guid, tier, begun_us))
		history_close_tier(&store->copy);
	if (is_same_segment(&store->given_image, port_guid, tier, begun_us))
		close_given(store);
}

void history_copies_clear(struct triad_history_store *store)
{
	history_close_tier(&store->copy);
	close_given(store);
	pthread_mutex_lock(&store->lock);
	for (unsigned i = 1; i < store->all.n; i++)
		triad_history_ring_clear(store->all.rings[i]);
	store->all.n = 1;
	memset(store->all.floor_us, 0, sizeof(store->all.floor_us));
	memset(store->all.reported_floor_us, 0, sizeof(store->all.reported_floor_us));
	pthread_mutex_unlock(&store->lock);
}

static bool is_empty(const struct triad_history_ring *ring)
{
	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
		if (ring->tiers[tier].n)
			return false;
	return true;
}

/* Frees the places of SMs without images. */
static void forget_empty(struct triad_history_store *store)
{
	struct triad_history_rings *all = &store->all;
	unsigned n = 1;

	pthread_mutex_lock(&store->lock);
	for (unsigned i = 1; i < all->n; i++) {
		struct triad_history_ring ring = store->copies[i - 1];

		store->copies[i - 1] = (struct triad_history_ring){0};
		if (is_empty(&ring)) {
			triad_history_ring_clear(&ring);
			continue;
		}
		store->copies[n - 1] = ring;
		all->port_guids[n++] = all->port_guids[i];
	}
	all->n = n;
	pthread_mutex_unlock(&store->lock);
}

/* The ring of that SM, made if needed; NULL: there is no room for one more. */
static struct triad_history_ring *ring_for(
	struct triad_history_store *store, uint64_t port_guid)
{
	struct triad_history_rings *all = &store->all;
	struct triad_history_ring *ring = triad_history_rings_find(all, port_guid);

	if (!ring && all->n == TRIAD_HISTORY_MAX_OWNERS)
		forget_empty(store);
	if (ring || all->n == TRIAD_HISTORY_MAX_OWNERS)
		return ring;
	pthread_mutex_lock(&store->lock);
	all->port_guids[all->n] = port_guid;
	all->rings[all->n] = &store->copies[all->n - 1];
	ring = all->rings[all->n++];
	pthread_mutex_unlock(&store->lock);
	return ring;
}

static void load_segment(struct triad_history_store *store,
	const struct triad_history_owner *owner, enum triad_history_tier tier,
	uint64_t begun_us, struct triad_history_ring *ring)
{
	struct triad_history_ring loaded = {0};
	struct triad_history_segment *segment, *to;

	(void)triad_history_load(owner, tier, begun_us, store->reader, &loaded, true);
	segment = triad_history_ring_last(&loaded, tier);
	pthread_mutex_lock(&store->lock);
	to = triad_history_ring_segment(ring, tier, begun_us);
	if (to)
		triad_history_ring_remove(ring, tier, to);
	to = segment ? triad_history_ring_insert(ring, tier, begun_us) : NULL;
	for (uint32_t i = 0; to && i < segment->n; i++)
		if (triad_history_ring_add(ring, tier, to, &segment->entries[i]))
			break;
	if (to)
		triad_history_ring_set_octets(ring, tier, to, segment->octets);
	pthread_mutex_unlock(&store->lock);
	triad_history_ring_clear(&loaded);
}

/* Cuts off what the writer of a segment could not finish, unless another process has
 * the file open. */
static void mend_segment(struct triad_history_store *store,
	const struct triad_history_owner *owner, enum triad_history_tier tier,
	struct triad_history_ring *ring, uint64_t begun_us)
{
	const struct triad_history_segment *segment =
		triad_history_ring_segment(ring, tier, begun_us);

	if (!segment || segment->octets == segment->whole)
		return;
	if (!history_open_segment(store, &store->copy, owner, tier, begun_us, false))
		load_segment(store, owner, tier, begun_us, ring);
	history_close_tier(&store->copy);
}

static void load_copies_of(struct triad_history_store *store, uint64_t port_guid)
{
	struct triad_history_owner owner = history_owner_of(store);
	struct triad_history_ring *ring = ring_for(store, port_guid);
	uint64_t *times;
	uint32_t n;

	owner.port_guid = port_guid;
	for (unsigned tier = 0; ring && tier < TRIAD_HISTORY_N_TIERS; tier++) {
		(void)triad_history_list(&owner, tier, &times, &n);
		for (uint32_t i = 0; i < n; i++) {
			load_segment(store, &owner, tier, times[i], ring);
			mend_segment(store, &owner, tier, ring, times[i]);
		}
		free(times);
	}
}

void history_copies_load(struct triad_history_store *store)
{
	const struct triad_history_owner owner = history_owner_of(store);
	uint64_t port_guids[TRIAD_HISTORY_MAX_OTHERS];
	unsigned n;

	history_copies_clear(store);
	if (!store->params.has_copies || !store->params.dir[0])
		return;
	n = triad_history_list_others(&owner, port_guids, TRIAD_HISTORY_MAX_OTHERS);
	for (unsigned i = 0; i < n; i++)
		load_copies_of(store, port_guids[i]);
}

struct triad_history_rings *triad_history_store_rings(struct triad_history_store *store)
{
	return store->params.has_copies && store->params.dir[0] && store->status.is_read
		? &store->all
		: NULL;
}

void triad_history_store_prune(struct triad_history_store *store, uint64_t wall_us)
{
	history_make_room(store, wall_us, 0);
}

/* --- for other SMs --- */

static int read_image_of(void *context, const struct triad_mirror_image *image,
	uint32_t at, void *octets, uint32_t size)
{
	struct triad_history_store *store = context;
	struct triad_history_owner owner = history_owner_of(store);
	char path[PATH_MAX];
	ssize_t n;

	owner.port_guid = image->owner;
	if (!is_same_segment(
		    &store->given_image, image->owner, image->tier, image->begun_us))
		close_given(store);
	if (store->given < 0) {
		if (!triad_history_segment_path(
			    &owner, image->tier, image->begun_us, path))
			return ENAMETOOLONG;
		store->given = open(path,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
		store->given_image = *image;
	}
	if (store->given < 0)
		return errno;
	n = pread(store->given, octets, size, (off_t)(image->offset + at));
	if (n == (ssize_t)size)
		return 0;
	return n < 0 ? errno : ENODATA;
}

int triad_history_store_read_image(void *context,
	const struct triad_mirror_image *image, uint32_t at, void *octets,
	uint32_t size)
{
	int error;

	history_note_disk(context, true);
	error = read_image_of(context, image, at, octets, size);
	history_note_disk(context, false);
	return error;
}

/* --- from other SMs --- */

/* Whether the error concerns only this file, because something else has its name: other
 * files can still be written. */
static bool blocks_folder(const struct triad_history_owner *owner,
	const struct triad_mirror_image *image, int error)
{
	char path[PATH_MAX], why[TRIAD_FILE_REASON_SIZE];

	switch (error) {
	case EISDIR:
	case ELOOP:
	case ENXIO:
	case EMEDIUMTYPE:
	case EACCES:
	case EPERM:
		return triad_history_segment_path(
			       owner, image->tier, image->begun_us, path) &&
			!triad_file_check_folder(path, why);
	default:
		return false;
	}
}

static int open_copied_segment(struct triad_history_store *store,
	const struct triad_history_owner *owner, const struct triad_mirror_image *image)
{
	int error = history_open_segment(store, &store->copy, owner, image->tier,
		image->begun_us, !image->offset);
	unsigned long suppressed;

	store->copy_image = *image;
	if (!error || !blocks_folder(owner, image, error))
		return error;
	if (triad_log_limit_pass(
		    &store->blocked_limit, triad_clock_now_us(), &suppressed))
		triad_log_write(store->log, TRIAD_LOG_ERROR,
			"history: other SMs' images can't be copied to a file: %s; "
			"those of other files are copied (%lu more times before)",
			store->reason, suppressed);
	return EBUSY;
}

/* Opens the segment to append the image.  EBUSY: the segment does not end at the
 * image's offset, the SM that owns it has it open, or something else has its name. */
static int open_copy(struct triad_history_store *store,
	const struct triad_mirror_image *image, struct triad_history_ring *ring)
{
	struct triad_history_owner owner = history_owner_of(store);
	struct writer_tier *copy = &store->copy;
	int error = 0;

	owner.port_guid = image->owner;
	if (!triad_profile_file_is_there(&copy->file) ||
		!is_same_segment(
			&store->copy_image, image->owner, image->tier, image->begun_us))
		error = open_copied_segment(store, &owner, image);
	if (error || copy->file.size == image->offset)
		return error;
	/* Another process has written to it, or cut it. */
	history_close_tier(copy);
	load_segment(store, &owner, image->tier, image->begun_us, ring);
	return EBUSY;
}

static int append_image(struct triad_history_store *store,
	const struct triad_mirror_image *image, const uint8_t *octets,
	struct triad_history_entry *entry)
{
	struct triad_profile_file *file = &store->copy.file;
	int error = triad_profile_file_append(file, octets, image->size);

	if (!error)
		error = triad_history_check_image(
			store->reader, file->fd, image->owner, entry, &store->copied);
	/* The list of the sending SM may have had another time. */
	if (!error &&
		!triad_history_rings_takes(&store->all, image->tier, image->begun_us,
			entry->time_us, triad_clock_wall_us()))
		error = EPROTO;
	if (error) {
		triad_profile_file_drop(file);
		return error;
	}
	triad_profile_file_keep(file);
	history_write_index_line(&store->copy, entry);
	return 0;
}

static int note_image(struct triad_history_store *store,
	const struct triad_mirror_image *image, struct triad_history_ring *ring,
	const struct triad_history_entry *entry)
{
	struct triad_history_segment *segment;
	int error = ENOMEM;

	pthread_mutex_lock(&store->lock);
	segment = triad_history_ring_insert(ring, image->tier, image->begun_us);
	if (segment)
		error = triad_history_ring_add(ring, image->tier, segment, entry);
	pthread_mutex_unlock(&store->lock);
	return error;
}

/* Removes a new segment whose first image could not be added. */
static void remove_empty(
	struct triad_history_store *store, const struct triad_mirror_image *image)
{
	char path[PATH_MAX], index[PATH_MAX];

	if (image->offset || store->copy.file.fd < 0)
		return;
	strcpy(path, store->copy.file.path);
	history_close_tier(&store->copy);
	(void)unlink(path);
	if (triad_history_index_path(path, index))
		(void)unlink(index);
}

/* Whether an own image that comes back has a segment name that this SM has yet to give.
 * A genuine one is older than the segment that this SM writes. */
static bool is_yet_to_be_written(
	struct triad_history_store *store, const struct triad_mirror_image *image)
{
	const struct triad_history_segment *last =
		triad_history_ring_last(&store->ring, image->tier);
	bool is_written = store->tiers[image->tier].file.fd >= 0;

	return image->owner == store->params.port_guid &&
		(image->begun_us > triad_clock_wall_us() ||
			(is_written && last && image->begun_us > last->begun_us));
}

/* Passes on the events of another SM's image.  Only of the sweeps' tier: images of
 * longer periods repeat them. */
static void hand_events_on(
	struct triad_history_store *store, const struct triad_mirror_image *image)
{
	const struct triad_history_events_sink *sink = &store->events_sink;

	if (!sink->take || image->tier != TRIAD_HISTORY_SWEEPS ||
		image->owner == store->params.port_guid)
		return;
	/* An image lists the newest event first. */
	for (uint32_t i = store->copied.n; i > 0; i--)
		sink->take(sink->context, &store->copied.events[i - 1]);
}

void triad_history_store_set_events_sink(
	struct triad_history_store *store, const struct triad_history_events_sink *sink)
{
	store->events_sink = *sink;
}

static int add_image(struct triad_history_store *store,
	const struct triad_mirror_image *image, const uint8_t *octets)
{
	struct triad_history_ring *ring = ring_for(store, image->owner);
	struct triad_history_entry entry = {
		.offset = image->offset, .size = image->size};
	int error;

	if (!ring || ring->tiers[image->tier].n >= TRIAD_HISTORY_MAX_COPIES)
		return ENOBUFS;
	if (is_yet_to_be_written(store, image))
		return EBUSY;
	error = history_check_disk(store, image->size);
	if (!error)
		error = open_copy(store, image, ring);
	if (error)
		return error;
	error = append_image(store, image, octets, &entry);
	if (error) {
		remove_empty(store, image);
		return error;
	}
	error = note_image(store, image, ring, &entry);
	if (!error)
		hand_events_on(store, image);
	return error;
}

static int add_image_of(
	void *context, const struct triad_mirror_image *image, const uint8_t *octets)
{
	struct triad_history_store *store = context;
	int error;

	store->reason[0] = '\0';
	error = add_image(store, image, octets);
	if (error)
		forget_empty(store);
	if (error == EPROTO || error == EBUSY || error == ENOBUFS)
		return error;
	switch (triad_file_report(&store->copy_report, store->params.dir, error)) {
	case TRIAD_FILE_IN_TROUBLE:
		triad_log_write(store->log, TRIAD_LOG_ERROR,
			"history: other SMs' images can't be copied to %s: %s; it is "
			"tried again",
			store->params.dir,
			store->reason[0] ? store->reason : strerror(error));
		break;
	case TRIAD_FILE_WELL_AGAIN:
		triad_log_write(store->log, TRIAD_LOG_INFO,
			"history: other SMs' images are copied to %s again",
			store->params.dir);
		break;
	default:
		break;
	}
	return error;
}

int triad_history_store_add_image(
	void *context, const struct triad_mirror_image *image, const uint8_t *octets)
{
	int error;

	history_note_disk(context, true);
	error = add_image_of(context, image, octets);
	history_note_disk(context, false);
	return error;
}
