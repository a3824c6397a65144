/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tables of all options and commands.  Parsing and help both loop over them, so
 * they agree; a new command is one row here and one member of enum triad_command_verb.
 *
 * Thread-safety: constant data. */
#ifndef TRIAD_COMMAND_COMMAND_TABLE_H
#define TRIAD_COMMAND_COMMAND_TABLE_H

#include "triad/command.h"
#include "triad/control.h"

enum triad_option_kind {
	TRIAD_OPTION_KIND_FLAG,
	TRIAD_OPTION_KIND_NUMBER, /* min to max */
	TRIAD_OPTION_KIND_CHOICE, /* one of 'choices'; the value is its index */
	TRIAD_OPTION_KIND_NODE,   /* ib/node_choice.h */
	TRIAD_OPTION_KIND_VALUE,  /* 0 to 'max_value', decimal or 0x...; sets
	                             'present' */
	TRIAD_OPTION_KIND_COUNTER,
	TRIAD_OPTION_KIND_TEXT, /* one or more octets */
	TRIAD_OPTION_KIND_TIME, /* uint64_t: triad_clock_parse() */
	TRIAD_OPTION_KIND_PATH, /* const char *: only in triadctl's own commands */
	TRIAD_OPTION_KIND_NAME, /* the same */
};

struct triad_option {
	const char *name;
	const char *operand; /* what follows it, for help; NULL: nothing */
	enum triad_option_kind kind;
	size_t offset, size; /* of the member, in the command's struct */
	unsigned min, max;
	size_t present;     /* offset of a bool: the option was there; 0: none */
	uint64_t max_value; /* of a TRIAD_OPTION_KIND_VALUE */
	const char *const *choices;
	const char *unit;   /* of a TRIAD_OPTION_KIND_NUMBER that has one, "s" */
	const char *help;   /* NULL: triadctl's own, not shown */
	const char *absent; /* why some commands lack it, for messages; or NULL */
};

/* Rows of triad_options, and bits of a command's 'options'. */
enum {
	TRIAD_OPTION_NODE,
	TRIAD_OPTION_PORT,
	TRIAD_OPTION_TYPE,
	TRIAD_OPTION_STATE,
	TRIAD_OPTION_ERRORS,
	TRIAD_OPTION_GROUP,
	TRIAD_OPTION_ALL,
	TRIAD_OPTION_EVERY,
	TRIAD_OPTION_ZEROS,
	TRIAD_OPTION_LINKS_ALL,
	TRIAD_OPTION_FIRMWARE,
	TRIAD_OPTION_SECTIONS,
	TRIAD_OPTION_PLUGIN,
	TRIAD_OPTION_DOWN,
	TRIAD_OPTION_SLOW,
	TRIAD_OPTION_FLAPPED,
	TRIAD_OPTION_HELD,
	TRIAD_OPTION_LINK_ERRORS,
	TRIAD_OPTION_LINKS_BY,
	TRIAD_OPTION_BRIEF,
	TRIAD_OPTION_FAILED,
	TRIAD_OPTION_BY,
	TRIAD_OPTION_LIMIT,
	TRIAD_OPTION_LIMIT_ALL,
	TRIAD_OPTION_FOR,
	TRIAD_OPTION_FOR_ACK,
	TRIAD_OPTION_FROM,
	TRIAD_OPTION_REASON,
	TRIAD_OPTION_SINCE,
	TRIAD_OPTION_AT,
	TRIAD_OPTION_AT_KEPT,
	TRIAD_OPTION_SOURCE,
	TRIAD_OPTION_DESTINATION,
	TRIAD_OPTION_SERVICE_ID,
	TRIAD_OPTION_TCLASS,
	TRIAD_OPTION_QOS_CLASS,
	TRIAD_OPTION_PKEY,
	TRIAD_OPTION_SL,
	TRIAD_OPTION_HOSTS,
	TRIAD_OPTION_SLURM_JOB,
	TRIAD_OPTION_SLURM,
	TRIAD_OPTION_DB_CSV,
	TRIAD_OPTION_FDBS,
	TRIAD_OPTION_MCFDBS,
	TRIAD_OPTION_PATH_SL,
	TRIAD_OPTION_WATCH,
	TRIAD_OPTION_INTERVAL,
	TRIAD_OPTION_COLUMNS,
	TRIAD_OPTION_SORT,
	TRIAD_OPTION_NO_HEADINGS,
	TRIAD_OPTION_RAW,
	TRIAD_OPTION_JSON,
	TRIAD_OPTION_COLOR,
	TRIAD_OPTION_CLIENT,
	TRIAD_OPTION_TABLE,
	TRIAD_N_OPTIONS
};

