/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The paths from one port to all LIDs of its subnet, as the SA answers them.
 *
 * Model: a row for each LID of each end port, in ascending order of LIDs.  A row may
 * have no path.  LIDs of one port stand together; the first is its base LID.
 *
 * Thread-safety: built by one thread; immutable once shared, by reference count.
 * Memory: one block; at most TRIAD_PATH_TABLE_MAX_ROWS rows.  Checked.
 * Source: the file's form is "opensm full v1", which ibacm reads (route_preload =
 * opensm_full_v1 in ibacm_opts.cfg). */
#ifndef TRIAD_IB_PATH_TABLE_H
#define TRIAD_IB_PATH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_PATH_TABLE_MAX_ROWS 49151u /* unicast LIDs */

struct triad_path_row {
	uint64_t guid; /* of the port that has the LID */
	uint16_t lid;
	uint16_t pkey;
	uint8_t type;   /* enum triad_node_type, of its node */
	uint8_t number; /* of the port */
	uint8_t lmc;
	bool has_path; /* else the members below, and 'pkey', are 0 */
	uint8_t sl, mtu, rate;
};

struct triad_path_table {
	uint64_t generation; /* generation of the fabric it was made from */
	uint64_t guid;       /* of the port where all paths begin */
	uint16_t lid;        /* its base LID */
	uint8_t lmc;
	uint32_t n_paths; /* rows with a path */
	uint32_t n;
	struct triad_path_row rows[];
};

/* Makes a table of 'n' rows, all zeros, with one reference.  NULL: memory is short, or
 * 'n' is more than TRIAD_PATH_TABLE_MAX_ROWS. */
struct triad_path_table *triad_path_table_new(uint32_t n);
struct triad_path_table *triad_path_table_ref(struct triad_path_table *table);
void triad_path_table_unref(struct triad_path_table *table); /* accepts NULL */

/* The row of a LID; NULL: none. */
const struct triad_path_row *triad_path_table_find(
	const struct triad_path_table *table, uint16_t lid);

/* Room in octets for the file of any table of 'n' rows, with its 0. */
size_t triad_path_table_text_size(uint32_t n);

/* Writes the file, ended by a 0; returns its length.  'size' is from
 * triad_path_table_text_size().  The format has no P_Keys, and assigns no LIDs to ports
 * but base LIDs.  So this writes only paths in the default partition to a base LID.
 * '*n_written' is how many. */
size_t triad_path_table_write(const struct triad_path_table *table, char *text,
	size_t size, uint32_t *n_written);

/* Whether a file that begins with these octets was written so; TRIAD_PATH_TABLE_HEAD_SIZE
 * of them are enough. */
#define TRIAD_PATH_TABLE_HEAD_SIZE 128u
bool triad_path_table_is_text(const char *text, size_t size);

#endif
