/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/election_script_parts.h"
#include "triad/clock.h"

double script_seconds(const struct script *s)
{
	return s->elections ? (double)elections_now_us(s->elections) / 1e6 : 0;
}

struct look script_look(struct script *s, unsigned node)
{
	struct triad_election *election = elections_of(s->elections, node);
	uint64_t now_us = elections_clock(s->elections, node);
	struct triad_permission_facts facts;
	struct triad_election_status status;
	struct look look;

	memset(&look, 0, sizeof(look)); /* observations are compared as memory */
	if (!election)
		return look;
	triad_election_status(election, now_us, &status);
	triad_election_facts(election, &facts);
	look.state = status.state;
	look.master = status.master;
	look.term = status.term;
	look.against = triad_permission_judge(&facts, now_us).reasons;
	look.sm_priority = elections_sm_priority(s->elections, node);
	look.is_permitted = elections_is_permitted(s->elections, node);
	return look;
}

/* --- the network --- */

static bool percent(struct script *s, const char *word, double *value)
{
	char *end;

	*value = strtod(word, &end);
	if (end == word || strcmp(end, "%") != 0)
		return script_fail(s, "'%s' is not a rate such as 20%%", word);
	return true;
}

static bool loss(struct script *s, char **words)
{
	double rate;

	if (!percent(s, words[0], &rate))
		return false;
	elections_loss(s->elections, (unsigned)rate);
	return true;
}

static bool set_delay(struct script *s, char **words)
{
	uint64_t min_ms, max_ms;

	if (!script_number(s, words[0], &min_ms) ||
		!script_number(s, words[1], &max_ms))
		return false;
	if (min_ms > max_ms)
		return script_fail(s, "the lower delay comes first");
	elections_delay(
		s->elections, min_ms * TRIAD_US_PER_MS, max_ms * TRIAD_US_PER_MS);
	return true;
}

/* A node in no named group is in the last one. */
static bool partition(struct script *s, char **words)
{
	unsigned groups[ELECTIONS_MAX_NODES], n_groups = 0, node;
	char *save;

	while (words[n_groups])
		n_groups++;
	for (unsigned i = 0; i < ELECTIONS_MAX_NODES; i++)
		groups[i] = n_groups - 1;
	for (unsigned group = 0; group < n_groups; group++)
		for (char *name = strtok_r(words[group], ",", &save); name;
			name = strtok_r(NULL, ",", &save)) {
			if (!script_node(s, name, &node))
				return false;
			groups[node] = group;
		}
	elections_partition(s->elections, groups);
	return true;
}

static bool heal(struct script *s, char **words)
{
	unsigned groups[ELECTIONS_MAX_NODES] = {0};

	(void)words;
	elections_partition(s->elections, groups);
	return true;
}

static bool set_link(struct script *s, char **words)
{
	unsigned a, b;
	bool is_up;

	if (!script_node(s, words[0], &a) || !script_node(s, words[1], &b) ||
		!script_either(s, words[2], "up", "down", &is_up))
		return false;
	elections_link(s->elections, a, b, is_up);
	return true;
}

/* --- processes and their cluster services --- */

static bool kill_node(struct script *s, char **words)
{
	unsigned node;

	if (!script_live_node(s, words[0], &node))
		return false;
	elections_kill(s->elections, node);
	return true;
}

static bool start_node(struct script *s, char **words)
{
	unsigned node;

	if (!script_node(s, words[0], &node))
		return false;
	if (node >= s->n_nodes || elections_is_alive(s->elections, node))
		return script_fail(s, "%s is bare, or lives", words[0]);
	elections_start(s->elections, node);
	return true;
}

static bool pause_node(struct script *s, char **words)
{
	unsigned node;

	if (!script_live_node(s, words[0], &node))
		return false;
	elections_pause(s->elections, node, true);
	return true;
}

static bool resume_node(struct script *s, char **words)
{
	unsigned node;

	if (!script_node(s, words[0], &node))
		return false;
	if (node >= s->n_nodes || !elections_is_alive(s->elections, node))
		return script_fail(s, "%s does not live", words[0]);
	elections_pause(s->elections, node, false);
	return true;
}

static bool stop_service(struct script *s, char **words)
{
	unsigned node;

	if (!script_node(s, words[0], &node))
		return false;
	elections_stop(s->elections, node, true);
	return true;
}

static bool go_on_service(struct script *s, char **words)
{
	unsigned node;

	if (!script_node(s, words[0], &node))
		return false;
	elections_stop(s->elections, node, false);
	return true;
}

static bool runaway(struct script *s, char **words)
{
	unsigned node;
	bool is_on;

	if (!script_live_node(s, words[0], &node) ||
		!script_either(s, words[1], "on", "off", &is_on))
		return false;
	elections_runaway(s->elections, node, is_on);
	return true;
}

