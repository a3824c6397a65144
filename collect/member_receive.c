/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdlib.h>

#include "collect/member_parts.h"

/* --- handling each kind --- */

static void receive_alive(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	struct triad_collect_alive alive;

	if (!triad_collect_get_alive(body, &alive)) {
		member->counts.n_foreign++;
		return;
	}
	if (triad_peers_receive(&member->peers, head, &alive,
		    triad_member_past_us(member), now_us) &&
		!alive.is_manager)
		triad_claims_receive_alive(member->claims, head, &alive, now_us);
}

static void receive_owner(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	struct triad_collect_owner owner;
	struct triad_collect_claim *claims = NULL;
	bool good = triad_collect_get_owner(body, &owner);

	/* The size of the message limits 'n', and so the allocation. */
	if (good)
		claims = malloc((owner.n + 1) * sizeof(*claims));
	for (uint32_t i = 0; claims && good && i < owner.n; i++)
		good = triad_collect_get_claim(body, &claims[i]);
	if (claims && good)
		triad_claims_receive_owner(
			member->claims, head, &owner, claims, now_us);
	else
		member->counts.n_foreign++;
	free(claims);
}

static void receive_who_owns(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	struct triad_collect_who_owns who;
	uint64_t *guids = NULL;
	bool good = triad_collect_get_who_owns(body, &who);

	if (good)
		guids = malloc((who.n + 1) * sizeof(*guids));
	for (uint32_t i = 0; guids && i < who.n; i++)
		guids[i] = triad_wire_get64(body);
	if (guids && !body->failed)
		triad_claims_receive_who_owns(
			member->claims, head, &who, guids, now_us);
	else
		member->counts.n_foreign++;
	free(guids);
}

static void receive_again(struct triad_member *member, struct triad_wire *body)
{
	struct triad_collect_again again;

	if (!triad_collect_get_again(body, &again)) {
		member->counts.n_foreign++;
		return;
	}
	triad_reporter_repeat_from(member->reporter, again.from);
	/* DETAILS have no numbers.  If DATA were lost, DETAILS may have been, too:
	 * report all again. */
	triad_detail_reporter_forget(member->detail_reporter);
}

static void receive_kind(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	switch (head->kind) {
	case TRIAD_COLLECT_ALIVE:
		receive_alive(member, head, body, now_us);
		break;
	case TRIAD_COLLECT_OWNER:
		receive_owner(member, head, body, now_us);
		break;
	case TRIAD_COLLECT_WHO_OWNS:
		receive_who_owns(member, head, body, now_us);
		break;
	case TRIAD_COLLECT_TRAP:
	case TRIAD_COLLECT_DATA:
	case TRIAD_COLLECT_DETAILS:
		triad_member_receive_up(member, head, body, now_us);
		break;
	case TRIAD_COLLECT_GET_HISTOGRAMS:
		triad_member_receive_get_histograms(member, head, body, now_us);
		break;
	case TRIAD_COLLECT_HISTOGRAM:
		triad_member_receive_histogram(member, head, body);
		break;
	case TRIAD_COLLECT_CLEAR:
		triad_member_receive_clear(member, head, body, now_us);
		break;
	case TRIAD_COLLECT_AGAIN:
		receive_again(member, body);
		break;
	case TRIAD_COLLECT_WANT_TOPOLOGY:
		triad_member_receive_want_topology(member);
		break;
	case TRIAD_COLLECT_TOPOLOGY:
		triad_member_receive_topology(member, head, body, now_us);
		break;
	case TRIAD_COLLECT_OLD_TOPOLOGY: /* refused with its head */
	case TRIAD_COLLECT_N_KINDS:
		break;
	}
}

/* --- authority of senders --- */

/* Whether this member's own report has come back to it: see relay() in
 * member_tree.c. */
static bool is_own_come_round(
	const struct triad_member *member, const struct triad_collect_head *head)
{
	return head->n_relays && head->incarnation == member->params.incarnation &&
		(head->kind == TRIAD_COLLECT_DATA ||
			head->kind == TRIAD_COLLECT_DETAILS ||
			head->kind == TRIAD_COLLECT_TRAP);
}

static bool is_received(const struct triad_member *member, uint64_t id, uint64_t now_us)
{
	return triad_peers_find(&member->peers, id) &&
		triad_member_is_received(member, id, now_us);
}

/* Whether the sender may relay the message. */
static bool may_pass_on(const struct triad_member *member,
	const struct triad_collect_head *head, const struct triad_member_sender *from,
	uint64_t now_us)
{
	return !from->is_manager && is_received(member, from->id, now_us) &&
		(head->sender == member->params.id ||
			is_received(member, head->sender, now_us)) &&
		triad_member_is_on_path_up(member, head->sender, from->id, now_us);
}

/* Whether an ALIVE fits its sender's role; a malformed one is refused later. */
static bool is_of_its_role(
	struct triad_wire body, const struct triad_member_sender *from)
{
	struct triad_collect_alive alive;

	return !triad_collect_get_alive(&body, &alive) ||
		alive.is_manager == from->is_manager;
}

/* Whether the sender has the right to send this message. */
static bool has_right_to_send(const struct triad_member *member,
	const struct triad_collect_head *head, const struct triad_wire *body,
	const struct triad_member_sender *from, uint64_t now_us)
{
	/* A relayed message is no sign of life of its sender. */
	if (head->n_relays)
		return may_pass_on(member, head, from, now_us);
	/* The broker authenticates only 'from', so the sender must be the same. */
	if (head->sender != from->id)
		return false;
	switch (head->kind) {
	case TRIAD_COLLECT_ALIVE:
		return is_of_its_role(*body, from);
	case TRIAD_COLLECT_TOPOLOGY:
	case TRIAD_COLLECT_AGAIN:
		return from->is_manager;
	case TRIAD_COLLECT_CLEAR:
	case TRIAD_COLLECT_GET_HISTOGRAMS:
		return from->is_manager ||
			triad_member_master(member, now_us) == from->id;
	default:
		return true;
	}
}

void triad_member_receive(struct triad_member *member,
	const struct triad_member_sender *from, uint8_t *octets, size_t size,
	uint64_t now_us)
{
	struct triad_collect_head head;
	struct triad_wire body;

	member->counts.n_received++;
	member->counts.octets_received += size;
	switch (triad_collect_get_head(octets, size, &head, &body)) {
	case TRIAD_COLLECT_HEAD_GOOD:
		break;
	case TRIAD_COLLECT_HEAD_OTHER_VERSION:
	case TRIAD_COLLECT_HEAD_UNKNOWN_KIND:
		member->counts.n_other_version++;
		member->counts.other = from->id ? from->id : head.sender;
		member->counts.other_version = octets[2];
		return;
	case TRIAD_COLLECT_HEAD_FOREIGN:
		member->counts.n_foreign++;
		return;
	}
	if (!has_right_to_send(member, &head, &body, from, now_us)) {
		member->counts.n_refused++;
		member->counts.refused = from->id;
		return;
	}
	/* A message with our id is from us, or from another process with the same
	 * id. */
	if (head.sender != member->params.id || is_own_come_round(member, &head))
		receive_kind(member, &head, &body, now_us);
	else
		member->counts.n_duplicate_ids +=
			head.incarnation != member->params.incarnation;
}
