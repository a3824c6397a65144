/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* triad.conf: the keys that it may have, and a configuration read from it.
 *
 * Model: a key is one row of a table (section, name, type, range, default, whether it
 * can change while OpenSM runs, one sentence of help).  Parsing, 'triadctl set', the
 * status display and the tests of the manual loop over that table; so a new key is one
 * row and one member.  Most keys exist once, in 'struct triad_conf'.  Some exist for
 * each of several elements, and their row is about one element:
 *
 *     once    [perfmgr]     perfmgr.window     struct triad_conf
 *     group   [group gpu]   group.gpu.nodes    struct triad_conf_group
 *     scope   [alerts]      alerts.VL15Dropped struct triad_conf_thresholds, for
 *             [alerts gpu]  alerts.gpu.VL15Dropped        all ports; for a group
 *
 * A group is made by its section.  Scopes always exist: all ports, ports of the nodes
 * of a type, ports of a group; a scope inherits what it doesn't set.
 *
 * The file is UTF-8 text, a GLib key file without its escapes: lines that are blank,
 * '#comment', '[section]' or 'key = value'; a value is taken as it stands, without the
 * blanks around it.  Every line is parsed whatever the others are, so all mistakes are
 * found at once.  A section '[port 0x...]' has keys written in full, 'section.key =
 * value'; these override the others in the OpenSM that runs on the port with that GUID.
 * Every such section is checked, for whichever port it is.
 *
 *     bool       true or false; also yes, no, on, off, 1, 0; case ignored
 *     uint       decimal digits, no sign; the key's unit may stand behind them, and
 *                where that is one of time, ms, s, m, h or d (lib/quantity.h)
 *     choice     one of the words listed, case ignored
 *     path       absolute; %g stands for the port's GUID, as 0x%016x, and %% for a
 *                percent sign; at most 107 octets then, as UNIX sockets want it
 *     text       what the row's check takes; see triad/lists.h
 *     threshold  see triad/threshold.h
 *
 * Invariants: a 'struct triad_conf' has only values that are in range and consistent.
 * A file with a mistake changes nothing.
 *
 * Thread-safety: one thread makes and fills a configuration.  Once it is in force it is
 * const: any thread may read it and count references.  A change makes a new one, and
 * each owner exchanges its reference under its own lock.
 * Memory: on the heap, 22 KiB, freed with the last reference. */
#ifndef TRIAD_CONF_H
#define TRIAD_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/counter.h"
#include "triad/diag.h"
#include "triad/threshold.h"

#define TRIAD_CONF_GONE_SIZE 256 /* of a list, in a line of TRIAD_DIAG_TEXT_SIZE */
#define TRIAD_CONF_PATH_SIZE 108 /* sun_path of a UNIX socket */
#define TRIAD_CONF_TEXT_SIZE 256
#define TRIAD_CONF_FILE_MAX_SIZE (1 << 20)
#define TRIAD_CONF_VALUE_SIZE 256
#define TRIAD_CONF_NAME_SIZE 96 /* of a key's name in full */

#define TRIAD_CONF_GROUP_NAME_SIZE 25
#define TRIAD_CONF_MAX_GROUPS 16
#define TRIAD_CONF_N_TYPES 4 /* as of enum triad_command_type */
#define TRIAD_CONF_MAX_SCOPES (TRIAD_CONF_N_TYPES + TRIAD_CONF_MAX_GROUPS)

#define TRIAD_CONF_MAX_HISTOGRAMS 4 /* counters of [perfmgr] histogram_counters */
#define TRIAD_CONF_MAX_COLLECTORS 8 /* addresses of [sflow] collectors, */
#define TRIAD_CONF_SFLOW_PORT 6343  /* and their port unless they say another */

#define TRIAD_CONF_MAX_AGENT_NAME 64 /* with the 0, of [collect] name, ... */
#define TRIAD_CONF_MAX_PEERS 9       /* addresses of [election] peers */
#define TRIAD_CONF_MAX_KEYS 180      /* rows the table of keys may have */
#define TRIAD_CONF_MAX_TEST_LIDS 8   /* of [heal] test_lids */
#define TRIAD_CONF_MAX_GUIDS 12      /* of [election] ports, blacklist */
#define TRIAD_CONF_MAX_GROUP_LENGTH 100

/* When counters are reset in hardware: [perfmgr] reset. */
enum triad_conf_reset {
	TRIAD_RESET_NEAR_FULL,
	TRIAD_RESET_NEVER,
};

