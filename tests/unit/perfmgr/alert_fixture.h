/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fixture of tests of alerts: that of the collector, and a list of all changes of
 * alerts that it reports. */
#ifndef TRIAD_TESTS_UNIT_PERFMGR_ALERT_FIXTURE_H
#define TRIAD_TESTS_UNIT_PERFMGR_ALERT_FIXTURE_H

#include "perfmgr/watch/alerts.h"
#include "tests/unit/perfmgr/fixture.h"

#define MAX_SEEN 1024 /* changes kept; further ones are only counted */

struct seen {
	enum triad_alert_change change;
	struct triad_alert alert;
};

static struct seen seen[MAX_SEEN];
static unsigned n_seen;
static struct triad_conf *conf;

static inline void take(
	void *context, enum triad_alert_change change, const struct triad_alert *alert)
{
	if (n_seen < MAX_SEEN)
		seen[n_seen] = (struct seen){change, *alert};
	n_seen++;
}

static inline void configure(void)
{
	ck_assert_int_eq(triad_collector_configure(collector, conf), 0);
}

static inline void set(const char *key, const char *value)
{
	struct triad_conf *changed;
	struct triad_diags diags;

	triad_diags_init(&diags, "test");
	ck_assert_msg(!triad_conf_set(conf, key, value, 1, "OpenSM", &diags, &changed),
		"%s = %s", key, value);
	triad_conf_unref(conf);
	conf = changed;
	configure();
}

/* Begins without alerts.  'seen' gets the changes that follow, 'n_seen' their
 * number. */
static inline void set_up_alerts(void)
{
	static const struct triad_alerts_sink sink = {.take = take};

	fixture_sink = &sink;
	n_seen = 0;
	set_up();
	triad_conf_unref(conf);
	conf = triad_conf_new(1);
	conf->alerts.clear_after_s = 15;
	/* Tests that repeat errors check thresholds of counters, not bit error
	 * rates. */
	conf->alerts.ber = false;
	configure();
	sweep(2); /* so that there is an interval */
	ck_assert_uint_eq(n_seen, 0);
}

static inline uint32_t n_active(void)
{
	return triad_watch_status(triad_collector_watch(collector)).alerts.n_active;
}

static inline void expect(unsigned n, enum triad_alert_change change, unsigned cause)
{
	ck_assert_uint_gt(n_seen, n);
	ck_assert_int_eq(seen[n].change, change);
	ck_assert_uint_ge(seen[n].alert.n_findings, 1);
	ck_assert_str_eq(triad_alert_cause_name(seen[n].alert.findings[0].cause),
		triad_alert_cause_name(cause));
}

#endif
