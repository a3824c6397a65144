/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The commands, as they are typed: after 'triadctl' in a shell, after 'triad' in
 * OpenSM's console.
 *
 *     health     [--plugin] [--json]
 *     status     [--all] [--json]
 *     links      [--down] [--slow] [--errors] [--flapped] [--held] [--node NODE]
 *                [--port N] [--by COUNTER] [--brief] [--json]
 *     nodes      [--node NODE] [--type ca|switch|router|all] [-n N] [--json]
 *     ports      [--state STATE] [--node NODE] [--port N]
 *                [--type ca|switch|router|all] [-n N] [--json]
 *     routes     [--group NAME] [-n N] [--json]
 *     routes check                [--json]
 *     routes over NODE:PORT [-n N] [--json]
 *     routes between NODE NODE [--sl N] [--json]
 *     repair plan NODE[:PORT] [-n N] [--json]
 *     heal       [-n N] [--json]  heal plan  [-n N] [--json]
 *     heal report [--since TIME|LENGTH] [-n N] [--json]
 *     congestion [-n N] [--json]
 *     job        --nodes HOSTS [--since TIME|LENGTH] [-n N] [--json]
 *     topology   --slurm|--json|--db-csv|--fdbs|--mcfdbs
 *     perf show  [--errors] [--node NODE] [--port N]
 *                [--type ca|switch|router|all] [--json]
 *     perf top   [--by COUNTER] [-n N] [--json]
 *     perf sweep                  [--json]
 *     perf clear totals|hardware [--all] [--node NODE] [--port N] [--type ...]
 *                [--json]
 *     perf clear histograms       [--json]
 *     perf resets  [--node NODE] [--port N] [-n N] [--json]
 *     perf details [--node NODE] [--port N] [--type ...] [--all] [-n N] [--json]
 *     perf ber     [--node NODE] [--port N] [--type ...] [--all] [-n N] [--json]
 *     perf histogram COUNTER [--node NODE [--port N]] [--group NAME]
 *                [--since TIME|LENGTH] [--json]
 *     perf history NODE:PORT COUNTER [--since TIME|LENGTH] [--json]
 *     perf tiers [--since TIME|LENGTH] [--json]
 *     cables     [NODE] [--type ...] [-n N] [--json]
 *     devices    [NODE] [--type ...] [--firmware] [-n N] [--json]
 *     diff TIME|LENGTH [TIME|LENGTH] [-n N] [--json]
 *     alerts     [--all] [--node NODE] [-n N] [--json]
 *     alerts ack ID [--for T] [--reason TEXT]
 *     silence NODE --for T --reason TEXT [--from TIME]
 *     silences   [--json]         unsilence ID
 *     history    [NODE] [-n N] [--since TIME|LENGTH] [--json]
 *     agents     [--json]         agents owner NODE [--json]
 *     agents drain                agents resume
 *     qos on                      qos off
 *     qos clients [-n N] [--json]
 *     qos explain --src NODE --dst NODE [--service-id N]
 *                [--tclass N] [--qos-class N] [--pkey N] [--sl N] [--json]
 *     qos plan [FILE] [--node NODE] [--port N] [-n N] [--json]
 *     qos apply                   qos nodes [--json]
 *     qos tables [--node NODE] [--port N] [--json]
 *     audit      [--node NODE] [-n N] [--json]
 *     shield     [-n N] [--json]
 *     damp       [-n N] [--json]  damp traps [-n N] [--json]
 *     damp release NODE PORT      damp pin NODE PORT           (or NODE:PORT)
 *     heal take NODE PORT
 *     election                    [--json]
 *     port priority N             port confirm
 *     port blacklist [add|remove GUID]
 *     port verdict yes|no
 *     port plan  [--node NODE] [--port N] [-n N] [--json]
 *     port list  [--failed] [--node NODE] [--port N] [-n N] [--json]
 *     port history [--node NODE] [--port N] [-n N] [--json]
 *     port release NODE PORT      port approve [NODE PORT]     (or NODE:PORT)
 *     port snapshot
 *     get [KEY]  [--json]         config diff [--json]
 *     set KEY VALUE               reload               help [COMMAND]
 *     version    [--json]
 *
 * NODE is a node's name, GUID or LID, perhaps with a port; ib/node_choice.h has it all.
 *
 * Commands whose answers images keep take --at TIME: they show the fabric as it was, or
 * what the command answered then.
 *
 * Commands that read also take --watch [--interval S]; those whose answer has a table,
 * also --columns A,B,..., --sort [-]COLUMN, --no-headings and --raw, without --json.
 * triadctl carries these four out, so other askers are refused.
 *
 * --interval goes with --watch alone.  An option's value stands in the next word or
 * after '=' ("--port=3"; "-n3"); options may stand in any order, the last of two wins.
 * Numbers are decimal, those of a request for a path also hexadecimal after 0x; words
 * of a choice and counters ignore case.  Each command also takes '--color', and those
 * with tables '--table', which help doesn't show: triadctl adds the former when its
 * output is a terminal, and the latter unless JSON is asked for.
 *
 * A command either reads or changes something, as the table of commands says.  The
 * receiver refuses changes by clients that may only read.
 *
 * This header turns words into a checked 'struct triad_command', and makes the help
 * texts from the same table; it runs nothing.  triadctl parses before it connects, so
 * that it reports mistakes without an SM; the plugin parses again, because a client can
 * send anything.
 *
 * Thread-safety: functions without state.  Memory: no pointers in the result. */
