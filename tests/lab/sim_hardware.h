/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Registers of one vendor's devices and memory of cables, which ibsim lacks: the
 * commands that set them, and the devices' answers.
 *
 * Model: a store has octets, by the GUID of a node: the memory of the module in a port,
 * and registers.  Tests write the octets as the vendor's documents lay them out; this
 * code doesn't interpret them.  A node for which nothing was set refuses requests.  If
 * cables were set at a node, its other ports are empty.
 *
 *     Cable "leaf-01"[3] PAGE.ADDRESS=HEX        octets from that address on
 *     Cable "leaf-01"[3] empty
 *     Register "leaf-01"[INDEX] NAME.OFFSET=HEX  NAME is GeneralInfo or 0x900a
 *     Asked "leaf-01"                            how many such requests it received
 *
 * ibsim resolves names and LIDs as in sim_details.h.
 *
 * Thread-safety: none.
 * Source: that of ib/cable_info.h and ib/device_info.h. */
#ifndef LAB_SIM_HARDWARE_H
#define LAB_SIM_HARDWARE_H

#include "tests/lab/sim_details.h"

/* A parsed command. */
struct sim_hardware_setting {
	enum { SIM_HARDWARE_CABLE, SIM_HARDWARE_REGISTER, SIM_HARDWARE_ASKED } kind;
	char node[SIM_NODE_NAME_SIZE];
	int port;        /* or the register's index */
	bool is_empty;   /* no module is plugged in */
	unsigned number; /* of the page; of the register, 0: GeneralInfo */
	unsigned at;     /* address of the first octet */
	unsigned n;
	uint8_t octets[64];
};

struct sim_hardware;

/* Returns NULL when memory is short. */
struct sim_hardware *sim_hardware_new(void);

/* Returns false if the line is no such command. */
bool sim_hardware_parse(const char *line, struct sim_hardware_setting *setting);

/* As sim_details_set(). */
void sim_hardware_set(struct sim_hardware *hardware,
	const struct sim_hardware_setting *setting, const char *dump, char *answer,
	size_t size);

/* Whether a MAD requests such an attribute. */
bool sim_hardware_is_request(const uint8_t *mad);

/* As sim_details_answer(). */
void sim_hardware_answer(
	struct sim_hardware *hardware, const uint8_t *node_info, uint8_t *mad);

#endif
