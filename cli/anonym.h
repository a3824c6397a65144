/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Replaces what names a site in texts: names, GUIDs, serial numbers and addresses become made-up
 * ones, the same original the same one wherever it stands, and different ones different.
 *
 * Model: first the caller says which names, serial numbers and GUIDs there are, and which words
 * are everybody's; then it has texts rewritten, in pieces of any size.
 *
 *   - Of a name its words are replaced, not the name as a whole: "host-1 mlx5_0" becomes
 *     "host-b7kq2 mlx5_0".  Words of vendors and models, HCA-1, mlx5_0, and numbers stay.
 *     A name of several nodes stays one of several.
 *   - A word is found wherever no letter or digit adjoins (a letter may follow a digit), in any
 *     case; of several words the longest.
 *   - A word that is everybody's ("node", "up") or has under three characters would be found
 *     everywhere.  It is replaced only where a value is a name as a whole: of a member of JSON
 *     that has names, or at the beginning of a line of CSV.
 *   - Whatever has the form of a GUID (0x and 9 to 16 digits, 16 digits, with colons, in a GID),
 *     of an address of IP or of a MAC is replaced, known or not.  A GUID's last octet stays, so
 *     that ports keep their distances from nodes; GUIDs with no vendor's OUI are replaced only
 *     if they are known, since masks look like them.  Prefix fe80::, loopback, multicast and
 *     broadcast stay.
 *
 * Made-up GUIDs and MACs begin with ac:de:48, addresses of IPv4 with 198.18 or 198.19.
 * They are drawn from the kernel's random numbers, and known to this object alone.
 *
 * Thread-safety: none.  Memory: an entry for each original, however long the texts. */
#ifndef TRIAD_CLI_ANONYM_H
#define TRIAD_CLI_ANONYM_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum triad_anonym_kind {
	TRIAD_ANONYM_HOST,
	TRIAD_ANONYM_SWITCH,
	TRIAD_ANONYM_ROUTER,
	TRIAD_ANONYM_USER,
	TRIAD_ANONYM_SERIAL,
	TRIAD_ANONYM_N_KINDS
};

/* The longest original; longer names are known by their words. */
#define TRIAD_ANONYM_MAX_LENGTH 128

struct triad_anonym;

struct triad_anonym *triad_anonym_new(void);
void triad_anonym_free(struct triad_anonym *anonym); /* accepts NULL */

/* A name that is known already keeps its kind. */
void triad_anonym_add_name(
	struct triad_anonym *anonym, enum triad_anonym_kind kind, const char *name);
void triad_anonym_add_guid(struct triad_anonym *anonym, uint64_t guid);
/* The words of 'text' are everybody's. */
void triad_anonym_add_common(struct triad_anonym *anonym, const char *text);

/* Instead of replacing, calls 'found' with each original and each unknown GUID or address that
 * is no made-up one, 'size' octets.  NULL: replaces. */
typedef void triad_anonym_found(void *context, const char *text, size_t size);
void triad_anonym_report(
	struct triad_anonym *anonym, triad_anonym_found *found, void *context);

/* Begins a text. */
void triad_anonym_begin(struct triad_anonym *anonym);
/* Rewrites the next piece of it, and appends to 'to' what is known to be through; the rest
 * follows with the next piece.  'is_last': there is none. */
void triad_anonym_rewrite(struct triad_anonym *anonym, const char *piece, size_t size,
	bool is_last, GString *to);

/* Words and serial numbers that are looked for everywhere; '*n_weak': those that are looked for
 * only where names stand. */
unsigned triad_anonym_n_words(const struct triad_anonym *anonym, unsigned *n_weak);

#endif
