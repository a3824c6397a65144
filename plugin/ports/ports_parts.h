/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the port manager, for its own files alone:
 *
 *     ports.c          its life, thread and steps
 *     ports_inbox.c    what other threads leave for it
 *     ports_seen.c     what was there before, and is missing now
 *     ports_look.c     fabric and configuration: the plan, which ports may be held
 *     ports_sms.c      the other SMs, whose ways are guarded, and their file
 *     ports_term.c     the term in which this SM may act, and what a majority has
 *     ports_commit.c   records: journal and members
 *     ports_act.c      items that are due: Sets
 *     ports_test.c     tests of ports
 *     ports_heal.c     links that statistics call bad: out, retrained, tested, back
 *     ports_mads.c     MADs, without the lock
 *     ports_ask.c      commands
 *
 * Locks: 'lock' is held in a step, and by commands that read.  Only triad-ports changes
 * what it guards, and releases it around whatever waits: for a switch, for members, for
 * OpenSM's lock, for a disk (ports_begin_wait()).  It keeps the lock when it opens the
 * journal, which fills the history.  So commands read between the parts of a step, and
 * what they find must be consistent wherever a step waits: the plan and the placed rows
 * go with the configuration and the fabric that they were made from.  The order is
 * 'lock', then the inbox's or 'status_lock'. */
#ifndef TRIAD_PLUGIN_PORTS_PARTS_H
#define TRIAD_PLUGIN_PORTS_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "heal/calm.h"
#include "heal/course.h"
#include "heal/data_test.h"
#include "lib/inbox.h"
#include "lib/task.h"
#include "plugin/ports/ports.h"
#include "plugin/ports/smp.h"
#include "plugin/ports/source.h"
#include "plugin/reroute/reroute_lead.h"
#include "portmgr/cluster/cluster.h"
#include "portmgr/history/journal.h"
#include "portmgr/plan/last_act.h"
#include "portmgr/plan/missing.h"
#include "portmgr/plan/overrides.h"
#include "portmgr/plan/seen_sms.h"
#include "portmgr/replica/replica.h"
#include "triad/clock.h"
#include "triad/file.h"

/* Ports under test at once, and SMPs of all tests together: a rack that comes up is through in
 * minutes, and the SM, which has the same QP, notices nothing. */
#define PORTS_MAX_TESTS 8u
#define PORTS_TEST_SMPS_PER_S 100u
/* Links that are out of routing or on probation at once. */
#define PORTS_MAX_HEALED 64u

/* A command's request, and its result. */
struct ports_request {
	enum ports_request_state {
		PORTS_NO_REQUEST,
		PORTS_ASKED,
		PORTS_BEGUN,
		PORTS_ABANDONED, /* begun, but the command has stopped waiting */
		PORTS_ANSWERED,
	} state;
	enum ports_request_kind {
		PORTS_RELEASE,
		PORTS_APPROVE,
		PORTS_APPROVE_ALL,
		PORTS_READ,
		PORTS_KEEP_OUT,
		PORTS_LET_GO,
		PORTS_TAKE
	} kind;
	uint64_t node_guid;
	uint8_t number;
	enum triad_ports_answer answer;
	uint32_t n_approved;
	/* What the approved action cuts off, or why a link is not taken. */
	char text[TRIAD_PORTS_TEXT_SIZE];
};

struct ports_inbox {
	pthread_mutex_t lock;
	bool is_configured,
		has_begun; /* a configuration was left; a first one is in force */
	bool has_view, has_fabric, has_past;
	struct triad_cluster_view view;
	struct triad_fabric *fabric;   /* NULL with 'has_fabric': the fabric is gone */
	struct triad_fabric *past;     /* of the last image; NULL: there is none */
	uint64_t past_wall_us;         /* when it was so */
	const struct triad_conf *conf; /* NULL: none was left */
	struct triad_inbox payloads;
	struct triad_ports_verdicts verdicts; /* the last */
	bool has_verdicts;
	struct ports_request request; /* one at a time */
};

