/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Management datagrams, and their transport.
 *
 * A transport sends one 256-octet MAD and returns, later, either the answer or the MAD
 * itself with a status that says why there is none.  The plugin's is a umad descriptor;
 * a test's is a table of answers.  The user of a transport also keeps deadlines of its
 * own, because a transport may silently lose a MAD.
 *
 * Transaction IDs: the low 32 bits are the caller's, the high 32 the transport's.  What
 * goes over the wire may have others: a transport gives the caller's back with the reply.
 *
 * Thread-safety: a transport is used by one thread.
 * Spec: IBA volume 1, 13.4 (MAD format), 13.4.7 (status). */
#ifndef TRIAD_MAD_H
#define TRIAD_MAD_H

#include <stddef.h>
#include <stdint.h>

#define TRIAD_MAD_SIZE 256

enum {
	TRIAD_MAD_METHOD_GET = 0x01,
	TRIAD_MAD_METHOD_SET = 0x02,
	TRIAD_MAD_METHOD_TRAP = 0x05,
	TRIAD_MAD_METHOD_GET_RESPONSE = 0x81,
	TRIAD_MAD_CLASS_SUBNET_LID = 0x01, /* SMPs by LID */
	TRIAD_MAD_CLASS_PERFORMANCE = 0x04,
};

struct triad_mad_address {
	uint16_t lid;
	uint16_t pkey_index; /* in the local port's P_Key table */
	uint32_t qpn;        /* 1 for the GSI */
	uint32_t qkey;
	uint8_t sl;
};

#define TRIAD_MAD_GSI_QKEY 0x80010000

struct triad_mad_reply {
	/* 0, or the errno of a send that failed; ETIMEDOUT mostly.  EREMCHG: a reply
	 * came from 'lid', which was not asked; it must not be used. */
	int status;
	uint16_t lid;
	size_t size; /* octets used of 'mad' */
	uint8_t mad[TRIAD_MAD_SIZE];
};

struct triad_mad_transport {
	void *context;
	/* Sends 'mad' (TRIAD_MAD_SIZE octets) and does not wait.  Returns 0, EAGAIN
	 * (the transport is full: again after the next reply) or another errno. */
	int (*send)(void *context, const struct triad_mad_address *to,
		const uint8_t *mad, unsigned timeout_ms);
	/* Takes the next reply, waiting at most 'wait_us' for it.  Returns 0,
	 * EAGAIN (none in that time) or another errno (the transport is broken). */
	int (*receive)(void *context, uint64_t wait_us, struct triad_mad_reply *reply);
	/* Copies the P_Keys in the local port's present table, at most 'most', and
	 * returns how many; 0: it can't be read.  NULL: the transport does not know
	 * them. */
	size_t (*pkeys)(void *context, uint16_t *pkeys, size_t most);
};

#endif
