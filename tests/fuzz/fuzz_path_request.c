/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests for paths as they come off the wire, answered on a small fabric with a
 * policy that has every feature: any answer must be possible on the fabric and within
 * the limits of its QoS level.
 *
 * Input: an octet of flags (CHOICE_*), the LID of the requester (2 octets), the
 * component mask (8 octets), then the attribute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qos/explain.h"
#include "ib/rates.h"
#include "qos/restrict.h"
#include "tests/sim/plans.h"
#include "triad/wire.h"
#include "tests/fuzz/fuzz.h"

#define CHOICE_MULTI 0x01
#define CHOICE_TABLE 0x02 /* SubnAdmGetTable */
/* 0x04 is no choice any more; the seeds have the others where they were. */
#define CHOICE_NO_POLICY 0x08
#define CHOICE_MARKED 0x10
#define CHOICE_SMALL_ROOM 0x20

#define HEAD_SIZE 11
#define RECORD_SIZE 256
#define ROOM 600
#define SMALL_ROOM 3

/* --- policy and fabric --- */

static const char policy_text[] =
	"port-groups\n"
	"port-group\nname: some\nport-guid: 0x3001, 0x5001\nend-port-group\n"
	"port-group\nname: one\npkey: 1\nend-port-group\nend-port-groups\n"
	"qos-levels\n"
	"qos-level\nname: DEFAULT\nsl: 0\nend-qos-level\n"
	"qos-level\nname: all\nsl: 1\nmtu-limit: 3\nrate-limit: 7\npacket-life: 12\n"
	"tclass: 9\npath-bits: 1-2\npkey: 1-5\nend-qos-level\n"
	"qos-level\nname: rate\nsl: 2\nrate-limit: 11\nend-qos-level\n"
	"qos-level\nname: bits\nsl: 1\npath-bits: 3\nmtu-limit: 4\nend-qos-level\n"
	"end-qos-levels\n"
	"qos-match-rules\n"
	"qos-match-rule\nsource: some\ndestination: one\nservice-id: 1-0xffff\n"
	"qos-level-name: all\nend-qos-match-rule\n"
	"qos-match-rule\nqos-class: 1-9\npkey: 2-5\nqos-level-name: rate\n"
	"end-qos-match-rule\n"
	"qos-match-rule\ntclass: 7\nqos-level-name: bits\nend-qos-match-rule\n"
	"qos-match-rule\ndestination: some\nsl: 1\nqos-level-name: all\n"
	"end-qos-match-rule\n"
	"end-qos-match-rules\n"
	"partition-levels\npartition-level\npkey: 2\nqos-level-name: rate\n"
	"end-partition-level\nend-partition-levels\n";

struct fixture {
	struct triad_paths *paths, *marked;
	struct triad_classifier *classifier;
	struct triad_policy *policy;
};

/* Hosts 2 and 3 are at switch 0, 4 and 5 at switch 1; two links connect the switches; 6
 * and 7 have only a link to each other. */
static struct plan *make_plan(void)
{
	static const uint16_t pkeys[][3] = {{0xffff, 0x8001, 0x0002},
		{0xffff, 0x0001, 0x8002}, {0x7fff, 0x8001, 0x8005}, {0x8002, 0, 0}};
	struct plan *plan = plan_new();

	plan_add_switch(plan, 6);
	plan_add_switch(plan, 6);
	for (unsigned i = 0; i < 4; i++) {
		unsigned host = plan_add_host(plan, 2);

		plan_link(plan, i / 2, 1 + i % 2, host, 1);
		plan_link(plan, i / 2, 3 + i % 2, host, 2);
		plan_set_pkeys(plan_port(plan, host, 1), pkeys[i], 3);
		plan_set_sls(plan_port(plan, host, 1), 0, i == 1 ? 0x0007 : 0x7fff);
	}
	plan_add_host(plan, 1);
	plan_add_host(plan, 1);
	plan_link(plan, 0, 5, 1, 5);
	plan_link(plan, 0, 6, 1, 6);
	plan_link(plan, 6, 1, 7, 1);
	plan_add_alias(plan, UINT64_C(0xa000000000000001), 0x3001);
	plan_add_alias(plan, UINT64_C(0xa000000000000002), 0x5002);
	plan_add_partition(plan, 1, 3, "one");
	plan_add_partition(plan, 0x7fff, 1, "Default");
	plan_give_lids(plan, 2);
	plan_route(plan);
	plan_port(plan, 5, 2)->port.lid = 0; /* not yet configured */
	plan->nodes[1].lft[8] = PLAN_NO_ROUTE;
	plan->sa.qos = true;
	for (unsigned in = 0; in < 7; in++)
		plan_set_sls(plan_port(plan, 0, 6), in, in % 2 ? 0x00ff : 0xff0f);
	plan_port(plan, 4, 1)->port.mtu_cap = 4;
	plan_port(plan, 3, 1)->port.rate = 12;
	return plan;
}

