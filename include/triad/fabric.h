/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A subnet at one moment: nodes, ports, links and tables, as plain arrays.
 *
 * Model: nodes are sorted by GUID; the ports of a node lie together, sorted by
 * number, so 'ports' as a whole is sorted by (node GUID, port number).  Ports refer
 * to each other and to nodes by index.  Values are in host byte order.  A switch's
 * ports all carry the switch's LID (that of port 0), because that is where its
 * management agents answer.
 *
 * Invariants: 'remote' of a port's 'remote' is the port itself.
 *
 * Thread-safety: built by one thread; immutable after triad_fabric_build(), then
 * shared by reference count from any thread.
 * Memory: a fabric owns its arrays; they go with the last reference.  Sizes are
 * capped (TRIAD_FABRIC_MAX_*) and every allocation is checked. */
#ifndef TRIAD_FABRIC_H
#define TRIAD_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_FABRIC_MAX_NODES (1u << 17)
#define TRIAD_FABRIC_MAX_PORTS (1u << 22)
#define TRIAD_FABRIC_MAX_TABLE_OCTETS ((size_t)1 << 31) /* of each kind of table */
#define TRIAD_FABRIC_MAX_PORT_NUMBER 254 /* 255 is AllPortSelect [IBA 16.1.3.5] */
#define TRIAD_FABRIC_NONE UINT32_MAX
#define TRIAD_FABRIC_MAX_MLIDS 1024u
#define TRIAD_NODE_NAME_SIZE 65

enum triad_node_type {
	TRIAD_NODE_CA = 1,
	TRIAD_NODE_SWITCH = 2,
	TRIAD_NODE_ROUTER = 3,
};

enum triad_port_state {
	TRIAD_PORT_NOP = 0,
	TRIAD_PORT_DOWN = 1,
	TRIAD_PORT_INIT = 2,
	TRIAD_PORT_ARMED = 3,
	TRIAD_PORT_ACTIVE = 4,
};

enum triad_phys_state { /* PortInfo:PortPhysicalState [IBA 14.2.5.6] */
	TRIAD_PHYS_SLEEP = 1,
	TRIAD_PHYS_POLLING = 2,
	TRIAD_PHYS_DISABLED = 3,
	TRIAD_PHYS_TRAINING = 4,
	TRIAD_PHYS_LINK_UP = 5,
	TRIAD_PHYS_RECOVERY = 6,
};

/* Which of the later rates the port understands [IBA 14.2.5.6: CapabilityMask]. */
#define TRIAD_RATE_CAP_EXTENDED 0x1 /* extended speeds */
#define TRIAD_RATE_CAP_2X 0x2
#define TRIAD_RATE_CAP_HDR 0x4
#define TRIAD_RATE_CAP_NDR 0x8
#define TRIAD_RATE_CAP_MASK2                                                           \
	0x10 /* it has a CapabilityMask2, which has the last three */

/* PortInfo:M_KeyProtectBits up to this let everybody read [IBA 14.2.4.1]. */
#define TRIAD_M_KEY_GUARDS_SETS 1

/* A place in one of the fabric's tables. */
struct triad_fabric_slice {
	uint32_t n; /* elements */
	size_t at;  /* of the first one */
};

struct triad_fabric_node {
	uint64_t guid;
	uint32_t first_port; /* index in 'ports' */
	uint32_t n_ports;    /* entries there */
	uint32_t vendor_id;
	uint16_t device_id;
	uint8_t type;         /* enum triad_node_type */
	bool enhanced_port0;  /* a switch whose port 0 has tables, too */
	bool optimized_sl2vl; /* a switch that can set one SL2VL table for many ports */
	char name[TRIAD_NODE_NAME_SIZE]; /* printable UTF-8 */
	struct triad_fabric_slice lft;   /* out-port for each LID, in 'lft' */
	/* Masks for each multicast LID from 0xc000 on, in 'mft': 'mft_width' of them,
	 * each with a bit for each of 16 ports. */
	struct triad_fabric_slice mft;
	uint8_t mft_width;
	bool mft_is_cut; /* it has more than TRIAD_FABRIC_MAX_MLIDS */
	/* Digits of the GUID that people need besides the name (ib/node_label.h); 0: the
	 * name is unique. */
	uint8_t mark_digits;
};