/* A port under test. */
struct ports_test {
	uint64_t node_guid;
	uint8_t number;
	bool is_admitted;  /* recorded */
	uint64_t again_us; /* when to try again to record */
	struct triad_port_test test;
};

struct ports_tests {
	uint32_t n;
	struct ports_test all[PORTS_MAX_TESTS];
};

/* A link that is taken out of routing, or was and is on probation. */
struct ports_healed {
	struct triad_damp_ends ends;
	struct triad_course course; /* its times are monotonic */
	/* When it was taken, on the boot clock (0: by another SM), or returned. */
	uint64_t changed_us;
	uint64_t look_us;              /* when its ends are read next */
	struct triad_link_rate wanted; /* it is slow: what it should be */
	struct ports_test tests[2];    /* at each end */
	bool is_test_vain;             /* its tests are begun again and again */
	struct triad_data_test data;   /* then with data; 'n_wanted' 0: not begun */
	struct triad_reroute_lead lead;
};

struct ports_heal {
	struct triad_damper *damper;
	struct triad_rerouter *rerouter;
	uint16_t test_lids[TRIAD_CONF_MAX_TEST_LIDS]; /* none: no tests with data */
	size_t n_test_lids;
	bool is_resumed;          /* what the history has, in this term */
	uint64_t resume_until_us; /* 0: not begun */
	uint64_t resume_us;       /* when to look again */
	uint64_t adopt_us;        /* when links that nobody heals are looked for */
	struct triad_calm calm;
	uint64_t calm_generation; /* of the fabric that was counted last */
	struct triad_ports_verdicts verdicts;
	uint32_t n;
	struct ports_healed all[PORTS_MAX_HEALED];
};

/* The term in which the agenda is carried out. */
struct ports_term {
	uint64_t number;       /* 0: none */
	uint64_t since_us;     /* when it was first seen */
	uint64_t by_hand_view; /* of the permission in it: see permission.h */
	bool is_synced; /* a majority has had our history and configuration since then */
	bool is_outlived;   /* the history has records of later terms */
	uint64_t n_records; /* the number of the last record in it */
	uint64_t ready_us;  /* when ports_is_ready() was true last; 0: never */
};

/* What was done to ports, here and by other SMs. */
struct ports_records {
	struct triad_history *history;
	struct triad_journal *journal; /* NULL: it could not be opened */
	char journal_path[TRIAD_SOURCE_PATH_SIZE];
	struct triad_replica *replica;
	struct triad_replica_news unwritten; /* received, and not yet in the journal */
	bool has_unwritten;
	char trouble[256]; /* with the journal; "": none */
	uint64_t retry_us; /* when to try it again, with trouble */
};

/* Other SMs: of OpenSM, of the cluster, configured, and those that were there within a
 * day, whether they live or not. */
struct ports_sms {
	struct triad_seen_sms seen;    /* those that OpenSM knows now come first */
	struct triad_seen_sms written; /* in the file */
	char path[TRIAD_SOURCE_PATH_SIZE];
	bool is_of_later; /* a later Triad wrote the file: it stays */
	struct triad_file_report reported;
	uint64_t look_us;     /* when to look again */
	bool without_cluster; /* OpenSM has some, though no cluster is configured */
};

/* What was in the fabric within a day: seen here, or in the last image of any SM. */
struct ports_seen {
	struct triad_seen_switches switches;
	bool has_past; /* the image was read, or there is none; as long as there is a fabric */
	uint64_t wait_until_us; /* how long plans wait for it; 0: they don't */
	char missing[TRIAD_MISSING_SIZE]; /* as of the last plan */
};

/* What was done in steps. */
struct ports_acts {
	bool wants_sweep; /* something changed that a sweep will show */
	struct triad_last_act last;
	/* The last act for which a sweep was requested that shows it, and when. */
	uint64_t asked_for_us, asked_at_us;
	bool was_stopped; /* the agenda was stopped at the last check */
	uint64_t n_sets, n_set_failed, n_unpermitted;
};

