/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fixture of tests of paths: a plan, the fabric and the paths built from it, and a
 * policy compiled for that fabric. */
#ifndef TRIAD_TESTS_UNIT_QOS_PATH_FIXTURE_H
#define TRIAD_TESTS_UNIT_QOS_PATH_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "qos/answer.h"
#include "tests/sim/plans.h"
#include "tests/unit/run.h"

static struct plan *plan;
static struct triad_fabric *fabric;
static struct triad_paths *paths;
static struct triad_policy *policy;
static struct triad_classifier *classifier;

static inline void drop_built(void)
{
	triad_classifier_free(classifier);
	classifier = NULL;
	triad_policy_unref(policy);
	policy = NULL;
	triad_paths_unref(paths);
	paths = NULL;
	triad_fabric_unref(fabric);
	fabric = NULL;
}

static inline void drop_all(void)
{
	drop_built();
	plan_free(plan);
	plan = NULL;
}

/* Builds the fabric and the paths from the present plan. */
static inline void build(void)
{
	drop_built();
	fabric = plan_build(plan);
	ck_assert_int_eq(triad_paths_build(fabric, &paths), 0);
}

static inline uint32_t port_of(unsigned node, unsigned number)
{
	return plan_index(fabric, plan, node, number);
}

static inline struct triad_walk walk_to(uint32_t from, uint32_t to, unsigned dlid)
{
	struct triad_walk walk;

	triad_paths_walk(paths, from, to, (uint16_t)dlid, false, &walk);
	return walk;
}

/* The fabric that most tests begin with.  Hosts 2 and 3 are at switch 0, hosts 4 and 5
 * at switch 1, two links between the switches:
 *
 *     host 2 --1           5-----5           1-- host 4
 *               switch 0            switch 1
 *     host 3 --2           6-----6           2-- host 5 */
static inline void plan_two_switches(unsigned lmc)
{
	drop_all();
	plan = plan_new();
	plan_add_switch(plan, 6);
	plan_add_switch(plan, 6);
	for (unsigned i = 0; i < 4; i++)
		plan_link(plan, i / 2, 1 + i % 2, plan_add_host(plan, 1), 1);
	plan_link(plan, 0, 5, 1, 5);
	plan_link(plan, 0, 6, 1, 6);
	plan_give_lids(plan, lmc);
	plan_route(plan);
}

/* Compiles a policy in OpenSM's syntax, with a default level added. */
static inline void use_policy(const char *text)
{
	static struct triad_diags diags;
	char whole[4096], message[2 * TRIAD_DIAG_TEXT_SIZE] = "";
	int error;

	triad_classifier_free(classifier);
	triad_policy_unref(policy);
	classifier = NULL;
	policy = NULL;
	snprintf(whole, sizeof(whole), "%s", text);
	error = triad_policy_parse(whole, strlen(whole), "p", NULL, &policy, &diags);
	if (error)
		triad_diags_format(&diags, 0, message, sizeof(message));
	ck_assert_msg(!error, "%s", message);
	ck_assert_int_eq(triad_classifier_compile(policy, fabric, &classifier), 0);
}

#endif
