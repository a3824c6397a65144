/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A QoS policy as read from its file: port groups, tables, levels, rules.
 *
 * Model: [qos-rfc 3].  A request for a path is compared with the rules, in their order;
 * the first whose conditions all hold names the level that restricts the path.  If no
 * rule matches, the level of the path's partition applies if there is one, else the
 * default level.  Groups are sets of ports that rules and tables refer to.
 *
 * There are two equivalent syntaxes: XML as in the RFC (policy_xml.c), and OpenSM's
 * qos-policy.conf with its qos-ulps (policy_text.c).  Both build a policy with the
 * functions of policy_build.h, which know from one table (policy_table.c) what is
 * allowed where.  Names and references are checked at the end (policy_check.c).  So
 * every mistake is reported with its line and column, in the same words for both.
 *
 * This form is for parsing and display; classifier.h compiles it for matching.
 *
 * Invariants of a policy from triad_policy_load() or _parse(): every index is in range;
 * ranges are sorted, and neither overlap nor touch; there is a default level.
 *
 * Thread-safety: filled by one thread, then immutable and shared by reference count.
 * Memory: a policy owns all it points to; everything has a cap (TRIAD_POLICY_MAX_*) and
 * every allocation is checked. */
#ifndef TRIAD_QOS_POLICY_H
#define TRIAD_QOS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/diag.h"
#include "triad/fabric.h"

#define TRIAD_POLICY_FILE_MAX_SIZE (16u << 20)
#define TRIAD_POLICY_MAX_NAME 255 /* characters of a name or description */
#define TRIAD_POLICY_MAX_GROUPS 65536
#define TRIAD_POLICY_MAX_LEVELS 4096
#define TRIAD_POLICY_MAX_RULES 65536
#define TRIAD_POLICY_MAX_SCOPES 4096      /* of each kind of table */
#define TRIAD_POLICY_MAX_ITEMS (1u << 20) /* ranges and names in all lists together */
#define TRIAD_POLICY_NONE UINT32_MAX

/* Both ends included. */
struct triad_range {
	uint64_t first, last;
};

struct triad_ranges {
	struct triad_range *items;
	uint32_t n;
};

/* Indices of groups. */
struct triad_group_list {
	uint32_t *items;
	uint32_t n;
};

struct triad_source_location {
	uint32_t line, column; /* from 1 */
};

/* "vs1 HCA-1/P1": a node's description, and a port's number. */
struct triad_port_name {
	char *node;
	uint8_t number;
	/* True for the RFC's form, which has only the first two words of the
	 * description: only these are compared. */
	bool words;
};

/* A port is in the group when any of these members has it. */
struct triad_policy_group {
	char *name;
	char *use; /* "" when not given */
	struct triad_source_location location;
	struct triad_ranges guids; /* of ports */
	struct triad_port_name *port_names;
	uint32_t n_port_names;
	char **partitions; /* names */
	uint32_t n_partitions;
	struct triad_ranges pkeys; /* without the membership bit */
	uint8_t node_types;        /* a bit 1 << type for each enum triad_node_type */
	bool self;                 /* the SM's own port */
};

struct triad_policy_level {
	char *name; /* its name, else its serial number */
	char *sn;   /* the serial number, an alternative name; NULL when not given */
	char *use;
	struct triad_source_location location;
	bool has_sl, has_mtu_limit, has_rate_limit, has_packet_life, has_tclass;
	uint8_t sl;
	uint8_t mtu_limit;   /* coded as in PathRecord: 1 is 256, 5 is 4096 */
	uint8_t rate_limit;  /* coded as in PathRecord: 2 is 2.5 Gb/s */
	uint8_t packet_life; /* coded: 4.096 us * 2^n */
	uint8_t tclass;
	struct triad_ranges
		path_bits;         /* lowest bits of the destination LID; n 0: any */
	struct triad_ranges pkeys; /* without the membership bit; n 0: any */
};

/* A missing condition (n 0) always holds.  A rule from qos-ulps has the level that was
 * made for its SL. */
struct triad_policy_rule {
	char *use;
	struct triad_source_location location;
	struct triad_group_list sources, destinations;
	struct triad_ranges service_ids;
	struct triad_ranges tclasses;
	struct triad_ranges qos_classes; /* 0 to 4095 */
	struct triad_ranges pkeys;       /* without the membership bit */
	struct triad_ranges sls;
	uint32_t level;
};

/* The level of a partition, where no rule matches [qos-rfc 2.2]. */
struct triad_policy_partition_level {
	char *partition;           /* its name, or NULL: the P_Keys */
	struct triad_ranges pkeys; /* without the membership bit */
	uint32_t level;
	struct triad_source_location location;
};

