/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What devices of one vendor tell of themselves and of cables, which ibsim lacks: how
 * people set it, how devices answer.
 *
 * Model: a store has octets, by the GUID of a node: of the memory of what is plugged in
 * at a port, and of registers.  Tests write them as the documents of the vendor lay
 * them out; nothing here knows what they mean.  A node for which nothing was set
 * refuses; at one for which cables were set, other ports are empty.
 *
 *     Cable "leaf-01"[3] PAGE.ADDRESS=HEX        octets from there on
 *     Cable "leaf-01"[3] empty
 *     Register "leaf-01"[INDEX] NAME.OFFSET=HEX  NAME is GeneralInfo or 0x900a
 *     Asked "leaf-01"                            how many such MADs came there
 *
 * ibsim is asked for names and LIDs as in sim_details.h.
 *
 * Thread-safety: none.
 * Source: that of ib/cable_info.h and ib/device_info.h. */
#ifndef LAB_SIM_HARDWARE_H
#define LAB_SIM_HARDWARE_H

#include "tests/lab/sim_details.h"

/* A command. */
struct sim_hardware_setting {
	enum { SIM_HARDWARE_CABLE, SIM_HARDWARE_REGISTER, SIM_HARDWARE_ASKED } kind;
	char node[SIM_NODE_NAME_SIZE];
	int port;        /* or a register's index */
	bool is_empty;   /* nothing is plugged in */
	unsigned number; /* a page; a register, 0 for GeneralInfo */
	unsigned at;     /* the first octet */
	unsigned n;
	uint8_t octets[64];
};

struct sim_hardware;

/* Returns NULL without memory. */
struct sim_hardware *sim_hardware_new(void);

/* Returns false for what is no such command. */
bool sim_hardware_parse(const char *line, struct sim_hardware_setting *setting);

/* As sim_details_set(). */
void sim_hardware_set(struct sim_hardware *hardware,
	const struct sim_hardware_setting *setting, const char *dump, char *answer,
	size_t size);

/* Whether a MAD asks for such a thing. */
bool sim_hardware_is_request(const uint8_t *mad);

/* As sim_details_answer(). */
void sim_hardware_answer(
	struct sim_hardware *hardware, const uint8_t *node_info, uint8_t *mad);

#endif
