/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An image: what is known of a fabric after a sweep, written as a frame of a profile.
 *
 * Model: an image is a section of a profile (perfmgr/formats/profile.h) with all
 * counters, so 'triadctl profile report' and zstdcat read it. What a profile has no
 * column for stands in comments, which other readers ignore:
 *
 *     # triad-image version=1 kind=key sweep=7 generation=3 sm=master ...
 *     # triad-topology HASH SIZE PACKED-SIZE, then its octets in as many lines as needed:
 *     # triad-octets HEX                  the fabric, as collect/topology_message.h has it
 *     # triad-routes GUID,HASH            of a switch's forwarding tables
 *     # triad-qos GUID,HASH               of a node's SL2VL and VL arbitration tables
 *     # triad-conf KEY VALUE              of triad.conf, where it isn't the default's
 *     # triad-alert HEX ...               history/record.h
 *     # triad-event LINE                  perfmgr/timeline/event.h, since the image before
 *     # triad-output STATUS SIZE table|json COMMAND, then its frames (history/output.h):
 *     # triad-output-octets HEX
 *     # triad-output-left-out table|json COMMAND
 *     # triad-left-out NUMBER             of what follows, besides the head's
 *     # triad-extra HEX                   of ports and devices: history/extra.h
 *     # triad-list ...                    rows of what commands list: history/kept.h
 *     # triad-quiet GUID,PORT,WHY         what the row of a port has is old: WHY is
 *                                         unanswered, skipped or apart
 *     # triad-full GUID,PORT,MASK         counters (bit i: counter i) at their maximum
 *
 * A key image has all ports and the topology.  The others have what differs from the
 * last key image, not from the image before: so two frames give any image, and a damaged
 * one harms itself alone.  An image is a key when the topology or those tables differ
 * from the last key's, and after one in which more than a quarter of the cables and
 * devices do, or of the rows of a list.  Of 'triad-extra', cables and devices are such
 * differences; error rates and details are in each image as a whole, those with errors: the
 * others are many, and change with each reading.
 *
 * Invariant: a total in an image is what the engine had; leaving images out later loses
 * no precision of those that stay.
 *
 * Thread-safety: none.  Calls wait for the disk, as frame_writer.h does.
 * Memory: 17 octets a port and 8 a node for each key, and a packed topology; checked. */
#ifndef TRIAD_HISTORY_IMAGE_H
#define TRIAD_HISTORY_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/topology_message.h"
#include "history/extra.h"
#include "history/kept.h"
#include "history/output.h"
#include "perfmgr/export/frame_writer.h"
#include "perfmgr/timeline/event.h"
#include "perfmgr/view.h"
#include "perfmgr/watch/alerts.h"
#include "perfmgr/watch/links.h"
#include "triad/conf.h"

/* Of the line 'triad-image'. */
#define TRIAD_HISTORY_IMAGE_VERSION 1u

/* Of each kind, in one image; what is left out is counted there. */
#define TRIAD_HISTORY_MAX_ALERTS 4096u
#define TRIAD_HISTORY_MAX_LINKS 4096u
#define TRIAD_HISTORY_MAX_EVENTS 1024u
#define TRIAD_HISTORY_MAX_DETAILS 4096u /* attributes of ports */
#define TRIAD_HISTORY_MAX_RATES 4096u

/* Why the row of a port is old. */
enum triad_history_quiet {
	TRIAD_HISTORY_READ, /* it isn't */
	TRIAD_HISTORY_UNANSWERED,
	TRIAD_HISTORY_SKIPPED, /* in a group that is left out */
	TRIAD_HISTORY_APART,   /* it shares no partition with the port that reads */
	TRIAD_HISTORY_N_QUIET
};

/* Steps through the keys of a configuration that images have: those of a file or that
 * were set, without passwords.  As triad_conf_next(). */
bool triad_history_conf_next(
	const struct triad_conf *conf, struct triad_conf_entry *entry);

/* What an image says about itself. */
struct triad_history_head {
	bool is_key;
	char sm[16];    /* what this SM was: "master", "standby" */
	uint64_t sweep; /* its number since the start */
	uint64_t generation;
	struct triad_alerts_counts alerts;
	uint32_t n_left_out; /* alerts, links, events, outputs that were too many */
};