#ifndef TRIAD_COMMAND_H
#define TRIAD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_COMMAND_TOPIC_SIZE 64

enum triad_command_verb {
	TRIAD_COMMAND_HELP,
	TRIAD_COMMAND_HEALTH,
	TRIAD_COMMAND_STATUS,
	TRIAD_COMMAND_LINKS,
	TRIAD_COMMAND_NODES,
	TRIAD_COMMAND_PORTS,
	TRIAD_COMMAND_ROUTES_CHECK,
	TRIAD_COMMAND_ROUTES_OVER,
	TRIAD_COMMAND_ROUTES_BETWEEN,
	TRIAD_COMMAND_ROUTES,
	TRIAD_COMMAND_REPAIR_PLAN,
	TRIAD_COMMAND_REPAIR_HISTORY,
	TRIAD_COMMAND_HEAL_PLAN,
	TRIAD_COMMAND_REPAIR_SETTLE,
	TRIAD_COMMAND_CONGESTION,
	TRIAD_COMMAND_JOB,
	TRIAD_COMMAND_TOPOLOGY,
	TRIAD_COMMAND_PERF_SHOW,
	TRIAD_COMMAND_PERF_TOP,
	TRIAD_COMMAND_PERF_SWEEP,
	TRIAD_COMMAND_PERF_CLEAR,
	TRIAD_COMMAND_PERF_RESETS,
	TRIAD_COMMAND_PERF_DETAILS,
	TRIAD_COMMAND_PERF_BER,
	TRIAD_COMMAND_CABLES,
	TRIAD_COMMAND_DEVICES,
	TRIAD_COMMAND_PERF_HISTOGRAM,
	TRIAD_COMMAND_PERF_HISTORY,
	TRIAD_COMMAND_PERF_TIERS,
	TRIAD_COMMAND_DIFF,
	TRIAD_COMMAND_ALERTS,
	TRIAD_COMMAND_ALERTS_ACK,
	TRIAD_COMMAND_SILENCE,
	TRIAD_COMMAND_UNSILENCE,
	TRIAD_COMMAND_SILENCES,
	TRIAD_COMMAND_HISTORY,
	TRIAD_COMMAND_AGENTS_OWNER,
	TRIAD_COMMAND_AGENTS_DRAIN,
	TRIAD_COMMAND_AGENTS_RESUME,
	TRIAD_COMMAND_AGENTS,
	TRIAD_COMMAND_QOS_ON,
	TRIAD_COMMAND_QOS_OFF,
	TRIAD_COMMAND_QOS_CLIENTS,
	TRIAD_COMMAND_QOS_EXPLAIN,
	TRIAD_COMMAND_QOS_PLAN,
	TRIAD_COMMAND_QOS_APPLY,
	TRIAD_COMMAND_QOS_TABLES,
	TRIAD_COMMAND_QOS_NODES,
	TRIAD_COMMAND_AUDIT,
	TRIAD_COMMAND_AUDIT_LAST,
	TRIAD_COMMAND_AUDIT_REPAIR,
	TRIAD_COMMAND_SHIELD,
	TRIAD_COMMAND_DAMP,
	TRIAD_COMMAND_DAMP_TRAPS,
	TRIAD_COMMAND_DAMP_RELEASE,
	TRIAD_COMMAND_DAMP_PIN,
	TRIAD_COMMAND_HEAL,
	TRIAD_COMMAND_HEAL_REPORT,
	TRIAD_COMMAND_HEAL_TAKE,
	TRIAD_COMMAND_ELECTION,
	TRIAD_COMMAND_PORT_PRIORITY,
	TRIAD_COMMAND_PORT_CONFIRM,
	TRIAD_COMMAND_PORT_BLACKLIST,
	TRIAD_COMMAND_PORT_VERDICT,
	TRIAD_COMMAND_PORT_PLAN,
	TRIAD_COMMAND_PORT_LIST,
	TRIAD_COMMAND_PORT_HISTORY,
	TRIAD_COMMAND_PORT_RELEASE,
	TRIAD_COMMAND_PORT_APPROVE,
	TRIAD_COMMAND_PORT_SNAPSHOT,
	TRIAD_COMMAND_GET,
	TRIAD_COMMAND_CONFIG_DIFF,
	TRIAD_COMMAND_SET,
	TRIAD_COMMAND_RELOAD,
	TRIAD_COMMAND_VERSION,
	TRIAD_N_COMMANDS,
};

