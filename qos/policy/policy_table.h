/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The grammar of a policy: its blocks, and the keys of each.
 *
 * Both syntaxes use this table.  A block is an element with elements in it, or the
 * lines between a keyword and its "end-"; a key is an element with text in it, or a
 * line with a ':'.  '-' and '_' are equivalent in names, because the RFC uses both.
 *
 * Thread-safety: constant data. */
#ifndef TRIAD_QOS_POLICY_TABLE_H
#define TRIAD_QOS_POLICY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum triad_policy_block_kind {
	TRIAD_BLOCK_POLICY, /* the whole policy: an element in XML, implied in text */
	TRIAD_BLOCK_PORT_GROUPS,
	TRIAD_BLOCK_PORT_GROUP,
	TRIAD_BLOCK_SETUP,
	TRIAD_BLOCK_SL2VL_TABLES,
	TRIAD_BLOCK_SL2VL_SCOPE,
	TRIAD_BLOCK_VLARB_TABLES,
	TRIAD_BLOCK_VLARB_SCOPE,
	TRIAD_BLOCK_LEVELS,
	TRIAD_BLOCK_LEVEL,
	TRIAD_BLOCK_RULES,
	TRIAD_BLOCK_RULE,
	TRIAD_BLOCK_PARTITION_LEVELS,
	TRIAD_BLOCK_PARTITION_LEVEL,
	TRIAD_BLOCK_ULPS, /* only in text */
	TRIAD_N_BLOCKS
};

enum triad_policy_value_kind {
	TRIAD_VALUE_NAME,     /* char * */
	TRIAD_VALUE_USE,      /* char *: any text */
	TRIAD_VALUE_SERIAL,   /* any text, not stored */
	TRIAD_VALUE_NAMES,    /* char **, with its number at 'count' */
	TRIAD_VALUE_NUMBER,   /* uint8_t; 'has' if not 0 is where a bool says it is
	                        there */
	TRIAD_VALUE_RATE,     /* the same; its unit depends on the syntax */
	TRIAD_VALUE_RANGES,   /* struct triad_ranges */
	TRIAD_VALUE_PKEYS,    /* the same, without the membership bit */
	TRIAD_VALUE_SERVICES, /* the same; port spaces have names, too */
	TRIAD_VALUE_PORT_NAMES,
	TRIAD_VALUE_NODE_TYPES,
	TRIAD_VALUE_GROUPS, /* struct triad_group_list */
	TRIAD_VALUE_LEVEL,  /* uint32_t */
	TRIAD_VALUE_PORTS,  /* uint8_t[32], with a bool for '*' at 'has' */
	TRIAD_VALUE_SL2VL,
	TRIAD_VALUE_VLARB, /* entries, with their number at 'count', a bool at 'has' */
};

struct triad_policy_key {
	const char *name;
	uint8_t kind; /* enum triad_policy_value_kind */
	bool once;
	uint16_t offset, count, has; /* in the block's structure */
	uint64_t min, max;
	const char *hint; /* what a number means; NULL: no hint */
};

struct triad_policy_block {
	const char *name;
	uint8_t parent;      /* enum triad_policy_block_kind */
	bool text_alone;     /* not in XML */
	const char *element; /* its name in messages */
	uint32_t max;        /* elements in all; 0: it has only blocks */
	size_t size;         /* of an element */
	const struct triad_policy_key *keys;
	unsigned n_keys;
};

extern const struct triad_policy_block triad_policy_blocks[TRIAD_N_BLOCKS];

/* TRIAD_N_BLOCKS when there is none. */
enum triad_policy_block_kind triad_policy_block_find(const char *word, size_t length);

/* NULL when there is none. */
const struct triad_policy_key *triad_policy_key_find(
	enum triad_policy_block_kind block, const char *word, size_t length);

#endif