/* In which role in the subnet this SM reads counters: [perfmgr] role. */
enum triad_conf_role {
	TRIAD_ROLE_MASTER,
	TRIAD_ROLE_STANDBY,
	TRIAD_ROLE_ANY,
};

/* Whether other processes read counters, too: [collect] mode. */
enum triad_conf_collect {
	TRIAD_COLLECT_LOCAL,
	TRIAD_COLLECT_MANAGER,
	TRIAD_COLLECT_AGENT,
};

/* Where an agent gets the topology: [collect] topology. */
enum triad_conf_topology {
	TRIAD_TOPOLOGY_AUTO, /* from the SA; by discovery while the SA doesn't answer */
	TRIAD_TOPOLOGY_SA,
	TRIAD_TOPOLOGY_DISCOVER,
};

/* What happens to links that go down again and again: [damp] mode. */
enum triad_damp_mode {
	TRIAD_DAMP_OFF,   /* nobody looks at traps */
	TRIAD_DAMP_WATCH, /* what would be held is said */
	TRIAD_DAMP_ACT,   /* they are held out of routing */
};

/* What happens to links that statistics call bad: [heal] mode. */
enum triad_heal_mode {
	TRIAD_HEAL_OFF,
	TRIAD_HEAL_PROPOSE, /* it is said, as an alert */
	TRIAD_HEAL_ACT, /* they are taken out of routing, retrained, tested, returned */
};

/* What happens when a link between switches is lost: [repair] mode. */
enum triad_repair_mode {
	TRIAD_REPAIR_OFF,  /* nobody looks at traps */
	TRIAD_REPAIR_PLAN, /* what would be written is said */
	TRIAD_REPAIR_ACT,  /* it is written */
};

/* What happens to harmful requests to the SA: [shield] mode. */
enum triad_shield_mode {
	TRIAD_SHIELD_OFF,   /* nobody looks at them */
	TRIAD_SHIELD_WATCH, /* they are counted */
	TRIAD_SHIELD_ACT,   /* OpenSM does not get them */
};

/* What the port manager does: [port] mode. */
enum triad_conf_port_mode {
	TRIAD_PORT_OBSERVE, /* it only reports what it would do */
	TRIAD_PORT_ENFORCE,
};

/* What the profile has of each port: [profile] counters. */
enum triad_conf_profile {
	TRIAD_PROFILE_DATA,
	TRIAD_PROFILE_ALL,
	TRIAD_PROFILE_DETAILS, /* all, and what details have */
};

/* How SMs that elect reach each other: [election] cluster. */
enum triad_conf_cluster {
	TRIAD_CLUSTER_COROSYNC,
	TRIAD_CLUSTER_PEERS,
	TRIAD_CLUSTER_FABRIC,
	TRIAD_CLUSTER_NONE,
};

/* A group of ports that are treated differently: [group NAME].  A port is in the group
 * when its node, its number and its node's type all fit. */
struct triad_conf_group {
	char name[TRIAD_CONF_GROUP_NAME_SIZE]; /* 1 to 24 of A-Z a-z 0-9 _ - */
	char nodes[TRIAD_CONF_TEXT_SIZE];      /* triad_nodes_check() */
	char ports[TRIAD_CONF_TEXT_SIZE];      /* triad_ports_parse() */
	unsigned type;                         /* enum triad_command_type */
	bool skip;                             /* counters are not read */
	unsigned sweep_period_s; /* 0: as of all; else also swept that often */
};

/* [alerts], [alerts ca], [alerts switch], [alerts router], [alerts GROUP]. */
struct triad_conf_thresholds {
	struct triad_threshold counter[TRIAD_N_COUNTERS];
};

/* Where a server listens for HTTP: [prometheus], [web]. */
struct triad_conf_listener {
	char listen[TRIAD_CONF_TEXT_SIZE];          /* triad_address_parse(); "": off */
	char tls_certificate[TRIAD_CONF_PATH_SIZE]; /* both or none */
	char tls_key[TRIAD_CONF_PATH_SIZE];
	char tls_client_ca[TRIAD_CONF_PATH_SIZE];
	char token_file[TRIAD_CONF_PATH_SIZE];
};

