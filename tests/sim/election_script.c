/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/election_script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/election_script_parts.h"
#include "triad/clock.h"

#define MAX_LINE 512
#define MAX_WORDS 24

/* --- errors and words --- */

bool script_fail(struct script *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->wrong, sizeof(s->wrong), format, args);
	va_end(args);
	return false;
}

bool script_number(struct script *s, const char *word, uint64_t *number)
{
	char *end;

	*number = strtoull(word, &end, 0);
	if (end == word || *end)
		return script_fail(s, "'%s' is not a number", word);
	return true;
}

bool script_node(struct script *s, const char *word, unsigned *node)
{
	*node = (unsigned)(word[0] - 'A');
	if (word[0] < 'A' || *node >= s->n_nodes + s->n_bare || word[1])
		return script_fail(s, "'%s' is no node", word);
	return true;
}

/* A node whose process runs, so that its election can take a command. */
bool script_live_node(struct script *s, const char *word, unsigned *node)
{
	if (!script_node(s, word, node))
		return false;
	if (*node >= s->n_nodes || !elections_is_running(s->elections, *node))
		return script_fail(s, "%s does not run", word);
	return true;
}

bool script_either(struct script *s, const char *word, const char *yes, const char *no,
	bool *is_yes)
{
	*is_yes = !strcmp(word, yes);
	if (!*is_yes && strcmp(word, no) != 0)
		return script_fail(s, "'%s' is neither %s nor %s", word, yes, no);
	return true;
}

static bool duration(struct script *s, const char *word, uint64_t *us)
{
	char *end;
	uint64_t number = strtoull(word, &end, 10);

	if (end != word && !strcmp(end, "ms"))
		*us = number * TRIAD_US_PER_MS;
	else if (end != word && !strcmp(end, "s"))
		*us = number * TRIAD_US_PER_S;
	else
		return script_fail(s, "'%s' is not a time such as 500ms or 5s", word);
	return true;
}

/* --- time --- */

static void trace_node(struct script *s, unsigned node)
{
	struct look *seen = &s->seen[node], now = script_look(s, node);

	if (!memcmp(seen, &now, sizeof(now)))
		return;
	s->n_changes += seen->state != now.state ||
		seen->is_permitted != now.is_permitted || seen->master != now.master;
	*seen = now;
	if (!s->trace)
		return;
	fprintf(s->trace, "%9.3f s  %c %s", script_seconds(s), 'A' + (int)node,
		!now.state ? "dead" : triad_election_state_name(now.state));
	if (now.master >= elections_id(0))
		fprintf(s->trace, ", master %c",
			'A' + (int)(now.master - elections_id(0)));
	if (now.state)
		fprintf(s->trace, ", SM priority %u, term %" PRIu64 "%s",
			now.sm_priority, now.term,
			now.is_permitted ? ", permitted" : "");
	for (unsigned i = 0; now.state && i < TRIAD_PERMISSION_N_REASONS; i++)
		if (now.against >> i & 1)
			fprintf(s->trace, " %s", triad_permission_word(i));
	fputc('\n', s->trace);
}

static bool run_step(struct script *s, uint64_t us)
{
	const char *violation;

	elections_run(s->elections, us);
	for (unsigned node = 0; node < s->n_nodes; node++)
		trace_node(s, node);
	violation = elections_violation(s->elections);
	return violation ? script_fail(s, "%s", violation) : true;
}

static bool run(struct script *s, char **words)
{
	uint64_t us;

	if (!duration(s, words[0], &us))
		return false;
	for (uint64_t i = 0; i < us / TRIAD_US_PER_MS; i++)
		if (!run_step(s, TRIAD_US_PER_MS))
			return false;
	return true;
}

static bool calm(struct script *s, char **words)
{
	unsigned before;

	/* A command just now is no spontaneous change. */
	if (!run_step(s, 0))
		return false;
	before = s->n_changes;
	if (!run(s, words))
		return false;
	if (s->n_changes != before)
		return script_fail(s, "%u changes while calm", s->n_changes - before);
	return true;
}

static bool do_command(struct script *s, char **words, unsigned n_words);

/* "within 2s expect ..." */
static bool within(struct script *s, char **words, unsigned n_words)
{
	uint64_t us, from_us = elections_now_us(s->elections);

	if (!duration(s, words[0], &us))
		return false;
	while (!do_command(s, words + 1, n_words - 1)) {
		if (elections_now_us(s->elections) - from_us >= us || s->is_mistake)
			return false;
		if (!run_step(s, TRIAD_US_PER_MS))
			return false;
	}
	if (s->trace)
		fprintf(s->trace, "%9.3f s  held after %" PRIu64 " ms\n",
			script_seconds(s),
			(elections_now_us(s->elections) - from_us) / TRIAD_US_PER_MS);
	return true;
}

/* "until 2s expect ..." */
static bool until(struct script *s, char **words, unsigned n_words)
{
	uint64_t us;

	if (!duration(s, words[0], &us))
		return false;
	for (uint64_t i = 0; i < us / TRIAD_US_PER_MS; i++)
		if (!run_step(s, TRIAD_US_PER_MS) ||
			!do_command(s, words + 1, n_words - 1))
			return false;
	return true;
}

/* --- the beginning --- */

static bool seed(struct script *s, char **words)
{
	if (s->last_seed > 1)
		return script_fail(s, "there are seeds already");
	return script_number(s, words[0], &s->seed);
}

