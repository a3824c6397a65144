/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compiles, for each value of a field, the set of rules that match it.
 *
 * A sweep goes over the values, or ports, in ascending order.  At some of them rules
 * begin or cease to match; in between the set is constant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qos/rules/classifier_parts.h"

/* --- memory --- */

int triad_classifier_take(
	struct triad_classifier *classifier, void *memory, size_t n, size_t size)
{
	void *taken;

	if (n > (TRIAD_CLASSIFIER_MAX_OCTETS - classifier->octets) / size)
		return EOVERFLOW;
	taken = calloc(n ? n : 1, size);
	if (!taken)
		return ENOMEM;
	classifier->octets += n * size;
	memcpy(memory, &taken, sizeof(taken));
	return 0;
}

/* --- what a rule's condition names --- */

const struct triad_ranges *triad_class_ranges(
	const struct triad_policy_rule *rule, enum triad_class_field field)
{
	switch (field) {
	case TRIAD_CLASS_SERVICE_ID:
		return &rule->service_ids;
	case TRIAD_CLASS_TCLASS:
		return &rule->tclasses;
	case TRIAD_CLASS_QOS_CLASS:
		return &rule->qos_classes;
	case TRIAD_CLASS_PKEY:
		return &rule->pkeys;
	default:
		return &rule->sls;
	}
}

const struct triad_group_list *triad_class_groups(
	const struct triad_policy_rule *rule, enum triad_class_field field)
{
	return field == TRIAD_CLASS_SOURCE ? &rule->sources : &rule->destinations;
}

/* --- a set that changes on the way --- */

/* Counts for each rule how often it has begun to match: more than once if its groups
 * overlap. */
struct sweep {
	triad_rule_word *words;
	uint32_t *counts; /* of each slot */
};

static void sweep_clear(struct sweep *sweep)
{
	free(sweep->words);
	free(sweep->counts);
}

static int sweep_init(struct sweep *sweep, const struct triad_classifier *classifier)
{
	sweep->words = calloc(classifier->n_words, sizeof(*sweep->words));
	sweep->counts = calloc(
		classifier->n_words, TRIAD_RULE_WORD_BITS * sizeof(*sweep->counts));
	return sweep->words && sweep->counts ? 0 : ENOMEM;
}

static triad_rule_word bit_of(uint32_t slot)
{
	return (triad_rule_word)(UINT64_C(1) << slot % TRIAD_RULE_WORD_BITS);
}

static void sweep_begin(struct sweep *sweep, uint32_t slot)
{
	if (!sweep->counts[slot]++)
		sweep->words[slot / TRIAD_RULE_WORD_BITS] |= bit_of(slot);
}

static void sweep_end(struct sweep *sweep, uint32_t slot)
{
	if (!--sweep->counts[slot])
		sweep->words[slot / TRIAD_RULE_WORD_BITS] &=
			(triad_rule_word)~bit_of(slot);
}

/* --- ranges of values --- */

struct range_event {
	uint64_t at;
	uint32_t slot;
	bool ends;
};

struct range_events {
	struct range_event *items;
	size_t n;
};

static uint64_t greatest_value(enum triad_class_field field)
{
	switch (field) {
	case TRIAD_CLASS_TCLASS:
		return UINT8_MAX;
	case TRIAD_CLASS_QOS_CLASS:
		return 4095;
	case TRIAD_CLASS_PKEY:
		return TRIAD_N_PKEYS - 1;
	case TRIAD_CLASS_SL:
		return 15;
	default:
		return UINT64_MAX;
	}
}

static int compare_events(const void *a, const void *b)
{
	const struct range_event *one = a, *other = b;

	return (one->at > other->at) - (one->at < other->at);
}

static int list_events(const struct triad_classifier *classifier,
	enum triad_class_field field, struct range_events *events)
{
	const struct triad_policy *policy = classifier->policy;
	uint64_t greatest = greatest_value(field);
	size_t n_ranges = 0;

