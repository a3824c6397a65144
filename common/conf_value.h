/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One value of the configuration: from the text of a file into its member of
 * 'struct triad_conf', and back.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_COMMON_CONF_VALUE_H
#define TRIAD_COMMON_CONF_VALUE_H

#include "triad/conf.h"

/* Checks 'value' against the key's row and stores it.  On false '*conf' is
 * untouched and 'reason' says why: what was given, what is allowed. */
bool triad_conf_value_set(struct triad_conf *conf, const struct triad_conf_key *key,
	const char *value, uint64_t port_guid, char *reason, size_t size);

/* Copies one key's value from one configuration to another. */
void triad_conf_value_copy(struct triad_conf *to, const struct triad_conf *from,
	const struct triad_conf_key *key);

#endif
