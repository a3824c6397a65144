/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts: problems for the administrator, one alert for each broken component.
 *
 * Model: an alert is about one place: a link, seen from both ends; a port without a far
 * end; a node that does not answer; a part of the fabric that is gone.  Its findings say
 * what is wrong there: a counter at an end that reached its threshold, a link that is down,
 * ports that do not answer.  A dying cable shows symbol errors at both ends and
 * LinkDownedCounter, and the SM loses a rack behind it: that is one alert with several
 * findings.  The most significant one comes first, with its end.  The alert keeps the six
 * most significant findings, and of others only the counters.  Findings at other links of a
 * part that is gone raise no alert.
 *
 *     finding    pending -> raised    at or over its threshold for 'raise_after'
 *                raised  -> over      under 'clear_below' of it for 'clear_after'
 *     alert      raised with its first raised finding, cleared with its last
 *
 * A pending finding that falls under its threshold is dropped.  A link or node that is down
 * for 'forget_after' counts as removed on purpose: its alert is cleared, as "forgotten".
 *
 *     triad_alerts_adopt(alerts, view, now)         a new fabric: what was lost;
 *                                                   settle() after it, too
 *     triad_alerts_begin_sweep(alerts, is_part)
 *     triad_alerts_look(alerts, port, changes, now) each port that a sweep read
 *     triad_alerts_end_sweep(alerts, now)           after them
 *     triad_alerts_settle(alerts, now, &cursor, n)  until it returns false
 *
 * The sink gets alerts in settle(), when all findings are known, and in configure(), when
 * alerts are switched off.
 *
 * Silences (silences.h) suppress notifications.  An alert has the number of the silence
 * that matches it, if any; the sink is called when that begins and ends.
 *
 * A root of congestion is one alert, however many ports wait because of it.  So a finding
 * of PortXmitWait that a root explains is held back: it stays pending, is counted, and is
 * raised when no root explains it any longer.  If it was raised before, it ends.  The
 * search for roots needs some time after a sweep, so new findings of the last sweep are
 * held back until then, but not beyond the next sweep.
 *
 * If the SM reported something near the time at which a finding began, the alert notes
 * it: a trap about the port; for a loss also a trap about the switch, or a heavy sweep.
 *
 * Thread-safety: none; the caller excludes readers from writers.  Memory: at most
 * TRIAD_ALERTS_MAX alerts of some 700 octets, allocated as needed; what does not fit is
 * counted.
 * Source: [monitoring-rfc M2, M6, M11], [perf-manager-arch 3, 4]. */
#ifndef TRIAD_PERFMGR_ALERTS_H
#define TRIAD_PERFMGR_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	TRIAD_ALERT_BER,    /* a bit error rate is over its target */
	TRIAD_ALERT_DETAIL, /* a detail is over its threshold; 'why' has it */
	TRIAD_ALERT_MODULE, /* a cable or module has a fault */
	TRIAD_ALERT_DEVICE, /* a switch or HCA has a fault */
	TRIAD_ALERT_ROUTES, /* the forwarding tables are wrong; this is an example */
	TRIAD_ALERT_CONGESTION, /* a root of congestion: it makes others wait */
	TRIAD_ALERT_N_CAUSES
};
_Static_assert(TRIAD_ALERT_N_CAUSES < 32, "causes are bits of 32");

/* Causes that agents report, as bits: counters, unanswered ports, bit error rates, details,
 * faults of hardware.  Losses are found only where the whole fabric is known. */
#define TRIAD_ALERT_TAKEN                                                              \
	(((2u << TRIAD_ALERT_UNANSWERED) - 1) | 1u << TRIAD_ALERT_BER |                \
		1u << TRIAD_ALERT_DETAIL | 1u << TRIAD_ALERT_MODULE |                  \
		1u << TRIAD_ALERT_DEVICE)