	for (uint32_t i = 0; i < policy->n_rules; i++)
		n_ranges += triad_class_ranges(&policy->rules[i], field)->n;
	events->items = malloc((n_ranges + 1) * 2 * sizeof(*events->items));
	if (!events->items)
		return ENOMEM;
	/* A range beyond the field's greatest value never matches.  One that reaches it
	 * never ends: 'last + 1' is no value of the field. */
	for (uint32_t i = 0; i < policy->n_rules; i++) {
		const struct triad_ranges *ranges =
			triad_class_ranges(&policy->rules[i], field);

		for (uint32_t j = 0; j < ranges->n; j++) {
			struct triad_range range = ranges->items[j];
			struct range_event event = {
				.at = range.first, .slot = classifier->slots[i]};

			if (range.first > greatest)
				continue;
			events->items[events->n++] = event;
			if (range.last >= greatest)
				continue;
			event.at = range.last + 1;
			event.ends = true;
			events->items[events->n++] = event;
		}
	}
	qsort(events->items, events->n, sizeof(*events->items), compare_events);
	return 0;
}

/* Values from 'ends[i]' to before the next end have 'sets[i + 1]'; values before the
 * first end have 'sets[0]'. */
struct steps {
	uint64_t *ends;
	uint32_t *sets;
	uint32_t n;
};

static int add_step(struct triad_classifier *classifier, const struct sweep *sweep,
	uint64_t at, struct steps *steps)
{
	uint32_t set;
	int error = triad_rule_sets_add(&classifier->sets, sweep->words, &set);

	if (error || set == steps->sets[steps->n])
		return error;
	steps->ends[steps->n] = at;
	steps->sets[++steps->n] = set;
	return 0;
}

static int make_steps(struct triad_classifier *classifier,
	const struct range_events *events, struct sweep *sweep, struct steps *steps)
{
	int error = 0;

	steps->ends = malloc((events->n + 1) * sizeof(*steps->ends));
	steps->sets = malloc((events->n + 1) * sizeof(*steps->sets));
	if (!steps->ends || !steps->sets)
		return ENOMEM;
	steps->sets[0] = TRIAD_RULE_SET_EMPTY;
	for (size_t i = 0; !error && i < events->n; i++) {
		const struct range_event *event = &events->items[i];

		if (event->ends)
			sweep_end(sweep, event->slot);
		else
			sweep_begin(sweep, event->slot);
		/* The set is complete only after the last event at this value. */
		if (i + 1 == events->n || event[1].at != event->at)
			error = add_step(classifier, sweep, event->at, steps);
	}
	return error;
}

static int fill_table(struct triad_classifier *classifier, enum triad_class_field field,
	const struct steps *steps)
{
	/* The entry behind the last stays 0, the empty set: requests without the field
	 * use it. */
	uint32_t n = (uint32_t)greatest_value(field) + 1, step = 0;
	int error = triad_classifier_take(classifier, &classifier->tables[field],
		(size_t)n + 1, sizeof(*classifier->tables[field]));

	if (error)
		return error;
	classifier->table_sizes[field] = n;
	for (uint32_t i = 0; i < n; i++) {
		while (step < steps->n && steps->ends[step] <= i)
			step++;
		classifier->tables[field][i] = steps->sets[step];
	}
	return 0;
}

/* Fills the subtree of node 'i' with steps, in order, beginning with 'step'; returns
 * the next one.  The recursion is at most as deep as the bits of 'i'. */
static uint32_t fill_tree(struct triad_class_tree *tree, const struct steps *steps,
	uint32_t i, uint32_t step)
{
	if (i > tree->n)
		return step;
	step = fill_tree(tree, steps, 2 * i, step);
	tree->ends[i] = steps->ends[step];
	tree->sets[i] = steps->sets[step];
	return fill_tree(tree, steps, 2 * i + 1, step + 1);
}

static int make_tree(struct triad_classifier *classifier, const struct steps *steps)
{
	struct triad_class_tree *tree = &classifier->service_ids;
	int error = triad_classifier_take(
		classifier, &tree->ends, (size_t)steps->n + 1, sizeof(*tree->ends));

	if (!error)
		error = triad_classifier_take(classifier, &tree->sets,
			(size_t)steps->n + 1, sizeof(*tree->sets));
	if (error)
		return error;
	tree->n = steps->n;
	fill_tree(tree, steps, 1, 0);
	tree->sets[0] = steps->sets[steps->n];
	return 0;
}

int triad_classifier_compile_ranges(
	struct triad_classifier *classifier, enum triad_class_field field)
{
	struct range_events events = {0};
	struct steps steps = {0};
	struct sweep sweep = {0};
	int error = list_events(classifier, field, &events);

