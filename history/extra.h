/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Facts about a port or a device in an image, besides counters.
 *
 * Model: records follow each other in lines of a profile; a record may continue on the
 * next line:
 *
 *     # triad-extra HEX
 *
 * A record is its kind (1 octet), the size of the rest (2 octets), and the rest: a
 * table of fields (lib/fields.h).  A reader skips unknown kinds, and what a later
 * version adds after the fields.
 *
 * Times in memory are monotonic, those in records are of the wall clock: 'offset_us'
 * added to the former gives the latter.
 *
 * Thread-safety: functions without state.  Memory: none is allocated. */
#ifndef TRIAD_HISTORY_EXTRA_H
#define TRIAD_HISTORY_EXTRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/details.h"
#include "perfmgr/devices/devices.h"
#include "perfmgr/watch/bers.h"

/* As in records. */
enum triad_extra_kind {
	TRIAD_EXTRA_DETAIL = 1, /* an attribute of details; part: which */
	TRIAD_EXTRA_BER,        /* a bit error rate; part: enum triad_ber_kind */
	TRIAD_EXTRA_CABLE,      /* what is plugged in */
	TRIAD_EXTRA_DEVICE,     /* what a device reports about itself; port 0 */
};

struct triad_extra {
	uint64_t node_guid;
	uint8_t port, kind, part;
	/* The key image has it, but it is gone now: there is no value. */
	bool is_gone;
	union {
		struct triad_detail_row detail;
		struct triad_bers_rate ber;
		struct triad_cable_known cable;
		struct triad_device_known device;
	} is;
};

#define TRIAD_EXTRA_HEADER_SIZE 3u
#define TRIAD_EXTRA_SIZE 1024u /* of a record, at most */

/* Writes a record.  Returns its size. */
size_t triad_extra_put(uint8_t octets[TRIAD_EXTRA_SIZE],
	const struct triad_extra *extra, int64_t offset_us);

/* The size of the record that begins with these TRIAD_EXTRA_HEADER_SIZE octets; 0: it
 * is not a record. */
size_t triad_extra_size(const uint8_t *octets);

/* Reads a record of that size.  False, with 'extra' undefined, if its kind or form is
 * unknown. */
bool triad_extra_get(const uint8_t *octets, size_t size, struct triad_extra *extra,
	int64_t offset_us);

#endif