static bool seeds(struct script *s, char **words)
{
	if (s->elections)
		return script_fail(s, "there are nodes already");
	return script_number(s, words[0], &s->last_seed);
}

static bool nodes(struct script *s, char **words, unsigned n_words)
{
	uint64_t n_nodes, n_bare = 0;
	bool is_ring, is_bare;

	if (s->elections)
		return script_fail(s, "there are nodes already");
	if (!script_number(s, words[0], &n_nodes) ||
		!script_either(s, words[1], "ring", "peers", &is_ring))
		return false;
	if (n_words > 2 &&
		(n_words != 4 ||
			!script_either(s, words[2], "bare", "bare", &is_bare) ||
			!script_number(s, words[3], &n_bare)))
		return script_fail(s, "'bare' and a number are expected");
	if (!n_nodes || n_nodes > ELECTIONS_MAX_NODES ||
		n_bare > ELECTIONS_MAX_NODES - n_nodes)
		return script_fail(s, "from 1 to %u nodes", ELECTIONS_MAX_NODES);
	s->n_nodes = (unsigned)n_nodes;
	s->n_bare = (unsigned)n_bare;
	s->elections = elections_new(is_ring ? ELECTIONS_RING : ELECTIONS_PEERS,
		s->n_nodes, s->n_bare, s->seed);
	return true;
}

/* --- lines --- */

struct flow_command {
	const char *name;
	unsigned min_words, max_words;
	bool (*few)(struct script *s, char **words);
	bool (*many)(struct script *s, char **words, unsigned n_words);
};

static const struct flow_command flow_commands[] = {
	{"seed", 1, 1, seed, NULL},
	{"seeds", 1, 1, seeds, NULL},
	{"nodes", 2, 4, NULL, nodes},
	{"run", 1, 1, run, NULL},
	{"calm", 1, 1, calm, NULL},
	{"within", 2, MAX_WORDS, NULL, within},
	{"until", 2, MAX_WORDS, NULL, until},
};

static bool do_flow(struct script *s, const struct flow_command *command, char **words,
	unsigned n_words)
{
	bool is_first =
		command->few == seed || command->few == seeds || command->many == nodes;

	if (n_words < command->min_words || n_words > command->max_words ||
		(!is_first && !s->elections)) {
		s->is_mistake = true;
		return script_fail(s,
			"'%s' has a wrong number of words, or comes before 'nodes'",
			command->name);
	}
	return command->few ? command->few(s, words) : command->many(s, words, n_words);
}

static bool do_command(struct script *s, char **words, unsigned n_words)
{
	for (unsigned i = 0; i < sizeof(flow_commands) / sizeof(*flow_commands); i++)
		if (!strcmp(words[0], flow_commands[i].name))
			return do_flow(s, &flow_commands[i], words + 1, n_words - 1);
	if (s->elections)
		return script_do(s, words, n_words);
	return script_fail(s, "'%s' comes before 'nodes'", words[0]);
}

static bool do_line(struct script *s, char *line)
{
	char *words[MAX_WORDS + 1], *save = NULL;
	unsigned n_words = 0;

	line[strcspn(line, "#\n")] = '\0';
	if (s->trace && line[strspn(line, " \t")])
		fprintf(s->trace, "%9.3f s  --- %s\n", script_seconds(s), line);
	for (char *word = strtok_r(line, " \t", &save); word && n_words < MAX_WORDS;
		word = strtok_r(NULL, " \t", &save))
		words[n_words++] = word;
	words[n_words] = NULL;
	if (!n_words)
		return true;
	if (!do_command(s, words, n_words))
		return false;
	return s->elections ? run_step(s, 0) : true;
}

static bool do_file(struct script *s, FILE *file, unsigned *number)
{
	char line[MAX_LINE];

	for (*number = 1; fgets(line, sizeof(line), file); ++*number) {
		if (!strchr(line, '\n'))
			return script_fail(s, "the line is too long, or has no end");
		if (!do_line(s, line))
			return false;
	}
	return s->elections ? true : script_fail(s, "nothing happens");
}

/* With 'seed', unless the script has its own; sets 'last_seed' if it has more. */
static bool run_once(FILE *file, FILE *trace, uint64_t seed, uint64_t *last_seed,
	char *error, size_t size)
{
	struct script script = {.trace = trace, .seed = seed, .last_seed = *last_seed};
	unsigned number = 0;
	bool is_good;

	rewind(file);
	if (trace)
		fprintf(trace, "# seed %" PRIu64 "\n", seed);
	is_good = do_file(&script, file, &number);
	if (!is_good)
		snprintf(error, size, "%u: %s (seed %" PRIu64 ")", number, script.wrong,
			script.seed);
	*last_seed = script.last_seed;
	elections_free(script.elections);
	return is_good;
}

bool election_script_run(const char *path, FILE *trace, char *error, size_t size)
{
	FILE *file = fopen(path, "re");
	uint64_t last_seed = 1;
	char wrong[500];
	bool is_good = true;

	if (!file) {
		snprintf(error, size, "%s: %s", path, strerror(errno));
		return false;
	}
	for (uint64_t seed = 1; is_good && seed <= last_seed; seed++)
		is_good = run_once(file, trace, seed, &last_seed, wrong, sizeof(wrong));
	fclose(file);
	if (!is_good)
		snprintf(error, size, "%s:%s", path, wrong);
	return is_good;
}
