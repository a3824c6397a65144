/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/policy/policy_build.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/text.h"
#include "qos/policy/arena.h"
#include "qos/policy/policy_items.h"

#define NAME_SIZE 64 /* of a block in a message */
#define FIRST_ROOM 16

/* --- messages ---------------------------------------------------------- */

/* Moves the location back to 'at', which is before the last place. */
static void go_back(struct triad_policy_builder *builder, size_t at)
{
	const char *text = builder->text, *newline;
	size_t n = 0;

	for (size_t i = at; i < builder->at; i++)
		n += text[i] == '\n';
	/* On another line the column is counted from that line's beginning. */
	if (n) {
		newline = memrchr(text, '\n', at);
		builder->location.line -= (uint32_t)n;
		builder->location.column =
			(uint32_t)(text + at - (newline ? newline + 1 : text)) + 1;
	} else {
		builder->location.column -= (uint32_t)(builder->at - at);
	}
	builder->at = at;
}

struct triad_source_location triad_policy_location(
	struct triad_policy_builder *builder, size_t at)
{
	const char *newline;

	/* Locations are requested nearly in order.  So continue from the last one: a large
	 * file is then scanned once, not once for each location. */
	if (at < builder->at)
		go_back(builder, at);
	while ((newline =
			memchr(builder->text + builder->at, '\n', at - builder->at))) {
		builder->at = (size_t)(newline - builder->text) + 1;
		builder->location =
			(struct triad_source_location){builder->location.line + 1, 1};
	}
	builder->location.column += (uint32_t)(at - builder->at);
	builder->at = at;
	return builder->location;
}

void triad_policy_report(struct triad_policy_builder *builder,
	struct triad_source_location location, const char *format, ...)
{
	char text[TRIAD_DIAG_TEXT_SIZE] = "";
	va_list args;

	/* A mistake that is not shown any more is still counted, so it needs no
	 * text. */
	if (triad_policy_is_shown(builder)) {
		va_start(args, format);
		triad_text_vappend(text, sizeof(text), format, args);
		va_end(args);
	}
	triad_diags_add(builder->diags, location.line, location.column, "%s", text);
}

void triad_policy_out_of_memory(struct triad_policy_builder *builder)
{
	/* Report it once: later attempts may fail for the same reason. */
	builder->stopped = true;
	if (builder->error)
		return;
	builder->error = ENOMEM;
	triad_diags_add(builder->diags, 0, 0, "memory is short");
}

bool triad_policy_is_shown(const struct triad_policy_builder *builder)
{
	return builder->diags->n < TRIAD_DIAG_MAX;
}

/* Writes the mark by which the block begins, or ends, in the syntax of the file. */
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

static void try_name(struct triad_text_guess *guess, struct triad_policy_guess *best,
	const char *name)
{
	if (triad_text_guess_try(guess, name))
		snprintf(best->text, sizeof(best->text), "; did you mean '%s'?", name);
}

