/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides which of OpenSM's PortInfos is asked for a second time, because the device may
 * withhold extended speeds from who does not set bit 31 of the attribute modifier.
 *
 * Model: an answer without that bit is asked for again when its link is up, its device
 * supports extended speeds, and it shows none, not even supported ones.  What OpenSM gets
 * then is the device's own answer of that moment, never one from before: so a link that trained
 * again, or a cable that moved, is never taken for what it was.
 *
 * The ports of a switch have its port 0's capabilities.  OpenSM asks for that one first, so
 * they are known here; a PortInfo may also have them itself.
 *
 * Restraint: each PortInfo is asked for at most twice more: with bit 31, and if that was
 * refused or not answered, as OpenSM asked.  A device that refused, or did not answer
 * TRIAD_WITHHELD_MISSES times in a row, is left alone for TRIAD_WITHHELD_SILENT_S; nothing of
 * it is then different from OpenSM without Triad.
 *
 * Thread-safety: none; the owner excludes others.
 * Memory: 1 MiB of address space, of which what is used is touched.  A device for which
 * there is no room takes the place of another, whose ports are not asked a second time until
 * the next sweep.
 * Spec: IBA volume 1, 14.2.5.6. */
#ifndef TRIAD_PLUGIN_WITHHELD_H
#define TRIAD_PLUGIN_WITHHELD_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_WITHHELD_MISSES 3
#define TRIAD_WITHHELD_SILENT_S 600

struct triad_withheld;

enum triad_withheld_step {
	TRIAD_WITHHELD_PASS,  /* it is OpenSM's */
	TRIAD_WITHHELD_ASK,   /* ask with bit 31 instead */
	TRIAD_WITHHELD_PLAIN, /* ask as OpenSM asked */
};

/* The end of a request for PortInfo. */
struct triad_withheld_end {
	uint64_t node_guid;
	uint8_t number;      /* of the attribute modifier */
	bool has_bit;        /* bit 31 of it */
	bool is_second;      /* this is what TRIAD_WITHHELD_ASK asked for */
	bool is_last;        /* this is what TRIAD_WITHHELD_PLAIN asked for */
	uint16_t status;     /* without the direction bit */
	const uint8_t *info; /* the PortInfo, 64 octets; NULL: there was no answer */
};

/* NULL when memory is short. */
struct triad_withheld *triad_withheld_new(void);
/* Accepts NULL. */
void triad_withheld_free(struct triad_withheld *withheld);

/* Notes what the end says of the device, and decides.  'now_s': monotonic.  Never blocks or
 * allocates. */
enum triad_withheld_step triad_withheld_take(struct triad_withheld *withheld,
	const struct triad_withheld_end *end, uint32_t now_s);

#endif
