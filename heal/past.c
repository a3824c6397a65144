/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/past.h"

/* How long a person's release is respected. */
#define LEFT_ALONE_US (24 * 3600 * TRIAD_US_PER_S)

static enum triad_past past_by(const struct triad_record *record, uint64_t now_wall_us)
{
	bool is_ours = record->reason == TRIAD_REASON_HEAL,
	     is_by_hand = record->reason == TRIAD_REASON_BY_HAND,
	     is_left = is_by_hand && now_wall_us < record->at_us + LEFT_ALONE_US;

	if ((!is_ours && !is_by_hand) || record->outcome == TRIAD_OUTCOME_DROPPED)
		return TRIAD_PAST_NOTHING;
	switch (record->action) {
	case TRIAD_ACTION_TAKE:
	case TRIAD_ACTION_BOUNCE:
		return is_ours ? TRIAD_PAST_OUT : TRIAD_PAST_KEPT_OUT;
	case TRIAD_ACTION_RETURN:
	case TRIAD_ACTION_RELEASE:
		if (record->outcome == TRIAD_OUTCOME_INTENDED)
			return TRIAD_PAST_OUT;
		return is_ours    ? TRIAD_PAST_BACK
			: is_left ? TRIAD_PAST_LEFT_ALONE
				  : TRIAD_PAST_NOTHING;
	default:
		return TRIAD_PAST_NOTHING;
	}
}

/* Whether it is what was intended, and came to nothing. */
static bool is_intent_of(
	const struct triad_record *record, const struct triad_record *dropped)
{
	return dropped && record->outcome == TRIAD_OUTCOME_INTENDED &&
		record->action == dropped->action &&
		record->node_guid == dropped->node_guid &&
		record->port == dropped->port;
}

/* The link's record at '*i' or after it, the newest being at 0; '*i' is then the next place.  NULL:
 * there is none. */
static const struct triad_record *next_of(const struct triad_history *history,
	const struct triad_damp_ends *ends, uint32_t *i)
{
	const struct triad_record *record;

	do
		record = triad_history_latest(history, (*i)++);
	while (record && !triad_damp_has_end(ends, record->node_guid, record->port));
	return record;
}

enum triad_past triad_past_of(const struct triad_history *history,
	const struct triad_damp_ends *ends, uint64_t now_wall_us, uint32_t *n_taken)
{
	const struct triad_record *record, *dropped = NULL;
	enum triad_past past = TRIAD_PAST_NOTHING;
	uint32_t i = 0;

	*n_taken = 0;
	while ((record = next_of(history, ends, &i)) != NULL) {
		if (is_intent_of(record, dropped)) {
			dropped = NULL;
			continue;
		}
		if (record->outcome == TRIAD_OUTCOME_DROPPED)
			dropped = record;
		if (!past)
			past = past_by(record, now_wall_us);
		if (record->reason == TRIAD_REASON_BY_HAND ||
			record->at_us + TRIAD_PAST_REMEMBERED_US < now_wall_us)
			break;
		*n_taken += record->action == TRIAD_ACTION_TAKE &&
			record->reason == TRIAD_REASON_HEAL &&
			record->outcome == TRIAD_OUTCOME_DONE;
	}
	return past;
}

uint32_t triad_past_retrained(const struct triad_history *history,
	const struct triad_damp_ends *ends, uint64_t now_wall_us, uint64_t *ago_us)
{
	const struct triad_record *record;
	uint32_t n = 0, i = 0;

	*ago_us = 0;
	while ((record = next_of(history, ends, &i)) != NULL &&
		record->at_us + TRIAD_PAST_REMEMBERED_US > now_wall_us) {
		if (record->action == TRIAD_ACTION_TAKE ||
			record->reason == TRIAD_REASON_BY_HAND)
			break;
		if (record->action != TRIAD_ACTION_BOUNCE ||
			record->reason != TRIAD_REASON_HEAL ||
			record->outcome != TRIAD_OUTCOME_DONE)
			continue;
		if (!n++ && record->at_us < now_wall_us)
			*ago_us = now_wall_us - record->at_us;
	}
	return n;
}
