/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads and edits the settings of plugins in the text of an opensm.conf.
 *
 * Model: lines are parsed as by OpenSM.  A line is a key and the rest of the line, up
 * to a '#'; blanks and a pair of quotes around the value are not part of it; the last
 * line of a key counts; "(null)" is no value.  A line longer than OpenSM's buffer is
 * several lines.  An edit replaces a value in its place and keeps each octet around it.
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

/* A changed line as in the file, without its end; 'before' is empty for a new line. */
struct triad_opensm_conf_change {
	unsigned line; /* from 1 */
	char before[TRIAD_OPENSM_CONF_LINE_SIZE];
	char after[TRIAD_OPENSM_CONF_LINE_SIZE];
};

/* A new text and its changed lines; without changes it is the old text.  All zeros at
 * first. */
struct triad_opensm_conf_edit {
	char *octets;
	size_t size;
	unsigned n_changes;
	struct triad_opensm_conf_change changes[2];
};

/* Why the octets can't be an opensm.conf, in words; NULL: they can be. */
const char *triad_opensm_conf_refuse(const char *octets, size_t size);

/* Gets the value that OpenSM takes for 'key'.  False, and an empty value, when there is
 * none.  '*n' is the number of lines with the key. */
bool triad_opensm_conf_get(const char *octets, size_t size, const char *key,
	char value[TRIAD_OPENSM_CONF_LINE_SIZE], unsigned *n);

/* Whether 'names', a value of event_plugin_name, contains Triad. */
bool triad_opensm_conf_loads(const char *names);

/* Gets the configuration file that 'options', a value of event_plugin_options, names
 * for Triad; false when it names none. */
bool triad_opensm_conf_option(
	const char *options, char path[TRIAD_OPENSM_CONF_LINE_SIZE]);

/* Whether a path can stand in event_plugin_options. */
bool triad_opensm_conf_takes_path(const char *path);

/* Makes the text with which OpenSM loads Triad; 'path' is Triad's configuration, or
 * NULL.  Returns 0; EMSGSIZE when a line would be too long for OpenSM; or ENOMEM. */
int triad_opensm_conf_add(const char *octets, size_t size, const char *path,
	struct triad_opensm_conf_edit *edit);

/* Makes the text with which OpenSM does not load Triad.  'old' is a copy from before,
 * or NULL.  If adding Triad to 'old' gives this text, the result is 'old'.  Otherwise
 * Triad's name is removed, and its configuration unless another plugin is left that may
 * read it.  Returns as '_add'. */
int triad_opensm_conf_remove(const char *octets, size_t size, const char *old,
	size_t old_size, struct triad_opensm_conf_edit *edit);

void triad_opensm_conf_edit_clear(struct triad_opensm_conf_edit *edit);

#endif
