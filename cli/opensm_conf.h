/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The text of an opensm.conf: what it says of plugins, and how that is changed.
 *
 * Model: lines are read as OpenSM reads them.  A line is a key and the rest of the
 * line, up to a '#'; blanks around the value and a pair of quotes are no part of it; of
 * a key that is there several times, the last counts; "(null)" is no value.  A line
 * longer than OpenSM's buffer is several lines.  A value is replaced where it stands:
 * each octet around it stays.
 *
 * Thread-safety: functions without state.  Memory: an edit owns its text. */
#ifndef TRIAD_CLI_OPENSM_CONF_H
#define TRIAD_CLI_OPENSM_CONF_H

#include <stdbool.h>
#include <stddef.h>

#define TRIAD_OPENSM_CONF_MAX_SIZE ((size_t)1 << 20)
/* Octets of a line, with its end and a 0. */
#define TRIAD_OPENSM_CONF_LINE_SIZE 1023
#define TRIAD_OPENSM_PLUGIN "osmtriad"
/* The file that OpenSM makes of that name. */
#define TRIAD_OPENSM_LIBRARY "lib" TRIAD_OPENSM_PLUGIN ".so"

/* One line; 'before' is empty for one that is new.  As in the file, without its end. */
struct triad_opensm_conf_change {
	unsigned line; /* from 1 */
	char before[TRIAD_OPENSM_CONF_LINE_SIZE];
	char after[TRIAD_OPENSM_CONF_LINE_SIZE];
};

/* A new text, and what is new in it; nothing: the text is the old one.  All zeros at
 * first. */
struct triad_opensm_conf_edit {
	char *octets;
	size_t size;
	unsigned n_changes;
	struct triad_opensm_conf_change changes[2];
};

/* Whether the octets can be an opensm.conf; otherwise why not, in words. */
const char *triad_opensm_conf_refuse(const char *octets, size_t size);

/* The value that OpenSM takes for 'key'.  False, and an empty value, when there is
 * none.  '*n' lines have the key. */
bool triad_opensm_conf_get(const char *octets, size_t size, const char *key,
	char value[TRIAD_OPENSM_CONF_LINE_SIZE], unsigned *n);

/* Whether 'names', a value of event_plugin_name, has Triad among them. */
bool triad_opensm_conf_loads(const char *names);

/* The file that Triad finds in 'options', a value of event_plugin_options; false when
 * none is named. */
bool triad_opensm_conf_option(
	const char *options, char path[TRIAD_OPENSM_CONF_LINE_SIZE]);

/* Whether a path can stand in event_plugin_options. */
bool triad_opensm_conf_takes_path(const char *path);

/* OpenSM shall load Triad; with 'path', with this configuration.  Returns 0; EMSGSIZE
 * when a line would be too long for OpenSM; or ENOMEM. */
int triad_opensm_conf_add(const char *octets, size_t size, const char *path,
	struct triad_opensm_conf_edit *edit);

/* OpenSM shall not load Triad.  When adding it to 'old', a copy from before, gives this
 * text, the copy is the result; otherwise its name is taken out, and its configuration
 * if no other plugin is left that may read it.  'old' may be NULL.  Returns as '_add'.
 */
int triad_opensm_conf_remove(const char *octets, size_t size, const char *old,
	size_t old_size, struct triad_opensm_conf_edit *edit);

void triad_opensm_conf_edit_clear(struct triad_opensm_conf_edit *edit);

#endif
