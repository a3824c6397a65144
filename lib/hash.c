/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/hash.h"

#include <nettle/sha2.h>

uint64_t triad_hash_sha256(const void *octets, size_t n)
{
	uint8_t digest[sizeof(uint64_t)];
	struct sha256_ctx sum;
	uint64_t hash = 0;

	sha256_init(&sum);
	sha256_update(&sum, n, octets);
	sha256_digest(&sum, sizeof(digest), digest);
	for (unsigned i = 0; i < sizeof(digest); i++)
		hash = hash << 8 | digest[i];
	return hash;
}
