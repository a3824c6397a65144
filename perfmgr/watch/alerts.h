/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts: one for each thing that broke, for an administrator to look at.
 *
 * Model: an alert is about one place: a link, seen from both ends; a port without a far
 * end; a node that does not answer; a part of the fabric that is gone.  Its findings
 * say what is wrong there: a counter at an end that reached its threshold, a link that
 * is down, ports that are unanswered.  A dying cable shows symbol errors at both ends
 * and LinkDownedCounter, and the SM loses a rack behind it: that is one alert with
 * several findings.  The most important finding comes first, with its end.  The alert
 * keeps the six most important findings; of others only which counters they are.
 * Findings at other links of a lost part raise no alert.
 *
 *     finding    pending -> raised    at or over its threshold for 'raise_after'
 *                raised  -> over      under 'clear_below' of it for 'clear_after'
 *     alert      raised with its first raised finding, cleared with its last
 *
 * A pending finding that falls under its threshold is forgotten.  What stays down for
 * 'forget_after' counts as removed on purpose: its alert is cleared as "forgotten".
 *
 *     triad_alerts_adopt(alerts, view, now)         a new fabric: what was lost;
 *                                                   settle() after it, too
 *     triad_alerts_begin_sweep(alerts, is_part)
 *     triad_alerts_look(alerts, port, changes, now) each port that a sweep read
 *     triad_alerts_end_sweep(alerts, now)           after them
 *     triad_alerts_settle(alerts, now, &cursor, n)  until it returns false
 *
 * settle() calls the sink, when all findings are known.  So do silence(), and
 * configure() when alerts are switched off.
 *
 * Silences (silences.h) say which alerts shall wake nobody.  An alert has the number of
 * the silence that fits it, if any; the sink gets to know when that begins and ends.
 *
 * A root of congestion is one alert, however many ports wait because of it.  A finding
 * of PortXmitWait that a root explains is held back: it stays pending, is counted, and
 * is raised when no root explains it any longer.  One that was raised before is over
 * for its alert.  The search for roots ends a moment after the sweep.  So findings that
 * are new in the last sweep are held back until then, at most until the next sweep.
 *
 * If the SM reported something near the time at which a finding began, the alert notes
 * it: a trap about the port; for a loss also a trap about the switch, or a heavy sweep.
 *
 * Thread-safety: none; the caller excludes readers from writers.
 * Memory: at most TRIAD_ALERTS_MAX alerts of some 700 octets, allocated as needed;
 * findings that find no room are counted.
 * Source: [monitoring-rfc M2, M6, M11], [perf-manager-arch 3, 4]. */
#ifndef TRIAD_PERFMGR_ALERTS_H
#define TRIAD_PERFMGR_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/link.h"
#include "perfmgr/devices/fault.h"
#include "perfmgr/engine.h"
#include "perfmgr/view.h"
#include "perfmgr/watch/alert_why.h"
#include "triad/conf.h"

#define TRIAD_ALERTS_MAX 65536u
#define TRIAD_ALERTS_MAX_CLEARED 256u /* kept for display */
#define TRIAD_ALERT_MAX_FINDINGS 6u
#define TRIAD_ALERT_NO_PORT 255u

/* The cause of a finding: a counter (enum triad_counter) or one of these. */
enum triad_alert_cause {
	TRIAD_ALERT_UNANSWERED = TRIAD_N_COUNTERS,
	TRIAD_ALERT_LINK_DOWN,
	TRIAD_ALERT_NODE_GONE,
	TRIAD_ALERT_BER,        /* a bit error rate is over its target */
	TRIAD_ALERT_DETAIL,     /* a detail is over its threshold; 'why' says which */
	TRIAD_ALERT_MODULE,     /* a cable or module has a fault */
	TRIAD_ALERT_DEVICE,     /* a switch or HCA has a fault */
	TRIAD_ALERT_ROUTES,     /* the SM's work is wrong or in danger, seen here */
	TRIAD_ALERT_CONGESTION, /* a root: it makes others wait */
	TRIAD_ALERT_SLOW_LINK,  /* a link is slower than it should be */
	TRIAD_ALERT_N_CAUSES
};
_Static_assert(TRIAD_ALERT_N_CAUSES <= 32, "causes are bits of 32");

/* Causes (bits) that other processes may report: counters, unanswered ports, bit error
 * rates, details, faults of hardware.  Losses are found where the whole fabric is
 * known. */
#define TRIAD_ALERT_TAKEN                                                              \
	(((2u << TRIAD_ALERT_UNANSWERED) - 1) | 1u << TRIAD_ALERT_BER |                \
		1u << TRIAD_ALERT_DETAIL | 1u << TRIAD_ALERT_MODULE |                  \
		1u << TRIAD_ALERT_DEVICE)

