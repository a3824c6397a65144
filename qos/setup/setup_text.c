/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Findings in words. */
#include <inttypes.h>

#include "lib/text.h"

#include "qos/setup/setup_plan.h"
#include "triad/lists.h"

#define NO_VL 15 /* packets on VL15 are dropped [IBA 7.6.6] */

static const struct triad_policy_scope *scope_of(
	const struct triad_setup_finding *finding, const struct triad_policy *policy)
{
	return finding->is_vlarb ? &policy->vlarb[finding->scope].scope
				 : &policy->sl2vl[finding->scope].scope;
}

static void add_node_words(struct triad_text_buffer *words,
	const struct triad_setup_finding *finding, const struct triad_fabric *fabric)
{
	const struct triad_fabric_node *node = &fabric->nodes[finding->node];

	triad_text_add(words, "%s '%s' (0x%016" PRIx64 ")",
		triad_node_type_name(node->type), node->name, node->guid);
}

static void add_vls(struct triad_text_buffer *words, unsigned n)
{
	if (n == 1)
		triad_text_add(words, "1 data VL (VL 0)");
	else
		triad_text_add(words, "%u data VLs (VL 0 to %u)", n, n - 1);
}

/* "; so are those of 3 more ports" */
static void add_others(struct triad_text_buffer *words,
	const struct triad_setup_finding *finding, const char *likewise)
{
	uint32_t n = finding->n_ports - 1;

	if (n)
		triad_text_add(words, "; %s %" PRIu32 " more port%s", likewise, n,
			n == 1 ? "" : "s");
}

static const char *table_of(const struct triad_setup_finding *finding)
{
	return finding->is_high ? "high" : "low";
}

/* Which of a scope's lists name a port beyond the node's highest one. */
static void report_beyond(struct triad_text_buffer *words,
	const struct triad_setup_finding *finding, const struct triad_policy *policy,
	const struct triad_fabric *fabric)
{
	const struct triad_policy_scope *scope = scope_of(finding, policy);
	bool in_to = !scope->to_any && triad_ports_has(scope->to, finding->port);
	bool in_from = !finding->is_vlarb && !scope->from_any &&
		triad_ports_has(scope->from, finding->port) &&
		fabric->nodes[finding->node].type == TRIAD_NODE_SWITCH;
	uint32_t n = finding->n_ports - 1;

	add_node_words(words, finding, fabric);
	triad_text_add(words, " has no port %u, which %s: its highest is port %u",
		finding->port,
		in_to && in_from ? "'from' and 'to' name"
			: in_to  ? "'to' names"
				 : "'from' names",
		finding->has);
	if (n)
		triad_text_add(
			words, "; nor has it %" PRIu32 " more of the ports named", n);
	triad_text_add(words, "; what it lacks is left out");
}

/* "SL 5, 6 and 9": those that go to VLs that a port with 'has' data VLs lacks. */
static void add_sls(struct triad_text_buffer *words, const uint8_t *vl, unsigned has)
{
	uint8_t sls[TRIAD_POLICY_N_VLS];
	unsigned n = 0;

	for (unsigned sl = 0; sl < TRIAD_POLICY_N_VLS; sl++)
		if (vl[sl] != NO_VL && vl[sl] >= has)
			sls[n++] = (uint8_t)sl;
	for (unsigned i = 0; i < n; i++)
		triad_text_add(words, "%s%u",
			!i                  ? "SL "
				: i + 1 < n ? ", "
					    : " and ",
			sls[i]);
}

static void describe_sl2vl(struct triad_text_buffer *words,
	const struct triad_setup_finding *finding, const struct triad_policy *policy,
	const struct triad_fabric *fabric)
{
	add_node_words(words, finding, fabric);
	triad_text_add(words, " port %u: SL %u goes to VL %u, but the port has ",
		finding->port, finding->sl, finding->vl);
	add_vls(words, finding->has);
	triad_text_add(words, ": packets of ");
	add_sls(words, policy->sl2vl[finding->scope].vl, finding->has);
	triad_text_add(words, " are dropped there (VL 15)");
	add_others(words, finding, "some are dropped likewise at");
}

