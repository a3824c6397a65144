/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/setup_credit.h"

#include <errno.h>
#include <stdlib.h>

#include "qos/setup/setup_plan_parts.h"
#include "routes/check.h"

static uint8_t desired_vl(
	const void *context, uint32_t port, unsigned in_port, uint8_t sl)
{
	const struct triad_desired *desired = context;
	uint8_t octet;

	/* Without tables there is VL0 alone. */
	if (desired->ports[port].first_row == TRIAD_FABRIC_NONE)
		return 0;
	octet = triad_desired_sl2vl(
		desired, port, triad_desired_row_at(desired, port, in_port))
			->vl[sl / 2];
	return sl % 2 ? octet & 0xf : octet >> 4;
}

/* The inputs of the two checks: with the policy's tables, and with the defaults. */
struct look {
	const struct triad_routes_layout *layout;
	struct triad_routes_sls sls;
};

/* Checks the tables of 'setup'; NULL: the defaults. */
static int check_tables(struct look *look, struct triad_setup *setup,
	struct triad_routes_credit *credit)
{
	struct triad_desired desired;
	struct triad_routes_options options = {
		.sls = look->sls, .vls = {.vl = desired_vl, .context = &desired}};
	int error = triad_desired_resolve(&desired, setup, look->layout->fabric);

	if (error)
		return error;
	/* Both checks use the SLs of the policy, so only the first one sets them. */
	if (setup && !look->layout->fabric->sa.engine_has_sl)
		options.sls.all = look->sls.all = triad_setup_sls_in_use(&desired);
	error = triad_routes_check_credit(look->layout, &options, credit);
	triad_desired_clear(&desired);
	return error;
}

static int ask_engine(struct look *look, const struct triad_setup_credit_engine *engine,
	uint16_t **of)
{
	size_t n = (size_t)look->layout->n_goals * look->layout->n_switches;

	*of = calloc(n ? n : 1, sizeof(**of));
	if (!*of)
		return ENOMEM;
	/* Without an answer SLs are unknown, which is no error. */
	if (engine && !engine->ask(engine->context, look->layout, *of))
		look->sls.of = *of;
	return 0;
}

static int judge_credit(struct look *look, struct triad_setup *setup,
	enum triad_setup_credit_state *state, struct triad_routes_credit *credit)
{
	struct triad_routes_credit *without;
	int error = check_tables(look, setup, credit);

	if (error)
		return error;
	*state = credit->state == TRIAD_ROUTES_CREDIT_CLEAN
		? TRIAD_SETUP_CREDIT_CLEAN
		: TRIAD_SETUP_CREDIT_UNKNOWN;
	if (credit->state != TRIAD_ROUTES_CREDIT_LOOPS)
		return 0;
	without = malloc(sizeof(*without));
	if (!without)
		return ENOMEM;
	error = check_tables(look, NULL, without);
	*state = without->state == TRIAD_ROUTES_CREDIT_CLEAN ? TRIAD_SETUP_CREDIT_CLOSES
							     : TRIAD_SETUP_CREDIT_LOOPS;
	free(without);
	return error;
}

int triad_setup_credit_find(struct triad_setup *setup, struct triad_fabric *fabric,
	const struct triad_setup_credit_engine *engine,
	enum triad_setup_credit_state *state, struct triad_routes_credit *credit)
{
	struct triad_routes_layout *layout = NULL;
	struct look look = {0};
	uint16_t *of = NULL;
	int error;

	*state = TRIAD_SETUP_CREDIT_UNKNOWN;
	*credit = (struct triad_routes_credit){0};
	if (!setup || !fabric->sa.qos || fabric->qos.engine_has_tables)
		return 0;
	error = triad_routes_layout_make(fabric, &layout);
	if (error)
		return error;
	look.layout = layout;
	if (fabric->sa.engine_has_sl)
		error = ask_engine(&look, engine, &of);
	if (!error)
		error = judge_credit(&look, setup, state, credit);
	free(of);
	triad_routes_layout_free(layout);
	return error;
}

const char *triad_setup_credit_why_unknown(int error,
	enum triad_setup_credit_state state, const struct triad_routes_credit *credit)
{
	if (error == ENOMEM)
		return "not enough memory";
	if (error)
		return "the policy's tables are too many";
	if (state != TRIAD_SETUP_CREDIT_UNKNOWN)
		return NULL;
	if (credit->state == TRIAD_ROUTES_CREDIT_TOO_LARGE)
		return "there are too many dependencies";
	return credit->state == TRIAD_ROUTES_CREDIT_NO_SLS
		? "the routing engine can't be asked for SLs"
		: "the routing engine replaces them";
}
