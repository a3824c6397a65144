/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads from the file of an OpenSM plugin for which OpenSM it was built.
 *
 * Model: OpenSM compares its own version with the text that the first member of the
 * symbol osm_event_plugin points to.  This code looks up that symbol, and the
 * relocation that sets the pointer, in the ELF file.  It does not load the plugin: a
 * plugin's undefined symbols are in OpenSM.
 *
 * Thread-safety: functions without state.  Source: System V ABI, chapters 4 and 5. */
#ifndef TRIAD_CLI_PLUGIN_FILE_H
#define TRIAD_CLI_PLUGIN_FILE_H

#include <stddef.h>

#define TRIAD_PLUGIN_VERSION_SIZE 64

/* Reads the version, "OpenSM 3.3.23".  Returns 0; ENOEXEC (not a shared object for this
 * machine); or ENOENT (not a plugin of OpenSM). */
int triad_plugin_file_version(
	const void *octets, size_t size, char version[TRIAD_PLUGIN_VERSION_SIZE]);

#endif
