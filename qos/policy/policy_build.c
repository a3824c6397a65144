/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/policy/policy_build.h"

#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "qos/policy/arena.h"
#include "qos/policy/policy_items.h"

#define NAME_SIZE 64 /* of a block's name in a message */

/* --- messages ---------------------------------------------------------- */

/* Writes the word that begins or ends the block in the syntax of the file. */
static const char *mark(const struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, bool end, char text[NAME_SIZE])
{
	const char *name = triad_policy_blocks[kind].name;

	if (builder->syntax == TRIAD_POLICY_XML)
		snprintf(text, NAME_SIZE, "<%s%s>", end ? "/" : "", name);
	else
		snprintf(text, NAME_SIZE, "'%s%s'", end ? "end-" : "", name);
	return text;
}

/* ", did you mean 'x'?" or "". */
struct guess {
	char text[TRIAD_DIAG_TEXT_SIZE / 2];
};

static void try_name(
	struct triad_text_guess *guess, struct guess *best, const char *name)
{
	if (triad_text_guess_try(guess, name))
		snprintf(best->text, sizeof(best->text), "; did you mean '%s'?", name);
}

/* Guesses which block or key of the open block 'word' means. */
static struct guess guess_word(
	const struct triad_policy_builder *builder, const char *word, size_t length)
{
	enum triad_policy_block_kind present = triad_policy_present(builder);
	struct guess best = {""};
	char copy[NAME_SIZE];
	struct triad_text_guess guess = {.word = copy};

	/* Don't guess for mistakes that are not shown: it compares with all words, and
	 * a file may have thousands of mistakes. */
	if (!triad_policy_is_shown(builder) || length >= sizeof(copy))
		return best;
	snprintf(copy, sizeof(copy), "%.*s", (int)length, word);
	if (present != TRIAD_N_BLOCKS)
		for (unsigned i = 0; i < triad_policy_blocks[present].n_keys; i++)
			try_name(&guess, &best,
				triad_policy_blocks[present].keys[i].name);
	for (unsigned i = 0; i < TRIAD_N_BLOCKS; i++)
		if (builder->syntax == TRIAD_POLICY_TEXT ||
			!triad_policy_blocks[i].text_alone)
			try_name(&guess, &best, triad_policy_blocks[i].name);
	if (builder->syntax == TRIAD_POLICY_XML)
		return best;
	for (unsigned i = 0; i < TRIAD_N_BLOCKS; i++) {
		char end[NAME_SIZE];

		snprintf(end, sizeof(end), "end-%s", triad_policy_blocks[i].name);
		try_name(&guess, &best, end);
	}
	return best;
}

/* --- qos-ulps ---------------------------------------------------------- */

uint32_t triad_policy_ulp_level(struct triad_policy_builder *builder, unsigned sl,
	struct triad_source_location location)
{
	struct triad_policy_level *level;
	char name[NAME_SIZE];

	if (builder->ulp_levels[sl] != TRIAD_POLICY_NONE)
		return builder->ulp_levels[sl];
	level = triad_policy_add(builder, TRIAD_BLOCK_LEVEL, location);
	if (!level)
		return TRIAD_POLICY_NONE;
	snprintf(name, sizeof(name), "SL %u of qos-ulps", sl);
	*level = (struct triad_policy_level){
		.name = triad_arena_text(builder->policy->arena, name, strlen(name)),
		.location = location,
		.has_sl = true,
		.sl = (uint8_t)sl,
	};
	if (!level->name)
		triad_policy_out_of_memory(builder);
	builder->ulp_levels[sl] = builder->elements[TRIAD_BLOCK_LEVEL].n - 1;
	return builder->ulp_levels[sl];
}

static struct triad_source_location *location_of(
	enum triad_policy_block_kind kind, void *element)
{
	switch (kind) {
	case TRIAD_BLOCK_PORT_GROUP:
		return &((struct triad_policy_group *)element)->location;
	case TRIAD_BLOCK_SL2VL_SCOPE:
		return &((struct triad_policy_sl2vl *)element)->scope.location;
	case TRIAD_BLOCK_VLARB_SCOPE:
		return &((struct triad_policy_vlarb *)element)->scope.location;
	case TRIAD_BLOCK_LEVEL:
		return &((struct triad_policy_level *)element)->location;
	case TRIAD_BLOCK_RULE:
		return &((struct triad_policy_rule *)element)->location;
	default:
		return &((struct triad_policy_partition_level *)element)->location;
	}
}