enum triad_command_type {
	TRIAD_COMMAND_TYPE_ALL,
	TRIAD_COMMAND_TYPE_CA,
	TRIAD_COMMAND_TYPE_SWITCH,
	TRIAD_COMMAND_TYPE_ROUTER,
};

/* What 'perf clear' resets. */
enum triad_command_clear {
	TRIAD_COMMAND_CLEAR_TOTALS,
	TRIAD_COMMAND_CLEAR_HARDWARE, /* the ports' own counters, and their totals */
	TRIAD_COMMAND_CLEAR_HISTOGRAMS,
};

/* What is done with a list. */
enum triad_command_change {
	TRIAD_COMMAND_SHOW_LIST,
	TRIAD_COMMAND_ADD,
	TRIAD_COMMAND_REMOVE,
};

struct triad_command {
	enum triad_command_verb verb;
	bool changes; /* only for clients that may change something */
	bool json;
	bool color;
	char node[128]; /* TRIAD_NODE_TEXT_SIZE; empty: every node */
	int port;       /* -1: every port */
	enum triad_command_type type;
	unsigned state; /* of 'ports': enum triad_port_condition; 0: all */
	unsigned by;    /* enum triad_counter; perf histogram: from TRIAD_N_COUNTERS
	                 * on a place in triad_detail_fields */
	bool has_by;    /* of 'links' */
	unsigned limit; /* rows of lists that take -n */
	/* Of 'history': events since that time (microseconds since 1970), or within
	 * that length; both 0: all. */
	uint64_t since_us, since_length_us;
	char since[32]; /* the same, as typed */
	/* The moment to show: that wall time, or so long ago. */
	uint64_t at_us, at_ago_us;
	char at[32]; /* the same, as typed; empty: now */
	/* Of 'diff': the other moment, in the same way; both 0: now. */
	uint64_t to_us, to_ago_us;
	char group[32]; /* of ports; empty: none */
	bool all;       /* cleared alerts, zeros, good links, too; of 'perf clear':
	                 * every port; of 'status': every section */
	bool firmware;  /* of 'devices': a line for each version */
	bool plugin;    /* of 'health': one line, as monitoring plugins write it */
	bool failed;    /* of 'port list': only ports disabled as failed */
	bool errors;    /* only ports with errors */
	bool down, slow, flapped, held; /* of 'links': only such links */
	bool brief;       /* of 'links': JSON without counters that are 0 */
	unsigned id;      /* of an alert or a silence */
	unsigned for_s;   /* 0: not said */
	uint64_t from_us; /* wall clock; 0: now */
	char reason[160]; /* of a silence; empty: none */
	char asker[64];   /* who asks, for messages; the receiver sets it */
	enum triad_command_clear clear; /* of 'perf clear' */
	char hosts[2048];               /* of 'job': jobs/hostlist.h */
	char slurm_job[64]; /* of 'job', for triadctl, which asks Slurm for its hosts */
	/* Of 'topology': the form in which it is written. */
	bool slurm, db_csv, fdbs, mcfdbs;
	/* Of 'qos explain': the ends, and what else the request has. */
	char source[128], destination[128];
	uint64_t service_id, tclass, qos_class, pkey, sl;
	bool has_service_id, has_tclass, has_qos_class, has_pkey, has_sl;
	/* How triadctl lays tables out. */
	char columns[256]; /* empty: all */
	char sort[64];     /* empty: as they come */
	bool no_headings, raw;
	bool table;     /* the receiver lays tables out */
	bool for_image; /* it runs after each sweep: leave out what takes long */
	bool watch;     /* triadctl asks again each 'interval_s' */
	unsigned interval_s;
	char file[1024];                  /* of 'qos plan', as typed; empty: none */
	unsigned priority;                /* of 'port priority', 0 to 15 */
	enum triad_command_change change; /* of 'port blacklist' */
	uint64_t guid;                    /* whom to add or remove */
	bool is_yes;                      /* of 'port verdict' */
	char key[96];                     /* of 'set' and 'get'; empty: all */
	char value[256];
	char client
		[32]; /* of 'version': the asking triadctl's; empty: another client */
	char topic[TRIAD_COMMAND_TOPIC_SIZE]; /* of 'help' */
};

#define TRIAD_COMMAND_HELP_SIZE 16384

/* Parses 'n_words' words, the program's own name left out.  Returns 0; or EINVAL
 * with a sentence in 'message' that names the word, why it is wrong and what is
 * allowed.  '--help' or '-h' anywhere gives TRIAD_COMMAND_HELP on that command.
 * 'key' and 'value' of TRIAD_COMMAND_SET are for triad_conf_set() to check. */
int triad_command_parse(int n_words, const char *const *words,
	struct triad_command *command, char *message, size_t size);

/* Whether the command has options for the layout of tables. */
bool triad_command_has_layout(const struct triad_command *command);

/* Help on all commands ('topic' empty) or on one ("perf show"), as text ending in
 * a newline; 'prefix' is what is typed before ("triadctl", "triad").  Returns 0
 * or ENOENT. */
int triad_command_help(const char *topic, const char *prefix, char *text, size_t size);

#endif