/* What is wrong with the forwarding tables, or else with what the SM does. */
enum triad_alert_routes {
	TRIAD_ALERT_CREDIT_LOOPS,
	TRIAD_ALERT_MULTICAST_LOOPS,
	TRIAD_ALERT_FORWARDING_LOOPS,
	TRIAD_ALERT_UNREACHABLE_PAIRS,
	TRIAD_ALERT_DEAD_PORTS,
	TRIAD_ALERT_UNREACHABLE_SWITCHES,
	TRIAD_ALERT_TURNS,
	TRIAD_ALERT_DEVICE_TABLES, /* devices have other tables than the SM wants */
	TRIAD_ALERT_REQUESTS,      /* it asks the SA for what can end OpenSM */
	TRIAD_ALERT_HELD_LINKS,    /* held out of routing */
	TRIAD_ALERT_STAYS_OUT,     /* links that stay out of it */
	TRIAD_ALERT_N_ROUTES
};

static inline bool triad_alert_is_loss(unsigned cause)
{
	return cause == TRIAD_ALERT_LINK_DOWN || cause == TRIAD_ALERT_NODE_GONE;
}

enum triad_alert_state {
	TRIAD_ALERT_PENDING,
	TRIAD_ALERT_ACTIVE,
	TRIAD_ALERT_CLEARED,
};

struct triad_alert_finding {
	uint8_t cause; /* enum triad_alert_cause */
	uint8_t end;   /* index in the alert's ends */
	bool raised;
	bool at_least; /* the counter is at its maximum */
	bool judged;   /* its finder has waited: raise or end it at once */
	bool held : 1; /* of PortXmitWait: a root of congestion explains it, or may */
	uint8_t trouble : 3; /* of unanswered ports: enum triad_pma_trouble_kind */
	uint8_t routes; /* of routes: enum triad_alert_routes; 'value' counts these */
	/* Of a counter that details explain, or of a detail. */
	struct triad_alert_why why;
	uint16_t replies_from; /* of TRIAD_PMA_ELSEWHERE: that LID */
	float value, worst;    /* in the threshold's unit; unanswered ports; a bit error
	                     * rate, 0: not reported; of hardware, in its unit; of a
	                     * loss, how often it was lost since 'since_us' */
	struct triad_threshold threshold; /* of a counter */
	struct {
		uint8_t kind;    /* enum triad_ber_kind */
		float low, high; /* 'value' is between them, with 95 % confidence */
		float target;
		float in_s; /* seconds of data that decided */
	} ber;              /* of a bit error rate */
	struct {
		uint8_t fault; /* enum triad_hardware_fault; 0: not reported */
		uint8_t index;
		float limit;
	} hardware; /* of a module or device */
	struct {
		uint8_t kind;   /* enum triad_congestion_kind */
		uint8_t vl;     /* or TRIAD_CONGESTION_NO_VL */
		float loss_bps; /* at most */
	} congestion; /* of a root; 'value' is how many ports wait because of it */
	struct {
		uint8_t kind;                          /* enum triad_slow_link_kind */
		struct triad_link_rate rate, expected; /* 0: not reported */
	} slow; /* of a slow link; 'value' is how many links are so, this among them */
	uint64_t since_us; /* when it began */
	uint64_t under_us; /* when it fell under its threshold; 0: it is not */
};

struct triad_alert_end {
	uint64_t node_guid;
	uint16_t lid;
	uint8_t node_type;
	uint8_t port; /* TRIAD_ALERT_NO_PORT: the node as a whole */
	/* enum triad_port_condition: of a link that is down, that of a port that is left;
	 * else 0.  Images do not keep it. */
	uint8_t condition;
	/* Of the node's label in the present fabric (ib/node_label.h), as copies have it
	 * for texts.  Images do not keep it. */
	uint8_t label_digits;
	char node_name[TRIAD_NODE_NAME_SIZE];
};

enum triad_alert_sm_event {
	TRIAD_ALERT_SM_NOTHING,
	TRIAD_ALERT_SM_SWEEP, /* a heavy sweep */
	TRIAD_ALERT_SM_TRAP,
};

