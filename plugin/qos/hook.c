/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/hook.h"

#include <errno.h>
#include <stdatomic.h>

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
	void (*receive)(struct osm_madw *madw, void *context, struct osm_madw *request))
{
	struct bind *bind = (struct bind *)osm->sa.mad_ctrl.h_bind;

	if (hook->installed)
		return 0;
	/* OpenSM frees the structure when it ends. */
	if (!bind || osm_exit_flag)
		return ENOTCONN;
	if (!is_known(bind, osm))
		return ENOTSUP;
	hook->osm = osm;
	hook->original = atomic_load(&bind->receive);
	if (!hook->original || hook->original == receive)
		return ENOTSUP;
	atomic_store(&bind->receive, receive);
	hook->installed = true;
	return 0;
}

void triad_sa_hook_remove(struct triad_sa_hook *hook,
	void (*receive)(struct osm_madw *madw, void *context, struct osm_madw *request))
{
	osm_vend_mad_recv_callback_t expected = receive;
	struct bind *bind;

	if (!hook->installed)
		return;
	/* If somebody installed another callback over ours, leave it. */
	hook->installed = false;
	bind = (struct bind *)hook->osm->sa.mad_ctrl.h_bind;
	if (bind && is_known(bind, hook->osm))
		(void)atomic_compare_exchange_strong(
			&bind->receive, &expected, hook->original);
}
