/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the version in a plugin of OpenSM from any octets. */
#include "cli/plugin_file.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char version[TRIAD_PLUGIN_VERSION_SIZE];
	uint8_t *copy = malloc(size ? size : 1);
	int error;

	require(copy, "memory");
	if (size)
		memcpy(copy, data, size);
	memset(version, 'x', sizeof(version));
	error = triad_plugin_file_version(copy, size, version);
	require(!error || error == ENOEXEC || error == ENOENT, "errors are known");
	require(memchr(version, '\0', sizeof(version)), "a text has an end");
	require(!error || !*version, "an error has no version");
	free(copy);
	return 0;
}