struct triad_alert {
	uint64_t id;   /* from 1 on, in the order they were raised */
	uint8_t state; /* enum triad_alert_state */
	uint8_t n_ends;
	uint8_t n_findings;
	bool forgotten;      /* cleared because it lasted too long */
	bool explained;      /* cleared because a root of congestion explains it */
	uint32_t n_nodes;    /* gone */
	uint32_t n_links;    /* down, of a part that is gone */
	uint64_t raised_us;  /* monotonic, as all times; 0: not yet */
	uint64_t lost_us;    /* the last loss; 0: none, or not known */
	uint64_t cleared_us; /* 0: not yet */
	struct {
		uint8_t kind; /* enum triad_alert_sm_event */
		uint16_t trap;
		uint64_t at_us;
	} sm;
	uint32_t silence;               /* number of its silence; 0: none */
	uint64_t silenced_until_us;     /* wall clock */
	struct triad_alert_end ends[2]; /* the first finding's end is first */
	struct triad_alert_finding findings[TRIAD_ALERT_MAX_FINDINGS];
	/* Causes (bit i: cause i) over their thresholds at each end that are less
	 * important than the findings, and found no room among them. */
	uint32_t more[2];
};

enum triad_alert_change {
	TRIAD_ALERT_RAISED,
	TRIAD_ALERT_JOINED, /* one more finding */
	TRIAD_ALERT_ENDED,
	TRIAD_ALERT_SILENCED,   /* an active alert; a new one is only RAISED */
	TRIAD_ALERT_UNSILENCED, /* an active alert */
	TRIAD_ALERT_RESTORED,   /* active before this process looked: no news */
	TRIAD_ALERT_N_CHANGES
};

/* 'alert' is borrowed for the call. */
struct triad_alerts_sink {
	void (*take)(void *context, enum triad_alert_change change,
		const struct triad_alert *alert);
	/* All of this round was reported; called after one take() or more.  May be
	 * NULL. */
	void (*done)(void *context);
	void *context;
};

struct triad_alerts_params {
	bool enabled; /* false clears all */
	bool links;   /* links down, nodes gone and slow links raise alerts */
	uint64_t raise_after_us, clear_after_us, forget_after_us;
	double clear_below;         /* share of the threshold, 0 to 1 */
	unsigned unanswered_sweeps; /* 0: no alert */
};

struct triad_alerts_counts {
	uint32_t n_active, n_silenced; /* of n_active */
	uint32_t n_explained;          /* findings held back at present */
	uint64_t n_raised, n_cleared;  /* since the beginning */
	uint64_t n_not_kept;           /* findings that got no alert: too many, or no
	                                * memory */
};

struct triad_alerts;
struct triad_silences;

/* Knows who takes links down on purpose: such a loss is no alert.  'is_disabled' says
 * that the port is disabled now.  'took_down' NULL: nobody does. */
struct triad_alerts_intent {
	bool (*took_down)(
		void *context, uint64_t node_guid, uint8_t number, bool is_disabled);
	void *context;
};

/* Causes (bits) that finders report, which know the whole fabric. */
#define TRIAD_ALERT_OF_OTHERS                                                          \
	(1u << TRIAD_ALERT_ROUTES | 1u << TRIAD_ALERT_CONGESTION |                     \
		1u << TRIAD_ALERT_SLOW_LINK)

/* NULL when memory is short.  Copies 'sink'.  Borrows 'silences', and removes from it
 * acknowledgements whose alerts end. */
struct triad_alerts *triad_alerts_new(
	const struct triad_alerts_sink *sink, struct triad_silences *silences);
void triad_alerts_free(struct triad_alerts *alerts);

/* 'conf' gives the thresholds.  A finding is over when its counter has no threshold any
 * longer, when its port is skipped, or, for a loss, when 'links' is false. */
void triad_alerts_configure(struct triad_alerts *alerts,
	const struct triad_alerts_params *params, const struct triad_conf *conf,
	uint64_t now_us);

void triad_alerts_set_intent(
	struct triad_alerts *alerts, const struct triad_alerts_intent *intent);

/* Looks at the ports of 'view' (referenced until the next one) from now on; what the
 * last view had and this one lacks is a loss.  Returns 0, or ENOMEM and keeps the last
 * view. */
int triad_alerts_adopt(
	struct triad_alerts *alerts, struct triad_view *view, uint64_t now_us);

/* Goes on from what was known before this process looked, or while another one did: 'past' is
 * the view then (referenced), 'known' its alerts.  Active ones become active here, with their
 * numbers and times, and are RESTORED to the sink; what 'past' had and the present view, if
 * there is one, lacks is a loss.  What finders, devices and statistics of bit errors find is
 * left out: they find it again, and would not know that it is over.  Returns 0, or ENOMEM: some
 * may be missing. */
int triad_alerts_restore(struct triad_alerts *alerts, struct triad_view *past,
	const struct triad_alert *known, uint32_t n, uint64_t now_us);

/* 'is_idle': other processes read the counters.  Findings of sweeps are over, losses
 * too; only those of finders stay. */
