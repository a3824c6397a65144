/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/message.h"

#define MAGIC 0x5443

void triad_collect_put_head(
	struct triad_wire *to, const struct triad_collect_head *head)
{
	triad_wire_put(to, 2, MAGIC);
	triad_wire_put(to, 1, TRIAD_COLLECT_VERSION);
	triad_wire_put(to, 1, head->kind);
	triad_wire_put(to, 8, head->sender);
	triad_wire_put(to, 8, head->incarnation);
}

enum triad_collect_head_is triad_collect_get_head(uint8_t *octets, size_t size,
	struct triad_collect_head *head, struct triad_wire *body)
{
	unsigned version, kind;
	bool is_ours;

	triad_wire_init(body, octets, size);
	is_ours = triad_wire_get16(body) == MAGIC;
	version = triad_wire_get8(body);
	kind = triad_wire_get8(body);
	head->sender = triad_wire_get64(body);
	head->incarnation = triad_wire_get64(body);
	head->kind = (enum triad_collect_kind)kind;
	if (body->failed || !is_ours || !head->sender)
		return TRIAD_COLLECT_HEAD_FOREIGN;
	if (version != TRIAD_COLLECT_VERSION)
		return TRIAD_COLLECT_HEAD_OTHER_VERSION;
	return kind && kind < TRIAD_COLLECT_N_KINDS ? TRIAD_COLLECT_HEAD_GOOD
						    : TRIAD_COLLECT_HEAD_UNKNOWN_KIND;
}