	if (!error)
		error = sweep_init(&sweep, classifier);
	if (!error)
		error = make_steps(classifier, &events, &sweep, &steps);
	if (!error && field == TRIAD_CLASS_SERVICE_ID)
		error = make_tree(classifier, &steps);
	else if (!error)
		error = fill_table(classifier, field, &steps);
	free(events.items);
	free(steps.ends);
	free(steps.sets);
	sweep_clear(&sweep);
	return error;
}

/* --- groups of ports --- */

/* The rules that name a group in a field: from slots[first[group]] to the next
 * group's. */
struct group_rules {
	uint32_t *first; /* one entry more than there are groups */
	uint32_t *slots;
};

struct group_event {
	uint32_t at, group;
	bool ends;
};

struct group_events {
	struct group_event *items;
	size_t n;
};

/* What compiling one of the two ports of a request needs. */
struct port_sets {
	struct triad_classifier *classifier;
	const struct triad_membership *membership;
	struct group_rules rules;
	struct triad_rule_sets pkey_sets; /* sets of P_Keys, to be joined */
	uint32_t *pkeys;                  /* the set of each P_Key, or NULL */
	triad_rule_word *words;           /* of the present port */
};

static int list_group_rules(struct port_sets *ports, enum triad_class_field field)
{
	const struct triad_policy *policy = ports->classifier->policy;
	struct group_rules *to = &ports->rules;
	size_t n = 0;

	for (uint32_t i = 0; i < policy->n_rules; i++)
		n += triad_class_groups(&policy->rules[i], field)->n;
	if (n > UINT32_MAX)
		return EOVERFLOW;
	to->first = calloc((size_t)policy->n_groups + 2, sizeof(*to->first));
	to->slots = malloc((n + 1) * sizeof(*to->slots));
	if (!to->first || !to->slots)
		return ENOMEM;
	/* A counting sort.  Count two places further on, then add up.  Filling advances
	 * each group's start to its end, where the next group begins. */
	for (uint32_t i = 0; i < policy->n_rules; i++) {
		const struct triad_group_list *groups =
			triad_class_groups(&policy->rules[i], field);

		for (uint32_t j = 0; j < groups->n; j++)
			to->first[groups->items[j] + 2]++;
	}
	for (uint32_t i = 2; i < policy->n_groups + 2; i++)
		to->first[i] += to->first[i - 1];
	for (uint32_t i = 0; i < policy->n_rules; i++) {
		const struct triad_group_list *groups =
			triad_class_groups(&policy->rules[i], field);

		for (uint32_t j = 0; j < groups->n; j++)
			to->slots[to->first[groups->items[j] + 1]++] =
				ports->classifier->slots[i];
	}
	return 0;
}

static uint32_t count_rules(const struct group_rules *rules, uint32_t group)
{
	return rules->first[group + 1] - rules->first[group];
}

static int compare_group_events(const void *a, const void *b)
{
	const struct group_event *one = a, *other = b;

	return (one->at > other->at) - (one->at < other->at);
}

/* Lists where the groups of rules begin and end.  Events at one place may be in any
 * order, because what ends there has begun before. */
static int list_group_events(const struct group_rules *rules,
	const struct triad_group_spans *spans, struct group_events *events)
{
	uint64_t work = 0;

	events->items = malloc(((size_t)spans->n + 1) * 2 * sizeof(*events->items));
	if (!events->items)
		return ENOMEM;
	for (uint32_t i = 0; i < spans->n; i++) {
		const struct triad_group_span *span = &spans->items[i];

		if (!count_rules(rules, span->group))
			continue;
		/* sweep_group() takes a step for each rule of each span.  The file
		 * sizes both, so limit the product. */
		work += count_rules(rules, span->group);
		events->items[events->n++] =
			(struct group_event){.at = span->first, .group = span->group};
		events->items[events->n++] = (struct group_event){
			.at = span->end, .group = span->group, .ends = true};
	}
	if (work > TRIAD_CLASSIFIER_MAX_WORK)
		return EOVERFLOW;
	qsort(events->items, events->n, sizeof(*events->items), compare_group_events);
	return 0;
}

static void sweep_group(struct sweep *sweep, const struct group_rules *rules,
	const struct group_event *event)
{
	const uint32_t *slot = rules->slots + rules->first[event->group];

	for (uint32_t n = count_rules(rules, event->group); n; n--, slot++) {
		if (event->ends)
			sweep_end(sweep, *slot);
		else
			sweep_begin(sweep, *slot);
	}
}

