/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One value of the configuration: from the text of a file into its member of
 * 'struct triad_conf', and back.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CONF_CONF_VALUE_H
#define TRIAD_CONF_CONF_VALUE_H

#include "conf/conf_keys.h"

/* Checks 'value' against the key's row and stores it.  On false '*conf' is
 * untouched and 'reason' says why: what was given, what is allowed. */
bool triad_conf_value_set(struct triad_conf *conf, struct triad_conf_key_ref ref,
	const char *value, uint64_t port_guid, char *reason, size_t size);

/* Compares one value of two configurations with the same groups. */
bool triad_conf_value_is_same(const struct triad_conf *a, const struct triad_conf *b,
	struct triad_conf_key_ref ref);

/* Copies one value, and where it is from, from one configuration to another with the
 * same groups. */
void triad_conf_value_copy(struct triad_conf *to, const struct triad_conf *from,
	struct triad_conf_key_ref ref);

/* Notes where the value is from, and says it. */
void triad_conf_value_set_origin(struct triad_conf *conf, struct triad_conf_key_ref ref,
	enum triad_conf_origin origin);
enum triad_conf_origin triad_conf_value_origin(
	const struct triad_conf *conf, struct triad_conf_key_ref ref);

/* Writes the value as it would be written in a file, cut at 'size' octets
 * (TRIAD_CONF_VALUE_SIZE hold any). */
void triad_conf_value_format(const struct triad_conf *conf,
	struct triad_conf_key_ref ref, char *text, size_t size);

/* Adds group 'name', all its keys at their defaults; 'conf' has room for it. */
void triad_conf_group_add(struct triad_conf *conf, const char *name);

/* A key without which another one makes no sense. */
struct triad_conf_need {
	const struct triad_conf_key *because, *missing;
	const char *why; /* what to put behind "BECAUSE needs MISSING"; may be "" */
};

/* False when nothing that 'conf' says needs what is not there. */
bool triad_conf_find_need(const struct triad_conf *conf, struct triad_conf_need *need);

#endif
