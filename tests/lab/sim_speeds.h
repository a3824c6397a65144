/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Speeds of ports that ibsim lacks: NDR and XDR, what a port supports, and devices that
 * tell an extended speed only to who asks for it.
 *
 * Model: ibsim's PortInfo is completed:
 *
 *     active     as in the topology's file or a command; else ibsim's
 *     supported  that and less, unless a command says otherwise.  ibsim says for each
 *                port that it supports all it knows.
 *     enabled    where a command told what is supported, that, until somebody sets less;
 *                else ibsim's; where it is told what is active, that and less, until an SM
 *                sets extended speeds.  The link does not train again for it
 *
 * A device that withholds has 0 in the fields of extended speeds, and SDR as
 * LinkSpeedActive, unless bit 31 of the attribute modifier is set
 * (SMSupportExtendedSpeeds).  It keeps SubnetTimeOut, thresholds and the like when an SM
 * sets them.  ibsim forgets them, so OpenSM would set PortInfo in each heavy sweep, with bit 31,
 * and learn from the answer what is withheld.
 *
 * Of those, one that refuses answers a Get with that bit by a status and zeros, and one that ignores, not at
 * all.
 *
 * An end port of a device that withholds answers a Get without its M_Key only where its protection
 * level is below 2; ibsim answers all.
 *
 * The rates of the topology's file are in the file that the environment's
 * TRIAD_LAB_RATES names, a line each: GUID of the node in hexadecimal digits, port, rate
 * as "4xNDR".  With TRIAD_LAB_WITHHOLD, all devices withhold.  Commands:
 *
 *     Speed "leaf-01"[3] active=4xNDR
 *     Speed "leaf-01"[3] supported=4xXDR
 *     Speed "leaf-01" withhold
 *     Speed "leaf-01" refuse
 *     Speed "leaf-01" ignore
 *     Speed "leaf-01" answer
 *
 * ibsim resolves names as in sim_details.h.
 *
 * Thread-safety: none.
 * Source: IBA volume 1, 14.2.5.6; rdma-core, libibmad/fields.c, for XDR. */
#ifndef LAB_SIM_SPEEDS_H
#define LAB_SIM_SPEEDS_H

#include "ib/link.h"
#include "tests/lab/sim_details.h"

/* A parsed command. */
struct sim_speed_setting {
	enum {
		SIM_SPEED_ACTIVE,
		SIM_SPEED_SUPPORTED,
		SIM_SPEED_WITHHOLD,
		SIM_SPEED_REFUSE,
		SIM_SPEED_IGNORE,
		SIM_SPEED_ANSWER
	} kind;
	char node[SIM_NODE_NAME_SIZE];
	int port;
	struct triad_link_rate rate;
};

struct sim_speeds;

/* Reads what the environment says.  NULL when memory is short. */
struct sim_speeds *sim_speeds_new(void);

/* Returns false if the line is no such command. */
bool sim_speeds_parse(const char *line, struct sim_speed_setting *setting);

/* As sim_details_set(). */
void sim_speeds_set(struct sim_speeds *speeds, const struct sim_speed_setting *setting,
	const char *dump, char *answer, size_t size);

/* Looks at a request.  Returns whether it is for a PortInfo that depends on the node. */
bool sim_speeds_is_half_request(struct sim_speeds *speeds, const uint8_t *mad);

/* Takes, of a Set, what ibsim is not to do; 'node_info' is the node's, as a MAD. */
void sim_speeds_take(struct sim_speeds *speeds, const uint8_t *node_info, uint8_t *mad);

/* Completes ibsim's PortInfo.  'node_info' is the node's, as a MAD; NULL: not asked,
 * because sim_speeds_is_half_request() was false.  Returns false when the device does not
 * answer. */
bool sim_speeds_complete(
	const struct sim_speeds *speeds, const uint8_t *node_info, uint8_t *mad);

#endif