struct triad_ports {
	struct osm_opensm *osm;
	uint64_t id;
	struct triad_elector *elector;
	struct triad_recorder *recorder;
	struct triad_log *log;
	struct triad_release release;
	atomic_bool may_hold; /* enabled, and enforcing */
	/* The term in which no test could begin for a while, as of the last step; 0:
	 * none. */
	atomic_uint_least64_t idle_term;

	struct ports_inbox inbox;
	struct triad_task task; /* with the inbox's lock */

	pthread_mutex_t status_lock;      /* guards 'status' */
	struct triad_ports_status status; /* as of the last step */

	pthread_mutex_t lock;          /* guards all that follows; see above */
	const struct triad_conf *conf; /* the defaults before the first one */
	struct triad_source source;
	struct triad_cluster_view view;
	struct triad_fabric *fabric; /* NULL: none, or not master */
	struct triad_placed *placed;
	struct triad_plan *plan;
	struct triad_agenda *agenda;
	uint64_t plan_us; /* how long the plan took */
	struct ports_seen seen;
	bool must_plan;
	bool plan_may_act; /* it was made on a view that shows the last act */
	struct triad_smp *smp;
	struct triad_hold *hold;
	uint64_t reported_generation; /* whose misplaced rows were reported */
	size_t n_misplaced;
	bool is_announced; /* the configuration in force: a majority has it */
	struct ports_records records;
	struct ports_term term;
	struct ports_tests tests;
	struct ports_heal heal;
	struct triad_overrides overrides;
	struct ports_sms sms;
	struct ports_acts acts;
};

/* --- ports.c --- */
/* Passes input to the replica, journals new records, sends the replica's messages. */
void ports_pump(struct triad_ports *ports);
/* Puts the configuration that was left in force, if one was, and reads its files. */
void ports_take_conf(struct triad_ports *ports);
/* Around each call that waits: the first releases 'lock', the second takes it again. */
void ports_begin_wait(struct triad_ports *ports);
void ports_end_wait(struct triad_ports *ports);

/* --- ports_inbox.c --- */
void ports_leave_view(void *context, const struct triad_cluster_view *view);
void ports_leave_payload(
	void *context, uint64_t sender, const void *payload, size_t size);
/* The configuration that was left, which is the caller's; NULL: none was. */
const struct triad_conf *ports_next_conf(struct triad_ports *ports);
/* Each takes what was left; false: nothing was. */
bool ports_next_view(struct triad_ports *ports);
bool ports_next_fabric(struct triad_ports *ports, struct triad_fabric **fabric);
bool ports_next_past(
	struct triad_ports *ports, struct triad_fabric **fabric, uint64_t *wall_us);
bool ports_next_payload(struct triad_ports *ports, struct triad_payload *payload);
bool ports_next_request(struct triad_ports *ports, struct ports_request *request);
/* Copies the newest verdicts on links; false: there are no new ones. */
bool ports_take_verdicts(struct triad_ports *ports);
/* Answers the request, if it is still awaited. */
void ports_end_request(struct triad_ports *ports, const struct ports_request *request);
/* For a command's thread: has the request done, and waits 10 s at most. */
void ports_request(struct triad_ports *ports, struct ports_request *request);
/* With the inbox's lock, after a step. */
void ports_end_first_step(struct triad_ports *ports);
/* In mid-step: waits until members send something, or 'until_us'; false when the thread
 * is to end. */
bool ports_wait_for_members(struct triad_ports *ports, uint64_t until_us);
bool ports_is_ending(struct triad_ports *ports);

/* --- ports_sms.c --- */
/* Reads the file, if it is another one than before. */
void ports_open_sms(struct triad_ports *ports);
/* Brings 'sms' and its file up to date; a new SM makes a plan due. */
void ports_find_sms(struct triad_ports *ports);
/* Whether that is due, though nothing happened. */
bool ports_must_find_sms(const struct triad_ports *ports, uint64_t now_us);

