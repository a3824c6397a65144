/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The port manager in the plugin: makes every switch port as the expected configuration
 * has it.
 *
 * Model: after each sweep it makes a plan from the fabric, the configuration and the
 * history of ports (portmgr/plan); the agenda says when each item is due.  An item that
 * is due is done if this SM has permission, in the term in which the plan was made:
 *
 *     the intent into the journal -> to all members -> a majority has it -> permission?
 *     -> Set -> the outcome into the journal -> to all members
 *
 * It asks for permission right before each MAD that changes something. The kernel sends
 * such a MAD once; without an answer the port manager sends it again, three times at
 * most.  A new holder of the lease does nothing until a majority of the members has the
 * same history as itself.
 *
 * Threads: triad-ports does all this.  It waits for answers of switches (three tries of
 * 0.25 s at most), for the majority (at most 1 s) and for its disk, and holds no lock
 * meanwhile (but when it opens the journal): commands that read don't wait for it.  While
 * [port] is off it begins for each fabric, and ends.
 * Commands that change something leave a request in the inbox, where the cluster's
 * transport leaves payloads. triad_ports_mark() runs in OpenSM's thread (hold.h).
 *
 * Document: [election-patent, "enforces configuration"]. */
#ifndef TRIAD_PLUGIN_PORTS_PORTS_H
#define TRIAD_PLUGIN_PORTS_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "damp/links.h"
#include "heal/course.h"
#include "ib/link.h"
#include "plugin/ports/hold.h"
#include "portmgr/election/permission.h"
#include "portmgr/history/history.h"
#include "portmgr/plan/agenda.h"
#include "portmgr/plan/plan.h"
#include "portmgr/plan/port_row.h"
#include "portmgr/replica/replica.h"
#include "portmgr/test/port_test.h"
#include "triad/conf.h"
#include "triad/fabric.h"
#include "triad/log.h"

struct osm_opensm;
struct triad_damper;
struct triad_rerouter;
struct triad_elector;
struct triad_recorder;
struct triad_ports;

#define TRIAD_PORTS_TEXT_SIZE 1024u

struct triad_ports_status {
	bool is_enabled, is_enforcing; /* mode = enforce */
	bool is_ready;                 /* could act, if it had permission */
	bool may_act;                  /* and has permission */
	struct triad_permission permission;
	uint64_t generation, hash; /* of the configuration in force; 0: none */
	uint32_t n_rows;
	size_t n_mistakes; /* of the last file that was tried */
	char mistake[512]; /* the first of them */
	char trouble[256]; /* what keeps it from acting, beside permission */
	bool has_plan;
	uint32_t n_of_kind[TRIAD_PLAN_N_KINDS];
	uint32_t n_guarded;
	uint64_t plan_us; /* that the last plan took */
	struct triad_agenda_status agenda;
	uint32_t n_tests, n_held, n_failed;
	uint64_t hold_us; /* the longest that OpenSM's lock was held for it */
	/* Links that were bad: out of routing; of these, staying out; back, on probation. */
	uint32_t n_heal_out, n_heal_stay_out, n_heal_on_probation;
	bool heal_waits;       /* so many links came or went that none is taken now */
	uint64_t n_sets;       /* sent */
	uint64_t n_set_failed; /* refused or not answered */
	/* Actions not sent, or not sent again, because permission had ended. */
	uint64_t n_dropped;
	uint64_t n_inbox_dropped;
	uint64_t journal_bad;
	struct triad_replica_status replica;
};

/* Which rows. */
enum triad_ports_which {
	TRIAD_PORTS_ALL,
	TRIAD_PORTS_PLAN, /* with an item */
	TRIAD_PORTS_FAILED,
};

/* NULL: no memory or threads.  The arguments outlive it. */
struct triad_ports *triad_ports_new(struct osm_opensm *osm, uint64_t port_guid,
	struct triad_elector *elector, struct triad_hold *hold,
	struct triad_recorder *recorder, struct triad_log *log);
/* Returns false when its thread hangs in a write; then the thread and its memory are
 * left. */
bool triad_ports_free(struct triad_ports *ports);

/* Applies [port].  Any thread, one at a time.  The first call waits until it is in
 * force, for some seconds at most. */
void triad_ports_configure(struct triad_ports *ports, const struct triad_conf *conf);

/* A new fabric, after a sweep; NULL: this SM is no longer the master. */
void triad_ports_set_fabric(struct triad_ports *ports, struct triad_fabric *fabric);

/* The fabric of the last image of any SM, as it was at 'wall_us', when this SM begins to
 * read counters; NULL: there is none.  Any thread. */
void triad_ports_set_past(
	struct triad_ports *ports, struct triad_fabric *fabric, uint64_t wall_us);

/* Who holds links out of routing; set once, before the first configuration. */
void triad_ports_set_damper(struct triad_ports *ports, struct triad_damper *damper);
/* Who writes entries for tests with data; the same. */
void triad_ports_set_rerouter(
	struct triad_ports *ports, struct triad_rerouter *rerouter);

/* A link between switches that statistics call bad, or that is on probation. */
struct triad_ports_judged {
	struct triad_damp_ends ends;
	bool is_bad, may_take; /* may be taken now, by the plan (heal/plan.h) */
	/* It is slow: what it should be.  Zeros: it is bad in another way. */
	struct triad_link_rate wanted;
	uint64_t since_us; /* since when it is bad; monotonic */
	uint64_t read_us;  /* both ends' counters were read then or later; 0: never */
	char text[TRIAD_RECORD_TEXT_SIZE / 2]; /* what is wrong, for people */
};

