/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of metrics.h, for its own files:
 *
 *     metrics.c           in which order everything is written; life
 *     metrics_families.c  which families there are, and their headers
 *     metrics_lines.c     what each family says of a port
 *     metrics_details.c   the same, for families of details
 *     metrics_devices.c   the same, for those of devices and cables */
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

/* For each kind there is a family for each counter, then some more, then one for each field
 * of details. */
extern const unsigned triad_metrics_n_families;

/* The field of details that a family is about, or NULL. */
const struct triad_detail_field *triad_metrics_detail(unsigned family);

/* After these, the families of devices and cables. */
#define TRIAD_METRICS_N_HARDWARE 16u

struct triad_metrics_hardware_family {
	enum triad_metric_type type;
	const char *name; /* behind "infiniband_switch_" */
	const char *help; /* before the kind */
};

const struct triad_metrics_hardware_family *triad_metrics_hardware_family(
	unsigned rank);

/* Whether the family is one of them; '*rank' is its number there. */
bool triad_metrics_is_hardware(unsigned family, unsigned *rank);

/* Writes the family's lines for a port. */
void triad_metrics_put_hardware(struct triad_metrics *metrics,
	struct triad_exposition *writer, unsigned rank, uint32_t index);

/* Where the text is. */
enum stage { OWN, PORTS, GONE_PORTS, TOTALS, END, DONE };

struct triad_metrics {
	enum triad_exposition_format format;
	struct triad_view *view;
	struct triad_metrics_filter filter;
	struct triad_lost_links lost;
	struct triad_silences *silences;        /* NULL: none */
	struct triad_metrics_hardware hardware; /* 'read' is NULL: nobody knows */
	uint64_t *routes;                       /* of each port; NULL: not known */
	uint8_t *wanted; /* selected nodes, a bit each; NULL: all */
	struct triad_metric *own;
	size_t n_own;
	/* where it stands */
	enum stage stage;
	size_t next_own;
	unsigned kind, family;
	uint32_t port, gone;                /* of the fabric; of 'lost' */
	bool has_header;                    /* of the family */
	char name[TRIAD_METRICS_NAME_SIZE]; /* of the family */
	uint64_t guid; /* that 'prefix' has, when it has a length */
	char prefix[2 * TRIAD_METRICS_NAME_SIZE];
	size_t prefix_length;
	uint32_t n_asked[TRIAD_METRICS_N_KINDS],
		n_silent[TRIAD_METRICS_N_KINDS]; /* samples of TIMEOUT, those at 1 */
	/* what was written and has not been handed over */
	size_t pending_at, pending_size;
	char pending[TRIAD_METRICS_STEP_SIZE];
};

/* Prepares the present family: its name, and the part of a line that does not depend on the
 * port. */
void triad_metrics_begin_family(struct triad_metrics *metrics);

/* Writes the header of the present family, before its first line. */
void triad_metrics_put_family_header(
	struct triad_metrics *metrics, struct triad_exposition *writer);

/* Writes the name and '{guid="0x..."', which are the same for all ports of a switch. */
void triad_metrics_put_prefix(struct triad_metrics *metrics,
	struct triad_exposition *writer, uint64_t guid, const char *suffix);

/* Writes the lines of a family of details for a port. */
void triad_metrics_put_detail(
	struct triad_metrics *metrics, struct triad_exposition *writer, uint32_t index);

/* Writes the header of a family, before its first line. */
void triad_metrics_put_header(struct triad_metrics *metrics,
	struct triad_exposition *writer, enum triad_metric_type type, const char *help);

/* Writes the family's lines for a port, often none. */
void triad_metrics_put_port(
	struct triad_metrics *metrics, struct triad_exposition *writer, uint32_t index);

/* The same for the end of a link whose port left the fabric; 'is_first': the first one of
 * its node. */
void triad_metrics_put_gone(struct triad_metrics *metrics,
	struct triad_exposition *writer, const struct triad_lost_end *gone,
	bool is_first);

#endif