struct triad_fabric_port {
	uint64_t guid;
	uint32_t node;   /* index in 'nodes' */
	uint32_t remote; /* index in 'ports', or TRIAD_FABRIC_NONE */
	uint16_t lid;
	uint8_t sl;    /* of MADs from the SM's port to this one */
	uint8_t sm_sl; /* PortInfo:MasterSMSL, of its requests to the SM */
	uint8_t lmc;
	uint8_t number;
	uint8_t state;      /* enum triad_port_state */
	uint8_t phys_state; /* enum triad_phys_state, or others */
	uint8_t mtu;        /* PortInfo:NeighborMTU, coded */
	uint8_t mtu_cap;    /* PortInfo:MTUCap, coded */
	uint8_t rate;       /* of the link, coded as in PathRecord */
	uint8_t rate_caps;  /* TRIAD_RATE_CAP_* */
	uint8_t width;      /* PortInfo:LinkWidthActive */
	uint8_t speed;      /* PortInfo:LinkSpeedActive */
	uint8_t speed_ext;  /* by triad_link_speed_ext_active() */
	/* PortInfo:LinkWidthSupported, LinkSpeedSupported and LinkSpeedExtSupported, a
	 * bit for each; 0: not known. */
	uint8_t width_supported, speed_supported, speed_ext_supported;
	/* The same of what is enabled: somebody may have limited the link. */
	uint8_t width_enabled, speed_enabled, speed_ext_enabled;
	/* LinkSpeedActive of a port of which the fabric's source goes by that, although it
	 * may have an extended speed.  The speeds above are then what the port says, perhaps
	 * to Triad alone (perfmgr/devices/speeds.h), or 0 while it has said nothing.  0: the
	 * source goes by the speeds above. */
	uint8_t source_speed;
	bool needs_m_key; /* to be asked, by M_KeyProtectBits */
	bool is_held;     /* kept in INIT by the port manager: no data passes */
	bool has_pma;     /* its counters can be read */
	bool has_sl2vl;   /* SL2VL tables; a switch's ports as its port 0 says */
	uint8_t vl_cap;   /* PortInfo:VLCap, coded as triad_vls_n() has it */
	uint8_t op_vls;   /* PortInfo:OperationalVLs, coded so */
	uint8_t vlarb_high_cap, vlarb_low_cap; /* by triad_vlarb_cap() */
	uint8_t high_limit;                    /* PortInfo:VLHighLimit */
	struct triad_fabric_slice pkeys;       /* in 'pkeys'; none: not known */
	struct triad_fabric_slice sl2vl; /* in 'sl2vl', one row for each in-port */
	/* In 'vlarb': the low table's entries, 'vlarb_low_cap' of them, then the high
	 * one's; or none. */
	struct triad_fabric_slice vlarb;
};

/* Whether SMPs pass the port: they need its link and no more, so they pass one that is
 * held.  Until its next sweep OpenSM shows the state that a port had before it was
 * disabled. */
static inline bool triad_fabric_port_passes_smps(const struct triad_fabric_port *port)
{
	return port->state != TRIAD_PORT_DOWN &&
		port->phys_state != TRIAD_PHYS_DISABLED;
}

/* Whether data passes the port, or will when the SM has activated it. */
static inline bool triad_fabric_port_passes_data(const struct triad_fabric_port *port)
{
	return triad_fabric_port_passes_smps(port) && !port->is_held;
}

/* SL 2i is the high nibble of octet i. */
struct triad_sl2vl {
	uint8_t vl[8];
};

/* A VL and how much may be sent there at a time, in units of 64 octets. */
struct triad_vlarb_entry {
	uint8_t vl, weight;
};

#define TRIAD_VLARB_MAX 64 /* entries of one table [IBA 14.2.5.9] */

/* How many entries OpenSM programs of a table for which the port reports 'cap'.  It
 * sends blocks of 32; the second one has cap % 32 entries.  For 64 (the maximum) that
 * is 0, so the second block has nothing of the table. */
