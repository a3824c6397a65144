/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state that the files of metrics.h share; nothing else includes this.
 *
 *     metrics.c           order of everything; life
 *     metrics_families.c  the families, and their headers
 *     metrics_lines.c     lines of counters, links and nodes
 *     metrics_details.c   lines of details
 *     metrics_devices.c   lines of devices and cables */
#ifndef TRIAD_PERFMGR_METRICS_PARTS_H
#define TRIAD_PERFMGR_METRICS_PARTS_H

#include "perfmgr/formats/lost_links.h"
#include "perfmgr/formats/metrics.h"

/* The most that one step writes: a header and a line with two node names, each octet of
 * them escaped, or with labels of the caller's; or a line for each VL of a port. */
#define TRIAD_METRICS_STEP_SIZE 4096
#define TRIAD_METRICS_NAME_SIZE 96
#define TRIAD_METRICS_N_KINDS 3u

struct triad_metrics_kind {
	enum triad_node_type type;
	const char *name;
};

extern const struct triad_metrics_kind triad_metrics_kinds[TRIAD_METRICS_N_KINDS];

/* The number of families of each kind: one for each counter, then some more, then one
 * for each detail field, then devices and cables. */
extern const unsigned triad_metrics_n_families;

/* The detail field of a family, or NULL. */
const struct triad_detail_field *triad_metrics_detail(unsigned family);

/* Families of devices and cables, which come last. */
#define TRIAD_METRICS_N_HARDWARE 16u

struct triad_metrics_hardware_family {
	enum triad_metric_type type;
	const char *name; /* after "infiniband_switch_" */
	const char *help; /* before the kind */
};

const struct triad_metrics_hardware_family *triad_metrics_hardware_family(
	unsigned rank);

/* Whether the family is of devices or cables; '*rank' is its number among these. */
bool triad_metrics_is_hardware(unsigned family, unsigned *rank);

/* Writes the lines of a device or cable family for a port. */
void triad_metrics_put_hardware(struct triad_metrics *metrics,
	struct triad_exposition *writer, unsigned rank, uint32_t index);

/* The part of the text that is written next. */
enum stage { OWN, PORTS, GONE_PORTS, TOTALS, END, DONE };

struct triad_metrics {
	enum triad_exposition_format format;
	struct triad_view *view;
	struct triad_metrics_filter filter;
	struct triad_lost_links lost;
	struct triad_silences *silences;        /* NULL: none */
	struct triad_metrics_hardware hardware; /* 'read' is NULL: none */
	uint64_t *routes;                       /* of each port; NULL: not known */
	uint8_t *wanted; /* selected nodes, a bit each; NULL: all */
	struct triad_metric *own;
	size_t n_own;
	/* the position */
	enum stage stage;
	size_t next_own;
	unsigned kind, family;
	uint32_t port, gone;                /* of the fabric; of 'lost' */
	bool has_header;                    /* of the family */
	char name[TRIAD_METRICS_NAME_SIZE]; /* of the family */
	uint64_t guid; /* the GUID in 'prefix', if that has a length */
	char prefix[2 * TRIAD_METRICS_NAME_SIZE];
	size_t prefix_length;
	uint32_t n_asked[TRIAD_METRICS_N_KINDS],
		n_silent[TRIAD_METRICS_N_KINDS]; /* samples of TIMEOUT, and those that are
		                                  * 1 */
	/* text written but not yet given to the caller */
	size_t pending_at, pending_size;
	char pending[TRIAD_METRICS_STEP_SIZE];
};

/* Prepares the present family: its name, and the part of a line that is the same for
 * all ports. */
void triad_metrics_begin_family(struct triad_metrics *metrics);

/* Writes the header of the present family, before its first line. */
void triad_metrics_put_family_header(
	struct triad_metrics *metrics, struct triad_exposition *writer);

/* Writes the name and '{guid="0x..."': the same for all ports of a switch. */
void triad_metrics_put_prefix(struct triad_metrics *metrics,
	struct triad_exposition *writer, uint64_t guid, const char *suffix);

/* Writes the lines of a detail family for a port. */
void triad_metrics_put_detail(
	struct triad_metrics *metrics, struct triad_exposition *writer, uint32_t index);

/* Writes the header of a family, before its first line. */
void triad_metrics_put_header(struct triad_metrics *metrics,
	struct triad_exposition *writer, enum triad_metric_type type, const char *help);

/* Writes the present family's lines for a port; often there are none. */
void triad_metrics_put_port(
	struct triad_metrics *metrics, struct triad_exposition *writer, uint32_t index);

/* The same for the end of a link whose port left the fabric; 'is_first': it is the
 * first one of its node. */
void triad_metrics_put_gone(struct triad_metrics *metrics,
	struct triad_exposition *writer, const struct triad_lost_end *gone,
	bool is_first);

#endif
