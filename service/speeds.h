/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the speeds that a fabric's source does not know: perfmgr/devices/speeds.h in a
 * thread.
 *
 * Whoever makes a fabric calls triad_speed_reader_lay_over() before anybody else knows it,
 * and triad_speed_reader_adopt() when it is the present one.  The thread begins with a
 * fabric that has ports in question.  It sends SMPs by LID and a descriptor of its
 * own, so OpenSM's SMPs never wait for them.  What it learns is in the next fabric; who can
 * make one soon asks for news.
 *
 * Thread-safety: any thread, for all but new, stop and free.  The lock is held for a pass
 * over a fabric's ports; no other lock is taken under it. */
#ifndef TRIAD_SERVICE_SPEEDS_H
#define TRIAD_SERVICE_SPEEDS_H

#include "perfmgr/devices/speeds.h"
#include "triad/log.h"

struct triad_speed_reader;

struct triad_m_keys {
	void *context;
	/* Finds the M_Key of a port's device.  Returns false: it is not to be asked.  The
	 * thread calls this without a lock.  NULL: no M_Keys are known. */
	bool (*find)(
		void *context, uint64_t node_guid, uint8_t number, uint64_t *m_key);
};

/* 'm_keys' is copied.  NULL when memory is short. */
struct triad_speed_reader *triad_speed_reader_new(
	uint64_t port_guid, const struct triad_m_keys *m_keys, struct triad_log *log);

/* Ends the thread, in 0.2 s at most.  Accepts NULL. */
void triad_speed_reader_stop(struct triad_speed_reader *reader);
/* After the stop.  Accepts NULL. */
void triad_speed_reader_free(struct triad_speed_reader *reader);

/* See perfmgr/devices/speeds.h. */
void triad_speed_reader_lay_over(
	struct triad_speed_reader *reader, struct triad_fabric *fabric);
void triad_speed_reader_adopt(struct triad_speed_reader *reader,
	const struct triad_fabric *fabric, uint64_t again_us);
bool triad_speed_reader_take_news(struct triad_speed_reader *reader);
struct triad_speeds_counts triad_speed_reader_counts(struct triad_speed_reader *reader);

#endif
