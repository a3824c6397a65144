/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables of what the service's parts count and measure, for 'status' and Prometheus.
 *
 * Thread-safety: constants. */
#ifndef TRIAD_SERVICE_FACTS_H
#define TRIAD_SERVICE_FACTS_H

#include "service/fact.h"

/* Of struct triad_collector_status. */
extern const struct triad_fact triad_sweep_facts[];
extern const struct triad_fact triad_mad_facts[];
extern const struct triad_fact triad_stranger_facts[];

extern const struct triad_fact triad_watch_facts[];     /* struct triad_watch_status */
extern const struct triad_fact triad_look_facts[];      /* the same, of its work */
extern const struct triad_fact triad_alert_log_facts[]; /* triad_alert_log_status */
extern const struct triad_fact triad_webhook_facts[];   /* triad_webhook_status */
extern const struct triad_fact triad_history_facts[];   /* triad_recorder_status */
extern const struct triad_fact triad_image_facts[];     /* triad_history_status */
extern const struct triad_fact triad_copy_facts[];    /* triad_history_mirror_status */
extern const struct triad_fact triad_device_facts[];  /* triad_device_reader_status */
extern const struct triad_fact triad_speed_facts[];   /* triad_speeds_counts */
extern const struct triad_fact triad_sa_facts[];      /* triad_sa_source_status */
extern const struct triad_fact triad_http_facts[];    /* triad_http_status */
extern const struct triad_fact triad_web_facts[];     /* triad_web_status */
extern const struct triad_fact triad_profile_facts[]; /* triad_profile_status */
extern const struct triad_fact triad_sflow_facts[];   /* triad_sflow_sender_status */
extern const struct triad_fact triad_control_facts[]; /* triad_control_status */

/* Of struct triad_collect_status. Agents and managers both show the first three tables.
 * triad_collect_metrics is for Prometheus alone, in another order. The last two are for
 * agents and for managers. */
extern const struct triad_fact triad_bus_facts[];
extern const struct triad_fact triad_member_facts[];
extern const struct triad_fact triad_message_facts[];
extern const struct triad_fact triad_collect_metrics[];
extern const struct triad_fact triad_agent_facts[];
extern const struct triad_fact triad_manager_facts[];

#endif