static bool drift(struct script *s, char **words)
{
	unsigned node;
	double rate;

	if (!script_live_node(s, words[0], &node) || !percent(s, words[1], &rate))
		return false;
	elections_drift(s->elections, node, (int)(rate * 10000));
	return true;
}

/* --- commands to elections --- */

static bool reported(struct script *s, unsigned node, int error)
{
	elections_poke(s->elections, node);
	return error ? script_fail(s, "refused: %s", strerror(error)) : true;
}

static bool set_ports(struct script *s, char **words)
{
	unsigned node, n_good, n_ports;
	int length = 0;

	if (!script_live_node(s, words[0], &node))
		return false;
	if (sscanf(words[1], "%u/%u%n", &n_good, &n_ports, &length) != 2 ||
		words[1][length])
		return script_fail(s, "'%s' is not as 1/2", words[1]);
	triad_election_ports(elections_of(s->elections, node),
		&(struct triad_port_health){
			.n_ports = n_ports, .n_good = n_good, .is_up = n_good > 0},
		elections_clock(s->elections, node));
	return reported(s, node, 0);
}

static bool set_flapped(struct script *s, char **words)
{
	unsigned node;

	if (!script_live_node(s, words[0], &node))
		return false;
	triad_election_ports(elections_of(s->elections, node),
		&(struct triad_port_health){.n_ports = 2, .is_up = true},
		elections_clock(s->elections, node));
	return reported(s, node, 0);
}

static bool blacklist(struct script *s, char **words)
{
	unsigned node, other;
	bool is_listed;

	if (!script_live_node(s, words[0], &node) ||
		!script_either(s, words[1], "add", "remove", &is_listed) ||
		!script_node(s, words[2], &other))
		return false;
	return reported(s, node,
		triad_election_blacklist(elections_of(s->elections, node),
			elections_id(other), is_listed,
			elections_clock(s->elections, node)));
}

static bool prefer(struct script *s, char **words)
{
	uint64_t preference;
	unsigned node;

	if (!script_live_node(s, words[0], &node) ||
		!script_number(s, words[1], &preference))
		return false;
	triad_election_prefer(elections_of(s->elections, node), (uint8_t)preference,
		elections_clock(s->elections, node));
	return reported(s, node, 0);
}

static bool config(struct script *s, char **words)
{
	uint64_t generation, hash;
	unsigned node;

	if (!script_live_node(s, words[0], &node) ||
		!script_number(s, words[1], &generation) ||
		!script_number(s, words[2], &hash))
		return false;
	triad_election_config(elections_of(s->elections, node), generation, hash,
		elections_clock(s->elections, node));
	return reported(s, node, 0);
}

static bool check_answer(struct script *s, char **words)
{
	static const char *const answers[] = {
		[TRIAD_CHECK_OFF] = "off",
		[TRIAD_CHECK_YES] = "yes",
		[TRIAD_CHECK_NO] = "no",
		[TRIAD_CHECK_MISSING] = "missing",
	};
	unsigned node, answer = 0;

	if (!script_live_node(s, words[0], &node))
		return false;
	while (answer <= TRIAD_CHECK_MISSING && strcmp(words[1], answers[answer]) != 0)
		answer++;
	if (answer > TRIAD_CHECK_MISSING)
		return script_fail(s, "'%s' is no answer of a check", words[1]);
	triad_election_check(elections_of(s->elections, node), answer,
		elections_clock(s->elections, node));
	return reported(s, node, 0);
}

static bool confirm(struct script *s, char **words)
{
	unsigned node;

	if (!script_live_node(s, words[0], &node))
		return false;
	return reported(s, node,
		triad_election_confirm(elections_of(s->elections, node),
			elections_clock(s->elections, node)));
}

static bool resign(struct script *s, char **words)
{
	unsigned node;

	if (!script_live_node(s, words[0], &node))
		return false;
	triad_election_resign(
		elections_of(s->elections, node), elections_clock(s->elections, node));
	return reported(s, node, 0);
}

/* --- expectations --- */

static bool check(struct script *s, char **words)
{
	const char *wrong = elections_check(s->elections);

	(void)words;
	return wrong ? script_fail(s, "%s", wrong) : true;
}

static const char *name_of(uint64_t id, char name[2])
{
	if (!id)
		return "nobody";
	name[0] = (char)('A' + (id - elections_id(0)));
	name[1] = '\0';
	return name;
}

static bool expect_follows(struct script *s, char **words)
{
	struct look look;
	unsigned node, master;
	char name[2];

	if (!script_live_node(s, words[0], &node) || !script_node(s, words[1], &master))
		return false;
	look = script_look(s, node);
	if (look.master != elections_id(master))
		return script_fail(
			s, "%s follows %s", words[0], name_of(look.master, name));
	return true;
}

static bool expect_state(struct script *s, char **words)
{
	unsigned node;
	const char *state;

	if (!script_live_node(s, words[0], &node))
		return false;
	state = triad_election_state_name(script_look(s, node).state);
	if (strcmp(state, words[1]) != 0)
		return script_fail(s, "%s is %s", words[0], state);
	return true;
}

