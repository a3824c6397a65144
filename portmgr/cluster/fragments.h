/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Datagrams in MADs: a datagram of up to TRIAD_SEAL_MAX_SIZE octets goes as one to six
 * MADs of the second vendor range, each of which is sent once and not answered.  RMPP
 * would need answers, and a state for each receiver that a flood could fill.
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
 * The OUI is 02-54-72: that of nobody, because its bit says that it is administered
 * locally.
 *
 * Nothing here proves who sent a fragment.  Forged ones can spoil a datagram, as they
 * could fill the port; the seal of what was put together shows it.
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

/* The GUID of the port that a fragment says to be from; 0: it is no fragment. */
uint64_t triad_fragment_sender(const uint8_t *mad, size_t size);

/* What has come of one sender's newest datagram; all zeros: nothing. */
struct triad_fragments {
	uint32_t number;
	uint16_t size;
	uint8_t n_missing; /* 0: nothing has come */
	uint32_t n_cut; /* datagrams that ended before they were whole; never reset */
	bool has[TRIAD_FRAGMENT_MAX];
	uint8_t octets[TRIAD_SEAL_MAX_SIZE];
};

/* Adds a fragment, after triad_fragment_sender().  One of another datagram ends what was
 * not whole.  Returns the size of the datagram, in 'octets', when it is whole; else 0. */
size_t triad_fragments_add(
	struct triad_fragments *fragments, const uint8_t mad[TRIAD_MAD_SIZE]);

#endif
