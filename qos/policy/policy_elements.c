/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The elements that a policy is built of, and the names by which one refers to
 * another. */
#include <string.h>

#include "lib/grow.h"
#include "qos/policy/policy_items.h"

#define FIRST_ROOM 16

enum triad_policy_block_kind triad_policy_present(
	const struct triad_policy_builder *builder)
{
	return builder->depth ? builder->open[builder->depth - 1].kind : TRIAD_N_BLOCKS;
}

static void *append_element(struct triad_policy_builder *builder,
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
		return append_element(builder, elements, row->size);
	/* Report all elements that are too many by one message. */
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
		reference = append_element(
			builder, &builder->references, sizeof(*reference));
	/* Names are looked up after the whole file was read, because a level may follow
	 * the rule that names it.  Elements may move until then, so store an index, no
	 * address. */
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
