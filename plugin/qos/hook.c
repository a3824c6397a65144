/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/hook.h"

#include <errno.h>

/* The first members of the vendor library's private structure. */
struct bind {
	osm_vendor_t *vendor;
	void *context;
	osm_mad_pool_t *pool;
	_Atomic(osm_vend_mad_recv_callback_t) receive;
};

static bool is_known(const struct bind *bind, struct osm_opensm *osm)
{
	return bind->vendor == osm->p_vendor && bind->context == &osm->sa.mad_ctrl &&
		bind->pool == &osm->mad_pool;
}

int triad_sa_hook_install(struct triad_sa_hook *hook, struct osm_opensm *osm,
	triad_sa_hook_receive receive)
{
	triad_sa_hook_receive original;
	struct bind *bind = (struct bind *)triad_osm_peek(&osm->sa.mad_ctrl.h_bind);

	if (atomic_load(&hook->installed))
		return 0;
	/* OpenSM frees the structure when it ends. */
	if (!bind || osm_exit_flag)
		return ENOTCONN;
	if (!is_known(bind, osm))
		return ENOTSUP;
	hook->osm = osm;
	original = atomic_load(&bind->receive);
	if (!original || original == receive)
		return ENOTSUP;
	atomic_store(&hook->original, original);
	atomic_store(&bind->receive, receive);
	atomic_store(&hook->installed, true);
	return 0;
}

void triad_sa_hook_remove(struct triad_sa_hook *hook, triad_sa_hook_receive receive)
{
	osm_vend_mad_recv_callback_t expected = receive;
	struct bind *bind;

	if (!atomic_exchange(&hook->installed, false))
		return;
	bind = (struct bind *)triad_osm_peek(&hook->osm->sa.mad_ctrl.h_bind);
	/* If somebody installed another callback over ours, leave it. */
	if (bind && is_known(bind, hook->osm))
		(void)atomic_compare_exchange_strong(
			&bind->receive, &expected, atomic_load(&hook->original));
}
