/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How SMs copy each other's images, so that each of them has the whole history.
 *
 * Model: a machine without threads, sockets and files.  Payloads and views of a cluster
 * come in, payloads to all members go out; they may be lost, doubled or late.  Images are
 * in a store, as the same octets at the same place of a segment of the same name, whoever
 * has them.
 *
 * Each member says what it has of each SM's images, at intervals and after a change: a
 * digest of each tier.  A member that has another digest asks for the list of segments,
 * the newest first, and then for what it lacks of each: one image after the other, piece
 * by piece.  The store looks at a whole image before it takes it.  First come the tier of
 * sweeps and the images of members that are there, so after a fail-over the last hour is
 * there first.  About images of a member that is there, that member alone is asked; about
 * those of others, its own among them, any member that has them.
 *
 * Nobody removes what another one removed; all remove the same by the same rule
 * (history/rings.h).
 *
 * Wire: message.h.  What is of another version or malformed is dropped and counted.
 *
 * Bounds: one image on its way here (TRIAD_MIRROR_MAX_IMAGE), one page of a list, some
 * questions that are answered.  Out goes no more than conf.rate_octets_s.
 *
 * Thread-safety: one thread.  Time: any monotonic clock in us, as an argument; that of
 * images is of the wall. */
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

/* Who has the images.  Calls may wait for a disk. */
struct triad_mirror_store {
	void *context;
	/* Changed by 'add' and between calls; the machine sets told floors alone. */
	struct triad_history_rings *rings;
	/* A part of an image.  Returns 0 or an errno. */
	int (*read)(void *context, const struct triad_mirror_image *image, uint32_t at,
		void *octets, uint32_t size);
	/* Appends an image to its segment, which ends at its offset.  Returns 0; EPROTO:
	 * this is no image of that SM's; EBUSY: another one writes there, it has changed
	 * meanwhile, or something else has its name; ENOBUFS: too many segments, or SMs; or the errno of a disk. */
	int (*add)(void *context, const struct triad_mirror_image *image,
		const uint8_t *octets);
};

struct triad_mirror_conf {
	uint64_t id;            /* of this member */
	uint32_t rate_octets_s; /* of what is said */
};

struct triad_mirror_status {
	uint64_t n_copied, n_copied_octets; /* images that came here */
	uint64_t n_given_octets;            /* said to others, all in all */
	uint64_t n_bad;                     /* images that were none */
	uint64_t n_failed;                  /* that could not be written */
	int error;                          /* of the last one; 0: it was */
	uint64_t n_malformed, n_versions;   /* payloads */
	uint32_t n_members;                 /* others that say what they have */
	uint64_t lacking_octets;            /* that others have, roughly */
	/* Of the member that is worst: how much newer its newest image is than what is here
	 * of it, and for how long that has been so. */
	uint64_t behind_us, behind_for_us;
	uint64_t behind_of; /* which; 0: none */
};

/* NULL: memory is short.  'store' is copied. */
struct triad_mirror *triad_mirror_new(
	const struct triad_mirror_conf *conf, const struct triad_mirror_store *store);
/* Accepts NULL. */
void triad_mirror_free(struct triad_mirror *mirror);
void triad_mirror_set_rate(struct triad_mirror *mirror, uint32_t rate_octets_s);

/* --- in --- */
/* The members at present, with or without this one; what is too much is left out. */
void triad_mirror_view(
	struct triad_mirror *mirror, const uint64_t *members, uint32_t n);
void triad_mirror_payload(
	struct triad_mirror *mirror, uint64_t sender, const void *payload, size_t size);
/* Time passes: to be called before what follows, and before payloads. */
void triad_mirror_run(struct triad_mirror *mirror, uint64_t now_us, uint64_t wall_us);

/* --- out --- */
/* When run is to be called again, at the latest. */
uint64_t triad_mirror_next_us(const struct triad_mirror *mirror);
/* The next payload to be sent to all; returns its size, 0: none now. */
size_t triad_mirror_take_payload(
	struct triad_mirror *mirror, uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE]);

void triad_mirror_status(
	const struct triad_mirror *mirror, struct triad_mirror_status *status);

#endif
