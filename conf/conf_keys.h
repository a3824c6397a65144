/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds sections and keys by name, and writes a reason when there is none of that name.
 *
 * Model: a section is one word of the table, or such a word and the name of an element:
 * [alerts], [alerts switch], [group gpu].  A key_ref is a key of one element.
 *
 * With a 'size' of 0 no reason is written: that saves the search for a similar name.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CONF_CONF_KEYS_H
#define TRIAD_CONF_CONF_KEYS_H

#include "triad/conf.h"

struct triad_conf_section {
	const struct triad_conf_key *first; /* its rows; NULL: none has that name */
	uint8_t n;                          /* adjacent rows */
	bool is_named;                      /* an element's name follows the word */
	unsigned element;
};

_Static_assert(TRIAD_CONF_MAX_KEYS <= UINT8_MAX, "a number of rows");

struct triad_conf_key_ref {
	const struct triad_conf_key *key;
	unsigned element;
};

/* In the order of enum triad_command_type, NULL-terminated. */
extern const char *const triad_conf_types[TRIAD_CONF_N_TYPES + 1];

/* The key's row in the table. */
size_t triad_conf_key_index(const struct triad_conf_key *key);

/* Whether a key, by its full name, or a section belongs to the section of that word. */
bool triad_conf_key_is_of(const char *key, const char *section);

/* How many elements 'conf' has of that kind. */
unsigned triad_conf_n_elements(const struct triad_conf *conf, enum triad_conf_per per);

/* The offset of the element's structure in struct triad_conf. */
size_t triad_conf_element_offset(enum triad_conf_per per, unsigned element);

/* True for a name that a group may have. */
bool triad_conf_group_name_is_valid(const char *name);

/* The group of that name; n_groups when there is none. */
unsigned triad_conf_group_find(const struct triad_conf *conf, const char *name);

/* Writes the full name of 'ref'; TRIAD_CONF_NAME_SIZE octets hold any. */
void triad_conf_key_ref_name(const struct triad_conf *conf,
	struct triad_conf_key_ref ref, char *name, size_t size);

/* Finds a section by the text between its brackets; groups must be in 'conf'
 * already. */
bool triad_conf_section_find(const struct triad_conf *conf, const char *text,
	struct triad_conf_section *section, char *reason, size_t size);

/* The full name of the 'i'th key that a former release had and this one ignores, in the
 * order of strcmp(); NULL behind the last one. */
const char *triad_conf_key_gone(size_t i);

/* The full name of a key that a former release had, and this one accepts and ignores; NULL
 * for any other key.  'section' NULL: 'name' is its full name. */
const char *triad_conf_key_find_gone(
	const struct triad_conf_section *section, const char *name);

/* Finds a key by its name in a section; with 'section' NULL, by its full name. */
bool triad_conf_key_ref_find(const struct triad_conf *conf,
	const struct triad_conf_section *section, const char *name,
	struct triad_conf_key_ref *ref, char *reason, size_t size);

#endif
