/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies images between SMs, so that each SM has the whole history.
 *
 * Model: a machine without threads, sockets and files.  Payloads and views of a cluster
 * come in, payloads to all members go out; they may be lost, doubled or late.  Images
 * are in a store; all members have an image as the same octets at the same offset of a
 * segment with the same name.
 *
 * Each member sends, at intervals and after a change, a digest of each tier of each
 * SM's images.  A member with another digest requests the list of segments, the newest
 * first, and then the images that it lacks: one after the other, piece by piece.  The
 * store checks a complete image before it accepts it.  The tier of sweeps and the
 * images of present members come first, so after a fail-over the last hour is available
 * first.  Images of a present member are requested only from that member; those of
 * others, and a member's own, from any member that has them.
 *
 * A removal is not copied; all members remove the same images by the same rule
 * (history/rings.h).
 *
 * Wire: message.h.  Payloads that are malformed or of another version are dropped and
 * counted.
 *
 * Bounds: one image being received (TRIAD_MIRROR_MAX_IMAGE), one page of a list, a few
 * requests being answered.  It sends at most conf.rate_octets_s.
 *
 * Thread-safety: one thread.  Time: any monotonic clock in us, as an argument; times of
 * images are of the wall clock. */
#ifndef TRIAD_HISTORY_MIRROR_H
#define TRIAD_HISTORY_MIRROR_H

#include "history/rings.h"

#define TRIAD_MIRROR_MAGIC "TrHi"
#define TRIAD_MIRROR_VERSION 1u
#define TRIAD_MIRROR_PAYLOAD_SIZE 1024u
#define TRIAD_MIRROR_MAX_MEMBERS 32u
#define TRIAD_MIRROR_MAX_IMAGE (64u << 20)

struct triad_mirror;

/* Where an image is. */
struct triad_mirror_image {
	uint64_t owner; /* the GUID of the port of the SM that wrote it */
	enum triad_history_tier tier;
	uint64_t begun_us; /* its segment */
	uint64_t offset;
	uint32_t size;
};

/* The store of images.  Calls may wait for a disk. */
struct triad_mirror_store {
	void *context;
	/* Changed by 'add' and between calls; the machine changes only
	 * 'reported_floor_us'. */
	struct triad_history_rings *rings;
	/* Reads a part of an image.  Returns 0 or an errno. */
	int (*read)(void *context, const struct triad_mirror_image *image, uint32_t at,
		void *octets, uint32_t size);
	/* Appends an image to its segment, which ends at its offset.  Returns 0;
	 * EPROTO: not an image of that SM; EBUSY: another process writes the segment,
	 * it has changed meanwhile, or something else has its name; ENOBUFS: too many
	 * segments, or SMs; or the errno of a disk. */
	int (*add)(void *context, const struct triad_mirror_image *image,
		const uint8_t *octets);
};

struct triad_mirror_conf {
	uint64_t id;            /* of this member */
	uint32_t rate_octets_s; /* of sent payloads */
};

struct triad_mirror_status {
	uint64_t n_copied, n_copied_octets; /* images received */
	uint64_t n_given_octets;            /* sent to others, in total */
	uint64_t n_bad;                     /* received images that were invalid */
	uint64_t n_failed;                  /* that could not be written */
	int error;                          /* of the last one; 0: it was written */
	uint64_t n_malformed, n_versions;   /* payloads */
	uint32_t n_members;                 /* other members that send STATE */
	uint64_t lacking_octets;            /* estimate of what only others have */
	/* For the member that this one is most behind: how much newer its newest image
	 * is than our copy, and for how long. */
	uint64_t behind_us, behind_for_us;
	uint64_t behind_of; /* the member; 0: none */
};

/* NULL: memory is short.  'store' is copied. */
struct triad_mirror *triad_mirror_new(
	const struct triad_mirror_conf *conf, const struct triad_mirror_store *store);
/* Accepts NULL. */
void triad_mirror_free(struct triad_mirror *mirror);

/* --- in --- */
/* Sets the present members, with or without this one; ignores those over the
 * maximum. */
void triad_mirror_view(
	struct triad_mirror *mirror, const uint64_t *members, uint32_t n);
void triad_mirror_payload(
	struct triad_mirror *mirror, uint64_t sender, const void *payload, size_t size);
/* Advances the time.  Call it before the functions below, and before payloads. */
void triad_mirror_run(struct triad_mirror *mirror, uint64_t now_us, uint64_t wall_us);

/* --- out --- */
/* When to call run again, at the latest. */
uint64_t triad_mirror_next_us(const struct triad_mirror *mirror);
/* Takes the next payload for all members; returns its size, 0: none now. */
size_t triad_mirror_take_payload(
	struct triad_mirror *mirror, uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE]);

void triad_mirror_status(
	const struct triad_mirror *mirror, struct triad_mirror_status *status);

#endif