static inline uint8_t triad_vlarb_cap(uint8_t cap)
{
	return cap < TRIAD_VLARB_MAX ? cap : TRIAD_VLARB_MAX / 2;
}

#define TRIAD_PARTITION_NAME_SIZE 32

struct triad_fabric_partition {
	uint16_t pkey; /* without the membership bit */
	uint8_t sl;
	char name[TRIAD_PARTITION_NAME_SIZE]; /* printable UTF-8; "" possible */
};

/* A GUID by which an end port can be named: its own, or an alias [IBA 14.2.5.5]. */
struct triad_fabric_alias {
	uint64_t guid;
	uint32_t port; /* index in 'ports' */
};

/* How this SM's SA answers requests for paths. */
struct triad_fabric_sa {
	uint64_t subnet_prefix;
	uint8_t subnet_timeout; /* packet lifetime, coded */
	uint8_t lmc;
	bool qos;              /* SL2VL tables are programmed */
	bool allow_both_pkeys; /* full and limited membership of one partition */
	bool quirks;           /* 1,024 octets where an end is a Tavor */
	bool original_rates;   /* no rates that came after EDR */
	uint8_t rate_limit;    /* the highest code that it gives; 0: no limit */
	bool engine_has_sl;    /* the routing engine decides on SLs */
	char engine[24]; /* the routing engine that is used, "minhop"; "": unknown */
	char engine_wanted[24]; /* the first of those that opensm.conf has; "": none */
};

/* Kinds of ports that OpenSM has default tables for. */
enum triad_qos_port_kind {
	TRIAD_QOS_PORT_CA,
	TRIAD_QOS_PORT_SWITCH0, /* enhanced port 0 */
	TRIAD_QOS_PORT_SWITCH,
	TRIAD_QOS_PORT_ROUTER,
	TRIAD_QOS_N_PORT_KINDS
};

/* The tables that OpenSM programs by default. */
struct triad_qos_defaults {
	struct triad_sl2vl sl2vl;
	struct triad_vlarb_entry high[TRIAD_VLARB_MAX], low[TRIAD_VLARB_MAX];
	uint8_t high_limit;
};

/* How this SM programs QoS tables, if triad_fabric_sa.qos. */
struct triad_fabric_qos {
	struct triad_qos_defaults defaults[TRIAD_QOS_N_PORT_KINDS];
	uint8_t max_op_vls;     /* coded as PortInfo:OperationalVLs */
	bool optimized;         /* one SMP for many SL2VL tables, where a switch can */
	bool engine_has_tables; /* the routing engine decides on them in the end */
};

struct triad_fabric {
	uint64_t generation; /* counts snapshots, from 1 */
	uint64_t taken_us;
	/* When the SM began to read what is in it (triad_clock_boot_us()); 0: not known,
	 * so that nothing acts on it (portmgr/plan/last_act.h). */
	uint64_t begun_us;
	uint64_t lock_us; /* longest time that the snapshot held the SM's lock */
	uint64_t sm_port_guid;
	uint32_t sm_port; /* index in 'ports', or TRIAD_FABRIC_NONE */
	bool consistent;  /* no sweep began while it was taken */
	/* Ports with a link that is up, whose far end the source of this fabric does
	 * not show: a missing node or link may be there, hidden. */
	uint32_t n_hidden;
	uint32_t n_discovered; /* ports with a link from another source */
	uint32_t n_nodes;
	uint32_t n_ports;
	struct triad_fabric_node *nodes;
	struct triad_fabric_port *ports;
	uint16_t *pkeys;
	struct triad_sl2vl *sl2vl;
	struct triad_vlarb_entry *vlarb;
	uint8_t *lft;
	uint16_t *mft;
	uint32_t n_partitions;
	struct triad_fabric_partition *partitions; /* sorted by P_Key */
	uint32_t n_aliases;
	/* Sorted by GUID; all end ports are there. */
	struct triad_fabric_alias *aliases;
	/* A hash table of the nodes by their names, of ib/node_label.h: an index plus 1, of
	 * equal names that of the first; 0: a free slot. */
	uint32_t *by_name;
	uint32_t name_mask; /* slots - 1 */
	struct triad_fabric_sa sa;
	struct triad_fabric_qos qos;
};

/* --- use --- */

