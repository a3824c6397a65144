/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One value of the configuration: from the text of a file into its member of
 * 'struct triad_conf', and back.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CONF_CONF_VALUE_H
#define TRIAD_CONF_CONF_VALUE_H

#include "conf/conf_keys.h"

/* Checks 'value' against the key's row and stores it.  False: '*conf' is untouched, and
 * 'reason' names the value and what is allowed. */
bool triad_conf_value_set(struct triad_conf *conf, struct triad_conf_key_ref ref,
	const char *value, uint64_t port_guid, char *reason, size_t size);

/* Compares one value of two configurations with the same groups. */
bool triad_conf_value_is_same(const struct triad_conf *a, const struct triad_conf *b,
	struct triad_conf_key_ref ref);

/* Copies one value and its origin from one configuration to another with the same
 * groups. */
void triad_conf_value_copy(struct triad_conf *to, const struct triad_conf *from,
	struct triad_conf_key_ref ref);

/* Set and get a value's origin. */
void triad_conf_value_set_origin(struct triad_conf *conf, struct triad_conf_key_ref ref,
	enum triad_conf_origin origin);
enum triad_conf_origin triad_conf_value_origin(
	const struct triad_conf *conf, struct triad_conf_key_ref ref);

/* Writes the value as in a file, cut at 'size' octets (TRIAD_CONF_VALUE_SIZE hold
 * any). */
void triad_conf_value_format(const struct triad_conf *conf,
	struct triad_conf_key_ref ref, char *text, size_t size);

/* Adds group 'name', all its keys at their defaults; 'conf' has room for it. */
void triad_conf_group_add(struct triad_conf *conf, const char *name);

/* A key that is missing although another one needs it. */
struct triad_conf_need {
	const struct triad_conf_key *because, *missing;
	const char *why; /* text behind "BECAUSE needs MISSING"; may be "" */
};

/* Finds a key that is missing although another one of 'conf' needs it.  False: none. */
bool triad_conf_find_need(const struct triad_conf *conf, struct triad_conf_need *need);

#endif
