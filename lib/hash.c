/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/hash.h"

#include <glib.h>

uint64_t triad_hash_sha256(const void *octets, size_t n)
{
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize size = sizeof(digest);
	uint64_t hash = 0;

	g_checksum_update(sum, octets, (gssize)n);
	g_checksum_get_digest(sum, digest, &size);
	g_checksum_free(sum);
	for (unsigned i = 0; i < 8; i++)
		hash = hash << 8 | digest[i];
	return hash;
}
