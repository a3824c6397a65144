/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MADs of one management class over libibumad, as a transport (triad/mad.h).
 *
 * A reply is received only if it is one to a request of this descriptor
 * (ib/mad_requests.h); others are counted (service/strangers.h) and dropped.
 *
 * The descriptor is our own, apart from OpenSM's.  It must be opened after OpenSM has
 * bound to its port: where ibsim stands in for the kernel, the last to register for a
 * class gets its answers.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_SERVICE_UMAD_H
#define TRIAD_SERVICE_UMAD_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/mad.h"

struct triad_umad;

/* Opens the local port with that GUID for 'mgmt_class' (TRIAD_MAD_CLASS_*).  Returns 0,
 * ENODEV (no such port here), ENOMEM or another errno. */
int triad_umad_open(uint64_t port_guid, int mgmt_class, struct triad_umad **umad);

/* The same for a vendor's class with an OUI (0x30 to 0x4f).  Also receives requests
 * with 'method'; 0: receives answers only. */
int triad_umad_open_vendor(uint64_t port_guid, int mgmt_class, const uint8_t oui[3],
	unsigned method, struct triad_umad **umad);

/* A descriptor that is readable when a MAD has come. */
int triad_umad_fd(const struct triad_umad *umad);

/* The default partition's place in the port's table [triad_local_port_pkey_index()]. */
uint16_t triad_umad_default_pkey(const struct triad_umad *umad);

/* 'in_flight': answers may still come.  Then the descriptor stays open until the
 * process ends: ibsim's must not be closed before its answers have come.  Accepts
 * NULL. */
void triad_umad_close(struct triad_umad *umad, bool in_flight);

/* Lives as long as 'umad'. */
const struct triad_mad_transport *triad_umad_transport(struct triad_umad *umad);

#endif
