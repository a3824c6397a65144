/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/expected/remote.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/text.h"

#define WHAT_SIZE 192

/* Compares a name with a pattern that has * and ?.  After a mismatch, only the last '*'
 * has to take one octet more; earlier ones need not be tried again. */
bool triad_name_fits(const char *pattern, const char *name)
{
	const char *star = NULL, *from = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			from = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

void triad_remote_describe(const struct triad_expected *expected,
	const struct triad_expected_remote *desired, char *text, size_t size)
{
	text[0] = '\0';
	if (desired->port_guid)
		triad_text_append(
			text, size, ";port_guid=0x%016" PRIx64, desired->port_guid);
	if (desired->node_guid)
		triad_text_append(
			text, size, ";node_guid=0x%016" PRIx64, desired->node_guid);
	if (desired->name)
		triad_text_append(text, size, ";name=%s",
			triad_expected_text(expected, desired->name));
	if (desired->vendor_id)
		triad_text_append(
			text, size, ";vendor=0x%06" PRIx32, desired->vendor_id);
	if (desired->port)
		triad_text_append(text, size, ";port=%u", desired->port);
	/* Drop the first ';'. */
	for (char *p = text; *p; p++)
		*p = p[1];
}

static bool differs(uint64_t desired, uint64_t there)
{
	return desired && desired != there;
}

static bool is_asked_for(const struct triad_expected_remote *desired)
{
	return desired->port_guid || desired->node_guid || desired->vendor_id ||
		desired->name || desired->port;
}

static enum triad_remote_match judge_remote(const struct triad_fabric *fabric,
	uint32_t port, const struct triad_expected *expected,
	const struct triad_expected_remote *desired)
{
	const struct triad_fabric_port *far;
	const struct triad_fabric_node *node;

	if (!is_asked_for(desired))
		return TRIAD_REMOTE_FITS;
	if (fabric->ports[port].remote == TRIAD_FABRIC_NONE)
		return TRIAD_REMOTE_NONE;
	far = &fabric->ports[fabric->ports[port].remote];
	node = &fabric->nodes[far->node];
	if (differs(desired->port_guid, far->guid) ||
		differs(desired->node_guid, node->guid) ||
		differs(desired->vendor_id, node->vendor_id) ||
		differs(desired->port, far->number))
		return TRIAD_REMOTE_DIFFERS;
	if (desired->name &&
		!triad_name_fits(
			triad_expected_text(expected, desired->name), node->name))
		return TRIAD_REMOTE_NAME_DIFFERS;
	return TRIAD_REMOTE_FITS;
}

/* Writes "host-0007 (0x..., port 1)" and the other facts that 'desired' has. */
static void describe_far_end(const struct triad_fabric *fabric, uint32_t port,
	const struct triad_expected_remote *desired, char *text, size_t size)
{
	const struct triad_fabric_port *far;
	const struct triad_fabric_node *node;

	if (fabric->ports[port].remote == TRIAD_FABRIC_NONE) {
		snprintf(text, size, "nothing that is known");
		return;
	}
	far = &fabric->ports[fabric->ports[port].remote];
	node = &fabric->nodes[far->node];
	snprintf(text, size, "%s (0x%016" PRIx64 ", port %u",
		node->name[0] ? node->name : "a node without a name", node->guid,
		far->number);
	if (desired->port_guid)
		triad_text_append(text, size, ", port GUID 0x%016" PRIx64, far->guid);
	if (desired->vendor_id)
		triad_text_append(text, size, ", vendor 0x%06" PRIx32, node->vendor_id);
	triad_text_append(text, size, ")");
}

/* Explains a difference by all facts of both sides. */
static void explain_difference(const struct triad_fabric *fabric, uint32_t port,
	const struct triad_expected *expected,
	const struct triad_expected_remote *desired, char *why, size_t size)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	const struct triad_fabric_node *node = &fabric->nodes[at->node];
	char there[WHAT_SIZE], should[WHAT_SIZE], guid[24];

	describe_far_end(fabric, port, desired, there, sizeof(there));
	triad_remote_describe(expected, desired, should, sizeof(should));
	snprintf(guid, sizeof(guid), "0x%016" PRIx64, node->guid);
	snprintf(why, size, "%s port %u leads to %s, expected is %s",
		node->name[0] ? node->name : guid, at->number, there, should);
}

enum triad_remote_match triad_remote_compare(const struct triad_fabric *fabric,
	uint32_t port, const struct triad_expected *expected,
	const struct triad_expected_remote *desired, char *why, size_t size)
{
	enum triad_remote_match match = judge_remote(fabric, port, expected, desired);

	if (!why || !size)
		return match;
	why[0] = '\0';
	if (match != TRIAD_REMOTE_FITS)
		explain_difference(fabric, port, expected, desired, why, size);
	return match;
}
