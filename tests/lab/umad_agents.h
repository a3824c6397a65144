/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MAD agents: who gets what arrives at the port.
 *
 * Model: an agent is registered through a file (an open descriptor) and has an id
 * there, 0 to 31.  On the port it has a 'high TID', which the kernel writes into the
 * high half of the TIDs of its requests, and by which responses find back.  Requests go
 * to the agent that registered for their class, class version and method (and OUI, in
 * the second vendor range); two agents never have the same.
 *
 * Invariants: high TIDs are not 0 and have 16 bits, because ibsim writes its client's
 * number into the 16 bits above.
 *
 * Thread-safety: none; the port's lock is held.
 * Source: the kernel's ib_mad and ib_umad. */
#ifndef LAB_UMAD_AGENTS_H
#define LAB_UMAD_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#define LAB_MAX_HIGH_TID 1024u
#define LAB_MAX_CLASS_VERSION 8

struct lab_file;
struct lab_send;
struct lab_reassembly;

struct lab_agent {
	struct lab_file *file;
	uint32_t id;
	uint16_t high_tid;
	uint8_t qpn;
	uint8_t mgmt_class; /* 0: receives no requests */
	uint8_t class_version;
	uint8_t rmpp_version;
	uint8_t oui[3];
	uint64_t methods[2]; /* a bit for each */
	struct lab_agent *next;
	struct lab_send *sends;              /* in flight */
	struct lab_reassembly *reassemblies; /* RMPP messages that arrive */
};

struct lab_agents {
	struct lab_agent *first;
	struct lab_agent *by_high_tid[LAB_MAX_HIGH_TID];
	unsigned last_high_tid;
};

/* Registers a copy of 'wish', of which the high TID and the links are not looked at.
 * Returns 0; EINVAL for what the kernel does not take, an overlap with another agent
 * among it; ENOMEM. */
int lab_agents_add(struct lab_agents *agents, const struct lab_agent *wish,
	struct lab_agent **added);

/* Forgets and frees the agent; what it has in flight is the caller's. */
void lab_agents_remove(struct lab_agents *agents, struct lab_agent *agent);

/* Whom a MAD that arrived is for, or NULL. */
struct lab_agent *lab_agents_find(const struct lab_agents *agents, const uint8_t *mad);

#endif
