/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Builds a policy from the blocks and keys that a parser finds in a file.
 *
 * Model: a parser calls these functions in the order of the file, for each block and
 * key.  The builder knows what is allowed where, and reports mistakes.  If a block is
 * not allowed where it begins, the builder closes open blocks until it is.  So one slip
 * gives one message, and the rest of the file is still checked.
 *
 * Thread-safety: one thread.  Memory: list items are counted and capped.  Over the cap
 * 'stopped' is set, and the parser should end.  When memory is short, 'error' is ENOMEM
 * and 'stopped' is set, too. */
#ifndef TRIAD_QOS_POLICY_BUILD_H
#define TRIAD_QOS_POLICY_BUILD_H

#include "qos/policy/policy.h"
#include "qos/policy/policy_table.h"

enum triad_policy_syntax {
	TRIAD_POLICY_TEXT,
	TRIAD_POLICY_XML,
};

#define TRIAD_POLICY_MAX_DEPTH 8
#define TRIAD_POLICY_MAX_KEYS 16 /* of one block */
#define TRIAD_POLICY_N_SLS 16

struct triad_policy_open {
	enum triad_policy_block_kind kind;
	struct triad_source_location location;
	bool implied; /* not in the file */
};

/* A reference to a group or level by name; looked up at the end.  A reference to a
 * group counts as an item of its list. */
struct triad_policy_reference {
	const char *name;
	struct triad_source_location location;
	enum triad_policy_block_kind block;
	bool is_level;   /* else a group */
	uint16_t offset; /* offset, in the element, of the list or index to set */
	uint32_t index;  /* of the element */
};

/* Elements of one kind; grows. */
struct triad_policy_elements {
	void *items;
	uint32_t n;
	size_t room;
	bool is_full; /* and that was reported */
};

struct triad_policy_builder {
	struct triad_policy *policy;
	struct triad_diags *diags;
	enum triad_policy_syntax syntax;
	const char *default_level; /* "": none given */
	char *text;                /* printable UTF-8, blanks and newlines; a 0 */
	size_t size;
	size_t at; /* 'location' is that of this octet of 'text' */
	struct triad_source_location location;
	struct triad_policy_open open[TRIAD_POLICY_MAX_DEPTH];
	unsigned depth;
	void *element; /* of the block that is open; NULL: none */
	struct triad_source_location seen[TRIAD_POLICY_MAX_KEYS]; /* its keys */
	struct triad_policy_elements elements[TRIAD_N_BLOCKS];
	struct triad_policy_elements references;
	uint32_t n_items;
	uint32_t ulp_levels[TRIAD_POLICY_N_SLS]; /* their index, or NONE */
	uint32_t ulp_default, use_default;       /* the same */
	bool stopped;
	int error;
};

/* A key's value: a piece of a file. */
struct triad_policy_value {
	const char *text;
	size_t size;
	struct triad_source_location location; /* where it begins */
	bool is_verbatim; /* unchanged from the file, so its parts have locations */
};

/* --- called by the parsers --- */

void triad_policy_begin(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location);

/* Ends the innermost block of that kind. */
void triad_policy_end(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location);

/* Looks up 'word' as a key of the open block.  Returns the key; or reports a mistake
 * and returns NULL. */
const struct triad_policy_key *triad_policy_key(struct triad_policy_builder *builder,
	const char *word, size_t length, struct triad_source_location location);

/* Sets a key's value; 'location' is the key's. */
void triad_policy_set(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, struct triad_source_location location,
	const struct triad_policy_value *value);

/* At the end of the file: ends all open blocks. */
void triad_policy_end_all(struct triad_policy_builder *builder);

/* The level that qos-ulps makes for an SL. */
uint32_t triad_policy_ulp_level(struct triad_policy_builder *builder, unsigned sl,
	struct triad_source_location location);

/* --- where a mistake is, and the report of it (policy_report.c) --- */

/* The location of octet 'at' of the text.  Fast if it is close to the last one. */
struct triad_source_location triad_policy_location(
	struct triad_policy_builder *builder, size_t at);

__attribute__((format(printf, 3, 4))) void triad_policy_report(
	struct triad_policy_builder *builder, struct triad_source_location location,
	const char *format, ...);

void triad_policy_out_of_memory(struct triad_policy_builder *builder);

/* True while a mistake would still be shown, so that composing a better message
 * pays. */
bool triad_policy_is_shown(const struct triad_policy_builder *builder);

/* --- elements and references (policy_elements.c) --- */

/* The present block; TRIAD_N_BLOCKS when none is open. */
enum triad_policy_block_kind triad_policy_present(
	const struct triad_policy_builder *builder);

/* Appends a cleared element; NULL when there is no room, which is reported. */
void *triad_policy_add(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location);

void triad_policy_refer(struct triad_policy_builder *builder, const char *name,
	bool is_level, uint16_t offset, struct triad_source_location location);

/* --- values (policy_value.c) --- */

/* Reads a value of any kind into the element that is open; reports what is wrong. */
void triad_policy_value_read(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value);

/* --- the steps of triad_policy_parse() --- */

void triad_policy_text_read(struct triad_policy_builder *builder);
void triad_policy_xml_read(struct triad_policy_builder *builder);

/* One line of qos-ulps. */
void triad_policy_ulp_read(struct triad_policy_builder *builder, size_t at, size_t end);

/* Looks up names and the default level; moves the elements into the policy. */
void triad_policy_check(struct triad_policy_builder *builder);

#endif