static const struct fixture *fixture(void)
{
	static struct fixture made;
	static struct triad_diags diags;
	struct plan *plan;
	struct triad_fabric *fabric;

	if (made.paths)
		return &made;
	plan = make_plan();
	fabric = plan_build(plan);
	require(!triad_policy_parse(policy_text, sizeof(policy_text) - 1, "policy",
			NULL, &made.policy, &diags),
		"policy");
	require(!triad_classifier_compile(made.policy, fabric, &made.classifier) &&
			!triad_paths_build(fabric, &made.marked) &&
			!triad_paths_build(fabric, &made.paths),
		"memory");
	triad_paths_mark_port(made.marked, 0x5001);
	triad_paths_mark_route(made.marked, 0x1000, 0);
	triad_fabric_unref(fabric);
	plan_free(plan);
	return &made;
}

/* --- checks of an answer --- */

static bool is_lid_of(const struct triad_paths *paths, uint32_t port, uint16_t lid)
{
	const struct triad_path_end *end = &paths->ends[port];

	return lid && lid >= end->lid && lid < end->lid + (1u << end->lmc);
}

static void check_route(const struct triad_paths *paths, uint32_t from, uint32_t to,
	const struct triad_path_record *path)
{
	struct triad_walk walk;

	triad_paths_walk(paths, from, to, path->dlid, true, &walk);
	require(walk.end == TRIAD_WALK_ARRIVED, "route arrives");
	require(walk.links == path->links, "links counted");
	for (unsigned i = 0; i < walk.n_hops; i++)
		require(walk.hops[i].sls >> path->sl & 1, "SL has a VL on every hop");
	require(path->mtu >= 1 && path->mtu <= walk.mtu, "MTU that the links carry");
	require(triad_rate_rank(path->rate) && triad_rate_rank(path->rate) <= walk.rank,
		"rate that the links carry");
	require(path->sl < 16 && path->life < 64, "values in range");
	require(triad_paths_share_this_pkey(paths, from, to, path->pkey),
		"P_Key shared");
}

static void check_level(const struct triad_policy_level *level,
	const struct triad_path_end *to, const struct triad_path_record *path)
{
	require(!level->has_sl || path->sl == level->sl, "SL of the level");
	require(!level->has_mtu_limit || path->mtu <= level->mtu_limit,
		"MTU within the limit");
	require(!level->has_rate_limit ||
			triad_rate_rank(path->rate) <=
				triad_rate_rank(level->rate_limit),
		"rate within the limit");
	require(!level->has_tclass || path->tclass == level->tclass,
		"TClass of the level");
	require(!level->pkeys.n || triad_ranges_has(&level->pkeys, path->pkey & 0x7fff),
		"P_Key of the level");
	require(triad_path_bits_allow(level, to, path->dlid), "path bits of the level");
}

static void check_asked(
	const struct triad_path_request *request, const struct triad_path_record *path)
{
	const unsigned has = request->has;

	require(!(has & TRIAD_HAS_SL) || path->sl == request->sl, "SL asked for");
	require(!(has & TRIAD_HAS_PKEY) || path->pkey == request->pkey,
		"P_Key asked for");
	require(!(has & TRIAD_HAS_REVERSIBLE) || !request->reversible ||
			path->reversible,
		"reversible");
	require(!(has & TRIAD_HAS_MTU) ||
			request->mtu_selector != TRIAD_SELECT_GREATER ||
			path->mtu > request->mtu,
		"MTU greater");
	require(!(has & TRIAD_HAS_MTU) || request->mtu_selector != TRIAD_SELECT_LESS ||
			path->mtu < request->mtu,
		"MTU less");
	if (request->multi)
		return;
	require(!(has & TRIAD_HAS_DLID) || path->dlid == request->dlid,
		"DLID asked for");
	require(!(has & TRIAD_HAS_SLID) || path->slid == request->slid,
		"SLID asked for");
}

static void check_record(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, const struct triad_path_record *path)
{
	const struct triad_paths *paths = snapshot->paths;
	uint32_t from = triad_fabric_find_alias(paths->fabric, path->sgid.guid);
	uint32_t to = triad_fabric_find_alias(paths->fabric, path->dgid.guid);
	uint32_t level, rule;

	require(from != TRIAD_FABRIC_NONE && to != TRIAD_FABRIC_NONE, "ends known");
	require(is_lid_of(paths, from, path->slid), "SLID is the source's");
	require(is_lid_of(paths, to, path->dlid), "DLID is the destination's");
	check_route(paths, from, to, path);
	check_asked(request, path);
	level = triad_answer_level(snapshot, request, from, to, &rule);
	require((level == TRIAD_POLICY_NONE) == !snapshot->classifier, "a level");
	if (level != TRIAD_POLICY_NONE)
		check_level(
			&triad_classifier_policy(snapshot->classifier)->levels[level],
			&paths->ends[to], path);
}

