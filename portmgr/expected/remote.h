/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares the component at a port's far end with the expected one.
 *
 * A component is identified by any mix of port GUID, node GUID, node name, vendor id
 * and remote port.  A name may be wrong for a while: a host reports its own only when
 * its system is up.  So a difference in the name alone has its own result.
 *
 * Document: [election-patent, "port is miswired"].  Thread-safety: no state. */
#ifndef TRIAD_PORTMGR_REMOTE_H
#define TRIAD_PORTMGR_REMOTE_H

#include "portmgr/expected/expected.h"
#include "triad/fabric.h"

enum triad_remote_match {
	TRIAD_REMOTE_FITS,         /* or nothing is expected */
	TRIAD_REMOTE_NAME_DIFFERS, /* only the name differs */
	TRIAD_REMOTE_DIFFERS,
	TRIAD_REMOTE_NONE, /* nothing is known at the far end */
};

/* Compares the far end of 'port' (index in the fabric's ports) with 'desired'.  'why'
 * (may be NULL) gets a sentence that names both. */
enum triad_remote_match triad_remote_compare(const struct triad_fabric *fabric,
	uint32_t port, const struct triad_expected *expected,
	const struct triad_expected_remote *desired, char *why, size_t size);

/* Whether 'name' matches the pattern ('*': any octets, '?': one octet); case
 * matters. */
bool triad_name_fits(const char *pattern, const char *name);

/* Formats as "name=host-0001*;port=1"; truncates to 'size'. */
void triad_remote_describe(const struct triad_expected *expected,
	const struct triad_expected_remote *desired, char *text, size_t size);

#endif