/* --- ports_seen.c --- */
/* Notes what another fabric has; NULL: it is gone. */
void ports_see_fabric(struct triad_ports *ports, const struct triad_fabric *fabric);
/* Takes the last image's fabric, and no longer waits for it once its time is over; each
 * makes a plan due. */
void ports_see_past(struct triad_ports *ports, uint64_t now_us);
/* Says what is missing for the plan that is made of 'input'. */
void ports_find_missing(
	struct triad_ports *ports, const struct triad_plan_input *input);

/* --- ports_look.c --- */
void ports_take_fabric(struct triad_ports *ports, struct triad_fabric *fabric);
/* Another configuration is in force. */
void ports_take_expected(struct triad_ports *ports);
/* Makes a new plan, and publishes which ports may be held. */
void ports_plan(struct triad_ports *ports, uint64_t now_us);
void ports_publish_hold(struct triad_ports *ports);
struct triad_plan_input ports_plan_input(const struct triad_ports *ports);
const char *ports_node_name(const struct triad_ports *ports, uint64_t node_guid);

/* --- ports_term.c --- */
/* Begins and ends the term: a new one begins with the history of a majority. */
void ports_look_at_permission(struct triad_ports *ports);
/* Whether a majority has our history, and confirmed it after 'since_us'.  Here and
 * below, a majority of those that are present, once the operator has confirmed that the
 * missing ones are down. */
bool ports_is_agreed(const struct triad_ports *ports, uint64_t since_us);
/* Whether a majority has the configuration that is in force here, and said so after
 * 'since_us'. */
bool ports_is_config_agreed(const struct triad_ports *ports, uint64_t since_us);
/* Whether this SM enforces and its term has begun, here and with a majority. */
bool ports_is_in_charge(const struct triad_ports *ports);
/* Whether all conditions for acting are met, except permission; if not, no port is
 * changed. */
bool ports_is_ready(const struct triad_ports *ports);
/* The present term, if no test could begin in it for a while; else 0.  It is also 0 in
 * the first seconds of a term, or of a new configuration, when the members have not
 * answered yet. */
uint64_t ports_idle_term(const struct triad_ports *ports, uint64_t now_us);
/* Call it in each step: ports_idle_term() depends on it. */
void ports_note_ready(struct triad_ports *ports, uint64_t now_us);
/* Whether this SM may act now, in the term in which the agenda is carried out. */
bool ports_may_act(struct triad_ports *ports);

/* --- ports_commit.c --- */
void ports_open_journal(struct triad_ports *ports);
/* Writes a record to the journal, and reports trouble once.  'is_last': it is its port's
 * last record; if not, it is of long ago, and here for the list alone.  Returns 0 or an
 * errno. */
int ports_journal(
	struct triad_ports *ports, const struct triad_record *record, bool is_last);
/* Ends trouble that is over, also when no record is to be written. */
void ports_retry_journal(struct triad_ports *ports, uint64_t now_us);
/* Numbers and dates the record, writes it to the journal and sends it to members.
 * Returns 0, EPERM (this SM works in no term) or an errno of the journal. */
int ports_record(struct triad_ports *ports, struct triad_record *record);
/* The same, then waits until a majority has it.  Also returns EPERM (permission has
 * ended), ETIMEDOUT (no majority in 1 s) and ECANCELED (the thread is to end). */
int ports_commit(struct triad_ports *ports, struct triad_record *record);

/* --- ports_mads.c --- */
/* As triad_smp_find_route() and the others, without the lock.  The route avoids the link at the
 * switch's port 'number' (0: it may be any). */
int ports_find_route(struct triad_ports *ports, uint64_t node_guid, uint8_t number,
	struct triad_smp_route *route);