/* What is asked about each port and device while an image is written; a function that is
 * NULL knows nothing.  As those of perfmgr/devices/devices.h and watch/watch.h. */
struct triad_history_sources {
	void *context;
	bool (*read_device)(
		void *context, uint64_t guid, struct triad_device_known *copy);
	bool (*read_cable)(void *context, uint64_t guid, uint8_t port,
		struct triad_cable_known *copy);
	void (*read_bers)(void *context, const struct triad_view *view, uint32_t port,
		struct triad_bers_rate rates[TRIAD_BER_N_KINDS]);
	/* Fills TRIAD_N_KEPT lists for an image of the view; asked once for an image. */
	void (*fill_lists)(void *context, const struct triad_view *view,
		struct triad_kept_list *lists);
};

/* What is written; all is borrowed. */
struct triad_history_image {
	struct triad_history_head head; /* but for is_key */
	const struct triad_view *view;
	uint64_t since_us;  /* when the sweep began, monotonic */
	uint64_t wall_us;   /* the same, of the wall clock */
	int64_t offset_us;  /* what monotonic times lack to the wall clock */
	uint64_t port_guid; /* that it was read from */
	uint64_t started_us, period_us;
	const struct triad_conf *conf; /* in force; NULL: none is written */
	const struct triad_alert *alerts;
	const struct triad_link *links;
	const struct triad_timeline_event *events;
	const struct triad_history_output *outputs;
	const struct triad_kept_list *lists; /* TRIAD_N_KEPT; NULL: none are kept */
	uint32_t n_alerts, n_links, n_events, n_outputs;
	uint64_t events_since_us; /* of the wall clock: earlier ones are left out */
	struct triad_history_sources sources;
};

/* The fabric as it is written into key images; made once for all tiers. */
struct triad_history_topology {
	struct triad_fabric *fabric; /* referenced; NULL: none yet */
	struct triad_topology_packed packed;
	uint64_t tables_hash;
};

/* Makes it that of 'fabric'; nothing happens when it is.  Returns 0, ENOMEM or
 * EOVERFLOW; then it has none. */
int triad_history_topology_update(
	struct triad_history_topology *topology, struct triad_fabric *fabric);
void triad_history_topology_clear(struct triad_history_topology *topology);

/* Tables of a node that images have a hash of. */
enum triad_history_tables {
	TRIAD_HISTORY_ROUTES, /* a switch's forwarding tables */
	TRIAD_HISTORY_QOS,    /* SL2VL, VL arbitration, high limit of all ports */
	TRIAD_HISTORY_N_TABLES
};

/* The hash; 0: the node has none, or they are not known. */
uint64_t triad_history_hash_tables(const struct triad_fabric *fabric,
	const struct triad_fabric_node *node, enum triad_history_tables tables);

/* Hashes of the rows of a list. */
struct triad_history_key_rows {
	uint64_t *hashes;
	uint32_t n;
	size_t room;
};

/* What the last key image of a tier had; zeros: there is none. */
struct triad_history_key {
	uint64_t topology_hash, tables_hash;
	uint32_t n_ports, room, nodes_room;
	uint64_t *rows;    /* a hash of each port's row */
	uint64_t *cables;  /* the same of its cable; 0: none is known */
	uint64_t *devices; /* the same of each node as a device */
	uint8_t *notes;    /* of each port, while an image is written */
	struct triad_history_key_rows lists[TRIAD_N_KEPT];
};

/* The next image is a key. */
void triad_history_key_forget(struct triad_history_key *key);
void triad_history_key_clear(struct triad_history_key *key);

/* Whether the image would be a key. */
bool triad_history_key_is_due(const struct triad_history_key *key,
	const struct triad_history_topology *topology);

/* Writes the image as a frame, from begin to end, into 'file'.  Returns 0 and how much was
 * left out, that of the head included; or an errno, after which the frame is to be dropped
 * and the key is forgotten. */
int triad_history_image_write(const struct triad_history_image *image,
	const struct triad_history_topology *topology, struct triad_history_key *key,
	struct triad_frame_writer *writer, struct triad_profile_file *file,
	uint32_t *n_left_out);

#endif
