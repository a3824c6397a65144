/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The conclusions of 'triadctl setup' from what it found: pure functions.
 *
 * Thread-safety: functions without state.  Memory: no allocation. */
#ifndef TRIAD_CLI_SETUP_JUDGE_H
#define TRIAD_CLI_SETUP_JUDGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/plugin_file.h"

enum triad_setup_state {
	TRIAD_SETUP_OK,
	TRIAD_SETUP_WARNING, /* OpenSM would load Triad all the same */
	TRIAD_SETUP_PROBLEM, /* setup changes nothing */
};

struct triad_setup_check {
	enum triad_setup_state state;
	const char *name;
	char text[1024];
	char advice[512]; /* what to do; empty: nothing */
};

#define TRIAD_SETUP_MAX_CHECKS 16

struct triad_setup_checks {
	unsigned n, n_problems;
	struct triad_setup_check checks[TRIAD_SETUP_MAX_CHECKS];
};

/* Adds a check without advice and returns it; 'name' is borrowed.  When there is no
 * room, replaces the last check. */
struct triad_setup_check *triad_setup_check(struct triad_setup_checks *checks,
	enum triad_setup_state state, const char *name, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

void triad_setup_advise(struct triad_setup_check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* --- output of programs --- */

/* Finds in the text of 'opensm --help' the configuration file that opensm reads by
 * default; false when it is not there. */
bool triad_setup_read_help(const char *help, char path[PATH_MAX]);

/* "OpenSM 3.3.23", from what 'opensm --version' prints. */
bool triad_setup_read_version(
	const char *output, char version[TRIAD_PLUGIN_VERSION_SIZE]);

/* What the dynamic linker reports of a plugin that opensm would load. */
struct triad_setup_trace {
	char path[PATH_MAX]; /* where it is; empty: not found */
	char missing[512];   /* missing libraries or symbols; empty: none */
};

void triad_setup_read_trace(
	const char *output, const char *library, struct triad_setup_trace *trace);

/* --- running opensms --- */

struct triad_setup_sm {
	int pid;
	char program[PATH_MAX]; /* empty: not known */
	char conf[PATH_MAX];    /* empty: OpenSM's default */
	char log[PATH_MAX];     /* empty: as the configuration says */
};

/* Reads a command line, as in /proc/PID/cmdline: each word ends with a 0. */
void triad_setup_read_words(const char *words, size_t size, struct triad_setup_sm *sm);

/* Whether a text that starts OpenSM, a unit or a file of variables, names a
 * configuration: has a word -F or --config outside of comments. */
bool triad_setup_names_conf(const char *text);

/* Chooses the file: 'chosen' if there is one, else the one that running opensms read,
 * else 'default_conf' if 'ambiguity', a sentence, is empty.  False, with the reason,
 * when there is no single one. */
bool triad_setup_choose(const char *chosen, const struct triad_setup_sm *sms,
	unsigned n, const char *default_conf, const char *ambiguity,
	char path[PATH_MAX], char *message, size_t size);

/* --- the plugin --- */

struct triad_setup_plugin {
	const char *opensm; /* the program; "": not found */
	char opensm_version[TRIAD_PLUGIN_VERSION_SIZE];
	struct triad_setup_trace trace;
	int error; /* of reading the file, or of triad_plugin_file_version() */
	char version[TRIAD_PLUGIN_VERSION_SIZE];
	const char *library_path; /* LD_LIBRARY_PATH; NULL: not set */
};

/* Adds a check whether this opensm can load the plugin. */
void triad_setup_judge_plugin(
	const struct triad_setup_plugin *plugin, struct triad_setup_checks *checks);

/* --- OpenSM's log --- */

/* Whether a line shows why Triad is not loaded; '*advice' is then what to do, or NULL.
 * '*is_final': waiting longer is no use. */
bool triad_setup_judge_line(const char *line, const char **advice, bool *is_final);

#endif
