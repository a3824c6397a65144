/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MAD agents: which agent receives a MAD that arrives at the port.
 *
 * Model: an agent is registered through a file (an open descriptor) and has an id
 * there, 0 to 31.  On the port it has a 'high TID': the kernel writes it into the high
 * half of the TIDs of the agent's requests, and uses it to find the agent of a
 * response.  A request goes to the agent that registered for its class, class version
 * and method (and OUI, in the second vendor range); no two agents register for the
 * same.
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
	uint64_t methods[2]; /* a bit for each method */
	struct lab_agent *next;
	struct lab_send *sends;              /* in flight */
	struct lab_reassembly *reassemblies; /* RMPP messages being received */
};

struct lab_agents {
	struct lab_agent *first;
	struct lab_agent *by_high_tid[LAB_MAX_HIGH_TID];
	unsigned last_high_tid;
};

/* Registers a copy of 'requested', whose high TID and links are ignored.  Returns 0;
 * EINVAL for a registration that the kernel refuses, as one that overlaps with another
 * agent's; ENOMEM. */
int lab_agents_add(struct lab_agents *agents, const struct lab_agent *requested,
	struct lab_agent **added);

/* Removes and frees the agent.  The caller has ended its sends and RMPP messages. */
void lab_agents_remove(struct lab_agents *agents, struct lab_agent *agent);

/* The agent for a MAD that arrived, or NULL. */
struct lab_agent *lab_agents_find(const struct lab_agents *agents, const uint8_t *mad);

#endif
