/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A view's counters as text for Prometheus.
 *
 * Model: a generator writes the text in pieces into the caller's buffers.  First come
 * the caller's own metrics, about Triad; then one family after the other, for switches,
 * HCAs and routers.  It keeps only its position, so a text of 150 MB takes a few KiB of
 * memory.  It reads a row when it writes the line, so lines of one port may be of
 * different sweeps.
 *
 * Names, labels and units are those of infiniband_exporter, so that its rules and
 * dashboards work:
 *
 *     infiniband_switch_port_transmit_data_bytes_total{guid="0x...",port="7"}
 *     infiniband_switch_port_rate_bytes_per_second{guid,port}      data alone
 *     infiniband_switch_port_raw_rate_bytes_per_second{guid,port}  with its coding
 *     infiniband_switch_info{guid,lid,switch}
 *     infiniband_switch_uplink_info{guid,port,switch,uplink,uplink_guid,uplink_lid,
 *                                   uplink_port,uplink_type}
 *     infiniband_switch_collect_timeout{collector,guid}  a port of it did not answer
 *     infiniband_exporter_collect_timeouts{collector}    how many of these there are
 *
 * Triad's own are these:
 *
 *     infiniband_switch_up{guid}                 0: it left the fabric
 *     infiniband_switch_port_state{guid,port}    as PortInfo:PortState; 0: its node is
 *                                                gone with a part of the fabric
 *     infiniband_switch_port_physical_state{guid,port}
 *     infiniband_switch_port_best_rate_bytes_per_second{guid,port}  both ends can
 *     infiniband_switch_port_flaps_total{guid,port}  times that its link went down
 *     infiniband_switch_port_routes{guid,port}   pairs of hosts whose path leaves by the
 *                                                port, where routes are checked
 *     infiniband_switch_silenced{guid}           1: alerts about it are to wake nobody;
 *                                                else it is absent
 *     infiniband_switch_port_silenced{guid,port} the same
 *
 * Devices and cables (perfmgr/devices/devices.h); the names for devices are those of
 * infiniband_exporter for the output of ibswinfo:
 *
 *     infiniband_switch_hardware_info{firmware_version,guid,part_number,psid,
 *                                     serial_number,switch}
 *     infiniband_switch_uptime_seconds{guid}
 *     infiniband_switch_temperature_celsius{guid}
 *     infiniband_switch_fan_rpm{fan,guid}
 *     infiniband_switch_fan_status_info{guid,status}                   OK, ERROR
 *     infiniband_switch_power_supply_status_info{guid,psu,status}      OK, ERROR
 *     infiniband_switch_power_supply_dc_power_status_info{guid,psu,status}
 *     infiniband_switch_power_supply_fan_status_info{guid,psu,status}
 *     infiniband_switch_power_supply_watts{guid,psu}
 *     infiniband_switch_port_cable_info{guid,identifier,part,port,revision,serial,
 *                                       technology,vendor}
 *     infiniband_switch_port_cable_length_meters{guid,port}
 *     infiniband_switch_port_cable_temperature_celsius{guid,port}
 *     infiniband_switch_port_cable_voltage_volts{guid,port}
 *     infiniband_switch_port_cable_rx_power_dbm{guid,lane,port}
 *     infiniband_switch_port_cable_tx_power_dbm{guid,lane,port}
 *     infiniband_switch_port_cable_tx_bias_amperes{guid,lane,port}
 *
 * Details are named as in ib/detail.h, those of PortRcvErrorDetails as
 * infiniband_exporter does.  A label 'vl' or 'sl' names the VL or SL of a sample;
 * samples of 0 are omitted.  Lanes are summed up.
 *
 * When a link or a node goes, its state, flaps, silences, names and far ends stay with
 * their last values, until it is forgotten (perfmgr/watch/links.h).
 *
 * HCAs have the same with 'hca' for 'switch'; their rates have no label 'port'.  'guid'
 * is the GUID of the port; at a switch that of port 0, as with ibnetdiscover.  Counters
 * are 64-bit totals; data is in octets.
 *
 * Deviation: routers are there too, as 'router'. Ports without a far end have counters.
 * Raw rates from HDR on, and rates of FDR, are those of the specification.  Nodes have
 * no duration, because a sweep asks all of them at the same time.  Lost MADs are
 * counted elsewhere: triad_mads_timeouts (service/facts.c).
 *
 * Invariants: counters that were never read, or that a port's agent lacks, are absent.
 * Each family is written once at most, and only with a sample.
 *
 * Thread-safety: one thread for each generator.
 * Memory: a generator takes some 10 KiB, with a filter on nodes up to 16 KiB more, and
 * holds a reference on its view, whose engine must outlive it.
 * Source: treydock/infiniband_exporter (names); see exposition.h for the formats. */
