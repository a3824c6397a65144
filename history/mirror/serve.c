/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers requests of other members.  Drops a request for a segment that was removed:
 * the requester gives up and requests another list. */
#include "history/mirror/parts.h"

#include <string.h>

#include "lib/search.h"

/* --- questions --- */

static bool is_same_image(
	const struct triad_mirror_image *a, const struct triad_mirror_image *b)
{
	return a->owner == b->owner && a->tier == b->tier &&
		a->begun_us == b->begun_us && a->offset == b->offset;
}

/* Joins requests for the same pieces: pieces go to all members, so they are sent
 * once. */
static bool join_job(struct triad_mirror *mirror, const struct mirror_job *asked)
{
	for (uint32_t i = 0; i < mirror->n_jobs; i++) {
		struct mirror_job *job = &mirror->jobs[i];

		if (job->is_list || asked->is_list || job->to == asked->to ||
			!is_same_image(&job->image, &asked->image) ||
			asked->piece < job->piece || asked->piece > job->end)
			continue;
		if (asked->end > job->end)
			job->end = asked->end;
		return true;
	}
	return false;
}

void mirror_serve_ask(struct triad_mirror *mirror, uint64_t sender,
	const struct triad_mirror_message *message)
{
	const struct mirror_job asked = {
		.to = sender,
		.is_list = message->kind == TRIAD_MIRROR_ASK_LIST,
		.before_us = message->before_us,
		.image = {.owner = message->owner,
			.tier = message->tier,
			.begun_us = message->image.begun_us,
			.offset = message->image.offset},
		.piece = message->piece,
		.end = message->piece + message->n_pieces,
	};
	uint32_t i;

	if (message->to != mirror->conf.id || join_job(mirror, &asked))
		return;
	/* A member has one request: a new one replaces the last. */
	for (i = 0; i < mirror->n_jobs && mirror->jobs[i].to != sender; i++)
		;
	if (i == MIRROR_MAX_JOBS)
		return;
	mirror->jobs[i] = asked;
	if (i == mirror->n_jobs)
		mirror->n_jobs++;
}

/* --- answers --- */

static size_t make_list(
	struct triad_mirror *mirror, const struct mirror_job *job, uint8_t *payload)
{
	const struct triad_history_ring *ring =
		triad_history_rings_find(mirror->store.rings, job->image.owner);
	struct triad_mirror_message message = {.kind = TRIAD_MIRROR_LIST,
		.tier = job->image.tier,
		.owner = job->image.owner,
		.before_us = job->before_us};
	uint32_t i;

	for (i = ring ? ring->tiers[job->image.tier].n : 0; i; i--) {
		const struct triad_history_segment *segment =
			&ring->tiers[job->image.tier].segments[i - 1];

		if (segment->begun_us >= job->before_us || !segment->whole)
			continue;
		if (message.list.n == TRIAD_MIRROR_LIST_ROOM)
			break;
		message.list.listed[message.list.n++] =
			(struct triad_mirror_listed){.begun_us = segment->begun_us,
				.octets = segment->whole,
				.last_us = segment->entries[segment->n - 1].time_us};
	}
	message.list.is_last = !i;
	return triad_mirror_message_encode(&message, payload);
}

/* The size of the image at that offset; 0: there is none. */
static uint32_t size_of_image(
	const struct triad_mirror *mirror, const struct triad_mirror_image *image)
{
	const struct triad_history_ring *ring =
		triad_history_rings_find(mirror->store.rings, image->owner);
	const struct triad_history_segment *segment = ring
		? triad_history_ring_segment(ring, image->tier, image->begun_us)
		: NULL;
	uint32_t at;

	if (!segment)
		return 0;
	TRIAD_SEARCH(at, 0, segment->n, segment->entries[at].offset < image->offset);
	if (at == segment->n || segment->entries[at].offset != image->offset ||
		segment->entries[at].size > TRIAD_MIRROR_MAX_IMAGE)
		return 0;
	return (uint32_t)segment->entries[at].size;
}

static size_t make_piece(
	struct triad_mirror *mirror, struct mirror_job *job, uint8_t *payload)
{
	uint8_t octets[TRIAD_MIRROR_PIECE_SIZE];
	struct triad_mirror_message message = {.kind = TRIAD_MIRROR_PIECE,
		.tier = job->image.tier,
		.piece = job->piece,
		.octets = octets};

	if (!job->image.size)
		job->image.size = size_of_image(mirror, &job->image);
	message.image = job->image;
	message.n_octets = triad_pieces_octets_of(
		job->image.size, TRIAD_MIRROR_PIECE_SIZE, job->piece);
	if (!message.n_octets ||
		mirror->store.read(mirror->store.context, &job->image,
			job->piece * TRIAD_MIRROR_PIECE_SIZE, octets,
			(uint32_t)message.n_octets))
		return 0;
	job->piece++;
	return triad_mirror_message_encode(&message, payload);
}

size_t mirror_serve_take(
	struct triad_mirror *mirror, uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE])
{
	while (mirror->n_jobs) {
		struct mirror_job job = mirror->jobs[0];
		size_t size = job.is_list ? make_list(mirror, &job, payload)
					  : make_piece(mirror, &job, payload);

		/* Serve the jobs in turn: put an unfinished one at the end. */
		mirror->n_jobs--;
		memmove(mirror->jobs, mirror->jobs + 1, mirror->n_jobs * sizeof(job));
		if (size && !job.is_list && job.piece < job.end)
			mirror->jobs[mirror->n_jobs++] = job;
		if (size)
			return size;
	}
	return 0;
}
