/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lab/umad_faults.h"

#define BLANKS " \t\r\n"

/* The state of reading one file. */
struct reading {
	const char *name;
	FILE *complaints;
	unsigned line, n_mistakes;
	uint64_t seed;
	struct lab_rules *rules;
};

static void complain(struct reading *reading, const char *what, const char *word)
{
	reading->n_mistakes++;
	fprintf(reading->complaints, "%s:%u: %s%s%s%s\n", reading->name, reading->line,
		what, word ? ": '" : "", word ? word : "", word ? "'" : "");
}

static bool number(const char *word, unsigned long max, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(word, &end, 0);
	return !*end && !errno && word[0] != '-' && *value <= max;
}

static bool set_number(int *field, const char *word, unsigned long max)
{
	unsigned long value;

	if (!number(word, max, &value))
		return false;
	*field = (int)value;
	return true;
}

static bool set_direction(struct lab_rule *rule, const char *word)
{
	if (strcmp(word, "in") == 0)
		rule->directions = LAB_IN;
	else if (strcmp(word, "out") == 0)
		rule->directions = LAB_OUT;
	else if (strcmp(word, "both") == 0)
		rule->directions = LAB_IN | LAB_OUT;
	else
		return false;
	return true;
}

static bool set_probability(struct lab_rule *rule, const char *word)
{
	char *end;

	rule->probability = strtod(word, &end);
	return !*end && end != word && rule->probability >= 0 && rule->probability <= 1;
}

static bool set_delay(struct lab_rule *rule, const char *key, const char *word)
{
	unsigned long time;

	if (rule->fault != LAB_DELAY || !number(word, 3600000, &time))
		return false;
	if (strcmp(key, "hop_us") == 0)
		rule->hop_us = (unsigned)time;
	else
		rule->delay_us = strcmp(key, "us") == 0 ? time : time * 1000ull;
	return true;
}

/* Sets one key; false when the value is invalid. */
static bool set(
	struct lab_rule *rule, const char *key, const char *value, bool *is_known)
{
	*is_known = true;
	if (strcmp(key, "class") == 0)
		return set_number(&rule->mgmt_class, value, 0xff);
	if (strcmp(key, "attribute") == 0)
		return set_number(&rule->attribute, value, 0xffff);
	if (strcmp(key, "lid") == 0)
		return set_number(&rule->lid, value, 0xffff);
	if (strcmp(key, "direction") == 0)
		return set_direction(rule, value);
	if (strcmp(key, "probability") == 0)
		return set_probability(rule, value);
	if (strcmp(key, "ms") == 0 || strcmp(key, "us") == 0 ||
		strcmp(key, "hop_us") == 0)
		return set_delay(rule, key, value);
	*is_known = false;
	return false;
}

static bool find_fault(const char *word, enum lab_fault *fault)
{
	static const char *const names[] = {[LAB_LOSE] = "lose",
		[LAB_DELAY] = "delay",
		[LAB_DUPLICATE] = "duplicate",
		[LAB_CORRUPT] = "corrupt",
		[LAB_TRUNCATE] = "truncate"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i], word) == 0) {
			*fault = (enum lab_fault)i;
			return true;
		}
	return false;
}

static void add_rule(struct reading *reading, const struct lab_rule *rule)
{
	size_t n = reading->rules->n;
	struct lab_rules *rules = realloc(
		reading->rules, sizeof(*rules) + (n + 1) * sizeof(*rules->rules));

	if (!rules) {
		complain(reading, "out of memory", NULL);
		return;
	}
	rules->rules[n] = *rule;
	/* The line alone, until lab_rules_read() adds the seed. */
	rules->rules[n].random_state = reading->line;
	rules->n++;
	reading->rules = rules;
}

static void read_rule(struct reading *reading, const char *fault, char **rest)
{
	struct lab_rule rule = {.mgmt_class = -1,
		.attribute = -1,
		.lid = -1,
		.directions = LAB_IN | LAB_OUT,
		.probability = 1};
	unsigned n_mistakes = reading->n_mistakes;
	const char *key, *value;
	bool is_known;

	if (!find_fault(fault, &rule.fault)) {
		complain(reading, "no fault has this name", fault);
		return;
	}
	while ((key = strtok_r(NULL, BLANKS, rest))) {
		value = strtok_r(NULL, BLANKS, rest);
		if (!value)
			complain(reading, "no value follows", key);
		else if (!set(&rule, key, value, &is_known))
			complain(reading,
				is_known ? "not possible here" : "no key has this name",
				is_known ? value : key);
	}
	if (rule.fault == LAB_DELAY && !rule.delay_us && !rule.hop_us)
		complain(reading, "'delay' needs 'ms', 'us' or 'hop_us', more than 0",
			NULL);
	if (reading->n_mistakes == n_mistakes)
		add_rule(reading, &rule);
}

static void read_line(struct reading *reading, char *line)
{
	unsigned long seed;
	char *rest, *word;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANKS, &rest);
	if (!word)
		return;
	if (strcmp(word, "seed") != 0) {
		read_rule(reading, word, &rest);
		return;
	}
	word = strtok_r(NULL, BLANKS, &rest);
	if (!word || !number(word, ULONG_MAX, &seed) || strtok_r(NULL, BLANKS, &rest))
		complain(reading, "'seed' needs one number", NULL);
	else
		reading->seed = seed;
}

unsigned lab_rules_read(
	FILE *file, const char *name, FILE *complaints, struct lab_rules **rules)
{
	struct reading reading = {.name = name, .complaints = complaints, .seed = 1};
	size_t room = 0;
	char *line = NULL;

	reading.rules = calloc(1, sizeof(*reading.rules));
	if (!reading.rules)
		return 1;
	while (getline(&line, &room, file) > 0) {
		reading.line++;
		read_line(&reading, line);
	}
	free(line);
	for (size_t i = 0; i < reading.rules->n; i++)
		reading.rules->rules[i].random_state += reading.seed << 32;
	if (reading.n_mistakes)
		free(reading.rules);
	else
		*rules = reading.rules;
	return reading.n_mistakes;
}
