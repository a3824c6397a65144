/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Is the component at a port's far end the one that is expected there?
 *
 * A component is identified by any mix of port GUID, node GUID, node name, vendor id
 * and remote port.  A name may be wrong for a while: a host says its own only when its
 * system is up.  So a name alone that differs is told apart from the rest.
 *
 * Document: [election-patent, "port is miswired"].  Thread-safety: no state. */
#ifndef TRIAD_PORTMGR_REMOTE_H
#define TRIAD_PORTMGR_REMOTE_H

#include "portmgr/expected/expected.h"
#include "triad/fabric.h"

enum triad_remote_match {
	TRIAD_REMOTE_FITS,         /* or nothing is asked for */
	TRIAD_REMOTE_NAME_DIFFERS, /* and nothing else */
	TRIAD_REMOTE_DIFFERS,
	TRIAD_REMOTE_NONE, /* nothing is known at the far end */
};

/* The far end of 'port' (index in the fabric's ports) beside what 'wanted' asks for.
 * 'why' (may be NULL) gets a sentence that names what is there and what should be. */
enum triad_remote_match triad_remote_compare(const struct triad_fabric *fabric,
	uint32_t port, const struct triad_expected *expected,
	const struct triad_expected_remote *wanted, char *why, size_t size);

/* Whether 'name' is as the pattern ('*': any octets, '?': one) has it; letters' case
 * counts. */
bool triad_name_fits(const char *pattern, const char *name);

/* "name=host-0001*;port=1"; cut to 'size'. */
void triad_remote_describe(const struct triad_expected *expected,
	const struct triad_expected_remote *wanted, char *text, size_t size);

#endif
