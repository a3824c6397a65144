/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <time.h>

#include "plugin/qos/server_parts.h"
#include "plugin/sm_state.h"

uint64_t server_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- this SM's state --- */

bool server_is_master(const struct triad_qos_server *server)
{
	return triad_osm_peek(&server->osm->subn.sm_state) == IB_SMINFO_STATE_MASTER;
}

void triad_qos_server_hand_over(struct triad_qos_server *server)
{
	uint64_t until_us = triad_clock_now_us();
	uint_fast64_t unset = 0;

	/* After a pause of the process the snapshot is old, because another SM became
	 * master: give no extra time. */
	if (!atomic_load(&server->was_paused))
		until_us += TRIAD_QOS_AFTER_HAND_OVER_US;
	atomic_compare_exchange_strong(&server->handed_over_until_us, &unset, until_us);
}

bool triad_qos_server_answers_on(struct triad_qos_server *server)
{
	return triad_clock_now_us() < atomic_load(&server->handed_over_until_us);
}

bool server_may_answer(struct triad_qos_server *server)
{
	uint8_t state = triad_osm_peek(&server->osm->subn.sm_state);

	if (!atomic_load(&server->generation))
		return false;
	if (state == IB_SMINFO_STATE_MASTER)
		return !atomic_load(&server->handed_over_until_us);
	/* Start the time here, because the worker notices only later that this SM is
	 * standby; no request is lost until then.  While the SM discovers, the rest of
	 * the time still counts. */
	if (state == IB_SMINFO_STATE_STANDBY)
		triad_qos_server_hand_over(server);
	else if (state != IB_SMINFO_STATE_DISCOVERING)
		return false;
	return triad_qos_server_answers_on(server);
}

bool server_is_in_first_sweep(const struct triad_qos_server *server)
{
	return triad_sm_is_in_first_sweep(server->osm);
}

bool server_must_wait(struct triad_qos_server *server)
{
	return atomic_load(&server->expects) && server_is_in_first_sweep(server) &&
		!server_may_answer(server);
}

/* --- MADs that are not answered here --- */

void server_give_back(struct triad_qos_server *server, osm_madw_t *madw)
{
	osm_mad_pool_put(&server->osm->mad_pool, madw);
}