static bool expect_master(struct script *s, char **words)
{
	char state[] = "MASTER", *is_master[] = {words[0], state};
	unsigned master;

	if (!expect_state(s, is_master) || !script_node(s, words[0], &master))
		return false;
	for (unsigned i = 0; i < s->n_nodes; i++) {
		char name[] = {(char)('A' + i), '\0'};
		char *follows[] = {name, words[0]};

		if (elections_is_running(s->elections, i) &&
			elections_is_together(s->elections, i, master) &&
			!expect_follows(s, follows))
			return false;
	}
	return true;
}

static bool expect_permitted(struct script *s, char **words)
{
	bool is_nobody = !strcmp(words[0], "none");
	unsigned node = ELECTIONS_MAX_NODES;

	if (!is_nobody && !script_node(s, words[0], &node))
		return false;
	for (unsigned i = 0; i < s->n_nodes; i++)
		if (elections_is_permitted(s->elections, i) != (i == node))
			return script_fail(s, "%c is%s permitted", 'A' + (int)i,
				i == node ? " not" : "");
	return true;
}

static bool expect_sm_priority(struct script *s, char **words)
{
	uint64_t priority;
	unsigned node;

	if (!script_live_node(s, words[0], &node) ||
		!script_number(s, words[1], &priority))
		return false;
	if (elections_sm_priority(s->elections, node) != priority)
		return script_fail(s, "%s has %u", words[0],
			elections_sm_priority(s->elections, node));
	return true;
}

static bool expect_against(struct script *s, char **words)
{
	uint32_t against;
	unsigned node;
	size_t length = 0;

	if (!script_live_node(s, words[0], &node))
		return false;
	against = script_look(s, node).against;
	if (!against && !strcmp(words[1], "nothing"))
		return true;
	length = (size_t)snprintf(s->wrong, sizeof(s->wrong), "against %s:", words[0]);
	for (unsigned i = 0; i < TRIAD_PERMISSION_N_REASONS; i++) {
		if (!(against >> i & 1))
			continue;
		if (!strcmp(words[1], triad_permission_word(i)))
			return true;
		length += (size_t)snprintf(s->wrong + length, sizeof(s->wrong) - length,
			" %s", triad_permission_word(i));
	}
	return false;
}

/* --- commands --- */

struct command {
	const char *name;
	unsigned n_words;
	bool (*function)(struct script *s, char **words);
};

static const struct command expectations[] = {
	{"against", 2, expect_against},
	{"follows", 2, expect_follows},
	{"master", 1, expect_master},
	{"permitted", 1, expect_permitted},
	{"sm-priority", 2, expect_sm_priority},
	{"state", 2, expect_state},
	{NULL, 0, NULL},
};

static const struct command commands[] = {
	{"blacklist", 3, blacklist},
	{"check", 0, check},
	{"check-answer", 2, check_answer},
	{"config", 3, config},
	{"confirm", 1, confirm},
	{"cont", 1, go_on_service},
	{"delay", 2, set_delay},
	{"drift", 2, drift},
	{"heal", 0, heal},
	{"kill", 1, kill_node},
	{"link", 3, set_link},
	{"loss", 1, loss},
	{"pause", 1, pause_node},
	{"ports", 2, set_ports},
	{"flapped", 1, set_flapped},
	{"prefer", 2, prefer},
	{"resign", 1, resign},
	{"resume", 1, resume_node},
	{"runaway", 2, runaway},
	{"start", 1, start_node},
	{"stop", 1, stop_service},
	{NULL, 0, NULL},
};

static bool do_one_of(
	struct script *s, const struct command *one_of, char **words, unsigned n_words)
{
	for (; one_of->name; one_of++) {
		if (strcmp(words[0], one_of->name) != 0)
			continue;
		if (n_words - 1 == one_of->n_words)
			return one_of->function(s, words + 1);
		s->is_mistake = true;
		return script_fail(
			s, "'%s' takes %u word(s)", words[0], one_of->n_words);
	}
	s->is_mistake = true;
	return script_fail(s, "'%s' is not understood", words[0]);
}

/* "expect refused confirm A" */
static bool expect_refused(struct script *s, char **words, unsigned n_words)
{
	if (n_words && !do_one_of(s, commands, words, n_words) && !s->is_mistake &&
		!strncmp(s->wrong, "refused", 7))
		return true;
	return s->is_mistake ? false : script_fail(s, "it is not refused");
}

bool script_do(struct script *s, char **words, unsigned n_words)
{
	if (!strcmp(words[0], "partition") && n_words > 1)
		return partition(s, words + 1);
	if (strcmp(words[0], "expect") != 0 || n_words < 2)
		return do_one_of(s, commands, words, n_words);
	if (!strcmp(words[1], "refused"))
		return expect_refused(s, words + 2, n_words - 2);
	return do_one_of(s, expectations, words + 1, n_words - 1);
}