/* Makes the set of each P_Key, in a pool that is freed afterwards. */
static int sweep_pkeys(struct port_sets *ports, const struct group_events *events)
{
	struct sweep sweep = {0};
	uint32_t set = TRIAD_RULE_SET_EMPTY;
	size_t next = 0;
	int error = sweep_init(&sweep, ports->classifier);

	for (uint32_t pkey = 0; !error && pkey < TRIAD_N_PKEYS; pkey++) {
		size_t begun = next;

		for (; next < events->n && events->items[next].at == pkey; next++)
			sweep_group(&sweep, &ports->rules, &events->items[next]);
		/* Without an event the P_Key has the set of the one before it. */
		if (next > begun)
			error = triad_rule_sets_add(
				&ports->pkey_sets, sweep.words, &set);
		ports->pkeys[pkey] = set;
	}
	sweep_clear(&sweep);
	return error;
}

static int compile_pkeys(struct port_sets *ports)
{
	struct group_events events = {0};
	int error =
		list_group_events(&ports->rules, &ports->membership->by_pkey, &events);

	/* Without events no rule names a partition: 'pkeys' stays NULL, and ports'
	 * P_Keys are not used. */
	if (!error && events.n) {
		ports->pkeys = malloc(TRIAD_N_PKEYS * sizeof(*ports->pkeys));
		error = ports->pkeys ? triad_rule_sets_init(&ports->pkey_sets,
					       ports->classifier->n_rules,
					       TRIAD_CLASSIFIER_MAX_OCTETS)
				     : ENOMEM;
	}
	if (!error && events.n)
		error = sweep_pkeys(ports, &events);
	free(events.items);
	return error;
}

/* Adds the set of one port: of its position in the sweep and of its P_Keys. */
static int add_port_set(struct port_sets *ports, const struct sweep *sweep,
	uint32_t port, uint32_t *set)
{
	const triad_rule_word *words = sweep->words;
	uint32_t n;
	const uint16_t *pkeys =
		triad_membership_pkeys(ports->membership->fabric, port, &n);

	/* Use a copy: the sweep needs its words for the next port. */
	if (ports->pkeys && n) {
		memcpy(ports->words, words,
			ports->classifier->n_words * sizeof(*words));
		for (; n; n--, pkeys++)
			triad_rule_sets_join(&ports->pkey_sets,
				ports->pkeys[*pkeys & 0x7fff], ports->words);
		words = ports->words;
	}
	return triad_rule_sets_add(&ports->classifier->sets, words, set);
}

static int sweep_ports(
	struct port_sets *ports, const struct group_events *events, uint32_t *table)
{
	const struct triad_membership *membership = ports->membership;
	struct sweep sweep = {0};
	size_t next = 0;
	int error = sweep_init(&sweep, ports->classifier);

	for (uint32_t i = 0; !error && i < membership->n_ports; i++) {
		uint32_t port = membership->ports[i];

		for (; next < events->n && events->items[next].at == i; next++)
			sweep_group(&sweep, &ports->rules, &events->items[next]);
		error = add_port_set(ports, &sweep, port, &table[port]);
	}
	sweep_clear(&sweep);
	return error;
}

static int compile_ports(struct port_sets *ports, enum triad_class_field field)
{
	struct triad_classifier *classifier = ports->classifier;
	uint32_t n = ports->membership->fabric->n_ports;
	struct group_events events = {0};
	int error = list_group_rules(ports, field);

	if (!error)
		error = compile_pkeys(ports);
	if (!error)
		error = list_group_events(
			&ports->rules, &ports->membership->by_port, &events);
	if (!error)
		error = triad_classifier_take(classifier, &classifier->tables[field],
			(size_t)n + 1, sizeof(*classifier->tables[field]));
	if (!error) {
		classifier->table_sizes[field] = n;
		error = sweep_ports(ports, &events, classifier->tables[field]);
	}
	free(events.items);
	return error;
}

int triad_classifier_compile_ports(struct triad_classifier *classifier,
	enum triad_class_field field, const struct triad_membership *membership)
{
	struct port_sets ports = {
		.classifier = classifier,
		.membership = membership,
		.words = malloc(classifier->n_words * sizeof(*ports.words)),
	};
	int error = ports.words ? compile_ports(&ports, field) : ENOMEM;

	free(ports.rules.first);
	free(ports.rules.slots);
	free(ports.pkeys);
	triad_rule_sets_clear(&ports.pkey_sets);
	free(ports.words);
	return error;
}
