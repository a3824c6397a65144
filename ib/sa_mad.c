/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/sa_mad.h"

#include <errno.h>
#include <string.h>

#include "triad/wire.h"

enum { RESPONSE = 0x80, GET_RESPONSE = 0x81 };
enum { ATTRIBUTE_NOTICE = 0x02, ATTRIBUTE_INFORM_INFO = 0x03 };

/* Offsets in an SA MAD. */
enum {
	AT_METHOD = 3,
	AT_STATUS = 4,
	AT_TID = 12,
	AT_ATTRIBUTE = 16,
	AT_SM_KEY = 36,
	AT_OFFSET = 44,
	AT_MASK = 48,
};
enum { DATA = TRIAD_SA_MAD_DATA };

static void put_in_mad(uint8_t *mad, size_t at, size_t n, uint64_t value)
{
	struct triad_wire w;

	triad_wire_init(&w, mad + at, n);
	triad_wire_put(&w, n, value);
}

void triad_sa_mad_request(
	uint8_t mad[TRIAD_MAD_SIZE], uint8_t method, uint16_t attribute, uint32_t tid)
{
	memset(mad, 0, TRIAD_MAD_SIZE);
	mad[0] = 1;
	mad[1] = TRIAD_SA_CLASS;
	mad[2] = TRIAD_SA_CLASS_VERSION;
	mad[AT_METHOD] = method;
	put_in_mad(mad, AT_TID, 4, tid);
	put_in_mad(mad, AT_ATTRIBUTE, 2, attribute);
}

void triad_sa_mad_trust(uint8_t mad[TRIAD_MAD_SIZE], uint64_t sm_key, uint64_t mask)
{
	put_in_mad(mad, AT_SM_KEY, 8, sm_key);
	put_in_mad(mad, AT_MASK, 8, mask);
}

void triad_sa_mad_inform(uint8_t mad[TRIAD_MAD_SIZE], uint16_t trap, uint32_t tid)
{
	uint8_t *info = mad + DATA;

	triad_sa_mad_request(mad, TRIAD_SA_METHOD_SET, ATTRIBUTE_INFORM_INFO, tid);
	put_in_mad(info, 16, 2, 0xffff);       /* LIDRangeBegin: any */
	info[22] = 1;                          /* IsGeneric */
	info[23] = 1;                          /* Subscribe */
	put_in_mad(info, 24, 2, 0xffff);       /* Type: any */
	put_in_mad(info, 26, 2, trap);         /* TrapNumber */
	put_in_mad(info, 28, 4, 1u << 8 | 18); /* QPN, RespTimeValue: 1 s */
	put_in_mad(info, 33, 3, 0xffffff);     /* ProducerType: any */
}

bool triad_sa_mad_is_report(const uint8_t *mad, size_t size, uint16_t *trap)
{
	if (size < TRIAD_MAD_SIZE || mad[AT_METHOD] != TRIAD_SA_METHOD_REPORT ||
		triad_wire_number(mad, AT_ATTRIBUTE, 2) != ATTRIBUTE_NOTICE)
		return false;
	*trap = (uint16_t)triad_wire_number(mad, DATA + 4, 2);
	return true;
}

int triad_sa_mad_judge(
	const uint8_t *mad, size_t size, uint8_t method, uint32_t tid, bool has_failed)
{
	/* A late answer to an earlier request: go on waiting. */
	if (size < AT_ATTRIBUTE || triad_wire_number(mad, AT_TID, 4) != tid)
		return EAGAIN;
	/* Of a request that timed out only the header comes back. */
	if (has_failed)
		return ETIMEDOUT;
	if (size < DATA ||
		(mad[AT_METHOD] != (method | RESPONSE) &&
			mad[AT_METHOD] != GET_RESPONSE))
		return EPROTO;
	return triad_wire_number(mad, AT_STATUS, 2) ? EACCES : 0;
}

size_t triad_sa_mad_stride(const uint8_t *mad)
{
	return 8 * triad_wire_number(mad, AT_OFFSET, 2);
}