/* What is wrong with routes. */
enum triad_alert_routes {
	TRIAD_ALERT_CREDIT_LOOPS,
	TRIAD_ALERT_MULTICAST_LOOPS,
	TRIAD_ALERT_FORWARDING_LOOPS,
	TRIAD_ALERT_UNREACHABLE_PAIRS,
	TRIAD_ALERT_DEAD_PORTS,
	TRIAD_ALERT_UNREACHABLE_SWITCHES,
	TRIAD_ALERT_TURNS,
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
	bool at_least;  /* the counter stands at its maximum */
	bool judged;    /* the finder has already waited: it is raised, and ends, at
			 * once */
	bool held;      /* of PortXmitWait: a root of congestion explains it, or
			 * still may */
	uint8_t routes; /* of routes: enum triad_alert_routes, whose number is
			 * 'value' */
	/* For a counter that details explain, and for details. */
	struct triad_alert_why why;
	float value, worst; /* in the threshold's terms; ports, for unanswered ones;
			     * a bit error rate, 0: unknown; of hardware, in its unit */
	struct triad_threshold threshold; /* of a counter */
	struct {
		uint8_t kind;    /* enum triad_ber_kind */
		float low, high; /* 'value' is between them, with 95 % confidence */
		float target;
		float in_s; /* the time of the data that decided */
	} ber;              /* of a bit error rate */
	struct {
		uint8_t fault; /* enum triad_hardware_fault; 0: not told */
		uint8_t index;
		float limit;
	} hardware; /* of a module or device */
	struct {
		uint8_t kind;   /* enum triad_congestion_kind */
		uint8_t vl;     /* or TRIAD_CONGESTION_NO_VL */
		float loss_bps; /* at most */
	} congestion;      /* of a root; 'value' is how many ports wait because of it */
	uint64_t since_us; /* when it began */
	uint64_t under_us; /* since when it is under its threshold; 0: it is over it */
};

struct triad_alert_end {
	uint64_t node_guid;
	uint16_t lid;
	uint8_t node_type;
	uint8_t port; /* TRIAD_ALERT_NO_PORT: the node as a whole */
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
	bool forgotten;      /* cleared because it lasted for 'forget_after' */
	bool explained;      /* cleared because a root of congestion explains it */
	uint32_t n_nodes;    /* gone */
	uint32_t n_links;    /* down, of a part that is gone */
	uint64_t raised_us;  /* monotonic, as all times; 0: not yet */
	uint64_t cleared_us; /* 0: not yet */
	struct {
		uint8_t kind; /* enum triad_alert_sm_event */
		uint16_t trap;
		uint64_t at_us;
	} sm;
	uint32_t silence;               /* the number of its silence; 0: none */
	uint64_t silenced_until_us;     /* wall clock */
	struct triad_alert_end ends[2]; /* the first is the first finding's */
	struct triad_alert_finding findings[TRIAD_ALERT_MAX_FINDINGS];
	/* For each end, causes (bit i: cause i) over their thresholds without a finding,
	 * because there was no room and they are less significant. */
	uint32_t more[2];
};

enum triad_alert_change {
	TRIAD_ALERT_RAISED,
	TRIAD_ALERT_JOINED, /* one more finding */
	TRIAD_ALERT_ENDED,
	TRIAD_ALERT_SILENCED, /* while it lasts; if silenced when raised, only RAISED */
	TRIAD_ALERT_UNSILENCED, /* while it is active */
	TRIAD_ALERT_N_CHANGES
};

/* 'alert' is borrowed for the call. */
struct triad_alerts_sink {
	void (*take)(void *context, enum triad_alert_change change,
		const struct triad_alert *alert);
	/* No more for now; called after one take() or more.  May be NULL. */
	void (*done)(void *context);
	void *context;
};

struct triad_alerts_params {
	bool enabled; /* false clears all */
	bool links;   /* links that go down and nodes that leave are alerts */
	uint64_t raise_after_us, clear_after_us, forget_after_us;
	double clear_below;         /* share of the threshold, 0 to 1 */
	unsigned unanswered_sweeps; /* 0: not an alert */
};

struct triad_alerts_counts {
	uint32_t n_active, n_silenced; /* active alerts; of these, silenced ones */
	uint32_t n_explained;          /* findings held back at present */
	uint64_t n_raised, n_cleared;  /* since the beginning */
	uint64_t n_not_kept;           /* findings beyond TRIAD_ALERTS_MAX alerts */
};

struct triad_alerts;
struct triad_silences;

/* Tells which links were taken down on purpose, so that their loss is no alert;
 * 'is_disabled': the port is disabled now.  'took_down' NULL: none. */
struct triad_alerts_intent {
	bool (*took_down)(
		void *context, uint64_t node_guid, uint8_t number, bool is_disabled);
	void *context;
};

/* Causes that finders report (finders.h), which know the whole fabric. */
#define TRIAD_ALERT_OF_OTHERS (1u << TRIAD_ALERT_ROUTES | 1u << TRIAD_ALERT_CONGESTION)

/* NULL when memory is short.  'sink' is copied.  'silences' is borrowed; acknowledgements
 * are removed from it when their alerts end. */
struct triad_alerts *triad_alerts_new(
	const struct triad_alerts_sink *sink, struct triad_silences *silences);
void triad_alerts_free(struct triad_alerts *alerts);

/* 'conf' has the thresholds.  A finding ends when its counter no longer has a threshold,
 * when its port is skipped, or, for a loss, when 'links' is false. */
void triad_alerts_configure(struct triad_alerts *alerts,
	const struct triad_alerts_params *params, const struct triad_conf *conf,
	uint64_t now_us);