/* --- required keys ----------------------------------------- */

static bool is_seen(const struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, const char *name)
{
	const struct triad_policy_block *row = &triad_policy_blocks[kind];
	const struct triad_policy_key *key =
		triad_policy_key_find(kind, name, strlen(name));

	return key && builder->seen[key - row->keys].line;
}

/* Each row: a block of this kind needs at least one of these keys. */
static const struct {
	enum triad_policy_block_kind kind;
	const char *keys[4];
} needed[] = {
	{TRIAD_BLOCK_PORT_GROUP, {"name"}},
	{TRIAD_BLOCK_SL2VL_SCOPE, {"group", "across", "across-from", "across-to"}},
	{TRIAD_BLOCK_SL2VL_SCOPE, {"sl2vl-table"}},
	{TRIAD_BLOCK_VLARB_SCOPE, {"group", "across"}},
	{TRIAD_BLOCK_VLARB_SCOPE, {"vlarb-high", "vlarb-low", "vl-high-limit"}},
	{TRIAD_BLOCK_LEVEL, {"name", "sn"}},
	{TRIAD_BLOCK_LEVEL, {"sl"}},
	{TRIAD_BLOCK_RULE, {"qos-level-name", "match-level"}},
	{TRIAD_BLOCK_PARTITION_LEVEL, {"partition", "pkey"}},
	{TRIAD_BLOCK_PARTITION_LEVEL, {"qos-level-name", "match-level"}},
};

static void check_needed(
	struct triad_policy_builder *builder, const struct triad_policy_open *open)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		char keys[128] = "", name[NAME_SIZE];
		bool is_there = needed[i].kind != open->kind;

		for (unsigned j = 0; j < 4 && needed[i].keys[j] && !is_there; j++) {
			is_there = is_seen(builder, open->kind, needed[i].keys[j]);
			triad_text_append(keys, sizeof(keys), "%s'%s'", j ? " or " : "",
				needed[i].keys[j]);
		}
		if (!is_there)
			triad_policy_report(builder, open->location, "%s needs %s",
				mark(builder, open->kind, false, name), keys);
	}
}

static void join_ranges(
	struct triad_policy_builder *builder, const struct triad_policy_open *open)
{
	const struct triad_policy_block *row = &triad_policy_blocks[open->kind];

	for (unsigned i = 0; i < row->n_keys; i++)
		if (row->keys[i].kind == TRIAD_VALUE_RANGES ||
			row->keys[i].kind == TRIAD_VALUE_PKEYS ||
			row->keys[i].kind == TRIAD_VALUE_SERVICES)
			triad_policy_ranges_join((void *)((char *)builder->element +
				row->keys[i].offset));
}

/* Sets a missing description to "". */
static void default_description(
	struct triad_policy_builder *builder, enum triad_policy_block_kind kind)
{
	static char nothing[] = "";
	const struct triad_policy_key *key =
		triad_policy_key_find(kind, "use", strlen("use"));
	char **use;

	if (!key || key->kind != TRIAD_VALUE_USE)
		return;
	use = (void *)((char *)builder->element + key->offset);
	if (!*use)
		*use = nothing;
}

/* No ports means all ports. */
static void complete_scope(
	struct triad_policy_builder *builder, enum triad_policy_block_kind kind)
{
	struct triad_policy_scope *scope = kind == TRIAD_BLOCK_SL2VL_SCOPE
		? &((struct triad_policy_sl2vl *)builder->element)->scope
		: &((struct triad_policy_vlarb *)builder->element)->scope;

	scope->from_any = scope->from_any || !is_seen(builder, kind, "from");
	scope->to_any = scope->to_any || !is_seen(builder, kind, "to");
}

