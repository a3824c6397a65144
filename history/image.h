/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An image: the state of a fabric after a sweep, written as a section of a profile.
 *
 * Model: an image is a section of a profile (perfmgr/formats/profile.h) with all
 * counters, so 'triadctl profile report' and zstdcat read it.  What has no column in a
 * profile is in comments, which other readers ignore:
 *
 *     # triad-image version=1 kind=key sweep=7 generation=3 sm=master ...
 *     # triad-topology HASH SIZE N-OCTETS, then these octets in as many lines as needed:
 *     # triad-octets HEX                  the fabric, as collect/topology_message.h has it
 *     # triad-routes GUID,HASH            of a switch's forwarding tables
 *     # triad-qos GUID,HASH               of a node's SL2VL and VL arbitration tables
 *     # triad-conf KEY VALUE              of triad.conf, where it isn't the default's
 *     # triad-alert HEX ...               history/record.h
 *     # triad-event LINE                  perfmgr/timeline/event.h, since the image before
 *     # triad-output STATUS SIZE table|json COMMAND, then its frames (history/output.h):
 *     # triad-output-octets HEX
 *     # triad-output-left-out table|json COMMAND
 *     # triad-left-out NUMBER             items left out below, besides those in the head
 *     # triad-extra HEX                   of ports and devices: history/extra.h
 *     # triad-list ...                    rows of what commands list: history/kept.h
 *     # triad-quiet GUID,PORT,WHY         the row of a port is old: WHY is unanswered,
 *                                         skipped or apart
 *     # triad-full GUID,PORT,MASK         counters (bit i: counter i) at their maximum
 *
 * A key image has all ports and the topology.  The others have the differences from the
 * last key image, not from the image before.  So any image needs only two frames, and a
 * damaged frame spoils only its own image, unless it is a key.  An image becomes a key
 * when the topology, or a hash of tables, differs from the last key's; and when in the
 * image before more than a quarter of the cables and devices, or of the rows of a list,
 * differed.  Of 'triad-extra', cables and devices are written as differences.  Error
 * rates and details are written completely in each image, but only those with errors:
 * the others are many, and change with each reading.
 *
 * Invariant: a total in an image is the engine's; removing images later does not make
 * the others less precise.
 *
 * Thread-safety: none.  Calls wait for the output's receiver.
 * Memory: 17 octets a port and 8 a node for each key, and the fabric as octets;
 * checked. */
#ifndef TRIAD_HISTORY_IMAGE_H
#define TRIAD_HISTORY_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/topology_message.h"
#include "history/extra.h"
#include "history/kept.h"
#include "history/output.h"
#include "perfmgr/timeline/event.h"
#include "perfmgr/view.h"
#include "perfmgr/watch/alerts.h"
#include "perfmgr/watch/links.h"
#include "triad/conf.h"
#include "triad/output.h"

/* Of the line 'triad-image'. */
#define TRIAD_HISTORY_IMAGE_VERSION 1u

/* The most of each kind in one image; the image counts those left out. */
#define TRIAD_HISTORY_MAX_ALERTS 4096u
#define TRIAD_HISTORY_MAX_LINKS 4096u
#define TRIAD_HISTORY_MAX_EVENTS 1024u
#define TRIAD_HISTORY_MAX_DETAILS 4096u /* attributes of ports */
#define TRIAD_HISTORY_MAX_RATES 4096u

/* Why the row of a port is old, if it is. */
enum triad_history_quiet {
	TRIAD_HISTORY_READ, /* the row is up to date */
	TRIAD_HISTORY_UNANSWERED,
	TRIAD_HISTORY_SKIPPED, /* in a group that is not read */
	TRIAD_HISTORY_APART,   /* it shares no partition with the port that reads */
	TRIAD_HISTORY_N_QUIET
};

/* Steps through the keys of a configuration that images have: those from a file or set
 * by a command, without passwords.  As triad_conf_next(). */
bool triad_history_conf_next(
	const struct triad_conf *conf, struct triad_conf_entry *entry);

/* Facts about the image itself. */
struct triad_history_head {
	bool is_key;
	char sm[16];    /* this SM's state: "master", "standby" */
	uint64_t sweep; /* its number since the start */
	uint64_t generation;
	uint64_t zeroed_us; /* when totals were set to 0 last, wall clock; 0: never */
	struct triad_alerts_counts alerts;
	uint32_t n_left_out; /* alerts, links, events, outputs over their limits */
};

