/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Begins a MAD that gets an attribute: base version 1, a class of version 1, Get, the
 * transaction ID [IBA 13.4.2].
 *
 * Thread-safety: a function without state. */
#ifndef TRIAD_IB_MAD_GET_H
#define TRIAD_IB_MAD_GET_H

#include <string.h>

#include "triad/mad.h"
#include "triad/wire.h"

/* Clears the MAD and writes its beginning; the caller puts the attribute next. */
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