void triad_alerts_set_intent(
	struct triad_alerts *alerts, const struct triad_alerts_intent *intent);

/* Sets the view (referenced until the next one); what the last one had and this one lacks
 * becomes an alert.  Returns 0 or ENOMEM; then the last view stays. */
int triad_alerts_adopt(
	struct triad_alerts *alerts, struct triad_view *view, uint64_t now_us);

/* 'is_idle': counters are read elsewhere.  Then findings of sweeps end, losses too, and
 * only those of finders count. */
void triad_alerts_set_idle(struct triad_alerts *alerts, bool is_idle, uint64_t now_us);

/* Adds what a sweep read from 'port' (index in the view's fabric). */
void triad_alerts_look(struct triad_alerts *alerts, uint32_t port,
	const struct triad_engine_changes *changes, uint64_t now_us);

/* Begins a sweep.  'is_part': it is not of all ports, so an agent that answers may have
 * other ports that are silent. */
void triad_alerts_begin_sweep(struct triad_alerts *alerts, bool is_part);

/* The port did not answer in the sweep. */
void triad_alerts_miss(struct triad_alerts *alerts, uint32_t port, uint64_t now_us);

/* Ends a sweep, after look() or miss() for each port that it asked.  'cut': the missed
 * ports could not be asked. */
void triad_alerts_end_sweep(struct triad_alerts *alerts, bool cut, uint64_t now_us);

/* Adds a finding of an agent or finder instead of look(): 'cause' (of TRIAD_ALERT_OF_OTHERS
 * or TRIAD_ALERT_TAKEN; unanswered and device are for the port's node) is over its
 * threshold at 'port', with 'found' (value, at_least, threshold), or no longer is (NULL).
 * triad_alerts_settle() reports it. */
void triad_alerts_take(struct triad_alerts *alerts, uint32_t port, unsigned cause,
	const struct triad_alert_finding *found, uint64_t now_us);
/* Sets the ports whose waiting is explained by roots of congestion: begin() forgets all,
 * explain() adds a port.  'until_us': the end of the sweep that they were found with;
 * UINT64_MAX: roots are not searched for. triad_alerts_settle() reports the effects. */
void triad_alerts_explain_begin(struct triad_alerts *alerts, uint64_t until_us);
void triad_alerts_explain(
	struct triad_alerts *alerts, uint64_t node_guid, uint8_t port);
/* A round of readings by agents has ended; for own sweeps there is
 * triad_alerts_end_sweep(). */
void triad_alerts_note_sweep(struct triad_alerts *alerts, uint64_t now_us);

/* The detail with a finding at 'port'; all 0: there is none. */
struct triad_alert_why triad_alerts_detail(struct triad_alerts *alerts, uint32_t port);
/* Makes the findings at 'port' agree with 'causes' (bit i: cause i): all causes that are
 * over their thresholds there, and whether its node is unanswered.  Adds missing findings
 * and ends others. */
void triad_alerts_match(
	struct triad_alerts *alerts, uint32_t port, uint32_t causes, uint64_t now_us);
/* Raises findings that have lasted, drops those that are over, and reports both: call it
 * after end_sweep(), take(), match() and adopt().  It handles 'most' alerts from '*cursor'
 * on, which is 0 at first, because each is compared with all silences.  Returns false after
 * the last alert. */
bool triad_alerts_settle(
	struct triad_alerts *alerts, uint64_t now_us, uint32_t *cursor, uint32_t most);

/* Silences have changed: reports the alerts concerned.  It handles 'most' alerts from
 * '*cursor' on, as settle() does. */
bool triad_alerts_silence(struct triad_alerts *alerts, uint32_t *cursor, uint32_t most);

/* The SM reported a heavy sweep (trap and lid 0) or a trap about a port. */
void triad_alerts_note_sm(struct triad_alerts *alerts, uint16_t trap, uint16_t lid,
	uint8_t port, uint64_t now_us);

/* --- reading --- */

struct triad_alerts_counts triad_alerts_counts(const struct triad_alerts *alerts);

/* Walks over active alerts, then over those cleared last: copies the first one from
 * '*cursor' (0 at first) on, and moves the cursor past it.  Returns false when there is no
 * more.  It may miss alerts that come or go between two calls. */
bool triad_alerts_next(
	const struct triad_alerts *alerts, uint32_t *cursor, struct triad_alert *copy);

/* "LinkDownedCounter", "unanswered", "link down", "node gone", "bit error rate",
 * "detail", "module", "device", "routes", "congestion" */
const char *triad_alert_cause_name(unsigned cause);

size_t triad_alerts_octets(const struct triad_alerts *alerts);

#endif