struct triad_conf {
	char gone[TRIAD_CONF_GONE_SIZE]; /* keys of the file that Triad no longer has */
	struct {
		bool enabled;
		unsigned role;           /* enum triad_conf_role */
		unsigned sweep_period_s; /* 1-65535 [perf-manager-arch 2] */
		unsigned mode;           /* enum triad_sweep_mode */
		unsigned reset;          /* enum triad_conf_reset */
		unsigned window;         /* queries outstanding in all */
		unsigned timeout_ms;     /* for one answer */
		unsigned retries;        /* after the first query */
		char histogram_counters[TRIAD_CONF_TEXT_SIZE]; /* at most 4 */
		unsigned detail_share_percent;
		unsigned fec_period_s, vl_period_s; /* 0: never */
	} perfmgr;
	struct {
		char dir[TRIAD_CONF_PATH_SIZE]; /* "": nothing outlives a restart */
	} state;
	struct {
		bool enabled;
	} routes;
	struct {
		bool enabled;
	} congestion;
	struct {
		unsigned mode;                          /* enum triad_conf_collect */
		char servers[TRIAD_CONF_TEXT_SIZE];     /* triad_servers_check() */
		char fabric[TRIAD_CONF_TEXT_SIZE];      /* triad_subject_check() */
		char name[TRIAD_CONF_TEXT_SIZE];        /* "": the host's */
		char master[TRIAD_CONF_TEXT_SIZE];      /* "": a manager */
		char credentials[TRIAD_CONF_PATH_SIZE]; /* "": none, as those below */
		char tls_ca[TRIAD_CONF_PATH_SIZE];
		char tls_certificate[TRIAD_CONF_PATH_SIZE];
		char tls_key[TRIAD_CONF_PATH_SIZE];
		unsigned topology;                        /* enum triad_conf_topology */
		char sa_key[TRIAD_CONF_TEXT_SIZE];        /* triad_sm_key_parse() */
		char node_name_map[TRIAD_CONF_PATH_SIZE]; /* "": none */
		/* The keys above define a member: when one changes, the member leaves
		 * and its nodes are claimed anew. */
		unsigned min_change_kb;
	} collect;
	struct {
		unsigned level; /* enum triad_log_level */
		bool syslog;
	} log;
	struct {
		char socket[TRIAD_CONF_PATH_SIZE];      /* with %g replaced */
		char group[TRIAD_CONF_TEXT_SIZE];       /* may read; "": none */
		char admin_group[TRIAD_CONF_TEXT_SIZE]; /* may change, too */
	} control;
	struct {
		bool recover;
		bool extended_speeds;
	} sm;
	struct {
		unsigned mode; /* enum triad_shield_mode */
		unsigned rate; /* requests per second of a client; 0: any number */
	} shield;
	struct {
		unsigned mode;      /* enum triad_damp_mode */
		bool hosts;         /* their links may be held, too */
		unsigned half_life; /* s */
	} damp;
	struct {
		unsigned mode; /* enum triad_repair_mode */
	} repair;
	struct {
		unsigned mode;         /* enum triad_heal_mode */
		unsigned out_s;        /* how long a link is out the first time */
		unsigned probation_s;  /* how long it must be good when it is back */
		unsigned max_taken;    /* the last time that it is taken it stays out */
		unsigned max_out;      /* links of a tier */
		unsigned min_capacity; /* percent of a switch's paths up */
		/* LIDs that no port has, for tests with data (triad_lids_parse(), at most
		 * TRIAD_CONF_MAX_TEST_LIDS), and the wanted rate (triad_ber_parse()). */
		char test_lids[TRIAD_CONF_TEXT_SIZE], test_ber[TRIAD_CONF_TEXT_SIZE];
	} heal;
	struct {
		unsigned period_s; /* 0: only when asked */
		unsigned share_percent;
		bool repair;
	} audit;
	struct {
		bool enabled;
	} console;
	struct {
		bool enabled;
		unsigned period_s;
		bool cables;
	} devices;
	struct {
		bool enabled;
		unsigned raise_after_s;
		unsigned clear_after_s;
		unsigned unanswered_sweeps; /* 0: off */
		bool links;                 /* links and nodes that go */
		bool ber;
		char ber_targets[TRIAD_CONF_TEXT_SIZE]; /* triad_ber_targets_parse() */
		char details
			[TRIAD_CONF_TEXT_SIZE];  /* triad_detail_thresholds_parse() */
		char file[TRIAD_CONF_PATH_SIZE]; /* "": off */
		char webhook[TRIAD_CONF_TEXT_SIZE];            /* a URL; "": off */
		char webhook_ca[TRIAD_CONF_PATH_SIZE];         /* "": the system's */
		char webhook_token_file[TRIAD_CONF_PATH_SIZE]; /* "": none */
	} alerts;
	struct triad_conf_listener prometheus;
	struct {
		struct triad_conf_listener http;
		unsigned max_clients;
		char names[TRIAD_CONF_TEXT_SIZE];  /* triad_host_names_check() */
		char squeue[TRIAD_CONF_PATH_SIZE]; /* "": Slurm is not asked */
	} web;
	struct {
		char collectors[TRIAD_CONF_TEXT_SIZE]; /* triad_addresses_parse() */
		unsigned interval_s;
		char agent[TRIAD_CONF_TEXT_SIZE]; /* triad_ip_parse(); "": own */
		unsigned sampling_rate; /* one of so many requests to the SA; 0: off */
	} sflow;
	struct {
		char file[TRIAD_CONF_PATH_SIZE]; /* "": off */
		unsigned counters;               /* enum triad_conf_profile */
		unsigned max_size_mb;
		unsigned keep;
	} profile;
	struct {
		char dir[TRIAD_CONF_PATH_SIZE]; /* "": off */
		unsigned max_size_mb;
		unsigned keep_d;
		bool replicate;
	} history;
	struct {
		bool enabled;
		char policy_file[TRIAD_CONF_PATH_SIZE];   /* "": OpenSM's own, if any */
		char default_level[TRIAD_CONF_TEXT_SIZE]; /* "": as the policy says */
		bool tables_enabled;
		bool tables_guard;
		bool partition_groups;
	} qos;
	struct {
		bool enabled;
		unsigned cluster; /* enum triad_conf_cluster */
		char group[TRIAD_CONF_TEXT_SIZE];
		char listen[TRIAD_CONF_TEXT_SIZE]; /* triad_address_parse() */
		unsigned voters;                   /* 0: as Corosync expects */
		char peers[TRIAD_CONF_TEXT_SIZE];  /* triad_addresses_parse() */
		char key_file[TRIAD_CONF_PATH_SIZE];
		char state_dir[TRIAD_CONF_PATH_SIZE];
		char trace_file[TRIAD_CONF_PATH_SIZE]; /* "": off */
		char ports[TRIAD_CONF_TEXT_SIZE]; /* triad_guids_parse(); "": own */
		unsigned priority;                /* 0 to 15 */
		unsigned lease_ms;
		bool check_required;
		unsigned check_max_age_s;
		char blacklist[TRIAD_CONF_TEXT_SIZE]; /* triad_guids_parse() */
		bool witness;
		bool replicate_sa;
	} election;
	struct {
		bool enabled;
		unsigned mode; /* enum triad_conf_port_mode */
		char expected_file[TRIAD_CONF_PATH_SIZE]; /* "": none */
		unsigned max_actions;
		unsigned grace_s, drain_s, quiet_kb, name_grace_s;
		unsigned test_timeout_s, test_time_s;
		unsigned test_max_lost, test_max_errors;
	} port;
	/* Elements 0 to 3 are for enum triad_command_type (0: all ports, which inherits
	 * nothing); those from TRIAD_CONF_N_TYPES on are for groups. */
	struct triad_conf_thresholds thresholds[TRIAD_CONF_MAX_SCOPES];
	unsigned n_groups;
	struct triad_conf_group groups[TRIAD_CONF_MAX_GROUPS];
	/* Where values come from: for each row of the table of keys, a bit for each
	 * element.  In neither: the default. */
	uint32_t in_file[TRIAD_CONF_MAX_KEYS], by_set[TRIAD_CONF_MAX_KEYS];
};

