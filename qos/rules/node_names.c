/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/rules/node_names.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search.h"
#include "lib/text.h"

/* Without the blanks at its ends, which names of the fabric don't have. */
static struct triad_node_key whole_key(const char *name)
{
	struct triad_node_key key = {{0}};
	size_t n = 0;

	while (triad_text_is_blank(*name))
		name++;
	for (; n + 1 < sizeof(key.text) && name[n]; n++)
		key.text[n] = name[n];
	while (n && triad_text_is_blank(key.text[n - 1]))
		key.text[--n] = '\0';
	return key;
}

static struct triad_node_key words_key(const char *name, unsigned max_words)
{
	struct triad_node_key key = {{0}};
	size_t n = 0;

	for (unsigned word = 0; *name && n + 1 < sizeof(key.text) && word < max_words;
		word++) {
		while (triad_text_is_blank(*name))
			name++;
		if (word && *name && n + 1 < sizeof(key.text))
			key.text[n++] = ' ';
		while (*name && !triad_text_is_blank(*name) && n + 1 < sizeof(key.text))
			key.text[n++] = *name++;
	}
	return key;
}

struct triad_node_key triad_node_key_of(const char *name, bool words)
{
	return words ? words_key(name, 2) : whole_key(name);
}

struct triad_node_key triad_node_key_wanted(const char *name, bool words)
{
	return words ? words_key(name, UINT_MAX) : whole_key(name);
}

static int compare_node_names(const void *a, const void *b)
{
	const struct triad_node_name *one = a, *other = b;
	int order = strcmp(one->name, other->name);

	return order ? order : (one->node > other->node) - (one->node < other->node);
}

static struct triad_node_name *make_index(const struct triad_fabric *fabric, bool words)
{
	struct triad_node_name *names =
		malloc(((size_t)fabric->n_nodes + 1) * sizeof(*names));

	for (uint32_t i = 0; names && i < fabric->n_nodes; i++) {
		const char *name = fabric->nodes[i].name;
		struct triad_node_key key = triad_node_key_of(name, words);

		names[i].node = i;
		memcpy(names[i].name, key.text, sizeof(names[i].name));
	}
	if (names)
		qsort(names, fabric->n_nodes, sizeof(*names), compare_node_names);
	return names;
}

int triad_node_names_init(struct triad_node_names *names,
	const struct triad_policy *policy, const struct triad_fabric *fabric)
{
	bool wants[2] = {false, false};

	*names = (struct triad_node_names){.n = fabric->n_nodes};
	for (uint32_t i = 0; i < policy->n_groups; i++)
		for (uint32_t j = 0; j < policy->groups[i].n_port_names; j++)
			wants[policy->groups[i].port_names[j].words] = true;
	if (wants[false])
		names->whole = make_index(fabric, false);
	if (wants[true])
		names->words = make_index(fabric, true);
	return (wants[false] && !names->whole) || (wants[true] && !names->words)
		? ENOMEM
		: 0;
}

void triad_node_names_clear(struct triad_node_names *names)
{
	free(names->whole);
	free(names->words);
	*names = (struct triad_node_names){0};
}

/* The first name that is not before 'key', or with 'behind' the first after it. */
static uint32_t find_bound(const struct triad_node_name *names, uint32_t n,
	const struct triad_node_key *key, bool behind)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, n, strcmp(names[at].name, key->text) < (behind ? 1 : 0));
	return at;
}

const struct triad_node_name *triad_node_names_find(
	const struct triad_node_names *names, const char *name, bool words, uint32_t *n)
{
	const struct triad_node_name *list = words ? names->words : names->whole;
	struct triad_node_key key = triad_node_key_wanted(name, words);
	uint32_t first = find_bound(list, names->n, &key, false);

	*n = find_bound(list, names->n, &key, true) - first;
	return list + first;
}