#define TRIAD_PORTS_MAX_JUDGED 128u

/* The worst first. */
struct triad_ports_verdicts {
	uint64_t generation; /* of the fabric that was judged; 0: nothing is known */
	uint32_t n;
	struct triad_ports_judged links[TRIAD_PORTS_MAX_JUDGED];
};

/* What the healer knows now.  Any thread. */
void triad_ports_set_verdicts(
	struct triad_ports *ports, const struct triad_ports_verdicts *verdicts);

/* A link that is out of routing, or on probation. */
struct triad_ports_healed {
	struct triad_damp_ends ends;
	struct triad_course course;        /* its times are monotonic */
	char text[TRIAD_RECORD_TEXT_SIZE]; /* of its test; "": nothing to say */
};

/* At most 'room'.  Returns how many. */
uint32_t triad_ports_healed(
	struct triad_ports *ports, struct triad_ports_healed *healed, uint32_t room);

/* From report() of HEAVY_SWEEP_DONE, and of UCAST_ROUTING_DONE in a heavy sweep,
 * without OpenSM's locks: see hold.h. */
void triad_ports_hide(struct triad_ports *ports);
void triad_ports_mark(struct triad_ports *ports);
/* From report() of UCAST_ROUTING_DONE without a sweep. */
void triad_ports_note_rerouted(struct triad_ports *ports);

/* --- for commands --- */

/* The last fabric, with a reference; NULL: none. */
struct triad_fabric *triad_ports_fabric(struct triad_ports *ports);

void triad_ports_status(struct triad_ports *ports, struct triad_ports_status *status);

/* Rows of the node (0: all) and port (-1: all), at most 'max'; '*n_all' is how many
 * there are.  Returns 0, ENOENT (there is no configuration), EAGAIN (no fabric yet) or
 * ENOMEM; the rows are the caller's. */
int triad_ports_rows(struct triad_ports *ports, enum triad_ports_which which,
	uint64_t node_guid, int number, uint32_t max, struct triad_port_row **rows,
	uint32_t *n, uint32_t *n_all);

/* Copies all rows piece by piece, so that the port manager need not wait: at most '*n'
 * rows, from the one numbered 'first' on, into the caller's 'rows'.  '*version' differs
 * from that of the piece before if the rows may have changed since.  Returns as
 * triad_ports_rows(). */
int triad_ports_rows_piece(struct triad_ports *ports, uint32_t first,
	struct triad_port_row *rows, uint32_t *n, uint64_t *version);

/* Records, newest first; as above.  Returns 0 or ENOMEM. */
int triad_ports_history(struct triad_ports *ports, uint64_t node_guid, int number,
	uint32_t max, struct triad_record **records, uint32_t *n);

/* Whether the port manager of any SM took the port down and has not released it: it
 * disabled the port and the port still is disabled ('is_disabled'), or it takes the
 * port down for a test. */
bool triad_ports_took_down(struct triad_ports *ports, uint64_t node_guid,
	uint8_t number, bool is_disabled);

enum triad_ports_answer {
	TRIAD_PORTS_OK,
	TRIAD_PORTS_OFF,           /* port.enabled is false */
	TRIAD_PORTS_OBSERVES,      /* port.mode is observe */
	TRIAD_PORTS_NOT_PERMITTED, /* 'status' has why */
	TRIAD_PORTS_NOTHING,       /* there is nothing of that kind */
	TRIAD_PORTS_OWN_PATH,      /* this SM's own link: this SM can't do it */
	TRIAD_PORTS_NOT_WRITTEN,   /* the journal, or a majority */
	TRIAD_PORTS_BUSY,          /* not begun within 10 s: nothing was done */
	TRIAD_PORTS_IN_PROGRESS,   /* begun, but not finished in 10 s */
};

/* Waits until the last configuration is in force, 10 s at most.  Returns false when its
 * expected configuration has mistakes, which are then in 'mistakes'. */
bool triad_ports_read(struct triad_ports *ports, struct triad_diags *mistakes);

/* Voids the record of a failure, and enables the port again. */
enum triad_ports_answer triad_ports_release(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number);
/* Has the link of the port taken out of routing, tested and returned, though no statistics call it
 * bad.  With NOTHING, 'why' says why not. */
enum triad_ports_answer triad_ports_take(struct triad_ports *ports, uint64_t node_guid,
	uint8_t number, char why[TRIAD_PORTS_TEXT_SIZE]);
/* A person is about to hold the link of the port: it is not healed any longer. */
enum triad_ports_answer triad_ports_keep_out(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number);
/* A person lets the link of the port go, however it is held: it is left alone for a day. */
enum triad_ports_answer triad_ports_let_go(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number);
/* Does the port's item although a guard stops it, or the plan has too many items.
 * 'cut' receives the nodes that this cuts off, by name and number, or "". */
enum triad_ports_answer triad_ports_approve(struct triad_ports *ports,
	uint64_t node_guid, uint8_t number, char cut[TRIAD_PORTS_TEXT_SIZE]);
/* Approves all items of the present plan that no guard stops. */
enum triad_ports_answer triad_ports_approve_all(
	struct triad_ports *ports, uint32_t *n_approved);

#endif
