/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/tables/hooks.h"

#include <pthread.h>

#define MAX_ENGINES 16 /* OpenSM knows a dozen */

struct engine {
	struct osm_routing_engine *engine;
	struct triad_engine_hooks own;
};

static struct {
	pthread_mutex_t lock; /* of 'engines' and the hooks in them */
	struct engine engines[MAX_ENGINES];
	unsigned n;
	/* Used only by the SM's thread. */
	triad_sl2vl_hook sl2vl;
	triad_vlarb_hook vlarb;
	void *owner;
} hooks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out,
	ib_slvl_table_t *table)
{
	(void)context;
	hooks.sl2vl(hooks.owner, port, in, out, table);
}

static void update_vlarb(void *context, osm_physp_t *port, uint8_t number,
	ib_vl_arb_table_t *block, unsigned length, unsigned index)
{
	(void)context;
	hooks.vlarb(hooks.owner, port, number, block, length, index);
}

/* NULL: there is no place for the engine, which then keeps its own hooks. */
static struct engine *hooks_of(struct osm_routing_engine *engine)
{
	for (unsigned i = 0; i < hooks.n; i++)
		if (hooks.engines[i].engine == engine)
			return &hooks.engines[i];
	if (hooks.n == MAX_ENGINES)
		return NULL;
	hooks.engines[hooks.n].engine = engine;
	return &hooks.engines[hooks.n++];
}

static void install(struct osm_routing_engine *engine)
{
	struct engine *entry = engine ? hooks_of(engine) : NULL;

	if (!entry)
		return;
	/* Called before each sweep.  If a hook is not ours, the engine has set it since
	 * the last sweep: keep it as the engine's own. */
	entry->own.context = engine->context;
	if (engine->update_sl2vl != update_sl2vl)
		entry->own.sl2vl = engine->update_sl2vl;
	if (engine->update_vlarb != update_vlarb)
		entry->own.vlarb = engine->update_vlarb;
	engine->update_sl2vl = update_sl2vl;
	engine->update_vlarb = update_vlarb;
}

void triad_hooks_install(struct osm_opensm *osm, triad_sl2vl_hook sl2vl,
	triad_vlarb_hook vlarb, void *owner)
{
	pthread_mutex_lock(&hooks.lock);
	hooks.sl2vl = sl2vl;
	hooks.vlarb = vlarb;
	hooks.owner = owner;
	for (struct osm_routing_engine *engine = osm->routing_engine_list; engine;
		engine = engine->next)
		install(engine);
	/* OpenSM falls back to this one when all of the list fail. */
	install(osm->default_routing_engine);
	pthread_mutex_unlock(&hooks.lock);
}

void triad_hooks_remove(void)
{
	pthread_mutex_lock(&hooks.lock);
	for (unsigned i = 0; i < hooks.n; i++) {
		struct engine *entry = &hooks.engines[i];

		/* Leave hooks that the engine has set since. */
		if (entry->engine->update_sl2vl == update_sl2vl)
			entry->engine->update_sl2vl = entry->own.sl2vl;
		if (entry->engine->update_vlarb == update_vlarb)
			entry->engine->update_vlarb = entry->own.vlarb;
	}
	hooks.n = 0;
	pthread_mutex_unlock(&hooks.lock);
}

struct triad_engine_hooks triad_hooks_of_engine(const struct osm_opensm *osm)
{
	struct osm_routing_engine *used = osm->routing_engine_used;
	struct triad_engine_hooks own = {0};

	if (!used)
		return own;
	/* The engine's own hooks: those that we keep for it, or else the present
	 * ones. */
	pthread_mutex_lock(&hooks.lock);
	own = (struct triad_engine_hooks){
		used->context, used->update_sl2vl, used->update_vlarb};
	for (unsigned i = 0; i < hooks.n; i++)
		if (hooks.engines[i].engine == used)
			own = hooks.engines[i].own;
	pthread_mutex_unlock(&hooks.lock);
	return own;
}

bool triad_hooks_has_other(const struct osm_opensm *osm)
{
	struct triad_engine_hooks own = {0};

	/* OpenSM frees its engines at its end. */
	if (!osm_exit_flag)
		own = triad_hooks_of_engine(osm);
	return own.sl2vl || own.vlarb;
}
