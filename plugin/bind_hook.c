/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/bind_hook.h"

#include <errno.h>

/* The first members of the vendor library's private structure. */
struct bind {
	osm_vendor_t *vendor;
	void *context;
	osm_mad_pool_t *pool;
	_Atomic(osm_vend_mad_recv_callback_t) receive;
	_Atomic(osm_vend_mad_send_err_callback_t) fail;
};

static struct bind *find_bind(const struct triad_bind_hook *hook)
{
	struct osm_opensm *osm = hook->osm;

	return (struct bind *)(hook->bind == TRIAD_BIND_SM
			? triad_osm_peek(&osm->sm.mad_ctrl.h_bind)
			: triad_osm_peek(&osm->sa.mad_ctrl.h_bind));
}

static bool is_known_bind(const struct triad_bind_hook *hook, const struct bind *bind)
{
	struct osm_opensm *osm = hook->osm;
	const void *context = hook->bind == TRIAD_BIND_SM ? (void *)&osm->sm.mad_ctrl
							  : (void *)&osm->sa.mad_ctrl;

	return bind->vendor == osm->p_vendor && bind->context == context &&
		bind->pool == &osm->mad_pool;
}

int triad_bind_hook_install(struct triad_bind_hook *hook)
{
	struct bind *bind = find_bind(hook);
	triad_bind_receive original;
	triad_bind_fail original_fail;

	if (atomic_load(&hook->installed))
		return 0;
	/* OpenSM frees the structure when it ends. */
	if (!bind || osm_exit_flag)
		return ENOTCONN;
	if (!is_known_bind(hook, bind))
		return ENOTSUP;
	original = atomic_load(&bind->receive);
	original_fail = atomic_load(&bind->fail);
	if (!original || original == hook->receive ||
		(hook->fail && (!original_fail || original_fail == hook->fail)))
		return ENOTSUP;
	atomic_store(&hook->original, original);
	atomic_store(&hook->original_fail, original_fail);
	/* First: what the other one sends may fail. */
	if (hook->fail)
		atomic_store(&bind->fail, hook->fail);
	atomic_store(&bind->receive, hook->receive);
	atomic_store(&hook->installed, true);
	return 0;
}

void triad_bind_hook_remove(struct triad_bind_hook *hook)
{
	osm_vend_mad_recv_callback_t receive = hook->receive;
	osm_vend_mad_send_err_callback_t fail = hook->fail;
	struct bind *bind;

	if (!atomic_exchange(&hook->installed, false))
		return;
	bind = find_bind(hook);
	if (!bind || !is_known_bind(hook, bind))
		return;
	/* If somebody installed another callback over ours, leave it. */
	(void)atomic_compare_exchange_strong(
		&bind->receive, &receive, atomic_load(&hook->original));
	if (fail)
		(void)atomic_compare_exchange_strong(
			&bind->fail, &fail, atomic_load(&hook->original_fail));
}