/* A level without a name is called by its serial number. */
static void name_level(struct triad_policy_builder *builder)
{
	struct triad_policy_level *level = builder->element;

	if (!level->name)
		level->name = level->sn;
	if (!triad_policy_name_compare(level->use, "default") &&
		builder->use_default == TRIAD_POLICY_NONE)
		builder->use_default = builder->elements[TRIAD_BLOCK_LEVEL].n - 1;
}

static void finish_element(
	struct triad_policy_builder *builder, const struct triad_policy_open *open)
{
	if (!builder->element)
		return;
	/* If reading stopped within an element, don't report that as incomplete. */
	if (!builder->stopped)
		check_needed(builder, open);
	join_ranges(builder, open);
	default_description(builder, open->kind);
	if (open->kind == TRIAD_BLOCK_LEVEL)
		name_level(builder);
	if (open->kind == TRIAD_BLOCK_SL2VL_SCOPE ||
		open->kind == TRIAD_BLOCK_VLARB_SCOPE)
		complete_scope(builder, open->kind);
	builder->element = NULL;
}

/* --- blocks ------------------------------------------------------------ */

static void push(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location,
	bool implied)
{
	const struct triad_policy_block *row = &triad_policy_blocks[kind];

	builder->open[builder->depth++] =
		(struct triad_policy_open){kind, location, implied};
	memset(builder->seen, 0, sizeof(builder->seen));
	/* A block without keys only contains others. */
	if (!row->n_keys)
		return;
	builder->element = triad_policy_add(builder, kind, location);
	if (builder->element)
		*location_of(kind, builder->element) = location;
}

static void pop(struct triad_policy_builder *builder)
{
	finish_element(builder, &builder->open[--builder->depth]);
}

/* The depth of the innermost open block of that kind; 0: none is open. */
static unsigned find_open(
	const struct triad_policy_builder *builder, enum triad_policy_block_kind kind)
{
	unsigned depth = builder->depth;

	while (depth && builder->open[depth - 1].kind != kind)
		depth--;
	return depth;
}

/* Opens the blocks that must enclose 'kind', inside the present one. */
static void push_parents(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location)
{
	enum triad_policy_block_kind parent = triad_policy_blocks[kind].parent;

	if (parent == TRIAD_N_BLOCKS || triad_policy_present(builder) == parent)
		return;
	push_parents(builder, parent, location);
	push(builder, parent, location, true);
}

/* Whether a block without keys begins directly in one of its own kind: most likely the
 * author meant its end. */
static bool is_forgotten_end(
	const struct triad_policy_builder *builder, enum triad_policy_block_kind kind)
{
	return builder->depth && builder->open[builder->depth - 1].kind == kind &&
		!triad_policy_blocks[kind].n_keys && kind != TRIAD_BLOCK_POLICY;
}

/* Ends blocks until 'kind' can begin. */
static void end_blocks_for(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location)
{
	enum triad_policy_block_kind parent = triad_policy_blocks[kind].parent;
	unsigned depth = parent == TRIAD_N_BLOCKS ? 0 : find_open(builder, parent);
	const struct triad_policy_open *present;
	char names[3][NAME_SIZE];

	if (depth == builder->depth && (depth || parent == TRIAD_N_BLOCKS))
		return;
	mark(builder, kind, false, names[0]);
	/* Two mistakes look alike.  If a block of the right kind is open further out,
	 * ends are missing.  Otherwise 'kind' stands in the wrong place: open the block
	 * that it needs, so that its lines are checked, too. */
	if (depth || parent == TRIAD_N_BLOCKS) {
		present = &builder->open[builder->depth - 1];
		if (builder->depth && !present->implied)
			triad_policy_report(builder, location,
				"%s can't stand in %s, which begins on line %u: %s is "
				"missing",
				names[0], mark(builder, present->kind, false, names[1]),
				present->location.line,
				mark(builder, present->kind, true, names[2]));
	} else if (parent != TRIAD_N_BLOCKS) {
		triad_policy_report(builder, location,
			"%s can't stand here; it stands in "
			"%s",
			names[0], mark(builder, parent, false, names[1]));
		depth = builder->depth && builder->open[0].kind == TRIAD_BLOCK_POLICY;
	}
	while (builder->depth > depth)
		pop(builder);
	push_parents(builder, kind, location);
}