struct triad_fabric *triad_fabric_ref(struct triad_fabric *fabric);

/* Accepts NULL. */
void triad_fabric_unref(struct triad_fabric *fabric);

/* Index of the node or port, or TRIAD_FABRIC_NONE.  find_port() takes TRIAD_FABRIC_NONE
 * as 'node' and then finds nothing, so the result of find_node() can be passed
 * unchecked. */
uint32_t triad_fabric_find_node(const struct triad_fabric *fabric, uint64_t guid);
/* The node itself; NULL: there is none, or 'fabric' is NULL. */
const struct triad_fabric_node *triad_fabric_node_by_guid(
	const struct triad_fabric *fabric, uint64_t guid);
/* The port with this LID, LMC included; 0 is nobody's.  Looks at each port. */
uint32_t triad_fabric_find_lid(const struct triad_fabric *fabric, uint16_t lid);
uint32_t triad_fabric_find_port(
	const struct triad_fabric *fabric, uint32_t node, unsigned number);
/* The port of that number of the node with that GUID, or TRIAD_FABRIC_NONE. */
uint32_t triad_fabric_port_at(
	const struct triad_fabric *fabric, uint64_t node_guid, unsigned number);
/* Orders ports by their nodes' GUIDs, then by number; returns what strcmp() does. */
static inline int triad_port_order(
	uint64_t guid_a, unsigned number_a, uint64_t guid_b, unsigned number_b)
{
	if (guid_a != guid_b)
		return guid_a < guid_b ? -1 : 1;
	return (number_a > number_b) - (number_a < number_b);
}
/* The port of 'fabric' that is 'port' of 'other', by its node's GUID and its number; or
 * TRIAD_FABRIC_NONE. */
uint32_t triad_fabric_find_same_port(const struct triad_fabric *fabric,
	const struct triad_fabric *other, uint32_t port);

/* Data VLs for a code of PortInfo:VLCap or OperationalVLs: 1, 2, 4, 8 or 15, of which
 * the first is VL0; 1 for a code that is none [IBA 14.2.5.6]. */
unsigned triad_vls_n(uint8_t code);

/* The code of the data VLs that the port uses, as OpenSM sets it: what both ends of the
 * link have, within the SM's own limit.  An active link may use fewer, if its device
 * kept fewer. */
uint8_t triad_fabric_op_vls(const struct triad_fabric *fabric, uint32_t port);

/* A VL's part of an arbitration table, in units of 64 octets. */
struct triad_vl_weight {
	unsigned weight, total; /* total 0: the port has no such table */
};
struct triad_vl_weight triad_fabric_vl_weight(
	const struct triad_fabric *fabric, uint32_t port, bool high, uint8_t vl);

enum triad_qos_port_kind triad_fabric_qos_kind(
	const struct triad_fabric *fabric, uint32_t port);

/* True for a port with a LID of its own, for which paths are requested: every port of a
 * CA or router, port 0 of a switch. */
bool triad_fabric_is_end_port(const struct triad_fabric *fabric, uint32_t port);

/* The end port that 'guid' is the GUID or an alias of, or TRIAD_FABRIC_NONE. */
uint32_t triad_fabric_find_alias(const struct triad_fabric *fabric, uint64_t guid);

/* Octets that the fabric takes. */
size_t triad_fabric_octets(const struct triad_fabric *fabric);

/* The data rate of the port's link in bits per second each way, coding left out; 0 when
 * width or speed is none that we know [IBA 14.2.5.6]. */
uint64_t triad_fabric_port_bps(const struct triad_fabric_port *port);

/* The same in words of 4 octets per microsecond: data counters count words, and PortXmitWait
 * ticks for one. */
double triad_fabric_port_words_per_us(const struct triad_fabric_port *port);

/* The same with the coding: what is on the wire. */
uint64_t triad_fabric_port_signal_bps(const struct triad_fabric_port *port);

struct triad_fabric_counts {
	uint32_t n_nodes, n_switches, n_ports, n_links;
};

struct triad_fabric_counts triad_fabric_count(const struct triad_fabric *fabric);

