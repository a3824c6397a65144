/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state of one run of 'triadctl setup', which its files share.
 *
 * Model: setup.c decides and changes; setup_look.c examines processes, programs and
 * files; setup_restart.c restarts OpenSM and waits; setup_show.c prints.
 *
 * Thread-safety: none.  Memory: one run a process; texts live until its end. */
#ifndef TRIAD_CLI_SETUP_PARTS_H
#define TRIAD_CLI_SETUP_PARTS_H

#include "cli/opensm_conf.h"
#include "cli/setup_command.h"
#include "cli/setup_judge.h"

#define TRIAD_SETUP_MAX_SMS 64
#define TRIAD_SETUP_MAX_LINES 20
/* Examining takes a moment; a restart may wait for OpenSM's end, and for its start. */
#define TRIAD_SETUP_LOOK_S 10u
#define TRIAD_SETUP_RESTART_S 300u
/* A prefix, not a suffix: OpenSM's start script in Red Hat's packages takes
 * opensm.conf.1 and so on for further configurations. */
#define TRIAD_SETUP_COPY_PREFIX "before-triad."

struct triad_setup {
	const struct triad_setup_command *command;
	const struct triad_setup_asker *asker;

	/* Findings. */
	char opensm[PATH_MAX];          /* the program; empty: not found */
	char default_conf[PATH_MAX];    /* the configuration that it reads by default */
	char ambiguity[PATH_MAX + 128]; /* why OpenSM may read another; empty: none */
	struct triad_setup_sm sms[TRIAD_SETUP_MAX_SMS];
	unsigned n_sms; /* of all, later of those with this configuration */
	struct triad_setup_sm other; /* any running opensm; pid 0: none */
	char conf[PATH_MAX];         /* the chosen file, as it is named */
	char target[PATH_MAX];       /* the same with symbolic links resolved */
	char copy[PATH_MAX];         /* copy of the file before the changes */
	char *octets;
	size_t size;
	bool is_missing;           /* there is no such file yet */
	char triad_conf[PATH_MAX]; /* empty: none is named, and none there */
	char socket[PATH_MAX];     /* or its folder */
	char unit[64];             /* OpenSM's service; empty: none */
	bool is_foreign;           /* an opensm runs that the service did not start */
	char *groups; /* systemd's list of its control groups; NULL: none */

	/* Conclusions and actions. */
	struct triad_setup_checks checks;
	struct triad_opensm_conf_edit edit;
	bool has_copied, has_changed, has_restarted;
	bool has_old_copy;            /* of a time before the last changes */
	bool was_asked, is_loaded;    /* Triad was asked; it works */
	int old[TRIAD_SETUP_MAX_SMS]; /* opensms from before the restart */
	unsigned n_old;
	char reason[1024]; /* why Triad does not work */
	unsigned n_lines;
	char lines[TRIAD_SETUP_MAX_LINES][512]; /* of OpenSM's log */
	const char *advice;
};

/* --- setup_look.c --- */

/* Finds opensm, its default configuration, and the running opensms. */
void triad_setup_look(struct triad_setup *setup);

/* Keeps of 'sms' those that read setup->conf. */
void triad_setup_keep_sms(struct triad_setup *setup);

/* Examines the plugin file that opensm would load. */
void triad_setup_look_at_plugin(struct triad_setup *setup);

/* Has opensm write its defaults: '*octets', which the caller frees.  False, with the
 * reason. */
bool triad_setup_make_defaults(struct triad_setup *setup, char **octets, size_t *size,
	char *reason, size_t reason_size);

/* Reads a regular file; '*why' is words.  Returns 0 or an errno. */
int triad_setup_read_file(
	const char *path, size_t max, char **octets, size_t *size, const char **why);

/* Runs a program for at most 'limit_s'; '*output', for g_free(), is its output, or a
 * text that it took longer.  'variables' are pairs for its environment, ended by NULL.
 * Returns its exit status, or -1 when it did not run to its end. */
int triad_setup_run(const char *const *words, const char *const *variables,
	unsigned limit_s, char **output);

/* --- setup_restart.c --- */

/* Finds OpenSM's service, and whether it names another configuration. */
void triad_setup_find_unit(struct triad_setup *setup);

/* Finds the control groups of the service's processes. */
void triad_setup_find_groups(struct triad_setup *setup);

/* Whether one of these groups contains this opensm. */
bool triad_setup_owns(const struct triad_setup *setup, const struct triad_setup_sm *sm);

/* Asks Triad in the opensms that now run with setup->conf, except those in 'old'. */
enum triad_setup_answer triad_setup_ask(
	struct triad_setup *setup, char *reason, size_t size);

/* Restarts the service; then, unless Triad was removed, waits until Triad answers.
 * False, with the reason, when that failed. */
bool triad_setup_restart(struct triad_setup *setup);

/* --- setup_show.c --- */

/* Prints the checks and the planned changes. */
void triad_setup_show_plan(const struct triad_setup *setup);

/* Prints what was done and what to do next. */
void triad_setup_show_end(const struct triad_setup *setup, int status);

/* Prints all of it as JSON. */
void triad_setup_show_json(const struct triad_setup *setup);

#endif