#define TRIAD_POLICY_N_VLS 16

/* The ports whose tables a scope sets [qos-rfc 3]. */
struct triad_policy_scope {
	struct triad_source_location location;
	struct triad_group_list groups;
	/* Ports linked to a port of the group; the first and the last as out-ports,
	 * 'across_from' as in-ports. */
	struct triad_group_list across, across_from, across_to;
	uint8_t from[32], to[32]; /* a bit for each port number, as triad_ports_has() */
	bool from_any, to_any;    /* '*', or not given */
};

struct triad_policy_sl2vl {
	struct triad_policy_scope scope;
	uint8_t vl[TRIAD_POLICY_N_VLS]; /* for each SL */
};

#define TRIAD_POLICY_MAX_VLARB TRIAD_VLARB_MAX

struct triad_policy_vlarb {
	struct triad_policy_scope scope;
	struct triad_vlarb_entry high[TRIAD_POLICY_MAX_VLARB];
	struct triad_vlarb_entry low[TRIAD_POLICY_MAX_VLARB];
	uint8_t n_high, n_low;
	bool has_high, has_low, has_high_limit;
	uint8_t high_limit;
};

/* The name of a group or level, and its index. */
struct triad_policy_name {
	const char *name;
	uint32_t index;
};

struct triad_policy_names {
	struct triad_policy_name *items; /* sorted by triad_policy_name_compare() */
	uint32_t n;
};

struct triad_arena;

struct triad_policy {
	unsigned n_references;     /* by atomic operations */
	struct triad_arena *arena; /* texts and lists */
	char *source;              /* the file's name, as given */
	struct triad_policy_group *groups;
	uint32_t n_groups;
	struct triad_policy_level *levels;
	uint32_t n_levels;
	struct triad_policy_rule *rules; /* in the order in which they are tried */
	uint32_t n_rules;
	struct triad_policy_partition_level *partition_levels;
	uint32_t n_partition_levels;
	struct triad_policy_sl2vl *sl2vl; /* the last that fits a port applies */
	uint32_t n_sl2vl;
	struct triad_policy_vlarb *vlarb;
	uint32_t n_vlarb;
	uint32_t default_level;
	/* Without levels made by qos-ulps, which can't be referred to. */
	struct triad_policy_names group_names, level_names;
};

/* The level's SL, as a bit; 0: it has none. */
static inline uint16_t triad_policy_sl_of_level(
	const struct triad_policy *policy, uint32_t level)
{
	const struct triad_policy_level *of = &policy->levels[level];

	return of->has_sl ? (uint16_t)(1u << (of->sl & 0xf)) : 0;
}

struct triad_policy *triad_policy_ref(struct triad_policy *policy);

/* Accepts NULL. */
void triad_policy_unref(struct triad_policy *policy);

/* Parses 'text' ('size' octets, need not end in 0): XML when its first octet that is
 * not blank (nor a byte-order mark) is '<', else OpenSM's syntax.  'source' names the
 * file in messages.  'default_level' (may be NULL or "") names the default level; it
 * overrides the one that the file names.  Returns 0 and a policy with one reference;
 * EINVAL with every mistake in 'diags' (which it initialises), EFBIG (over
 * TRIAD_POLICY_FILE_MAX_SIZE) or ENOMEM, also reported there.  Never aborts, whatever
 * the text; never opens another file or a connection. */
int triad_policy_parse(const char *text, size_t size, const char *source,
	const char *default_level, struct triad_policy **policy,
	struct triad_diags *diags);

/* Reads a regular file of at most TRIAD_POLICY_FILE_MAX_SIZE and parses it.  A file
 * that changes while it is read (size or time of change before and after) gives EAGAIN.
 * Returns an errno otherwise; 'diags' says why in any case of failure.  Never waits for
 * a FIFO or a device. */
int triad_policy_load(const char *path, const char *default_level,
	struct triad_policy **policy, struct triad_diags *diags);

/* True when 'value' is in one of the ranges. */
bool triad_ranges_has(const struct triad_ranges *ranges, uint64_t value);

/* As strcmp(), case and blanks ignored: OpenSM drops the blanks of names that are not
 * quoted, so "Virtual Servers" and "VirtualServers" are one to it. */
int triad_policy_name_compare(const char *a, const char *b);

/* Index of a group or level by its name (a level also by its serial number), compared
 * so; or TRIAD_POLICY_NONE. */
uint32_t triad_policy_find_group(const struct triad_policy *policy, const char *name);
uint32_t triad_policy_find_level(const struct triad_policy *policy, const char *name);

#endif