/* Where a value in force comes from. */
enum triad_conf_origin {
	TRIAD_CONF_FROM_DEFAULT,
	TRIAD_CONF_FROM_FILE,
	TRIAD_CONF_FROM_SET, /* triad_conf_set() */
};

enum triad_conf_type {
	TRIAD_CONF_BOOL,
	TRIAD_CONF_UINT,
	TRIAD_CONF_CHOICE,    /* one of 'choices'; the value is its index */
	TRIAD_CONF_PATH,      /* absolute, %g allowed */
	TRIAD_CONF_TEXT,      /* what 'check' takes; may be empty */
	TRIAD_CONF_THRESHOLD, /* one of struct triad_conf_thresholds */
};

/* What a key exists for. */
enum triad_conf_per {
	TRIAD_CONF_ONCE,
	TRIAD_CONF_PER_GROUP,
	TRIAD_CONF_PER_SCOPE,
};

struct triad_conf_key {
	const char *section;
	const char *name;
	enum triad_conf_type type;
	enum triad_conf_per per;
	size_t offset;              /* in the structure of 'per' */
	unsigned min, max;          /* TRIAD_CONF_UINT */
	const char *const *choices; /* TRIAD_CONF_CHOICE, NULL-terminated */
	bool may_be_empty;          /* TRIAD_CONF_PATH */
	/* TRIAD_CONF_TEXT: false, with the reason, for a wrong value. */
	bool (*check)(const char *value, char *reason, size_t size);
	const char *default_text; /* the default, as it is written in a file */
	const char *unit;         /* "s", "ms", ... or "" */
	bool at_run_time;         /* a change acts without restarting OpenSM */
	bool is_secret;           /* shown as *** unless it is the default */
	const char *help;         /* one sentence */
};

