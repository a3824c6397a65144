/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "common/conf_keys.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"

#define NAME_SIZE 64

/* In the order of enum triad_log_level. */
static const char *const log_levels[] = {"error", "info", "verbose", "debug", NULL};

/* In the order of enum triad_sweep_mode, enum triad_conf_reset. */
static const char *const sweep_modes[] = {"triad", "full", "errors", NULL};
static const char *const resets[] = {"near-full", "never", NULL};

#define KEY(s, n) .section = #s, .name = #n, .offset = offsetof(struct triad_conf, s.n)
#define KEY_AS(s, n, member)                                                           \
	.section = #s, .name = #n, .offset = offsetof(struct triad_conf, s.member)
#define BOOL .type = TRIAD_CONF_BOOL, .unit = ""
#define UINT(low, high, of) .type = TRIAD_CONF_UINT, .min = low, .max = high, .unit = of

static const struct triad_conf_key table[] = {
	{KEY(perfmgr, enabled), BOOL, .standard = "true", .at_run_time = true,
		.help = "Whether the counters of all ports are read."},
	{KEY_AS(perfmgr, sweep_period, sweep_period_s), UINT(1, 65535, "s"),
		.standard = "60", .at_run_time = true,
		.help = "From the start of one sweep over all ports to the next."},
	{KEY(perfmgr, mode), .type = TRIAD_CONF_CHOICE, .choices = sweep_modes,
		.unit = "", .standard = "triad", .at_run_time = true,
		.help = "What a sweep reads of each port."},
	{KEY(perfmgr, reset), .type = TRIAD_CONF_CHOICE, .choices = resets, .unit = "",
		.standard = "near-full", .at_run_time = true,
		.help = "When counters that stop at their maximum are reset in "
			"hardware."},
	{KEY(perfmgr, window), UINT(1, 4096, ""), .standard = "64", .at_run_time = true,
		.help = "Queries that may wait for an answer at one time."},
	{KEY(perfmgr, node_window), UINT(1, 256, ""), .standard = "8",
		.at_run_time = true,
		.help = "How many of these queries may go to one node."},
	{KEY_AS(perfmgr, timeout, timeout_ms), UINT(10, 60000, "ms"),
		.standard = "1000", .at_run_time = true,
		.help = "How long to wait for the answer to one query."},
	{KEY(perfmgr, retries), UINT(0, 10, ""), .standard = "2", .at_run_time = true,
		.help = "How often a query is sent again when no answer came."},
	{KEY(log, level), .type = TRIAD_CONF_CHOICE, .choices = log_levels, .unit = "",
		.standard = "info", .at_run_time = true,
		.help = "How much goes to OpenSM's log."},
	{KEY(log, syslog), BOOL, .standard = "true", .at_run_time = true,
		.help = "Whether what is significant also goes to syslog."},
	{KEY(control, enabled), BOOL, .standard = "true",
		.help = "Whether triadctl can connect."},
	{KEY(control, socket), .type = TRIAD_CONF_PATH, .unit = "",
		.standard = TRIAD_RUNSTATEDIR "/%g.sock",
		.help = "The UNIX socket that triadctl connects to."},
	{KEY(control, max_clients), UINT(1, 64, ""), .standard = "16",
		.at_run_time = true,
		.help = "How many triadctl may be connected at one time."},
	{KEY(console, enabled), BOOL, .standard = "false",
		.help = "Whether 'triad' commands can be typed in OpenSM's console."},
};

#define N_KEYS (sizeof(table) / sizeof(table[0]))
_Static_assert(N_KEYS <= TRIAD_CONF_MAX_KEYS, "parsers have room for fewer keys");

const struct triad_conf_key *triad_conf_keys(size_t *n)
{
	*n = N_KEYS;
	return table;
}

size_t triad_conf_key_index(const struct triad_conf_key *key)
{
	return (size_t)(key - table);
}

static void full_name(const struct triad_conf_key *key, char *name)
{
	snprintf(name, NAME_SIZE, "%s.%s", key->section, key->name);
}

static bool is_in(const struct triad_conf_key *key, const char *section)
{
	return !strcmp(key->section, section);
}

/* Rows of one section stand together. */
static bool begins_section(size_t i)
{
	return !i || !is_in(&table[i], table[i - 1].section);
}

const char *triad_conf_section_find(const char *name)
{
	for (size_t i = 0; i < N_KEYS; i++)
		if (is_in(&table[i], name))
			return table[i].section;
	return NULL;
}

static bool is_full_name(const char *name, const struct triad_conf_key *key)
{
	size_t n = strlen(key->section);

	return !strncmp(name, key->section, n) && name[n] == '.' &&
		!strcmp(name + n + 1, key->name);
}

const struct triad_conf_key *triad_conf_key_find(const char *section, const char *name)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		const struct triad_conf_key *key = &table[i];

		if (section ? is_in(key, section) && !strcmp(key->name, name)
			    : is_full_name(name, key))
			return key;
	}
	return NULL;
}

void triad_conf_section_explain(const char *name, char *text, size_t size)
{
	struct triad_text_guess guess = {.word = name};
	const char *best = NULL;
	size_t i;

	for (i = 0; i < N_KEYS; i++)
		if (triad_text_guess_try(&guess, table[i].section))
			best = table[i].section;
	snprintf(text, size, "unknown section [%s]; ", name);
	if (best) {
		triad_text_append(text, size, "did you mean [%s]?", best);
		return;
	}
	triad_text_append(text, size, "known are ");
	for (i = 0; i < N_KEYS; i++)
		if (begins_section(i))
			triad_text_append(text, size, "[%s], ", table[i].section);
	triad_text_append(text, size, "[port 0x...]");
}

/* The key that was likely meant, first of those in 'section'. */
static const struct triad_conf_key *guess_key(const char *section, const char *name)
{
	struct triad_text_guess guess = {.word = name};
	const struct triad_conf_key *best = NULL;
	char full[NAME_SIZE];
	size_t i;

	for (i = 0; section && i < N_KEYS; i++)
		if (is_in(&table[i], section) &&
			triad_text_guess_try(&guess, table[i].name))
			best = &table[i];
	for (i = 0; i < N_KEYS; i++) {
		full_name(&table[i], full);
		if (triad_text_guess_try(&guess, full) ||
			triad_text_guess_try(&guess, table[i].name))
			best = &table[i];
	}
	return best;
}

static void append_known_keys(char *text, size_t size, const char *section)
{
	const char *separator = "; known are ";
	char full[NAME_SIZE];
	size_t i;

	for (i = 0; i < N_KEYS; i++) {
		if (section && !is_in(&table[i], section))
			continue;
		full_name(&table[i], full);
		triad_text_append(
			text, size, "%s%s", separator, section ? table[i].name : full);
		separator = ", ";
	}
}

void triad_conf_key_explain(
	const char *section, const char *name, char *text, size_t size)
{
	const struct triad_conf_key *guess = guess_key(section, name);

	snprintf(text, size, "unknown key '%.80s'", name);
	if (section)
		triad_text_append(text, size, " in [%s]", section);
	if (!guess)
		append_known_keys(text, size, section);
	else if (!section)
		triad_text_append(text, size, "; did you mean '%s.%s'?", guess->section,
			guess->name);
	else if (is_in(guess, section))
		triad_text_append(text, size, "; did you mean '%s'?", guess->name);
	else
		triad_text_append(text, size, "; did you mean '%s' in [%s]?",
			guess->name, guess->section);
}
