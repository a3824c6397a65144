/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An SM's priority in the election, as one number; the greater number is better.
 *
 *     bit  24     IS_CONF_MANAGER  it holds the lease of the configuration manager
 *     bit  23     PORTS_OK         all its local ports are in good state
 *     bits 22-19                   good ports, when not all are (at most 15)
 *     bit  18     IS_MASTER        it is the master
 *     bits 17-14                   what the operator prefers, 0 to 15
 *     bits 13-8                    good ports (at most 63)
 *     bit  7      WAS_HOLDER_LAST  it was the last known holder of the lease: of two
 *                                  masters that meet when a partition heals, the one that
 *                                  got a lease from the majority stays master
 *
 * The first three names are the document's, strongest first [election-patent, "computes
 * subnet manager priority"].  Among SMs whose ports are not all good, one with more
 * good ports beats the present master, because it reaches more of the fabric.  Among
 * SMs whose ports are all good, the present master stays, however many ports the others
 * have.
 *
 * Equal numbers are decided by the id: the lower port GUID wins, as among SMs
 * [IBA 14.4.1].
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PORTMGR_PRIORITY_H
#define TRIAD_PORTMGR_PRIORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_PRIORITY_IS_CONF_MANAGER (UINT32_C(1) << 24)
#define TRIAD_PRIORITY_PORTS_OK (UINT32_C(1) << 23)
#define TRIAD_PRIORITY_IS_MASTER (UINT32_C(1) << 18)
#define TRIAD_PRIORITY_WAS_HOLDER_LAST (UINT32_C(1) << 7)
#define TRIAD_PRIORITY_MAX_PREFERENCE 15u

struct triad_priority_parts {
	bool is_conf_manager, is_master;
	bool was_holder_last;     /* of the lease, as far as is known */
	uint32_t n_ports, n_good; /* local ports */
	uint8_t preference;       /* 0 to 15 */
};

uint32_t triad_priority_make(const struct triad_priority_parts *parts);

/* Parts of a priority: whether all ports are good; a number that grows with the good
 * ports, 0 if none is good; the operator's preference. */
bool triad_priority_ports_ok(uint32_t priority);
unsigned triad_priority_health(uint32_t priority);
uint8_t triad_priority_preference(uint32_t priority);

/* Whether 'a' is the better candidate; ids differ. */
bool triad_priority_is_better(
	uint32_t a_priority, uint64_t a_id, uint32_t b_priority, uint64_t b_id);

/* The SM's own priority, 0 to 15, by which OpenSMs decide among themselves; an SM
 * without Triad has what its opensm.conf says, 0 unless set. */
struct triad_priority_sm {
	bool is_conf_manager, is_master, is_quorate, ports_ok;
	bool is_connected; /* to the other members; false: cut off, or no cluster */
};
/* Of one that leads its part of a divided fabric: below a master's with a majority, so
 * that that one gets mastership when the parts are joined. */
#define TRIAD_PRIORITY_SM_OF_PART 13u
uint8_t triad_priority_of_sm(const struct triad_priority_sm *sm);

/* Writes "IS_CONF_MANAGER PORTS_OK IS_MASTER WAS_HOLDER_LAST preference 8, 2 good
 * port(s)". */
void triad_priority_text(uint32_t priority, char *text, size_t size);

#endif