int ports_ask(struct triad_ports *ports, const struct triad_smp_route *route,
	const struct triad_smp_request *request, uint8_t *data, uint16_t *status);
int ports_read_counters(struct triad_ports *ports, uint16_t lid, uint8_t sl,
	uint8_t number, unsigned timeout_ms, struct triad_smp_counts *counts);
int ports_ping(
	struct triad_ports *ports, uint16_t lid, uint8_t sl, unsigned timeout_ms);

/* --- ports_ask.c --- */
/* Before a step: does what a command asked for. */
void ports_answer_request(struct triad_ports *ports);
/* At the end of a step: what commands see until the next one. */
void ports_publish_status(struct triad_ports *ports);

/* --- ports_act.c --- */
/* Does the next thing on the agenda; returns when to come back. */
uint64_t ports_act(struct triad_ports *ports, uint64_t now_us);
/* Requests the sweep that shows the last act; what is planned of what it finds may be done.
 * Returns when to come back. */
uint64_t ports_wait_for_view(struct triad_ports *ports, uint64_t now_us);
/* Asks OpenSM for a heavy sweep, if this SM is the master. */
void ports_ask_for_sweep(struct triad_ports *ports);
/* Takes a link down and up again, so that it can be tested; 'why', for people. */
int ports_bounce(struct triad_ports *ports, uint64_t node_guid, uint8_t number,
	uint64_t remote_guid, enum triad_port_reason reason, const char *why);

/* Has the port of a link in that state (IB_LINK_ARMED, then IB_LINK_ACTIVE), unless it is or is
 * beyond.  Nothing is recorded: it is a part of a test.  Returns 0 or an errno. */
int ports_set_state(struct triad_ports *ports, uint64_t node_guid, uint8_t number,
	uint64_t remote_guid, unsigned state);

/* --- ports_heal.c --- */
/* Does the next thing with each link that is bad; returns when to come back. */
uint64_t ports_run_heal(struct triad_ports *ports, uint64_t now_us);
/* So many links came or went lately that none is taken. */
bool ports_heal_waits(struct triad_ports *ports);
/* Forgets the links that are healed; those that are held stay so. */
void ports_end_heal(struct triad_ports *ports);
/* By hand: lets the link of a port go, which is left alone for a day; 'or_kept': or records that of
 * one that was kept out.  Returns OK, NOTHING or NOT_WRITTEN. */
enum triad_ports_answer ports_release_healed(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number, bool or_kept);
/* By hand: takes the link of a port out of routing, as if it were bad.  Returns OK, NOTHING with 'why', or
 * NOT_WRITTEN. */
enum triad_ports_answer ports_take_by_hand(struct triad_ports *ports,
	uint64_t node_guid, uint8_t number, char why[TRIAD_PORTS_TEXT_SIZE]);
/* By hand: leaves it to whoever holds it.  Returns the same. */
enum triad_ports_answer ports_keep_out(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number);

/* --- ports_test.c --- */
bool ports_has_room_for_test(const struct triad_ports *ports);
/* False: too many tests run, or the port could not be bounced, or the journal could not
 * be written. */
bool ports_begin_test(struct triad_ports *ports, const struct triad_plan_item *item);
/* Passes what a sweep saw to all tests; ends tests of ports that are no longer to be
 * tested. */
void ports_look_at_tests(struct triad_ports *ports, uint64_t now_us);
/* Does what tests request; returns when to come back. */
uint64_t ports_run_tests(struct triad_ports *ports, uint64_t now_us);
struct triad_test_conf ports_test_conf(const struct triad_ports *ports);
/* Carries out a request of the test, but for ADMIT and WAIT, and returns it. */
enum triad_test_request ports_ask_for_test(
	struct triad_ports *ports, struct ports_test *test, uint64_t *until_us);
void ports_end_tests(struct triad_ports *ports);
const struct ports_test *ports_find_test(
	const struct ports_tests *tests, uint64_t node_guid, uint8_t number);

#endif
