/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of 'triadctl setup' share: the state of one run.
 *
 * Model: setup.c decides and changes; setup_look.c looks at processes, programs and
 * files; setup_restart.c restarts OpenSM and waits; setup_show.c tells.
 *
 * Thread-safety: none.  Memory: one run a process; texts live until its end. */
#ifndef TRIAD_CLI_SETUP_PARTS_H
#define TRIAD_CLI_SETUP_PARTS_H

#include "cli/opensm_conf.h"
#include "cli/setup_command.h"
#include "cli/setup_judge.h"

#define TRIAD_SETUP_MAX_SMS 64
#define TRIAD_SETUP_MAX_LINES 20
/* Looking takes a moment; a service may wait for OpenSM's end, and for its start. */
#define TRIAD_SETUP_LOOK_S 10u
#define TRIAD_SETUP_RESTART_S 300u
/* In front of the name: OpenSM's start script in Red Hat's packages takes whatever is called
 * opensm.conf.1 and so on for one more configuration. */
#define TRIAD_SETUP_COPY_PREFIX "before-triad."

struct triad_setup {
	const struct triad_setup_command *command;
	const struct triad_setup_asker *asker;

	/* What was seen. */
	char opensm[PATH_MAX];      /* the program; empty: not found */
	char standard[PATH_MAX];    /* what it reads when told nothing else */
	char doubt[PATH_MAX + 128]; /* why another may be meant; empty: none */
	struct triad_setup_sm sms[TRIAD_SETUP_MAX_SMS];
	unsigned n_sms; /* of all, later of those with this configuration */
	struct triad_setup_sm other; /* one of all that run; pid 0: none does */
	char conf[PATH_MAX];         /* as it is named */
	char target[PATH_MAX];       /* without links */
	char copy[PATH_MAX];         /* that of before */
	char *octets;
	size_t size;
	bool is_missing;           /* there is no such file yet */
	char triad_conf[PATH_MAX]; /* empty: none is named, and none there */
	char socket[PATH_MAX];     /* or its folder */
	char unit[64];             /* OpenSM's service; empty: none */
	bool is_foreign;           /* an opensm runs that the service did not start */
	char *groups; /* what systemd says of its control groups; NULL: nothing */

	/* What follows from it. */
	struct triad_setup_checks checks;
	struct triad_opensm_conf_edit edit;
	bool has_copied, has_changed, has_restarted;
	bool has_old_copy;            /* of a time before the last changes */
	bool was_asked, is_loaded;    /* whether Triad answers, and works */
	int old[TRIAD_SETUP_MAX_SMS]; /* opensms from before the restart */
	unsigned n_old;
	char reason[1024]; /* why not */
	unsigned n_lines;
	char lines[TRIAD_SETUP_MAX_LINES][512]; /* of OpenSM's log */
	const char *advice;
};

/* --- setup_look.c --- */

/* Finds opensm, what it reads, and the opensms that run. */
void triad_setup_look(struct triad_setup *setup);

/* Leaves those that read setup->conf. */
void triad_setup_keep_sms(struct triad_setup *setup);

/* Looks at the plugin as opensm would find it. */
void triad_setup_look_at_plugin(struct triad_setup *setup);

/* Has opensm write its defaults: '*octets', to be freed.  False with the reason. */
bool triad_setup_make_defaults(struct triad_setup *setup, char **octets, size_t *size,
	char *reason, size_t reason_size);

/* Reads a regular file; '*why' is words.  Returns 0 or an errno. */
int triad_setup_read_file(
	const char *path, size_t max, char **octets, size_t *size, const char **why);

/* Runs a program for at most 'limit_s'; '*output', for g_free(), is what it printed, or
 * that it took longer.  'variables' are pairs, ended by NULL.  Returns its exit status,
 * or -1 when it did not run to its end. */
int triad_setup_run(const char *const *words, const char *const *variables,
	unsigned limit_s, char **output);

/* --- setup_restart.c --- */

/* Finds OpenSM's service, and whether it names another configuration. */
void triad_setup_find_unit(struct triad_setup *setup);

/* Finds the control groups of its processes. */
void triad_setup_find_groups(struct triad_setup *setup);

/* Whether one of them has this opensm. */
bool triad_setup_owns(const struct triad_setup *setup, const struct triad_setup_sm *sm);

/* Asks Triad in the opensms that run now with setup->conf, but for those of 'old'. */
enum triad_setup_answer triad_setup_ask(
	struct triad_setup *setup, char *reason, size_t size);

/* Restarts it; then, unless Triad is taken out, waits until Triad answers.  False when
 * that failed, with the reason. */
bool triad_setup_restart(struct triad_setup *setup);

/* --- setup_show.c --- */

/* Checks and changes: before anything is done. */
void triad_setup_show_plan(const struct triad_setup *setup);

/* What was done and what is to do next. */
void triad_setup_show_end(const struct triad_setup *setup, int status);

/* All of it, as JSON. */
void triad_setup_show_json(const struct triad_setup *setup);

#endif
