/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plugin of OpenSM as a file: for which OpenSM it was built.
 *
 * Model: OpenSM compares its own version with the text that the first member of the
 * symbol osm_event_plugin points at.  That symbol, and the relocation that makes the
 * pointer, are looked up in the ELF file.  Nothing is loaded: code of a plugin runs in
 * OpenSM alone, and its undefined symbols are OpenSM's.
 *
 * Thread-safety: functions without state.  Source: System V ABI, chapters 4 and 5. */
#ifndef TRIAD_CLI_PLUGIN_FILE_H
#define TRIAD_CLI_PLUGIN_FILE_H

#include <stddef.h>

#define TRIAD_PLUGIN_VERSION_SIZE 64

/* Reads the version, "OpenSM 3.3.23".  Returns 0; ENOEXEC when the octets are no shared
 * object of this machine; or ENOENT when they are no plugin of OpenSM. */
int triad_plugin_file_version(
	const void *octets, size_t size, char version[TRIAD_PLUGIN_VERSION_SIZE]);

#endif
