/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rows of the configuration's table by name, and what to say when there is
 * none of that name.
 *
 * Thread-safety: constant data. */
#ifndef TRIAD_COMMON_CONF_KEYS_H
#define TRIAD_COMMON_CONF_KEYS_H

#include "triad/conf.h"

#define TRIAD_CONF_MAX_KEYS 256 /* rows the table may have */

/* The key 'name' of 'section'; with 'section' NULL, the key that 'name' gives in
 * full, as "section.name".  NULL when there is none. */
const struct triad_conf_key *triad_conf_key_find(const char *section, const char *name);

/* Its row in the table. */
size_t triad_conf_key_index(const struct triad_conf_key *key);

/* The section's name as it stands in the table, or NULL.  Two sections are the
 * same when their pointers are. */
const char *triad_conf_section_find(const char *name);

/* Says that there is no such section, and which one may have been meant or which
 * there are. */
void triad_conf_section_explain(const char *name, char *text, size_t size);

/* Says that there is no such key, and which one may have been meant or which
 * there are; the parameters are those that found none. */
void triad_conf_key_explain(
	const char *section, const char *name, char *text, size_t size);

#endif