struct triad_policy_guess triad_policy_guess_word(
	const struct triad_policy_builder *builder, const char *word, size_t length)
{
	enum triad_policy_block_kind present = triad_policy_present(builder);
	struct triad_policy_guess best = {""};
	char copy[NAME_SIZE];
	struct triad_text_guess guess = {.word = copy};

	/* Guessing compares with all words, and a file may have thousands of
	 * mistakes. */
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

/* --- elements ---------------------------------------------------------- */

static void *append(struct triad_policy_builder *builder,
	struct triad_policy_elements *elements, size_t size)
{
	void *item;

	if (triad_grow(&elements->items, &elements->room, elements->n + 1, size,
		    FIRST_ROOM)) {
		triad_policy_out_of_memory(builder);
		return NULL;
	}
	item = (char *)elements->items + elements->n++ * size;
	memset(item, 0, size);
	return item;
}

void *triad_policy_add(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location)
{
	struct triad_policy_elements *elements = &builder->elements[kind];
	const struct triad_policy_block *row = &triad_policy_blocks[kind];

	if (elements->n < row->max)
		return append(builder, elements, row->size);
	/* One message for all that are too many. */
	if (!elements->is_full)
		triad_policy_report(builder, location, "too many: %u %ss are allowed",
			row->max, row->element);
	elements->is_full = true;
	return NULL;
}

void triad_policy_refer(struct triad_policy_builder *builder, const char *name,
	bool is_level, uint16_t offset, struct triad_source_location location)
{
	enum triad_policy_block_kind block = triad_policy_present(builder);
	struct triad_policy_reference *reference = NULL;

	if (is_level || triad_policy_item_count(builder, location))
		reference = append(builder, &builder->references, sizeof(*reference));
	/* Names are looked up when the whole file has been read: a level may follow the
	 * rule that names it.  Until then elements may move, so the reference has an index,
	 * no address. */
	if (reference)
		*reference = (struct triad_policy_reference){
			.name = name,
			.location = location,
			.block = block,
			.is_level = is_level,
			.offset = offset,
			.index = builder->elements[block].n - 1,
		};
}

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

static struct triad_source_location *place_of(
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

/* For each kind one of the keys of each set. */
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

/* A description that isn't there is an empty one. */
static void describe(
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

/* A level is called by its serial number when it has no name. */
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
	/* If reading stopped within an element, do not report it as incomplete. */
	if (!builder->stopped)
		check_needed(builder, open);
	join_ranges(builder, open);
	describe(builder, open->kind);
	if (open->kind == TRIAD_BLOCK_LEVEL)
		name_level(builder);
	if (open->kind == TRIAD_BLOCK_SL2VL_SCOPE ||
		open->kind == TRIAD_BLOCK_VLARB_SCOPE)
		complete_scope(builder, open->kind);
	builder->element = NULL;
}

/* --- blocks ------------------------------------------------------------ */

enum triad_policy_block_kind triad_policy_present(
	const struct triad_policy_builder *builder)
{
	return builder->depth ? builder->open[builder->depth - 1].kind : TRIAD_N_BLOCKS;
}

static void push(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location,
	bool implied)
{
	const struct triad_policy_block *row = &triad_policy_blocks[kind];

	builder->open[builder->depth++] =
		(struct triad_policy_open){kind, location, implied};
	memset(builder->seen, 0, sizeof(builder->seen));
	/* A block without keys only holds others. */
	if (!row->n_keys)
		return;
	builder->element = triad_policy_add(builder, kind, location);
	if (builder->element)
		*place_of(kind, builder->element) = location;
}

static void pop(struct triad_policy_builder *builder)
{
	finish_element(builder, &builder->open[--builder->depth]);
}

/* How many blocks are open down to the innermost of that kind; 0: none is. */
static unsigned find_open(
	const struct triad_policy_builder *builder, enum triad_policy_block_kind kind)
{
	unsigned depth = builder->depth;

	while (depth && builder->open[depth - 1].kind != kind)
		depth--;
	return depth;
}

/* Opens the blocks that 'kind' must be in, inside the present one. */
static void push_parents(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location)
{
	enum triad_policy_block_kind parent = triad_policy_blocks[kind].parent;

	if (parent == TRIAD_N_BLOCKS || triad_policy_present(builder) == parent)
		return;
	push_parents(builder, parent, location);
	push(builder, parent, location, true);
}

/* 'kind' begins in one of its own that holds others: most likely it was to end it. */
static bool is_forgotten_end(
	const struct triad_policy_builder *builder, enum triad_policy_block_kind kind)
{
	return builder->depth && builder->open[builder->depth - 1].kind == kind &&
		!triad_policy_blocks[kind].n_keys && kind != TRIAD_BLOCK_POLICY;
}

/* Ends blocks until 'kind' can begin. */
static void make_way(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, struct triad_source_location location)
{
	enum triad_policy_block_kind parent = triad_policy_blocks[kind].parent;
	unsigned depth = parent == TRIAD_N_BLOCKS ? 0 : find_open(builder, parent);
	const struct triad_policy_open *present;
	char names[3][NAME_SIZE];

	if (depth == builder->depth && (depth || parent == TRIAD_N_BLOCKS))
		return;
	mark(builder, kind, false, names[0]);
	/* Two mistakes look alike here.  If a block of the right kind is open further
	 * out, then ends are missing.  If none is, 'kind' stands in the wrong place:
	 * what it should stand in is opened, so that its own lines are read for more
	 * mistakes. */
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
	make_way(builder, kind, location);
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
	/* Close all that was opened within it, too. */
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
	struct triad_policy_guess guess =
		triad_policy_guess_word(builder, word, length);
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
	/* Two names of one key are one. */
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