#define TRIAD_OPTION_BIT(option) (UINT64_C(1) << (option))

/* Options for the layout of tables, which triadctl handles. */
#define TRIAD_OPTIONS_OF_LAYOUT                                                        \
	(TRIAD_OPTION_BIT(TRIAD_OPTION_COLUMNS) |                                      \
		TRIAD_OPTION_BIT(TRIAD_OPTION_SORT) |                                  \
		TRIAD_OPTION_BIT(TRIAD_OPTION_NO_HEADINGS) |                           \
		TRIAD_OPTION_BIT(TRIAD_OPTION_RAW))

extern const struct triad_option triad_options[TRIAD_N_OPTIONS];

/* Whether a command changes Triad, ports or files.  A row without a class counts as one
 * that changes something, so that a forgotten class does not open it to readers. */
enum triad_verb_access {
	TRIAD_VERB_UNCLASSED,
	TRIAD_VERB_READS,
	TRIAD_VERB_CHANGES,
};

/* What a command is for: the parts of 'help'. */
enum triad_verb_group {
	TRIAD_VERB_LOOK,
	TRIAD_VERB_DIAGNOSE,
	TRIAD_VERB_MAINTAIN,
	TRIAD_VERB_CONFIGURE,
	TRIAD_VERB_N_GROUPS
};

struct triad_verb {
	const char *name; /* one word or two */
	enum triad_verb_group group;
	enum triad_command_verb verb;
	enum triad_verb_access access;
	/* For a command that reads: with arguments it changes something, or reads a
	 * file with the rights of the process that runs it. */
	bool arguments_change;
	/* For a command that reads: it always waits for a disk or for switches, not
	 * only because of an option. */
	bool waits;
	/* It is refused while parts are idle because the file has mistakes: its message
	 * would advise to switch on what the mistakes keep off. */
	bool needs_parts;
	/* Its exit status is its verdict, or TRIAD_CONTROL_UNKNOWN without one. */
	bool is_verdict;
	/* TRIAD_OPTION_BIT()s.  With _AT the command reads a past moment like the
	 * present; with _AT_KEPT images keep its answer, made without other options. */
	uint64_t options;
	unsigned kept_rows;  /* rows of a kept answer; 0: as many as without -n */
	const char *no_past; /* why it lacks --at, for messages; or NULL */
	const char *help;
	const char *arguments; /* for help; NULL: none */
	int n_arguments_min, n_arguments_max;
};

extern const struct triad_verb triad_verbs[TRIAD_N_COMMANDS];

static inline bool triad_verb_is_kept(const struct triad_verb *verb)
{
	return verb->options & TRIAD_OPTION_BIT(TRIAD_OPTION_AT_KEPT);
}

/* The exit status where there is no answer. */
static inline int triad_verb_no_answer(const struct triad_verb *verb)
{
	return verb->is_verdict ? TRIAD_CONTROL_UNKNOWN : TRIAD_CONTROL_FAILED;
}

/* The command without arguments and options. */
struct triad_command triad_verb_default(const struct triad_verb *verb);

/* A table of commands with its options: the plugin's, or triadctl's own. */
struct triad_verb_table {
	const struct triad_verb *verbs;
	size_t n_verbs;
	const struct triad_option *options; /* of bit i of a command's */
	size_t n_options;
};
#define TRIAD_VERB_TABLE(array, of_bits, n)                                            \
	{                                                                              \
		.verbs = (array), .n_verbs = sizeof(array) / sizeof((array)[0]),       \
		.options = (of_bits), .n_options = (n)                                 \
	}

/* As triad_command_help(), for the commands of 'n' tables. */
int triad_verb_tables_help(const struct triad_verb_table *tables, size_t n,
	const char *topic, const char *prefix, char *text, size_t size);

/* The plugin's table. */
extern const struct triad_verb_table triad_command_verbs;

/* The plugin's row of a verb; never NULL for one of the enum. */
const struct triad_verb *triad_verb_of(enum triad_command_verb verb);

/* Whether 'topic' is the command's name or the first of its words. */
bool triad_verb_is_topic(const struct triad_verb *verb, const char *topic);

#endif
