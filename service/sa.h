/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks the subnet administration of the master SM, and receives its reports.
 *
 * Thread-safety: one thread; a call waits 'wait_us' at most.
 * Memory: a table of TRIAD_SA_MAX_OCTETS at most.
 * Spec: IBA volume 1, 15.2 (SA MADs), 13.4.8.3 InformInfo, 13.4.9 Report. */
#ifndef TRIAD_SERVICE_SA_H
#define TRIAD_SERVICE_SA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_SA_MAX_OCTETS ((size_t)256 << 20)

enum {
	TRIAD_SA_TRAP_IN_SERVICE = 64,
	TRIAD_SA_TRAP_OUT_OF_SERVICE = 65,
};

/* Whether a trap says that ports came or went. */
static inline bool triad_sa_trap_is_of_ports(uint16_t trap)
{
	return trap == TRIAD_SA_TRAP_IN_SERVICE || trap == TRIAD_SA_TRAP_OUT_OF_SERVICE;
}

struct triad_sa;

/* Opens the local port with that GUID.  Returns 0 or an errno.  While a call waits for
 * an answer, it calls 'is_wanted' a few times a second, and returns ECANCELED if that
 * returns false. */
int triad_sa_open(uint64_t port_guid, bool (*is_wanted)(void *context), void *context,
	struct triad_sa **sa);

/* Accepts NULL. */
void triad_sa_close(struct triad_sa *sa);

/* Whether the port's P_Keys have changed since the last call; false at the first. */
bool triad_sa_has_other_pkeys(struct triad_sa *sa);

/* Asks for all records of an attribute.  '*mad' (to be freed) has them from '*records'
 * on.  Returns 0, ETIMEDOUT, EPROTO (the answer makes no sense), EACCES (refused),
 * EFBIG or another errno. */
struct triad_sa_answer {
	uint8_t *mad;
	const uint8_t *records;
	size_t size, stride;
};
int triad_sa_get_table(struct triad_sa *sa, uint16_t attribute, uint64_t wait_us,
	struct triad_sa_answer *answer);

/* The same for P_KeyTableRecords, of end ports and of switches' ports 0.  An SM gives
 * them only to a requester that sends the SM's SM_Key.  OpenSM does not answer a
 * request with a wrong key. */
int triad_sa_get_pkeys(struct triad_sa *sa, uint64_t sm_key, uint64_t wait_us,
	struct triad_sa_answer *answer);

/* Subscribes to reports of a trap.  Returns as above. */
int triad_sa_subscribe(struct triad_sa *sa, uint16_t trap, uint64_t wait_us);

/* Waits for a report of the SM and acknowledges it.  Returns 0 with the trap it was
 * about, EAGAIN (none in that time) or another errno. */
int triad_sa_wait_report(struct triad_sa *sa, uint64_t wait_us, uint16_t *trap);

/* Returns how many reports of ports came while another call waited, and resets that
 * number to 0. */
unsigned triad_sa_take_missed(struct triad_sa *sa);

/* Reports that are ignored because their sender's LID is not that of the SM
 * (PortInfo:MasterSMLID of the local port). */
struct triad_sa_unknown_senders {
	unsigned n;
	uint16_t last_lid; /* sender of the last one */
	uint16_t sm_lid;   /* the SM's */
};
/* Returns what came since the last call. */
struct triad_sa_unknown_senders triad_sa_take_unknown_senders(struct triad_sa *sa);

#endif
