/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A policy's scopes, compiled: which scope applies to which port's tables, and the
 * contents of those tables [qos-rfc 3].
 *
 * Model: an SL2VL table belongs to an out-port and, on a switch, to an in-port; a VL
 * arbitration table belongs to an out-port.  A scope fits the table of (in-port,
 * out-port) when
 *
 *     - the out-port is in a group of 'group', or is linked to a port in one of
 *       'across' or 'across-to'; a scope with none of the three fits any out-port;
 *     - the out-port's number is in 'to';
 *     - the in-port's number is in 'from', and it is linked to a port of
 *       'across-from', if the scope has that.  A port of a CA or router has no in-port:
 *       'from' does not matter for it, and a scope with 'across-from' never fits it.
 *
 * The last scope of the file that fits applies, alone: what it does not set is OpenSM's
 * default.
 *
 * A switch's ports are in the groups of its port 0, as policies name it (membership.h),
 * except by a port's name: number 0 means the whole switch, any other that port alone.
 *
 * Limits of a port: a VL that it lacks becomes VL15 in an SL2VL table, so that such
 * packets are dropped; in an arbitration table its entry becomes VL 0 with weight 0,
 * which is skipped.  An arbitration table longer than the port's is not used.
 *
 * Two parts: 'struct triad_setup' is the policy's, immutable and shared; 'struct
 * triad_scopes' belongs to one thread, and caches which scopes fit.  Ports with the
 * same groups form a class; there are few classes, and each is computed once.
 *
 * Memory: everything is capped (EOVERFLOW) and checked (ENOMEM); a scopes object grows
 * with the classes it meets, TRIAD_SCOPES_MAX_CLASSES at most. */
#ifndef TRIAD_QOS_SETUP_H
#define TRIAD_QOS_SETUP_H

#include "qos/policy/policy.h"
#include "triad/fabric.h"

#define TRIAD_SCOPE_NONE UINT16_MAX /* OpenSM's default */
#define TRIAD_SCOPES_MAX_CLASSES (1u << 16)
#define TRIAD_SCOPES_NO_CLASS 0 /* of a port in no group; also: no port */

struct triad_setup;

/* True when the policy has scopes. */
bool triad_setup_has_scopes(const struct triad_policy *policy);

/* Takes a reference to 'policy'.  Returns 0, ENOMEM or EOVERFLOW. */
int triad_setup_compile(struct triad_policy *policy, struct triad_setup **setup);
struct triad_setup *triad_setup_ref(struct triad_setup *setup);
void triad_setup_unref(struct triad_setup *setup); /* accepts NULL */
const struct triad_policy *triad_setup_policy(const struct triad_setup *setup);

/* --- contents of a scope's tables --- */

/* The table of SL2VL scope 'scope' for a port with the data VLs 'op_vls' (coded). */
const struct triad_sl2vl *triad_setup_sl2vl(
	const struct triad_setup *setup, uint16_t scope, uint8_t op_vls);

/* The high ('high') or low table of VLArb scope 'scope' for a port that has 'cap'
 * entries and the data VLs 'op_vls': 'cap' entries, the last ones of weight 0.  False
 * when OpenSM's default stands: the scope has none, or a longer one. */
bool triad_setup_vlarb(const struct triad_setup *setup, uint16_t scope, bool high,
	uint8_t op_vls, uint8_t cap, struct triad_vlarb_entry *entries);

/* False when OpenSM's default stands. */
bool triad_setup_high_limit(
	const struct triad_setup *setup, uint16_t scope, uint8_t *limit);

/* --- which scope applies --- */

struct triad_scopes;

/* Takes a reference to 'setup'.  NULL when memory is short. */
struct triad_scopes *triad_scopes_new(struct triad_setup *setup);
void triad_scopes_free(struct triad_scopes *scopes); /* accepts NULL */
const struct triad_setup *triad_scopes_setup(const struct triad_scopes *scopes);

/* Sets the partitions, for groups that name them.  If they changed, or after an error,
 * it forgets the classes.  Returns 0; or ENOMEM or EOVERFLOW, and nothing changed. */
int triad_scopes_set_partitions(struct triad_scopes *scopes,
	const struct triad_fabric_partition *partitions, uint32_t n);

/* The facts about a port that determine its groups. */
struct triad_scopes_port {
	uint64_t guid;         /* a switch's ports have that of port 0 */
	const char *node_name; /* printable UTF-8 */
	const uint16_t *pkeys; /* a switch's ports have those of port 0 */
	uint32_t n_pkeys;
	uint8_t node_type; /* enum triad_node_type */
	uint8_t number;
	bool is_self; /* the SM's own port */
};

/* The class of a port.  Returns TRIAD_SCOPES_NO_CLASS also when memory is short or
 * there are too many classes; triad_scopes_error() tells then. */
uint32_t triad_scopes_class(
	struct triad_scopes *scopes, const struct triad_scopes_port *port);

/* The facts about ports that the scopes need; the caller may leave out the others: ""
 * for a name, no P_Keys. */
struct triad_scopes_needs {
	bool names, pkeys;
	bool links; /* the ports at the other ends */
	bool vlarb; /* there are VLArb scopes */
};
struct triad_scopes_needs triad_scopes_needs(const struct triad_scopes *scopes);

/* False when all ports of a switch of that name are of one class. */
bool triad_scopes_ports_differ(struct triad_scopes *scopes, const char *node_name);

/* The first error since the last triad_scopes_set_partitions(): 0, ENOMEM,
 * EOVERFLOW. */
int triad_scopes_error(const struct triad_scopes *scopes);

/* One port of a node, and what it is linked to. */
struct triad_scopes_end {
	uint32_t own;    /* its class */
	uint32_t remote; /* the class at the other end; no link: NO_CLASS */
	uint8_t number;
};

/* The VLArb scope of an out-port, or TRIAD_SCOPE_NONE. */
uint16_t triad_scopes_vlarb(
	struct triad_scopes *scopes, const struct triad_scopes_end *out);

/* The SL2VL scope of a port of a CA or router, or TRIAD_SCOPE_NONE. */
uint16_t triad_scopes_endport_sl2vl(
	struct triad_scopes *scopes, const struct triad_scopes_end *port);

#define TRIAD_SCOPES_MAX_PORTS 256

/* The kinds of a switch's in-ports: ports that no scope distinguishes are of one
 * kind. */
struct triad_scopes_switch {
	uint8_t kind[TRIAD_SCOPES_MAX_PORTS]; /* by index in 'ports' */
	unsigned n_kinds;
	/* For each kind: the index of its first in-port. */
	uint8_t first[TRIAD_SCOPES_MAX_PORTS];
};

/* Sorts the ports of a switch, 'n' of them (at most TRIAD_SCOPES_MAX_PORTS), into kinds
 * of in-ports. */
void triad_scopes_sort_ports(struct triad_scopes *scopes,
	const struct triad_scopes_end *ports, unsigned n,
	struct triad_scopes_switch *to);

/* The SL2VL scopes of the tables of 'out' on that switch, one for each kind of in-port:
 * 'row' has room for 'n_kinds'. */
void triad_scopes_sl2vl_row(struct triad_scopes *scopes,
	const struct triad_scopes_end *ports, const struct triad_scopes_switch *kinds,
	const struct triad_scopes_end *out, uint16_t *row);

#endif
