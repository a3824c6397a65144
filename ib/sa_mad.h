/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MADs to and from the subnet administration.
 *
 * A table arrives as one MAD of any size: the kernel joins the RMPP segments and keeps
 * the header of the first.
 *
 * Thread-safety: no state.
 * Spec: IBA volume 1, 15.2 (SA MADs), 13.4.8.3 InformInfo, 13.4.9 Report. */
#ifndef TRIAD_IB_SA_MAD_H
#define TRIAD_IB_SA_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/mad.h"

#define TRIAD_SA_CLASS 0x03
#define TRIAD_SA_CLASS_VERSION 2

enum {
	TRIAD_SA_METHOD_SET = 0x02,
	TRIAD_SA_METHOD_REPORT = 0x06,
	TRIAD_SA_METHOD_GET_TABLE = 0x12,
	TRIAD_SA_METHOD_REPORT_RESPONSE = 0x86,
};

/* Makes a request: its header, then zeros. */
void triad_sa_mad_request(
	uint8_t mad[TRIAD_MAD_SIZE], uint8_t method, uint16_t attribute, uint32_t tid);

/* Makes the request a trusted one, with the SM_Key, for records in which the components
 * of 'mask' are 0. */
void triad_sa_mad_trust(uint8_t mad[TRIAD_MAD_SIZE], uint64_t sm_key, uint64_t mask);

/* Makes the request to report a trap to this port's GSI. */
void triad_sa_mad_inform(uint8_t mad[TRIAD_MAD_SIZE], uint16_t trap, uint32_t tid);

/* True when it is a report; then '*trap' is what it is about. */
bool triad_sa_mad_is_report(const uint8_t *mad, size_t size, uint16_t *trap);

/* Judges a received MAD while the answer to request 'tid' of 'method' is awaited;
 * 'has_failed': the kernel returns the request.  Returns 0: it is the answer; EAGAIN:
 * it is another MAD; ETIMEDOUT; EPROTO: malformed; EACCES: refused. */
int triad_sa_mad_judge(
	const uint8_t *mad, size_t size, uint8_t method, uint32_t tid, bool has_failed);

/* The offset of the records in an answer's MAD; and the octets from one record to the
 * next, as the answer states. */
#define TRIAD_SA_MAD_DATA 56
size_t triad_sa_mad_stride(const uint8_t *mad);

#endif