void triad_alerts_set_idle(struct triad_alerts *alerts, bool is_idle, uint64_t now_us);

/* Adds what a sweep read from 'port' (index in the view's fabric). */
void triad_alerts_look(struct triad_alerts *alerts, uint32_t port,
	const struct triad_engine_changes *changes, uint64_t now_us);

/* A sweep begins.  'is_part': it is not of all ports, so a node that answers may still
 * have silent ports. */
void triad_alerts_begin_sweep(struct triad_alerts *alerts, bool is_part);

/* The port did not answer in the sweep. */
void triad_alerts_miss(struct triad_alerts *alerts, uint32_t port, uint64_t now_us);

/* Why the ports of the port's node are unanswered, if any are. */
void triad_alerts_note_trouble(
	struct triad_alerts *alerts, uint32_t port, struct triad_pma_trouble trouble);

/* All ports that the sweep asked have been given to look() or miss().  'cut': the
 * missed ones could not be asked, so they are not silent. */
void triad_alerts_end_sweep(struct triad_alerts *alerts, bool cut, uint64_t now_us);

/* Takes a finding of another process, or of a finder.  'cause' is of TRIAD_ALERT_TAKEN
 * or TRIAD_ALERT_OF_OTHERS; unanswered and device are about the port's node.  'found'
 * has the value and what belongs to the cause: the cause is over its threshold at
 * 'port'; NULL: it no longer is.  triad_alerts_settle() reports it. */
void triad_alerts_take(struct triad_alerts *alerts, uint32_t port, unsigned cause,
	const struct triad_alert_finding *found, uint64_t now_us);
/* Says which ports' waiting a root of congestion explains: begin() forgets all,
 * explain() adds a port.  'until_us' is the end of the sweep whose roots are known;
 * UINT64_MAX: nobody looks for roots.  triad_alerts_settle() applies it. */
void triad_alerts_explain_begin(struct triad_alerts *alerts, uint64_t until_us);
void triad_alerts_explain(
	struct triad_alerts *alerts, uint64_t node_guid, uint8_t port);
/* A round that other processes read has ended; triad_alerts_end_sweep() does this for a
 * sweep. */
void triad_alerts_note_sweep(struct triad_alerts *alerts, uint64_t now_us);

/* The detail with a finding at 'port'; all 0: there is none. */
struct triad_alert_why triad_alerts_detail(struct triad_alerts *alerts, uint32_t port);
/* 'causes' (bit i: cause i) are all that are over their thresholds at 'port', and
 * whether its node is unanswered: begins and ends findings to match. */
void triad_alerts_match(
	struct triad_alerts *alerts, uint32_t port, uint32_t causes, uint64_t now_us);
/* Raises what has lasted, drops what is over, and reports both to the sink: after
 * end_sweep(), take(), match() and adopt().  Looks at 'most' alerts from '*cursor' on
 * (0 at first), because each is compared with all silences.  Returns false when it has
 * looked at the last one. */
bool triad_alerts_settle(
	struct triad_alerts *alerts, uint64_t now_us, uint32_t *cursor, uint32_t most);

/* Silences have changed: reports the alerts that this concerns to the sink.  Looks at
 * 'most' alerts from '*cursor' on, as settle() does. */
bool triad_alerts_silence(struct triad_alerts *alerts, uint32_t *cursor, uint32_t most);

/* The SM reported a heavy sweep (trap and lid 0) or a trap about a port. */
void triad_alerts_note_sm(struct triad_alerts *alerts, uint16_t trap, uint16_t lid,
	uint8_t port, uint64_t now_us);

/* --- reading --- */

struct triad_alerts_counts triad_alerts_counts(const struct triad_alerts *alerts);

/* Walks over active alerts, then over those cleared last: copies the first one at or
 * after '*cursor' (0 at first), and moves the cursor past it.  Returns false when there
 * is no more.  May miss one that comes or goes between two calls. */
bool triad_alerts_next(
	const struct triad_alerts *alerts, uint32_t *cursor, struct triad_alert *copy);

/* "LinkDownedCounter", "unanswered", "link down", "node gone", "bit error rate",
 * "detail", "module", "device", "routes", "congestion", "slow link" */
const char *triad_alert_cause_name(unsigned cause);

/* The ports of an alert's end, '*n' from the index that is returned on: one, or all of a
 * node.  TRIAD_FABRIC_NONE, and 0 of them: they have left. */
uint32_t triad_alert_end_ports(const struct triad_fabric *fabric,
	const struct triad_alert_end *end, uint32_t *n);

size_t triad_alerts_octets(const struct triad_alerts *alerts);

#endif
