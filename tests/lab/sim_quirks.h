/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Devices that answer otherwise than they should, as some of real fabrics do: what
 * their performance agents do, descriptions of nodes, and ports that never come up.
 *
 * Model: a node has quirks, by its GUID; the SMA of each answers as ibsim's.
 *
 *     Quirk "leaf-01" silent           its PMA answers nothing
 *     Quirk "leaf-01" busy             ... that it is busy, always
 *     Quirk "leaf-01" narrow           ... without PortCountersExtended, and says so
 *     Quirk "leaf-01" refuse-extended  ... likewise, but claims to have it
 *     Quirk "leaf-01" refuse           ... and PortCounters: nothing can be read
 *     Quirk "leaf-01" refuse-sums      claims AllPortSelect, but refuses it
 *     Quirk "leaf-01" zero-sums        ... but answers zeros
 *     Quirk "leaf-01" wrong-sums       ... but answers as if it was asked for port 0
 *     Quirk "leaf-01" other-port       answers for the next port
 *     Quirk "leaf-01" lid=7            answers from that LID
 *     Quirk "leaf-01"[3] training      the port never gets beyond link training
 *     Quirk "leaf-01" none             takes all of them back, but descriptions
 *     Description "leaf-01" AT=HEX     octets of NodeDescription from there on; what is
 *                                      behind them is 0
 *
 * ibsim resolves names and LIDs as in sim_details.h.
 *
 * Thread-safety: none.
 * Source: IBA volume 1, 13.4.7, 14.2.5.2, 14.2.5.6, 16.1. */
#ifndef LAB_SIM_QUIRKS_H
#define LAB_SIM_QUIRKS_H

#include "tests/lab/sim_details.h"

struct lab_packet;

/* A parsed command. */
struct sim_quirk_setting {
	char node[SIM_NODE_NAME_SIZE];
	unsigned quirk; /* one bit; 0: none, or a description */
	int port;       /* 0: of the node */
	uint16_t lid;
	bool is_description;
	unsigned at, n; /* of its octets */
	uint8_t octets[64];
};

struct sim_quirks;

/* Returns NULL when memory is short. */
struct sim_quirks *sim_quirks_new(void);

/* Returns false if the line is no such command. */
bool sim_quirks_parse(const char *line, struct sim_quirk_setting *setting);

/* As sim_details_set(). */
void sim_quirks_set(struct sim_quirks *quirks, const struct sim_quirk_setting *setting,
	const char *dump, char *answer, size_t size);

/* Whether the response to a MAD may depend on the node's quirks. */
bool sim_quirks_is_half_request(const struct sim_quirks *quirks, const uint8_t *mad);

/* Changes a response.  'node_info' is the node's, as a MAD.  Returns false when there is
 * to be none. */
bool sim_quirks_complete(const struct sim_quirks *quirks, const uint8_t *node_info,
	struct lab_packet *packet);

#endif
