/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How a MAD begins that asks for an attribute: base version 1, a class whose version is 1, Get,
 * the transaction [IBA 13.4.2].
 *
 * Thread-safety: a function without state. */
#ifndef TRIAD_IB_MAD_GET_H
#define TRIAD_IB_MAD_GET_H

#include <string.h>

#include "triad/mad.h"
#include "triad/wire.h"

/* Empties the MAD and begins it; what is put next is the attribute. */
static inline void triad_mad_begin_get(struct triad_wire *w,
	uint8_t mad[TRIAD_MAD_SIZE], uint8_t mgmt_class, uint32_t tid)
{
	memset(mad, 0, TRIAD_MAD_SIZE);
	triad_wire_init(w, mad, TRIAD_MAD_SIZE);
	triad_wire_put(w, 1, 1);
	triad_wire_put(w, 1, mgmt_class);
	triad_wire_put(w, 1, 1);
	triad_wire_put(w, 1, TRIAD_MAD_METHOD_GET);
	triad_wire_put(w, 4, 0);
	triad_wire_put(w, 8, tid);
}

#endif