/* Whether the table is not used there anyway, because it is too long. */
static bool is_long(const struct triad_setup_finding *finding,
	const struct triad_policy *policy, const struct triad_fabric *fabric)
{
	const struct triad_policy_vlarb *given = &policy->vlarb[finding->scope];
	uint32_t port = triad_fabric_find_port(fabric, finding->node, finding->port);
	unsigned cap;

	if (port == TRIAD_FABRIC_NONE)
		return false;
	cap = finding->is_high ? fabric->ports[port].vlarb_high_cap
			       : fabric->ports[port].vlarb_low_cap;
	return (finding->is_high ? given->n_high : given->n_low) > cap;
}

static void describe_vlarb_vl(struct triad_text_buffer *words,
	const struct triad_setup_finding *finding, const struct triad_policy *policy,
	const struct triad_fabric *fabric)
{
	add_node_words(words, finding, fabric);
	triad_text_add(words,
		" port %u: the %s table has an entry for VL %u, but the port has ",
		finding->port, table_of(finding), finding->vl);
	add_vls(words, finding->has);
	triad_text_add(words,
		is_long(finding, policy, fabric)
			? ": such entries would be skipped there (weight 0)"
			: ": such entries are skipped there (weight 0)");
	add_others(words, finding, "likewise at");
}

static void describe_vlarb_long(struct triad_text_buffer *words,
	const struct triad_setup_finding *finding, const struct triad_fabric *fabric)
{
	add_node_words(words, finding, fabric);
	triad_text_add(words, " port %u: the %s table has %u %s, but the port's has ",
		finding->port, table_of(finding), finding->asked,
		finding->asked == 1 ? "entry" : "entries");
	if (finding->has)
		triad_text_add(words, "%u", finding->has);
	else
		triad_text_add(words, "none");
	triad_text_add(words, ": OpenSM's default is used there instead");
	add_others(words, finding, "likewise at");
}

void triad_setup_finding_format(const struct triad_setup_finding *finding,
	const struct triad_policy *policy, const struct triad_fabric *fabric,
	char *text, size_t size)
{
	struct triad_text_buffer words = {.text = text, .size = size};

	if (!size)
		return;
	text[0] = '\0';
	if (finding->scope != TRIAD_SCOPE_NONE)
		triad_text_add(&words, "%s-scope on line %" PRIu32 ": ",
			finding->is_vlarb ? "vlarb" : "sl2vl",
			scope_of(finding, policy)->location.line);
	switch (finding->kind) {
	case TRIAD_FINDING_NO_TARGET:
		triad_text_add(&words,
			"no port that is up and has %s tables fits it: it has no "
			"effect",
			finding->is_vlarb ? "VL arbitration" : "SL2VL");
		break;
	case TRIAD_FINDING_HIDDEN:
		triad_text_add(&words,
			"wherever it fits, a later scope applies: it has no effect");
		break;
	case TRIAD_FINDING_VLARB_VL:
		describe_vlarb_vl(&words, finding, policy, fabric);
		break;
	case TRIAD_FINDING_OVERRIDDEN:
		triad_text_add(&words,
			"scopes: the routing engine has the last word on SL2VL and VL "
			"arbitration tables, and may replace what they say");
		break;
	case TRIAD_FINDING_DEADLOCK:
		triad_text_add(&words,
			"scopes: the routing engine avoids deadlocks by SLs, each on a "
			"VL of its own: SL2VL scopes may undo that; see that SLs of "
			"different layers keep different VLs");
		break;
	case TRIAD_FINDING_PORT_BEYOND:
		report_beyond(&words, finding, policy, fabric);
		break;
	case TRIAD_FINDING_SL2VL_VL:
		describe_sl2vl(&words, finding, policy, fabric);
		break;
	case TRIAD_FINDING_VLARB_LONG:
		describe_vlarb_long(&words, finding, fabric);
		break;
	case TRIAD_N_FINDINGS:
		break;
	}
}