/* The table; '*n' is its length. */
const struct triad_conf_key *triad_conf_keys(size_t *n);

/* Makes a configuration with every key at its default, for the OpenSM on the port
 * 'port_guid'.  The caller owns the one reference, and may change values until it
 * shares the configuration.  Returns NULL when memory is short. */
struct triad_conf *triad_conf_new(uint64_t port_guid);

/* Adds a reference, from any thread.  Returns 'conf'. */
const struct triad_conf *triad_conf_ref(const struct triad_conf *conf);

/* Gives a reference back, from any thread; the last one frees the configuration.
 * Accepts NULL. */
void triad_conf_unref(const struct triad_conf *conf);

/* Parses 'text' ('size' octets, need not end in 0) into '*conf', which is fresh from
 * triad_conf_new() and not shared.  Returns 0, or EINVAL with every mistake added to
 * 'diags' (line numbers are of 'text'; the caller has called triad_diags_init()); then
 * '*conf' has the correct keys, and defaults for the others, for a caller that must go
 * on.  Keys of former releases are accepted and listed in 'gone', which ends in ", ..."
 * when they are too many.  EFBIG (over TRIAD_CONF_FILE_MAX_SIZE) or ENOMEM: all
 * defaults. */
int triad_conf_parse(const char *text, size_t size, uint64_t port_guid,
	struct triad_conf *conf, struct triad_diags *diags);

/* Reads a file of at most TRIAD_CONF_FILE_MAX_SIZE and parses it.  Initialises
 * 'diags' with its name.  Returns 0 or an errno; 'diags' says why in any case of
 * failure (missing, a directory, not readable, too large, mistakes), and '*conf'
 * is as triad_conf_parse() leaves it, all defaults when nothing could be read.
 * Never waits for a FIFO or a device. */
int triad_conf_load(const char *path, uint64_t port_guid, struct triad_conf *conf,
	struct triad_diags *diags);

/* Makes '*changed', a copy of 'conf' but for one key, named in full; the caller owns
 * its one reference.  Blanks around the value don't count.  Returns 0; ENOENT (no such
 * key, or no such group), EINVAL (value), EPERM (only at start) or ENOMEM, with the
 * reason added to 'diags'; then '*changed' is untouched.  'program' is whose
 * configuration it is, for texts: "OpenSM". */
int triad_conf_set(const struct triad_conf *conf, const char *key, const char *value,
	uint64_t port_guid, const char *program, struct triad_diags *diags,
	struct triad_conf **changed);

/* Copies values of 'in_force' into 'conf', which nobody shares yet, for keys that can't
 * change while 'program' runs (all of these exist once).  Adds a line to 'notes' for
 * each that differed. */
void triad_conf_keep_start_only(struct triad_conf *conf,
	const struct triad_conf *in_force, const char *program,
	struct triad_diags *notes);

/* One key of one element and its value. */
struct triad_conf_entry {
	const struct triad_conf_key *key; /* NULL: before the first one */
	unsigned element;                 /* group or scope it is of, else 0 */
	enum triad_conf_origin origin;
	char name[TRIAD_CONF_NAME_SIZE];   /* in full */
	char value[TRIAD_CONF_VALUE_SIZE]; /* as in a file, but secrets are *** */
};

/* Goes to the next key in force: all that exist once, those of each group, the
 * thresholds that are not inherited.  False after the last one.
 *
 *     for (struct triad_conf_entry entry = {0}; triad_conf_next(conf, &entry);) */
bool triad_conf_next(const struct triad_conf *conf, struct triad_conf_entry *entry);

/* Finds the key with that full name, also an inherited threshold.  False, with the
 * reason, when there is no such key or group; with 'size' 0 it omits the reason, which
 * takes time. */
bool triad_conf_get(const struct triad_conf *conf, const char *name,
	struct triad_conf_entry *entry, char *reason, size_t size);

/* Whether both have the key with that full name, with the same value, passwords
 * included. */
bool triad_conf_is_alike(
	const struct triad_conf *a, const struct triad_conf *b, const char *name);

#endif
