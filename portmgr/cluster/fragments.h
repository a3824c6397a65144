/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Datagrams in MADs: a datagram of up to TRIAD_SEAL_MAX_SIZE octets becomes one to six
 * MADs of the second vendor range.  Each is sent once and not answered.  RMPP would
 * need answers, and state for each receiver, which a flood could exhaust.
 *
 *     offset  octets
 *      0     24       MAD header: class 0x3d, method VendorSend
 *     24     12       RMPP header: zeros
 *     36      4       0, and the OUI
 *     40      4       magic, "TrFr"
 *     44      1       version, 1
 *     45      1       index of this fragment
 *     46      2       size of the datagram
 *     48      8       GUID of the sender's port
 *     56      4       number of the datagram: one more than that of the last one
 *     60      4       reserved, 0
 *     64    192       octets from index * 192 on; zeros behind the end
 *
 * The OUI is 02-54-72, which belongs to nobody: its local bit is set.
 *
 * Fragments are not authenticated.  Forged ones can spoil a datagram, just as they
 * could flood the port; then the seal of the assembled datagram does not match.
 *
 * Thread-safety: none.  Memory: no allocation.  Pure.
 * Spec: IBA volume 1, 13.4.2 (MAD header), 16.5 (vendor's classes). */
#ifndef TRIAD_PORTMGR_FRAGMENTS_H
#define TRIAD_PORTMGR_FRAGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "portmgr/cluster/seal.h"
#include "triad/mad.h"

#define TRIAD_FRAGMENT_CLASS 0x3d
#define TRIAD_FRAGMENT_METHOD 0x03 /* VendorSend */
#define TRIAD_FRAGMENT_SIZE 192u
#define TRIAD_FRAGMENT_MAX                                                             \
	((TRIAD_SEAL_MAX_SIZE + TRIAD_FRAGMENT_SIZE - 1) / TRIAD_FRAGMENT_SIZE)

extern const uint8_t triad_fragment_oui[3];

/* How many MADs a datagram of 'size' octets takes. */
unsigned triad_fragment_count(size_t size);

/* Makes the MAD with the fragment 'index' of a datagram. */
void triad_fragment_make(uint8_t mad[TRIAD_MAD_SIZE], uint64_t guid, uint32_t number,
	const void *datagram, size_t size, unsigned index);

/* The sender's port GUID as stated in a fragment; 0: it is not a fragment. */
uint64_t triad_fragment_sender(const uint8_t *mad, size_t size);

/* The parts received of one sender's newest datagram; all zeros: none. */
struct triad_fragments {
	uint32_t number;
	uint16_t size;
	uint8_t n_missing; /* 0: nothing has come */
	uint32_t n_cut; /* datagrams given up before they were complete; never reset */
	bool has[TRIAD_FRAGMENT_MAX];
	uint8_t octets[TRIAD_SEAL_MAX_SIZE];
};

/* Adds a fragment, after triad_fragment_sender().  A fragment of another datagram
 * discards an incomplete one.  Returns the size of the datagram in 'octets' when it is
 * complete; else 0. */
size_t triad_fragments_add(
	struct triad_fragments *fragments, const uint8_t mad[TRIAD_MAD_SIZE]);

#endif
