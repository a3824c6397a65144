/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "lib/format_version.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "triad/wire.h"

#define BETWEEN ", version "

unsigned triad_format_version(const char *octets, size_t size, const char *name)
{
	const char *end = memchr(octets, '\n', size);
	const char *at = octets + strlen(name);
	uint64_t version = 0;

	if (!end)
		end = octets + size;
	if ((size_t)(end - octets) < strlen(name) || memcmp(octets, name, strlen(name)))
		return 0;
	if ((size_t)(end - at) < strlen(BETWEEN) ||
		memcmp(at, BETWEEN, strlen(BETWEEN)) != 0)
		return 1;
	at += strlen(BETWEEN);
	while (at < end && *at >= '0' && *at <= '9' && version < UINT_MAX)
		version = version * 10 + (uint64_t)(*at++ - '0');
	return version && version < UINT_MAX ? (unsigned)version : UINT_MAX;
}

void triad_format_refusal(
	char text[TRIAD_FORMAT_REFUSAL_SIZE], unsigned version, unsigned known)
{
	snprintf(text, TRIAD_FORMAT_REFUSAL_SIZE,
		"it has version %u of its format, and Triad " PACKAGE_VERSION
		" reads version %u: it stays as it is; install the newer Triad that "
		"wrote it, or move it away",
		version, known);
}

unsigned triad_format_message_version(const void *octets, size_t size, uint32_t magic)
{
	struct triad_wire wire;
	unsigned version;

	triad_wire_init(&wire, (void *)(uintptr_t)octets, size);
	if (triad_wire_get(&wire, 4) != magic)
		return 0;
	version = (unsigned)triad_wire_get(&wire, 1);
	return wire.failed ? 0 : version;
}

void triad_format_disagreement(
	char text[TRIAD_FORMAT_REFUSAL_SIZE], unsigned version, unsigned known)
{
	snprintf(text, TRIAD_FORMAT_REFUSAL_SIZE,
		"sends messages of version %u, and Triad " PACKAGE_VERSION
		" here understands version %u: they are ignored; install the same "
		"release on both",
		version, known);
}
