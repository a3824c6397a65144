/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* triad.conf: what it can say, and what it said.
 *
 * Model: a key is one row of a table (section, name, type, range, default,
 * whether it can change while OpenSM runs, one sentence of help).  Parsing,
 * 'triadctl set', the status display and the tests of the manual loop over that
 * table; so a new key is one row and one member of 'struct triad_conf'.
 *
 * The file is UTF-8 text, a GLib key file without its escapes: lines that are
 * blank, '#comment', '[section]' or 'key = value'; a value is taken as it stands,
 * without the blanks around it.  Every line is read whatever the others are, so
 * all mistakes are found at once.  A section '[port 0x...]' holds keys written
 * 'section.key = value' that override the others in the OpenSM that runs on the
 * port with that GUID; every such section is checked, whichever port it is for.
 *
 *     bool    true or false; also yes, no, on, off, 1, 0; case ignored
 *     uint    decimal digits, no sign
 *     choice  one of the words listed, case ignored
 *     path    absolute; %g stands for the port's GUID, as 0x%016x, and %% for a
 *             percent sign; at most 107 octets then, as UNIX sockets want it
 *
 * Invariants: a 'struct triad_conf' holds only values that are in range.  A file
 * with a mistake changes nothing.
 *
 * Thread-safety: none; a configuration is filled by one thread and then shared
 * unchanged.  Memory: plain values, no pointers; copied by assignment. */
#ifndef TRIAD_CONF_H
#define TRIAD_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/diag.h"

#define TRIAD_CONF_PATH_SIZE 108 /* sun_path of a UNIX socket */
#define TRIAD_CONF_FILE_MAX_SIZE (1 << 20)
#define TRIAD_CONF_VALUE_SIZE 256

/* When counters are reset in hardware: [perfmgr] reset. */
enum triad_conf_reset {
	TRIAD_RESET_NEAR_FULL,
	TRIAD_RESET_NEVER,
};

struct triad_conf {
	struct {
		bool enabled;
		unsigned sweep_period_s; /* 1-65535 [perf-manager-arch 2] */
		unsigned mode;           /* enum triad_sweep_mode */
		unsigned reset;          /* enum triad_conf_reset */
		unsigned window;         /* queries outstanding in all */
		unsigned node_window;    /* of them, to one node */
		unsigned timeout_ms;     /* for one answer */
		unsigned retries;        /* after the first query */
	} perfmgr;
	struct {
		unsigned level; /* enum triad_log_level */
		bool syslog;
	} log;
	struct {
		bool enabled;
		char socket[TRIAD_CONF_PATH_SIZE]; /* with %g replaced */
		unsigned max_clients;
	} control;
	struct {
		bool enabled;
	} console;
};

enum triad_conf_type {
	TRIAD_CONF_BOOL,
	TRIAD_CONF_UINT,
	TRIAD_CONF_CHOICE, /* one of 'choices'; the value is its index */
	TRIAD_CONF_PATH,   /* absolute, %g allowed */
};

struct triad_conf_key {
	const char *section;
	const char *name;
	enum triad_conf_type type;
	size_t offset;              /* in struct triad_conf */
	unsigned min, max;          /* TRIAD_CONF_UINT */
	const char *const *choices; /* TRIAD_CONF_CHOICE, NULL-terminated */
	const char *standard;       /* the default, as it is written in a file */
	const char *unit;           /* "s", "ms", ... or "" */
	bool at_run_time;           /* a change acts without restarting OpenSM */
	const char *help;           /* one sentence */
};

/* The table; '*n' is its length. */
const struct triad_conf_key *triad_conf_keys(size_t *n);

/* Every key at its default, for the OpenSM on the port 'port_guid'. */
void triad_conf_init(struct triad_conf *conf, uint64_t port_guid);

/* Parses 'text' ('size' octets, need not end in 0) over the defaults.  Returns 0,
 * or EINVAL with every mistake added to 'diags' (line numbers are of 'text'; the
 * caller has called triad_diags_init()); then '*conf' holds the keys that were
 * right and defaults for the others, for the caller that must go on with
 * something.  EFBIG: over TRIAD_CONF_FILE_MAX_SIZE, all defaults. */
int triad_conf_parse(const char *text, size_t size, uint64_t port_guid,
	struct triad_conf *conf, struct triad_diags *diags);

/* Reads a file of at most TRIAD_CONF_FILE_MAX_SIZE and parses it.  Initialises
 * 'diags' with its name.  Returns 0 or an errno; 'diags' says why in any case of
 * failure (missing, a directory, not readable, too large, mistakes), and '*conf'
 * is as triad_conf_parse() leaves it, all defaults when nothing could be read.
 * Never waits for a FIFO or a device. */
int triad_conf_load(const char *path, uint64_t port_guid, struct triad_conf *conf,
	struct triad_diags *diags);

/* Changes one key, named 'section.name'.  Returns 0; ENOENT (no such key), EINVAL
 * (value), EPERM (only at start), with the reason added to 'diags'; then '*conf'
 * is untouched. */
int triad_conf_set(struct triad_conf *conf, const char *key, const char *value,
	uint64_t port_guid, struct triad_diags *diags);

/* Gives 'conf' the values of 'in_force' for the keys that can't change while OpenSM
 * runs.  Adds a line to 'notes' for each that differed. */
void triad_conf_keep_start_only(struct triad_conf *conf,
	const struct triad_conf *in_force, struct triad_diags *notes);

/* The present value of a key as it would be written in a file, cut at 'size'
 * octets (TRIAD_CONF_VALUE_SIZE hold any). */
void triad_conf_format(const struct triad_conf *conf, const struct triad_conf_key *key,
	char *text, size_t size);

#endif
