/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables of what the plugin's parts count and measure, for commands and Prometheus.
 *
 * Thread-safety: constants. */
#ifndef TRIAD_PLUGIN_FACTS_H
#define TRIAD_PLUGIN_FACTS_H

#include "service/fact.h"

/* Of struct triad_worker_status. */
extern const struct triad_fact triad_topology_facts[];
extern const struct triad_fact triad_snapshot_facts[];

extern const struct triad_fact
	triad_extended_speed_facts[]; /* struct triad_extended_speeds_status */

extern const struct triad_fact triad_shield_facts[]; /* struct triad_shield_status */
extern const struct triad_fact triad_damp_facts[];   /* struct triad_damper_status */
extern const struct triad_fact triad_heal_facts[];   /* struct triad_healer_status */
/* The same, of a plan that is known. */
extern const struct triad_fact triad_heal_plan_facts[];
extern const struct triad_fact triad_repair_facts[]; /* struct triad_rerouter_status */

/* Of struct triad_qos_status. */
extern const struct triad_fact triad_policy_facts[];
extern const struct triad_fact triad_request_facts[];
extern const struct triad_fact triad_answer_facts[];

/* Of struct triad_tables_status. */
extern const struct triad_fact triad_tables_facts[];
extern const struct triad_fact triad_pass_facts[];

/* Of struct triad_elector_status. */
extern const struct triad_fact triad_elector_facts[];
extern const struct triad_fact triad_transport_facts[];

/* Of struct triad_sa_copies_status. */
extern const struct triad_fact triad_sa_record_facts[];
extern const struct triad_fact triad_sa_copy_facts[];

extern const struct triad_fact triad_ports_facts[]; /* struct triad_ports_status */

#endif