void triad_policy_begin(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location)
{
	char names[2][NAME_SIZE];

	if (is_forgotten_end(builder, kind)) {
		triad_policy_report(builder, location,
			"%s can't stand in itself, it begins on line %u already; is it "
			"to be %s?",
			mark(builder, kind, false, names[0]),
			builder->open[builder->depth - 1].location.line,
			mark(builder, kind, true, names[1]));
		pop(builder);
		return;
	}
	end_blocks_for(builder, kind, location);
	push(builder, kind, location, false);
}

void triad_policy_end(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location)
{
	unsigned depth = find_open(builder, kind);
	char names[2][NAME_SIZE];

	if (!depth)
		triad_policy_report(builder, location, "%s ends nothing: no %s is open",
			mark(builder, kind, true, names[0]),
			mark(builder, kind, false, names[1]));
	/* Also close what was opened within it. */
	while (depth && builder->depth >= depth) {
		const struct triad_policy_open *open =
			&builder->open[builder->depth - 1];

		if (builder->depth > depth && !open->implied)
			triad_policy_report(builder, location,
				"%s is missing before %s: %s begins on line %u",
				mark(builder, open->kind, true, names[0]),
				mark(builder, kind, true, names[1]),
				triad_policy_blocks[open->kind].name,
				open->location.line);
		pop(builder);
	}
}

void triad_policy_end_all(struct triad_policy_builder *builder)
{
	struct triad_source_location location =
		triad_policy_location(builder, builder->size);
	char name[NAME_SIZE];

	while (builder->depth) {
		const struct triad_policy_open *open =
			&builder->open[builder->depth - 1];

		/* The text as a whole needs no end. */
		if (!open->implied && !builder->stopped)
			triad_policy_report(builder, location,
				"%s is missing at the end of the file: %s begins on "
				"line %u",
				mark(builder, open->kind, true, name),
				triad_policy_blocks[open->kind].name,
				open->location.line);
		pop(builder);
	}
}

/* --- keys -------------------------------------------------------------- */

static void report_stray_key(struct triad_policy_builder *builder, const char *word,
	size_t length, struct triad_source_location location)
{
	enum triad_policy_block_kind present = triad_policy_present(builder);
	struct guess guess = guess_word(builder, word, length);
	char name[NAME_SIZE];

	if (present == TRIAD_N_BLOCKS ||
		(present == TRIAD_BLOCK_POLICY && builder->syntax == TRIAD_POLICY_TEXT))
		triad_policy_report(builder, location, "unknown '%.*s'%s",
			(int)(length < 80 ? length : 80), word, guess.text);
	else
		triad_policy_report(builder, location, "unknown '%.*s' in %s%s",
			(int)(length < 80 ? length : 80), word,
			mark(builder, present, false, name), guess.text);
}

const struct triad_policy_key *triad_policy_key(struct triad_policy_builder *builder,
	const char *word, size_t length, struct triad_source_location location)
{
	enum triad_policy_block_kind present = triad_policy_present(builder);
	const struct triad_policy_key *key = NULL;

	if (present != TRIAD_N_BLOCKS)
		key = triad_policy_key_find(present, word, length);
	if (!key)
		report_stray_key(builder, word, length, location);
	return key;
}

void triad_policy_set(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, struct triad_source_location location,
	const struct triad_policy_value *value)
{
	enum triad_policy_block_kind present = triad_policy_present(builder);
	const struct triad_policy_block *row = &triad_policy_blocks[present];
	unsigned line = 0;

	if (present == TRIAD_N_BLOCKS)
		return;
	/* Two names of one key count as the same key. */
	for (unsigned i = 0; i < row->n_keys && key->once && !line; i++)
		if (row->keys[i].kind == key->kind &&
			row->keys[i].offset == key->offset &&
			(key->kind != TRIAD_VALUE_SERIAL || &row->keys[i] == key))
			line = builder->seen[i].line;
	builder->seen[key - row->keys] = location;
	if (line)
		triad_policy_report(builder, location,
			"'%s' is on line %u already; it may stand once in a '%s'",
			key->name, line, row->name);
	else if (builder->element)
		triad_policy_value_read(builder, key, value);
}
