/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/bench/passbench.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* After a pass, plugins are notified of its end and may read the subnet. */
#define REST_US 400000

/* OpenSM has no prototype of it in a header. */
int osm_qos_setup(osm_opensm_t *osm);

struct hooks {
	void (*sl2vl)(void *context, osm_physp_t *port, uint8_t in, uint8_t out,
		ib_slvl_table_t *table);
	void (*vlarb)(void *context, osm_physp_t *port, uint8_t number,
		ib_vl_arb_table_t *block, unsigned length, unsigned index);
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct hooks swap(osm_opensm_t *osm, struct hooks hooks)
{
	struct osm_routing_engine *engine = osm->routing_engine_used;
	struct hooks old = {engine->update_sl2vl, engine->update_vlarb};

	engine->update_sl2vl = hooks.sl2vl;
	engine->update_vlarb = hooks.vlarb;
	return old;
}

static uint64_t time_pass(osm_opensm_t *osm, struct hooks hooks)
{
	struct hooks old = swap(osm, hooks);
	uint64_t begun_ns = now_ns();

	osm_qos_setup(osm);
	begun_ns = now_ns() - begun_ns;
	swap(osm, old);
	osm_opensm_report_event(osm, OSM_EVENT_ID_UCAST_ROUTING_DONE, NULL);
	usleep(REST_US);
	return begun_ns;
}

static void write_times(FILE *out, const char *name, const uint64_t *times, unsigned n)
{
	fprintf(out, "\"%s\": [", name);
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", times[i]);
	fprintf(out, "], ");
}

void triad_passbench(osm_opensm_t *osm, unsigned long n, FILE *out)
{
	uint64_t *stock = calloc(n + 1, sizeof(*stock));
	uint64_t *ours = calloc(n + 1, sizeof(*ours));
	const struct hooks none = {NULL, NULL};
	struct hooks hooks;
	long before;

	if (!stock || !ours || !osm->routing_engine_used) {
		fprintf(out, "{\"error\": \"no routing or no memory\"}\n");
		free(stock);
		free(ours);
		return;
	}
	hooks = swap(osm, none);
	swap(osm, hooks);
	before = (long)osm->stats.qp0_mads_sent;
	for (unsigned long i = 0; i < n; i++) {
		stock[i] = time_pass(osm, none);
		ours[i] = time_pass(osm, hooks);
	}
	fprintf(out, "{");
	write_times(out, "stock_ns", stock, n);
	write_times(out, "triad_ns", ours, n);
	fprintf(out, "\"hooked\": %s, \"sent\": %ld}\n", hooks.sl2vl ? "true" : "false",
		(long)osm->stats.qp0_mads_sent - before);
	free(stock);
	free(ours);
}