/* Functions that the writer calls for each port and device; NULL: nothing is known.  As
 * those of perfmgr/devices/devices.h and watch/watch.h. */
struct triad_history_sources {
	void *context;
	bool (*read_device)(
		void *context, uint64_t guid, struct triad_device_known *copy);
	bool (*read_cable)(void *context, uint64_t guid, uint8_t port,
		struct triad_cable_known *copy);
	void (*read_bers)(void *context, const struct triad_view *view, uint32_t port,
		struct triad_bers_rate rates[TRIAD_BER_N_KINDS]);
	/* Fills TRIAD_N_KEPT lists for an image of the view; called once for an
	 * image. */
	void (*fill_lists)(void *context, const struct triad_view *view,
		struct triad_kept_list *lists);
	/* Is given the fabric of the last image of any SM, of 'wall_us', when this process
	 * begins to read counters; NULL: there is none. */
	void (*take_past)(void *context, struct triad_fabric *fabric, uint64_t wall_us);
};

/* The contents to write; all is borrowed. */
struct triad_history_image {
	struct triad_history_head head; /* except is_key */
	const struct triad_view *view;
	uint64_t since_us;  /* when the sweep began, monotonic */
	uint64_t wall_us;   /* the same, of the wall clock */
	uint64_t mark;      /* names the sweep: history/answer.h */
	int64_t offset_us;  /* add to monotonic times for the wall clock */
	uint64_t port_guid; /* the port that counters were read from */
	uint64_t started_us, period_us;
	const struct triad_conf *conf; /* in force; NULL: none is written */
	const struct triad_alert *alerts;
	const struct triad_link *links;
	const struct triad_timeline_event *events;
	const struct triad_history_output *outputs;
	const struct triad_kept_list *lists; /* TRIAD_N_KEPT; NULL: none are kept */
	uint32_t n_alerts, n_links, n_events, n_outputs;
	uint64_t events_since_us; /* wall clock; earlier events are left out */
	struct triad_history_sources sources;
};

/* The fabric as octets for key images; made once for all tiers. */
struct triad_history_topology {
	struct triad_fabric *fabric; /* referenced; NULL: none yet */
	struct triad_topology_octets octets;
	uint64_t tables_hash;
};

/* Makes them of 'fabric', unless they are.  Returns 0; or ENOMEM or EOVERFLOW, and
 * then it is empty. */
int triad_history_topology_update(
	struct triad_history_topology *topology, struct triad_fabric *fabric);
void triad_history_topology_clear(struct triad_history_topology *topology);

/* Tables of a node that images have a hash of. */
enum triad_history_tables {
	TRIAD_HISTORY_ROUTES, /* a switch's forwarding tables */
	TRIAD_HISTORY_QOS,    /* SL2VL, VL arbitration, high limit of all ports */
	TRIAD_HISTORY_N_TABLES
};

/* The hash of such tables; 0: the node has none, or they are not known. */
uint64_t triad_history_hash_tables(const struct triad_fabric *fabric,
	const struct triad_fabric_node *node, enum triad_history_tables tables);

/* Hashes of the rows of a list. */
struct triad_history_key_rows {
	uint64_t *hashes;
	uint32_t n;
	size_t room;
};

/* The contents of a tier's last key image, as hashes; zeros: there is none. */
struct triad_history_key {
	uint64_t topology_hash, tables_hash;
	uint32_t n_ports, room, nodes_room;
	uint64_t *rows;    /* a hash of each port's row */
	uint64_t *cables;  /* a hash of each port's cable; 0: none is known */
	uint64_t *devices; /* a hash of each node as a device */
	uint8_t *notes;    /* of each port, while an image is written */
	struct triad_history_key_rows lists[TRIAD_N_KEPT];
};

/* Makes the next image a key. */
void triad_history_key_forget(struct triad_history_key *key);
void triad_history_key_clear(struct triad_history_key *key);

/* Whether the image would be a key. */
bool triad_history_key_is_due(const struct triad_history_key *key,
	const struct triad_history_topology *topology);

/* Writes the image.  Returns 0, with the number of items left out, those of the head
 * included; or an errno, ECANCELED if the output failed: then what was written is no
 * image, and the key is forgotten. */
int triad_history_image_write(const struct triad_history_image *image,
	const struct triad_history_topology *topology, struct triad_history_key *key,
	struct triad_output *output, uint32_t *n_left_out);

#endif