#ifndef TRIAD_PERFMGR_METRICS_H
#define TRIAD_PERFMGR_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "perfmgr/devices/devices.h"
#include "perfmgr/formats/exposition.h"
#include "perfmgr/view.h"
#include "perfmgr/watch/links.h"
#include "perfmgr/watch/silences.h"

#define TRIAD_METRIC_LABELS_SIZE 256
#define TRIAD_METRICS_MAX_NODES 8 /* items of a filter */

/* One sample that is not about a port.  Samples of one name are adjacent, and differ in
 * their labels. */
struct triad_metric {
	const char *name; /* without "_total" and "_info"; at most 80 characters */
	const char *help; /* a line of at most 200, without backslash and quotes */
	enum triad_metric_type type;
	double value;
	char labels[TRIAD_METRIC_LABELS_SIZE]; /* name="value",...; or "" */
	const char *part; /* of a histogram: "_bucket", "_sum" or "_count"; else NULL */
};

/* Adds a label, or nothing when it has no room. */
void triad_metric_add_label(
	struct triad_metric *metric, const char *name, const char *value);

/* Which metrics to write.  All 0: everything. */
struct triad_metrics_filter {
	uint32_t counters; /* bit i: counter i; then only these, without rates etc. */
	unsigned types;    /* bit i: enum triad_node_type */
	unsigned n_nodes;  /* any of them */
	struct triad_metrics_node {
		bool is_switch;                     /* must be a switch */
		uint64_t guid;                      /* of the node or its port; 0:
						     * use */
		char pattern[TRIAD_NODE_NAME_SIZE]; /* a shell pattern of its name */
	} nodes[TRIAD_METRICS_MAX_NODES];
};

/* Callbacks that know devices and cables; see triad_devices_read().  Any thread. */
struct triad_metrics_hardware {
	bool (*read)(void *context, uint64_t guid, struct triad_device_known *copy);
	bool (*read_port)(void *context, uint64_t guid, uint8_t number,
		struct triad_cable_known *copy);
	void *context;
};

struct triad_metrics_params {
	enum triad_exposition_format format;
	struct triad_view *view; /* referenced; NULL: there is none */
	const struct triad_metric *own;
	size_t n_own;                   /* copied; names and help are borrowed */
	const struct triad_link *links; /* links that went down; copied */
	uint32_t n_links;
	const struct triad_silences *silences;         /* copied; NULL: none */
	const struct triad_metrics_hardware *hardware; /* copied; NULL: none */
	/* For each port of the view's fabric, pairs of hosts whose path leaves by it;
	 * freed by the generator, also when memory is short.  NULL: not known. */
	uint64_t *routes;
	struct triad_metrics_filter filter;
};

struct triad_metrics;

/* NULL when memory is short. */
struct triad_metrics *triad_metrics_new(const struct triad_metrics_params *params);

/* Accepts NULL. */
void triad_metrics_free(struct triad_metrics *metrics);

/* Writes the next 'size' octets of the text, or the rest of it.  Returns how many; 0 at
 * the end. */
size_t triad_metrics_fill(struct triad_metrics *metrics, char *buffer, size_t size);

#endif