static void check_answer(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, const struct triad_answer *answer)
{
	unsigned max = UINT32_MAX;

	require(answer->n <= answer->room, "records within their room");
	require(answer->kind <= TRIAD_ANSWER_FALL_BACK, "a kind of answer");
	require((answer->kind == TRIAD_ANSWER_FALL_BACK) ==
			(answer->fallback != TRIAD_FALLBACK_NOT),
		"a reason to pass");
	require((answer->kind == TRIAD_ANSWER_STATUS) ==
			(answer->status != TRIAD_SA_OK),
		"a status");
	if (request->has & TRIAD_HAS_N_PATHS && request->multi)
		max = request->n_paths;
	if (request->one)
		max = 1;
	require(answer->kind != TRIAD_ANSWER_RECORDS || answer->n <= max ||
			answer->n <= 2,
		"as many as asked for");
	for (uint32_t i = 0; answer->kind == TRIAD_ANSWER_RECORDS && i < answer->n; i++)
		check_record(snapshot, request, &answer->records[i]);
}

/* --- the request, restricted to a level --- */

static enum triad_sa_status read_request(unsigned choice, const uint8_t *record,
	size_t size, uint64_t mask, struct triad_path_request *request)
{
	if (choice & CHOICE_MULTI)
		return triad_multipath_request_read(
			record, size, mask, TRIAD_RATE_MAX, request);
	return triad_path_request_read(
		record, mask, !(choice & CHOICE_TABLE), TRIAD_RATE_MAX, request);
}

/* Restricts the request to the level: the result must be valid, ask for the level's SL,
 * and keep everything else that the request asks for. */
static void check_restricted(const struct triad_answer_snapshot *snapshot,
	unsigned choice, const uint8_t *record, size_t size, uint64_t mask,
	uint32_t n_level)
{
	const struct triad_policy *policy =
		triad_classifier_policy(snapshot->classifier);
	const struct triad_policy_level *level = &policy->levels[n_level];
	struct triad_path_request request, narrowed;
	uint8_t changed[RECORD_SIZE];

	memcpy(changed, record, size);
	require(!read_request(choice, record, size, mask, &request), "read again");
	if (!triad_request_restrict(level, &request, 0, changed, &mask))
		return;
	require(!read_request(choice, changed, size, mask, &narrowed),
		"narrowed request valid");
	require(narrowed.n_sources == request.n_sources &&
			narrowed.n_destinations == request.n_destinations &&
			!memcmp(narrowed.gids, request.gids, sizeof(request.gids)) &&
			narrowed.service_id == request.service_id &&
			narrowed.qos_class == request.qos_class,
		"nothing else changed");
	require(!level->has_sl ||
			(narrowed.has & TRIAD_HAS_SL && narrowed.sl == level->sl),
		"SL narrowed");
	require((narrowed.has & request.has) == request.has, "nothing taken away");
}

static void explain(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, const struct triad_answer *answer)
{
	static struct triad_explanation explained;
	char reason[128], text[32];

	if (answer->source == TRIAD_FABRIC_NONE ||
		answer->destination == TRIAD_FABRIC_NONE)
		return;
	triad_explain(
		snapshot, request, answer->source, answer->destination, &explained);
	require(explained.n_near <= TRIAD_EXPLAIN_MAX_NEAR, "near misses bounded");
	require(explained.answer.n <= 1, "one path explained");
	for (unsigned i = 0; i < explained.there.n_hops; i++)
		require(explained.there.hops[i].port < snapshot->paths->fabric->n_ports,
			"hops are ports");
	snprintf(text, sizeof(text), "%u", request->dlid);
	(void)triad_explain_find_end(snapshot->paths, text, reason, sizeof(reason));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct triad_path_record records[ROOM];
	const struct fixture *on = fixture();
	struct triad_answer_snapshot snapshot = {.paths = on->paths};
	struct triad_answer answer = {.records = records, .room = ROOM};
	struct triad_path_request request;
	uint8_t record[RECORD_SIZE] = {0};
	struct triad_wire w;
	unsigned choice;
	uint16_t requester;
	uint64_t mask;

	if (size < HEAD_SIZE)
		return 0;
	triad_wire_init(&w, (void *)data, HEAD_SIZE);
	choice = triad_wire_get8(&w);
	requester = triad_wire_get16(&w);
	mask = triad_wire_get64(&w);
	size -= HEAD_SIZE;
	if (size > sizeof(record))
		size = sizeof(record);
	memcpy(record, data + HEAD_SIZE, size);
	if (!(choice & CHOICE_MULTI))
		size = TRIAD_PATH_RECORD_SIZE;
	if (choice & CHOICE_SMALL_ROOM)
		answer.room = SMALL_ROOM;
	if (choice & CHOICE_MARKED)
		snapshot.paths = on->marked;
	if (!(choice & CHOICE_NO_POLICY))
		snapshot.classifier = on->classifier;
	if (read_request(choice, record, size, mask, &request))
		return 0;
	triad_answer_path(&snapshot, &request, requester, &answer);
	check_answer(&snapshot, &request, &answer);
	explain(&snapshot, &request, &answer);
	if (snapshot.classifier)
		for (uint32_t i = 0; i < on->policy->n_levels; i++)
			check_restricted(&snapshot, choice, record, size, mask, i);
	return 0;
}