/* Counts the links on the shortest path from port 'from' (an index) to each node.  Sets
 * 'hops' (room for all nodes): 0 for the node of 'from', TRIAD_FABRIC_NONE for one that
 * can't be reached.  'queue' is room for as many. */
void triad_fabric_hops(const struct triad_fabric *fabric, uint32_t from, uint32_t *hops,
	uint32_t *queue);

/* Whether the node is an aggregation node (SHARP): a CA inside a switch, which runs no
 * programs. */
bool triad_fabric_is_aggregation_node(const struct triad_fabric_node *node);

/* "ca", "switch", "router"; "down", "init", ... */
const char *triad_node_type_name(unsigned type);
const char *triad_port_state_name(unsigned state);

/* Index in 'ours' of a P_Key that lets the port with 'ours' talk to one with
 * 'theirs': same base value, not both limited [IBA 10.9.3]; the default partition
 * if it will do.  -1 when they share none. */
int triad_pkey_match(
	const uint16_t *ours, size_t n_ours, const uint16_t *theirs, size_t n_theirs);

/* Writes a node's name in the form of fabrics: reads octets up to a 0, at most 64,
 * without blanks at its ends; whatever is not printable UTF-8 becomes '?'. */
void triad_fabric_clean_name(char name[TRIAD_NODE_NAME_SIZE], const char *from);

/* --- building ---
 * Nodes are added in any order, each followed by its ports in ascending order of
 * number.  After an error the builder only remembers it, and triad_fabric_build()
 * returns it. */

struct triad_fabric_builder;

/* NULL when memory is short.  'like' (may be NULL) is a fabric of about the same size,
 * so that memory is allocated before the caller takes its locks. */
struct triad_fabric_builder *triad_fabric_builder_new(const struct triad_fabric *like);
void triad_fabric_builder_free(struct triad_fabric_builder *builder);

/* Makes room ahead, so that no memory moves while the caller holds its lock: as much
 * again as is used, and at least 8 MiB, for each kind. */
void triad_fabric_builder_prepare(struct triad_fabric_builder *builder);

/* 'name' is cleaned.  'lft' (may be NULL) has 'lft_size' entries. */
void triad_fabric_builder_add_node(struct triad_fabric_builder *builder,
	const struct triad_fabric_node *node, const char *name, const uint8_t *lft,
	uint32_t lft_size);

/* The multicast forwarding table of the switch added last: 'n' masks; see 'mft' of the
 * node. */
void triad_fabric_builder_add_mft(struct triad_fabric_builder *builder,
	const uint16_t *masks, uint32_t n, uint8_t width, bool is_cut);

/* 'remote_guid' (0: none) and 'remote_number' name the far end. */
void triad_fabric_builder_add_port(struct triad_fabric_builder *builder,
	const struct triad_fabric_port *port, uint64_t remote_guid,
	uint8_t remote_number);

/* The P_Key table of the port added last, once for each port; ports with the same one
 * share its memory. */
void triad_fabric_builder_add_pkeys(
	struct triad_fabric_builder *builder, const uint16_t *pkeys, uint32_t n);

/* Append to the tables of the port added last. */
void triad_fabric_builder_add_sl2vl(
	struct triad_fabric_builder *builder, const struct triad_sl2vl *row);
void triad_fabric_builder_add_vlarb(struct triad_fabric_builder *builder,
	const struct triad_vlarb_entry *entries, uint32_t n);

/* 'name' is treated as a node's. */
void triad_fabric_builder_add_partition(struct triad_fabric_builder *builder,
	uint16_t pkey, uint8_t sl, const char *name);

/* Adds an alias 'guid' of the end port whose own GUID is 'base_guid'; it is dropped if
 * there is no such port at the end. */
void triad_fabric_builder_add_alias(
	struct triad_fabric_builder *builder, uint64_t guid, uint64_t base_guid);

/* Sorts the nodes, resolves the links and sets '*fabric' to the fabric, with one
 * reference.  Returns 0, ENOMEM, EOVERFLOW (a cap) or EINVAL (ports out of order, a
 * GUID twice).  The builder is used up and must be freed. */
int triad_fabric_build(struct triad_fabric_builder *builder, uint64_t sm_port_guid,
	struct triad_fabric **fabric);

#endif
